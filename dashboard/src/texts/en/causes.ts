/** The exact causes of problems (operator/http/causes.ts), in English. */
export const causes = {
  Expired: 'Your session has expired. Sign in again.',
  SignedOut: 'You signed out of this session. Sign in again.',
  Ended:
    'The platform or an API key of your account ended your session. Sign in again. Contact support if this repeats.',
  KeyRevoked: 'The API key behind your session was revoked or replaced. Sign in with another key.',
  KeyExpired: 'The API key behind your session has expired. Sign in with a newer key.',
  KeyReduced: 'The API key behind your session has fewer permissions now. Sign in again.',
  KeyBanned:
    'The API key behind your session is blocked for a while, because too many requests were sent with it. Sign in later, or with another key.',
  NamespaceGone: 'This area of your account no longer exists. Follow the link on your platform again.',
  Invalid: 'This domain has characters that domains cannot have. Check the spelling, or choose another domain.',
  JoinedEmoji: 'Domains cannot have an emoji that combines several emoji. Choose another domain.',
  Reserved: 'This name is reserved and does not work on the internet. Choose another domain.',
  PublicSuffix: 'Many people register their domains under this name. Enter your own domain.',
  Platform: 'This name belongs to this platform. Enter your own domain.',
  Denied: 'This platform does not allow this name. Choose another domain, or contact support.',
};
