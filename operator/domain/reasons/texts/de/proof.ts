import type {proofReasons} from '../../proof.ts';
import type {CustomerTexts} from '../../reason.ts';
import {contactSupport, correctedSoon, createRecords, foundSoon, nothingToDo} from './shared.ts';

const changeValue =
  '[{cause=ZoneAppended}Geben Sie den Wert unten mit einem Punkt am Ende ein.|' +
  'Lassen Sie {wildcard} unverändert und legen Sie den Eintrag unten an.|' +
  'Ändern Sie den Eintrag bei {provider} so, dass er genau den Wert unten hat.|' +
  'Ändern Sie den Eintrag bei Ihrem DNS-Anbieter so, dass er genau den Wert unten hat.]';

export const proof: Record<keyof typeof proofReasons, CustomerTexts> = {
  CheckPending: {
    title: 'Warten auf eine Prüfung',
    body: 'Diese Plattform prüft in Kürze die DNS-Einträge von {hostname}.',
    next: 'Legen Sie die Einträge unten an, wenn sie noch nicht vorhanden sind.',
    howLong: 'Eine Prüfung dauert meist weniger als eine Minute.',
  },
  RecordMissing: {
    title: 'DNS-Eintrag fehlt',
    body:
      '{hostname} hat nicht den DNS-Eintrag, der die Domain mit Ihrem Projekt verbindet.' +
      '[ Der Eintrag wurde stattdessen unter {place} angelegt.]',
    next:
      `${createRecords}[ Wenn Ihr Anbieter {zone} an Namen anhängt, geben Sie nur {name} als Namen ein.]` +
      '[ Löschen Sie danach den falsch angelegten Eintrag unter {place}.]',
    howLong: foundSoon,
  },
  TargetMismatch: {
    title: 'DNS-Eintrag hat einen falschen Wert',
    body:
      'Der DNS-Eintrag von {hostname} hat einen falschen Wert[: {found}].' +
      '[{cause=ZoneAppended} Ihr Anbieter hat {zone} an den Wert angehängt.][ Er stammt vom Eintrag {wildcard}.]',
    next: changeValue,
    howLong: foundSoon,
  },
  IndirectCNAME: {
    title: 'DNS-Eintrag führt über einen Umweg',
    body:
      'Der DNS-Eintrag von {hostname} führt über einen anderen Namen zu Ihrem Projekt[: {found}]. ' +
      'Er muss direkt dorthin führen.',
    next: changeValue,
    howLong: foundSoon,
  },
  ConflictingRecord: {
    title: 'DNS-Einträge widersprechen sich',
    body:
      '[{hostname} führt über den Eintrag {wildcard} zu einer anderen Adresse: {found}.|' +
      '{hostname} hat andere DNS-Einträge: {found}.|{hostname} hat andere DNS-Einträge, die zu einer anderen Adresse führen.]' +
      ' Besucher erreichen Ihr Projekt nicht.',
    next:
      '[Lassen Sie {wildcard} unverändert.|Löschen Sie diese Einträge bei {provider}.|' +
      'Löschen Sie diese Einträge bei Ihrem DNS-Anbieter.] Legen Sie die Einträge unten an.',
    howLong: foundSoon,
  },
  CNAMENotPossible: {
    title: 'Andere Einträge sind im Weg',
    body: '{hostname} hat andere DNS-Einträge[ ({types})]. Der übliche Eintrag ist daneben nicht möglich.',
    next: `[Löschen Sie {remove}. ]Lassen Sie die anderen Einträge bestehen. ${createRecords}`,
    howLong: foundSoon,
  },
  SynthesizedCNAME: {
    title: 'DNS-Eintrag gilt für alle Namen',
    body:
      '[Der DNS-Eintrag von {place}|Ein DNS-Eintrag] gilt für alle Namen darunter. ' +
      'Er bestätigt nicht, dass {hostname} Ihnen gehört.',
    next:
      'Bitten Sie Ihren DNS-Anbieter, ihn durch Einträge für einzelne Namen zu ersetzen. ' +
      'Auch der Eintrag unten muss dabei sein.',
    howLong: foundSoon,
  },
  NameServersDisagree: {
    title: 'DNS-Server sind sich nicht einig',
    body:
      'Einige DNS-Server von {hostname} haben den richtigen Eintrag, andere nicht.' +
      '[ Auf diesen Servern fehlt er: {servers}.]',
    next: 'Warten Sie einige Minuten. Bleibt das so, bitten Sie Ihren DNS-Anbieter, alle Server zu aktualisieren.',
    howLong: 'Das dauert meist nur wenige Minuten.',
  },
  ProxiedOrFlattened: {
    title: 'DNS-Eintrag ist verdeckt',
    body:
      '{hostname} führt[ über den Eintrag {wildcard}] zu dieser Plattform. ' +
      'Der Eintrag, der bestätigt, dass die Domain Ihnen gehört, ist im DNS nicht zu sehen.',
    next: `${createRecords} Wenn Ihr Anbieter einen Proxy hat, schalten Sie ihn für diesen Eintrag aus.`,
    howLong: foundSoon,
  },
  BehindCDN: {
    title: 'Domain liegt hinter einem anderen Dienst',
    body:
      '{hostname} liegt[ durch den Eintrag {wildcard}] hinter [{service}|einem anderen Dienst]. ' +
      'Dieser Dienst verdeckt den Eintrag, der bestätigt, dass die Domain Ihnen gehört.',
    next:
      `${createRecords} Wenn ein anderer Dienst davor bleibt, muss er sich über HTTPS mit uns verbinden ` +
      '(Cloudflare: Full (strict)).',
    howLong: foundSoon,
  },
  ConflictingA: {
    title: 'Domain führt zu einer anderen Adresse',
    body: '{hostname} führt zu einer anderen Adresse[: {remove}]. Besucher erreichen Ihr Projekt nicht.',
    next: `Löschen Sie [{remove}|die A-Einträge mit anderen Adressen]. ${createRecords}`,
    howLong: foundSoon,
  },
  ConflictingAAAA: {
    title: 'Domain führt manche Besucher woandershin',
    body: '{hostname} führt manche Besucher zu einer anderen Adresse[: {remove}].',
    next: `Löschen Sie [{remove}|die AAAA-Einträge mit anderen Adressen]. ${createRecords}`,
    howLong: foundSoon,
  },
  TXTMissing: {
    title: 'Bestätigungseintrag fehlt',
    body:
      '{hostname} führt zu dieser Plattform. Der TXT-Eintrag, der bestätigt, dass die Domain Ihnen gehört, fehlt.' +
      '[ Er wurde stattdessen unter {place} angelegt.]',
    next: `${createRecords}[ Löschen Sie danach den falsch angelegten Eintrag unter {place}.]`,
    howLong: foundSoon,
  },
  TXTMismatch: {
    title: 'Bestätigungseintrag ist falsch',
    body: 'Der TXT-Eintrag, der bestätigt, dass {hostname} Ihnen gehört, hat einen falschen Wert.',
    next:
      '[{cause=Quoted}Entfernen Sie Anführungszeichen und Leerzeichen um den Wert des TXT-Eintrags.|' +
      'Korrigieren Sie den TXT-Eintrag bei {provider}.|Korrigieren Sie den TXT-Eintrag bei Ihrem DNS-Anbieter.] ' +
      'Er muss genau den Wert unten haben.',
    howLong: foundSoon,
  },
  PropagationPending: {
    title: 'DNS-Änderung verbreitet sich',
    body: 'Ihr DNS-Anbieter hat den richtigen Eintrag. Andere Netze sehen ihn noch nicht.',
    next: nothingToDo,
    howLong:
      '[Netze können bis {endTime} die alte Antwort geben.|Die Änderung erreicht meist innerhalb weniger Stunden alle Netze.]',
  },
  AuthoritativeUnreachable: {
    title: 'DNS-Anbieter antwortet nicht',
    body: 'Die DNS-Server von {hostname} antworten nicht.[ Sie gehören zu {provider}.]',
    next: 'Fragen Sie Ihren DNS-Anbieter, ob seine DNS-Server funktionieren. Wenn ja, wenden Sie sich an den Support.',
    howLong: '',
  },
  AuthoritativeFailure: {
    title: 'DNS-Anbieter meldet einen Fehler',
    body: 'Die DNS-Server von {hostname} antworten mit einem Fehler.[ Sie gehören zu {provider}.]',
    next: 'Bitten Sie Ihren DNS-Anbieter, die DNS-Einstellungen dieser Domain zu korrigieren.',
    howLong: correctedSoon,
  },
  DNSSECBroken: {
    title: 'DNS-Sicherheit ist gestört',
    body: 'Die Sicherheitssignaturen (DNSSEC) von [{zone}|{hostname}] sind ungültig. Viele Netze lehnen die Domain deshalb ab.',
    next:
      'Bitten Sie Ihren DNS-Anbieter, DNSSEC für [{zone}|{hostname}] zu korrigieren. ' +
      'Ein falscher DS-Eintrag wird dort korrigiert oder entfernt, wo Sie die Domain registriert haben.',
    howLong: 'Eine Korrektur wirkt meist innerhalb eines Tages.',
  },
  ResolverFailure: {
    title: 'DNS-Prüfung ist fehlgeschlagen',
    body: 'Diese Plattform konnte Ihre DNS-Einträge nicht vollständig prüfen. Ihre Einträge sind möglicherweise richtig.',
    next: contactSupport,
    howLong: '',
  },
  NoEdgeAddress: {
    title: 'Plattform ist noch nicht bereit für die Prüfung',
    body: 'Diese Plattform kennt ihre eigenen Adressen noch nicht und kann Ihre DNS-Einträge deshalb nicht prüfen.',
    next: contactSupport,
    howLong: '',
  },
  HostnameClaimed: {
    title: 'Domain wird woanders verwendet',
    body:
      '{hostname} hat den richtigen Eintrag, ' +
      '[{cause=Own}aber ein anderes Projekt Ihres Kontos verwendet die Domain.|' +
      'wird aber an anderer Stelle auf dieser Plattform verwendet.]',
    next:
      '[{cause=Own}Entfernen Sie {hostname} aus dem anderen Projekt oder entfernen Sie die Domain hier.|' +
      '{cause=Contest}Entfernen Sie andere DNS-Einträge von {hostname} für diese Plattform, zum Beispiel einen älteren TXT-Eintrag.|' +
      'Legen Sie die Einträge unten an oder wenden Sie sich an den Support.]',
    howLong:
      '[{cause=Own}Nach dem Entfernen wird die Domain hier automatisch verbunden, meist innerhalb weniger Minuten.|' +
      '{cause=Contest}Danach wird die Domain hier automatisch verbunden.]',
  },
  VerificationExpired: {
    title: 'Automatische Prüfungen sind beendet',
    body:
      'Die DNS-Einträge von {hostname} wurden nicht [innerhalb von {limit} Stunden|rechtzeitig] gefunden. ' +
      'Die automatischen Prüfungen sind beendet.',
    next: 'Legen Sie die Einträge unten[ bei {provider}] an und klicken Sie auf „Prüfen“.',
    howLong: 'Die Prüfung dauert meist weniger als eine Minute.',
  },
};
