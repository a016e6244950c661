/**
 * HTTPS records (RFC 9460) beside the addresses that verify a name. Browsers follow an HTTPS record first (RFC 9460, 3), so one that a
 * former host has left leads them there. The certificate authority reads addresses alone: the certificate does not show it.
 */
import type {Hostname} from '../hostnames/hostname.ts';
import {isIn} from '../networks.ts';
import {cdnAt} from './cdns.ts';
import type {Finding, Observation, ProvenBy, VerificationRules, Verdict} from './method.ts';
import type {Question} from './records.ts';
import {printable} from '../text.ts';

/** Whether an HTTPS record can exist at the name: not beside a CNAME. */
export const mayHaveHttps = (verdict: Verdict): verdict is ProvenBy =>
  verdict.kind === 'Proven' && verdict.by !== 'CNAME';

/** `seen`: the findings about the addresses of the name. `asked`: those about its HTTPS records. */
export function withHttps(
  verdict: ProvenBy,
  {hostname, target}: Question,
  rules: VerificationRules,
  {seen, asked}: {seen: Observation; asked: Observation},
): ProvenBy {
  const answers = asked.findings.flatMap(({failure, https}) => (failure === undefined && https ? [https] : []));
  if (answers.length === 0) return {...verdict, isHttpsUnknown: true};
  const isHere = hereOf(seen.findings, rules);
  const names: readonly (Hostname | undefined)[] = ['', hostname, target, rules.edgeHostname];
  const elsewhere = answers.flat().flatMap(({to, hints}) => {
    const strange = hints.filter((address) => !isHere(address));
    return [...(names.includes(to) ? [] : [to]), ...strange];
  });
  if (elsewhere.length === 0) return verdict;
  return {...verdict, browsersGoTo: [...new Set(elsewhere.map(printable))].toSorted().slice(0, 2)};
}

/** Addresses that lead visitors here: the edge's, those of the name itself, and those of the CDN that the name is behind. */
function hereOf(findings: readonly Finding[], rules: VerificationRules): (address: string) => boolean {
  const own = new Set(findings.flatMap(({a, aaaa}) => [...a, ...aaaa]));
  const networks = findings.flatMap((found) => cdnAt(found, rules.cdns)?.networks ?? []);
  return (address) => own.has(address) || isIn(address, rules.edgeAddresses) || isIn(address, networks);
}
