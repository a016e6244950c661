/** From the proof to Live: the certificate, the objects in the cluster, the edge. */
import type {Reason} from './reason.ts';

export const certificateReasons = {
  CAABlocksIssuer: {
    means:
      'CAA records do not allow the certificate authority to issue for the hostname. Doorplate does not order a ' +
      'certificate.',
    remedy: 'Add the CAA record that the message names, or remove a critical CAA record that forbids the certificate.',
    waitingFor: 'Customer',
    health: 'stalled',
    about: 'Caa',
    conditions: {CertificateReady: 'False'},
  },
  CAALookupFailed: {
    means:
      'The CAA records could not be read. The certificate authority would refuse an order, so Doorplate does not order ' +
      'a certificate.',
    remedy:
      'Correct the zone that the message names. Its servers must answer queries for CAA records, and its DNSSEC chain ' +
      'must be valid.',
    waitingFor: 'Customer',
    health: 'pending',
    about: 'Caa',
    conditions: {CertificateReady: 'False'},
  },
  Issuing: {
    means: 'The certificate is being issued. This usually takes a couple of minutes.',
    remedy: 'Nothing, unless the message names a failed attempt and an action.',
    waitingFor: 'CertificateAuthority',
    health: 'pending',
    conditions: {CertificateReady: 'False'},
  },
  IssuanceQueued: {
    means:
      "The order waits in the order queue, because the platform's account at the certificate authority has a limit " +
      '(budgets.account).',
    remedy: 'Nothing. The message shows the expected time of the order.',
    waitingFor: 'Nobody',
    health: 'pending',
    about: 'Budget',
    conditions: {CertificateReady: 'False'},
  },
  IssuanceBudgetExhausted: {
    means:
      'The hostname or its registered domain has used its budget for orders (budgets). Doorplate orders nothing ' +
      'before the time in the message.',
    remedy: 'If attempts failed, correct the cause. Doorplate then tries again automatically.',
    waitingFor: 'CertificateAuthority',
    health: 'stalled',
    about: 'Budget',
    conditions: {CertificateReady: 'False'},
  },
  IssuanceStalled: {
    means: 'The certificate is still missing long after the order.',
    remedy:
      'Follow the message: it shows the checks, the report of cert-manager, and who must act. Then request a fresh ' +
      'attempt (Re-verify).',
    waitingFor: 'Platform',
    health: 'stalled',
    conditions: {CertificateReady: 'False'},
  },
  NameTaken: {
    means:
      'An object that Doorplate does not own has the name of an object that Doorplate must create. Doorplate does not ' +
      'change it.',
    remedy: 'Delete or rename that object.',
    waitingFor: 'Platform',
    health: 'stalled',
    conditions: {CertificateReady: 'False', RoutesReady: 'False'},
  },
  WriteRefused: {
    means:
      "The API server refuses an object that Doorplate must write, because of the object's content, a policy or a " +
      'quota. Earlier objects stay.',
    remedy: 'Correct the cause that the message quotes. Doorplate tries again every minute.',
    waitingFor: 'Platform',
    health: 'stalled',
    conditions: {CertificateReady: 'False', RoutesReady: 'False'},
  },
  WriteFailed: {
    means:
      'The API server failed to write an object, and the next attempt may succeed: for example, an admission webhook ' +
      'does not answer. A Live hostname stays Live.',
    remedy:
      'The platform administrator must correct the cause that the message quotes. Doorplate tries again automatically.',
    waitingFor: 'Platform',
    health: 'pending',
    conditions: {CertificateReady: 'False', RoutesReady: 'False'},
  },
  EdgeUnreachable: {
    means:
      'An address of the edge does not answer, or the edge has no address. A hostname that was Live stays in the phase ' +
      'Live. Its condition Live is False until every address answers again.',
    remedy: 'The platform administrator must bring the edge back, or correct its settings (edge).',
    waitingFor: 'Platform',
    health: 'pending',
    about: 'Edge',
    stalledAfter: 'edgeGrace',
  },
  EdgeNotServing: {
    means:
      'An address of the edge presents another certificate than the issued one, or still redirects a hostname that must ' +
      'serve. A hostname that was Live stays in the phase Live. Its condition Live is False until every address ' +
      'presents the certificate.',
    remedy: 'Wait. After two minutes, the platform administrator must check the ingress controller.',
    waitingFor: 'Platform',
    health: 'pending',
    about: 'Edge',
    stalledAfter: 'edgeGrace',
  },
  EdgePending: {
    means: 'Doorplate has not checked the edge yet.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'pending',
    about: 'Edge',
  },
  WaitingForPrimary: {
    means: 'The hostname is ready. It redirects as soon as the primary is Live.',
    remedy: 'Check the primary.',
    waitingFor: 'Nobody',
    health: 'pending',
  },
  StatusTooLarge: {
    means: 'The object has no room for its status, because labels, annotations or finalizers fill it.',
    remedy: 'Make the object smaller.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
} as const satisfies Record<string, Reason>;
