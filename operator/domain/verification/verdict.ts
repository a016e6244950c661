/**
 * Judges whether DNS verifies a name for a Project, from the findings of all servers. Pure: no queries are sent. Without answers the
 * verdict is Unknown, which never counts as a negative (rule 3).
 */

import {isApexByName, recordName, registrableName, shown, within} from '../hostnames/hostname.ts';
import type {
  Case,
  Challenge,
  Finding,
  Observation,
  ProvenBy,
  Refuted,
  VerificationRules,
  Unknown,
  Verdict,
} from './method.ts';
import {instruction, judge, needsTxt} from './methods.ts';
import {refuted} from './method.ts';
import {couldNotAsk, serverNames} from './could-not-ask.ts';
import {providerOf} from './providers.ts';
import {reasons} from '../reasons/reasons.ts';
import type {RecordPlace, Question} from './records.ts';
import {challengeName} from './records.ts';
import {printable} from '../text.ts';

const caseOf = (
  question: Question,
  rules: VerificationRules,
  place: RecordPlace,
  {wildcard, types = [], madeUp}: Pick<Observation, 'wildcard' | 'types' | 'madeUp'> = {},
): Case => ({
  question,
  rules,
  place,
  wildcard,
  types,
  madeUp: madeUp === true,
  wanted: instruction(question, place, rules),
});

const apexOf = (question: Question, seen: Observation) =>
  seen.zone === question.hostname || isApexByName(question.hostname);

const mostNameServers = 8;

/**
 * The place at which the records are created. A zone cut above the registrable name is not the customer's zone: an unregistered name is in
 * the zone of its top-level domain.
 */
function placeOf(question: Question, seen: Observation): RecordPlace {
  const {zone: name, nameServers = [], types = [], wildcard} = seen;
  const apex = apexOf(question, seen);
  const kind = {apex, ...(!apex && wildcard === undefined && types.length > 0 && {noCname: true as const})};
  if (name === undefined || nameServers.length === 0 || !within(name, registrableName(question.hostname))) return kind;
  const provider = providerOf(nameServers);
  return {
    ...kind,
    zone: {
      name,
      nameServers: nameServers.map(printable).toSorted().slice(0, mostNameServers),
      ...(provider !== undefined && {provider}),
    },
  };
}

/** The place alone, of whatever has one. */
const samePlace = ({apex, noCname, zone}: RecordPlace): RecordPlace => ({
  apex,
  ...(noCname && {noCname}),
  ...(zone && {zone}),
});

const answered = (seen: Observation) => seen.findings.filter((f) => f.failure === undefined);

const byMessage = (a: Verdict, b: Verdict) => {
  const [one, other] = [a, b].map((v) => (v.kind === 'Proven' ? '' : v.message));
  return one === other ? oldAnswer(b) - oldAnswer(a) : one! < other! ? -1 : 1;
};

const oldAnswer = (v: Verdict) => (v.kind === 'Refuted' ? (v.oldAnswerSeconds ?? 0) : 0);

const asChallenge = ({txt = [], cname, dname}: Finding) => ({txt, cname, ...(dname && {dname})});

/** The TXT according to the zone's own servers. If they disagree, the answer that proves least counts. */
function authoritativeChallenge(
  question: Question,
  zone: string,
  wanted: string,
  seen: Observation | undefined,
): Challenge {
  if (!seen) return undefined;
  const answers = answered(seen);
  if (answers.length === 0) return {unknown: couldNotAsk(challengeName(question.hostname), zone, seen, wanted)};
  const all = answers.map(asChallenge);
  const lacking = all.filter(({txt, cname}) => cname.length > 0 || !txt.includes(question.token ?? ''));
  return (lacking.length > 0 ? lacking : all).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))[0];
}

/** The TXT records of the server that gave this finding. Returns `least` if a server answered for the TXT only. */
function challengeAt(found: Finding, answers: readonly Finding[], seen: Observation, least: Challenge): Challenge {
  const told = seen.challenge ? answered(seen.challenge) : [];
  if (told.some((txt) => !answers.some((host) => sameServer(host, txt)))) return least;
  const own = told.find((txt) => sameServer(txt, found));
  return own ? asChallenge(own) : least;
}

/** While the edge's addresses are unknown, addresses of a name neither verify nor refute it (rule 3). */
function withoutEdge({question, rules, place, wanted}: Case, seen: Observation): Unknown | undefined {
  const leadsByAddress = answered(seen).some((f) => f.cname.length === 0 && f.a.length + f.aaaa.length > 0);
  if (rules.edgeAddresses.length > 0 || !leadsByAddress) return undefined;
  return {
    kind: 'Unknown',
    reason: 'NoEdgeAddress',
    ...place,
    message:
      `${shown(question.hostname)} has addresses, but Doorplate does not know the edge's addresses yet. ` +
      `The platform must give its edge an address. Required: ${wanted}.`,
  };
}

/**
 * Not all servers of the zone have the right record: visitors and the certificate authority get either answer. The customer's
 * records are right, so only the DNS provider can do something.
 */
function disagreement(c: Case, seen: readonly {found: Finding; verdict: Verdict}[], zone: string): Refuted | undefined {
  const having = seen.filter(({verdict}) => verdict.kind === 'Proven').map(({found}) => found);
  const lacking = seen.filter(({verdict}) => verdict.kind === 'Refuted').map(({found}) => found);
  if (having.length === 0 || lacking.length === 0) return undefined;
  const message =
    `${shown(c.question.hostname)} has the right record at ${serverNames(having)}, but not at ${serverNames(lacking)}: ` +
    `the name servers of ${zone} have different versions of the zone. This usually ends within minutes. If it does ` +
    'not, ask the DNS provider to update all of them, or remove the name servers of a former provider at the registrar.';
  const details = {servers: serverNames(lacking)};
  return {...refuted(c, 'NameServersDisagree', {state: 'Found', observed: []}, message), details};
}

/**
 * The verdict over what the zone's own servers say. At least one must answer; where they disagree, the one without the
 * record counts, because any of them may be asked next.
 */
export function judgeAuthoritative(question: Question, rules: VerificationRules, seen: Observation): Verdict {
  const place = placeOf(question, seen);
  const c = caseOf(question, rules, place, seen);
  const zone = printable(seen.zone ?? recordName(question.hostname).zone);
  const wanted = instruction(question, place, rules);
  const answers = answered(seen);
  if (answers.length === 0)
    return {kind: 'Unknown', ...couldNotAsk(shown(question.hostname), zone, seen, wanted), ...place};
  const unknown = withoutEdge(c, seen);
  if (unknown) return unknown;
  const challenge = authoritativeChallenge(question, zone, wanted, seen.challenge);
  // The servers of a zone come in any order: of several ways to be wrong, always the same is told.
  const each = answers.map((found) => ({
    found,
    verdict: judge(c, found, challengeAt(found, answers, seen, challenge)),
  }));
  const split = disagreement(c, each, zone);
  if (split) return split;
  const verdicts = each.map(({verdict}) => verdict).toSorted(byMessage);
  return (
    verdicts.find((v) => v.kind === 'Refuted') ??
    verdicts.find((v) => v.kind === 'Unknown') ??
    verdicts.find((v) => v.kind === 'Proven' && v.by !== 'CNAME') ??
    verdicts[0]!
  );
}

/** Whether the TXT is worth asking for: the verdict could depend on it. */
export const needsChallenge = (question: Question, rules: VerificationRules, seen: Observation): boolean =>
  answered(seen).some((found) => needsTxt(question, rules, apexOf(question, seen), found));

const sameServer = ({server: one}: Finding, {server: other}: Finding) =>
  one.address === other.address && one.port === other.port;

/** The verdict of each resolver that could be asked, and the number of resolvers that report a DNSSEC validation failure (RFC 4035, 5). */
function votes(c: Case, seen: Observation): {said: (ProvenBy | Refuted)[]; bogus: Finding[]} {
  const said: (ProvenBy | Refuted)[] = [];
  const bogus: Finding[] = [];
  for (const f of seen.findings) {
    const txt = seen.challenge?.findings.find((t) => sameServer(t, f));
    if (f.failure === 'BrokenDnssec' || (f.failure === undefined && txt?.failure === 'BrokenDnssec')) bogus.push(f);
    if (f.failure !== undefined) continue;
    const challenge: Challenge =
      txt && (txt.failure === undefined ? asChallenge(txt) : {unknown: {reason: 'ResolverFailure', message: ''}});
    const verdict = judge(c, f, challenge);
    if (verdict.kind !== 'Unknown') said.push(verdict);
  }
  return {said, bogus};
}

const countProven = (verdicts: readonly Verdict[]) => verdicts.filter(({kind}) => kind === 'Proven').length;

/**
 * A disagreement of the zone's servers about a hostname that its tenant owns. It is no negative if at most half of the servers that
 * answered lack the record and most resolvers see it: visitors reach the hostname.
 */
export function weighDisagreement(
  question: Question,
  rules: VerificationRules,
  verdict: Refuted,
  {authoritative, recursive}: {authoritative: Observation; recursive: Observation},
): Refuted {
  const c = caseOf(question, rules, samePlace(verdict));
  const each = votes(c, authoritative).said;
  const {said, bogus} = votes(c, recursive);
  const holds = countProven(each) * 2 >= each.length && countProven(said) * 2 > said.length + bogus.length;
  return holds ? {...verdict, isMinority: true} : verdict;
}

function brokenDnssec({question, place}: Case, seen: string, bogus: readonly Finding[], zone: string): Unknown {
  return {
    kind: 'Unknown',
    reason: 'DNSSECBroken',
    ...place,
    message:
      `${shown(question.hostname)} ${seen} validating resolvers refuse it (${serverNames(bogus)}): ` +
      `the DNSSEC chain of ${zone} is broken. The certificate authority would refuse it, ` +
      `too. At the registrar, correct the DS record of ${zone}, or remove it to switch DNSSEC off; ` +
      'or ask the DNS provider to sign the zone again.',
  };
}

/**
 * The verdict of both groups: the zone's servers decide, then most of the recursive resolvers must agree on the verdict. Resolvers that
 * could not be asked do not vote; if none could be asked, the verdict is Unknown. A resolver that refuses the name because its DNSSEC chain
 * is broken does not agree.
 */
export function judgeBoth(
  question: Question,
  rules: VerificationRules,
  authoritative: Observation,
  recursive: Observation,
): Verdict {
  const first = judgeAuthoritative(question, rules, authoritative);
  if (first.kind !== 'Proven') return first;
  const name = shown(question.hostname);
  const place = samePlace(first);
  const c = caseOf(question, rules, place);
  const {said, bogus} = votes(c, recursive);
  if (said.length + bogus.length === 0) {
    return {
      kind: 'Unknown',
      reason: 'ResolverFailure',
      ...place,
      message:
        `${name} has the right record at its own servers, but no recursive resolver answered ` +
        `(${serverNames(recursive.findings)}). The platform must check dns.recursive.`,
    };
  }
  const agree = countProven(said);
  if (agree * 2 > said.length + bogus.length) return first;
  if (agree * 2 > said.length || said.length === 0)
    return brokenDnssec(
      c,
      'has the right record at its own servers, but',
      bogus,
      printable(authoritative.zone ?? recordName(question.hostname).zone),
    );
  // Never the resolvers' own times, which tick; of an old record that some still have, the zone's servers know nothing any more.
  const allNegative = said.every((v) => v.kind === 'Proven' || reasons[v.reason].isNegativeAnswer);
  const seconds = allNegative ? authoritative.negativeTtlSeconds : undefined;
  return {
    kind: 'Refuted',
    reason: 'PropagationPending',
    state: 'Found',
    observed: [],
    ...place,
    ...(seconds !== undefined && {oldAnswerSeconds: seconds}),
    message: `${name} has the right record at its own servers; most resolvers still give older answers. No action is needed.`,
  };
}

/**
 * The verdict of recursive resolvers alone (`dns.mode: RecursiveOnly`, for clusters without outbound port 53). At least two resolvers must
 * answer, and a majority of at least two must agree.
 */
export function judgeRecursive(question: Question, rules: VerificationRules, seen: Observation): Verdict {
  const name = shown(question.hostname);
  const place = placeOf(question, seen);
  const c = caseOf(question, rules, place, seen);
  const unknown = withoutEdge(c, seen);
  if (unknown) return unknown;
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
      ...place,
      message:
        `${name} could not be checked: at least two of the recursive resolvers (${serverNames(seen.findings)}) ` +
        'must answer. The platform must check dns.recursive. ' +
        `Required: ${instruction(question, place, rules)}.`,
    };
  }
  return {
    kind: 'Refuted',
    reason: 'PropagationPending',
    state: 'Unknown',
    observed: [],
    ...place,
    message:
      `${name} has the right record at some resolvers, but not yet at most of them. ` +
      `Required: ${instruction(question, place, rules)}.`,
  };
}

function withoutTime(verdict: Refuted): Refuted {
  const {...copy} = verdict;
  delete copy.oldAnswerSeconds;
  return copy;
}
