/** Exact causes of problems, for texts in other languages: the member `cause` of an error. The page has a text about each. */
const causes = {
  'invalid-input': ['Invalid', 'JoinedEmoji'],
  'session-ended': [
    'Expired',
    'SignedOut',
    'Ended',
    'KeyRevoked',
    'KeyExpired',
    'KeyReduced',
    'KeyBanned',
    'NamespaceGone',
  ],
  refused: ['Invalid', 'Reserved', 'PublicSuffix', 'Platform', 'Denied'],
} as const;

export type SessionCause = (typeof causes)['session-ended'][number];
export const problemCauses: Readonly<Record<string, readonly string[]>> = causes;
/** `Invalid, JoinedEmoji (invalid-input); ...` */
export const listOfCauses = Object.entries(causes)
  .map(([problem, names]) => `${names.join(', ')} (${problem})`)
  .join('; ');
