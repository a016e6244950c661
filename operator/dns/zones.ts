/**
 * Finds the name servers for a name: the zone cut above it (RFC 1034, 4.2) and the addresses of its servers.
 *
 *   recursive resolvers: NS of the highest ancestor that has them ----> a zone and its servers
 *   those servers, asked for the name itself (client.ts): a referral --> follow() --> the zone below, and so on
 *
 * The resolvers are asked from the top (two labels) downwards, and about the name itself last. A resolver caches that a name does
 * not exist (RFC 2308), including all names below it (RFC 8020). If asked too early, it would then deny the record that the
 * customer creates a minute later.
 */
import {isIPv6} from 'node:net';
import {isAtOrBelow, selfAndAncestors} from './names.ts';
import {isPublicAddress} from './public-address.ts';
import {isReferral} from './finding.ts';
import type {DnsAnswer, Failure, WireQuestion, Record_, Reply, DnsServer} from './wire.ts';

export interface Zone {
  /** Canonical; '' is the root. */
  name: string;
  /** Delegated names of the zone's servers, sorted; {@link MOST_NAMES} at most. */
  names: string[];
  /** At least one server. */
  servers: DnsServer[];
  /** Additional servers of each address family, at most as many as the limit of `servers`. Asked if none of `servers` answers. */
  further: DnsServer[];
}

/** Reason why a zone or its servers could not be found. */
export interface Trouble {
  /** `NotPublic`: the servers have only private addresses, which are not asked. */
  failure: Failure | 'NotPublic';
  detail: string;
}

/** Asks recursive resolvers. Resolves with the first reply that `usable` accepts, or with all replies if none is accepted. */
export type AskResolvers = (
  question: WireQuestion,
  usable: (reply: DnsAnswer) => boolean,
) => Promise<DnsAnswer | Reply[]>;

export const isReached = (reply: Reply): boolean => reply.kind === 'Answer' || reply.failure !== 'Unreachable';
/** A server of the zone has answered, or refers to the zone below. */
export const isAnswered = (reply: Reply): boolean => reply.kind === 'Answer' && (reply.aa || isReferral(reply));

/**
 * The results of `ask` for each server of a zone. If none of them is `enough`, the `further` servers are asked: the first servers may
 * be switched off, or unreachable from a network with IPv6 only. If these are not enough either, the first results are returned.
 */
export async function askServers<T>(
  {servers, further}: Zone,
  ask: (server: DnsServer) => Promise<T>,
  enough: (told: T) => boolean,
): Promise<T[]> {
  const told = await Promise.all(servers.map(ask));
  if (told.some(enough)) return told;
  const more = await Promise.all(further.map(ask));
  return more.some(enough) ? more : told;
}

const LONGEST_CACHED_SECONDS = 60;
const MOST_CACHED = 10_000;
/** Maximum number of a zone's name servers whose addresses are resolved. */
const MOST_NAMES = 8;

interface Delegation {
  zone: string;
  names: string[];
  ttlSeconds: number;
}

export class Zones {
  readonly #cache = new Map<string, {zone: Zone; endsAtMs: number}>();
  readonly #allowPrivateAddresses: boolean;
  readonly #maxServers: number;
  readonly #port: number;

  constructor(opts: {allowPrivateAddresses: boolean; maxServers: number; port: number}) {
    this.#allowPrivateAddresses = opts.allowPrivateAddresses;
    this.#maxServers = opts.maxServers;
    this.#port = opts.port;
  }

  /** The deepest known zone at or above `name`: a cached zone, otherwise the zone found through the resolvers. */
  async above(name: string, ask: AskResolvers): Promise<Zone | Trouble> {
    const known = this.#remembered(name);
    if (known) return known;
    let candidates = fromTheTop(name);
    let trouble: Trouble | undefined;
    while (candidates.length > 0) {
      const candidate = candidates.shift()!;
      const found = await this.#delegationOf(candidate, ask);
      if ('names' in found.outcome) return this.#withServers(found.outcome, found.glue, ask);
      trouble ??= found.outcome;
      // Each further name would cost the same timeout again: try only the top-level domain.
      if (found.outcome.failure === 'Timeout') candidates = candidates.slice(-1);
    }
    return trouble ?? {failure: 'Other', detail: `no name to look up in '${name}'`};
  }

  /** The zone cut between `zone` and `name` to which a server of `zone` refers; undefined if its reply is not a referral. */
  referral(reply: Reply, zone: Zone, name: string): Delegation | undefined {
    if (reply.kind === 'Failure' || !isReferral(reply)) return undefined;
    const delegation = deepest(reply.authority, name);
    // A referral upwards or sideways comes from a lame server; following it could loop without end.
    return delegation && delegation.zone !== zone.name && isAtOrBelow(delegation.zone, zone.name)
      ? delegation
      : undefined;
  }

  /** The authoritative NS records of `zone` in a reply from a server that hosts that zone. */
  ownServers(reply: Reply, zone: string): Delegation | undefined {
    return reply.kind === 'Answer' && reply.aa
      ? deepest(
          reply.answers.filter((record) => record.name === zone),
          zone,
        )
      : undefined;
  }

  /**
   * The servers of a delegated zone. `reply` comes from a server of `parent`. Glue counts only for names within the parent zone.
   */
  async follow(delegation: Delegation, reply: DnsAnswer, parent: Zone, ask: AskResolvers): Promise<Zone | Trouble> {
    return this.#withServers(
      delegation,
      reply.additional.filter((record) => isAtOrBelow(record.name, parent.name)),
      ask,
    );
  }

  /** Forgets a zone, so that the next question finds its servers again. */
  forget(zone: Zone): void {
    this.#cache.delete(zone.name);
  }

  async #delegationOf(name: string, ask: AskResolvers): Promise<{outcome: Delegation | Trouble; glue: Record_[]}> {
    const reply = await ask(
      {name, type: 'NS'},
      (answer) => delegationIn(answer, name) !== undefined || zoneOfDenial(answer, name) !== undefined,
    );
    if (Array.isArray(reply)) return {outcome: noServersKnown(name, reply), glue: []};
    const delegation = delegationIn(reply, name);
    if (delegation) return {outcome: delegation, glue: reply.additional};
    const zone = zoneOfDenial(reply, name)!;
    const second = await ask({name: zone, type: 'NS'}, (answer) => delegationIn(answer, zone) !== undefined);
    if (Array.isArray(second)) return {outcome: noServersKnown(zone, second), glue: []};
    return {outcome: delegationIn(second, zone)!, glue: second.additional};
  }

  async #withServers(
    {zone, names, ttlSeconds}: Delegation,
    glue: Record_[],
    ask: AskResolvers,
  ): Promise<Zone | Trouble> {
    const few = names.slice(0, MOST_NAMES);
    const perName = await Promise.all(few.map(async (name) => ({name, addresses: await addressesOf(name, glue, ask)})));
    const servers: DnsServer[] = [];
    const skipped: string[] = [];
    // Take one address of each name before a second of any: four addresses of one machine give little information.
    const rounds = Math.max(0, ...perName.map(({addresses}) => addresses.length));
    for (let round = 0; round < rounds; round++) {
      for (const {name, addresses} of perName) {
        const address = addresses[round];
        if (address === undefined || servers.some((server) => server.address === address)) continue;
        if (this.#allowPrivateAddresses || isPublicAddress(address)) servers.push({address, port: this.#port, name});
        else skipped.push(`${name} (${address})`);
      }
    }
    if (servers.length === 0) {
      return skipped.length > 0
        ? {
            failure: 'NotPublic',
            detail: `the name servers of ${shown(zone)} have no public address: ${skipped.toSorted().slice(0, 4).join(', ')}`,
          }
        : {
            failure: 'Unreachable',
            detail: `the name servers of ${shown(zone)} have no address: ${names.slice(0, 4).join(', ')}`,
          };
    }
    const rest = servers.slice(this.#maxServers);
    const further = [false, true].flatMap((v6) =>
      rest.filter(({address}) => isIPv6(address) === v6).slice(0, this.#maxServers),
    );
    const found = {
      name: zone,
      names: few,
      servers: servers.slice(0, this.#maxServers),
      further,
    };
    this.#remember(found, ttlSeconds);
    return found;
  }

  #remembered(name: string): Zone | undefined {
    for (const ancestor of selfAndAncestors(name)) {
      const entry = this.#cache.get(ancestor);
      if (entry && entry.endsAtMs > performance.now()) return entry.zone;
    }
    return undefined;
  }

  #remember(zone: Zone, ttlSeconds: number): void {
    this.#cache.delete(zone.name);
    if (this.#cache.size >= MOST_CACHED) this.#cache.delete(this.#cache.keys().next().value!);
    this.#cache.set(zone.name, {
      zone,
      endsAtMs: performance.now() + Math.min(ttlSeconds, LONGEST_CACHED_SECONDS) * 1000,
    });
  }
}

/** Two labels, three, ..., the name itself, and last the top-level domain alone, whose servers refer to the zones below. */
function fromTheTop(name: string): string[] {
  const upwards = selfAndAncestors(name);
  return [...upwards.slice(0, -1).toReversed(), ...upwards.slice(-1)];
}

/**
 * NS records at `asked` in the answer section. From a server that does not recurse, NS records in the authority section at or above
 * `asked`.
 */
function delegationIn(reply: DnsAnswer, asked: string): Delegation | undefined {
  return deepest(reply.answers, asked) ?? deepest(isReferral(reply) ? reply.authority : [], asked);
}

/** A negative answer names its zone in its SOA (RFC 2308, 3). */
function zoneOfDenial(reply: DnsAnswer, asked: string): string | undefined {
  return reply.authority.find(
    (record) => record.type === 'SOA' && record.name !== asked && isAtOrBelow(asked, record.name),
  )?.name;
}

/** The NS set whose owner is nearest to `name`, at or above it; the root's set only for the root. */
function deepest(records: Record_[], name: string): Delegation | undefined {
  const sets = records.filter(
    (record) => record.type === 'NS' && isAtOrBelow(name, record.name) && (record.name !== '' || name === ''),
  );
  const zone = sets.reduce<string | undefined>(
    (best, {name: owner}) => (best === undefined || owner.length > best.length ? owner : best),
    undefined,
  );
  if (zone === undefined) return undefined;
  const own = sets.filter((record) => record.name === zone);
  return {
    zone,
    names: [...new Set(own.map((record) => record.data))].toSorted(),
    ttlSeconds: Math.min(...own.map((record) => record.ttlSeconds)),
  };
}

/** IPv4 first: operators without IPv6 are common, zones with only IPv6 are not. */
async function addressesOf(name: string, glue: Record_[], ask: AskResolvers): Promise<string[]> {
  const given = [...recordsAt(name, 'A', glue), ...recordsAt(name, 'AAAA', glue)];
  if (given.length > 0) return given;
  const replies = await Promise.all(
    (['A', 'AAAA'] as const).map(async (type) => {
      // Accept any AAAA answer: an absent AAAA record needs no second resolver's answer.
      const reply = await ask(
        {name, type},
        (answer) => type === 'AAAA' || answer.answers.some((record) => record.type === type),
      );
      // A resolver follows a CNAME itself; the addresses in its answer belong to the name.
      return Array.isArray(reply)
        ? []
        : reply.answers.filter((record) => record.type === type).map((record) => record.data);
    }),
  );
  return replies.flat();
}

function recordsAt(name: string, type: string, records: Record_[]): string[] {
  return records.filter((record) => record.type === type && record.name === name).map((record) => record.data);
}

function noServersKnown(name: string, replies: Reply[]): Trouble {
  const failed = replies.find((reply) => reply.kind === 'Failure');
  const who = replies
    .map((reply) => `${reply.server.address} ${reply.kind === 'Failure' ? reply.detail : reply.rcode}`)
    .join('; ');
  return {
    failure: failed?.failure ?? 'Other',
    detail: `the recursive resolvers name no servers of ${shown(name)}: ${who}`,
  };
}

function shown(zone: string): string {
  return zone === '' ? 'the root' : zone;
}
