/**
 * Who holds a hostname: one DomainClaim, named by the hostname, so that the API server itself lets only one be made.
 *
 *   (none) --- proof --> held --- holder gone --> quarantined --- time over --> (none)
 *                        |  ^                     |
 *                        |  +-- same tenant: at once; another: new proof --+
 *                        +-- another has proven it and the holder's own negative is confirmed --> held by the other
 *
 * Rule 4: proof decides, not speed. Rule 5: a removed name is not free at once. All writes carry the resourceVersion that was
 * read, so that a stale read writes nothing.
 */
import {createHash} from 'node:crypto';
import type {DomainClaimSpec, DomainClaimStatus} from '../api/domain-claim.ts';
import type {CustomDomain, DomainClaim, Project} from '../api/foreign.ts';
import type {Budgets, Order} from './budget.ts';
import {memoryMs, toRemember} from './budget.ts';
import type {ClaimWrite} from './claim-write.ts';
import {doubtMs} from './drift.ts';
import type {Hostname} from './hostname.ts';
import {projectHost} from './hostname.ts';
import type {Verdict} from './proofs/proof.ts';
import {denies} from './proofs/proof.ts';
import type {Tenant} from './tenant.ts';
import {timestamp} from './times.ts';

/** Whether a write makes a hostname somebody's whose it was not. */
export function gives({before, spec: {tenant}, status: {holder}}: ClaimWrite): boolean {
  const was = before?.spec.tenant;
  return (
    holder !== undefined &&
    (holder.uid !== before?.status?.holder?.uid ||
      tenant.account !== was?.account ||
      tenant.namespaceUID !== was?.namespaceUID)
  );
}

/** An object that holds hostnames. */
export type Holder = CustomDomain | Project;

/** The tenant as a claim names it. */
export const identityOf = ({account, namespaceUID}: Tenant): DomainClaimSpec['tenant'] =>
  account === undefined ? {namespaceUID} : {account};

/** Whether a claim belongs to a tenant. Hostnames that a Namespace owned before the platform gave it an Account belong to that Account. */
export function belongsTo({spec: {tenant}}: DomainClaim, {account, namespaceUID}: Tenant): boolean {
  return tenant.account === undefined ? tenant.namespaceUID === namespaceUID : tenant.account === account;
}

export const isHeldBy = (claim: DomainClaim | undefined, holder: Holder) =>
  holder.metadata.uid !== undefined && claim?.status?.holder?.uid === holder.metadata.uid;

/**
 * The TXT value that a tenant must publish: 128 bits of SHA-256 in hexadecimal, over installation, tenant, hostname and the claim's
 * generation. The tenant that owns the claim keeps its published token when the generation is raised.
 */
export function tokenFor(
  installation: string,
  tenant: Tenant,
  hostname: Hostname,
  claim: DomainClaim | undefined,
): string {
  if (claim?.status?.token !== undefined && belongsTo(claim, tenant)) return claim.status.token;
  const who = tenant.account === undefined ? `namespace ${tenant.namespaceUID}` : `account ${tenant.account}`;
  const parts = ['token', installation, who, hostname, claim?.status?.generation ?? 0];
  // Each part ends in a NUL, which none can contain.
  return createHash('sha256')
    .update(parts.map((p) => `${p}\0`).join(''))
    .digest('hex')
    .slice(0, 32);
}

/** How a claim stands to one CustomDomain. */
export type ClaimStanding =
  /** Its own. `byPlatform`: and the platform's word is the proof. */
  | {kind: 'Held'; byPlatform: boolean}
  /** The hostname is verified for this object. The claim is written before anything else. */
  | {kind: 'Winning'; write: ClaimWrite}
  /** Proven, and held by another; `contest`: whether proof can win it. `lookAt`: a proof of now is needed, ms since the epoch. */
  | {kind: 'Claimed'; contest: boolean; lookAt?: number}
  /** Nothing is proven: nothing is held, and nothing is told. */
  | {kind: 'Unproven'; lookAt?: number};

export interface ClaimInput {
  now: number;
  installation: string;
  hostname: Hostname;
  holder: CustomDomain;
  tenant: Tenant;
  claim: DomainClaim | undefined;
  /** The newest verdict about it, and when it was found, ms since the epoch. */
  verdict: Verdict | undefined;
  checkedAt: number | undefined;
  /** The orders made for it, whoever held it: the CA counts them all. */
  orders?: readonly Order[];
  /** The hostname was verified here before, and the verification is not lost. */
  verified: boolean;
  /** Results of DNS checks for the present owner, newest last. */
  rival: readonly {verdict: Verdict; at: number}[];
  takeoverConfirmationsMs: readonly number[];
}

const held = (p: ClaimInput, tenant = identityOf(p.tenant)): Pick<ClaimWrite, 'spec' | 'status'> => {
  const {
    metadata: {namespace = '', name, uid = ''},
  } = p.holder;
  return {
    spec: {tenant, proof: p.claim?.spec.proof ?? 'DNS'},
    status: {
      holder: {kind: 'CustomDomain', namespace, name, uid},
      since: timestamp(p.now),
      generation: p.claim?.status?.generation ?? 0,
      token: tokenFor(p.installation, p.tenant, p.hostname, p.claim),
      ...(p.orders && p.orders.length > 0 && {orders: [...p.orders]}),
    },
  };
};

/** A proof older than this wins nothing: DNS may have passed on. */
const freshMs = 60_000;

/** How the claim of a hostname stands to a CustomDomain that names it, and what is to be written. */
export function standingOf(p: ClaimInput): ClaimStanding {
  const {claim, hostname} = p;
  const proof = p.verdict?.kind === 'Proven' ? p.verdict.by : undefined;
  // A verification from before the hostname was released or passed on does not count. (Times on objects are whole seconds.)
  const countsFrom = claim?.status?.since === undefined ? -Infinity : Date.parse(claim.status.since) + 1000;
  const found = p.checkedAt ?? -Infinity;
  const fresh = found >= countsFrom && p.now - found <= freshMs;
  const again = {lookAt: Math.max(p.now, countsFrom)};
  const win = (change: Partial<DomainClaimStatus> = {}): ClaimStanding => {
    if (proof !== undefined && !fresh && !p.verified && claim?.spec.proof !== 'Platform')
      return {kind: 'Unproven', ...again};
    const {spec, status} = held(p);
    return {kind: 'Winning', write: {hostname, before: claim, spec, status: {...status, ...change}}};
  };
  if (claim === undefined) return proof !== undefined || p.verified ? win() : {kind: 'Unproven'};
  const byPlatform = claim.spec.proof === 'Platform';
  const own = belongsTo(claim, p.tenant);
  if (isHeldBy(claim, p.holder)) {
    // The platform has given the namespace to another Account: its hostnames go with it, and what it has published stays good.
    return own
      ? {kind: 'Held', byPlatform}
      : {
          kind: 'Winning',
          write: {
            hostname,
            before: claim,
            spec: {...claim.spec, tenant: identityOf(p.tenant)},
            status: claim.status ?? {generation: 0},
          },
        };
  }
  if (claim.status?.holder === undefined && own && (byPlatform || p.verified || proof !== undefined)) return win();
  if (proof === undefined) return {kind: 'Unproven'};
  if (byPlatform) return {kind: 'Claimed', contest: false};
  const raised = {generation: (claim.status?.generation ?? 0) + 1};
  if (claim.status?.holder === undefined) {
    // Addresses prove no tenant, and those may stand from before.
    const over = claim.status?.quarantinedUntil === undefined || Date.parse(claim.status.quarantinedUntil) <= p.now;
    return proof === 'Addresses' && !over ? {kind: 'Claimed', contest: false} : win(raised);
  }
  const lostAt = confirmedAgainst(p.rival, p.takeoverConfirmationsMs);
  if (lostAt === undefined) return {kind: 'Claimed', contest: true};
  // Both must hold at the end of it: the holder's right is gone, and the contender's stands. DNS may have passed on meanwhile.
  return fresh && found >= lostAt ? win(raised) : {kind: 'Claimed', contest: true, ...again};
}

/** The trailing negatives among the answered checks. A failed query is no negative (rule 3). */
function negatives(rival: ClaimInput['rival']): readonly {at: number}[] {
  const asked = rival.filter(({verdict}) => verdict.kind !== 'Unknown');
  return asked.slice(asked.findLastIndex(({verdict}) => !denies(verdict)) + 1);
}

/** Since when the holder's right has been denied, how many confirmations that has had, and when the last. */
function confirmations(
  rival: ClaimInput['rival'],
  afterMs: readonly number[],
): {since: number; confirmed: number; lastAt: number} | undefined {
  const [first, ...others] = negatives(rival);
  if (!first) return undefined;
  const counted = {since: first.at, confirmed: 0, lastAt: first.at};
  for (const {at} of others)
    if (counted.confirmed < afterMs.length && at >= first.at + afterMs[counted.confirmed]!) {
      counted.confirmed++;
      counted.lastAt = at;
    }
  return counted;
}

/** Since when the holder's negative is confirmed: seen, and seen again after each of these times, with nothing else in between. */
const confirmedAgainst = (rival: ClaimInput['rival'], afterMs: readonly number[]) => {
  const doubt = confirmations(rival, afterMs);
  return doubt && doubt.confirmed >= afterMs.length ? doubt.lastAt : undefined;
};

/**
 * When the holder's right is to be looked at again, ms since the epoch: after each proof against it (`provenAt`) at once, while it
 * is in doubt at each confirmation, and otherwise never.
 */
export function nextRivalLook(rival: ClaimInput['rival'], afterMs: readonly number[], provenAt: number): number {
  const last = rival.at(-1);
  if (!last || last.at < provenAt) return provenAt;
  const doubt = confirmations(rival, afterMs);
  if (!doubt) return last.verdict.kind === 'Unknown' ? last.at + doubtMs : Infinity;
  return Math.max(doubt.since + (afterMs[doubt.confirmed] ?? 0), last.at + 1000);
}

/**
 * Time for which a claim is kept after its owner is gone or no longer names the hostname, ms. A hostname is kept for the quarantine (rule
 * 5), unless it never had a Certificate; a hostname assigned by the platform is kept permanently. A default hostname that is derived from
 * its tenant can belong to no other tenant: its claim is kept while its orders count, so that re-creating the Project gains no orders. A
 * default hostname that belongs to its tenant only through the claim is kept permanently: an earlier release created it, or the platform
 * moved the Namespace to another Account.
 */
export function keptForMs(
  claim: DomainClaim,
  {installation, zone, quarantineTimeMs, budgets, addressOnly}: KeepingPolicy,
  known: ClaimFacts,
): number {
  const {holder} = claim.status ?? {};
  if (claim.spec.proof === 'Platform') return Infinity;
  if (holder?.kind !== 'Project') return !addressOnly && wasNeverServed(claim, known) ? 0 : quarantineTimeMs;
  const {orders, restEnds, now} = known;
  const {namespace, name} = holder;
  if (claim.metadata.name !== projectHost({installation, zone, tenant: claim.spec.tenant, namespace, name}))
    return Infinity;
  const counted = orders.map((o) => Date.parse(o.endedAt ?? o.at) + memoryMs(budgets) - now);
  return Math.max(0, ...counted, restEnds < Infinity ? restEnds - now : 0);
}

/** Settings that decide how long a claim is kept. */
interface KeepingPolicy {
  installation: string;
  zone: Hostname;
  quarantineTimeMs: number;
  budgets: Budgets;
  addressOnly: boolean;
}

/** Facts about the hostname of a claim. Times are ms since the epoch. */
interface ClaimFacts {
  /** Those that budgets count. */
  orders: readonly Order[];
  /** Until when a Certificate of it rests, which needs the claim; Infinity: none does. */
  restEnds: number;
  /** Time since which the hostname has had no Certificate. */
  certifiedAt: number;
  now: number;
}

/**
 * Whether a hostname has had no Certificate since somebody first held it. Nothing was ever served by it, and what may stand in DNS (a
 * CNAME to this tenant's host, its token) proves it for nobody else.
 */
const wasNeverServed = ({status}: DomainClaim, {orders, restEnds, certifiedAt}: ClaimFacts): boolean =>
  status?.generation === 0 &&
  Date.parse(status.since ?? '') > certifiedAt &&
  orders.length === 0 &&
  restEnds === Infinity;

/**
 * A claim whose holder is gone, kept for its tenant for so long (Infinity: for ever). `orders`: those of the hostname, which the CA
 * remembers too.
 */
export function release(claim: DomainClaim, now: number, keepMs: number, orders: readonly Order[]): ClaimWrite {
  const {generation = 0, token} = claim.status ?? {};
  return {
    hostname: claim.metadata.name,
    before: claim,
    spec: claim.spec,
    status: {
      since: timestamp(now),
      generation: generation + 1,
      ...(token !== undefined && {token}),
      ...(keepMs < Infinity && {quarantinedUntil: timestamp(now + keepMs)}),
      ...(orders.length > 0 && {orders: [...orders]}),
    },
  };
}

/** A claim told of all orders of its hostname, before the last of what tells of them goes; undefined where it knows them. */
export function remember(claim: DomainClaim, orders: readonly Order[]): ClaimWrite | undefined {
  const {
    spec,
    status,
    metadata: {name: hostname},
  } = claim;
  const remembered = toRemember(orders, status?.orders ?? [], undefined);
  return remembered && {hostname, before: claim, spec, status: {generation: 0, ...status, orders: remembered}};
}

/**
 * The claim of a Project's default host: the Project's own (`held`), to be written, or another tenant's (undefined): such a host
 * never passes on, because customers' records may name it still.
 */
export function defaultHostClaim(
  host: Hostname,
  project: Project,
  tenant: Tenant,
  claim: DomainClaim | undefined,
): 'held' | ClaimWrite | undefined {
  const {namespace = '', name, uid = ''} = project.metadata;
  const mine = claim === undefined || belongsTo(claim, tenant) || isHeldBy(claim, project);
  if (!mine) return undefined;
  if (claim && isHeldBy(claim, project) && belongsTo(claim, tenant)) return 'held';
  return {
    hostname: host,
    before: claim,
    spec: {tenant: identityOf(tenant), proof: claim?.spec.proof ?? 'DNS'},
    status: {
      holder: {kind: 'Project', namespace, name, uid},
      generation: claim?.status?.generation ?? 0,
      ...(claim?.status?.orders && {orders: claim.status.orders}),
    },
  };
}
