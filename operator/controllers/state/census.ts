/**
 * Counts the objects in the cluster as they change, so that a scrape reads sums, however many domains exist. Groups are words of the API
 * and of the table of reasons, never names that a user has chosen.
 */
import {type HostStatus, phases} from '../../api/custom-domain.ts';
import type {Certificate, CustomDomain, DomainClaim, IssuerRef} from '../../api/foreign.ts';
import {hasCondition, isRetained, isSameIssuer} from '../../domain/certificates/certificate.ts';
import {type ReasonName, reasonOf, reasons} from '../../domain/reasons/reasons.ts';
import type {Change} from '../../kube/cache/cache.ts';
import type {ChangeSource} from '../../kube/controller/wake.ts';
import {Tally} from '../../kube/collections/tally.ts';

export interface CensusSources {
  domains: ChangeSource<Change<CustomDomain>>;
  certificates: ChangeSource<Change<Certificate>>;
  claims: ChangeSource<Change<DomainClaim>>;
}

/** Called with how long it took, in seconds: whole ones, as times in status are. */
export interface Durations {
  addedToVerified: (seconds: number) => void;
  verifiedToLive: (seconds: number) => void;
}

/** Hostnames that are not done, by the actor that they wait for and the reason. `since`: start of the longest wait, ms since the epoch. */
export interface WaitingHostnames {
  waitingFor: string;
  reason: string;
  count: number;
  oldest: number;
}

export const certificateStates = ['Ready', 'Issuing', 'NotReady', 'Resting'] as const;
/** Counts certificates of issuers that the settings do not name. No issuer has this name: names of objects are lower case. */
const otherIssuer = 'Other';
export const claimStates = ['Held', 'Quarantined'] as const;

/** A certificate with less than this share of its life left counts as expiring. Lives differ: 90 days, 45 days, 6 days. */
const expiringShare = 1 / 3;

/** The reasons of Live hostnames that do not work. */
const degradedReasons = Object.keys(reasons).filter((name) => reasons[name as ReasonName].stalledAfter === 'edgeGrace');

export class Census {
  /** Hostnames by phase. */
  readonly phases = new Tally(phases);
  /** Live hostnames that do not work, by reason. */
  readonly #degraded = new Tally(degradedReasons);
  /** Claims by whether they have a holder. */
  readonly claims = new Tally(claimStates);
  /** Certificates by state; Ready ones with the time from which they count as expiring. */
  readonly #certificates = new Tally(certificateStates);
  /** Certificates in use by the name of their issuer, with their end. */
  readonly #inUse: Tally;
  readonly #issuers: readonly IssuerRef[];
  /** Hostnames that are not done, by actor and reason, with the start of the wait. */
  readonly #waiting = new Tally();

  constructor({domains, certificates, claims}: CensusSources, issuers: readonly IssuerRef[]) {
    this.#issuers = issuers;
    this.#inUse = new Tally([...issuers.map(({name}) => name), otherIssuer]);
    follow(domains, ({status}, by) => {
      for (const host of status?.hosts ?? []) this.#countHost(host, by);
    });
    follow(certificates, (certificate, by) => this.#countCertificate(certificate, by));
    follow(claims, ({status}, by) =>
      this.claims.change(status?.quarantinedUntil === undefined ? 'Held' : 'Quarantined', by),
    );
  }

  degraded(): Iterable<readonly [reason: string, count: number]> {
    return this.#degraded.sizes();
  }

  *waiting(): Iterable<WaitingHostnames> {
    for (const [group, count] of this.#waiting.sizes()) {
      const [waitingFor = '', reason = ''] = group.split(' ');
      yield {waitingFor, reason, count, oldest: this.#waiting.earliest(group)};
    }
  }

  /**
   * Counts Certificates, each in one state. `Expiring`: past its renewal time, with less than a third of its life left. An
   * expired Certificate is not Ready any more (cert-manager: policies.CurrentCertificateHasExpired).
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
    return Math.min(...[...this.#inUse.sizes()].map(([issuer]) => this.#inUse.earliest(issuer)));
  }

  /** The certificates in use by the name of their issuer; `Other`: of issuers that the settings do not name. */
  inUse(): Iterable<readonly [issuer: string, count: number]> {
    return this.#inUse.sizes();
  }

  /** How many of the certificates in use are of an issuer that the settings do not name, and therefore have to move. */
  toMove(): number {
    return this.#inUse.size(otherIssuer);
  }

  #countHost({phase, waitingFor, reason, since}: HostStatus, by: 1 | -1): void {
    this.phases.change(phase, by);
    if (phase === 'Live' && degradedReasons.includes(reason)) this.#degraded.change(reason, by);
    const row = reasonOf(reason);
    // Another release of Doorplate may have written a reason that this one does not know.
    if (row?.health !== 'done') this.#waiting.change(`${waitingFor} ${row ? reason : 'Other'}`, by, Date.parse(since));
  }

  #countCertificate(certificate: Certificate, by: 1 | -1): void {
    const state = stateOf(certificate);
    const end = Date.parse(certificate.status?.notAfter ?? '');
    const renewal = Date.parse(certificate.status?.renewalTime ?? '');
    const begin = Date.parse(certificate.status?.notBefore ?? '');
    const expiring = Math.max(begin > 0 ? end - (end - begin) * expiringShare : 0, renewal || 0);
    this.#certificates.change(state, by, expiring > 0 ? expiring : Infinity);
    if (state === 'Resting' || !(end > 0)) return;
    const issuer = this.#issuers.find((known) => isSameIssuer(certificate.spec.issuerRef, known));
    this.#inUse.change(issuer?.name ?? otherIssuer, by, end);
  }
}

function stateOf(certificate: Certificate): (typeof certificateStates)[number] {
  if (isRetained(certificate)) return 'Resting';
  if (hasCondition(certificate, 'Ready')) return 'Ready';
  return hasCondition(certificate, 'Issuing') ? 'Issuing' : 'NotReady';
}

/** Replaces an object's old state in the count by its new state. */
const follow = <T>(source: ChangeSource<Change<T>>, count: (object: T, by: 1 | -1) => void): void =>
  source.onChange((now, before) => {
    if (before) count(before, -1);
    if (now) count(now, 1);
  });

/**
 * Measures how long hostnames took, once for each hostname and attempt: when a status contains a time that the previous status did not
 * contain. The first sight of an object measures nothing, because the previous process counted it. The last write of a process that ended
 * before it saw the write is not counted.
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

/** Reports nothing if one of the times is missing. */
function tell(told: (seconds: number) => void, from: string | undefined, to: string | undefined): void {
  if (from !== undefined && to !== undefined) told(Math.max(0, Date.parse(to) - Date.parse(from)) / 1000);
}
