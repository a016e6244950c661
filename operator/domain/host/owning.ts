/** Decides which tenant owns a hostname, and which part of its published state is still valid. */

import {recordsOf, zoneOf} from './dns-records.ts';
import type {Accepted, Owned} from './stages.ts';
import {ownershipOf, questionOf} from '../claims/ownership.ts';
import type {Refusal} from '../reasons/reasons.ts';
import {edgeSettlesMs} from '../routes/edge.ts';
import {minuteOf, timestamp} from '../times.ts';

export function own(host: Accepted): Owned {
  const {world, hostname, target, before, facts, spared} = host;
  const {now} = world;
  const ownership = ownershipOf(world, hostname, facts, before ?? {});
  const {claims, standing, byPlatform, drift, verified, verification, servedUntil: driftEnds} = ownership;
  // A hostname that was refused or has lost its verification starts again, so that its waiting time is not over before the first check.
  const isNew = before?.phase === 'NotAccepted' || (before?.verifiedAt !== undefined && !verified);
  const addedAt = (isNew ? undefined : before?.addedAt) ?? timestamp(now);
  const verifiedAt = verified ? before?.verifiedAt : undefined;
  const liveAt = verified ? before?.liveAt : undefined;
  const drifted = !spared && driftEnds !== undefined;
  const graceEnds = [driftEnds ?? [], spared ? Date.parse(spared.refusedFrom) : []].flat();
  const {verdict} = facts;
  const isVerified =
    standing.kind === 'Held' &&
    (verifiedAt !== undefined || byPlatform || (verdict?.kind === 'Proven' && !drift?.confirmed));
  const verifiedBy = verified || isVerified ? verification.verifiedBy : undefined;
  // A negative from a verified name's servers counts only when it is confirmed. Failed queries prove nothing.
  const doubtful = verdict?.kind === 'Unknown' || (verdict?.kind === 'Refuted' && !drifted);
  const counts = isVerified && doubtful ? undefined : verdict;
  const upheld = verdict?.kind === 'Proven' || (verdict?.kind === 'Refuted' && ownership.hidden) ? verdict : undefined;
  const question = questionOf(world, hostname, target, ownership.claim);
  const zone = zoneOf(before?.zone, counts);
  return {
    ...host,
    ownership,
    question,
    isVerified,
    ...(upheld && {upheld}),
    addedAt,
    ...(verifiedAt !== undefined && {verifiedAt}),
    ...(verifiedBy !== undefined && {verifiedBy}),
    ...(liveAt !== undefined && {liveAt}),
    ...(graceEnds.length > 0 && {servedUntil: timestamp(Math.min(...graceEnds))}),
    ...(spared && {refusedFrom: spared.refusedFrom}),
    ...(zone && {zone}),
    records: recordsOf(world, question, counts, drifted ? undefined : verifiedBy),
    ...(spared && {refusal: refusalWhileSpared(host, liveAt !== undefined, driftEnds)}),
    drifted,
    claims,
    ends: [driftEnds ?? [], spared?.ends ?? []].flat(),
    ...successionOf(host),
  };
}

/**
 * How often a hostname that is handed over is decided again, ms: no event reports that the successor is refused or cannot write its routes.
 */
export const handOverMs = 60_000;

/**
 * A hostname that has passed to another CustomDomain of the tenant is served as before until the successor's routes are applied: no request
 * fails, however long its certificate takes.
 */
function successionOf({world: {now}, before, facts: {successor}}: Accepted): Pick<Owned, 'succession'> {
  if (!successor) return {};
  const {routedSince = Infinity, isAnnounced, isBlocked} = successor;
  const settled = routedSince + edgeSettlesMs;
  if (before?.phase !== 'Live' || isBlocked || (isAnnounced && now >= settled)) return {succession: {isOver: true}};
  const next = now >= settled ? now + 1000 : settled;
  return {succession: {isOver: false, wakeAt: Math.min(next, now + handOverMs)}};
}

/** The refusal of a hostname that is still served, with the end of its grace period. A drift of its DNS may end that sooner. */
function refusalWhileSpared({hostname, spared}: Accepted, isLive: boolean, driftEnds = Infinity): Refusal | undefined {
  if (spared?.ends === undefined) return spared?.refusal;
  const until = minuteOf(timestamp(Math.min(spared.ends, driftEnds)));
  const {reason, message, details} = spared.refusal;
  return {
    reason,
    details,
    message: `${message} ${hostname} ${isLive ? 'is served' : 'keeps what it has'} until ${until}.`,
  };
}
