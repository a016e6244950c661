/** A hostname that is not proven: what its DNS says, or why that is not enough. */

import {checksCaa} from '../certificates/choose-issuer.ts';
import {belongsTo, isHeldBy, nextRivalLook} from '../claims/claim.ts';
import {placeOf} from './dns-records.ts';
import type {Outcome} from './outcome.ts';
import {say, sayAgain} from './outcome.ts';
import type {Owned} from './stages.ts';
import {isOutdated} from '../verification/addresses.ts';
import {writeErrorRetryMs, writeErrors, tell} from '../status/write-error.ts';
import {saidAt} from '../verification/message.ts';
import {instruction} from '../verification/methods.ts';
import {reasonOf} from '../reasons/reasons.ts';
import type {Question} from '../verification/records.ts';
import {nextWaitingCheck, soonest} from '../schedule.ts';
import {moment} from '../times.ts';
import type {Look} from '../world.ts';

const hour = 3_600_000;

const wantedRecords = ({world, hostname, question, facts: {verdict}}: Owned) =>
  instruction(question, placeOf(world, hostname, verdict), world.policy);

/**
 * When the schedule of checks began, ms since the epoch: when the hostname was added, or let go by another CustomDomain of the tenant.
 */
function beganAt({addedAt, world: {tenant}, ownership: {claim}, before}: Owned): number {
  const {holder, since} = claim?.status ?? {};
  const isLetGo = claim !== undefined && holder === undefined && belongsTo(claim, tenant);
  const wasElsewhere = before?.reason === 'HostnameClaimed' || before?.reason === 'CheckPending';
  return Math.max(Date.parse(addedAt), isLetGo && wasElsewhere && since !== undefined ? Date.parse(since) : -Infinity);
}

/** When it is asked again, ms since the epoch; Infinity: not by itself. */
function nextCheck(host: Owned): number {
  const {world, facts, asked, ownership} = host;
  const {now, policy} = world;
  const {standing} = ownership;
  const {verdict, checkedAt, earlier} = facts;
  if (isOutdated(verdict, policy)) return now;
  const scheduled = nextWaitingCheck(policy, beganAt(host), checkedAt, now, earlier) ?? nextWatch(host);
  const needed = 'lookAt' in standing ? (standing.lookAt ?? Infinity) : Infinity;
  return Math.min(needed, soonest(scheduled, asked, checkedAt ?? earlier?.last, now));
}

/**
 * A verified hostname that another object owns is checked after the schedule, too: its owner may lose it at any time. If the owner is of
 * the same tenant, the verdict does not matter, because a failed query must not end the wait.
 */
function nextWatch(host: Owned): number {
  const {world, before, facts, ownership} = host;
  const {now, policy} = world;
  const {verdict, checkedAt} = facts;
  const isUnknown =
    verdict === undefined && (before?.reason === 'HostnameClaimed' || before?.reason === 'CheckPending');
  const isWatched = ownership.standing.kind === 'Claimed' || isUnknown || siblingOf(host) !== undefined;
  if (!isWatched) return Infinity;
  return checkedAt === undefined ? now : checkedAt + policy.recheckIntervalMs;
}

function lookAt({world: {policy}, hostname}: Owned, question: Question, at: number, ofRival = false): Look[] {
  const caa = checksCaa(policy);
  return [{hostname, what: 'dns', question, at, ...(caa && {caa}), ...(ofRival && {rival: true as const})}];
}

/** Schedules DNS checks until the schedule is over. */
export function checkDns(host: Owned): Outcome {
  const {world, question} = host;
  const {policy} = world;
  const since = beganAt(host);
  return {
    looks: lookAt(host, question, nextCheck(host)),
    wakeAt: [since + policy.propagationTimeMs, since + policy.verificationExpiresAfterMs],
  };
}

/** The hostname is verified, and another object owns it (rule 4): the owner's own verification is checked. */
export function contestClaim(host: Owned): Outcome | undefined {
  const {world, before, facts, ownership, addedAt} = host;
  const {now, policy} = world;
  const {rival, checkedAt} = facts;
  const {standing} = ownership;
  if (standing.kind !== 'Claimed') return undefined;
  const {contest} = standing;
  const looks =
    contest && rival
      ? lookAt(host, rival.question, nextRivalLook(rival.looks, policy.takeoverConfirmationsMs, checkedAt ?? now), true)
      : [];
  const sibling = siblingOf(host);
  if (sibling !== undefined && rival?.isBeingDeleted) {
    const message = `${attachedTo(host, sibling)}, which is being deleted. Doorplate moves it here when the deletion is complete.`;
    return {looks, ...say('AwaitingVerification', {reason: 'CheckPending', message})};
  }
  const heldBackUntil = (checkedAt ?? now) + commitMs;
  const isNew = (checkedAt ?? now) < Date.parse(addedAt) + newMs;
  const isUntold = before?.reason !== 'HostnameClaimed' && world.request === undefined;
  const isHeldBack = isNew && isUntold && now < heldBackUntil;
  if (sibling !== undefined && isHeldBack) {
    const message = `${attachedTo(host, sibling)}. Doorplate moves it here when that CustomDomain no longer names it.`;
    const said = say('AwaitingVerification', {reason: 'CheckPending', message});
    return {looks, passing: true, wakeAt: [heldBackUntil], ...said};
  }
  return {
    looks,
    ...say('AwaitingVerification', {
      reason: 'HostnameClaimed',
      message: claimedMessage(host, contest),
      ...(sibling !== undefined ? {details: {cause: 'Own'}} : contest && {details: {cause: 'Contest'}}),
    }),
  };
}

/**
 * One commit moves a hostname by two objects, which are applied one after the other. Time after a check during which `HostnameClaimed` is
 * not published, ms: the second object may still be applied. A check that was requested is answered at once.
 */
const commitMs = 2000;
/** Age up to which a hostname may be part of a commit that is still being applied, ms. */
const newMs = 60_000;

const provenButAttached = ({hostname}: Owned): string => `${hostname} has the right record, but it is attached`;
const attachedTo = (host: Owned, sibling: string): string =>
  `${provenButAttached(host)} already to ${sibling} of the same account`;

/** Told only to who has proved, without a word about a holder who is somebody else (rule 4). */
function claimedMessage(host: Owned, contest: boolean): string {
  const proven = provenButAttached(host);
  const sibling = siblingOf(host);
  if (sibling !== undefined) {
    return `${attachedTo(host, sibling)}. Remove it there, and Doorplate moves it here; or remove it here.`;
  }
  const remedy = contest
    ? 'To move it here, remove the DNS records that point there, such as an older TXT record. Doorplate ' +
      'checks this regularly.'
    : 'Create the TXT record in status.dnsRecords, or ask the platform.';
  return `${proven} elsewhere on this platform. ${remedy}`;
}

/** The other object or Namespace of the same tenant that owns the hostname already. */
function siblingOf({world: {domain, tenant}, ownership: {claim}}: Owned): string | undefined {
  const holder = claim?.status?.holder;
  return holder && !isHeldBy(claim, domain) && belongsTo(claim, tenant)
    ? `${holder.kind} ${holder.namespace}/${holder.name}`
    : undefined;
}

/** It is proven, and the API server has refused the claim that makes it the tenant's. */
export const reportClaimError = ({world: {now}, facts: {claimError}}: Owned): Outcome | undefined =>
  claimError && {wakeAt: [now + writeErrorRetryMs], ...say('AwaitingVerification', tell(claimError))};

export function reportExpiry(host: Owned): Outcome | undefined {
  if (nextCheck(host) < Infinity) return undefined;
  const hours = Math.round(host.world.policy.verificationExpiresAfterMs / hour);
  return say('AwaitingVerification', {
    reason: 'VerificationExpired',
    details: {limit: String(hours)},
    message:
      `${host.hostname} was not verified within ${hours} hours; automatic checks have ended. ` +
      `Create ${wantedRecords(host)}, then ask for a check (Verify).`,
  });
}

export function reportVerdict({world: {now}, facts: {verdict, checkedAt}, before}: Owned): Outcome | undefined {
  if (verdict === undefined || verdict.kind === 'Proven') return undefined;
  return say('AwaitingVerification', {reason: verdict.reason, ...saidAt(verdict, checkedAt ?? now, before)});
}

/**
 * Another CustomDomain of the tenant had the hostname and has let it go: the next check wins it, without an action. Replaces a published
 * `HostnameClaimed` at once.
 */
export function reportPassing({hostname, before, facts: {rival, verdict}, ...host}: Owned): Outcome | undefined {
  const {world, ownership} = host;
  const {claim} = ownership;
  const wasClaimed = before?.reason === 'HostnameClaimed';
  const isWriteError = before !== undefined && writeErrors.has(before.reason);
  if (!wasClaimed && (verdict?.kind !== 'Proven' || claim === undefined || isWriteError)) return undefined;
  const isHere = wasClaimed && isHeldBy(claim, world.domain);
  const isFree = isHere || claim?.status?.holder === undefined || rival?.isLetGo === true;
  if (claim && !(isFree && belongsTo(claim, world.tenant))) return undefined;
  const message =
    `${hostname} has the right record, and is no longer attached to another CustomDomain. ` +
    'The next check attaches it here.';
  return {
    ...(!wasClaimed && {passing: true}),
    ...say('AwaitingVerification', {reason: 'CheckPending', message}),
  };
}

/** After a restart the last published answer stays, unless another release wrote it with an unknown reason. */
export const keepLastAnswer = ({before}: Owned): Outcome | undefined =>
  before?.phase === 'AwaitingVerification' && reasonOf(before.reason) ? sayAgain(before) : undefined;

export function reportFirstCheck(host: Owned): Outcome {
  const at = nextCheck(host);
  const when =
    at <= host.world.now
      ? 'The first check starts now.'
      : `Doorplate has checked it several times recently; the next check runs by ${moment(at)}.`;
  const message = `Create ${wantedRecords(host)}. ${when}`;
  return {
    ...(at <= host.world.now && {passing: true}),
    ...say('AwaitingVerification', {reason: 'CheckPending', message}),
  };
}
