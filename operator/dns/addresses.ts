/** Resolves a name to its addresses, such as the edge's name if the edge is configured by name. */
import {isMade} from './dns64.ts';
import {canonicalName} from './names.ts';
import {ask} from './wire.ts';
import type {Record_, DnsServer} from './wire.ts';

export interface Resolved {
  /** Addresses of both families, without duplicates, sorted. At least one. */
  addresses: string[];
  /** The shortest TTL of all records in the chain. */
  ttlSeconds: number;
}

interface ResolveOptions {
  signal?: AbortSignal;
  /** Default 3,000. */
  timeoutMs?: number;
}

/** The name has no address, or no resolver returned one. */
export class NoAddress extends Error {
  override name = 'NoAddress';
  /** An entry per resolver that failed, with the reason. Empty if all resolvers report that no address exists. */
  readonly failures: readonly string[];

  constructor(hostname: string, failures: readonly string[]) {
    super(`${hostname} has no address${failures.length > 0 ? `: ${failures.join('; ')}` : ''}`);
    this.failures = failures;
  }
}

/** Maximum number of CNAMEs followed within one answer. */
const mostHops = 8;

/**
 * Combines the answers of all resolvers, asked in parallel. A resolver that leaves one of the two address families unanswered is
 * ignored: half an answer would remove addresses. Throws {@link NoAddress} if all resolvers are ignored or no address is found.
 */
export async function resolveAddresses(
  resolvers: readonly DnsServer[],
  hostname: string,
  options: ResolveOptions = {},
): Promise<Resolved> {
  const name = canonicalName(hostname);
  const asked = await Promise.all(resolvers.map((server) => askResolver(server, name, options)));
  const records = asked.flatMap(({found}) => found);
  const addresses = records.flatMap(({type, data}) => (type === 'CNAME' ? [] : data));
  if (addresses.length > 0)
    return {
      addresses: [...new Set(addresses)].toSorted(),
      ttlSeconds: Math.min(...records.map(({ttlSeconds}) => ttlSeconds)),
    };
  throw new NoAddress(
    name,
    asked.flatMap(({failure}) => failure ?? []),
  );
}

async function askResolver(
  server: DnsServer,
  name: string,
  {signal, timeoutMs = 3000}: ResolveOptions,
): Promise<{found: Record_[]; failure?: string}> {
  const options = {recursionDesired: true, timeoutMs, signal};
  const replies = await Promise.all((['A', 'AAAA'] as const).map((type) => ask(server, {name, type}, options)));
  const found: Record_[] = [];
  for (const reply of replies) {
    if (reply.kind === 'Failure') return {found: [], failure: `${server.address} ${reply.detail}`};
    found.push(...alongChain(name, reply.answers));
  }
  const a = found.flatMap(({type, data}) => (type === 'A' ? data : []));
  return {found: found.filter(({type, data}) => !(type === 'AAAA' && isMade(data, a)))};
}

/** The chain of CNAMEs from a name, and the addresses at its end. */
function alongChain(name: string, answers: readonly Record_[]): Record_[] {
  const chain: Record_[] = [];
  let at = name;
  for (let hops = 0; hops < mostHops; hops++) {
    const next = answers.find((record) => record.type === 'CNAME' && record.name === at);
    if (!next) break;
    chain.push(next);
    at = next.data;
  }
  const ends = answers.filter(({type, name: of}) => of === at && (type === 'A' || type === 'AAAA'));
  return ends.length > 0 ? [...chain, ...ends] : [];
}
