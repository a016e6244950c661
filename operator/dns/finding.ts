/** Combines one server's replies about a name into a Finding. Pure: replies in, a Finding out. */
import {isAtOrBelow} from './names.ts';
import type {HttpsData} from './message.ts';
import type {DnsAnswer, Failure, Record_, Reply, DnsServer} from './wire.ts';

export interface DnsFinding {
  server: DnsServer;
  /** The question could not be sent, or no valid answer came. The finding then reports no records. */
  failure?: Failure | undefined;
  detail?: string | undefined;
  /** False for NXDOMAIN, undefined with a failure. */
  exists: boolean | undefined;
  /** Targets of the CNAME at the name itself; several targets indicate a broken zone. */
  cname: string[];
  /** Addresses at the name itself, not at the end of a chain. Sorted. */
  a: string[];
  aaaa: string[];
  /** Values of TXT records at the name itself, if TXT was asked for. Sorted. */
  txt?: string[] | undefined;
  /** Types of records at the name itself, if those beside addresses were asked for ({@link OTHER_TYPES}). Sorted. */
  types?: string[] | undefined;
  /** HTTPS records at the name itself, if they were asked for and all can be read. */
  https?: HttpsData[] | undefined;
  /** The DNAME above the name from which the server made the CNAME (RFC 6672). */
  dname?: {name: string; target: string} | undefined;
  /** Further CNAME targets from the same server, in the chain's order. */
  chain: string[];
  /** Seconds for which a resolver may repeat "no such record": min(SOA's TTL, SOA's MINIMUM) (RFC 2308, 5). */
  negativeTtlSeconds?: number | undefined;
  /** TTL of the CNAME at the name, or the shortest TTL of its addresses. */
  ttlSeconds?: number | undefined;
}

/** Types beside which a CNAME cannot exist (RFC 1034, 3.6.2), other than addresses. */
export const OTHER_TYPES = ['MX', 'TXT', 'SRV', 'CAA', 'HTTPS', 'DNAME'] as const;

/** Maximum number of CNAMEs followed within one answer. */
const MOST_HOPS = 8;

/**
 * Reads one reply to a question about `name`. Records outside the chain of CNAMEs from `name` are ignored. With `authoritative`, a
 * reply without AA is the failure `NotAuthoritative`. Otherwise a referral is a failure: its resolver does not recurse, and its
 * answer does not mean "no such record" (RFC 2308, 2.2).
 */
export function read(
  name: string,
  reply: Reply,
  opts: {authoritative: boolean; wanted?: 'Host' | 'TXT' | 'OtherTypes' | 'HTTPS'},
): DnsFinding {
  const nothing = {server: reply.server, exists: undefined, cname: [], a: [], aaaa: [], chain: []};
  if (reply.kind === 'Failure') return {...nothing, failure: reply.failure, detail: reply.detail};
  if (opts.authoritative && !reply.aa)
    return {...nothing, failure: 'NotAuthoritative', detail: 'does not answer with authority for the name'};
  if (!opts.authoritative && isReferral(reply))
    return {
      ...nothing,
      failure: 'Other',
      detail: 'answered with a referral, because it does not resolve names recursively',
    };

  const at = (type: string) => reply.answers.filter((record) => record.type === type && record.name === name);
  const [cname, a, aaaa, txt] = [at('CNAME'), at('A'), at('AAAA'), at('TXT')];
  const types = opts.wanted === 'OtherTypes' ? unique(OTHER_TYPES.filter((type) => at(type).length > 0)) : undefined;
  const found = [...cname, ...a, ...aaaa, ...txt];
  const dname = reply.answers.find(
    (record) => record.type === 'DNAME' && record.name !== name && isAtOrBelow(name, record.name),
  );
  const soa = reply.authority.find((record) => record.type === 'SOA' && isAtOrBelow(name, record.name));
  return {
    server: reply.server,
    exists: found.length > 0 || reply.rcode === 'NOERROR',
    ...(dname && {dname: {name: dname.name, target: dname.data}}),
    ...(types && {types}),
    cname: texts(cname),
    a: texts(a),
    aaaa: texts(aaaa),
    ...(opts.wanted === 'TXT' && {txt: texts(txt)}),
    ...(opts.wanted === 'HTTPS' && httpsIn(at('HTTPS'))),
    chain: chainAfter(cname[0]?.data, reply.answers),
    negativeTtlSeconds: found.length === 0 && soa ? negativeTtl(soa) : undefined,
    ttlSeconds: shortestTtl(found),
  };
}

function httpsIn(records: Record_[]): Pick<DnsFinding, 'https'> {
  const https = records.flatMap((record) => record.https ?? []);
  return https.length === records.length ? {https} : {};
}

/** Combines one server's replies to a first question (CNAME) and to further questions (A, AAAA). */
export function merge(first: DnsFinding, further: DnsFinding[]): DnsFinding {
  if (first.failure || further.length === 0) return first;
  const answered = further.filter((finding) => !finding.failure);
  const all = [first, ...answered];
  const a = unique(all.flatMap((finding) => finding.a));
  const aaaa = unique(all.flatMap((finding) => finding.aaaa));
  // A resolver with cached old addresses returns them to all clients that ask for that family, even if its CNAME answer is new.
  const cname = a.length + aaaa.length > 0 ? [] : (all.find((finding) => finding.cname.length > 0)?.cname ?? []);
  const failed = further.find((finding) => finding.failure);
  // If nothing was found and a question failed, records may still exist. A failed question is no negative answer.
  const types = unique(all.flatMap((finding) => finding.types ?? []));
  if (failed && cname.length + a.length + aaaa.length + types.length === 0) return failed;
  const dname = all.find((finding) => finding.dname)?.dname;
  return {
    server: first.server,
    ...(dname && {dname}),
    ...(first.types && {types}),
    exists: all.some((finding) => finding.exists),
    cname,
    a,
    aaaa,
    chain: all
      .map((finding) => finding.chain)
      .reduce((longest, chain) => (chain.length > longest.length ? chain : longest)),
    negativeTtlSeconds: cname.length > 0 ? undefined : first.negativeTtlSeconds,
    ttlSeconds: first.ttlSeconds ?? shortest(answered.map((finding) => finding.ttlSeconds)),
  };
}

/** Whether a reply has no records and no SOA, but refers to other name servers. */
export function isReferral(reply: DnsAnswer): boolean {
  return (
    !reply.aa &&
    reply.rcode === 'NOERROR' &&
    reply.answers.length === 0 &&
    reply.authority.some((record) => record.type === 'NS') &&
    !reply.authority.some((record) => record.type === 'SOA')
  );
}

function chainAfter(target: string | undefined, answers: Record_[]): string[] {
  const chain: string[] = [];
  let next = target;
  while (next !== undefined && chain.length < MOST_HOPS) {
    const at = next;
    next = answers.find((record) => record.type === 'CNAME' && record.name === at)?.data;
    if (next === undefined || next === target || chain.includes(next)) break;
    chain.push(next);
  }
  return chain;
}

/** Seconds for which a negative answer may be repeated (RFC 2308, 5), from a SOA record. */
export function negativeTtl(soa: Record_): number | undefined {
  const minimum = Number(soa.data.split(' ').at(-1));
  return Number.isInteger(minimum) ? Math.min(soa.ttlSeconds, minimum) : undefined;
}

function texts(records: Record_[]): string[] {
  return unique(records.map((record) => record.data));
}

function unique(values: string[]): string[] {
  return [...new Set(values)].toSorted();
}

function shortestTtl(records: Record_[]): number | undefined {
  return shortest(records.map((record) => record.ttlSeconds));
}

function shortest(seconds: (number | undefined)[]): number | undefined {
  const known = seconds.filter((value) => value !== undefined);
  return known.length > 0 ? Math.min(...known) : undefined;
}

/** The zone nearest to the name among the zones that sent negative answers (RFC 2308, 3). */
export function nearestCut(name: string, replies: Reply[]): string | undefined {
  return replies
    .flatMap((reply) => (reply.kind === 'Answer' ? reply.authority : []))
    .flatMap((record) => (record.type === 'SOA' && isAtOrBelow(name, record.name) ? [record.name] : []))
    .toSorted((a, b) => b.length - a.length)[0];
}

/**
 * The zone of the answers. A server that hosts parent and child answers from the child: the owner of its SOA or NS records is then
 * the nearer cut.
 */
export function zoneSeen(name: string, zone: {name: string}, replies: Reply[]): string {
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
