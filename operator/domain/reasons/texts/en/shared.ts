/** Texts that several reasons share. */
export const nothingToDo = 'No action is needed.';
export const contactSupport = 'You do not need to change anything. Contact support if this lasts.';
export const foundSoon =
  'Saved records are usually found within a few minutes.[ Some networks can see the old records until {endTime}.]';
export const correctedSoon = 'A correction is usually found within a few minutes.';
export const takesEffectSoon = 'The change usually takes effect within a minute.';
export const createRecords = 'Create the records below [at {provider}|at your DNS provider].';
/** The next step after a failed attempt to get a certificate. */
export const afterFailure =
  '[{cause=Dns}Correct the DNS settings of {hostname} at your DNS provider, then press Re-verify.|' +
  '{cause=Caa}Allow our certificate authority (CA) in the CAA records of {hostname}, then press Re-verify.|' +
  '{cause=Name}Remove {hostname} and connect another domain.|' +
  '{waitingFor=Customer}Check that the records below exist, then press Re-verify.|' +
  '{waitingFor=CertificateAuthority}No action is needed. Contact support if this lasts.|' +
  'Contact support. You do not need to change anything.]';
