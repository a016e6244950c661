/**
 * Whether DNS proves that a name was set for a Project. Findings in, a verdict out; nothing is asked here.
 *
 *   CNAME to exactly the host                              Proven by CNAME
 *   edge's addresses, no CNAME   + TXT with the token      Proven by TXT (an apex; a flattened or private-suffix name)
 *                                an apex, AddressOnly      Proven by Addresses
 *   anything else that is there, or isn't                  Refuted, with what to do
 *   no answer                                              Unknown: never a "no" (rule 3)
 */
import {BlockList, isIPv4, isIPv6} from 'node:net';
import type {CaaVerdict} from './caa.ts';
import {minuteOf} from './conditions.ts';
import {isApexByName, recordName, shown} from './hostname.ts';
import type {ReasonName} from './reasons.ts';
import type {Proof, Question} from './records.ts';
import {canProveByTxt, challengeName, instruction, sayRecords, txtRecord} from './records.ts';

export type {Proof, Question} from './records.ts';

/** What one DNS server said about a name; `operator/dns/client.ts` finds it. Names lower case, without trailing dot. */
export interface Finding {
  server: {address: string; port?: number; name?: string};
  failure?: string;
  cname: string[];
  a: string[];
  aaaa: string[];
  chain: string[];
  /** Values of TXT records, where those were asked for. */
  txt?: string[];
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
  /** What stands at {@link challengeName}, where that was asked for. */
  challenge?: Observation;
  /** A name beside it that nobody made has the same records: they come of a wildcard (RFC 4592). */
  wildcard?: boolean;
  /** For how long resolvers may repeat that something was not there: by the SOA that the zone's own servers have (RFC 2308, 5). */
  negativeTtlSeconds?: number;
}

/** What the platform has laid down about proofs. */
export interface Rules {
  /** The edge's own: addresses, or CIDRs where an ALIAS rotates. */
  edgeAddresses: readonly string[];
  /** `apexOwnership: AddressOnly`, of a platform with one tenant: the edge's addresses at an apex prove it. */
  addressOnly: boolean;
}

export type RecordState = 'Missing' | 'Wrong' | 'Conflicting' | 'Found' | 'Unknown';

/**
 * The answer to "is this name the tenant's?". `Unknown` is never "no": whoever holds a proof keeps it (rule 3); of what is
 * `Refuted`, only what {@link denies} counts against it. `observed` is sorted and bounded, so that an equal answer is an
 * equal verdict. `apex`: a zone cut at the name, or the registrable name; decides which records are needed (recordsFor).
 */
export type Verdict = Proven | Refuted | Unknown;
export interface Proven {
  kind: 'Proven';
  by: Proof;
  apex: boolean;
  caa?: CaaVerdict;
}
export interface Refuted {
  kind: 'Refuted';
  reason: ReasonName;
  /** Without a time: {@link told} adds until when resolvers may repeat the old answer. */
  message: string;
  /** Of the CNAME or the ALIAS. */
  state: RecordState;
  observed: string[];
  /** Of the TXT, where that was asked for. */
  txt?: {state: RecordState; observed: string[]};
  apex: boolean;
  /** For how long from the check on resolvers may repeat what was seen, by the zone's own servers. */
  oldAnswerSeconds?: number;
}
export interface Unknown {
  kind: 'Unknown';
  reason: ReasonName;
  message: string;
  apex: boolean;
}

/** Whether a verdict is the zone's own "no": what most resolvers do not see yet is none. */
export const denies = (verdict: Verdict) => verdict.kind === 'Refuted' && verdict.reason !== 'PropagationPending';

/** DNS data is attacker input: what is not printable ASCII is written as \DDD (RFC 1035, 5.1), and long data is cut. */
export function printable(data: string): string {
  const safe = [...Buffer.from(data.slice(0, 254), 'utf8')]
    .map((b) => (b > 32 && b < 127 ? String.fromCharCode(b) : `\\${String(b).padStart(3, '0')}`))
    .join('');
  return safe.length > 253 ? `${safe.slice(0, 250)}...` : safe;
}

const mostObserved = 16;
const clock = / Resolvers may repeat the old answer until [-: 0-9]+ UTC\.$/;
/** BIND's and unbound's longest is a day or a week, whatever a record says. */
const longestRepeatSeconds = 7 * 86_400;

/**
 * A verdict's message with its time: `... Resolvers may repeat the old answer until 14:32 UTC.` The time is fixed when a thing is
 * first told; while the same is to be told (`before`), it is told in the same words, so that equal facts leave status as it is.
 * `at`: when the check was made, ms since the epoch.
 */
export function told(verdict: Refuted | Unknown, at: number, before?: {reason: string; message: string}): string {
  if (before && sameBesidesTime(before, verdict)) return before.message;
  const seconds = verdict.kind === 'Refuted' ? Math.min(verdict.oldAnswerSeconds ?? 0, longestRepeatSeconds) : 0;
  if (seconds < 60) return verdict.message;
  const until = new Date(Math.ceil((at + seconds * 1000) / 60_000) * 60_000).toISOString();
  const sameDay = until.slice(0, 10) === new Date(at).toISOString().slice(0, 10);
  return `${verdict.message} Resolvers may repeat the old answer until ${sameDay ? `${until.slice(11, 16)} UTC` : minuteOf(until)}.`;
}

/** Whether two say the same, apart from until when resolvers may repeat the old answer. */
export const sameBesidesTime = (one: {reason: string; message: string}, other: {reason: string; message: string}) =>
  one.reason === other.reason && one.message.replace(clock, '') === other.message.replace(clock, '');

/** Addresses and CIDRs, of each family on its own: a BlockList takes an IPv4-mapped IPv6 address for the IPv4 one. */
interface Edge {
  v4: BlockList;
  v6: BlockList;
}
const edges = new WeakMap<readonly string[], Edge>();
function edgeOf(addresses: readonly string[]): Edge {
  let edge = edges.get(addresses);
  if (!edge) {
    edge = {v4: new BlockList(), v6: new BlockList()};
    for (const written of addresses) {
      const [address = '', prefix] = written.split('/');
      const [list, family, bits] = address.includes(':')
        ? ([edge.v6, 'ipv6', 128] as const)
        : ([edge.v4, 'ipv4', 32] as const);
      list.addSubnet(address, prefix === undefined ? bits : Number(prefix), family);
    }
    edges.set(addresses, edge);
  }
  return edge;
}

/** Whether an address is the edge's. */
function isOfEdge(address: string, {edgeAddresses}: Rules): boolean {
  if (isIPv4(address)) return edgeOf(edgeAddresses).v4.check(address, 'ipv4');
  return isIPv6(address) && edgeOf(edgeAddresses).v6.check(address, 'ipv6');
}

/** What is judged, and what is known of it whoever answers. */
interface Case {
  question: Question;
  rules: Rules;
  apex: boolean;
  wildcard: boolean;
}

/** What was seen of the TXT: values, a CNAME in its place, or why nothing could be. Undefined: not asked. */
type Challenge = {txt: string[]; cname: string[]} | {unknown: Pick<Unknown, 'reason' | 'message'>} | undefined;

const apexOf = (question: Question, seen: Observation) =>
  seen.zone === question.hostname || isApexByName(question.hostname);

const bounded = (records: string[]) => records.toSorted().slice(0, mostObserved);
const few = (records: string[]) =>
  records.slice(0, 4).join(', ') + (records.length > 4 ? ` and ${records.length - 4} more` : '');

/** The verdict over what one server answered. The *first* CNAME must be the target: a chain proves nothing about who set it. */
function judge(c: Case, f: Finding, challenge: Challenge): Verdict {
  const {
    question: {hostname, target},
    rules,
    apex,
  } = c;
  const name = shown(hostname);
  // A record at the name itself counts before a wildcard (RFC 4592, 2.2.1): nothing has to go.
  const [by, instead] = c.wildcard ? [' by a wildcard record', '; it counts before the wildcard'] : ['', ''];
  const wanted = instruction(c.question, apex, rules.edgeAddresses);
  const refuted = (
    reason: ReasonName,
    state: RecordState,
    observed: string[],
    message: string,
    seconds = f.ttlSeconds,
  ): Refuted => ({
    kind: 'Refuted',
    reason,
    message,
    state,
    observed,
    apex,
    ...(seconds !== undefined && {oldAnswerSeconds: seconds}),
  });
  const [cname] = f.cname;
  if (cname !== undefined) {
    const observed = bounded(f.cname.map((to) => `CNAME ${printable(to)}`));
    if (f.cname.length === 1 && cname === target) return {kind: 'Proven', by: 'CNAME', apex};
    return f.chain.includes(target)
      ? refuted(
          'IndirectCNAME',
          'Wrong',
          observed,
          `${name} is a CNAME to ${printable(cname)}${by}, which leads on to the host. Point it straight there: ${c.wildcard ? 'create' : 'change it to'} ${wanted}${instead}.`,
        )
      : refuted(
          'TargetMismatch',
          'Wrong',
          observed,
          `${name} is a CNAME to ${printable(cname)}${by}. ${c.wildcard ? 'Create' : 'Change it to'} ${wanted}${instead}.`,
        );
  }
  const addresses = [...f.a.map((a) => `A ${printable(a)}`), ...f.aaaa.map((a) => `AAAA ${printable(a)}`)].toSorted();
  const seen = few(addresses);
  if (addresses.length === 0) {
    return refuted(
      'RecordMissing',
      'Missing',
      [],
      `${name} has no ${apex ? 'address' : 'record'}. Create ${wanted}.`,
      f.negativeTtlSeconds,
    );
  }
  const strange = [f.a, f.aaaa].map((family) => family.filter((a) => !isOfEdge(a, rules)));
  if (strange.some((family) => family.length > 0)) {
    const them = addresses.length > 1 ? 'them' : 'it';
    if (!apex)
      return refuted(
        'ConflictingRecord',
        'Conflicting',
        bounded(addresses),
        `${name} has ${seen}${by} and no CNAME. ${c.wildcard ? 'Create' : `Delete ${them} and create`} ${wanted}${instead}.`,
      );
    const [reason, type, wrong] =
      strange[0]!.length > 0
        ? (['ConflictingA', 'A', strange[0]!] as const)
        : (['ConflictingAAAA', 'AAAA', strange[1]!] as const);
    const named = few(wrong.map((a) => `${type} ${printable(a)}`).toSorted());
    return refuted(
      reason,
      'Conflicting',
      bounded(addresses),
      `${name} has ${named}, which ${wrong.length > 1 ? 'are' : 'is'} not the edge's. Delete ${wrong.length > 1 ? 'them' : 'it'}; needed there: ${wanted}.`,
    );
  }
  if (apex && rules.addressOnly) return {kind: 'Proven', by: 'Addresses', apex};
  const hides = c.wildcard
    ? `${by} and no CNAME. Create ${wanted}${instead}`
    : ` and no CNAME: a proxy or a flattened record hides it. Switch that off and create ${wanted}`;
  const or = canProveByTxt(c.question) ? `; or leave it and create ${sayRecords([txtRecord(c.question, apex)])}` : '';
  return judgeTxt(c, challenge, (reason, message, txt) => ({
    ...refuted(
      reason,
      apex ? 'Found' : 'Conflicting',
      bounded(addresses),
      message ?? `${name} has the edge's address (${seen})${hides}${or}.`,
    ),
    ...(txt && {txt}),
  }));
}

/** The verdict over a name that has the edge's addresses: the TXT decides, because addresses prove no tenant. */
function judgeTxt(
  {question, apex}: Case,
  challenge: Challenge,
  refuted: (reason: ReasonName, message?: string, txt?: Refuted['txt']) => Refuted,
): Verdict {
  const name = shown(question.hostname);
  if (!canProveByTxt(question))
    return apex
      ? refuted('TXTMissing', `${name} has the edge's addresses, which prove no tenant, and cannot be proven by TXT.`)
      : refuted('ProxiedOrFlattened');
  const at = challengeName(question.hostname);
  const wanted = sayRecords([txtRecord(question, apex)]);
  if (challenge && 'unknown' in challenge) return {kind: 'Unknown', ...challenge.unknown, apex};
  const {txt, cname} = challenge ?? {txt: [], cname: []};
  if (cname.length === 0 && txt.includes(question.token)) return {kind: 'Proven', by: 'TXT', apex};
  const observed = bounded([
    ...cname.map((to) => `CNAME ${printable(to)}`),
    ...txt.map((value) => `TXT ${printable(value)}`),
  ]);
  if (observed.length > 0) {
    return refuted(
      'TXTMismatch',
      `${name} has the edge's addresses, but ${at} has ${observed.slice(0, 2).join(', ')}${observed.length > 2 ? ` and ${observed.length - 2} more` : ''}. Needed there: ${wanted}.`,
      {state: 'Wrong', observed},
    );
  }
  const missing = {state: 'Missing', observed: []} as const;
  return apex
    ? refuted(
        'TXTMissing',
        `${name} has the edge's addresses, which prove no tenant, and there is no TXT at ${at}. Create ${wanted}.`,
        {...missing, observed: []},
      )
    : refuted('ProxiedOrFlattened', undefined, {...missing, observed: []});
}

const serverNames = (findings: readonly Finding[]) =>
  [
    ...new Set(
      findings.map((f) => (f.server.name ? `${printable(f.server.name)} (${f.server.address})` : f.server.address)),
    ),
  ]
    .toSorted()
    .slice(0, 4)
    .join(', ');

const unreachable = new Set(['Timeout', 'Unreachable']);

const answered = (seen: Observation) => seen.findings.filter((f) => f.failure === undefined);

/** Why the zone's own servers told nothing about a name. */
function couldNotAsk(
  name: string,
  zone: string,
  seen: Observation,
  wanted: string,
): Pick<Unknown, 'reason' | 'message'> {
  const failures = [
    ...new Set(
      seen.findings
        .map((f) => f.failure ?? '')
        .concat(seen.failure?.failure ?? [])
        .filter((f) => f !== ''),
    ),
  ].toSorted();
  const servers = serverNames(seen.findings);
  const who = servers === '' ? `the name servers of ${zone}` : `the name servers of ${zone}, ${servers},`;
  return failures.every((f) => unreachable.has(f))
    ? {
        reason: 'AuthoritativeUnreachable',
        message:
          `${name} could not be checked: ${who} did not answer (${failures.join(', ') || 'none found'}). ` +
          `Their owner must bring them back; if none of any zone answers, the platform must allow port 53 outward. Needed there: ${wanted}.`,
      }
    : {
        reason: 'AuthoritativeFailure',
        message: `${name} could not be checked: ${who} failed (${failures.join(', ')}). Mend the zone at the DNS provider. Needed there: ${wanted}.`,
      };
}

const byMessage = (a: Verdict, b: Verdict) => {
  const [one, other] = [a, b].map((v) => (v.kind === 'Proven' ? '' : v.message));
  return one === other ? oldAnswer(b) - oldAnswer(a) : one! < other! ? -1 : 1;
};
const oldAnswer = (v: Verdict) => (v.kind === 'Refuted' ? (v.oldAnswerSeconds ?? 0) : 0);

/** The TXT as the zone's own servers have it: where they disagree, as the one that proves least. */
function authoritativeChallenge(
  question: Question,
  zone: string,
  wanted: string,
  seen: Observation | undefined,
): Challenge {
  if (!seen) return undefined;
  const answers = answered(seen);
  if (answers.length === 0) return {unknown: couldNotAsk(challengeName(question.hostname), zone, seen, wanted)};
  const all = answers.map((f) => ({txt: f.txt ?? [], cname: f.cname}));
  const lacking = all.filter(({txt, cname}) => cname.length > 0 || !txt.includes(question.token ?? ''));
  return (lacking.length > 0 ? lacking : all).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))[0];
}

/**
 * The verdict over what the zone's own servers say. At least one must answer; where they disagree, the one without the
 * record counts, because any of them may be asked next.
 */
export function judgeAuthoritative(question: Question, rules: Rules, seen: Observation): Verdict {
  const c: Case = {question, rules, apex: apexOf(question, seen), wildcard: seen.wildcard ?? false};
  const zone = printable(seen.zone ?? recordName(question.hostname).zone);
  const wanted = instruction(question, c.apex, rules.edgeAddresses);
  const answers = answered(seen);
  if (answers.length === 0)
    return {kind: 'Unknown', ...couldNotAsk(shown(question.hostname), zone, seen, wanted), apex: c.apex};
  const challenge = authoritativeChallenge(question, zone, wanted, seen.challenge);
  // The servers of a zone come in any order: of several ways to be wrong, always the same is told.
  const verdicts = answers.map((f) => judge(c, f, challenge)).toSorted(byMessage);
  return (
    verdicts.find((v) => v.kind === 'Refuted') ??
    verdicts.find((v) => v.kind === 'Unknown') ??
    verdicts.find((v) => v.kind === 'Proven' && v.by !== 'CNAME') ??
    verdicts[0]!
  );
}

/** Whether the TXT is worth asking for: the verdict could depend on it. */
export function needsChallenge(question: Question, rules: Rules, seen: Observation): boolean {
  if (!canProveByTxt(question)) return false;
  const apex = apexOf(question, seen);
  return answered(seen).some(
    (f) =>
      f.cname.length === 0 &&
      f.a.length + f.aaaa.length > 0 &&
      !(apex && rules.addressOnly) &&
      [...f.a, ...f.aaaa].every((a) => isOfEdge(a, rules)),
  );
}

const sameServer = ({server: one}: Finding, {server: other}: Finding) =>
  one.address === other.address && one.port === other.port;

/** What each resolver that could be asked thereby says; and how many found that the name fails DNSSEC's validation (RFC 4035, 5). */
function votes(c: Case, seen: Observation): {said: (Proven | Refuted)[]; bogus: Finding[]} {
  const said: (Proven | Refuted)[] = [];
  const bogus: Finding[] = [];
  for (const f of seen.findings) {
    const txt = seen.challenge?.findings.find((t) => sameServer(t, f));
    if (f.failure === 'BrokenDnssec' || (f.failure === undefined && txt?.failure === 'BrokenDnssec')) bogus.push(f);
    if (f.failure !== undefined) continue;
    const challenge: Challenge =
      txt &&
      (txt.failure === undefined
        ? {txt: txt.txt ?? [], cname: txt.cname}
        : {unknown: {reason: 'ResolverFailure', message: ''}});
    const verdict = judge(c, f, challenge);
    if (verdict.kind !== 'Unknown') said.push(verdict);
  }
  return {said, bogus};
}

function brokenDnssec({question, apex}: Case, seen: string, bogus: readonly Finding[], zone: string): Unknown {
  return {
    kind: 'Unknown',
    reason: 'DNSSECBroken',
    apex,
    message:
      `${shown(question.hostname)} ${seen} resolvers that validate refuse it (${serverNames(bogus)}): the DNSSEC chain of ${zone} is broken, and the certificate authority would refuse it too. ` +
      `At the registrar correct the DS record of ${zone}, or remove it; or have the DNS provider sign the zone anew.`,
  };
}

/** Seen by a resolver is that there is nothing, or not yet the TXT: a negative answer, which has its own time to live. */
const negative: ReadonlySet<string> = new Set<ReasonName>(['RecordMissing', 'TXTMissing', 'ProxiedOrFlattened']);

/**
 * The verdict of both: the zone's servers decide, then most of the recursive resolvers must agree, over verdicts and not over
 * records. Resolvers that could not be asked do not vote; where none could, nothing is known. One that refuses the name because
 * its DNSSEC chain is broken does not agree.
 */
export function judgeBoth(
  question: Question,
  rules: Rules,
  authoritative: Observation,
  recursive: Observation,
): Verdict {
  const first = judgeAuthoritative(question, rules, authoritative);
  if (first.kind !== 'Proven') return first;
  const name = shown(question.hostname);
  const c: Case = {question, rules, apex: first.apex, wildcard: false};
  const {said, bogus} = votes(c, recursive);
  if (said.length + bogus.length === 0) {
    return {
      kind: 'Unknown',
      reason: 'ResolverFailure',
      apex: first.apex,
      message: `${name} has the right record at its own servers, but no recursive resolver answered (${serverNames(recursive.findings)}). The platform must check dns.recursive.`,
    };
  }
  const agree = said.filter((v) => v.kind === 'Proven').length;
  if (agree * 2 > said.length + bogus.length) return first;
  if (agree * 2 > said.length || said.length === 0)
    return brokenDnssec(
      c,
      'has the right record at its own servers, but',
      bogus,
      printable(authoritative.zone ?? recordName(question.hostname).zone),
    );
  // Never the resolvers' own times, which tick; of an old record that some still have, the zone's servers know nothing any more.
  const allNegative = said.every((v) => v.kind === 'Proven' || negative.has(v.reason));
  const seconds = allNegative ? authoritative.negativeTtlSeconds : undefined;
  return {
    kind: 'Refuted',
    reason: 'PropagationPending',
    state: 'Found',
    observed: [],
    apex: first.apex,
    ...(seconds !== undefined && {oldAnswerSeconds: seconds}),
    message: `${name} has the right record at its own servers; most resolvers do not see it yet. Nothing is to be done.`,
  };
}

/**
 * The verdict of recursive resolvers alone (`dns.mode: RecursiveOnly`, where port 53 outward is closed): at least two must
 * have answered, and most of those that did, two at least, must say the same.
 */
export function judgeRecursive(question: Question, rules: Rules, seen: Observation): Verdict {
  const name = shown(question.hostname);
  const c: Case = {question, rules, apex: apexOf(question, seen), wildcard: seen.wildcard ?? false};
  const {said, bogus} = votes(c, seen);
  const total = said.length + bogus.length;
  const most = (count: number) => count >= 2 && count * 2 > total;
  const proofs = said.filter((v) => v.kind === 'Proven');
  // A resolver's own times tick.
  const refusals = said.flatMap((v) => (v.kind === 'Refuted' ? withoutTime(v) : []));
  if (most(proofs.length)) return proofs.find((v) => v.by !== 'CNAME') ?? proofs[0]!;
  if (most(refusals.length)) return refusals.toSorted(byMessage)[0]!;
  if (bogus.length >= 2 || (bogus.length > 0 && total >= 2))
    return brokenDnssec(c, 'cannot be verified:', bogus, printable(seen.zone ?? recordName(question.hostname).zone));
  if (total < 2) {
    return {
      kind: 'Unknown',
      reason: 'ResolverFailure',
      apex: c.apex,
      message: `${name} could not be checked: of the recursive resolvers (${serverNames(seen.findings)}) two at least must answer. The platform must check dns.recursive. Needed: ${instruction(question, c.apex, rules.edgeAddresses)}.`,
    };
  }
  return {
    kind: 'Refuted',
    reason: 'PropagationPending',
    state: 'Unknown',
    observed: [],
    apex: c.apex,
    message: `${name} has the right record by some resolvers, not yet by most of them. Needed: ${instruction(question, c.apex, rules.edgeAddresses)}.`,
  };
}

function withoutTime(verdict: Refuted): Refuted {
  const {...copy} = verdict;
  delete copy.oldAnswerSeconds;
  return copy;
}

/** Reasons that a wildcard could be behind. */
const byWildcard: ReadonlySet<string> = new Set<ReasonName>([
  'ConflictingRecord',
  'ProxiedOrFlattened',
  'TargetMismatch',
  'IndirectCNAME',
]);

/** Whether it is worth asking for a name beside the hostname; at a zone's apex a wildcard above has no effect (RFC 4592, 4.2). */
export const mayBeWildcard = (verdict: Verdict) =>
  verdict.kind === 'Refuted' && !verdict.apex && byWildcard.has(verdict.reason);

/** Whether a name that nobody made (`beside`) has a record in common with the hostname. */
export function isWildcard(seen: Observation, beside: Observation): boolean {
  const records = ({findings}: Observation) => new Set(findings.flatMap((f) => [...f.cname, ...f.a, ...f.aaaa]));
  return !records(seen).isDisjointFrom(records(beside));
}
