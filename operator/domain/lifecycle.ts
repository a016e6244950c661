/**
 * The lifecycle of the hostnames of one CustomDomain, decided whole and at once from what was gathered.
 *
 *            add                     DNS proves it              certificate issued, seen on the edge
 *   (none) -------> AwaitingVerification ----------> Verified -----------------------------------> Live
 *                      |   ^ check fails: stays,        | queued, stalled, budgets:
 *                      +---+ says why                   | domain/issuance.ts
 *
 *   not acceptable: NotAccepted, nothing is asked, nothing is routed; heals itself.
 *   downgraded:     Accepted is False, what was Live is served on until `servedUntil`, then NotAccepted.
 *   deleted:        routes first, then certificates, then the finalizer (controllers/custom-domain.ts).
 *
 * Rules that never bend, by where they stand here:
 *   1  no ACME before proof            desired certificates come only from hosts that are proven, past {@link orderGate}
 *   2  one broken host harms no other  every host is decided by its own facts ({@link decideHost})
 *   3  "could not ask" is not "no"     a verdict of Unknown takes nothing back ({@link decideHost})
 *   6  live means seen                 every edge address presented the issued leaf ({@link seenOnEdge})
 *   8  a downgrade frees no name       what is proven outlives it for the grace time ({@link acceptance})
 *   9  quiet when nothing changes      equal facts give an equal status, times included ({@link decide})
 */
import {domainToUnicode} from 'node:url';
import type {CustomDomainStatus, DnsRecordStatus, HostStatus, Party, Phase, RedirectStatus} from '../api/custom-domain.ts';
import type {Certificate, CustomDomain, Ingress, Project} from '../api/foreign.ts';
import {fold} from '../api/rules.ts';
import type {Refusal} from './acceptance.ts';
import {acceptHostname, acceptRest, acceptWhole, strikeNewest} from './acceptance.ts';
import type {Budgets, Grant, Order} from './budget.ts';
import type {CertificateFacts} from './certificate.ts';
import {makeCertificate} from './certificate.ts';
import {edgeGraceMs, longestMessage, makeConditions, timestamp} from './conditions.ts';
import type {Diagnosis} from './diagnosis.ts';
import type {Hostname} from './hostname.ts';
import {normalise, objectNameOf, recordName} from './hostname.ts';
import {makeIngress} from './ingress.ts';
import type {IssuanceStep, IssuanceWorld, OrderWish} from './issuance.ts';
import {afterOrder, attemptOf, beforeOrder, expiryOf, failureOf} from './issuance.ts';
import type {ReasonName} from './reasons.ts';
import {reasons} from './reasons.ts';
import type {Redirector} from './routes.ts';
import {httpToHttps, redirectFrom, serve} from './routes.ts';
import type {Tenant} from './tenant.ts';
import type {Verdict} from './verification.ts';
import {instruction} from './verification.ts';

/** What the platform has set, as far as decisions need it. All times in milliseconds. */
export interface Policy {
  installation: string;
  zone: Hostname;
  tls: 'Wildcard' | 'PerProject';
  issuerRef: Certificate['spec']['issuerRef'];
  ingressClassName: string;
  edgeAddresses: readonly string[];
  redirector: Redirector;
  /** The CA's names in CAA records; empty: CAA is not looked at. */
  caaIdentities: readonly Hostname[];
  deniedNames: readonly Hostname[];
  waitSchedule: readonly {everyMs: number; forMs: number}[];
  recheckIntervalMs: number;
  propagationTimeMs: number;
  verificationExpiresAfterMs: number;
  issuanceStalledAfterMs: number;
  budgets: Budgets;
  graceTimeMs: number;
  defaultPlan: string;
}

/** What one address of the edge presented for a hostname: a leaf, or nothing. */
export interface EdgeFinding {edge: {address: string; port: number}; leafSha256?: string; subjectAltNames?: string; unreachable?: string}

/** What was gathered about one hostname. */
export interface HostFacts {
  /** The newest verdict of this process; undefined before the first check. */
  verdict?: Verdict;
  /** When it was made, ms since the epoch. */
  checkedAt?: number;
  certificate?: CertificateFacts;
  /** Its orders of the last days, by time. */
  orders?: readonly Order[];
  /** What was said to its wish for an order. */
  grant?: Grant;
  /** What cert-manager says of the attempt that is stuck. */
  diagnosis?: Diagnosis;
  /** An object of somebody else's that has the name of one that its routes or certificate need: `Ingress namespace/name`. */
  inTheWay?: string;
  /** The newest look at the edge. */
  edge?: EdgeFinding[];
  edgeLookedAt?: number;
}

/** Everything that a decision depends on. */
export interface World {
  now: number;
  domain: CustomDomain;
  project: Project | undefined;
  siblings: readonly CustomDomain[];
  tenant: Tenant;
  policy: Policy;
  /** The ingress class is Traefik's. */
  traefik: boolean;
  facts: ReadonlyMap<Hostname, HostFacts>;
  /** Whether an Ingress stands in the cluster exactly as desired. */
  stands: (ingress: Ingress) => boolean;
  /** When this process started, ms since the epoch. */
  startedAt: number;
  /** A check that was asked for (Verify, Re-verify) and is not answered yet: the annotation's value, and when it was first seen. */
  request?: {value: string; seenAt: number};
}

/** A look at the world that is due: a DNS check, a probe of the edge, or what cert-manager says of an attempt. */
export interface Look {
  hostname: Hostname;
  what: 'dns' | 'edge' | 'issuance';
  /** Infinity: what is known is needed still, and nothing is asked. */
  at: number;
  /** With its CAA records: an order would follow. */
  caa?: boolean;
  /** The attempt that is looked at, and its request. */
  attempt?: {id: string; namespace: string; request: string};
}

/** How an attempt failed, in the words that tell its cause. */
export interface Failure {hostname: Hostname; at: string; message: string}

/**
 * Another attempt at a certificate, because somebody asked (Re-verify) while it is stalled or has failed: the newest
 * CertificateRequest is deleted, Order and Challenge go with it. Where cert-manager is not at it any more, the Certificate is
 * marked for issuance, as `cmctl renew` does; that alone would not do, since a request that has failed in the same second counts
 * as the answer (cert-manager: requestmanager, deleteCurrentFailedRequests).
 */
export interface FreshAttempt {certificate: {namespace: string; name: string}; request?: {namespace: string; name: string; uid: string}; mark: boolean}

/** What should be. */
export interface Decision {
  status: CustomDomainStatus;
  certificates: Certificate[];
  ingresses: Ingress[];
  freshAttempts: FreshAttempt[];
  /** Who wants an order, or has one under way. */
  wishes: OrderWish[];
  failures: Failure[];
  /** The looks that the next decision waits for. */
  looks: Look[];
  /** When to decide again although nothing has happened, ms since the epoch. */
  wakeAt?: number;
}

/** The edge's own delay, which is no news: nothing is said of a wrong answer before it. */
const edgeDelayMs = 3_000;
/** Between a check and the next one that somebody asks for. */
const shortestCheckMs = 10_000;
const hour = 3_600_000;

interface Named {hostname: Hostname; written: string; role: HostStatus['role']; status: RedirectStatus; refusal?: Refusal}
/** `refusals`: all that speaks against it, the first counts. */
interface Wanted extends Named {refusals: Refusal[]}

/**
 * The hostnames of the spec: the primary first, the others by name, each with why it is refused if it is. `hosts` is a map
 * by hostname; the spelling of a twin is its key there (CEL has seen to it that none is given twice), or the Unicode form.
 */
function named(domain: CustomDomain, policy: Policy): Named[] {
  const entry = (written: string, role: HostStatus['role'], status: RedirectStatus): Named =>
    ({hostname: normalise(written) ?? fold(written), written, role, status, refusal: acceptHostname(written, policy)});
  const out = [entry(domain.spec.primary, 'Primary', 301)];
  const sources = (domain.spec.redirects ?? []).map((r) => entry(r.from, 'RedirectSource', r.status))
    .toSorted((a, b) => (a.hostname === b.hostname ? order(fold(a.written), fold(b.written)) : order(a.hostname, b.hostname)));
  for (const source of sources) {
    const twin = out.find((w) => w.hostname === source.hostname);
    if (!twin) { out.push(source); continue; }
    const key = [fold(source.written), domainToUnicode(source.hostname)].find((k) => !out.some((w) => w.hostname === k));
    if (key === undefined) continue;
    out.push({...source, hostname: key, refusal: {reason: 'DuplicateHostname', message: `${JSON.stringify(source.written)} is the same hostname as ${JSON.stringify(twin.written)}, in another spelling. Remove one of the two.`}});
  }
  return out;
}

/** The hostnames of the spec with all that speaks against them, in the order in which it counts. */
function wanted(world: World): Wanted[] {
  const {domain, project, siblings, tenant, policy} = world;
  const input = {domain, project, siblings, tenant};
  const [whole, rest] = [acceptWhole(input), acceptRest(input)];
  const names = named(domain, policy);
  const struck = strikeNewest(names.filter((n) => !n.refusal).map(({hostname, role}) => ({hostname, role, before: entryBefore(domain, hostname)})), tenant);
  return names.map((n) => ({...n, refusals: [...whole, n.refusal ?? [], rest, struck.get(n.hostname) ?? []].flat()}));
}

const entryBefore = (domain: CustomDomain, hostname: Hostname) => domain.status?.hosts?.find((h) => h.hostname === hostname);

const order = (a: string, b: string) => (a === b ? 0 : a < b ? -1 : 1);

/** The next automatic check while waiting, by the schedule's step for the time waited so far; undefined when all is over. */
export function nextWaitingCheck(policy: Policy, addedAt: number, lastCheck: number | undefined, now: number): number | undefined {
  if (now >= addedAt + policy.verificationExpiresAfterMs) return undefined;
  if (lastCheck === undefined) return now;
  let end = addedAt;
  let every = policy.recheckIntervalMs;
  for (const step of policy.waitSchedule) {
    end += step.forMs;
    every = step.everyMs;
    if (lastCheck < end) break;
  }
  return lastCheck + every;
}

/** How long until the edge is looked at again: soon at first, then every 15 s. */
const nextEdgeLook = (since: number, last: number | undefined, now: number) =>
  last === undefined ? now : last + Math.min(15_000, Math.max(250, (last - since) / 2));

type Seen = {kind: 'Seen'} | {kind: 'Pending'} | {kind: 'EdgeNotServing' | 'EdgeUnreachable'; message: string};

/** Rule 6: every edge address presented, for that SNI, the very leaf that was issued. */
function seenOnEdge(hostname: Hostname, leaf: string | undefined, edge: readonly EdgeFinding[] | undefined): Seen {
  if (leaf === undefined || edge === undefined || edge.length === 0) return {kind: 'Pending'};
  const at = (f: EdgeFinding) => `${f.edge.address}:${f.edge.port}`;
  const dead = edge.find((f) => f.unreachable !== undefined);
  if (dead) return {kind: 'EdgeUnreachable', message: `The edge at ${at(dead)} does not answer for ${hostname} (${dead.unreachable}). The certificate is there; the platform must bring the edge back.`};
  const other = edge.find((f) => f.leafSha256 !== leaf);
  return other
    ? {kind: 'EdgeNotServing', message: `The edge at ${at(other)} presents another certificate for ${hostname}${other.subjectAltNames ? ` (of ${other.subjectAltNames})` : ''} than the one that was issued. If that lasts, the platform must look at its ingress controller.`}
    : {kind: 'Seen'};
}

interface HostDecision {
  entry: HostStatus;
  /** What a proven host needs; nothing for any other (rule 1). */
  certificates: Certificate[];
  ingresses: Ingress[];
  /** Its routes stand. */
  routed: boolean;
  freshAttempt?: FreshAttempt;
  wish?: OrderWish;
  failure?: Failure;
  record: Pick<DnsRecordStatus, 'state' | 'observed'>;
  /** What speaks against it, while it is spared. */
  refusal?: Refusal;
  /** The check that was asked for has not been made yet. */
  asked: boolean;
  looks: Look[];
  wakeAt?: number;
}

/** A hostname that is no longer acceptable and stands all the same, because it was proven before. `ends`: when that is over. */
interface Spared {refusal: Refusal; servedUntil: string; ends?: number}

/** What is said of a hostname that is spared. */
const sparing: ReadonlySet<string> = new Set<ReasonName>(['PlanUpgradeRequired', 'HostnameLimitReached']);

/**
 * Rule 8: what speaks against a hostname that is proven counts only when the grace time is over; or, while nobody knows what its
 * tenant may have, not at all: then what was said before stands, and nothing ends.
 */
function acceptance(world: World, before: HostStatus | undefined, refusals: readonly Refusal[]): 'Accepted' | 'Refused' | Spared {
  const [first] = refusals;
  if (!first) return 'Accepted';
  if (before?.verifiedAt === undefined || refusals.some((r) => r.sparesProven === undefined)) return 'Refused';
  if (first.sparesProven === 'Always') {
    if (before.servedUntil === undefined) return 'Accepted';
    const {reason, message} = sparing.has(before.reason) ? before : first;
    return {refusal: {reason: reason as ReasonName, message}, servedUntil: before.servedUntil};
  }
  const servedUntil = before.servedUntil ?? timestamp(world.now + world.policy.graceTimeMs);
  const ends = Date.parse(servedUntil);
  if (world.now >= ends) return 'Refused';
  const what = before.liveAt === undefined ? 'keeps what it has' : 'is served';
  return {refusal: {...first, message: `${first.message} ${before.hostname} ${what} until ${servedUntil.slice(0, 16).replace('T', ' ')} UTC.`}, servedUntil, ends};
}

/** Decides one hostname by its own facts alone (rule 2); of the primary it knows only whether that is Live. */
function decideHost(world: World, want: Wanted, primary: {hostname: Hostname; live: boolean}): HostDecision {
  const {now, policy, project} = world;
  const {hostname, role} = want;
  const facts: HostFacts = world.facts.get(hostname) ?? {};
  const before = entryBefore(world.domain, hostname);
  let addedAt: string | undefined = before?.addedAt ?? timestamp(now);
  const looks: Look[] = [];
  let wakeAt: number | undefined;
  const by = (at: number) => { if (at > now) wakeAt = Math.min(at, wakeAt ?? Infinity); };

  let objects: Pick<HostDecision, 'certificates' | 'ingresses' | 'routed'> = {certificates: [], ingresses: [], routed: false};
  let verifiedAt = before?.verifiedAt;
  let liveAt = before?.liveAt;
  let redirect: HostStatus['redirect'];
  let freshAttempt: FreshAttempt | undefined;
  let wish: OrderWish | undefined;
  let failure: Failure | undefined;
  let spared: Spared | undefined;
  let record: HostDecision['record'] = {state: 'Unknown'};
  let asked = world.request !== undefined && (facts.checkedAt ?? 0) < world.request.seenAt;

  const say = (phase: Phase, reason: ReasonName, message: string, waitingFor = reasons[reason].waitingFor as Party): HostDecision => {
    // An edge that is now unreachable and now serves another certificate has been missing all the time.
    const same = before?.reason === reason || (before && edgeMissing.has(before.reason) && edgeMissing.has(reason));
    const since = same && before.phase === phase ? before.since : timestamp(now);
    const certificate = facts.certificate && {name: facts.certificate.name, ...(facts.certificate.notAfter && {notAfter: facts.certificate.notAfter})};
    return {
      entry: {
        hostname, role, phase, reason, message: message.slice(0, longestMessage), since,
        ...(addedAt !== undefined && {addedAt}),
        ...(verifiedAt !== undefined && {verifiedAt}),
        ...(liveAt !== undefined && {liveAt}),
        waitingFor,
        ...(certificate && {certificate}),
        ...(redirect && {redirect}),
        ...(spared && {servedUntil: spared.servedUntil}),
      },
      ...objects, ...(freshAttempt && {freshAttempt}), ...(wish && {wish}), ...(failure && {failure}), ...(spared && {refusal: spared.refusal}), record, asked: asked && phase !== 'NotAccepted', looks, ...(wakeAt !== undefined && {wakeAt}),
    };
  };

  const target = project?.status?.host;
  const accepted = acceptance(world, before, want.refusals);
  if (accepted === 'Refused' || project === undefined || target === undefined) {
    verifiedAt = undefined;
    liveAt = undefined;
    const refusal = want.refusals[0] ?? {reason: 'ProjectNotFound', message: `The Project ${world.domain.spec.projectRef.name} has no host yet.`};
    // Who waits for a place comes after all who have one, whatever becomes of them meanwhile.
    if (refusal.reason === 'HostnameLimitReached') addedAt = undefined;
    return say('NotAccepted', refusal.reason, refusal.message);
  }
  if (accepted !== 'Accepted') {
    spared = accepted;
    if (accepted.ends !== undefined) by(accepted.ends);
  }

  // What was refused for a while begins anew: the time in which DNS may be awaited is not over before the first check.
  if (before?.phase === 'NotAccepted') addedAt = timestamp(now);

  // Verification. A proof stands until an authoritative negative is confirmed (drift); "could not ask" is not "no".
  const {verdict} = facts;
  const proven = verifiedAt !== undefined || verdict?.kind === 'Proven';
  record = recordOf(verdict, proven) ?? priorRecord(world, hostname);
  // Somebody asked: at once, but never sooner than a while after the last check.
  const sooner = (scheduled: number) => (asked ? Math.min(scheduled, Math.max(now, (facts.checkedAt ?? -Infinity) + shortestCheckMs)) : scheduled);
  if (!proven) {
    const added = Date.parse(addedAt ?? timestamp(now));
    by(added + policy.propagationTimeMs);
    by(added + policy.verificationExpiresAfterMs);
    const next = sooner(nextWaitingCheck(policy, added, facts.checkedAt, now) ?? Infinity);
    if (next === Infinity) {
      return say('AwaitingVerification', 'VerificationExpired',
        `${hostname} was not verified within ${Math.round(policy.verificationExpiresAfterMs / hour)} hours; automatic checks have ended. Create ${instruction(hostname, target)}, then ask for a check (Verify).`);
    }
    looks.push({hostname, what: 'dns', at: next, ...(policy.caaIdentities.length > 0 && {caa: true})});
    if (verdict !== undefined) return say('AwaitingVerification', verdict.reason, verdict.message);
    // After a restart the last answer still stands in status: keep it rather than flap.
    return before?.phase === 'AwaitingVerification'
      ? say('AwaitingVerification', before.reason as ReasonName, before.message)
      : say('AwaitingVerification', 'CheckPending', `Create ${instruction(hostname, target)}. The first check follows at once.`);
  }
  verifiedAt ??= timestamp(now);
  // What has never been Live stands still while it is not acceptable: nothing new is ordered, nothing is lost.
  const still = spared !== undefined && liveAt === undefined;
  const wasLive = before?.phase === 'Live';
  const issuance: IssuanceWorld = {
    now, hostname, policy, before, wasLive, orders: facts.orders ?? [],
    ...(facts.certificate && {certificate: facts.certificate}), ...(facts.grant && {grant: facts.grant}), ...(facts.diagnosis && {diagnosis: facts.diagnosis}),
    checked: {proven: verdict?.kind === 'Proven', verifies: record.state === 'Found', ...(verdict?.kind === 'Proven' && verdict.caa && {caa: verdict.caa})},
    asked: world.request !== undefined && !asked,
  };
  /** What a step of the issuance asks for; a look at cert-manager for its words. */
  const takes = (step: IssuanceStep) => {
    if (step.wakeAt !== undefined) by(step.wakeAt);
    if (step.wish) wish = {hostname, state: step.wish, since: Date.parse(step.wish === 'Ordered' ? facts.certificate?.createdAt ?? timestamp(now) : before?.reason === 'IssuanceQueued' ? before.since : timestamp(now))};
    if (step.unanswered) asked = true;
    if (step.read) reads();
  };
  const reads = () => {
    const {certificate} = facts;
    if (certificate?.request) looks.push({hostname, what: 'issuance', at: facts.diagnosis ? Infinity : now, attempt: {id: attemptOf(certificate), namespace: certificate.request.namespace, request: certificate.request.uid}});
  };
  const gate = facts.certificate === undefined && !still ? caaGate(world, hostname, facts, before) ?? orderGate(world, issuance) : undefined;
  if (gate) {
    looks.push({hostname, what: 'dns', at: sooner(gate.nextLook), caa: true});
    takes(gate);
    // What has been served goes on: its Certificate is gone, the Secret may still stand.
    if (liveAt !== undefined) {
      objects = {...objectsOf(world, project, want), certificates: []};
      redirect = before?.redirect;
    }
    return say('Verified', gate.reason, gate.message, gate.waitingFor);
  }
  looks.push({hostname, what: 'dns', at: sooner((facts.checkedAt ?? lastCheckBefore(world, hostname)) + policy.recheckIntervalMs),
    ...(policy.caaIdentities.length > 0 && !still && !facts.certificate?.ready && {caa: true})});

  objects = objectsOf(world, project, want);

  // Redirects: in effect once the primary is Live; until then the last one stands.
  if (role === 'RedirectSource') {
    redirect = primary.live ? {to: primary.hostname, status: want.status} : before?.redirect;
  }
  if (spared && still) {
    if (!facts.certificate) objects = {certificates: [], ingresses: [], routed: false};
    return say('Verified', spared.refusal.reason, spared.refusal.message);
  }
  if (facts.inTheWay !== undefined) {
    if (!facts.certificate) wish = {hostname, state: 'Wanted', since: now};
    return say('Verified', 'NameTaken', `${facts.inTheWay} is not Doorplate's and has the name of an object that must be created; it is left alone. Delete or rename it.`);
  }
  const certificate = facts.certificate;
  if (certificate?.failure !== undefined && facts.diagnosis && certificate.attemptAt !== undefined) {
    failure = {hostname, at: certificate.attemptAt, message: failureOf(certificate, facts.diagnosis) ?? ''};
  }
  const again = (step: IssuanceStep) => { if (step.again && certificate) freshAttempt = attemptAgain(objects.certificates, certificate); };
  const expiry = certificate && expiryOf({...issuance, certificate});
  // What is farther away is met by the next check of its DNS.
  if (expiry?.next !== undefined && expiry.next - now < policy.recheckIntervalMs) by(expiry.next);
  if (expiry?.step) {
    takes(expiry.step);
    again(expiry.step);
    if (expiry.step.reason === 'CertificateExpired') return say('Verified', expiry.step.reason, expiry.step.message, expiry.step.waitingFor);
  }
  if (!certificate?.ready && !(wasLive && certificate)) {
    // Its Certificate has just been written.
    if (!certificate) wish = {hostname, state: 'Wanted', since: now};
    const step: IssuanceStep = certificate ? afterOrder({...issuance, certificate}) : {reason: 'Issuing', message: `${hostname} is verified; its certificate is being issued, usually within a couple of minutes.`, wakeAt: now + policy.issuanceStalledAfterMs};
    takes(step);
    again(step);
    if (step.withhold) objects = {certificates: [], ingresses: [], routed: false};
    return say('Verified', step.reason, step.message, step.waitingFor);
  }
  if (!objects.routed && !wasLive) return say('Verified', 'EdgePending', `${hostname} has its certificate; its ingress rules are being written.`);

  // Live means seen. Once seen it stays Live: a renewal swaps the leaf while it is served.
  if (!wasLive) {
    const waitForPrimary = () => say('Verified', 'WaitingForPrimary', `${hostname} is ready and redirects as soon as ${primary.hostname} is Live.`);
    // It was seen when it began to wait; it is looked at again once the primary is Live.
    if (role === 'RedirectSource' && !redirect && before?.phase === 'Verified' && before.reason === 'WaitingForPrimary') {
      return waitForPrimary();
    }
    const seen = seenOnEdge(hostname, certificate.leafSha256, facts.edge);
    if (seen.kind !== 'Seen') {
      const waits = before?.phase === 'Verified' && edgeReasons.has(before.reason);
      const since = waits ? Date.parse(before.since) : now;
      looks.push({hostname, what: 'edge', at: nextEdgeLook(since, facts.edgeLookedAt, now)});
      if (seen.kind !== 'Pending' && waits && (before.reason !== 'EdgePending' || now - since >= edgeDelayMs)) {
        by(since + edgeGraceMs);
        return say('Verified', seen.kind, seen.message);
      }
      // After a restart the last finding still stands in status: keep it rather than flap.
      if (facts.edge === undefined && waits && before.reason !== 'EdgePending') {
        by(since + edgeGraceMs);
        return say('Verified', before.reason as ReasonName, before.message);
      }
      by(since + edgeDelayMs);
      return say('Verified', 'EdgePending', `${hostname} has its certificate; the edge is being watched for it.`);
    }
    if (role === 'RedirectSource' && !redirect) return waitForPrimary();
    // The redirector reads status: what it shall answer is published before the host is called Live.
    if (role === 'RedirectSource' && !before?.redirect) {
      return say('Verified', 'RoutesPending', `${hostname} is ready; its redirect to ${primary.hostname} is being published.`);
    }
    liveAt ??= timestamp(now);
  }
  if (spared) return say('Live', spared.refusal.reason, spared.refusal.message);
  if (expiry?.step) return say('Live', expiry.step.reason, expiry.step.message, expiry.step.waitingFor);
  return role === 'Primary'
    ? say('Live', 'Serving', `${hostname} is served over TLS.`)
    : say('Live', 'Redirecting', `${hostname} redirects to ${redirect?.to ?? primary.hostname}.`);
}

const edgeMissing: ReadonlySet<string> = new Set<ReasonName>(['EdgeUnreachable', 'EdgeNotServing']);
const edgeReasons: ReadonlySet<string> = new Set<ReasonName>(['EdgePending', 'EdgeUnreachable', 'EdgeNotServing']);

const caaReasons: ReadonlySet<string> = new Set<ReasonName>(['CAABlocksIssuer', 'CAALookupFailed']);

/** What holds an order back although the name is proven, and when DNS is looked at until then. */
type Gate = IssuanceStep & {nextLook: number};

/** CAA records that forbid it, that could not be read, or were not yet. */
function caaGate(world: World, hostname: Hostname, facts: HostFacts, before: HostStatus | undefined): Gate | undefined {
  const {now, policy} = world;
  const caa = facts.verdict?.kind === 'Proven' ? facts.verdict.caa : undefined;
  if (policy.caaIdentities.length === 0 || caa?.kind === 'Allowed') return undefined;
  const held = before?.phase === 'Verified' && caaReasons.has(before.reason) ? before : undefined;
  const nextLook = nextWaitingCheck(policy, held ? Date.parse(held.since) : now, facts.checkedAt, now) ?? (facts.checkedAt ?? now) + policy.recheckIntervalMs;
  if (caa === undefined) {
    // Not read by this process: what status said of them stands until they are.
    return held ? {reason: held.reason as ReasonName, message: held.message, waitingFor: held.waitingFor, nextLook}
      : {reason: 'Issuing', message: `${hostname} is verified; its CAA records are read before its certificate is ordered.`, nextLook};
  }
  return caa.kind === 'Blocked' ? {reason: 'CAABlocksIssuer', message: caa.message, waitingFor: caa.by, nextLook}
    : {reason: 'CAALookupFailed', message: caa.message, nextLook};
}

/** The budgets and the line before them. */
function orderGate({now, policy, facts: all}: World, issuance: IssuanceWorld): Gate | undefined {
  const step = beforeOrder(issuance);
  if (!step) return undefined;
  const {checkedAt = now} = all.get(issuance.hostname) ?? {};
  const since = step.reason === issuance.before?.reason ? Date.parse(issuance.before.since) : now;
  return {...step, nextLook: nextWaitingCheck(policy, since, checkedAt, now) ?? checkedAt + policy.recheckIntervalMs};
}

/** Its newest request goes; where cert-manager is not at it any more, the Certificate is marked. */
function attemptAgain([made]: readonly Certificate[], {request, issuing}: CertificateFacts): FreshAttempt | undefined {
  return made && {certificate: {namespace: made.metadata.namespace ?? '', name: made.metadata.name}, ...(request && {request}), mark: !issuing};
}

/** The Certificate and the Ingresses of a proven host: in the tenant's namespace for the primary, in Doorplate's for the others. */
function objectsOf(world: World, project: Project, {hostname, role}: Wanted): Pick<HostDecision, 'certificates' | 'ingresses' | 'routed'> {
  const {domain, policy, traefik} = world;
  const name = objectNameOf(domain.metadata.uid ?? '', hostname);
  const tenant = domain.metadata.namespace ?? '';
  const routes = role === 'Primary'
    ? [serve({name, namespace: tenant, host: hostname, secretName: name, service: project.spec.serviceRef}), httpToHttps({name, host: hostname}, policy.redirector)]
    : [redirectFrom({name, host: hostname, secretName: name}, policy.redirector)];
  const ingresses = routes.flatMap((route) => makeIngress(route, {ingressClassName: policy.ingressClassName, traefik}) ?? []);
  const namespace = role === 'Primary' ? tenant : policy.redirector.namespace;
  return {certificates: [makeCertificate({name, namespace, hostname, issuerRef: policy.issuerRef})], ingresses, routed: ingresses.every(world.stands)};
}

/** What a verdict says of the record; undefined where what was said before stands: before the first check, and when a proven name could not be asked. */
function recordOf(verdict: Verdict | undefined, proven: boolean): HostDecision['record'] | undefined {
  if (verdict?.kind === 'Refuted') return {state: verdict.state, ...(verdict.observed.length > 0 && {observed: verdict.observed})};
  if (verdict?.kind === 'Proven') return {state: 'Found'};
  return verdict && !proven ? {state: 'Unknown'} : undefined;
}

/** What status said of the record before this process started. */
function priorRecord(world: World, hostname: Hostname): HostDecision['record'] {
  const prior = world.domain.status?.dnsRecords?.find((r) => r.hostname === hostname);
  return {state: prior?.state ?? 'Unknown', ...(prior?.observed && {observed: prior.observed})};
}

/** When a proven host counts as last checked after a start: spread over the interval before it, so that re-checks do not come all at once. */
function lastCheckBefore(world: World, hostname: Hostname): number {
  let hash = 0;
  for (let i = 0; i < hostname.length; i++) hash = (hash * 31 + hostname.charCodeAt(i)) % 1_000_003;
  return world.startedAt - Math.floor((hash / 1_000_003) * world.policy.recheckIntervalMs);
}

/** Decides everything: desired objects, status and the next looks. Pure; equal worlds give equal decisions. */
export function decide(world: World): Decision {
  const {domain, project} = world;
  const [first, ...others] = wanted(world) as [Wanted, ...Wanted[]];
  const primary = decideHost(world, first, {hostname: first.hostname, live: false});
  const live = {hostname: first.hostname, live: primary.entry.phase === 'Live'};
  const decisions = [primary, ...others.map((w) => decideHost(world, w, live))];

  const hosts = decisions.map((d) => d.entry);
  const conditions = makeConditions(world, hosts, primary, domain.status?.conditions ?? []);
  const target = project?.status?.host;
  const answered = world.request !== undefined && !decisions.some((d) => d.asked);
  const handled = answered ? world.request?.value : domain.status?.lastHandledReconcileAt;
  const status: CustomDomainStatus = {
    observedGeneration: domain.metadata.generation ?? 0,
    phase: primary.entry.phase,
    hostsLive: `${hosts.filter((h) => h.phase === 'Live').length}/${hosts.length}`,
    ...(target !== undefined && {dnsRecords: decisions.filter((d) => d.entry.phase !== 'NotAccepted').map((d): DnsRecordStatus => ({
      hostname: d.entry.hostname, type: 'CNAME', ...recordName(d.entry.hostname), value: target, ttl: 3600, ...d.record,
    }))}),
    hosts,
    ...(handled !== undefined && {lastHandledReconcileAt: handled}),
    conditions,
  };
  const wakes = decisions.flatMap((d) => d.wakeAt ?? []);
  return {
    status,
    certificates: decisions.flatMap((d) => d.certificates),
    ingresses: decisions.flatMap((d) => d.ingresses),
    freshAttempts: decisions.flatMap((d) => d.freshAttempt ?? []),
    wishes: decisions.flatMap((d) => d.wish ?? []),
    failures: decisions.flatMap((d) => d.failure ?? []),
    looks: decisions.flatMap((d) => d.looks),
    ...(wakes.length > 0 && {wakeAt: Math.min(...wakes)}),
  };
}
