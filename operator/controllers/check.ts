/**
 * A check of one name: the zone's own servers are asked, then the resolvers, then what only matters then.
 *
 *   authoritative: CNAME, A, AAAA -> TXT where addresses of the edge leave it open -> a name beside it where a wildcard may be behind
 *   proven there:  the resolvers the same; asked earlier, they would keep "there is none" (RFC 2308)
 *   proven by both, and an order would follow: CAA
 */
import {randomBytes} from 'node:crypto';
import type {DnsClient, Wanted} from '../dns/client.ts';
import type {CertificateAuthority} from '../domain/caa.ts';
import {judgeCaa} from '../domain/caa.ts';
import {challengeName} from '../domain/records.ts';
import type {Observation, Question, Rules, Verdict} from '../domain/verification.ts';
import {
  isWildcard,
  judgeAuthoritative,
  judgeBoth,
  judgeRecursive,
  mayBeWildcard,
  needsChallenge,
} from '../domain/verification.ts';

/** Whether the zone's own servers are asked, or (where port 53 outward is closed) recursive resolvers alone. */
export type DnsMode = 'Authoritative' | 'RecursiveOnly';

export interface CheckOptions {
  dns: Pick<DnsClient, 'askAuthoritative' | 'askRecursive' | 'askNegativeTtl' | 'askCaa'>;
  rules: Rules;
  mode: DnsMode;
  ca: CertificateAuthority;
}

/** Checks one name; `caa`: with its CAA records when it is proven. Rejects only for a fault of ours. */
export async function check(
  {dns, rules, mode, ca}: CheckOptions,
  question: Question,
  caa: boolean,
  signal?: AbortSignal,
): Promise<Verdict> {
  const {hostname} = question;
  const authoritatively = (name: string, wanted: Wanted) => dns.askAuthoritative(name, wanted, signal);
  const recursively = (name: string, wanted: Wanted) => dns.askRecursive(name, wanted, signal);

  let verdict: Verdict;
  if (mode === 'RecursiveOnly') {
    verdict = (await look(recursively, (seen) => judgeRecursive(question, rules, seen), question, rules)).verdict;
  } else {
    const authoritative = await look(
      authoritatively,
      (seen) => judgeAuthoritative(question, rules, seen),
      question,
      rules,
    );
    verdict = authoritative.verdict;
    if (verdict.kind === 'Proven') {
      const recursive: Observation = await recursively(hostname, 'Host');
      if (verdict.by === 'TXT') recursive.challenge = await recursively(challengeName(hostname), 'TXT');
      verdict = judgeBoth(question, rules, authoritative.seen, recursive);
      if (verdict.kind === 'Refuted' && authoritative.seen.zone !== undefined) {
        const negativeTtlSeconds = await dns.askNegativeTtl(authoritative.seen.zone, signal);
        if (negativeTtlSeconds !== undefined)
          verdict = judgeBoth(question, rules, {...authoritative.seen, negativeTtlSeconds}, recursive);
      }
    }
  }
  // CAA before the order: the CA is never asked in vain.
  return verdict.kind === 'Proven' && caa
    ? {...verdict, caa: judgeCaa(hostname, await dns.askCaa(hostname, signal), ca)}
    : verdict;
}

/** What a group of servers says, with the TXT and the name beside it where the verdict depends on them. */
async function look(
  ask: (name: string, wanted: Wanted) => Promise<Observation>,
  judge: (seen: Observation) => Verdict,
  question: Question,
  rules: Rules,
): Promise<{seen: Observation; verdict: Verdict}> {
  let seen = await ask(question.hostname, 'Host');
  if (needsChallenge(question, rules, seen))
    seen = {...seen, challenge: await ask(challengeName(question.hostname), 'TXT')};
  const verdict = judge(seen);
  if (!mayBeWildcard(verdict)) return {seen, verdict};
  const beside = await ask(
    `${randomBytes(8).toString('hex')}${question.hostname.slice(question.hostname.indexOf('.'))}`,
    'Host',
  );
  if (!isWildcard(seen, beside)) return {seen, verdict};
  seen = {...seen, wildcard: true};
  return {seen, verdict: judge(seen)};
}
