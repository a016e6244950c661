import type {certificateReasons} from '../../certificate.ts';
import type {CustomerTexts} from '../../reason.ts';
import {afterFailure, contactSupport, correctedSoon, nothingToDo, takesEffectSoon} from './shared.ts';

export const certificate: Record<keyof typeof certificateReasons, CustomerTexts> = {
  CAABlocksIssuer: {
    title: 'Zertifikat ist nicht erlaubt',
    body:
      'Die CAA-Einträge von [{place}|Ihrer Domain] erlauben unsere Zertifizierungsstelle (CA) nicht. ' +
      'Deshalb erhält {hostname} kein Zertifikat.',
    next:
      '[{waitingFor=Platform}Sie müssen nichts ändern. Bleibt das so, wenden Sie sich an den Support.|' +
      'Fügen Sie bei Ihrem DNS-Anbieter diesen CAA-Eintrag zu {place} hinzu: {add}.|' +
      'Entfernen Sie den CAA-Eintrag von {place}, der das Zertifikat verbietet, oder bitten Sie Ihren DNS-Anbieter darum.|' +
      'Fragen Sie den Support nach dem nötigen CAA-Eintrag und legen Sie ihn bei Ihrem DNS-Anbieter an.]',
    howLong: `[{waitingFor=Platform}|${correctedSoon}]`,
  },
  CAALookupFailed: {
    title: 'Zertifikatsregeln sind nicht abrufbar',
    body:
      'Die DNS-Server von [{place}|Ihrer Domain] beantworten Anfragen nach CAA-Einträgen nicht richtig. ' +
      'Diese Einträge nennen die Zertifizierungsstellen, die Zertifikate ausstellen dürfen.',
    next:
      '[{cause=Dnssec}Bitten Sie Ihren DNS-Anbieter, die Sicherheitssignaturen (DNSSEC) von {place} zu korrigieren.|' +
      'Bitten Sie Ihren DNS-Anbieter, die Antworten zu CAA-Einträgen von {place} zu korrigieren.|' +
      'Bitten Sie Ihren DNS-Anbieter, die Antworten zu CAA-Einträgen zu korrigieren.]',
    howLong: correctedSoon,
  },
  Issuing: {
    title: 'Zertifikat wird ausgestellt',
    body:
      '[{cause=*}Der letzte Versuch, ein Zertifikat zu erhalten, ist fehlgeschlagen. Ein weiterer Versuch folgt.|' +
      'Die DNS-Einträge sind richtig. {hostname} erhält ein Zertifikat für sichere Verbindungen.]',
    next:
      '[{cause=Dns}Korrigieren Sie die DNS-Einstellungen von {hostname} bei Ihrem DNS-Anbieter.|' +
      '{cause=Caa}Erlauben Sie unsere Zertifizierungsstelle (CA) in den CAA-Einträgen von {hostname}.|' +
      '{cause=Name}Entfernen Sie {hostname} und verbinden Sie eine andere Domain.|' +
      'Sie müssen nichts tun.]',
    howLong: '[{cause=*}Ein neuer Versuch kann eine Stunde oder länger dauern.|Das dauert meist einige Minuten.]',
  },
  IssuanceQueued: {
    title: 'Zertifikat steht auf der Warteliste',
    body: 'Die DNS-Einträge sind richtig. Zurzeit werden viele Zertifikate beantragt, daher steht {hostname} auf der Warteliste.',
    next: nothingToDo,
    howLong:
      '[Das Zertifikat wird voraussichtlich bis {endTime} beantragt.|Das Zertifikat wird automatisch beantragt.]',
  },
  IssuanceBudgetExhausted: {
    title: 'Zertifikat muss warten',
    body:
      '[{cause=Failures}Zu viele Versuche, ein Zertifikat für {hostname} zu erhalten, sind fehlgeschlagen.|' +
      'Die Zertifizierungsstelle (CA) hat für {hostname} und verwandte Namen bereits die erlaubte Zahl an Zertifikaten ausgestellt.]',
    next:
      '[{cause=Failures}Prüfen Sie, ob die Einträge unten vorhanden sind. Wenn ja, wenden Sie sich an den Support.|' +
      'Sie müssen nichts tun.]',
    howLong: '[Der nächste Versuch folgt nach {endTime}.|Der nächste Versuch folgt automatisch.]',
  },
  IssuanceStalled: {
    title: 'Zertifikat verzögert sich',
    body: '{hostname} ist bestätigt, aber das Zertifikat wurde nicht in der üblichen Zeit ausgestellt.',
    next: afterFailure,
    howLong: '',
  },
  NameTaken: {
    title: 'Einrichtung ist blockiert',
    body: 'Diese Plattform kann die Domain nicht fertig einrichten, weil etwas anderes ihren Platz belegt.',
    next: contactSupport,
    howLong: '',
  },
  WriteRefused: {
    title: 'Einrichtung ist nicht abgeschlossen',
    body: 'Diese Plattform kann die Einstellungen der Domain nicht speichern. Bereits gespeicherte Einstellungen bleiben erhalten.',
    next: contactSupport,
    howLong: 'Jede Minute folgt ein neuer Versuch.',
  },
  WriteFailed: {
    title: 'Einrichtung verzögert sich',
    body: 'Diese Plattform konnte die Einstellungen der Domain nicht speichern. Bereits gespeicherte Einstellungen bleiben erhalten.',
    next: contactSupport,
    howLong: 'Neue Versuche folgen automatisch.',
  },
  EdgeUnreachable: {
    title: 'Plattform antwortet nicht',
    body: 'Das Zertifikat ist bereit, aber diese Plattform antwortet nicht an jeder ihrer Adressen.',
    next: contactSupport,
    howLong: '',
  },
  EdgeNotServing: {
    title: 'Domain funktioniert nicht überall',
    body: 'Das Zertifikat ist bereit, aber diese Plattform verwendet es noch nicht an jeder ihrer Adressen.',
    next: contactSupport,
    howLong: 'Das dauert meist weniger als zwei Minuten.',
  },
  EdgePending: {
    title: 'Domain wird geprüft',
    body: 'Das Zertifikat ist bereit. Diese Plattform verbindet die Domain und prüft, ob sie funktioniert.',
    next: nothingToDo,
    howLong: 'Das dauert meist weniger als eine Minute.',
  },
  WaitingForPrimary: {
    title: 'Warten auf die Hauptdomain',
    body: '{hostname} ist bereit. Die Domain leitet Besucher weiter, sobald Ihre Hauptdomain[ {primary}] live ist.',
    next: 'Folgen Sie den Schritten Ihrer Hauptdomain.',
    howLong: 'Die Weiterleitung beginnt danach meist innerhalb einer Minute.',
  },
  StatusTooLarge: {
    title: 'Domainliste ist zu groß',
    body: 'Ihre Domainliste ist zu groß. Diese Plattform kann deshalb nicht den Zustand jeder Domain anzeigen.',
    next: 'Entfernen Sie Domains, die Sie nicht brauchen, oder wenden Sie sich an den Support.',
    howLong: takesEffectSoon,
  },
};
