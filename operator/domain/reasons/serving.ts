/** What is Live, or was; and what conditions say that have no reason of a hostname to show. */
import type {Reason} from './reason.ts';
import {contactSupport, foundSoon, message, nothingToDo, ownStep} from './reason.ts';

export const servingReasons = {
  // Live.
  Serving: {
    means: 'It is served with its own certificate; the edge was seen to do so.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
    customer: {
      title: 'Everything works',
      body: 'Visitors reach your project at this domain over a secure connection.',
      next: nothingToDo,
      howLong: '',
    },
  },
  Redirecting: {
    means: 'It redirects to the primary; the edge was seen to present its certificate.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
    customer: {
      title: 'Redirect works',
      body: 'Visitors of this domain are redirected to your main domain.',
      next: nothingToDo,
      howLong: '',
    },
  },
  RenewalOverdue: {
    means:
      'It is served, but its certificate should have been renewed by now: ' +
      'a quarter of the time between the renewal and the expiry is over.',
    remedy: 'The message says what cert-manager says and who must act; then ask for a fresh attempt (Re-verify).',
    waitingFor: 'Platform',
    health: 'stalled',
    customer: {title: 'Certificate renewal is late', body: message, next: ownStep, howLong: '', tone: 'wait'},
  },
  CertificateExpired: {
    means: 'Its certificate has expired: browsers refuse it. Its routes stay.',
    remedy: 'The message says what cert-manager says and who must act; then ask for a fresh attempt (Re-verify).',
    waitingFor: 'Platform',
    health: 'stalled',
    conditions: {CertificateReady: 'False'},
    customer: {title: 'Certificate has expired', body: message, next: ownStep, howLong: '', tone: 'bad'},
  },
  CertificateLost: {
    means:
      'It was Live, and its certificate is missing or not valid: somebody deleted its Secret, for example. ' +
      'cert-manager orders another one. The routes stay.',
    remedy:
      'The message has the words of cert-manager, and who must act. If no new certificate is issued, ask for a fresh attempt (Re-verify).',
    waitingFor: 'Platform',
    health: 'pending',
    stalledAfter: 'edgeGrace',
    conditions: {CertificateReady: 'False'},
    customer: {
      title: 'Certificate is being replaced',
      body: 'The certificate of this domain was lost. This platform is getting another one. Until then, visitors can get a warning.',
      next: ownStep,
      howLong: 'This usually takes a few minutes.',
      tone: 'bad',
    },
  },
  ServedUntilReplaced: {
    means:
      'It was the primary, and is served as before until the new primary is Live; or another CustomDomain of the same account owns it ' +
      'now, and it is served as before until that one serves it.',
    remedy: 'See the primary, or the other CustomDomain.',
    waitingFor: 'Nobody',
    health: 'done',
    customer: {
      title: 'Works until it is replaced',
      body: 'This was your main domain. Visitors reach your project here until the new main domain is live.',
      next: 'Follow the steps of the new main domain.',
      howLong: '',
    },
  },
  ServedBehindCDN: {
    means:
      'It is served, and is behind a content delivery network (CDN) now, which hides what proved it. ' +
      'That proof stands until another customer proves the hostname.',
    remedy:
      'Create the TXT record that the message names, so that it is proven behind the CDN, too. If visitors get an endless redirect, ' +
      'have the CDN connect to its origin over HTTPS (Cloudflare: Full (strict), not Flexible).',
    waitingFor: 'Nobody',
    health: 'done',
    customer: {
      title: 'Works, but needs confirmation',
      body: message,
      next:
        'Follow the step above, then press Re-verify. If visitors see "too many redirects", let the CDN connect to us ' +
        'over HTTPS (Cloudflare: Full (strict)).',
      howLong: 'The check usually takes less than a minute.',
    },
  },
  HTTPSRecordElsewhere: {
    means:
      'It is served, and an HTTPS record (type 65) at the same name leads elsewhere. Browsers follow that record before the addresses.',
    remedy: 'Delete the HTTPS record at the DNS provider, or correct it: it often belongs to a former host.',
    waitingFor: 'Nobody',
    health: 'done',
    customer: {
      title: 'Works, but some browsers go elsewhere',
      body: message,
      next: 'Delete the HTTPS record at your DNS provider, then press Re-verify.',
      howLong: foundSoon,
    },
  },
  DNSDrifted: {
    means: 'The DNS proves it no longer, and that was confirmed. It is served on for the grace time (graceTime).',
    remedy: 'Put the record back.',
    waitingFor: 'Customer',
    health: 'stalled',
    customer: {
      title: 'DNS no longer leads here',
      body: message,
      next: 'Restore the records below at your DNS provider.',
      howLong: foundSoon,
    },
  },
  Removing: {
    means:
      'It is being removed, and its routes are gone. Its Project and its hostnames are free for the next CustomDomain.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'removing',
    customer: {
      title: 'Domain is being removed',
      body: 'Visitors no longer reach your project at this domain.',
      next: contactSupport,
      howLong: '',
    },
  },
  // Conditions that have no reason of a hostname to show.
  Accepted: {
    means: 'The hostname may be attached to this Project.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
    customer: {
      title: 'Domain is allowed',
      body: 'This domain can be connected to your project.',
      next: nothingToDo,
      howLong: '',
    },
  },
  Proven: {
    means: 'DNS names the host of this Project.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
    customer: {
      title: 'Domain is confirmed',
      body: 'The DNS records show that this domain is yours.',
      next: nothingToDo,
      howLong: '',
    },
  },
  Issued: {
    means: 'The certificate is there.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
    customer: {
      title: 'Certificate is ready',
      body: 'This domain has a certificate for secure connections.',
      next: nothingToDo,
      howLong: '',
    },
  },
  Routed: {
    means: 'The ingress rules are written.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
    customer: {
      title: 'Domain is connected',
      body: 'This platform is set up to answer for this domain.',
      next: nothingToDo,
      howLong: '',
    },
  },
  RoutesPending: {
    means: 'The ingress rules are being written.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'pending',
    customer: {
      title: 'Domain is being connected',
      body: 'This platform is being set up to answer for this domain.',
      next: nothingToDo,
      howLong: 'This usually takes less than a minute.',
    },
  },
} as const satisfies Record<string, Reason>;
