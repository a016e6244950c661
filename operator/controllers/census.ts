/**
 * What stands in the cluster, counted as it changes: a scrape reads sums, however many domains there are. Groups are words of
 * the API and of the table of reasons, never a name that somebody has chosen.
 */
import {type HostStatus, phases} from '../api/custom-domain.ts';
import type {Certificate, CustomDomain, DomainClaim, IssuerRef} from '../api/foreign.ts';
import {hasCondition, isResting, isSameIssuer} from '../domain/certificate.ts';
import {reasonOf} from '../domain/reasons.ts';
import type {Change} from '../kube/cache.ts';
import type {Source} from '../kube/wake.ts';
import {Tally} from './tally.ts';

export interface CensusSources {
  domains: Source<Change<CustomDomain>>;
  certificates: Source<Change<Certificate>>;
  claims: Source<Change<DomainClaim>>;
}

/** Called with how long it took, in seconds: whole ones, as times in status are. */
export interface Durations {
  addedToVerified: (seconds: number) => void;
  verifiedToLive: (seconds: number) => void;
}

/** Hostnames that are not done: who must act, why, and since when the one that waits the longest does, ms since the epoch. */
export interface Waiting {
  waitingFor: string;
  reason: string;
  count: number;
  oldest: number;
}

export const certificateStates = ['Ready', 'Issuing', 'NotReady', 'Resting'] as const;
export const claimStates = ['Held', 'Quarantined'] as const;

/** A certificate that ends within this time counts as expiring, once it should have been renewed, ms. */
const expiringMs = 7 * 86_400_000;

export class Census {
  /** Hostnames by phase. */
  readonly phases = new Tally(phases);
  /** Claims by whether they have a holder. */
  readonly claims = new Tally(claimStates);
  /** Certificates by state; those that are Ready with when they count as expiring. */
  readonly #certificates = new Tally(certificateStates);
  /** Certificates in use, with when they end; of these, those of an issuer that `issuerRef` does not name any more. */
  readonly #ends = new Tally(['Used', 'OfFormerIssuer']);
  readonly #issuerRef: IssuerRef;
  /** Hostnames that are not done, by who must act and why, with since when. */
  readonly #waiting = new Tally();

  constructor({domains, certificates, claims}: CensusSources, issuerRef: IssuerRef) {
    this.#issuerRef = issuerRef;
    follow(domains, ({status}, by) => {
      for (const host of status?.hosts ?? []) this.#countHost(host, by);
    });
    follow(certificates, (certificate, by) => this.#countCertificate(certificate, by));
    follow(claims, ({status}, by) =>
      this.claims.change(status?.quarantinedUntil === undefined ? 'Held' : 'Quarantined', by),
    );
  }

  *waiting(): Iterable<Waiting> {
    for (const [group, count] of this.#waiting.sizes()) {
      const [waitingFor = '', reason = ''] = group.split(' ');
      yield {waitingFor, reason, count, oldest: this.#waiting.earliest(group)};
    }
  }

  /**
   * By state, each once. `Expiring`: over its time of renewal, and at its end in a week or before; cert-manager calls one that has ended
   * not Ready (cert-manager: policies.CurrentCertificateHasExpired).
   */
  *certificates(now: number): Iterable<[state: string, count: number]> {
    let all = 0;
    for (const [state, size] of this.#certificates.sizes()) {
      const expiring = state === 'Resting' ? 0 : this.#certificates.countUntil(state, now);
      all += expiring;
      yield [state, size - expiring];
    }
    yield ['Expiring', all];
  }

  /** When the first of the certificates in use ends, ms since the epoch; Infinity where there is none. */
  firstEnd(): number {
    return this.#ends.earliest('Used');
  }

  /** How many of the certificates in use still have to move to the issuer that `issuerRef` names. */
  toMove(): number {
    return this.#ends.size('OfFormerIssuer');
  }

  #countHost({phase, waitingFor, reason, since}: HostStatus, by: 1 | -1): void {
    this.phases.change(phase, by);
    const row = reasonOf(reason);
    // Another release may have written it, with words of its own.
    if (row?.health !== 'done') this.#waiting.change(`${waitingFor} ${row ? reason : 'Other'}`, by, Date.parse(since));
  }

  #countCertificate(certificate: Certificate, by: 1 | -1): void {
    const state = stateOf(certificate);
    const end = Date.parse(certificate.status?.notAfter ?? '');
    const renewal = Date.parse(certificate.status?.renewalTime ?? '');
    const expiring = Math.max(end - expiringMs, renewal || 0);
    this.#certificates.change(state, by, expiring > 0 ? expiring : Infinity);
    if (state === 'Resting' || !(end > 0)) return;
    this.#ends.change('Used', by, end);
    if (!isSameIssuer(certificate.spec.issuerRef, this.#issuerRef)) this.#ends.change('OfFormerIssuer', by, end);
  }
}

function stateOf(certificate: Certificate): (typeof certificateStates)[number] {
  if (isResting(certificate)) return 'Resting';
  if (hasCondition(certificate, 'Ready')) return 'Ready';
  return hasCondition(certificate, 'Issuing') ? 'Issuing' : 'NotReady';
}

/** Takes what an object was out of the count, and what it is into it. */
const follow = <T>(source: Source<Change<T>>, count: (object: T, by: 1 | -1) => void): void =>
  source.onChange((now, before) => {
    if (before) count(before, -1);
    if (now) count(now, 1);
  });

/**
 * Tells how long hostnames took, once for each and each attempt: when a status that is seen has a time that the one before it had not.
 * An object that is seen for the first time tells nothing: it was counted by the process before this one. What that one wrote last and
 * did not live to see is counted by nobody.
 */
export function timeHostnames(domains: CensusSources['domains'], leads: () => boolean, durations: Durations): void {
  domains.onChange((now, before) => {
    if (!now || now.metadata.uid !== before?.metadata.uid || !leads()) return;
    const known = new Map(before?.status?.hosts?.map((h) => [h.hostname, h]));
    for (const {hostname, addedAt, verifiedAt, liveAt} of now.status?.hosts ?? []) {
      const was = known.get(hostname);
      if (verifiedAt !== was?.verifiedAt) tell(durations.addedToVerified, addedAt, verifiedAt);
      if (liveAt !== was?.liveAt) tell(durations.verifiedToLive, verifiedAt, liveAt);
    }
  });
}

/** Nothing where it has not come to that. */
function tell(told: (seconds: number) => void, from: string | undefined, to: string | undefined): void {
  if (from !== undefined && to !== undefined) told(Math.max(0, Date.parse(to) - Date.parse(from)) / 1000);
}
