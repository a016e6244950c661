/**
 * A check of one name: the zone's own servers are asked, then the resolvers, then what only matters then.
 *
 *   authoritative: CNAME, A, AAAA -> TXT where addresses of the edge or a CDN leave it open
 *                  -> names below and beside it where a wildcard may be behind -> other types where a CNAME would be created
 *                  -> where a missing record often stands by mistake
 *   proven there:  the resolvers the same; asked earlier, they would keep "there is none" (RFC 2308)
 *   proven by both, or as it was for all that can be seen, and an order would follow: CAA
 *   proven by addresses, and the tenant's already: HTTPS records
 */
import type {DnsClient, DnsWanted} from '../../dns/client.ts';
import {Inquiry} from '../../dns/inquiry.ts';
import type {CertificateAuthority} from '../../domain/certificates/caa.ts';
import {judgeCaa} from '../../domain/certificates/caa.ts';
import type {Observation, ProvenBy, VerificationRules, Verdict} from '../../domain/verification/method.ts';
import {mayBeVerified} from '../../domain/verification/method.ts';
import {
  judgeAuthoritative,
  judgeBoth,
  judgeRecursive,
  needsChallenge,
  weighDisagreement,
} from '../../domain/verification/verdict.ts';
import {httpsTargets, mayHaveHttps, withHttps} from '../../domain/verification/https-record.ts';
import {areAlike, mayBeWildcard, mayHaveOtherTypes, typesIn} from '../../domain/verification/surroundings.ts';
import type {CheckedQuestion, Question} from '../../domain/verification/records.ts';
import {challengeName} from '../../domain/verification/records.ts';
import {misplacedRecordsOf, withMisplacedRecord} from '../../domain/verification/misplaced-record.ts';

/** Whether the zone's own servers are asked, or (where port 53 outward is closed) recursive resolvers alone. */
export type DnsMode = 'Authoritative' | 'RecursiveOnly';

export interface CheckOptions {
  dns: Pick<DnsClient, 'askAuthoritative' | 'askRecursive' | 'askNegativeTtl' | 'askCaa'>;
  rules: VerificationRules;
  mode: DnsMode;
  /** By the names of their issuers, the preferred one first. */
  cas: () => readonly (CertificateAuthority & {issuer: string})[];
}

/**
 * Checks one hostname. `caa`: includes its CAA records if it is verified or may still be verified. The whole check has one time limit;
 * queries without an answer by then are reported as timeouts, with the question. Rejects only for a fault of ours.
 */
export async function check(
  {dns, rules, mode, cas}: CheckOptions,
  {owned, ...question}: CheckedQuestion,
  caa: boolean,
  inquiry = new Inquiry(),
): Promise<Verdict> {
  const {hostname} = question;
  const authoritatively = (name: string, wanted: DnsWanted) => dns.askAuthoritative(name, wanted, inquiry);
  const recursively = (name: string, wanted: DnsWanted) => dns.askRecursive(name, wanted, inquiry);

  const about = {question, rules, randomLabel: inquiry.randomLabel};
  let verdict: Verdict;
  let seen: Observation;
  if (mode === 'RecursiveOnly') {
    ({verdict, seen} = await look(recursively, (answers) => judgeRecursive(question, rules, answers), about));
  } else {
    const authoritative = await look(authoritatively, (answers) => judgeAuthoritative(question, rules, answers), about);
    ({verdict, seen} = authoritative);
    const asResolversSee = async (): Promise<Observation> => {
      const atHost = await recursively(hostname, 'Host');
      return authoritative.seen.challenge
        ? {...atHost, challenge: await recursively(challengeName(hostname), 'TXT')}
        : atHost;
    };
    if (verdict.kind === 'Refuted' && verdict.reason === 'NameServersDisagree' && owned) {
      const answers = {authoritative: authoritative.seen, recursive: await asResolversSee()};
      verdict = weighDisagreement(question, rules, verdict, answers);
    } else if (verdict.kind === 'Proven') {
      const recursive = await asResolversSee();
      verdict = judgeBoth(question, rules, authoritative.seen, recursive);
      if (verdict.kind === 'Refuted' && authoritative.seen.zone !== undefined) {
        const negativeTtlSeconds = await dns.askNegativeTtl(authoritative.seen.zone, inquiry);
        if (negativeTtlSeconds !== undefined)
          verdict = judgeBoth(question, rules, {...authoritative.seen, negativeTtlSeconds}, recursive);
      }
    }
  }
  // CAA is checked before the order, so that no order fails at the CA.
  if (caa && mayBeVerified(verdict)) {
    const records = await dns.askCaa(hostname, inquiry);
    // A CA without known names is not checked: it checks CAA itself (RFC 8659, 3).
    const known = cas().filter(({identities}) => identities.length > 0);
    const judged = known.map((ca) => [ca.issuer, judgeCaa(hostname, records, ca)] as const);
    if (judged[0]) verdict = {...verdict, caa: judged[0][1], caaOf: Object.fromEntries(judged)};
  }
  return owned && mayHaveHttps(verdict) ? followHttps({dns, rules, mode}, question, {verdict, seen}, inquiry) : verdict;
}

/** Of these questions nothing depends but a warning. */
const longestHttpsMs = 2_000;

/** Adds where the hostname's HTTPS records lead browsers. */
async function followHttps(
  {dns, rules, mode}: Omit<CheckOptions, 'cas'>,
  question: Question,
  {verdict, seen}: {verdict: ProvenBy; seen: Observation},
  {signal}: Inquiry,
): Promise<Verdict> {
  const inquiry = new Inquiry({totalMs: longestHttpsMs, signal});
  try {
    const asked =
      mode === 'RecursiveOnly'
        ? await dns.askRecursive(question.hostname, 'HTTPS', inquiry)
        : await dns.askAuthoritative(question.hostname, 'HTTPS', inquiry);
    const names = httpsTargets(question, asked);
    const found = names.map(async (name) => [name, await dns.askRecursive(name, 'Host', inquiry)] as const);
    return withHttps(verdict, question, rules, {seen, asked, targets: new Map(await Promise.all(found))});
  } finally {
    inquiry.end();
  }
}

type Ask = (name: string, wanted: DnsWanted) => Promise<Observation>;

/** Asks a group of servers and judges their answers, with everything else that the verdict depends on. */
async function look(
  ask: Ask,
  judge: (seen: Observation) => Verdict,
  {question, rules, randomLabel}: {question: Question; rules: VerificationRules; randomLabel: string},
): Promise<{seen: Observation; verdict: Verdict}> {
  const {hostname} = question;
  const around: Around = {ask, rules, randomLabel};
  let seen = await ask(hostname, 'Host');
  if (await isMadeUp(around, question, seen)) seen = {...seen, madeUp: true};
  if (needsChallenge(question, rules, seen)) seen = {...seen, challenge: await ask(challengeName(hostname), 'TXT')};
  if (mayBeWildcard(judge(seen))) seen = await withWildcard(around, hostname, seen, 'Host');
  if (mayHaveOtherTypes(judge(seen), seen)) {
    const others = await ask(hostname, 'OtherTypes');
    const types = typesIn(others);
    if (types.length > 0) {
      const {wildcard} = await withWildcard(around, hostname, {...others, types}, 'OtherTypes');
      seen = {...seen, types, ...(wildcard !== undefined && {wildcard})};
    }
  }
  return {seen, verdict: await misplaced(ask, question, judge(seen))};
}

/** How names beside and below the hostname are asked for. */
interface Around {
  ask: Ask;
  rules: VerificationRules;
  /** A label that no existing name has. */
  randomLabel: string;
}

const parentOf = (name: string) => name.slice(name.indexOf('.') + 1);

/**
 * Whether the server makes CNAMEs for all names beside the hostname, with each name's first label in the value. A DNAME record in
 * the answer shows the same; some server programs make CNAMEs without one.
 */
async function isMadeUp(
  {ask, randomLabel}: Around,
  {hostname, target}: Question,
  {findings}: Observation,
): Promise<boolean> {
  if (hostname.split('.')[0] !== target.split('.')[0] || findings.every(({cname}) => cname[0] !== target)) return false;
  const beside = await ask(`${randomLabel}.${parentOf(hostname)}`, 'Host');
  return beside.findings.some(({cname}) => cname[0] === `${randomLabel}.${parentOf(target)}`);
}

/** Labels above a hostname at which a wildcard is looked for. */
const mostLabels = 8;

/**
 * Adds the wildcard, if a wildcard gives the records. A wildcard answers for names below and beside the hostname alike. A record at
 * the hostname itself ends the wildcard below it, where another wildcard may exist (RFC 4592, 3.3.1). Names between the wildcard and the
 * hostname have the wildcard's records too, unless they exist.
 */
async function withWildcard(
  {ask, rules, randomLabel}: Around,
  hostname: string,
  seen: Observation,
  wanted: DnsWanted,
): Promise<Observation> {
  const at = async (name: string) => {
    const observed = await ask(name, wanted);
    return areAlike(seen, {...observed, types: typesIn(observed)}, rules);
  };
  const ofRandom = (above: string) => at(`${randomLabel}.${above}`);
  let wildcard = parentOf(hostname);
  if (!(await ofRandom(hostname)) || !(await ofRandom(wildcard))) return seen;
  for (let i = 0; i < mostLabels && wildcard !== seen.zone && parentOf(wildcard).includes('.'); i++) {
    if (!(await at(wildcard)) || !(await ofRandom(parentOf(wildcard)))) break;
    wildcard = parentOf(wildcard);
  }
  return {...seen, wildcard};
}

/** Adds the misplaced record to a verdict if the missing record is found at another name. */
async function misplaced(ask: Ask, question: Question, verdict: Verdict): Promise<Verdict> {
  if (verdict.kind !== 'Refuted') return verdict;
  for (const misplacedRecord of misplacedRecordsOf(question, verdict)) {
    const {findings} = await ask(misplacedRecord.name, misplacedRecord.wanted);
    if (findings.some((f) => f.failure === undefined && misplacedRecord.is(f)))
      return withMisplacedRecord(verdict, misplacedRecord);
  }
  return verdict;
}
