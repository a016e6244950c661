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
import type {Order} from './budget.ts';
import {timestamp} from './conditions.ts';
import type {Hostname} from './hostname.ts';
import type {Tenant} from './tenant.ts';
import type {Verdict} from './verification.ts';
import {denies} from './verification.ts';

/** A claim as it should be. `before` undefined: it is created, or that fails because there is one. */
export interface ClaimWrite {
  hostname: Hostname;
  before: DomainClaim | undefined;
  spec: DomainClaimSpec;
  status: DomainClaimStatus;
}

/** An object that holds hostnames. */
export type Holder = CustomDomain | Project;

/** The tenant as a claim names it. */
export const identityOf = ({account, namespaceUID}: Tenant): DomainClaimSpec['tenant'] =>
  account === undefined ? {namespaceUID} : {account};

/** Whether a claim is a tenant's. What a namespace held before the platform gave it an Account is that Account's. */
export function belongsTo({spec: {tenant}}: DomainClaim, {account, namespaceUID}: Tenant): boolean {
  return tenant.account === undefined ? tenant.namespaceUID === namespaceUID : tenant.account === account;
}

export const isHeldBy = (claim: DomainClaim | undefined, holder: Holder) =>
  holder.metadata.uid !== undefined && claim?.status?.holder?.uid === holder.metadata.uid;

/**
 * What a tenant must publish as TXT: 128 bits of SHA-256 in hexadecimal, over installation, tenant, hostname and the claim's
 * generation. The tenant that has the claim keeps the token that it has published, whatever has been raised since.
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
export type Standing =
  /** Its own. `byPlatform`: and the platform's word is the proof. */
  | {kind: 'Held'; byPlatform: boolean}
  /** It has what it takes, and the claim is to be written; nothing else before. */
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
  /** It was proven here before, and nothing has been lost since. */
  verified: boolean;
  /** What DNS says of the present holder's right, newest last. */
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
export function standingOf(p: ClaimInput): Standing {
  const {claim, hostname} = p;
  const proof = p.verdict?.kind === 'Proven' ? p.verdict.by : undefined;
  // What was proven before the name passed on or was released proves nothing now. (Times on objects are whole seconds.)
  const countsFrom = claim?.status?.since === undefined ? -Infinity : Date.parse(claim.status.since) + 1000;
  const found = p.checkedAt ?? -Infinity;
  const fresh = found >= countsFrom && p.now - found <= freshMs;
  const again = {lookAt: Math.max(p.now, countsFrom)};
  const win = (change: Partial<DomainClaimStatus> = {}): Standing => {
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

/** Trailing negatives among what could be asked at all: "could not ask" is not "no" (rule 3). */
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

/** What the claim remembers of a proof that DNS gives no longer (rule 3). */
export interface Drift {
  /** Something about it has changed: to be written on the claim. */
  write?: ClaimWrite;
  /** Every confirmation has been had. */
  confirmed: boolean;
  /** When to look again, ms since the epoch; undefined: as ever. */
  nextLook?: number;
}

/** How long until a doubt that could not be asked about is looked into again. */
const doubtMs = 60_000;

/**
 * Drift of a held hostname: the first authoritative negative, then one confirmation after each of `afterMs` since it; a positive
 * answer ends it. Times stand on the claim, so a restart loses none.
 */
export function driftOf(
  claim: DomainClaim,
  verdict: Verdict | undefined,
  checkedAt: number | undefined,
  afterMs: readonly number[],
): Drift {
  const {
    status = {generation: 0},
    spec,
    metadata: {name: hostname},
  } = claim;
  const {negativeSince, negativeAt, negatives: counted = 0, ...rest} = status;
  const write = (change: Partial<DomainClaimStatus>): ClaimWrite => ({
    hostname,
    before: claim,
    spec,
    status: {...rest, ...change},
  });
  const since = negativeSince === undefined ? undefined : Date.parse(negativeSince);
  const confirmed = since !== undefined && counted >= afterMs.length;
  if (verdict === undefined || checkedAt === undefined)
    return {confirmed, ...(since !== undefined && !confirmed && {nextLook: since + (afterMs[counted] ?? 0)})};
  if (verdict.kind === 'Proven') return since === undefined ? {confirmed: false} : {confirmed: false, write: write({})};
  if (!denies(verdict)) return {confirmed, ...(since !== undefined && {nextLook: checkedAt + doubtMs})};
  const at = timestamp(checkedAt);
  if (since === undefined) {
    return {
      confirmed: afterMs.length === 0,
      write: write({negativeSince: at, negativeAt: at, negatives: 0}),
      nextLook: checkedAt + (afterMs[0] ?? doubtMs),
    };
  }
  if (confirmed) return {confirmed};
  const due = since + (afterMs[counted] ?? 0);
  // One look counts once, however often it is decided upon.
  if (checkedAt < due || at === negativeAt) return {confirmed, nextLook: Math.max(due, checkedAt + 1000)};
  const now = counted + 1;
  return {
    confirmed: now >= afterMs.length,
    write: write({negativeSince, negativeAt: at, negatives: now}),
    ...(now < afterMs.length && {nextLook: Math.max(since + (afterMs[now] ?? 0), checkedAt + 1000)}),
  };
}

/**
 * A claim whose holder is gone, or names it no more: kept for its tenant for a while (rule 5), or for ever where it is a default
 * host or the platform's word. `orders`: those of the hostname, which the CA remembers too.
 */
export function release(claim: DomainClaim, now: number, quarantineMs: number, orders: readonly Order[]): ClaimWrite {
  const {generation = 0, token, holder} = claim.status ?? {};
  const forEver = claim.spec.proof === 'Platform' || holder?.kind === 'Project';
  return {
    hostname: claim.metadata.name,
    before: claim,
    spec: claim.spec,
    status: {
      since: timestamp(now),
      generation: generation + 1,
      ...(token !== undefined && {token}),
      ...(!forEver && {quarantinedUntil: timestamp(now + quarantineMs)}),
      ...(orders.length > 0 && {orders: [...orders]}),
    },
  };
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
    status: {holder: {kind: 'Project', namespace, name, uid}, generation: claim?.status?.generation ?? 0},
  };
}
