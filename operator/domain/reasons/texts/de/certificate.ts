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
      '[{waitingFor=Platform}Sie müssen nichts ändern. Wenden Sie sich an den Support, wenn dies anhält.|' +
      'Fügen Sie bei Ihrem DNS-Anbieter diesen CAA-Eintrag zu {place} hinzu: {add}.|' +
      'Entfernen Sie den CAA-Eintrag von {place}, der das Zertifikat verbietet, oder bitten Sie Ihren DNS-Anbieter darum.|' +
      'Fragen Sie den Support nach dem nötigen CAA-Eintrag und legen Sie ihn bei Ihrem DNS-Anbieter an.]',
    howLong: `[{waitingFor=Platform}|${correctedSoon}]`,
  },
  CAALookupFailed: {
    title: 'Zertifikatsregeln sind nicht lesbar',
    body:
      'Die DNS-Server von [{place}|Ihrer Domain] beantworten Fragen nach CAA-Einträgen nicht richtig. ' +
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
      'Die DNS-Einträge sind richtig. ' +
      '[{cause=*}Der letzte Versuch, ein Zertifikat zu erhalten, ist fehlgeschlagen. Ein weiterer Versuch folgt.|' +
      '{hostname} erhält ein Zertifikat für sichere Verbindungen.]',
    next:
      '[{cause=Dns}Korrigieren Sie die DNS-Einträge von {hostname} bei Ihrem DNS-Anbieter.|' +
      '{cause=Caa}Erlauben Sie unsere Zertifizierungsstelle (CA) in den CAA-Einträgen von {hostname}.|' +
      '{cause=Name}Entfernen Sie {hostname} und verbinden Sie eine andere Domain.|' +
      'Sie müssen nichts tun.]',
    howLong: '[{cause=*}Ein neuer Versuch kann eine Stunde oder länger dauern.|Dies dauert meist einige Minuten.]',
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
    title: 'Zertifikat verspätet sich',
    body: '{hostname} ist bestätigt, aber das Zertifikat wurde nicht in der üblichen Zeit ausgestellt.',
    next: afterFailure,
    howLong: '',
  },
  NameTaken: {
    title: 'Einrichtung ist blockiert',
    body: 'Diese Plattform kann die Domain nicht fertig einrichten, weil etwas anderes an ihrer Stelle ist.',
    next: contactSupport,
    howLong: '',
  },
  WriteRefused: {
    title: 'Einrichtung ist nicht abgeschlossen',
    body: 'Diese Plattform kann die Einstellungen der Domain nicht speichern. Bereits gespeicherte Einstellungen bleiben.',
    next: contactSupport,
    howLong: 'Jede Minute folgt ein neuer Versuch.',
  },
  WriteFailed: {
    title: 'Einrichtung verzögert sich',
    body: 'Diese Plattform konnte die Einstellungen der Domain nicht speichern. Bereits gespeicherte Einstellungen bleiben.',
    next: contactSupport,
    howLong: 'Neue Versuche folgen automatisch.',
  },
  EdgeUnreachable: {
    title: 'Plattform antwortet nicht',
    body: 'Das Zertifikat ist bereit, aber diese Plattform antwortet nicht an allen ihren Adressen.',
    next: contactSupport,
    howLong: '',
  },
  EdgeNotServing: {
    title: 'Domain funktioniert nicht überall',
    body: 'Das Zertifikat ist bereit, aber diese Plattform verwendet es noch nicht an allen ihren Adressen.',
    next: contactSupport,
    howLong: 'Dies dauert meist weniger als zwei Minuten.',
  },
  EdgePending: {
    title: 'Domain wird geprüft',
    body: 'Das Zertifikat ist bereit. Diese Plattform verbindet die Domain und prüft, ob sie funktioniert.',
    next: nothingToDo,
    howLong: 'Dies dauert meist weniger als eine Minute.',
  },
  WaitingForPrimary: {
    title: 'Warten auf die Hauptdomain',
    body: '{hostname} ist bereit. Die Domain leitet Besucher weiter, sobald Ihre Hauptdomain[ {primary}] aktiv ist.',
    next: 'Folgen Sie den Schritten Ihrer Hauptdomain.',
    howLong: 'Die Weiterleitung beginnt danach meist innerhalb einer Minute.',
  },
  StatusTooLarge: {
    title: 'Zu viele Daten',
    body: 'Ihre Liste von Domains hat zu viele Daten. Diese Plattform kann den Zustand jeder Domain deshalb nicht zeigen.',
    next: 'Entfernen Sie Domains, die Sie nicht brauchen, oder wenden Sie sich an den Support.',
    howLong: takesEffectSoon,
  },
};
