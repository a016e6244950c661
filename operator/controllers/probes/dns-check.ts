/**
 * A check of one name: the zone's own servers are asked, then the resolvers, then what only matters then.
 *
 *   authoritative: CNAME, A, AAAA -> TXT where addresses of the edge or a CDN leave it open
 *                  -> names below and beside it where a wildcard may be behind -> where a missing record often stands by mistake
 *   proven there:  the resolvers the same; asked earlier, they would keep "there is none" (RFC 2308)
 *   proven by both, or as it was for all that can be seen, and an order would follow: CAA
 */
import type {DnsClient, DnsWanted} from '../../dns/client.ts';
import {Inquiry} from '../../dns/inquiry.ts';
import type {CertificateAuthority} from '../../domain/certificates/caa.ts';
import {judgeCaa} from '../../domain/certificates/caa.ts';
import type {Observation, VerificationRules, Verdict} from '../../domain/verification/method.ts';
import {mayBeVerified} from '../../domain/verification/method.ts';
import {
  isWildcard,
  judgeAuthoritative,
  judgeBoth,
  judgeRecursive,
  mayBeWildcard,
  needsChallenge,
} from '../../domain/verification/verdict.ts';
import type {Question} from '../../domain/verification/records.ts';
import {challengeName} from '../../domain/verification/records.ts';
import {misplacedRecordsOf, withMisplacedRecord} from '../../domain/verification/misplaced-record.ts';

/** Whether the zone's own servers are asked, or (where port 53 outward is closed) recursive resolvers alone. */
export type DnsMode = 'Authoritative' | 'RecursiveOnly';

export interface CheckOptions {
  dns: Pick<DnsClient, 'askAuthoritative' | 'askRecursive' | 'askNegativeTtl' | 'askCaa'>;
  rules: VerificationRules;
  mode: DnsMode;
  ca: CertificateAuthority;
}

/**
 * Checks one hostname. `caa`: includes its CAA records if it is verified or may still be verified. The whole check has one time limit;
 * queries without an answer by then are reported as timeouts, with the question. Rejects only for a fault of ours.
 */
export async function check(
  {dns, rules, mode, ca}: CheckOptions,
  question: Question,
  caa: boolean,
  inquiry = new Inquiry(),
): Promise<Verdict> {
  const {hostname} = question;
  const authoritatively = (name: string, wanted: DnsWanted) => dns.askAuthoritative(name, wanted, inquiry);
  const recursively = (name: string, wanted: DnsWanted) => dns.askRecursive(name, wanted, inquiry);

  const about = {question, rules, randomLabel: inquiry.randomLabel};
  let verdict: Verdict;
  if (mode === 'RecursiveOnly') {
    verdict = (await look(recursively, (seen) => judgeRecursive(question, rules, seen), about)).verdict;
  } else {
    const authoritative = await look(authoritatively, (seen) => judgeAuthoritative(question, rules, seen), about);
    verdict = authoritative.verdict;
    if (verdict.kind === 'Proven') {
      const atHost = await recursively(hostname, 'Host');
      const recursive: Observation =
        verdict.by === 'TXT' ? {...atHost, challenge: await recursively(challengeName(hostname), 'TXT')} : atHost;
      verdict = judgeBoth(question, rules, authoritative.seen, recursive);
      if (verdict.kind === 'Refuted' && authoritative.seen.zone !== undefined) {
        const negativeTtlSeconds = await dns.askNegativeTtl(authoritative.seen.zone, inquiry);
        if (negativeTtlSeconds !== undefined)
          verdict = judgeBoth(question, rules, {...authoritative.seen, negativeTtlSeconds}, recursive);
      }
    }
  }
  // CAA is checked before the order, so that no order fails at the CA.
  return caa && mayBeVerified(verdict)
    ? {...verdict, caa: judgeCaa(hostname, await dns.askCaa(hostname, inquiry), ca)}
    : verdict;
}

type Ask = (name: string, wanted: DnsWanted) => Promise<Observation>;

/** Asks a group of servers and judges their answers, with everything else that the verdict depends on. */
async function look(
  ask: Ask,
  judge: (seen: Observation) => Verdict,
  {question, rules, randomLabel}: {question: Question; rules: VerificationRules; randomLabel: string},
): Promise<{seen: Observation; verdict: Verdict}> {
  let seen = await ask(question.hostname, 'Host');
  if (needsChallenge(question, rules, seen))
    seen = {...seen, challenge: await ask(challengeName(question.hostname), 'TXT')};
  if (mayBeWildcard(judge(seen)) && (await comesOfWildcard(ask, question.hostname, randomLabel, seen)))
    seen = {...seen, wildcard: true};
  return {seen, verdict: await misplaced(ask, question, judge(seen))};
}

/**
 * Whether an answer comes from a wildcard above the hostname. A wildcard answers for names below and beside the hostname alike. A record at
 * the hostname itself ends the wildcard below it, where another wildcard may exist (RFC 4592, 3.3.1).
 */
async function comesOfWildcard(ask: Ask, hostname: string, randomLabel: string, seen: Observation): Promise<boolean> {
  const parent = hostname.slice(hostname.indexOf('.') + 1);
  for (const above of [hostname, parent])
    if (!isWildcard(seen, await ask(`${randomLabel}.${above}`, 'Host'))) return false;
  return true;
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
