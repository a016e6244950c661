/** What is Live, or was; and what conditions say that have no reason of a hostname to show. */
import type {ReasonRow} from './reason.ts';

export const servingReasons = {
  // Live.
  Serving: {
    means: 'It is served with its own certificate; the edge was seen to do so.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
  },
  Redirecting: {
    means: 'It redirects to the primary; the edge was seen to present its certificate.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
  },
  RenewalOverdue: {
    means:
      'It is served, but its certificate should have been renewed by now: ' +
      'a quarter of the time between the renewal and the expiry is over.',
    remedy: 'The message says what cert-manager says and who must act; then ask for a fresh attempt (Re-verify).',
    waitingFor: 'Platform',
    health: 'stalled',
  },
  CertificateExpired: {
    means: 'Its certificate has expired: browsers refuse it. Its routes stay.',
    remedy: 'The message says what cert-manager says and who must act; then ask for a fresh attempt (Re-verify).',
    waitingFor: 'Platform',
    health: 'stalled',
    conditions: {CertificateReady: 'False'},
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
  },
  ServedUntilReplaced: {
    means:
      'It was the primary, and is served as before until the new primary is Live; or another CustomDomain of the same account owns it ' +
      'now, and it is served as before until that one serves it.',
    remedy: 'See the primary, or the other CustomDomain.',
    waitingFor: 'Nobody',
    health: 'done',
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
  },
  HTTPSRecordElsewhere: {
    means:
      'It is served, and an HTTPS record (type 65) at the same name leads elsewhere. Browsers follow that record before the addresses.',
    remedy: 'Delete the HTTPS record at the DNS provider, or correct it: it often belongs to a former host.',
    waitingFor: 'Nobody',
    health: 'done',
  },
  DNSDrifted: {
    means: 'The DNS proves it no longer, and that was confirmed. It is served on for the grace time (graceTime).',
    remedy: 'Put the record back.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
  Removing: {
    means:
      'It is being removed, and its routes are gone. Its Project and its hostnames are free for the next CustomDomain.',
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
    means: 'DNS names the host of this Project.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
  },
  Issued: {
    means: 'The certificate is there.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
  },
  Routed: {
    means: 'The ingress rules are written.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
  },
  RoutesPending: {
    means: 'The ingress rules are being written.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'pending',
  },
} as const satisfies Record<string, ReasonRow>;
