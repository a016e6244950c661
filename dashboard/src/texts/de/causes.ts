/** The exact causes of problems (operator/http/causes.ts), in German. */
import type {causes as english} from '../en/causes.ts';

export const causes: typeof english = {
  Expired: 'Ihre Sitzung ist abgelaufen. Melden Sie sich erneut an.',
  SignedOut: 'Sie haben sich von dieser Sitzung abgemeldet. Melden Sie sich erneut an.',
  Ended:
    'Die Plattform oder ein API-Schlüssel Ihres Kontos hat Ihre Sitzung beendet. Melden Sie sich erneut an. Wenden Sie sich an den Support, wenn das noch einmal geschieht.',
  KeyRevoked:
    'Der API-Schlüssel Ihrer Sitzung wurde widerrufen oder ersetzt. Melden Sie sich mit einem anderen Schlüssel an.',
  KeyExpired: 'Der API-Schlüssel Ihrer Sitzung ist abgelaufen. Melden Sie sich mit einem neueren Schlüssel an.',
  KeyReduced: 'Der API-Schlüssel Ihrer Sitzung hat jetzt weniger Rechte. Melden Sie sich erneut an.',
  KeyBanned:
    'Der API-Schlüssel Ihrer Sitzung ist vorübergehend gesperrt, weil zu viele Anfragen mit ihm gesendet wurden. Melden Sie sich später oder mit einem anderen Schlüssel an.',
  NamespaceGone: 'Diesen Bereich Ihres Kontos gibt es nicht mehr. Folgen Sie dem Link auf Ihrer Plattform erneut.',
  Invalid:
    'Diese Domain enthält Zeichen, die Domains nicht haben können. Prüfen Sie die Schreibweise oder wählen Sie eine andere Domain.',
  JoinedEmoji: 'Domains können kein Emoji haben, das aus mehreren Emojis besteht. Wählen Sie eine andere Domain.',
  Reserved: 'Dieser Name ist reserviert und funktioniert im Internet nicht. Wählen Sie eine andere Domain.',
  PublicSuffix: 'Unter diesem Namen registrieren viele Menschen ihre Domains. Geben Sie Ihre eigene Domain ein.',
  Platform: 'Dieser Name gehört zu dieser Plattform. Geben Sie Ihre eigene Domain ein.',
  Denied:
    'Diese Plattform erlaubt diesen Namen nicht. Wählen Sie eine andere Domain oder wenden Sie sich an den Support.',
};
