import {type Reached, reach, reachServersOf} from '../dns/outward.ts';
import type {Reply} from '../dns/wire.ts';
import type {PreflightAnswer, PreflightQuestion} from './question.ts';

/** Customers' records are read at the name servers of their zones, by TCP where an answer is long. */
export const nameServers: PreflightQuestion = {
  name: 'dns',
  asks: ({platform: {zone}, dns: {mode}}) =>
    mode === 'RecursiveOnly'
      ? 'Do the resolvers of dns.recursive answer, by UDP and by TCP?'
      : `Do name servers outside, such as those of ${zone}, answer on port 53, by UDP and by TCP?`,
  ask: async ({settings: {platform, dns}, resolvers}, signal) => {
    if (dns.mode === 'RecursiveOnly') {
      const reached = await reach(resolvers, platform.zone, {recursionDesired: true, signal});
      return judged(reached, 'every', 'Open their ports to the operator, or name others in dns.recursive.');
    }
    const {allowPrivateAddresses} = dns;
    const reached = await reachServersOf(platform.zone, resolvers, {allowPrivateAddresses, signal});
    if (Array.isArray(reached))
      return judged(
        reached,
        'some',
        'Open port 53, UDP and TCP, to the outside, or set dns.mode to RecursiveOnly with two resolvers in dns.recursive.',
      );
    const seen = `No name server of ${platform.zone} is known: ${reached.detail}`;
    if (reached.failure === 'NotPublic')
      return {
        outcome: 'unknown',
        seen,
        remedy:
          'Where the zones of customers have name servers with private addresses, too, set dns.allowPrivateAddresses.',
      };
    return {
      outcome: 'failed',
      seen,
      remedy: `Name resolvers in dns.recursive that answer, and have ${platform.zone} delegated.`,
    };
  },
};

/** Any answer shows that the way is open, a refusal too. */
const answers = (reply: Reply): boolean =>
  reply.kind === 'Answer' || reply.failure === 'Refused' || reply.failure === 'ServerFailure';

/** `some`: at least one of several equivalent servers must answer. */
function judged(reached: readonly Reached[], needed: 'some' | 'every', remedy: string): PreflightAnswer {
  const ok = (['udp', 'tcp'] as const).every((way) => reached[needed](({[way]: reply}) => answers(reply)));
  const seen = reached.map(
    ({server, udp, tcp}) => `${server.name ?? server.address}: ${said('UDP', udp)}, ${said('TCP', tcp)}`,
  );
  return {outcome: ok ? 'ok' : 'failed', seen: seen.join('; '), ...(!ok && {remedy})};
}

const said = (way: string, reply: Reply): string =>
  answers(reply) ? `${way} answers` : `${way} ${reply.kind === 'Failure' ? reply.detail : ''}`;
