import type {otherReasons} from '../../others.ts';
import type {CustomerTexts} from '../../reason.ts';
import {nothingToDo, takesEffectSoon} from './shared.ts';

export const others: Record<keyof typeof otherReasons | 'Pending' | 'Other', CustomerTexts> = {
  PlanFound: {title: 'Tarif ist aktiv', body: 'Ihr Konto hat einen Tarif.', next: nothingToDo, howLong: ''},
  KeyUsable: {
    title: 'Schlüssel funktioniert',
    body: 'Anfragen mit diesem Schlüssel werden[ bis {expires}] angenommen.',
    next: nothingToDo,
    howLong: '',
  },
  KeyExpired: {
    title: 'Schlüssel ist abgelaufen',
    body: 'Anfragen mit diesem Schlüssel werden abgelehnt.',
    next: 'Erstellen Sie einen neuen Schlüssel, verwenden Sie ihn anstelle des alten und widerrufen Sie den alten.',
    howLong: '',
  },
  KeyBanned: {
    title: 'Schlüssel ist vorübergehend gesperrt',
    body: 'Anfragen mit diesem Schlüssel werden abgelehnt. Zu viele Anfragen wurden vor dem Ende der Wartezeit gesendet.',
    next: 'Ändern Sie Ihr Programm so, dass es wartet, wenn eine Antwort das verlangt.',
    howLong: 'Die Sperre endet automatisch.',
  },
  ServiceNotFound: {
    title: 'Projekt läuft nicht',
    body: 'Diese Plattform findet das Programm Ihres Projekts nicht.',
    next: 'Veröffentlichen Sie Ihr Projekt noch einmal oder wenden Sie sich an den Support.',
    howLong: takesEffectSoon,
  },
  ServicePortNotFound: {
    title: 'Projekteinstellungen passen nicht',
    body: 'Die Einstellungen Ihres Projekts nennen einen Port, den sein Programm nicht hat.',
    next: 'Korrigieren Sie den Port in den Einstellungen Ihres Projekts.',
    howLong: takesEffectSoon,
  },
  NoReadyEndpoint: {
    title: 'Projekt ist nicht erreichbar',
    body: 'Diese Plattform hat keine laufende Version Ihres Projekts gefunden.',
    next: 'Veröffentlichen Sie Ihr Projekt oder wenden Sie sich an den Support.',
    howLong: takesEffectSoon,
  },
  Deployed: {
    title: 'Projekt ist veröffentlicht',
    body: 'Ihr Projekt wurde erfolgreich veröffentlicht.',
    next: nothingToDo,
    howLong: '',
  },
  DefaultHostDisabled: {
    title: 'Projektadresse ist ausgeschaltet',
    body: 'Die eigene Adresse des Projekts ist in seinen Einstellungen ausgeschaltet. Ihre Domains sind nicht betroffen.',
    next: nothingToDo,
    howLong: '',
  },
  Pending: {
    title: 'Neu und noch nicht geprüft',
    body: 'Das wurde gerade angelegt. Die erste Prüfung folgt automatisch.',
    next: nothingToDo,
    howLong: 'Die erste Prüfung dauert meist weniger als eine Minute.',
  },
  Other: {
    title: 'Zustand ist unbekannt',
    body: 'Diese Plattform meldet einen Zustand, den diese Seite noch nicht beschreibt.',
    next: 'Laden Sie diese Seite neu. Bleibt das so, wenden Sie sich an den Support.',
    howLong: '',
  },
};
