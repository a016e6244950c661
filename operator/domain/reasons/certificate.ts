/** From the proof to Live: the certificate, the objects in the cluster, the edge. */
import type {ReasonRow} from './reason.ts';

export const certificateReasons = {
  CAABlocksIssuer: {
    means: 'CAA records do not allow the certificate authority to issue for the hostname; nothing is ordered.',
    remedy: 'Do what the message says: add the CAA record that it names, or remove a critical one that forbids it.',
    waitingFor: 'Customer',
    health: 'stalled',
    about: 'Caa',
    conditions: {CertificateReady: 'False'},
  },
  CAALookupFailed: {
    means: 'The CAA records could not be read; the certificate authority would refuse, so nothing is ordered.',
    remedy:
      'Mend the zone that the message names: its servers must answer questions for CAA, and its DNSSEC chain must hold.',
    waitingFor: 'Customer',
    health: 'pending',
    about: 'Caa',
    conditions: {CertificateReady: 'False'},
  },
  Issuing: {
    means: 'The certificate is being issued, usually within a couple of minutes.',
    remedy: 'Nothing.',
    waitingFor: 'CertificateAuthority',
    health: 'pending',
    conditions: {CertificateReady: 'False'},
  },
  IssuanceQueued: {
    means:
      "The order waits in line: the platform's account at the certificate authority may make only so many (budgets.account).",
    remedy: 'Nothing: the message says when it is expected to be made.',
    waitingFor: 'Nobody',
    health: 'pending',
    about: 'Budget',
    conditions: {CertificateReady: 'False'},
  },
  IssuanceBudgetExhausted: {
    means:
      'The hostname, or the registered domain that it belongs to, has used up what may be ordered in a time ' +
      '(budgets); nothing is ordered before the time that the message names.',
    remedy: 'Mend what made the attempts fail, if they did. Then it is tried again by itself.',
    waitingFor: 'CertificateAuthority',
    health: 'stalled',
    about: 'Budget',
    conditions: {CertificateReady: 'False'},
  },
  IssuanceStalled: {
    means: 'The certificate is still absent long after it was ordered.',
    remedy:
      'The message says what was checked, what cert-manager says and who must act; then ask for a fresh attempt (Re-verify).',
    waitingFor: 'Platform',
    health: 'stalled',
    conditions: {CertificateReady: 'False'},
  },
  NameTaken: {
    means: "An object that is not Doorplate's has the name of one that it must create; it is left alone.",
    remedy: 'Delete or rename that object.',
    waitingFor: 'Platform',
    health: 'stalled',
    conditions: {CertificateReady: 'False', RoutesReady: 'False'},
  },
  WriteRefused: {
    means:
      'The API server refuses an object that must be written: ' +
      'what it was made of, a policy or a quota of the cluster. What stood before stands.',
    remedy: 'The message has its words. Correct what they name; it is tried again each minute.',
    waitingFor: 'Platform',
    health: 'stalled',
    conditions: {CertificateReady: 'False', RoutesReady: 'False'},
  },
  WriteFailed: {
    means:
      'The API server failed to write an object, and the next attempt may succeed: an admission webhook does not answer. ' +
      'A Live hostname stays Live.',
    remedy:
      'The platform: the message has the words of the API server; correct what they name. Doorplate tries again by itself.',
    waitingFor: 'Platform',
    health: 'pending',
    conditions: {CertificateReady: 'False', RoutesReady: 'False'},
  },
  EdgeUnreachable: {
    means:
      'An address of the edge does not answer, or the edge has none. A hostname that was Live before stays in the phase Live; ' +
      'its condition Live is False until every address answers again.',
    remedy: 'The platform: bring the edge back, or correct its settings (edge).',
    waitingFor: 'Platform',
    health: 'pending',
    about: 'Edge',
    stalledAfter: 'edgeGrace',
  },
  EdgeNotServing: {
    means:
      'An address of the edge presents another certificate than the issued one, or still redirects a hostname that must serve. ' +
      'A hostname that was Live before stays in the phase Live; its condition Live is False until every address presents the certificate.',
    remedy: 'Wait; after two minutes the platform must check its ingress controller.',
    waitingFor: 'Platform',
    health: 'pending',
    about: 'Edge',
    stalledAfter: 'edgeGrace',
  },
  EdgePending: {
    means: 'The edge has not been looked at yet.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'pending',
    about: 'Edge',
  },
  WaitingForPrimary: {
    means: 'The hostname is ready; it redirects as soon as the primary is Live.',
    remedy: 'See the primary.',
    waitingFor: 'Nobody',
    health: 'pending',
  },
  StatusTooLarge: {
    means:
      "The object is so large that its status has no room: labels, annotations or finalizers of somebody's fill it.",
    remedy: 'Make it smaller.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
} as const satisfies Record<string, ReasonRow>;
