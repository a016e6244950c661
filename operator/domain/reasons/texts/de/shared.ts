/** Texts that several reasons share. */
export const nothingToDo = 'Sie müssen nichts tun.';
export const contactSupport = 'Sie müssen nichts ändern. Bleibt das so, wenden Sie sich an den Support.';
export const foundSoon =
  'Gespeicherte Einträge werden meist innerhalb weniger Minuten gefunden.[ Manche Netze sehen bis {endTime} noch die alten Einträge.]';
export const correctedSoon = 'Eine Korrektur wird meist innerhalb weniger Minuten gefunden.';
export const takesEffectSoon = 'Die Änderung wirkt meist innerhalb einer Minute.';
export const createRecords = 'Legen Sie die Einträge unten [bei {provider}|bei Ihrem DNS-Anbieter] an.';
/** The next step after a failed attempt to get a certificate. */
export const afterFailure =
  '[{cause=Dns}Korrigieren Sie die DNS-Einstellungen von {hostname} bei Ihrem DNS-Anbieter und klicken Sie auf „Erneut prüfen“.|' +
  '{cause=Caa}Erlauben Sie unsere Zertifizierungsstelle (CA) in den CAA-Einträgen von {hostname} ' +
  'und klicken Sie auf „Erneut prüfen“.|' +
  '{cause=Name}Entfernen Sie {hostname} und verbinden Sie eine andere Domain.|' +
  '{waitingFor=Customer}Prüfen Sie, ob die Einträge unten vorhanden sind, und klicken Sie auf „Erneut prüfen“.|' +
  '{waitingFor=CertificateAuthority}Sie müssen nichts tun. Bleibt das so, wenden Sie sich an den Support.|' +
  'Wenden Sie sich an den Support. Sie müssen nichts ändern.]';
