/**
 * HTTPS records (RFC 9460) beside the addresses that verify a name. Browsers follow an HTTPS record first (RFC 9460, 3), so one that a
 * former host has left leads them there. The certificate authority reads addresses only and issues the certificate.
 */
import type {Hostname} from '../hostnames/hostname.ts';
import {within} from '../hostnames/hostname.ts';
import {isIn} from '../networks.ts';
import {cdnAt} from './cdns.ts';
import type {Finding, Observation, ProvenBy, VerificationRules, Verdict} from './method.ts';
import type {Question} from './records.ts';

/** Whether an HTTPS record can exist at the name: not beside a CNAME. */
export const mayHaveHttps = (verdict: Verdict): verdict is ProvenBy =>
  verdict.kind === 'Proven' && verdict.by !== 'CNAME';

const mostTargets = 2;
const defaultPort = 443;

const recordsIn = ({findings}: Observation) =>
  findings.flatMap(({failure, https}) => (failure === undefined && https ? https : []));

/** Names other than the hostname to which HTTPS records lead browsers, sorted, two at most. Their addresses decide where that is. */
export function httpsTargets({hostname}: Question, asked: Observation): Hostname[] {
  const names = recordsIn(asked).map(({to}) => to);
  return [...new Set(names)]
    .filter((name) => name !== '' && name !== hostname)
    .toSorted()
    .slice(0, mostTargets);
}

/**
 * Adds where HTTPS records lead browsers. `seen`: the findings about the addresses of the name. `asked`: those about its HTTPS records.
 * `targets`: those about the addresses of {@link httpsTargets}. What could not be asked is unknown, unless a record leads elsewhere.
 */
export function withHttps(
  verdict: ProvenBy,
  question: Question,
  rules: VerificationRules,
  {seen, asked, targets}: {seen: Observation; asked: Observation; targets: ReadonlyMap<Hostname, Observation>},
): ProvenBy {
  const isHere = hereOf(seen.findings, rules);
  const strange = recordsIn(asked).some(
    ({port = defaultPort, hints}) => port !== defaultPort || !hints.every((address) => isHere(address)),
  );
  const places = [...targets.values()].map((observation) => placeOf(observation, question, isHere));
  if (strange || places.includes('Elsewhere')) return {...verdict, browsersGo: 'Elsewhere'};
  const isKnown = asked.findings.length > 0 && asked.findings.every(({https}) => https !== undefined);
  return isKnown && places.every((place) => place === 'Here') ? verdict : {...verdict, browsersGo: 'Unknown'};
}

/** Addresses that lead visitors here: the edge's, those of the name itself, and those of the CDN that the name is behind. */
function hereOf(findings: readonly Finding[], rules: VerificationRules): (address: string) => boolean {
  const own = new Set(findings.flatMap(({a, aaaa}) => [...a, ...aaaa]));
  const networks = findings.flatMap((found) => cdnAt(found, rules.cdns)?.networks ?? []);
  return (address) => own.has(address) || isIn(address, rules.edgeAddresses) || isIn(address, networks);
}

/** Where a name leads by its own CNAME or addresses: a CNAME to a default hostname of the platform leads here. */
function placeOf(
  {findings}: Observation,
  {target}: Question,
  isHere: (address: string) => boolean,
): 'Here' | 'Elsewhere' | 'Unknown' {
  const zone = target.slice(target.indexOf('.') + 1);
  const answers = findings.filter(({failure}) => failure === undefined);
  const leads = answers.map(({cname, chain, a, aaaa}) => {
    if ([...cname, ...chain].some((name) => within(name, zone))) return 'Here';
    const addresses = [...a, ...aaaa];
    return addresses.length > 0 && addresses.every(isHere) ? 'Here' : 'Elsewhere';
  });
  if (leads.length === 0) return 'Unknown';
  return leads.includes('Here') ? 'Here' : 'Elsewhere';
}
