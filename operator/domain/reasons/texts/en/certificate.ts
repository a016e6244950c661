import type {certificateReasons} from '../../certificate.ts';
import type {CustomerTexts} from '../../reason.ts';
import {afterFailure, contactSupport, correctedSoon, nothingToDo, takesEffectSoon} from './shared.ts';

export const certificate: Record<keyof typeof certificateReasons, CustomerTexts> = {
  CAABlocksIssuer: {
    title: 'Certificate is not allowed',
    body:
      'The CAA records of [{place}|the domain] do not allow our certificate authority (CA). ' +
      'Therefore, {hostname} gets no certificate.',
    next:
      '[{waitingFor=Platform}You do not need to change anything. Contact support if this lasts.|' +
      'Add this CAA record to {place} at your DNS provider: {add}.|' +
      'Remove the CAA record of {place} that forbids the certificate, or ask your DNS provider to do so.|' +
      'Ask support for the CAA record that you need, and create it at your DNS provider.]',
    howLong: `[{waitingFor=Platform}|${correctedSoon}]`,
  },
  CAALookupFailed: {
    title: 'Certificate rules cannot be read',
    body:
      'The DNS servers of [{place}|the domain] do not answer correctly for CAA records. ' +
      'These records list the certificate authorities that may issue certificates.',
    next:
      '[{cause=Dnssec}Ask your DNS provider to correct the security signatures (DNSSEC) of {place}.|' +
      'Ask your DNS provider to correct the answers for CAA records of {place}.|' +
      'Ask your DNS provider to correct the answers for CAA records.]',
    howLong: correctedSoon,
  },
  Issuing: {
    title: 'Certificate is being issued',
    body:
      '[{cause=*}The last attempt to get a certificate failed. Another attempt follows.|' +
      'The DNS records are correct. {hostname} gets its certificate for secure connections.]',
    next:
      '[{cause=Dns}Correct the DNS settings of {hostname} at your DNS provider.|' +
      '{cause=Caa}Allow our certificate authority (CA) in the CAA records of {hostname}.|' +
      '{cause=Name}Remove {hostname} and connect another domain.|' +
      `${nothingToDo}]`,
    howLong: '[{cause=*}A new attempt can take an hour or longer.|This usually takes a few minutes.]',
  },
  IssuanceQueued: {
    title: 'Certificate is on the waiting list',
    body: 'The DNS records are correct. Many certificates are requested at the moment, so {hostname} is on the waiting list.',
    next: nothingToDo,
    howLong: '[We expect to request the certificate by {endTime}.|The certificate is requested automatically.]',
  },
  IssuanceBudgetExhausted: {
    title: 'Certificate must wait',
    body:
      '[{cause=Failures}Too many attempts to get a certificate for {hostname} have failed.|' +
      'The certificate authority (CA) has issued as many certificates for {hostname} and related names as it allows.]',
    next: `[{cause=Failures}Check that the records below exist. Contact support if they do.|${nothingToDo}]`,
    howLong: '[The next attempt follows after {endTime}.|The next attempt follows automatically.]',
  },
  IssuanceStalled: {
    title: 'Certificate is late',
    body: '{hostname} is confirmed, but its certificate has not been issued in the usual time.',
    next: afterFailure,
    howLong: '',
  },
  NameTaken: {
    title: 'Setup is blocked',
    body: 'This platform cannot finish the setup of the domain, because something else is in its place.',
    next: contactSupport,
    howLong: '',
  },
  WriteRefused: {
    title: 'Setup is not finished',
    body: 'This platform cannot save the settings of the domain. Settings that were saved before remain.',
    next: contactSupport,
    howLong: 'A new attempt follows every minute.',
  },
  WriteFailed: {
    title: 'Setup is delayed',
    body: 'This platform could not save the settings of the domain. Settings that were saved before remain.',
    next: contactSupport,
    howLong: 'New attempts follow automatically.',
  },
  EdgeUnreachable: {
    title: 'Platform does not answer',
    body: 'The certificate is ready, but this platform does not answer at every address.',
    next: contactSupport,
    howLong: '',
  },
  EdgeNotServing: {
    title: 'Domain does not work everywhere',
    body: 'The certificate is ready, but this platform does not use it at every address yet.',
    next: contactSupport,
    howLong: 'This usually takes less than two minutes.',
  },
  EdgePending: {
    title: 'Domain is being checked',
    body: 'The certificate is ready. This platform connects the domain and checks that it works.',
    next: nothingToDo,
    howLong: 'This usually takes less than a minute.',
  },
  WaitingForPrimary: {
    title: 'Waiting for the main domain',
    body: '{hostname} is ready. It redirects visitors as soon as your main domain[ {primary}] is live.',
    next: 'Follow the steps of your main domain.',
    howLong: 'The redirect usually starts within a minute after that.',
  },
  StatusTooLarge: {
    title: 'List of domains is too large',
    body: 'Your list of domains is too large, so this platform cannot show the state of each domain.',
    next: 'Remove domains that you do not need, or contact support.',
    howLong: takesEffectSoon,
  },
};
