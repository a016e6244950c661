/**
 * Watches the edge for one Live hostname (rule 6): when to probe it, and which fault its probes have confirmed.
 *
 *   probe fails --+1 min, fails--+5 min, fails--+15 min, fails--> fault: condition Live is False; phase and routes stay
 *        ^                                                            |
 *        +-------- one probe finds the issued certificate: no fault <-+
 *
 * Nothing is written before the fault is confirmed, so a blip causes no write (rule 9). An address whose fault a sample of other hostnames
 * has confirmed needs no confirmation here. After a restart, the published fault stays until a probe contradicts it.
 */
import type {CertificateFacts} from '../certificates/certificate.ts';
import {confirmationsIn, isConfirmed} from '../confirmations.ts';
import type {Hostname} from '../hostnames/hostname.ts';
import {nextRecheck, soonest, spreadOf} from '../schedule.ts';
import {edgeSettlesMs, seenOnEdge} from './edge.ts';
import type {EdgeProbe, World} from '../world.ts';

/** Time within which each Live hostname is probed after a start, or after an address was added, ms. */
export const edgeSweepMs = 1_800_000;

/** Shortest time between two probes for the same event, ms. The clock of cert-manager's Pod may be ahead. */
const shortestProbeMs = 10_000;

/** Share of the last confirmation's time after which a confirmed fault is probed again. */
const healShare = 1 / 3;

export interface EdgeFault {
  reason: 'EdgeNotServing' | 'EdgeUnreachable';
  message: string;
}

export const isEdgeFault = (reason: string): reason is EdgeFault['reason'] =>
  reason === 'EdgeNotServing' || reason === 'EdgeUnreachable';

export interface EdgeWatch {
  fault?: EdgeFault;
  /** Time of the next probe, ms since the epoch. */
  nextProbe: number;
  /** The probes so far are kept, because later ones may confirm them. */
  confirms: boolean;
  /** A requested check (Verify) waits for a probe. */
  awaited: boolean;
}

export interface WatchedHost {
  world: Pick<World, 'now' | 'policy' | 'edge' | 'startedAt' | 'request'>;
  hostname: Hostname;
  /** The certificate that the edge must present. */
  certificate: CertificateFacts;
  /** The edge probes, newest last. */
  probes: readonly EdgeProbe[];
  /** The fault that status reports. */
  published: EdgeFault | undefined;
}

export function watchEdge(host: WatchedHost): EdgeWatch {
  const {world, hostname, certificate, published} = host;
  const {now, policy, edge, request} = world;
  const afterMs = policy.edgeConfirmationsMs;
  // An earlier probe could not find the leaf that the edge must present now.
  const issuedAt = timeOf(certificate.issuedAt);
  const last = host.probes.at(-1)?.at;
  const probes = host.probes.filter(({at}) => at >= issuedAt);
  const newest = probes.at(-1);
  const awaited = request !== undefined && (last ?? 0) < request.seenAt;
  const due = (at: number) => soonest(at, awaited, last, now);

  const found = newest && seenOnEdge(hostname, certificate, newest.findings);
  if (!newest || !found || found.kind === 'Pending') {
    const nextProbe = due(newest ? nextRegular(host, newest.at) : firstProbe(host, issuedAt));
    return {...(published && {fault: published}), nextProbe, confirms: false, awaited};
  }
  if (found.kind === 'Seen') return {nextProbe: due(nextRegular(host, newest.at)), confirms: false, awaited};

  const good = probes.findLastIndex(({findings}) => seenOnEdge(hostname, certificate, findings).kind === 'Seen');
  const counted = confirmationsIn(probes.slice(good + 1), afterMs)!;
  const byAddress = found.edge !== undefined && edge?.faulty.has(found.edge) === true;
  if (published || byAddress || isConfirmed(counted, afterMs)) {
    const nextProbe = due(Math.min(newest.at + afterMs.at(-1)! * healShare, nextRegular(host, newest.at)));
    return {fault: {reason: found.kind, message: found.message}, nextProbe, confirms: true, awaited};
  }
  const confirmation = Math.max(counted.since + afterMs[counted.confirmed]!, newest.at + 1000);
  return {nextProbe: due(Math.min(confirmation, nextSweep(host, newest.at))), confirms: true, awaited};
}

const timeOf = (at: string | undefined): number => (at === undefined ? -Infinity : Date.parse(at));

/** The first probe of the leaf in this process: at once if the leaf is new, otherwise with the sweep that follows a start. */
function firstProbe({world, hostname, published, probes}: WatchedHost, issuedAt: number): number {
  const {startedAt, policy, now} = world;
  const last = probes.at(-1)?.at ?? -Infinity;
  if (issuedAt >= startedAt || last > -Infinity) return Math.max(issuedAt + edgeSettlesMs, last + shortestProbeMs);
  const {since, withinMs} = sweepOf(world);
  // A published fault may be over.
  const within = published ? Math.min(withinMs, policy.edgeConfirmationsMs.at(-1)! * healShare) : withinMs;
  return Math.max(now, Math.min(since + spreadOf(hostname) * within, nextRecheck(world, hostname)));
}

/** The next probe of a hostname without a confirmed or possible fault: with its next DNS re-check, or sooner after an event. */
function nextRegular(host: WatchedHost, last: number): number {
  const {world, hostname, certificate} = host;
  const regular = nextRecheck(world, hostname, last);
  const unreadySince = timeOf(certificate.unready?.since);
  const unready = last < unreadySince ? Math.max(unreadySince, last + shortestProbeMs) : Infinity;
  return Math.min(regular, unready, nextSweep(host, last));
}

function nextSweep({world, hostname}: WatchedHost, last: number): number {
  const {since, withinMs} = sweepOf(world);
  return last < since ? since + spreadOf(hostname) * withinMs : Infinity;
}

const sweepOf = ({edge, startedAt}: WatchedHost['world']) => edge?.sweep ?? {since: startedAt, withinMs: edgeSweepMs};
