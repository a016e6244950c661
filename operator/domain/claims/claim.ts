/**
 * Ownership of a hostname: one DomainClaim, named by the hostname, so that the API server itself allows only one.
 *
 *   (none) --- verified --> owned --- owner gone --> quarantined --- time over --> (none)
 *                           |  ^                     |
 *                           |  +-- same tenant: at once; another tenant: new verification --+
 *                           +-- another tenant has verified it, and the owner's negative is confirmed --> owned by the other tenant
 *
 * Rule 4: verification decides, not speed. Rule 5: a removed hostname is not free at once. All writes carry the resourceVersion that was
 * read, so that a write after a stale read fails.
 */
import {createHash} from 'node:crypto';
import type {DomainClaimSpec, DomainClaimStatus} from '../../api/domain-claim.ts';
import type {CustomDomain, DomainClaim, Project} from '../../api/foreign.ts';
import type {Order} from '../certificates/budget.ts';
import {toRemember} from '../certificates/budget.ts';
import type {ClaimWrite} from './claim-write.ts';
import {confirmationsIn} from '../confirmations.ts';
import {doubtMs} from './drift.ts';
import type {Hostname} from '../hostnames/hostname.ts';
import {projectHost} from '../hostnames/hostname.ts';
import type {Verdict} from '../verification/method.ts';
import {denies} from '../verification/method.ts';
import type {Tenant} from '../tenant.ts';
import {timestamp} from '../times.ts';
import {type Verification, verificationOf} from './verification.ts';

/** Whether a write gives a hostname to an object or tenant that did not own it. */
export function gives({before, spec: {tenant}, status: {holder}}: ClaimWrite): boolean {
  const was = before?.spec.tenant;
  return (
    holder !== undefined &&
    (holder.uid !== before?.status?.holder?.uid ||
      tenant.account !== was?.account ||
      tenant.namespaceUID !== was?.namespaceUID)
  );
}

/** An object to which hostnames are attached. */
export type Holder = CustomDomain | Project;

/** The tenant in the form in which a claim names it. */
export const identityOf = ({account, namespaceUID}: Tenant): DomainClaimSpec['tenant'] =>
  account === undefined ? {namespaceUID} : {account};

/** Whether a claim is a tenant's. A namespace's claims also belong to the Account that the platform gives the namespace later. */
export function belongsTo({spec: {tenant}}: DomainClaim, {account, namespaceUID}: Tenant): boolean {
  return tenant.account === undefined ? tenant.namespaceUID === namespaceUID : tenant.account === account;
}

export const isHeldBy = (claim: DomainClaim | undefined, holder: Holder) =>
  holder.metadata.uid !== undefined && claim?.status?.holder?.uid === holder.metadata.uid;

/**
 * The TXT value that a tenant must publish: 128 bits of SHA-256 in hexadecimal, over installation, tenant, hostname and the claim's
 * generation. The tenant that owns the claim keeps its published token, even if the generation was raised since.
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
  // Each part ends in a NUL, which no part can contain.
  return createHash('sha256')
    .update(parts.map((p) => `${p}\0`).join(''))
    .digest('hex')
    .slice(0, 32);
}

/** The relation of a claim to one CustomDomain. */
export type ClaimState =
  /** The CustomDomain owns the hostname. `byPlatform`: the platform's own claim counts as the verification. */
  | {kind: 'Held'; byPlatform: boolean}
  /** The CustomDomain meets all conditions to own the hostname. The claim must be written before anything else. */
  | {kind: 'Winning'; write: ClaimWrite}
  /**
   * Verified, but owned by another. `contest`: whether verification can win it. `lookAt`: a fresh check is needed then, ms since the
   * epoch.
   */
  | {kind: 'Claimed'; contest: boolean; lookAt?: number}
  /** Not verified: the CustomDomain does not own the hostname, and its status reports nothing about the claim. */
  | {kind: 'Unproven'; lookAt?: number};

export interface ClaimInput {
  now: number;
  installation: string;
  hostname: Hostname;
  holder: CustomDomain;
  tenant: Tenant;
  claim: DomainClaim | undefined;
  /** The newest verdict about the hostname, and the time of its check, ms since the epoch. */
  verdict: Verdict | undefined;
  checkedAt: number | undefined;
  /** The orders of the hostname under any owner: the CA counts them all. */
  orders?: readonly Order[];
  /** The hostname was verified for this CustomDomain before, and the verification was not lost since. */
  verified: boolean;
  /** The verification that status reports for this CustomDomain. */
  reported?: Verification;
  /** Another CustomDomain of the tenant owns the claim, and its spec no longer names the hostname. */
  isLetGo?: boolean;
  /** DNS verdicts about the current owner's records, newest last. */
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
      ...verificationOf(p.verdict, p.checkedAt, p.reported),
      ...(p.orders && p.orders.length > 0 && {orders: [...p.orders]}),
    },
  };
};

/** Maximum age of a verification that wins a hostname, ms. DNS may have changed since an older one. */
const freshMs = 60_000;

/** Decides the relation of a hostname's claim to a CustomDomain that names the hostname, and the claim to write. */
export function claimStateOf(p: ClaimInput): ClaimState {
  const {claim, hostname} = p;
  const proof = p.verdict?.kind === 'Proven' ? p.verdict.by : undefined;
  // A verification from before the hostname changed owners or was released no longer counts. (Times on objects are whole seconds.)
  const countsFrom = claim?.status?.since === undefined ? -Infinity : Date.parse(claim.status.since) + 1000;
  const found = p.checkedAt ?? -Infinity;
  const fresh = found >= countsFrom && p.now - found <= freshMs;
  const again = {lookAt: Math.max(p.now, countsFrom)};
  const win = (change: Partial<DomainClaimStatus> = {}): ClaimState => {
    if (proof !== undefined && !fresh && !p.verified && claim?.spec.proof !== 'Platform')
      return {kind: 'Unproven', ...again};
    const {spec, status} = held(p);
    return {kind: 'Winning', write: {hostname, before: claim, spec, status: {...status, ...change}}};
  };
  if (claim === undefined) return proof !== undefined || p.verified ? win() : {kind: 'Unproven'};
  const byPlatform = claim.spec.proof === 'Platform';
  const own = belongsTo(claim, p.tenant);
  if (isHeldBy(claim, p.holder)) {
    // The platform has given the namespace to another Account. Its hostnames move along, and published tokens stay valid.
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
  const isFree = claim.status?.holder === undefined || p.isLetGo === true;
  if (isFree && own && (byPlatform || p.verified || proof !== undefined)) return win();
  if (proof === undefined) return {kind: 'Unproven'};
  if (byPlatform) return {kind: 'Claimed', contest: false};
  const raised = {generation: (claim.status?.generation ?? 0) + 1};
  if (claim.status?.holder === undefined) {
    // Address records verify no tenant, and they may exist from an earlier time.
    const over = claim.status?.quarantinedUntil === undefined || Date.parse(claim.status.quarantinedUntil) <= p.now;
    return proof === 'Addresses' && !over ? {kind: 'Claimed', contest: false} : win(raised);
  }
  const lostAt = confirmedAgainst(p.rival, p.takeoverConfirmationsMs);
  if (lostAt === undefined) return {kind: 'Claimed', contest: true};
  // Both must be true at that time: the owner's records are gone, and the contender's are current. DNS may have changed since.
  return fresh && found >= lostAt ? win(raised) : {kind: 'Claimed', contest: true, ...again};
}

/** The trailing negatives among conclusive checks: a failed query is not a negative (rule 3). */
function negatives(rival: ClaimInput['rival']): readonly {at: number}[] {
  const asked = rival.filter(({verdict}) => verdict.kind !== 'Unknown');
  return asked.slice(asked.findLastIndex(({verdict}) => !denies(verdict)) + 1);
}

const confirmations = (rival: ClaimInput['rival'], afterMs: readonly number[]) =>
  confirmationsIn(negatives(rival), afterMs);

/**
 * Time at which the owner's negative was confirmed: seen first, then seen again after each time of `afterMs`, with no other answer
 * between.
 */
const confirmedAgainst = (rival: ClaimInput['rival'], afterMs: readonly number[]) => {
  const doubt = confirmations(rival, afterMs);
  return doubt && doubt.confirmed >= afterMs.length ? doubt.lastAt : undefined;
};

/**
 * When to check the current owner's records again, ms since the epoch: at once after each verification against the owner (`provenAt`), at
 * each confirmation while the owner is in doubt, and otherwise never.
 */
export function nextRivalLook(rival: ClaimInput['rival'], afterMs: readonly number[], provenAt: number): number {
  const last = rival.at(-1);
  if (!last || last.at < provenAt) return provenAt;
  const doubt = confirmations(rival, afterMs);
  if (!doubt) return last.verdict.kind === 'Unknown' ? last.at + doubtMs : Infinity;
  return Math.max(doubt.since + (afterMs[doubt.confirmed] ?? 0), last.at + 1000);
}

/**
 * How long a claim is kept after its owner is gone or no longer names the hostname, ms:
 * - The platform's own claim: permanently.
 * - A hostname: for the quarantine (rule 5), unless it never had a Certificate.
 * - A default hostname that is derived from its tenant: while the orders in the claim count. No other tenant can get this hostname, and
 *   creating the Project again gains no orders.
 * - A default hostname that only the claim ties to its tenant: permanently. An earlier release created the hostname, or the platform has
 *   given the Namespace to another Account since.
 */
export function keptForMs(
  claim: DomainClaim,
  {installation, zone, quarantineTimeMs, orderMemoryMs, addressOnly}: KeepingPolicy,
  known: ClaimFacts,
): number {
  const {holder} = claim.status ?? {};
  if (claim.spec.proof === 'Platform') return Infinity;
  if (holder?.kind !== 'Project') return !addressOnly && wasNeverServed(claim, known) ? 0 : quarantineTimeMs;
  const {orders, retentionEnds, now} = known;
  const {namespace, name} = holder;
  if (claim.metadata.name !== projectHost({installation, zone, tenant: claim.spec.tenant, namespace, name}))
    return Infinity;
  const counted = orders.map((o) => Date.parse(o.endedAt ?? o.at) + orderMemoryMs - now);
  return Math.max(0, ...counted, retentionEnds < Infinity ? retentionEnds - now : 0);
}

/** Settings that decide how long a claim is kept. */
interface KeepingPolicy {
  installation: string;
  zone: Hostname;
  quarantineTimeMs: number;
  orderMemoryMs: number;
  addressOnly: boolean;
}

/** Facts about the hostname of a claim. Times are ms since the epoch. */
interface ClaimFacts {
  /** The orders that budgets count. */
  orders: readonly Order[];
  /** End of the retention of its Certificate, which requires the claim; Infinity without a retained Certificate. */
  retentionEnds: number;
  /** Time since which the hostname has had no Certificate. */
  certifiedAt: number;
  now: number;
}

/**
 * Whether a hostname has had no Certificate since its first owner claimed it. Such a hostname was never served. Records that may exist in
 * DNS (a CNAME to this tenant's default hostname, its token) verify it for no other tenant.
 */
const wasNeverServed = ({status}: DomainClaim, {orders, retentionEnds, certifiedAt}: ClaimFacts): boolean =>
  status?.generation === 0 &&
  Date.parse(status.since ?? '') > certifiedAt &&
  orders.length === 0 &&
  retentionEnds === Infinity;

/**
 * Releases a claim whose owner is gone, and keeps it for its tenant for `keepMs` (Infinity: permanently). `orders`: the orders of the
 * hostname, which the CA remembers too.
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

/**
 * Records all orders of the hostname in its claim, before the last object that shows them is deleted. Undefined if the claim already
 * lists every order.
 */
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
 * The claim of a Project's default hostname: `held` if the Project owns it, the claim to write, or undefined if it is another tenant's. A
 * default hostname never passes to another tenant, because customers' records may still name it.
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
