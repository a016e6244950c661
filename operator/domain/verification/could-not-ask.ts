/** What is said where a zone's own servers gave no answer. */
import type {Finding, Observation, Unknown} from './method.ts';
import {printable} from '../text.ts';

const serverName = ({server: {name, address}}: Finding) => (name ? `${printable(name)} (${address})` : address);

export const serverNames = (findings: readonly Finding[]) =>
  [...new Set(findings.map(serverName))].toSorted().slice(0, 4).join(', ');

const unreachable = new Set(['Timeout', 'Unreachable']);

/** Why the zone's own servers told nothing about a name. */
export function couldNotAsk(
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
  if (failures.join() === 'NotPublic' && seen.failure) {
    return {
      reason: 'AuthoritativeUnreachable',
      message:
        `${name} could not be checked: ${seen.failure.detail.split(' ').map(printable).join(' ')}. ` +
        'Their owner must give them public ones, or the platform allow private ones (dns.allowPrivateAddresses). ' +
        `Needed there: ${wanted}.`,
    };
  }
  const servers = serverNames(seen.findings);
  const who = servers === '' ? `the name servers of ${zone}` : `the name servers of ${zone}, ${servers},`;
  if (failures.join() === 'NotAuthoritative') {
    return {
      reason: 'AuthoritativeFailure',
      message:
        `${name} could not be checked: ${who} answered without authority (no AA flag): they do not serve this zone themselves. ` +
        'At the registrar, enter the name servers of the DNS provider that has the zone, or have the provider set the zone up at ' +
        `these. Needed there: ${wanted}.`,
    };
  }
  return failures.every((f) => unreachable.has(f))
    ? {
        reason: 'AuthoritativeUnreachable',
        message:
          `${name} could not be checked: ${who} did not answer (${failures.join(', ') || 'none found'}). ` +
          'Their owner must bring them back; if none of any zone answers, the platform must allow port 53 ' +
          `outward. Needed there: ${wanted}.`,
      }
    : {
        reason: 'AuthoritativeFailure',
        message:
          `${name} could not be checked: ${who} failed (${failures.join(', ')}). ` +
          `Mend the zone at the DNS provider. Needed there: ${wanted}.`,
      };
}
