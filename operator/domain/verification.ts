import type {Hostname} from './hostname.ts';
import {recordName} from './hostname.ts';
import type {CaaVerdict} from './caa.ts';
import type {ReasonName} from './reasons.ts';

/** What one DNS server said about a name; `operator/dns/client.ts` finds it. Names lower case, without trailing dot. */
export interface Finding {
  server: {address: string; name?: string};
  failure?: string;
  cname: string[];
  a: string[];
  aaaa: string[];
  chain: string[];
  /** Seconds for which resolvers may repeat this negative answer (RFC 2308). */
  negativeTtlSeconds?: number;
  /** Seconds for which resolvers may repeat this positive answer. */
  ttlSeconds?: number;
}

/** What was found out about a name; `failure` where no server could be asked at all. */
export interface Observation {
  zone?: string;
  findings: Finding[];
  failure?: {failure: string; detail: string};
}

export type RecordState = 'Missing' | 'Wrong' | 'Conflicting' | 'Found' | 'Unknown';

/**
 * The answer to "is this name the tenant's?". `Unknown` is never "no": whoever holds a proof keeps it (rule 3).
 * `observed` is sorted and bounded, so that an equal answer is an equal verdict.
 */
export type Verdict =
  | {kind: 'Proven'; caa?: CaaVerdict}
  | {kind: 'Refuted'; reason: ReasonName; message: string; state: RecordState; observed: string[]}
  | {kind: 'Unknown'; reason: ReasonName; message: string};

/** DNS data is attacker input: what is not printable ASCII is written as \DDD (RFC 1035, 5.1), and long data is cut. */
export function printable(data: string): string {
  const safe = [...Buffer.from(data, 'utf8')].map((b) => (b > 32 && b < 127 ? String.fromCharCode(b) : `\\${String(b).padStart(3, '0')}`)).join('');
  return safe.length > 253 ? `${safe.slice(0, 250)}...` : safe;
}

/** `CNAME docs -> HOST (TTL 3600) in the zone example.com`: what the customer's admin types into the provider's form. */
export function instruction(name: Hostname, target: Hostname): string {
  const {name: label, zone} = recordName(name);
  return `CNAME ${label} -> ${target} (TTL 3600) in the zone ${zone}`;
}

function repeats(seconds: number | undefined): string {
  if (!seconds || seconds < 60) return '';
  const minutes = Math.ceil(seconds / 60);
  return ` Resolvers may repeat the old answer for ${minutes >= 120 ? `${Math.ceil(minutes / 60)} hours` : `${minutes} minutes`}.`;
}

/** Whether an address belongs to the edge; `addresses` may be exact addresses only (CIDRs: with the apex). */
const ofEdge = (addresses: readonly string[], edge: readonly string[]) => addresses.length > 0 && addresses.every((a) => edge.includes(a));

/** The verdict over what one server answered. The *first* CNAME must be the target: a chain proves nothing about who set it. */
function judge(name: Hostname, target: Hostname, edge: readonly string[], f: Finding): Verdict {
  const wanted = instruction(name, target);
  const [cname] = f.cname;
  const addresses = [...f.a.map((a) => `A ${printable(a)}`), ...f.aaaa.map((a) => `AAAA ${printable(a)}`)].toSorted().slice(0, 16);
  if (cname !== undefined) {
    const observed = f.cname.map((c) => `CNAME ${printable(c)}`).toSorted().slice(0, 16);
    if (f.cname.length === 1 && cname === target) return {kind: 'Proven'};
    if (f.chain.includes(target)) {
      return {kind: 'Refuted', reason: 'IndirectCNAME', state: 'Wrong', observed,
        message: `${name} is a CNAME to ${printable(cname)}, which leads on to the host. Point it straight there: change it to ${wanted}.${repeats(f.ttlSeconds)}`};
    }
    return {kind: 'Refuted', reason: 'TargetMismatch', state: 'Wrong', observed,
      message: `${name} is a CNAME to ${printable(cname)}. Change it to ${wanted}.${repeats(f.ttlSeconds)}`};
  }
  if (addresses.length > 0) {
    const seen = addresses.slice(0, 4).join(', ') + (addresses.length > 4 ? ` and ${addresses.length - 4} more` : '');
    const flattened = ofEdge([...f.a, ...f.aaaa], edge);
    return {kind: 'Refuted', reason: flattened ? 'ProxiedOrFlattened' : 'ConflictingRecord', state: 'Conflicting', observed: addresses,
      message: flattened
        ? `${name} has the edge's address (${seen}) and no CNAME: a proxy or a flattened record hides it. Switch that off and create ${wanted}.${repeats(f.ttlSeconds)}`
        : `${name} has ${seen} and no CNAME. Delete ${addresses.length > 1 ? 'them' : 'it'} and create ${wanted}.${repeats(f.ttlSeconds)}`};
  }
  return {kind: 'Refuted', reason: 'RecordMissing', state: 'Missing', observed: [],
    message: `${name} has no record. Create ${wanted}.${repeats(f.negativeTtlSeconds)}`};
}

const serverNames = (findings: readonly Finding[]) =>
  [...new Set(findings.map((f) => (f.server.name ? `${printable(f.server.name)} (${f.server.address})` : f.server.address)))].toSorted().slice(0, 4).join(', ');

const unreachable = new Set(['Timeout', 'Unreachable']);

/**
 * The verdict over what the zone's own servers say. At least one must answer; where they disagree, the one without the
 * record counts, because any of them may be asked next.
 */
export function judgeAuthoritative(name: Hostname, target: Hostname, edge: readonly string[], seen: Observation): Verdict {
  const answers = seen.findings.filter((f) => f.failure === undefined);
  const zone = printable(seen.zone ?? recordName(name).zone);
  if (answers.length === 0) {
    const failures = [...new Set(seen.findings.map((f) => f.failure ?? '').concat(seen.failure?.failure ?? []).filter((f) => f !== ''))].toSorted();
    const servers = serverNames(seen.findings);
    const who = servers === '' ? `the name servers of ${zone}` : `the name servers of ${zone}, ${servers},`;
    const wanted = `Needed there: ${instruction(name, target)}.`;
    return failures.every((f) => unreachable.has(f))
      ? {kind: 'Unknown', reason: 'AuthoritativeUnreachable',
        message: `${name} could not be checked: ${who} did not answer (${failures.join(', ') || 'none found'}). ` +
          `Their owner must bring them back; if none of any zone answers, the platform must allow port 53 outward. ${wanted}`}
      : {kind: 'Unknown', reason: 'AuthoritativeFailure',
        message: `${name} could not be checked: ${who} failed (${failures.join(', ')}). Mend the zone at the DNS provider. ${wanted}`};
  }
  // The servers of a zone come in any order: of several ways to be wrong, always the same is told.
  const wrong = answers.map((f) => judge(name, target, edge, f)).flatMap((v) => (v.kind === 'Proven' ? [] : v));
  return wrong.toSorted((a, b) => (a.message < b.message ? -1 : 1))[0] ?? {kind: 'Proven'};
}

/**
 * The verdict of both: the zone's servers decide, then most of the recursive resolvers must agree. Resolvers that could
 * not be asked do not vote; where none could, nothing is known.
 */
export function judgeBoth(name: Hostname, target: Hostname, edge: readonly string[], authoritative: Observation, recursive: Observation): Verdict {
  const first = judgeAuthoritative(name, target, edge, authoritative);
  if (first.kind !== 'Proven') return first;
  const answers = recursive.findings.filter((f) => f.failure === undefined);
  if (answers.length === 0) {
    return {kind: 'Unknown', reason: 'ResolverFailure',
      message: `${name} has the right record at its own servers, but no recursive resolver answered (${serverNames(recursive.findings)}). The platform must check dns.recursive.`};
  }
  const agree = answers.filter((f) => judge(name, target, edge, f).kind === 'Proven').length;
  if (agree * 2 > answers.length) return {kind: 'Proven'};
  const ttl = Math.max(0, ...authoritative.findings.map((f) => f.negativeTtlSeconds ?? f.ttlSeconds ?? 0));
  return {kind: 'Refuted', reason: 'PropagationPending', state: 'Found', observed: [],
    message: `${name} has the right record at its own servers; most resolvers do not see it yet. Nothing is to be done.${repeats(ttl)}`};
}
