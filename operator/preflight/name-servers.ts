import {type Reached, reach, reachServersOf} from '../dns/outward.ts';
import type {Reply} from '../dns/wire.ts';
import type {PreflightAnswer, PreflightQuestion} from './question.ts';

/** Customers' records are read at the name servers of their zones, by TCP where an answer is long. */
export const nameServers: PreflightQuestion = {
  name: 'dns',
  asks: ({
    settings: {
      platform: {zone},
      dns: {mode},
    },
  }) =>
    mode === 'RecursiveOnly'
      ? 'Do the resolvers in dns.recursive answer over UDP and TCP?'
      : `Do external name servers, such as those of ${zone}, answer on port 53 over UDP and TCP?`,
  ask: async ({settings: {platform, dns}, resolvers}, signal) => {
    if (dns.mode === 'RecursiveOnly') {
      const reached = await reach(resolvers, platform.zone, {recursionDesired: true, signal});
      return judged(reached, 'every', 'Let the operator reach their ports, or name other resolvers in dns.recursive.');
    }
    const {allowPrivateAddresses} = dns;
    const reached = await reachServersOf(platform.zone, resolvers, {allowPrivateAddresses, signal});
    if (Array.isArray(reached))
      return judged(
        reached,
        'some',
        'Allow outgoing traffic to port 53 over UDP and TCP, or set dns.mode to RecursiveOnly with two resolvers in dns.recursive.',
      );
    const seen = `No name server of ${platform.zone} is known: ${reached.detail}`;
    if (reached.failure === 'NotPublic')
      return {
        outcome: 'unknown',
        seen,
        remedy: "If customers' zones have name servers with private addresses, set dns.allowPrivateAddresses.",
      };
    return {
      outcome: 'failed',
      seen,
      remedy: `In dns.recursive, name resolvers that answer, and delegate ${platform.zone}.`,
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
