/**
 * What the DNS says about a hostname: by the zone's own servers, and by the recursive resolvers that everybody else uses.
 * It reports; whether that proves anything is `domain/verification.ts`'s to say.
 */
import {canonicalName, isAskable, isAtOrBelow} from './names.ts';
import {isReferral, merge, negativeTtl, read} from './finding.ts';
import type {Finding} from './finding.ts';
import {ask} from './wire.ts';
import type {Answer, Question, Reply, Server} from './wire.ts';
import {Zones} from './zones.ts';
import type {AskResolvers, Trouble, Zone} from './zones.ts';

export type {Finding} from './finding.ts';
export type {Failure, Server} from './wire.ts';

export interface Observation {
  /** Canonical: lower case, no trailing dot. */
  name: string;
  /** The zone cut found at or above the name; only of authoritative servers. */
  zone?: string | undefined;
  /** One for each server asked, in the order of the servers. */
  findings: Finding[];
  /** No server answered; or none could be found, and then there are no findings. */
  failure?: Trouble | undefined;
}

/** The CAA records that count for a name (RFC 8659, 3), or why they could not be read. Neither: there are none up to the root. */
export interface CaaObservation {
  /** Where they stand: the name itself, an ancestor, or the end of a CNAME at one of them. */
  foundAt?: string;
  /** Flags, tag and value, as far as they could be read. */
  records?: {flags: number; tag: string; value: string}[];
  failure?: Trouble & {name: string};
}

export interface DnsClientOptions {
  /** At least one. */
  recursive: Server[];
  /** Whether name servers that a zone names may have private, loopback or otherwise special addresses. */
  allowPrivateAddresses: boolean;
  /** Of one question to one server. Default 2,000. */
  tryTimeoutMs?: number;
  /** How often a server is asked that stays silent. Default 2. */
  tries?: number;
  /** Of one call. Default 10,000. */
  totalTimeoutMs?: number;
  /** Authoritative servers asked for one name. Default 4. */
  maxServers?: number;
  /** Of authoritative servers. Default 53. */
  port?: number;
}

/** What is asked about a name: what it leads to, or its TXT. */
export type Wanted = 'Host' | 'TXT';

const firstType = (wanted: Wanted) => (wanted === 'TXT' ? 'TXT' : 'CNAME');

/** CNAMEs followed for the CAA records of one name. */
const MOST_ALIASES = 8;

/** Delegations followed from the first zone found down to the name's own. */
const MOST_REFERRALS = 8;

export class DnsClient {
  readonly #recursive: Server[];
  readonly #tryTimeoutMs: number;
  readonly #tries: number;
  readonly #totalTimeoutMs: number;
  readonly #zones: Zones;

  constructor(opts: DnsClientOptions) {
    this.#recursive = opts.recursive;
    this.#tryTimeoutMs = opts.tryTimeoutMs ?? 2000;
    this.#tries = opts.tries ?? 2;
    this.#totalTimeoutMs = opts.totalTimeoutMs ?? 10_000;
    this.#zones = new Zones({
      allowPrivateAddresses: opts.allowPrivateAddresses,
      maxServers: opts.maxServers ?? 4,
      port: opts.port ?? 53,
    });
  }

  /**
   * Finds the servers of the zone that holds `name` and asks each (RD=0) for CNAME and, where there is none, for A and AAAA;
   * or for TXT alone. No cache stands between but the zone cut's (60 s at most). Never rejects; takes at most `totalTimeoutMs`.
   */
  async askAuthoritative(name: string, wanted: Wanted, signal?: AbortSignal): Promise<Observation> {
    const hostname = canonicalName(name);
    if (!isAskable(hostname) || hostname === '')
      return {name: hostname, findings: [], failure: {failure: 'Other', detail: 'not a DNS name'}};
    return this.#withinTotal(signal, (limit) => this.#descend(hostname, wanted, limit));
  }

  /**
   * Asks every configured resolver (RD=1) the same; `chain` is as far as the resolver followed it, `zone` what negative answers
   * say of it. A resolver that fails (SERVFAIL), but answers when it is not to validate (CD=1), is the failure `BrokenDnssec`
   * (RFC 4035, 5.5). Never rejects.
   */
  async askRecursive(name: string, wanted: Wanted, signal?: AbortSignal): Promise<Observation> {
    const hostname = canonicalName(name);
    if (!isAskable(hostname) || hostname === '')
      return {name: hostname, findings: [], failure: {failure: 'Other', detail: 'not a DNS name'}};
    return this.#withinTotal(signal, async (limit) => {
      const replies = await Promise.all(
        this.#recursive.map((server) => this.#askResolver(server, {name: hostname, type: firstType(wanted)}, limit)),
      );
      const findings = await Promise.all(
        replies.map((reply) =>
          this.#completed(hostname, reply, {recursionDesired: true, chainWithin: '', wanted}, limit),
        ),
      );
      return observation(hostname, nearestCut(hostname, replies), findings);
    });
  }

  /**
   * For how long resolvers may repeat that a name at or below `zone` does not exist: min(SOA's TTL, SOA's MINIMUM), as the zone's own
   * servers have it (RFC 2308, 5); undefined where none told. Never rejects.
   */
  async askNegativeTtl(zone: string, signal?: AbortSignal): Promise<number | undefined> {
    return this.#withinTotal(signal, async (limit) => {
      const found = await this.#zones.above(zone, (question, usable) => this.#firstUsable(question, usable, limit));
      if ('failure' in found) return undefined;
      const replies = await Promise.all(
        found.servers.map((server) => this.#ask(server, {name: zone, type: 'SOA'}, false, limit)),
      );
      const known = replies
        .flatMap((reply) => (reply.kind === 'Answer' && reply.aa ? reply.answers : []))
        .flatMap((record) => (record.type === 'SOA' && record.name === zone ? (negativeTtl(record) ?? []) : []));
      return known.length > 0 ? Math.max(...known) : undefined;
    });
  }

  /**
   * Climbs from `name` towards the root and stops at the first CAA records, as a CA does (RFC 8659, 3): a CNAME at a name is
   * followed for that name, the climb goes on from the name itself. By the recursive resolvers, the first usable answer counts.
   * Never rejects; takes at most `totalTimeoutMs`.
   */
  async askCaa(name: string, signal?: AbortSignal): Promise<CaaObservation> {
    const hostname = canonicalName(name);
    if (!isAskable(hostname) || hostname === '')
      return {failure: {name: hostname, failure: 'Other', detail: 'not a DNS name'}};
    return this.#withinTotal(signal, async (limit) => {
      for (let at = hostname; at !== ''; at = at.split('.').slice(1).join('.')) {
        const seen = await this.#caaAt(at, limit);
        if (seen) return seen;
      }
      return {};
    });
  }

  async #caaAt(name: string, limit: AbortSignal): Promise<CaaObservation | undefined> {
    let asked = name;
    for (let hops = 0; hops < MOST_ALIASES; hops++) {
      const reply = await this.#firstUsable({name: asked, type: 'CAA'}, (answer) => !isReferral(answer), limit);
      if (Array.isArray(reply)) {
        const servfail = reply.find((failed) => failed.kind === 'Failure' && failed.failure === 'ServerFailure');
        const first = servfail ? await this.#askResolver(servfail.server, {name: asked, type: 'CAA'}, limit) : reply[0];
        const trouble =
          first?.kind === 'Failure'
            ? {failure: first.failure, detail: first.detail}
            : {failure: 'Other' as const, detail: 'no resolver gave a usable answer'};
        return {failure: {name: asked, ...trouble}};
      }
      const records = reply.answers.filter((record) => record.type === 'CAA');
      if (records[0])
        return {foundAt: records[0].name, records: records.flatMap((record) => caaRecord(record.data) ?? [])};
      // A resolver has followed the CNAME; a server that only knows its own zones has not.
      const end = reply.answers.filter((record) => record.type === 'CNAME').at(-1)?.data;
      if (end === undefined || end === asked || reply.authority.some((record) => record.type === 'SOA'))
        return undefined;
      asked = end;
    }
    return {failure: {name, failure: 'Other', detail: `more than ${MOST_ALIASES} CNAMEs`}};
  }

  async #descend(name: string, wanted: Wanted, limit: AbortSignal): Promise<Observation> {
    const askResolvers: AskResolvers = (question, usable) => this.#firstUsable(question, usable, limit);
    let zone: Zone | Trouble = await this.#zones.above(name, askResolvers);
    for (let hops = 0; hops <= MOST_REFERRALS; hops++) {
      if ('failure' in zone) return {name, findings: [], failure: zone};
      const current: Zone = zone;
      const replies = await Promise.all(
        current.servers.map((server) => this.#ask(server, {name, type: firstType(wanted)}, false, limit)),
      );
      const referrals = replies.flatMap((reply) => {
        const delegation = this.#zones.referral(reply, current, name);
        return delegation && reply.kind === 'Answer' ? [{delegation, reply}] : [];
      });
      const [referral] = referrals;
      if (!referral) {
        const cut = zoneSeen(name, current, replies);
        const own = cut === current.name ? undefined : await this.#ownServers(cut, current, askResolvers, limit);
        if (!own) return this.#observed(name, wanted, current, replies, limit);
        zone = own;
        continue;
      }
      zone = await this.#zones.follow(referral.delegation, referral.reply, current, askResolvers);
    }
    return {
      name,
      findings: [],
      failure: {failure: 'Other', detail: `more than ${MOST_REFERRALS} delegations above the name`},
    };
  }

  /** Of a zone that a server of its parent holds too, and so doesn't refer to: its own servers, of which that may be one among others. */
  async #ownServers(
    cut: string,
    parent: Zone,
    askResolvers: AskResolvers,
    limit: AbortSignal,
  ): Promise<Zone | undefined> {
    const replies = await Promise.all(
      parent.servers.map((server) => this.#ask(server, {name: cut, type: 'NS'}, false, limit)),
    );
    for (const reply of replies) {
      const delegation = this.#zones.ownServers(reply, cut);
      if (!delegation || reply.kind === 'Failure') continue;
      const found = await this.#zones.follow(delegation, reply, parent, askResolvers);
      if (!('failure' in found)) return found;
    }
    return undefined;
  }

  async #observed(
    name: string,
    wanted: Wanted,
    zone: Zone,
    replies: Reply[],
    limit: AbortSignal,
  ): Promise<Observation> {
    const zoneName = zoneSeen(name, zone, replies);
    const findings = await Promise.all(
      replies.map((reply) =>
        this.#completed(name, reply, {recursionDesired: false, chainWithin: zoneName, wanted}, limit),
      ),
    );
    const seen = observation(name, zoneName, findings);
    if (seen.failure) this.#zones.forget(zone);
    return seen;
  }

  /**
   * Adds to a reply about CNAME what the same server says about addresses. Where there is a CNAME, an authoritative server is asked
   * only for the chain behind it, and only where it can know it: the target is within `chainWithin`. A resolver is asked in any case:
   * it may have kept old addresses, and those are what visitors and the certificate authority get.
   */
  async #completed(
    name: string,
    reply: Reply,
    opts: {recursionDesired: boolean; chainWithin: string; wanted: Wanted},
    limit: AbortSignal,
  ): Promise<Finding> {
    const authoritative = !opts.recursionDesired;
    const first = read(name, reply, {authoritative, txt: opts.wanted === 'TXT'});
    if (first.failure || !first.exists || opts.wanted === 'TXT') return first;
    const [target] = first.cname;
    if (target !== undefined && !isAtOrBelow(target, opts.chainWithin)) return first;
    const types = target === undefined || !authoritative ? (['A', 'AAAA'] as const) : (['A'] as const);
    const further = await Promise.all(
      types.map((type) =>
        authoritative
          ? this.#ask(reply.server, {name, type}, false, limit)
          : this.#askResolver(reply.server, {name, type}, limit),
      ),
    );
    return merge(
      first,
      further.map((answer) => read(name, answer, {authoritative})),
    );
  }

  /** Asks all resolvers at once; the first good reply ends the others. */
  async #firstUsable(
    question: Question,
    usable: (reply: Answer) => boolean,
    limit: AbortSignal,
  ): Promise<Answer | Reply[]> {
    const enough = new AbortController();
    const stop = () => enough.abort(limit.reason);
    limit.addEventListener('abort', stop, {once: true});
    if (limit.aborted) stop();
    try {
      return await new Promise<Answer | Reply[]>((resolve) => {
        const asked = this.#recursive.map(async (server) => {
          const reply = await this.#ask(server, question, true, enough.signal);
          if (reply.kind === 'Answer' && usable(reply)) resolve(reply);
          return reply;
        });
        void Promise.all(asked).then(resolve);
      });
    } finally {
      limit.removeEventListener('abort', stop);
      enough.abort();
    }
  }

  /** As {@link #ask}; what a resolver holds back because its validation fails is told apart from what it could not find. */
  async #askResolver(server: Server, question: Question, limit: AbortSignal): Promise<Reply> {
    const reply = await this.#ask(server, question, true, limit);
    if (reply.kind === 'Answer' || reply.failure !== 'ServerFailure') return reply;
    const unchecked = await this.#ask(server, question, true, limit, true);
    if (unchecked.kind === 'Failure') return reply;
    return {
      kind: 'Failure',
      server,
      failure: 'BrokenDnssec',
      detail: 'answered SERVFAIL, and an answer when it was not to validate (CD=1): the DNSSEC chain is broken',
    };
  }

  /** Asks again only a server that was silent: what answers, or refuses, would do so again. */
  async #ask(
    server: Server,
    question: Question,
    recursionDesired: boolean,
    limit: AbortSignal,
    checkingDisabled = false,
  ): Promise<Reply> {
    let reply: Reply;
    let left = this.#tries;
    do {
      reply = await ask(server, question, {
        recursionDesired,
        checkingDisabled,
        timeoutMs: this.#tryTimeoutMs,
        signal: limit,
      });
      left--;
    } while (left > 0 && !limit.aborted && reply.kind === 'Failure' && reply.failure === 'Timeout');
    return reply;
  }

  /** Runs `work` with a signal that fires after the total time, or when the caller's does. */
  async #withinTotal<T>(signal: AbortSignal | undefined, work: (limit: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const stop = () => controller.abort(signal?.reason);
    const timer = setTimeout(
      () => controller.abort(new DOMException('total time', 'TimeoutError')),
      this.#totalTimeoutMs,
    );
    signal?.addEventListener('abort', stop, {once: true});
    if (signal?.aborted) stop();
    try {
      return await work(controller.signal);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    }
  }
}

/** The zone that negative answers come from (RFC 2308, 3), the nearest to the name. */
function nearestCut(name: string, replies: Reply[]): string | undefined {
  return replies
    .flatMap((reply) => (reply.kind === 'Answer' ? reply.authority : []))
    .flatMap((record) => (record.type === 'SOA' && isAtOrBelow(name, record.name) ? [record.name] : []))
    .toSorted((a, b) => b.length - a.length)[0];
}

/** A server that holds parent and child answers from the child: then the owner of its SOA or NS is the nearer cut. */
function zoneSeen(name: string, zone: Zone, replies: Reply[]): string {
  const owners = replies
    .flatMap((reply) => (reply.kind === 'Answer' && reply.aa ? reply.authority : []))
    .filter(
      (record) =>
        (record.type === 'SOA' || record.type === 'NS') &&
        isAtOrBelow(name, record.name) &&
        isAtOrBelow(record.name, zone.name),
    )
    .map((record) => record.name);
  return owners.reduce((nearest, owner) => (owner.length > nearest.length ? owner : nearest), zone.name);
}

function observation(name: string, zone: string | undefined, findings: Finding[]): Observation {
  const failed = findings.filter((finding) => finding.failure);
  if (failed.length < findings.length) return {name, zone, findings};
  const detail = failed
    .map(({server, detail: why}) => `${server.name ? `${server.name} (${server.address})` : server.address}: ${why}`)
    .join('; ');
  return {
    name,
    zone,
    findings,
    failure: {failure: failed[0]?.failure ?? 'Other', detail: detail || 'no server to ask'},
  };
}

function caaRecord(data: string): {flags: number; tag: string; value: string} | undefined {
  const [, flags, tag, value] = /^(\d+) (\S+) ([^]*)$/.exec(data) ?? [];
  return tag === undefined ? undefined : {flags: Number(flags), tag: tag.toLowerCase(), value: value ?? ''};
}
