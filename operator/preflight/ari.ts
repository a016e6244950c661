import type {AriStatus, Certificate} from '../api/foreign.ts';
import type {PreflightAnswer, PreflightQuestion} from './question.ts';

/** cert-manager checks again at `nextCheck`. So a check that is overdue for so long shows that the gate is off again, ms. */
const overdueMs = 3_600_000;

/**
 * cert-manager up to 1.21.2 can take renewal information (ARI) for that of the next certificate, and order again at once: five times in
 * ten seconds (its issue 8993). It writes the information into the status of a Certificate only with its feature gate ACMEUseARI, so no
 * right on its Deployment or its ConfigMap is needed. Later versions also write `certID`, and compare it.
 */
export const ari: PreflightQuestion = {
  name: 'ari',
  asks: () => "Is cert-manager's feature gate ACMEUseARI off, or without harm?",
  repeats: true,
  ask: async ({certificates}, signal) => answerOf([...(await certificates(signal))], Date.now()),
};

function answerOf(all: readonly Certificate[], now: number): PreflightAnswer {
  const issued = all.filter(({status}) => status?.notAfter !== undefined);
  if (issued.length === 0) return {outcome: 'unknown', seen: 'Doorplate has no certificate yet that could show it.'};
  const read = issued.flatMap(({metadata, status}) => {
    const of = status?.acme?.ari;
    return of && isCurrent(of, now) ? [{name: `${metadata.namespace}/${metadata.name}`, of}] : [];
  });
  const confusable = read.filter(({of}) => of.certID === undefined);
  if (confusable.length === 0)
    return {
      outcome: 'ok',
      seen: read.length === 0 ? 'cert-manager reads no renewal information.' : 'This version compares certificates.',
    };
  return {
    outcome: 'failed',
    seen: `cert-manager reads renewal information (ARI) for ${confusable.length} certificates, such as ${confusable[0]!.name}.`,
    remedy:
      'Up to version 1.21.2 it can then order a certificate again and again. Remove ACMEUseARI from the feature gates of its ' +
      "controller, or upgrade it. It reports the old state until its next check, at Let's Encrypt within 6 hours.",
  };
}

const isCurrent = ({nextCheck}: AriStatus, now: number): boolean =>
  nextCheck !== undefined && Date.parse(nextCheck) + overdueMs > now;
