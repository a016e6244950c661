import type {ReasonName} from './reasons.ts';

export type Tone = 'bad' | 'wait';

/** Colors of states on the page that the phase and the actor do not determine. */
export const tones: Readonly<Partial<Record<ReasonName, Tone>>> = {
  EdgeUnreachable: 'wait',
  EdgeNotServing: 'wait',
  RenewalOverdue: 'wait',
  CertificateExpired: 'bad',
  CertificateLost: 'bad',
};
