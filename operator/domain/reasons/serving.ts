/** What is Live, or was; and what conditions say that have no reason of a hostname to show. */
import type {Reason} from './reason.ts';

export const servingReasons = {
  // Live.
  Serving: {
    means: 'The hostname is served with its own certificate. Doorplate has verified this at the edge.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
  },
  Redirecting: {
    means: 'The hostname redirects to the primary. Doorplate has verified that the edge presents its certificate.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
  },
  RenewalOverdue: {
    means:
      'The hostname is served, but its certificate should have been renewed by now. A quarter of the time between the ' +
      'renewal and the expiry has passed.',
    remedy:
      'Follow the message: it has the report of cert-manager and shows who must act. Then request a fresh attempt ' +
      '(Re-verify).',
    waitingFor: 'Platform',
    health: 'stalled',
  },
  CertificateExpired: {
    means: 'The certificate has expired, and browsers refuse it. The routes stay.',
    remedy:
      'Follow the message: it has the report of cert-manager and shows who must act. Then request a fresh attempt ' +
      '(Re-verify).',
    waitingFor: 'Platform',
    health: 'stalled',
    conditions: {CertificateReady: 'False'},
  },
  CertificateLost: {
    means:
      'The hostname was Live, and its certificate is missing or not valid. For example, its Secret was deleted. ' +
      'cert-manager orders another one. The routes stay.',
    remedy:
      'Follow the message: it has the report of cert-manager and shows who must act. If no new certificate is issued, ' +
      'request a fresh attempt (Re-verify).',
    waitingFor: 'Platform',
    health: 'pending',
    stalledAfter: 'edgeGrace',
    conditions: {CertificateReady: 'False'},
  },
  ServedUntilReplaced: {
    means:
      'The hostname was the primary, and is served until the new primary is Live. Or another CustomDomain of the same ' +
      'account owns the hostname now, and it is served here until it is served there.',
    remedy: 'Check the primary, or the other CustomDomain.',
    waitingFor: 'Nobody',
    health: 'done',
  },
  ServedBehindCDN: {
    means:
      'The hostname is served. It is behind a content delivery network (CDN) now, which hides the record that verified ' +
      'it. The verification stays valid until another tenant verifies the hostname.',
    remedy:
      'Create the TXT record that the message names, so that the hostname is verified behind the CDN, too. If visitors ' +
      'get an endless redirect, have the CDN connect to its origin over HTTPS (Cloudflare: Full (strict), not ' +
      'Flexible).',
    waitingFor: 'Nobody',
    health: 'done',
  },
  HTTPSRecordElsewhere: {
    means:
      'The hostname is served, and an HTTPS record (type 65) at the same name leads elsewhere. Browsers follow that ' +
      'record before the addresses.',
    remedy: 'Delete or correct the HTTPS record at the DNS provider. It often belongs to a former hosting provider.',
    waitingFor: 'Nobody',
    health: 'done',
  },
  DNSDrifted: {
    means:
      'The DNS no longer verifies the hostname, and later checks confirmed this. The hostname is served for the grace ' +
      'period (graceTime).',
    remedy: 'Restore the record.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
  Removing: {
    means:
      'The hostname is being removed, and its routes are gone. Its Project and its hostnames are free for the next ' +
      'CustomDomain.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'removing',
  },
  // Conditions that have no reason of a hostname to show.
  Accepted: {
    means: 'The hostname may be attached to this Project.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
  },
  Proven: {
    means: 'DNS verifies the hostname for this Project.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
  },
  Issued: {
    means: 'The certificate exists.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
  },
  Routed: {
    means: 'The routes are written.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
  },
  RoutesPending: {
    means: 'The routes are being written.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'pending',
  },
} as const satisfies Record<string, Reason>;
