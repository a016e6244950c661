import type {CustomerTexts} from '../../reason.ts';
import type {servingReasons} from '../../serving.ts';
import {afterFailure, contactSupport, foundSoon, nothingToDo} from './shared.ts';

export const serving: Record<keyof typeof servingReasons, CustomerTexts> = {
  Serving: {
    title: 'Alles funktioniert',
    body: 'Besucher erreichen Ihr Projekt unter {hostname} über eine sichere Verbindung.',
    next: nothingToDo,
    howLong: '',
  },
  Redirecting: {
    title: 'Weiterleitung funktioniert',
    body: 'Besucher von {hostname} werden zu [{target}|Ihrer Hauptdomain] weitergeleitet.',
    next: nothingToDo,
    howLong: '',
  },
  RenewalOverdue: {
    title: 'Erneuerung des Zertifikats verzögert sich',
    body: '{hostname} funktioniert, aber das Zertifikat wurde noch nicht erneuert.[ Das Zertifikat ist bis {expires} gültig.]',
    next: afterFailure,
    howLong: '',
  },
  CertificateExpired: {
    title: 'Zertifikat ist abgelaufen',
    body: 'Das Zertifikat von {hostname} ist[ am {expires}] abgelaufen. Browser zeigen Besuchern eine Warnung.',
    next: afterFailure,
    howLong: '',
  },
  CertificateLost: {
    title: 'Zertifikat wird ersetzt',
    body:
      'Das Zertifikat von {hostname} ist verloren gegangen. Diese Plattform beschafft ein neues. ' +
      'Bis dahin können Besucher eine Warnung sehen.',
    next: afterFailure,
    howLong: 'Das dauert meist einige Minuten.',
  },
  ServedUntilReplaced: {
    title: 'Funktioniert, bis sie ersetzt wird',
    body:
      '[{cause=Moved}{hostname} zieht in ein anderes Projekt Ihres Kontos um. ' +
      'Besucher erreichen dieses Projekt, bis der Umzug abgeschlossen ist.|' +
      '{hostname} war Ihre Hauptdomain. Die Domain funktioniert, bis die neue Hauptdomain {primary} live ist.|' +
      '{hostname} war Ihre Hauptdomain. Die Domain funktioniert, bis die neue Hauptdomain live ist.]',
    next:
      '[{cause=Moved}Folgen Sie den Schritten dieser Domain im anderen Projekt.|' +
      'Folgen Sie den Schritten der neuen Hauptdomain.]',
    howLong: '',
  },
  ServedBehindCDN: {
    title: 'Funktioniert, braucht aber eine Bestätigung',
    body:
      '{hostname} funktioniert, liegt aber jetzt hinter einem anderen Dienst. ' +
      'Dieser verdeckt den Eintrag, der bestätigt, dass die Domain Ihnen gehört.',
    next:
      '[Legen Sie zuerst eigene Einträge für {hostname} an, zusätzlich zu {wildcard}. Legen Sie danach den TXT-Eintrag unten an.|' +
      'Legen Sie den TXT-Eintrag unten bei {provider} an.|Legen Sie den TXT-Eintrag unten bei Ihrem DNS-Anbieter an.] ' +
      'Klicken Sie dann auf „Erneut prüfen“. ' +
      'Wenn Besucher „zu viele Weiterleitungen“ sehen, muss sich der Dienst über HTTPS mit uns verbinden (Cloudflare: Full (strict)).',
    howLong: 'Die Prüfung dauert meist weniger als eine Minute.',
  },
  HTTPSRecordElsewhere: {
    title: 'Funktioniert, führt manche Browser aber woandershin',
    body: '{hostname} funktioniert. Ein HTTPS-Eintrag führt manche Browser aber zu einer anderen Adresse.',
    next: 'Löschen Sie den HTTPS-Eintrag von {hostname} [bei {provider}|bei Ihrem DNS-Anbieter] und klicken Sie auf „Erneut prüfen“.',
    howLong: foundSoon,
  },
  DNSDrifted: {
    title: 'Domain führt nicht mehr hierher',
    body: 'Die DNS-Einträge von {hostname} führen nicht mehr zu Ihrem Projekt.[ Die Domain bleibt hier bis {until} verbunden.]',
    next: 'Stellen Sie die Einträge unten [bei {provider}|bei Ihrem DNS-Anbieter] wieder her.',
    howLong: foundSoon,
  },
  Removing: {
    title: 'Domain wird entfernt',
    body: 'Besucher erreichen Ihr Projekt unter {hostname} nicht mehr.',
    next: contactSupport,
    howLong: '',
  },
  Accepted: {
    title: 'Domain ist erlaubt',
    body: '{hostname} kann mit Ihrem Projekt verbunden werden.',
    next: nothingToDo,
    howLong: '',
  },
  Proven: {
    title: 'Domain ist bestätigt',
    body: 'Die DNS-Einträge zeigen, dass {hostname} Ihnen gehört.',
    next: nothingToDo,
    howLong: '',
  },
  Issued: {
    title: 'Zertifikat ist bereit',
    body: '{hostname} hat ein Zertifikat für sichere Verbindungen.',
    next: nothingToDo,
    howLong: '',
  },
  Routed: {
    title: 'Domain ist verbunden',
    body: 'Diese Plattform ist für {hostname} eingerichtet.',
    next: nothingToDo,
    howLong: '',
  },
  RoutesPending: {
    title: 'Domain wird verbunden',
    body: 'Diese Plattform wird gerade für {hostname} eingerichtet.',
    next: nothingToDo,
    howLong: 'Das dauert meist weniger als eine Minute.',
  },
};
