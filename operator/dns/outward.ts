/** Checks whether name servers answer this process over UDP and TCP. */
import {canonicalName} from './names.ts';
import {ask} from './wire.ts';
import type {DnsAnswer, WireQuestion, Reply, DnsServer} from './wire.ts';
import {askServers, type AskResolvers, isReached, type Trouble, Zones} from './zones.ts';

export interface Reached {
  server: DnsServer;
  udp: Reply;
  tcp: Reply;
}

interface OutwardOptions {
  signal?: AbortSignal;
  /** Time limit of one question to one server. Default 2,000. */
  timeoutMs?: number;
}

/** Number of attempts with a silent server: a packet may be lost. */
const tries = 2;

/** Asks each server for a zone's SOA, over UDP and over TCP. Never rejects. */
export const reach = (
  servers: readonly DnsServer[],
  zone: string,
  options: OutwardOptions & {recursionDesired: boolean},
): Promise<Reached[]> => Promise.all(servers.map((server) => reachOne(server, zone, options)));

async function reachOne(
  server: DnsServer,
  zone: string,
  options: OutwardOptions & {recursionDesired: boolean},
): Promise<Reached> {
  const question = {name: zone, type: 'SOA'} as const;
  const [udp, tcp] = await Promise.all([
    askAgain(server, question, options),
    askAgain(server, question, {...options, overTcp: true}),
  ]);
  return {server, udp, tcp};
}

/**
 * Does the same check with the servers of the zone that contains `name`, or of a zone above it. The servers are found through the
 * resolvers and asked as for a customer's hostname. Never rejects.
 */
export async function reachServersOf(
  name: string,
  resolvers: readonly DnsServer[],
  {allowPrivateAddresses, ...options}: OutwardOptions & {allowPrivateAddresses: boolean},
): Promise<Reached[] | Trouble> {
  const askResolvers: AskResolvers = async (question, usable) => {
    const replies = await Promise.all(
      resolvers.map((server) => askAgain(server, question, {...options, recursionDesired: true})),
    );
    return replies.find((reply): reply is DnsAnswer => reply.kind === 'Answer' && usable(reply)) ?? replies;
  };
  const zones = new Zones({allowPrivateAddresses, maxServers: 4, port: 53});
  const zone = await zones.above(canonicalName(name), askResolvers);
  if ('failure' in zone) return zone;
  const {name: asked} = zone;
  return askServers(
    zone,
    (server) => reachOne(server, asked, {...options, recursionDesired: false}),
    ({udp, tcp}) => isReached(udp) || isReached(tcp),
  );
}

async function askAgain(
  server: DnsServer,
  question: WireQuestion,
  {timeoutMs = 2000, ...options}: OutwardOptions & {recursionDesired: boolean; overTcp?: boolean},
): Promise<Reply> {
  let reply: Reply;
  let left = tries;
  do {
    reply = await ask(server, question, {...options, timeoutMs});
    left--;
  } while (left > 0 && reply.kind === 'Failure' && reply.failure === 'Timeout' && !options.signal?.aborted);
  return reply;
}
