/**
 * How one hostname is decided, by its own facts alone (rule 2): it is accepted or refused; then one list of steps is asked while it is
 * not proven, and another from the proof on (see outcome.ts).
 */
import type {HostStatus, Party} from '../../api/custom-domain.ts';
import {type ReasonName, reasons} from '../reasons/reasons.ts';
import type {ClaimWrite} from '../claims/claim-write.ts';
import {none} from '../routes/hand-over.ts';
import {accept, refusalOf} from './accepting.ts';
import {
  checkDns,
  contestClaim,
  keepLastAnswer,
  reportClaimError,
  reportExpiry,
  reportFirstCheck,
  reportPassing,
  reportVerdict,
} from './awaiting.ts';
import type {HostDecision} from './finish.ts';
import {finish} from './finish.ts';
import {awaitCertificate, keepOnHold, reportLostCertificate, reportWriteError, watchRenewal} from './issuing.ts';
import {
  answerInPlaceOfAnother,
  awaitEdge,
  beginWaitingForPrimary,
  goOnWaitingForPrimary,
  probeEdge,
  publishRedirect,
  reportCdn,
  reportHttpsRecord,
  reportEdgeFault,
  reportGraceOfDowngrade,
  reportGraceOfDrift,
  reportGraceOfFormerRole,
  reportLateRenewal,
  reportServed,
} from './live.ts';
import {countOrder, holdOrderBack, moveToIssuer, recheckDns} from './ordering.ts';
import {reissue} from './reissuing.ts';
import type {Step} from './outcome.ts';
import {run, say} from './outcome.ts';
import {handOverMs, own} from './owning.ts';
import {prove} from './proving.ts';
import {awaitHandOver, plan, replaceRoutes, writeRoutes} from './routing.ts';
import type {Host, Owned, PlannedHost} from './stages.ts';
import type {WantedHost} from '../hostnames/hosts.ts';
import {timestamp} from '../times.ts';
import type {DecisionWorld} from '../world.ts';

/** AwaitingVerification. */
const untilVerified: readonly Step<Owned>[] = [
  checkDns,
  contestClaim,
  reportClaimError,
  reportExpiry,
  reportVerdict,
  reportPassing,
  keepLastAnswer,
  reportFirstCheck,
];

/** Verified, until there is a certificate. */
const untilCertified: readonly Step<PlannedHost>[] = [
  probeEdge,
  reportGraceOfFormerRole,
  holdOrderBack,
  recheckDns,
  moveToIssuer,
  reissue,
  countOrder,
  awaitHandOver,
  keepOnHold,
  reportWriteError,
  watchRenewal,
  reportLostCertificate,
  awaitCertificate,
];

/** Verified, until it is seen on the edge (rule 6). From then on it stays Live, and `probeEdge` watches it. */
const untilSeen: readonly Step<PlannedHost>[] = [
  replaceRoutes,
  answerInPlaceOfAnother,
  writeRoutes,
  goOnWaitingForPrimary,
  awaitEdge,
  beginWaitingForPrimary,
  publishRedirect,
];

const whileLive: readonly Step<PlannedHost>[] = [
  reportGraceOfDowngrade,
  reportGraceOfDrift,
  reportEdgeFault,
  reportLateRenewal,
  reportCdn,
  reportHttpsRecord,
  reportServed,
];

export function decideHost(world: DecisionWorld, want: WantedHost, primary: Host['primary']): HostDecision {
  const host = hostOf(world, want, primary);
  const accepted = accept(host);
  if (!accepted) return refuse(host);
  const owned = own(accepted);
  // Only what is proven is spared: what another has taken over meanwhile, or DNS proves no longer, has nothing left to keep.
  if (want.refusals.length > 0 && !owned.ownership.verified) return refuse(host, owned.claims);
  if (want.waitingRefusal && !belongsHere(owned)) return refuse(host, [], want.waitingRefusal);
  const proven = prove(owned);
  if (!proven) return handOver(owned, finish(owned, owned, run(untilVerified, owned), none));
  const planned = plan(proven);
  const decided = run([...untilCertified, ...(planned.wasLive ? [] : untilSeen), ...whileLive], planned);
  const kept = decided.answer.phase === 'Live' ? onceLive(planned) : planned;
  return whileAwaited(planned, finish(planned, kept, decided, planned.routing, planned.edge?.fault));
}

/** No event reports that the CustomDomain which is to take a hostname over is refused, or that its checks have ended. */
const whileAwaited = ({world, facts}: Host, decision: HostDecision): HostDecision =>
  facts.isAwaited ? {...decision, wakeAt: Math.min(decision.wakeAt ?? Infinity, world.now + handOverMs)} : decision;

function hostOf(world: DecisionWorld, want: WantedHost, primary: Host['primary']): Host {
  const {hostname, role} = want;
  const facts = world.facts.get(hostname) ?? {};
  const asked = world.request !== undefined && (facts.checkedAt ?? 0) < world.request.seenAt;
  const before = world.published.get(hostname)?.entry;
  return {world, want, hostname, role, facts, before, primary, asked};
}

/** Whether the hostname's claim is, or is about to be, this CustomDomain's. */
const belongsHere = ({ownership: {standing}}: Owned): boolean =>
  standing.kind === 'Held' || standing.kind === 'Winning';

/** The decision about a hostname that another CustomDomain of the tenant owns. */
function handOver({world, hostname, role, before, succession}: Owned, decision: HostDecision): HostDecision {
  if (!succession || !before) return decision;
  if (succession.isOver) return {...decision, succession: 'Over'};
  const reason = 'ServedUntilReplaced' satisfies ReasonName;
  const entry: HostStatus = {
    ...before,
    role,
    reason,
    message: `${hostname} is served as before until another CustomDomain of the same account serves it. That CustomDomain now owns it.`,
    since: before.reason === reason ? before.since : timestamp(world.now),
    waitingFor: reasons[reason].waitingFor as Party,
  };
  const wakeAt = Math.min(succession.wakeAt, decision.wakeAt ?? Infinity);
  return {...decision, entry, drifted: true, succession: 'UnderWay', wakeAt};
}

function refuse(host: Host, claims: ClaimWrite[] = [], refusal = refusalOf(host)): HostDecision {
  // Hostnames that wait for room come after all hostnames that have room.
  const waits = refusal.reason === 'HostnameLimitReached';
  const addedAt = host.before?.addedAt ?? timestamp(host.world.now);
  const kept = {...(!waits && {addedAt}), records: [], drifted: false, claims, ends: []};
  return finish(host, kept, {...say('NotAccepted', refusal), outcomes: []}, none);
}

/** The hostname no longer serves redirects, and is Live from now on unless it was before. */
function onceLive(host: PlannedHost): PlannedHost {
  const {world, role, wasLive, liveAt = wasLive ? undefined : timestamp(world.now), redirect} = host;
  return {...host, ...(liveAt !== undefined && {liveAt}), redirect: role === 'RedirectSource' ? redirect : undefined};
}
