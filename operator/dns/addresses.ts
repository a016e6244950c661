/** Resolves the addresses of a name, for an edge that is known by a name. */
import {isMade} from './dns64.ts';
import {canonicalName} from './names.ts';
import {ask} from './wire.ts';
import type {Record_, DnsServer} from './wire.ts';

export interface Resolved {
  /** Addresses of both families, each once, sorted. At least one. */
  addresses: string[];
  /** The shortest of all records on the way. */
  ttlSeconds: number;
}

interface ResolveOptions {
  signal?: AbortSignal;
  /** Default 3,000. */
  timeoutMs?: number;
}

/** A name has no address, or none that anybody tells. */
export class NoAddress extends Error {
  override name = 'NoAddress';
  /** Reasons why resolvers could not answer, one entry each. Empty: all resolvers report that no address exists. */
  readonly failures: readonly string[];

  constructor(hostname: string, failures: readonly string[]) {
    super(`${hostname} has no address${failures.length > 0 ? `: ${failures.join('; ')}` : ''}`);
    this.failures = failures;
  }
}

/** CNAMEs that are followed within one answer. */
const mostHops = 8;

/**
 * The combined answers of all resolvers, asked at once. A resolver that leaves a family unanswered does not count: half an answer would
 * take addresses away. Throws {@link NoAddress} if no resolver counts, or no address is found.
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

/** The addresses at the end of the chain of CNAMEs from a name, and the chain. */
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
