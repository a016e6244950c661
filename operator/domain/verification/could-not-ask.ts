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
        'Give them public addresses, or ask the platform to allow private ones (dns.allowPrivateAddresses). ' +
        `Required: ${wanted}.`,
    };
  }
  const servers = serverNames(seen.findings);
  const who = servers === '' ? `the name servers of ${zone}` : `the name servers of ${zone}, ${servers},`;
  if (failures.join() === 'NotAuthoritative') {
    return {
      reason: 'AuthoritativeFailure',
      message:
        `${name} could not be checked: ${who} answered without authority (no AA flag), so they do not serve this zone. ` +
        'At the registrar, enter the name servers of the DNS provider that has the zone. Or ask the provider to add ' +
        `the zone to these servers. Required: ${wanted}.`,
    };
  }
  return failures.every((f) => unreachable.has(f))
    ? {
        reason: 'AuthoritativeUnreachable',
        message:
          `${name} could not be checked: ${who} did not answer (${failures.join(', ') || 'none found'}). ` +
          'Ask the DNS provider to repair them. If no name server of any zone answers, the platform must allow ' +
          `outgoing traffic to port 53. Required: ${wanted}.`,
      }
    : {
        reason: 'AuthoritativeFailure',
        message:
          `${name} could not be checked: ${who} failed (${failures.join(', ')}). ` +
          `Fix the zone at the DNS provider. Required: ${wanted}.`,
      };
}
