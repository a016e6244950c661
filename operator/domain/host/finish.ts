/** Turns the decision about one hostname into its status entry and its desired objects. */
import type {DnsRecordStatus, HostStatus, Party, ZoneStatus} from '../../api/custom-domain.ts';
import {cut} from '../../api/rules.ts';
import type {ClaimWrite} from '../claims/claim-write.ts';
import type {Routing} from '../routes/hand-over.ts';
import {shortDetails} from '../status/details.ts';
import {edgeGraceMs} from '../routes/edge.ts';
import type {EdgeFault} from '../routes/edge-watch.ts';
import {isAlike} from './dns-records.ts';
import type {HostReport, Outcome} from './outcome.ts';
import type {Host, RetainedStatus} from './stages.ts';
import type {OrderRequest} from '../certificates/issuance.ts';
import type {ReasonName, Refusal} from '../reasons/reasons.ts';
import {reasonOf, reasons} from '../reasons/reasons.ts';
import {longestMessage, timestamp} from '../times.ts';
import type {FreshAttempt, Look} from '../world.ts';

export interface HostDecision extends Routing {
  entry: HostStatus;
  claims: ClaimWrite[];
  freshAttempt?: FreshAttempt;
  orderRequest?: OrderRequest;
  records: DnsRecordStatus[];
  /** The refusal of a hostname that is still served. */
  refusal?: Refusal;
  /** It is served on although DNS proves it no longer. */
  drifted: boolean;
  /** A Live hostname that an address of the edge does not serve. */
  edgeFault?: EdgeFault;
  /** Another CustomDomain of the tenant owns the hostname. `UnderWay`: it does not serve the hostname yet, so the existing objects stay. */
  succession?: 'UnderWay' | 'Over';
  /** Whether a requested check is still to be made. */
  asked: boolean;
  /** Whether a requested reissue is still to be carried out. */
  reissuing: boolean;
  /** Whether the entry is transient, because the next state is expected soon. */
  passing: boolean;
  looks: Look[];
  /** ms since the epoch. */
  wakeAt?: number;
}

/** `routing`: the objects that it needs, unless a step has said otherwise. `edgeFault`: the confirmed fault of a Live hostname. */
export function finish(
  host: Host,
  kept: RetainedStatus,
  {answer, outcomes}: {answer: HostReport; outcomes: readonly Outcome[]},
  routing: Routing,
  edgeFault?: EdgeFault,
): HostDecision {
  const {world} = host;
  const last = <K extends keyof Outcome>(what: K) => outcomes.findLast((o) => o[what] !== undefined)?.[what];
  const [freshAttempt, orderRequest] = [last('freshAttempt'), last('orderRequest')];
  const wakes = [...kept.ends, host.facts.issuerUntil ?? [], ...outcomes.flatMap((o) => o.wakeAt ?? [])]
    .flat()
    .filter((at) => at > world.now);
  const asked = host.asked || outcomes.some((o) => o.unanswered);
  const needs = last('routing') ?? routing;
  return {
    entry: entryOf(host, kept, answer, needs),
    claims: kept.claims,
    drifted: kept.drifted,
    ...needs,
    ...(freshAttempt && {freshAttempt}),
    ...(orderRequest && {orderRequest}),
    ...(kept.refusal && {refusal: kept.refusal}),
    ...(edgeFault && answer.phase === 'Live' && {edgeFault}),
    records: kept.records,
    asked: asked && answer.phase !== 'NotAccepted',
    reissuing: outcomes.some((o) => o.reissuing),
    passing: outcomes.some((o) => o.passing),
    looks: outcomes.flatMap((o) => o.looks ?? []),
    ...(wakes.length > 0 && {wakeAt: Math.min(...wakes)}),
  };
}

function entryOf(
  {world, hostname, role, before, facts}: Host,
  kept: RetainedStatus,
  answer: HostReport,
  {certificates: [wanted]}: Routing,
): HostStatus {
  const {phase, reason, message} = answer;
  const words = cut(message, longestMessage);
  const isSaid = before?.reason === reason && before.message === words;
  // A status of an earlier release has no details: they come with the next change of the message.
  const details = isSaid ? before.details : answer.details && shortDetails(answer.details);
  const {addedAt, verifiedAt, verifiedBy, liveAt, servedUntil, refusedFrom, redirect} = kept;
  const unchanged = before?.phase === phase && isSameReason(before.reason, reason);
  const zone = unchanged ? sameZone(before.zone, kept.zone) : kept.zone;
  // A retained Certificate is not reported before verification. A Certificate that is about to be created is reported together with the
  // verification.
  const {notAfter, name = facts.writeError ? undefined : wanted?.metadata.name} =
    (verifiedAt !== undefined || !facts.certificate?.resting ? facts.certificate : undefined) ?? {};
  return {
    hostname,
    role,
    phase,
    reason,
    message: words,
    ...(details && {details}),
    since: unchanged ? before.since : timestamp(world.now),
    ...(addedAt !== undefined && {addedAt}),
    ...(verifiedAt !== undefined && {verifiedAt, ...(verifiedBy !== undefined && {verifiedBy})}),
    ...(liveAt !== undefined && {liveAt}),
    ...(zone && {zone}),
    waitingFor: answer.waitingFor ?? (reasons[reason].waitingFor as Party),
    ...(name !== undefined && {certificate: {name, ...(notAfter && {notAfter})}}),
    ...(redirect && {redirect}),
    ...(servedUntil !== undefined && {servedUntil}),
    ...(refusedFrom !== undefined && {refusedFrom}),
  };
}

/** An edge that is now unreachable and now serves another certificate has been missing all the time. */
const isSameReason = (before: string, now: ReasonName) =>
  before === now || (reasonOf(before)?.stalledAfter === 'edgeGrace' && reasons[now].stalledAfter === 'edgeGrace');

/** When a Live hostname with a reason that stalls after the edge's grace period becomes Stalled, ms since the epoch. */
export function stalledAt(reason: ReasonName, {world, before}: Pick<Host, 'world' | 'before'>): number {
  const since = before?.phase === 'Live' && isSameReason(before.reason, reason) ? Date.parse(before.since) : world.now;
  return since + edgeGraceMs;
}

/** The zone in its former words, where there is nothing else to tell. */
const sameZone = (before: ZoneStatus | undefined, now: ZoneStatus | undefined) =>
  before && now && isAlike(now, before) ? before : now;
