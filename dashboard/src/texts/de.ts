/** The page's own texts in German. */
import {causes} from './de/causes.ts';
import type {Texts} from './en.ts';
import {pluralsOf} from './plural.ts';

export {german} from '../../../operator/domain/reasons/texts/de.ts';

const plural = pluralsOf('de');

export const de: Texts = {
  language: 'Sprache',
  loading: 'Wird geladen',
  skip: 'Zum Inhalt springen',
  pages: 'Seiten',
  domains: 'Domains',
  projects: 'Projekte',
  settings: 'Einstellungen',
  keys: 'API-Schlüssel',
  usage: 'Tarif und Nutzung',
  account: 'Konto',
  area: 'Bereich des Kontos',
  project: 'Projekt',
  user: 'Benutzer',
  key: 'API-Schlüssel',
  none: 'keine',
  signIn: 'Anmelden',
  signOut: 'Abmelden',
  back: (platform) => (platform === '' ? 'Zurück' : `Zurück zu ${platform}`),
  support: 'Support',
  apiReference: 'API-Referenz',
  cancel: 'Abbrechen',
  done: 'Fertig',
  oneMoment: 'Einen Moment …',
  missingPage: 'Diese Seite gibt es nicht',
  toStart: 'Zur Startseite',

  copy: {
    label: (what) => `${what} kopieren`,
    copied: 'Kopiert',
    failed: 'Nicht kopiert. Der Text ist jetzt markiert. Kopieren Sie ihn von Hand.',
  },
  connection: {
    offline: 'Sie sind offline. Diese Seite kann veraltet sein. Sie wird aktualisiert, sobald Sie wieder online sind.',
    lost: 'Die Verbindung ist unterbrochen. Diese Seite kann veraltet sein. Neue Verbindung wird aufgebaut …',
    overQuota: 'Zu viele Anfragen in dieser Minute. Diese Seite kann bis zur nächsten Minute veraltet sein.',
  },
  failure: {
    title: 'Laden Sie diese Seite neu',
    text: 'Ein Teil dieser Seite konnte nicht geladen oder angezeigt werden. Ihre Domains sind nicht betroffen.',
    reload: 'Neu laden',
  },
  errors: {
    unreachable: 'Der Server ist nicht erreichbar.',
    offline: 'Sie sind offline.',
    tryAgain: 'Versuchen Sie es erneut.',
    tryingAgain: 'Diese Seite versucht es automatisch erneut.',
    notBefore: (time) => `Ein neuer Versuch ist möglich ab: ${time}.`,
    inSeconds: (n) =>
      plural(n, {
        one: 'Versuchen Sie es in 1 Sekunde erneut.',
        other: `Versuchen Sie es in ${n} Sekunden erneut.`,
      }),
  },
  problems: {
    'invalid-input': 'Diese Eingabe ist nicht gültig. Prüfen Sie die Schreibweise.',
    'credentials-missing': 'Melden Sie sich zuerst an.',
    'credentials-wrong':
      'Der API-Schlüssel ist nicht gültig. Prüfen Sie die Schreibweise oder erstellen Sie einen neuen Schlüssel.',
    'key-expired': 'Der API-Schlüssel ist abgelaufen. Verwenden Sie einen neueren Schlüssel.',
    'link-used':
      'Dieser Link wurde schon verwendet oder ist älter als fünf Minuten. Gehen Sie zurück und folgen Sie dem Link erneut.',
    'session-ended': 'Ihre Sitzung ist zu Ende. Melden Sie sich erneut an.',
    'cross-site': 'Diese Anfrage kam von einer anderen Seite. Laden Sie diese Seite neu und versuchen Sie es erneut.',
    'account-missing': 'Sie gehören noch zu keinem Konto. Wenden Sie sich an den Support.',
    'scope-missing': 'Ihr Link oder API-Schlüssel erlaubt das nicht.',
    'exceeds-caller': 'Sie können nur Schlüssel erstellen und ändern, deren Rechte Sie auch selbst haben.',
    'quota-reached':
      'Die Höchstzahl ist erreicht. Löschen Sie etwas, das Sie nicht brauchen, oder wenden Sie sich an den Support.',
    'not-found': 'Das gibt es nicht mehr.',
    'hostname-exists': 'Ihr Projekt hat diese Domain schon.',
    'primary-has-redirects':
      'Andere Domains des Projekts hängen von dieser ab. Machen Sie eine andere zur Hauptdomain oder entfernen Sie zuerst die anderen.',
    'managed-elsewhere':
      'Das wird in einer Konfiguration außerhalb dieser Seite verwaltet. Ändern Sie es dort oder wenden Sie sich an den Support.',
    'key-exists': 'Sie haben schon einen anderen Schlüssel mit diesem Namen. Wählen Sie einen anderen Namen.',
    'rotation-under-way':
      'Dieser Schlüssel wurde vor Kurzem ersetzt. Laden Sie diese Seite neu und versuchen Sie es erneut.',
    'changed-meanwhile':
      'Jemand anderes hat das gleichzeitig geändert. Diese Seite zeigt die Änderung jetzt an. Versuchen Sie es erneut.',
    refused: 'Eine Regel dieser Plattform erlaubt das nicht. Wenden Sie sich an den Support.',
    'rate-limited': 'Zu viele Anfragen.',
    'key-banned': 'Dieser API-Schlüssel ist vorübergehend gesperrt, weil zu viele Anfragen mit ihm gesendet wurden.',
    'too-many-streams': 'Diese Seite ist zu oft geöffnet. Schließen Sie einige ihrer Tabs.',
    'request-timeout': 'Die Anfrage hat zu lange gedauert. Versuchen Sie es erneut.',
    'internal-error':
      'Bei uns ist ein Fehler aufgetreten. Versuchen Sie es später erneut oder wenden Sie sich an den Support.',
    'kubernetes-failed': 'Bei uns ist ein Fehler aufgetreten.',
    unavailable: 'Der Dienst ist zurzeit nicht verfügbar.',
  },
  causes,
  hostnameRules: [
    'Geben Sie eine Domain wie docs.example.com ein: Buchstaben, Ziffern und Bindestriche zwischen Punkten. Ohne https://, Pfade, Leerzeichen, Unterstriche und *.',
    'Der Teil zwischen zwei Punkten darf höchstens 63 Zeichen haben.',
    'Geben Sie eine Domain mit höchstens 253 Zeichen ein.',
    'Geben Sie eine Domain ein, keine IP-Adresse.',
    'Domains, die auf localhost, local, arpa oder onion enden, funktionieren im Internet nicht.',
  ],

  phases: {
    NotAccepted: 'Nicht angenommen',
    AwaitingVerification: 'Noch nicht bestätigt',
    Verified: 'Bestätigt',
    Live: 'Live',
    Removing: 'Wird entfernt',
  },
  waitingFor: {
    Customer: 'Wartet auf Sie',
    Platform: 'Wartet auf uns',
    CertificateAuthority: 'Wartet auf die Zertifizierungsstelle (CA)',
    Nobody: '',
  },
  roles: {
    main: 'Hauptdomain',
    formerMain: 'Frühere Hauptdomain',
    redirects: (to, isPermanent) => `Leitet ${isPermanent ? '' : 'vorübergehend '}weiter zu ${to}`,
    willRedirect: (to) => (to === null ? 'Wird weiterleiten' : `Wird weiterleiten zu ${to}`),
  },
  host: {
    next: 'Nächster Schritt',
    howLong: 'Wie lange es dauert',
    worksUntil: 'Funktioniert bis',
    verify: 'Prüfen',
    verifyAgain: 'Erneut prüfen',
    checking: 'Wird geprüft …',
    makeMain: 'Zur Hauptdomain machen',
    remove: 'Entfernen',
    isMain: (domain) => `${domain} ist die Hauptdomain.`,
    removed: (domain) => `${domain} wurde entfernt.`,
  },
  timeline: {
    label: (domain) => `Verlauf von ${domain}`,
    added: 'Hinzugefügt',
    verified: 'Bestätigt',
    live: 'Live',
    notYet: 'noch nicht',
    after: (span) => `nach ${span}`,
    under: 'unter 1 Sek.',
    by: {
      CNAME: 'mit dem CNAME-Eintrag',
      TXT: 'mit dem TXT-Eintrag',
      Addresses: 'mit den Adresseinträgen',
    },
  },
  records: {
    title: 'DNS-Einträge',
    label: (domain) => `DNS-Einträge von ${domain}`,
    create: (n, zone, place) =>
      plural(n, {
        one: `Legen Sie diesen Eintrag bei ${place} in den DNS-Einstellungen von ${zone} an.`,
        other: `Legen Sie diese Einträge bei ${place} in den DNS-Einstellungen von ${zone} an.`,
      }),
    keep: (n, zone, place) =>
      plural(n, {
        one: `Behalten Sie diesen Eintrag bei ${place} in den DNS-Einstellungen von ${zone}.`,
        other: `Behalten Sie diese Einträge bei ${place} in den DNS-Einstellungen von ${zone}.`,
      }),
    yourProvider: 'Ihrem DNS-Anbieter',
    yourProviderWith: (servers, more) =>
      `Ihrem DNS-Anbieter (Nameserver ${servers}${more > 0 ? ` und ${more} weitere` : ''})`,
    record: (type, domain) => `${type}-Eintrag von ${domain}`,
    field: (field, record) => `${field} im ${record}`,
    foundNow: 'Jetzt gefunden',
    correct: 'Richtig',
    nothing: 'Nichts',
    notChecked: 'Noch nicht geprüft',
    foundAt: (name) => `Gefunden unter ${name}`,
    flattened: (provider) => `${provider} erlaubt diesen Typ hier.`,
    addresses: (provider) =>
      `${provider} hat hier keinen Typ, der zu einem Namen führt. Verwenden Sie deshalb Adressen.`,
  },
  instructions: {
    send: 'Diese Anleitung senden',
    copy: 'Anleitung kopieren',
    copied: 'Anleitung kopiert',
    failed: 'Nicht kopiert. Verwenden Sie „Diese Anleitung senden“.',
    help: (provider) => `So legen Sie Einträge bei ${provider} an`,
  },
  removal: {
    title: (domain) => `${domain} entfernen?`,
    stops: (domain) => `Wer ${domain} öffnet, erhält eine Fehlermeldung, sobald Sie die Domain entfernen.`,
    notLive: (domain) => `${domain} ist nicht live. Besucher sind deshalb nicht betroffen.`,
    kept: 'Wir reservieren die Domain eine Weile für Ihr Konto. Sie können sie ohne neue Prüfung wieder hinzufügen, wenn ihre DNS-Einträge unverändert bleiben.',
    notKept: 'Um sie später wieder hinzuzufügen, müssen Sie sie erneut mit DNS-Einträgen bestätigen.',
    records: (n, place) =>
      plural(n, {
        one: `Löschen Sie danach diesen DNS-Eintrag bei ${place}:`,
        other: `Löschen Sie danach diese DNS-Einträge bei ${place}:`,
      }),
  },
  certificates: {
    get: 'Neues Zertifikat anfordern',
    getting: 'Neue Zertifikate werden angefordert …',
    title: 'Neue Zertifikate anfordern?',
    does: 'Neue Zertifikate anfordern',
    started: 'Neue Zertifikate wurden angefordert.',
    text: 'Alle Domains dieses Projekts erhalten ein neues Zertifikat mit einem neuen Schlüssel. Tun Sie das, wenn ein Schlüssel gestohlen wurde oder der Support Sie darum bittet.',
    note: 'Besucher bemerken nichts. Es dauert meist wenige Minuten. Eine Domain kann nur wenige Zertifikate pro Woche erhalten.',
  },
  add: {
    title: 'Domain hinzufügen',
    domain: 'Domain',
    redirect: 'Weiterleitung zur Hauptdomain',
    statuses: {
      301: 'Dauerhaft (301)',
      302: 'Vorübergehend (302)',
      307: 'Vorübergehend, auch für Formulare (307)',
      308: 'Dauerhaft, auch für Formulare (308)',
    },
    add: 'Domain hinzufügen',
    adding: 'Wird hinzugefügt …',
    added: (domain) => `${domain} wurde hinzugefügt.`,
    possible: (domain) => `${domain} kann hinzugefügt werden.`,
    shownAs: (domain) => `Die meisten Browser zeigen sie als ${domain} an.`,
    becomesMain: 'Sie wird die Hauptdomain.',
    first: 'Ihre erste Domain wird die Hauptdomain des Projekts.',
    next: (main) => `Die neue Domain leitet Besucher weiter zu ${main}.`,
    invalid: 'Das ist keine gültige Domain. Prüfen Sie die Schreibweise.',
  },
  view: {
    alwaysAt: 'Ihr Projekt hat auch eine eigene Adresse:',
    missing: 'Dieses Projekt gibt es nicht',
    toProjects: 'Zu Ihren Projekten',
    managed:
      'Diese Domains werden in einer Konfiguration außerhalb dieser Seite verwaltet. Ändern Sie sie dort oder wenden Sie sich an den Support. Die Schaltfläche „Prüfen“ funktioniert auch hier.',
    viewOnly:
      'Sie können diese Domains ansehen, aber nicht ändern. Ihr Link oder API-Schlüssel erlaubt keine Änderungen.',
    notDeployed:
      'Sie können eigene Domains verbinden, sobald dieses Projekt zum ersten Mal erfolgreich veröffentlicht ist.',
    empty: 'Noch keine Domain',
    emptyNone: 'Zu diesem Projekt wurde keine Domain hinzugefügt.',
    emptyAdd: 'Fügen Sie oben eine Domain hinzu. Diese Seite zeigt danach die DNS-Einträge, die Sie brauchen.',
  },
  plan: {
    missing:
      'Der Tarif Ihres Kontos wurde nicht gefunden. Sie können keine Domains hinzufügen, bis das behoben ist. Wenden Sie sich an den Support. Domains, die schon funktionieren, bleiben verbunden.',
    used: (used, most, plan) => `${used} von ${most} Domains verwendet (Tarif ${plan}).`,
    full: (most, n, plan) =>
      plural(n, {
        one: `Der Tarif ${plan} erlaubt 1 Domain pro Projekt, und die ist schon verwendet.`,
        other: `Alle ${most} Domains, die der Tarif ${plan} pro Projekt erlaubt, sind verwendet.`,
      }),
    noDomains: (plan) => `Der Tarif ${plan} enthält keine eigenen Domains.`,
    larger: (plan, count, n) =>
      plural(n, {
        one: `Der Tarif ${plan} enthält 1 Domain pro Projekt.`,
        other: `Der Tarif ${plan} enthält ${count} Domains pro Projekt.`,
      }),
  },
  projectList: {
    lead: 'Wählen Sie ein Projekt, um seine Domains zu sehen und zu ändern.',
    noDomain: 'Noch keine Domain',
    notDeployed: 'Nicht veröffentlicht',
    live: (live, total) => `${live} von ${total} live`,
    empty: 'Noch kein Projekt',
    emptyText: 'Ein Projekt erscheint hier, sobald es veröffentlicht ist.',
  },
  keyList: {
    lead: 'Programme verwenden API-Schlüssel, um Domains zu verwalten oder andere APIs dieser Plattform zu nutzen.',
    form: 'Schlüssel erstellen',
    name: 'Name',
    nameRule: 'Kleinbuchstaben, Ziffern, Bindestriche und Punkte',
    expires: 'Läuft ab',
    expiries: {'': 'Nie', 30: 'In 30 Tagen', 90: 'In 90 Tagen', 365: 'In einem Jahr'},
    may: 'Der Schlüssel darf',
    permissions: {
      'domains:read': 'Domains ansehen',
      'domains:write': 'Domains ändern',
      'usage:read': 'Nutzung ansehen',
      'keys:write': 'Schlüssel verwalten',
      'audit:read': 'Verlauf ansehen',
    },
    create: 'Schlüssel erstellen',
    exists: (name) => `Sie haben den Schlüssel ${name} schon. Ersetzen Sie ihn, um einen neuen zu erhalten.`,
    empty: 'Noch kein Schlüssel',
    emptyText: 'Erstellen Sie oben einen.',
    shown: (name) => `Der Schlüssel ${name}`,
    shownText: 'Kopieren Sie den Schlüssel jetzt. Er wird nur einmal angezeigt.',
    dates: (lastUsed, expires) => `Zuletzt verwendet: ${lastUsed ?? 'nie'}. Läuft ab: ${expires ?? 'nie'}.`,
    rotate: 'Ersetzen',
    rotateTitle: (name) => `${name} ersetzen?`,
    rotateText: 'Der Schlüssel erhält einen neuen Wert, der nur einmal angezeigt wird.',
    rotateAgain: (until) =>
      `Dieser Schlüssel wurde schon ersetzt. Sein früherer Wert gilt bis ${until} oder bis Sie den Schlüssel erneut ersetzen.`,
    overlap: 'Der alte Wert gilt',
    overlaps: {86_400: 'noch einen Tag', 3600: 'noch eine Stunde', 0: 'nicht mehr'},
    revoke: 'Widerrufen',
    revokeTitle: (name) => `${name} widerrufen?`,
    revokeText:
      'Programme, die diesen Schlüssel verwenden, werden sofort abgewiesen. Das lässt sich nicht rückgängig machen.',
  },
  signingIn: {
    title: 'Anmeldung läuft …',
    lead: (platform) =>
      platform === ''
        ? 'Folgen Sie dem Link auf den Seiten Ihrer Plattform oder melden Sie sich mit einem API-Schlüssel an.'
        : `Folgen Sie dem Link auf den Seiten von ${platform} oder melden Sie sich mit einem API-Schlüssel an.`,
    keyNote: 'Der Schlüssel wird einmal an diesen Server gesendet. Ihr Browser speichert ihn nicht.',
    continueAs: (account) => `Weiter als ${account}`,
  },
  confirm: {
    asOther: 'Als jemand anderes anmelden?',
    to: (account) => `Bei ${account} anmelden?`,
    lead: 'Fahren Sie nur fort, wenn das Ihr Konto ist. Sonst erhält sein Inhaber die Domains, die Sie hinzufügen.',
    next: 'Neue Anmeldung',
    current: 'Aktuelle Anmeldung',
    noUser: 'nicht genannt',
    stay: (account) => `Bei ${account} bleiben`,
    does: (account) => `Bei ${account} anmelden`,
  },
  quota: {
    noPlan: 'Kein Tarif',
    plan: (plan) => `Tarif ${plan}`,
    account: (account) => `Konto ${account}.`,
    upTo: (count, n) =>
      plural(n, {
        one: 'Sie können pro Projekt 1 eigene Domain verbinden.',
        other: `Sie können pro Projekt ${count} eigene Domains verbinden.`,
      }),
    noDomains: 'Dieser Tarif enthält keine eigenen Domains.',
    requests: 'Anfragen an die API',
    shared:
      'Alle Schlüssel des Kontos teilen sich diese Anfragen. Diese Seite verbraucht zuerst 60 eigene Anfragen pro Minute, höchstens 500 pro Tag.',
    minute: 'Diese Minute',
    day: 'Heute (UTC)',
    again: (time) => `Beginnt neu: ${time}`,
    of: (used, limit) => `${used} von ${limit}`,
    used: (label, used, limit) => `${label}: ${used} von ${limit} verwendet`,
    plans: 'Tarife',
    columns: ['Tarif', 'Domains pro Projekt', 'Anfragen pro Minute', 'Anfragen pro Tag'],
    yours: (plan) => `${plan} (Ihrer)`,
    byKey: 'Anfragen nach Schlüssel',
    since: (day) =>
      `Seit ${day} (Tage in UTC). Anfragen dieser Seite werden nicht gezählt. Die Zahlen können eine halbe Minute alt sein.`,
    noRequests: 'Seitdem hat kein Schlüssel eine Anfrage gesendet.',
    keyColumns: ['Schlüssel', 'Heute', 'Gesamt'],
    download: 'Nach Tag und Berechtigung herunterladen (CSV)',
  },
};
