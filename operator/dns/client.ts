/**
 * DNS observations of a hostname, from the zone's own servers and from the recursive resolvers in public use. This client only
 * reports. `domain/verification/verdict.ts` decides whether an observation verifies anything.
 */
import {type CaaObservation, climb, decisive} from './caa.ts';
import {canonicalName, isAskable, isAtOrBelow} from './names.ts';
import {isMade} from './dns64.ts';
import {type DnsFinding, merge, nearestCut, negativeTtl, OTHER_TYPES, read, zoneSeen} from './finding.ts';
import {Inquiry} from './inquiry.ts';
import {perResolver, perServer, Rate, type RateOptions, turn} from './rate.ts';
import {ask, type DnsAnswer, type DnsServer, type Reply, type WireQuestion} from './wire.ts';
import {type AskResolvers, askServers, isAnswered, type Trouble, type Zone, Zones} from './zones.ts';

export type {DnsFinding} from './finding.ts';
export type {Failure, DnsServer} from './wire.ts';

export interface DnsObservation {
  /** Canonical: lower case, no trailing dot. */
  name: string;
  /** The zone cut at or above the name; only from authoritative servers. */
  zone?: string | undefined;
  /** Delegated names of that zone's servers, sorted; only from authoritative servers. */
  nameServers?: string[] | undefined;
  /** A finding per server asked, in the order of the servers. */
  findings: DnsFinding[];
  /** Set if no server answered, or if no server was found; in the latter case `findings` is empty. */
  failure?: Trouble | undefined;
}

export interface DnsClientOptions {
  /** At least one resolver. */
  recursive: DnsServer[];
  /** Whether a zone's name servers may have private, loopback or otherwise special addresses. */
  allowPrivateAddresses: boolean;
  /** Time limit of one question to one server. Default 2,000. */
  tryTimeoutMs?: number;
  /** Number of attempts with a silent server. Default 2. */
  tries?: number;
  /** Time limit of a call without an {@link Inquiry}. Default 10,000. */
  totalTimeoutMs?: number;
  /** Authoritative servers asked for one name. If none answers, up to as many further servers of each family are asked. Default 4. */
  maxServers?: number;
  /** Rate of questions to one authoritative server, from all callers. Default {@link perServer}. */
  perServer?: RateOptions;
  /** Rate of questions to one recursive resolver, from all callers. Default {@link perResolver}. */
  perResolver?: RateOptions;
  /** Port of authoritative servers. Default 53. */
  port?: number;
}

/** The records to ask for: CNAME and addresses ('Host'), TXT, HTTPS, or which of {@link OTHER_TYPES} exist. */
export type DnsWanted = 'Host' | 'TXT' | 'HTTPS' | 'OtherTypes';

const isServerFailure = (reply: Reply) => reply.kind === 'Failure' && reply.failure === 'ServerFailure';

const firstTypes = {Host: 'CNAME', TXT: 'TXT', HTTPS: 'HTTPS', OtherTypes: OTHER_TYPES[0]} as const;

/** Maximum number of delegations followed from the first zone found down to the name's own zone. */
const MOST_REFERRALS = 8;

export class DnsClient {
  readonly #recursive: DnsServer[];
  readonly #tryTimeoutMs: number;
  readonly #tries: number;
  readonly #totalTimeoutMs: number;
  readonly #zones: Zones;
  readonly #perServer: Rate;
  readonly #perResolver: Rate;

  constructor(opts: DnsClientOptions) {
    this.#recursive = opts.recursive;
    this.#tryTimeoutMs = opts.tryTimeoutMs ?? 2000;
    this.#tries = opts.tries ?? 2;
    this.#totalTimeoutMs = opts.totalTimeoutMs ?? 10_000;
    this.#perServer = new Rate(opts.perServer ?? perServer);
    this.#perResolver = new Rate(opts.perResolver ?? perResolver);
    this.#zones = new Zones({
      allowPrivateAddresses: opts.allowPrivateAddresses,
      maxServers: opts.maxServers ?? 4,
      port: opts.port ?? 53,
    });
  }

  /**
   * Finds the servers of the zone that contains `name`. Asks each (RD=0) for CNAME and, if none exists, for A and AAAA; or only for
   * TXT or HTTPS, or for {@link OTHER_TYPES}. Only the zone cut is cached (60 s at most). Never rejects; ends with the inquiry.
   */
  async askAuthoritative(name: string, wanted: DnsWanted, inquiry?: Inquiry): Promise<DnsObservation> {
    const hostname = canonicalName(name);
    if (!isAskable(hostname) || hostname === '')
      return {name: hostname, findings: [], failure: {failure: 'Other', detail: 'not a DNS name'}};
    return this.#within(inquiry, `authoritative ${wanted} ${hostname}`, (limit) =>
      this.#descend(hostname, wanted, limit),
    );
  }

  /**
   * Asks every configured resolver (RD=1) the same questions. `chain` is the part that the resolver followed; `zone` comes from
   * negative answers. If a resolver always returns SERVFAIL, but answers without validation (CD=1), the failure is `BrokenDnssec`
   * (RFC 4035, 5.5). Never rejects.
   */
  async askRecursive(name: string, wanted: DnsWanted, inquiry?: Inquiry): Promise<DnsObservation> {
    const hostname = canonicalName(name);
    if (!isAskable(hostname) || hostname === '')
      return {name: hostname, findings: [], failure: {failure: 'Other', detail: 'not a DNS name'}};
    return this.#within(inquiry, `recursive ${wanted} ${hostname}`, async (limit) => {
      const replies = await Promise.all(
        this.#recursive.map((server) => this.#askResolver(server, {name: hostname, type: firstTypes[wanted]}, limit)),
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
   * Seconds for which resolvers may repeat that a name at or below `zone` does not exist. Computed as min(SOA's TTL, SOA's MINIMUM)
   * from the zone's own servers (RFC 2308, 5). Undefined if no server returned a SOA. Never rejects.
   */
  async askNegativeTtl(zone: string, inquiry?: Inquiry): Promise<number | undefined> {
    return this.#within(inquiry, `negative ${zone}`, async (limit) => {
      const found = await this.#zones.above(zone, (question, usable) => this.#firstUsable(question, usable, limit));
      if ('failure' in found) return undefined;
      const replies = await this.#askZone(found, {name: zone, type: 'SOA'}, limit);
      const known = replies
        .flatMap((reply) => (reply.kind === 'Answer' && reply.aa ? reply.answers : []))
        .flatMap((record) => (record.type === 'SOA' && record.name === zone ? (negativeTtl(record) ?? []) : []));
      return known.length > 0 ? Math.max(...known) : undefined;
    });
  }

  /**
   * The CAA records that apply to `name` (RFC 8659, 3). Each recursive resolver gets a separate climb, so a silent resolver costs
   * its timeout once. {@link decisive} selects the result that counts. Never rejects; ends with the inquiry.
   */
  async askCaa(name: string, inquiry?: Inquiry): Promise<CaaObservation> {
    const hostname = canonicalName(name);
    if (!isAskable(hostname) || hostname === '')
      return {failure: {name: hostname, failure: 'Other', detail: 'not a DNS name'}};
    return this.#within(inquiry, `CAA ${hostname}`, async (limit) =>
      decisive(
        await Promise.all(
          this.#recursive.map((server) => climb(hostname, (question) => this.#askResolver(server, question, limit))),
        ),
      ),
    );
  }

  async #descend(name: string, wanted: DnsWanted, limit: Inquiry): Promise<DnsObservation> {
    const askResolvers: AskResolvers = (question, usable) => this.#firstUsable(question, usable, limit);
    let zone: Zone | Trouble = await this.#zones.above(name, askResolvers);
    for (let hops = 0; hops <= MOST_REFERRALS; hops++) {
      if ('failure' in zone) return {name, findings: [], failure: zone};
      const current: Zone = zone;
      const replies = await this.#askZone(current, {name, type: firstTypes[wanted]}, limit);
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

  /**
   * Finds the servers of a zone that a parent's server also hosts, and therefore answers without a referral. The zone may have
   * further servers.
   */
  async #ownServers(cut: string, parent: Zone, askResolvers: AskResolvers, limit: Inquiry): Promise<Zone | undefined> {
    const replies = await this.#askZone(parent, {name: cut, type: 'NS'}, limit);
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
    wanted: DnsWanted,
    zone: Zone,
    replies: Reply[],
    limit: Inquiry,
  ): Promise<DnsObservation> {
    const zoneName = zoneSeen(name, zone, replies);
    const findings = await Promise.all(
      replies.map((reply) =>
        this.#completed(name, reply, {recursionDesired: false, chainWithin: zoneName, wanted}, limit),
      ),
    );
    const seen = observation(name, zoneName, findings);
    if (seen.failure) this.#zones.forget(zone);
    return zoneName === zone.name ? {...seen, nameServers: zone.names} : seen;
  }

  /**
   * Completes a CNAME reply with the same server's address records. After a CNAME, an authoritative server is asked only if the
   * target is within `chainWithin`, and only for the chain. A resolver is always asked: it may still cache old addresses, which
   * visitors and the certificate authority then get.
   */
  async #completed(
    name: string,
    reply: Reply,
    opts: {recursionDesired: boolean; chainWithin: string; wanted: DnsWanted},
    limit: Inquiry,
  ): Promise<DnsFinding> {
    const authoritative = !opts.recursionDesired;
    const {wanted} = opts;
    const first = read(name, reply, {authoritative, wanted});
    const [target] = first.cname;
    if (first.failure || !first.exists || wanted === 'TXT' || wanted === 'HTTPS') return first;
    if (target !== undefined && !isAtOrBelow(target, opts.chainWithin)) return first;
    const types: readonly WireQuestion['type'][] =
      wanted === 'OtherTypes' ? OTHER_TYPES.slice(1) : target === undefined || !authoritative ? ['A', 'AAAA'] : ['A'];
    const further = await Promise.all(
      types.map((type) =>
        authoritative
          ? this.#askUnlessSilent(reply.server, {name, type}, false, limit)
          : this.#askResolver(reply.server, {name, type}, limit),
      ),
    );
    const found = merge(
      first,
      further.map((answer) => read(name, answer, {authoritative, wanted})),
    );
    return authoritative ? found : {...found, aaaa: found.aaaa.filter((address) => !isMade(address, found.a))};
  }

  /** Asks all resolvers in parallel; the first usable reply cancels the other questions. */
  async #firstUsable(
    question: WireQuestion,
    usable: (reply: DnsAnswer) => boolean,
    limit: Inquiry,
  ): Promise<DnsAnswer | Reply[]> {
    const enough = new AbortController();
    const signal = AbortSignal.any([limit.signal, enough.signal]);
    try {
      return await new Promise<DnsAnswer | Reply[]>((resolve) => {
        const asked = this.#recursive.map(async (server) => {
          const reply = await this.#ask(server, question, {recursionDesired: true, signal});
          if (reply.kind === 'Answer' && usable(reply)) resolve(reply);
          return reply;
        });
        void Promise.all(asked).then(resolve);
      });
    } finally {
      enough.abort();
    }
  }

  /**
   * Like {@link #ask}, but distinguishes a failed DNSSEC validation from other resolver failures. The question is asked once more
   * before `BrokenDnssec` is returned, because a temporary failure may have ended in between.
   */
  async #askResolver(server: DnsServer, question: WireQuestion, limit: Inquiry): Promise<Reply> {
    const reply = await this.#askUnlessSilent(server, question, true, limit);
    if (!isServerFailure(reply)) return reply;
    const unchecked = await this.#askUnlessSilent(server, question, true, limit, true);
    if (unchecked.kind === 'Failure') return reply;
    const again = await this.#askUnlessSilent(server, question, true, limit);
    if (!isServerFailure(again)) return again;
    return {
      kind: 'Failure',
      server,
      failure: 'BrokenDnssec',
      detail: 'answered SERVFAIL, and an answer when it was not to validate (CD=1): the DNSSEC chain is broken',
    };
  }

  /** Like {@link #ask}, but skips a server that has only been silent in this inquiry. */
  async #askUnlessSilent(
    server: DnsServer,
    question: WireQuestion,
    recursionDesired: boolean,
    limit: Inquiry,
    checkingDisabled = false,
  ): Promise<Reply> {
    if (limit.isSilent(server)) {
      const detail = `has answered nothing: not asked for ${question.type} of ${question.name}`;
      return {kind: 'Failure', server, failure: 'Timeout', detail};
    }
    const reply = await this.#ask(server, question, {recursionDesired, checkingDisabled, signal: limit.signal});
    if (!limit.signal.aborted) limit.hear(reply);
    return reply;
  }

  #askZone(zone: Zone, question: WireQuestion, limit: Inquiry): Promise<Reply[]> {
    return askServers(zone, (server) => this.#askUnlessSilent(server, question, false, limit), isAnswered);
  }

  /** Waits for the server's rate. Repeats a question only after silence, then without EDNS: some firewalls drop questions that have it. */
  async #ask(
    server: DnsServer,
    question: WireQuestion,
    opts: {recursionDesired: boolean; checkingDisabled?: boolean; signal: AbortSignal},
  ): Promise<Reply> {
    let reply: Reply;
    let left = this.#tries;
    do {
      await turn(opts.recursionDesired ? this.#perResolver : this.#perServer, server.address, opts.signal);
      reply = await ask(server, question, {...opts, edns: left === this.#tries, timeoutMs: this.#tryTimeoutMs});
      left--;
    } while (left > 0 && !opts.signal.aborted && reply.kind === 'Failure' && reply.failure === 'Timeout');
    return reply;
  }

  /** Runs each piece of work once per inquiry. Without an inquiry, runs it within a separate time limit. */
  async #within<T>(inquiry: Inquiry | undefined, key: string, work: (limit: Inquiry) => Promise<T>): Promise<T> {
    if (inquiry) return inquiry.once(key, () => work(inquiry));
    const own = new Inquiry({totalMs: this.#totalTimeoutMs});
    try {
      return await work(own);
    } finally {
      own.end();
    }
  }
}

function observation(name: string, zone: string | undefined, findings: DnsFinding[]): DnsObservation {
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
