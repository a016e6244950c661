import type {CustomerTexts} from '../../reason.ts';
import type {servingReasons} from '../../serving.ts';
import {afterFailure, contactSupport, foundSoon, nothingToDo} from './shared.ts';

export const serving: Record<keyof typeof servingReasons, CustomerTexts> = {
  Serving: {
    title: 'Everything works',
    body: 'Visitors reach your project at {hostname} over a secure connection.',
    next: nothingToDo,
    howLong: '',
  },
  Redirecting: {
    title: 'Redirect works',
    body: 'Visitors of {hostname} are redirected to [{target}|your main domain].',
    next: nothingToDo,
    howLong: '',
  },
  RenewalOverdue: {
    title: 'Certificate renewal is late',
    body: '{hostname} works, but its certificate has not been renewed yet.[ The certificate is valid until {expires}.]',
    next: afterFailure,
    howLong: '',
  },
  CertificateExpired: {
    title: 'Certificate has expired',
    body: 'The certificate of {hostname} expired[ on {expires}]. Browsers show a warning to visitors.',
    next: afterFailure,
    howLong: '',
  },
  CertificateLost: {
    title: 'Certificate is being replaced',
    body: 'The certificate of {hostname} was lost, and this platform is getting another one. Until then, visitors can get a warning.',
    next: afterFailure,
    howLong: 'This usually takes a few minutes.',
  },
  ServedUntilReplaced: {
    title: 'Works until it is replaced',
    body:
      '[{cause=Moved}{hostname} moves to another project of your account. Visitors reach this project until the move is complete.|' +
      '{hostname} was your main domain. It works until the new main domain {primary} is live.|' +
      '{hostname} was your main domain. It works until the new main domain is live.]',
    next: '[{cause=Moved}Follow the steps of this domain in the other project.|Follow the steps of the new main domain.]',
    howLong: '',
  },
  ServedBehindCDN: {
    title: 'Works, but needs confirmation',
    body: '{hostname} works. It is behind another service now, which hides the record that confirms that the domain is yours.',
    next:
      '[First create records for {hostname} itself, in addition to {wildcard}. Then create the TXT record below.|' +
      'Create the TXT record below at {provider}.|Create the TXT record below at your DNS provider.] Then press Re-verify. ' +
      'If visitors see "too many redirects", set the other service to connect to us over HTTPS (Cloudflare: Full (strict)).',
    howLong: 'The check usually takes less than a minute.',
  },
  HTTPSRecordElsewhere: {
    title: 'Works, but some browsers go elsewhere',
    body: '{hostname} works. It also has an HTTPS record, which leads some browsers to another address.',
    next: 'Delete the HTTPS record of {hostname} [at {provider}|at your DNS provider], then press Re-verify.',
    howLong: foundSoon,
  },
  DNSDrifted: {
    title: 'Domain no longer leads here',
    body: 'The DNS records of {hostname} no longer lead to your project.[ The domain stays connected here until {until}.]',
    next: 'Restore the records below [at {provider}|at your DNS provider].',
    howLong: foundSoon,
  },
  Removing: {
    title: 'Domain is being removed',
    body: 'Visitors no longer reach your project at {hostname}.',
    next: contactSupport,
    howLong: '',
  },
  Accepted: {
    title: 'Domain is allowed',
    body: '{hostname} can be connected to your project.',
    next: nothingToDo,
    howLong: '',
  },
  Proven: {
    title: 'Domain is confirmed',
    body: 'The DNS records show that {hostname} is yours.',
    next: nothingToDo,
    howLong: '',
  },
  Issued: {
    title: 'Certificate is ready',
    body: '{hostname} has a certificate for secure connections.',
    next: nothingToDo,
    howLong: '',
  },
  Routed: {
    title: 'Domain is connected',
    body: 'This platform is set up to answer for {hostname}.',
    next: nothingToDo,
    howLong: '',
  },
  RoutesPending: {
    title: 'Domain is being connected',
    body: 'This platform is being set up to answer for {hostname}.',
    next: nothingToDo,
    howLong: 'This usually takes less than a minute.',
  },
};
