import type {acceptanceReasons} from '../../acceptance.ts';
import type {CustomerTexts} from '../../reason.ts';
import {contactSupport, takesEffectSoon} from './shared.ts';

export const acceptance: Record<keyof typeof acceptanceReasons, CustomerTexts> = {
  ProjectNotFound: {
    title: 'Projekt ist nicht bereit',
    body: 'Das Projekt dieser Domain gibt es nicht, oder es hat noch keine Adresse.',
    next: 'Legen Sie das Projekt an, falls es noch nicht existiert. Bleibt das so, wenden Sie sich an den Support.',
    howLong: 'Ein neues Projekt erhält seine Adresse meist innerhalb einer Minute.',
  },
  ProjectHasDomains: {
    title: 'Projekt hat bereits Domains',
    body: 'Ihr Projekt hat bereits eine Liste von Domains. Eine zweite Liste kann nicht verwendet werden.',
    next: 'Fügen Sie {hostname} der Domainliste hinzu, die Ihr Projekt bereits hat.',
    howLong: takesEffectSoon,
  },
  ProjectLimitReached: {
    title: 'Höchstzahl der Projekte erreicht',
    body:
      'Ihr Tarif erlaubt weniger Projekte, als Sie haben. Die neuesten Projekte können nicht verwendet werden.' +
      '[ {hostname} funktioniert bis {until}.]',
    next: 'Löschen Sie ein Projekt oder wechseln Sie in einen größeren Tarif.',
    howLong: takesEffectSoon,
  },
  HostnameNotAllowed: {
    title: 'Domain ist nicht erlaubt',
    body:
      '{hostname} kann nicht verbunden werden. ' +
      '[{cause=Invalid}Das ist kein gültiger Domainname.|' +
      '{cause=Reserved}Dieser Name ist reserviert und kann im Internet nicht verwendet werden.|' +
      '{cause=PublicSuffix}Unter diesem Namen registrieren viele Menschen ihre Domains.|' +
      '{cause=Platform}Dieser Name gehört zu dieser Plattform.|' +
      '{cause=Denied}Diese Plattform erlaubt diesen Namen nicht.|' +
      'Das ist kein gültiger Domainname, oder diese Plattform erlaubt ihn nicht.]',
    next: 'Entfernen Sie diese Domain und wählen Sie eine andere.',
    howLong: '',
  },
  DuplicateHostname: {
    title: 'Domain ist doppelt eingetragen',
    body: 'Ihr Projekt hat diese Domain zweimal, in zwei Schreibweisen.',
    next: 'Entfernen Sie eine der beiden Schreibweisen.',
    howLong: takesEffectSoon,
  },
  PlanUpgradeRequired: {
    title: 'Tarif enthält keine eigenen Domains',
    body: 'Ihr Tarif enthält keine eigenen Domains.[ {hostname} funktioniert bis {until}.]',
    next: 'Wechseln Sie in einen größeren Tarif, um eigene Domains zu verwenden.',
    howLong: takesEffectSoon,
  },
  PlanNotFound: {
    title: 'Tarif fehlt',
    body:
      'Der Tarif Ihres Kontos wurde nicht gefunden. Neue Domains können nicht verbunden werden. ' +
      'Domains, die bereits funktionieren, bleiben verbunden.',
    next: contactSupport,
    howLong: '',
  },
  NoSuccessfulDeploy: {
    title: 'Projekt ist noch nicht veröffentlicht',
    body: 'Eine Domain kann verbunden werden, sobald Ihr Projekt zum ersten Mal erfolgreich veröffentlicht ist.',
    next: 'Veröffentlichen Sie Ihr Projekt.',
    howLong: takesEffectSoon,
  },
  HostnameLimitReached: {
    title: 'Höchstzahl der Domains erreicht',
    body:
      'Ihr Tarif erlaubt [höchstens {limit} Domains pro Projekt|weniger Domains pro Projekt].' +
      '[ {hostname} funktioniert bis {until}.]',
    next: 'Entfernen Sie eine andere Domain oder wechseln Sie in einen größeren Tarif.',
    howLong: takesEffectSoon,
  },
  TooManyWaiting: {
    title: 'Zu viele Domains warten',
    body:
      'Zu viele Domains Ihres Kontos warten auf ihre DNS-Einträge.[ Höchstens {limit} können gleichzeitig warten.] ' +
      'Diese Domain folgt automatisch.',
    next: 'Legen Sie die DNS-Einträge der anderen wartenden Domains an oder entfernen Sie diese Domains.',
    howLong: takesEffectSoon,
  },
};
