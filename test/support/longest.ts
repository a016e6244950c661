/** The largest CustomDomain that can be: 501 hostnames of 253 characters, of which as much is said as can be said. */
import type {CustomDomainStatus} from '../../operator/api/custom-domain.ts';
import type {CustomDomainSpec} from '../../operator/api/custom-domain-spec.ts';

const label = 'a'.repeat(63);
export const longestNames = Array.from(
  {length: 501},
  (_, i) => `n${String(i).padStart(3, '0')}${'b'.repeat(57)}.${label}.${label}.${label}`,
);

const [primary = '', ...sources] = longestNames;
export const longestSpec: CustomDomainSpec = {
  projectRef: {name: 'web'},
  primary,
  redirects: sources.map((from) => ({from, to: primary, status: 301})),
};

const at = '2026-03-01T12:00:00Z';

/** `phase`: of all hostnames. */
export function longestStatusOf(phase: 'AwaitingVerification' | 'Live'): CustomDomainStatus {
  return {
    observedGeneration: 1,
    phase,
    hostsLive: '501/501',
    attachedHostnames: 501,
    liveHostnames: 501,
    dnsRecords: longestNames.flatMap((hostname) =>
      ['ALIAS', 'A', 'A', 'AAAA', 'TXT'].map((type) => ({
        hostname,
        type,
        name: hostname,
        zone: hostname,
        value: hostname,
        ttl: 3600,
        note: 'n'.repeat(200),
        state: 'Wrong' as const,
        observed: Array<string>(16).fill('o'.repeat(300)),
      })),
    ),
    hosts: longestNames.map((hostname, i) => ({
      hostname,
      role: i === 0 ? 'Primary' : 'RedirectSource',
      phase,
      reason: 'VerificationExpired',
      message: '€'.repeat(2048),
      details: {
        ...Object.fromEntries(
          ['cause', 'limit', 'place', 'wildcard', 'add', 'remove', 'service', 'servers', 'types'].map((name) => [
            name,
            'd'.repeat(253),
          ]),
        ),
        endTime: at,
      },
      since: at,
      addedAt: at,
      verifiedAt: at,
      verifiedBy: 'Addresses',
      liveAt: at,
      waitingFor: 'CertificateAuthority',
      zone: {name: hostname, nameServers: Array<string>(8).fill(hostname), provider: 'p'.repeat(64)},
      certificate: {name: 'n'.repeat(63), notAfter: at},
      redirect: {to: primary, status: 301},
      servedUntil: at,
      refusedFrom: at,
    })),
    conditions: ['Accepted', 'Verified', 'CertificateReady', 'RoutesReady', 'Live', 'Ready', 'Stalled'].map((type) => ({
      type,
      status: 'False' as const,
      reason: 'VerificationExpired',
      message: '€'.repeat(2048),
      observedGeneration: 1,
      lastTransitionTime: at,
    })),
  };
}
