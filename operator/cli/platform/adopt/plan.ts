/** Plans the adoption of a hostname that other software serves, from facts alone. */
import type {HostStatus} from '../../../api/custom-domain.ts';
import type {Certificate, DomainClaim} from '../../../api/foreign.ts';
import {isRetained} from '../../../domain/certificates/certificate.ts';
import {belongsTo} from '../../../domain/claims/claim.ts';
import type {NamedHost} from '../../../domain/hostnames/hosts.ts';
import type {Tenant} from '../../../domain/tenant.ts';
import type {Pair} from './pair.ts';

/** An Ingress of somebody else's that serves the hostname. `secretName`: with which certificate. */
export interface Serving {
  name: string;
  secretName?: string;
}

export interface Facts {
  /** ms since the epoch. */
  now: number;
  named: Pick<NamedHost, 'hostname' | 'refusal'>;
  tenant: Tenant;
  claim: DomainClaim | undefined;
  /** The hostname's entry in the status of its CustomDomain. */
  entry: HostStatus | undefined;
  serving: readonly Serving[];
  /** The content of the Secret that {@link secretOf} names; undefined: the Secret does not exist. */
  pair: Pair | undefined;
  /** The Certificate that the hostname has been given before by this command. */
  certificate: Certificate | undefined;
}

/**
 * TakeOver: it gets a Certificate with the content of its Secret. Ready: it has that Certificate. NewOrder: adoption is impossible, so it
 * gets a new certificate through the order queue. UnderWay: its CustomDomain has it. Served: Doorplate serves it. Refused: nothing is
 * written.
 */
export type Becomes = 'TakeOver' | 'Ready' | 'NewOrder' | 'UnderWay' | 'Served' | 'Refused';

/** `why`: a sentence without a full stop. */
export interface AdoptPlan {
  becomes: Becomes;
  why: string;
}

/** The one Secret that all Ingresses of a hostname name, of those that name any. */
export function secretOf(serving: readonly Serving[]): string | undefined {
  const names = new Set(serving.flatMap(({secretName}) => secretName ?? []));
  return names.size === 1 ? [...names][0] : undefined;
}

/** For so long after a hostname is Live it is left to what served it before: not every replica of an edge is as quick as another. */
export const settlesMs = 60_000;

export function planFor(facts: Facts): AdoptPlan {
  return refused(facts) ?? goesOn(facts) ?? byItsSecret(facts);
}

const because = (why: string): AdoptPlan => ({becomes: 'Refused', why});

function refused({named: {hostname, refusal}, tenant, claim}: Facts): AdoptPlan | undefined {
  if (refusal) return because(refusal.message.replace(/\.$/, ''));
  if (claim && !belongsTo(claim, tenant))
    return because(`another tenant owns ${hostname}: kubectl get domainclaim ${hostname}`);
  return undefined;
}

/** The steps that an earlier run, or Doorplate, has already done. */
function goesOn({now, claim, entry, certificate}: Facts): AdoptPlan | undefined {
  if (entry?.phase === 'Live') {
    const since = now - Date.parse(entry.liveAt ?? entry.since);
    return since >= settlesMs
      ? {becomes: 'Served', why: 'Doorplate serves it'}
      : {
          becomes: 'UnderWay',
          why: 'Live for less than a minute: some replicas of the edge may not serve the route yet',
        };
  }
  if (claim?.status?.holder)
    return {becomes: 'UnderWay', why: entry?.message.replace(/\.$/, '') ?? 'it has a CustomDomain'};
  if (certificate && isRetained(certificate) && claim?.spec.proof === 'Platform')
    return {becomes: 'Ready', why: 'it waits for its CustomDomain'};
  return undefined;
}

function byItsSecret({named: {hostname}, serving, pair}: Facts): AdoptPlan {
  if (serving.length === 0)
    return {becomes: 'Refused', why: `no Ingress of the namespace serves ${hostname}: there is nothing to take over`};
  const names = serving.flatMap(({secretName}) => secretName ?? []);
  const secretName = secretOf(serving);
  if (secretName === undefined)
    return names.length === 0
      ? {becomes: 'NewOrder', why: 'its Ingress names no Secret'}
      : {
          becomes: 'Refused',
          why: `its Ingresses name several Secrets (${[...new Set(names)].join(', ')}): change them to name one`,
        };
  if (!pair) return {becomes: 'NewOrder', why: `there is no Secret ${secretName}`};
  return pair.kind === 'Good'
    ? {becomes: 'TakeOver', why: `with the certificate of the Secret ${secretName}`}
    : {becomes: 'NewOrder', why: `its certificate ${pair.why}`};
}
