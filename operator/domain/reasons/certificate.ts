/** From the proof to Live: the certificate, the objects in the cluster, the edge. */
import type {Reason} from './reason.ts';
import {contactSupport, message, nothingToDo, ownStep, takesEffectSoon} from './reason.ts';

export const certificateReasons = {
  CAABlocksIssuer: {
    means: 'CAA records do not allow the certificate authority to issue for the hostname; nothing is ordered.',
    remedy: 'Do what the message says: add the CAA record that it names, or remove a critical one that forbids it.',
    waitingFor: 'Customer',
    health: 'stalled',
    about: 'Caa',
    conditions: {CertificateReady: 'False'},
    customer: {
      title: 'Certificate is not allowed',
      body: message,
      next: ownStep,
      howLong: 'A correction is usually found within a few minutes.',
    },
  },
  CAALookupFailed: {
    means: 'The CAA records could not be read; the certificate authority would refuse, so nothing is ordered.',
    remedy:
      'Mend the zone that the message names: its servers must answer questions for CAA, and its DNSSEC chain must hold.',
    waitingFor: 'Customer',
    health: 'pending',
    about: 'Caa',
    conditions: {CertificateReady: 'False'},
    customer: {
      title: 'Certificate rules cannot be read',
      body: message,
      next: 'Ask your DNS provider to correct what is described above.',
      howLong: 'A correction is usually found within a few minutes.',
    },
  },
  Issuing: {
    means: 'The certificate is being issued, usually within a couple of minutes.',
    remedy: 'Nothing.',
    waitingFor: 'CertificateAuthority',
    health: 'pending',
    conditions: {CertificateReady: 'False'},
    customer: {
      title: 'Certificate is being issued',
      body: message,
      next: 'You do not need to do anything, unless the text above names a step.',
      howLong: 'This usually takes a few minutes.',
    },
  },
  IssuanceQueued: {
    means:
      "The order waits in line: the platform's account at the certificate authority may make only so many (budgets.account).",
    remedy: 'Nothing: the message says when it is expected to be made.',
    waitingFor: 'Nobody',
    health: 'pending',
    about: 'Budget',
    conditions: {CertificateReady: 'False'},
    customer: {
      title: 'Certificate is on the waiting list',
      body: message,
      next: nothingToDo,
      howLong: 'The text above names the expected time.',
    },
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
    customer: {
      title: 'Certificate must wait',
      body: message,
      next: 'Correct the failure that the text above names, if it names one.',
      howLong: 'The text above names the time of the next attempt.',
    },
  },
  IssuanceStalled: {
    means: 'The certificate is still absent long after it was ordered.',
    remedy:
      'The message says what was checked, what cert-manager says and who must act; then ask for a fresh attempt (Re-verify).',
    waitingFor: 'Platform',
    health: 'stalled',
    conditions: {CertificateReady: 'False'},
    customer: {title: 'Certificate is late', body: message, next: ownStep, howLong: ''},
  },
  NameTaken: {
    means: "An object that is not Doorplate's has the name of one that it must create; it is left alone.",
    remedy: 'Delete or rename that object.',
    waitingFor: 'Platform',
    health: 'stalled',
    conditions: {CertificateReady: 'False', RoutesReady: 'False'},
    customer: {
      title: 'Setup is blocked',
      body: 'This platform cannot finish the setup of the domain, because something else is in its place.',
      next: contactSupport,
      howLong: '',
    },
  },
  WriteRefused: {
    means:
      'The API server refuses an object that must be written: ' +
      'what it was made of, a policy or a quota of the cluster. What stood before stands.',
    remedy: 'The message has its words. Correct what they name; it is tried again each minute.',
    waitingFor: 'Platform',
    health: 'stalled',
    conditions: {CertificateReady: 'False', RoutesReady: 'False'},
    customer: {
      title: 'Setup is not finished',
      body: 'This platform cannot save the settings of the domain. Settings that were saved before stay.',
      next: contactSupport,
      howLong: 'A new attempt follows every minute.',
    },
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
    customer: {
      title: 'Setup is delayed',
      body: 'This platform could not save the settings of the domain. Settings that were saved before stay.',
      next: contactSupport,
      howLong: 'New attempts follow by themselves.',
    },
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
    customer: {
      title: 'Platform does not answer',
      body: 'The certificate is ready, but this platform does not answer at all of its addresses.',
      next: contactSupport,
      howLong: '',
      tone: 'wait',
    },
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
    customer: {
      title: 'Domain does not work everywhere',
      body: 'The certificate is ready, but this platform does not use it for the domain at all of its addresses.',
      next: contactSupport,
      howLong: 'This usually takes less than two minutes.',
      tone: 'wait',
    },
  },
  EdgePending: {
    means: 'The edge has not been looked at yet.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'pending',
    about: 'Edge',
    customer: {
      title: 'Domain is being checked',
      body: 'The certificate is ready. This platform connects the domain and checks that it works.',
      next: nothingToDo,
      howLong: 'This usually takes less than a minute.',
    },
  },
  WaitingForPrimary: {
    means: 'The hostname is ready; it redirects as soon as the primary is Live.',
    remedy: 'See the primary.',
    waitingFor: 'Nobody',
    health: 'pending',
    customer: {
      title: 'Waiting for the main domain',
      body: 'This domain is ready. It redirects visitors as soon as your main domain is live.',
      next: 'Follow the steps of your main domain.',
      howLong: 'The redirect usually starts within a minute after that.',
    },
  },
  StatusTooLarge: {
    means:
      "The object is so large that its status has no room: labels, annotations or finalizers of somebody's fill it.",
    remedy: 'Make it smaller.',
    waitingFor: 'Customer',
    health: 'stalled',
    customer: {
      title: 'Too much data',
      body: message,
      next: 'Remove domains that you do not need, or contact support.',
      howLong: takesEffectSoon,
    },
  },
} as const satisfies Record<string, Reason>;
