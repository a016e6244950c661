import {readDirectory} from '../acme/directory.ts';
import {directoryOf} from '../controllers/state/issuer.ts';
import {namesOf, ofEachIssuer} from './each-issuer.ts';
import type {PreflightAnswer, PreflightQuestion} from './question.ts';

/** The CA's directory names it for CAA records. cert-manager reaches it by its own way. */
export const directory: PreflightQuestion = {
  name: 'acme',
  asks: (world) => `Can Doorplate reach the ACME directory of ${namesOf(world, 'the issuer', 'the issuers')}?`,
  ask: (world, signal) =>
    ofEachIssuer(world, async ({issuerRef, caaIdentities}) => {
      // With a single issuer, the network policy then needs no rule for the directory (templates/network-policy.yaml).
      if (caaIdentities.length > 0 && world.issuers.length === 1)
        return {outcome: 'unknown', seen: 'Doorplate does not read it, because caaIdentities names the CA.'};
      const issuer = await world.readIssuer(issuerRef, signal);
      const found = issuer && directoryOf(issuer);
      if (!found) return {outcome: 'unknown', seen: 'The issuer names no ACME server.'};
      const {server} = found;
      try {
        const {newOrder} = await readDirectory(server, {...found, signal});
        // RFC 8555, 7.1.1: every directory has it.
        if (typeof newOrder !== 'string') throw new Error('the answer is not an ACME directory');
      } catch (error) {
        return unread(server, error);
      }
      return {outcome: 'ok', seen: `${server} answers`};
    }),
};

function unread(server: string, error: unknown): PreflightAnswer {
  const {message, cause} = error as Error;
  const seen = `${server}: ${message || String((cause as Error | undefined)?.message ?? error)}`;
  const {host} = new URL(server);
  return {
    outcome: 'failed',
    seen,
    remedy:
      `Allow connections to ${host} (networkPolicy.acme), or set proxy.url if there is a proxy. To trust your own CA, set the ` +
      "issuer's spec.acme.caBundle or caBundle. If only cert-manager may reach it, set caaIdentities.",
  };
}
