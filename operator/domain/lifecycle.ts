/**
 * The lifecycle of the hostnames of one CustomDomain, decided whole and at once from what was gathered.
 *
 *            add                     DNS proves it              certificate issued, seen on the edge
 *   (none) -------> AwaitingVerification ----------> Verified -----------------------------------> Live
 *                      |   ^ check fails: stays,        | queued, stalled, budgets:                | DNS moves away:
 *                      +---+ says why                   | issuance.ts                              | DNSDrifted, served on
 *
 *   not acceptable: NotAccepted, nothing is asked, nothing is routed; heals itself.
 *   downgraded:     Accepted is False, what was Live is served on until `servedUntil`, then NotAccepted.
 *   deleted:        routes first, then certificates, then the finalizer (controllers/custom-domain.ts).
 *
 * Rules that never bend, by where they stand here:
 *   1  no ACME before proof            desired certificates come only from hosts that are proven, past {@link orderGate}
 *   2  one broken host harms no other  every host is decided by its own facts ({@link decideHost})
 *   3  "could not ask" is not "no"     only confirmed negatives take a proof back (claim.ts: driftOf)
 *   4  proof decides, not speed        nothing follows from a proof before the claim is written (claim.ts: standingOf)
 *   5  a removed name is not free      claims outlive their objects (claim.ts: release)
 *   6  live means seen                 every edge address presented the issued leaf ({@link seenOnEdge})
 *   8  a downgrade frees no name       what is proven outlives it for the grace time ({@link acceptance})
 *   9  quiet when nothing changes      equal facts give an equal status, times included ({@link decide})
 */
import {domainToUnicode} from 'node:url';
import type {
  CustomDomainStatus,
  DnsRecordStatus,
  HostStatus,
  Party,
  Phase,
  RedirectStatus,
} from '../api/custom-domain.ts';
import type {Certificate, CustomDomain, DomainClaim, Ingress, Project} from '../api/foreign.ts';
import {fold} from '../api/rules.ts';
import type {Refusal} from './acceptance.ts';
import {acceptHostname, acceptRest, acceptWhole, strikeNewest} from './acceptance.ts';
import type {Budgets, Grant, Order} from './budget.ts';
import {mergeOrders, toRemember} from './budget.ts';
import type {CertificateFacts} from './certificate.ts';
import {makeCertificate} from './certificate.ts';
import type {ClaimWrite, Drift, Standing} from './claim.ts';
import {driftOf, nextRivalLook, standingOf, tokenFor} from './claim.ts';
import {edgeGraceMs, longestMessage, makeConditions, minuteOf, timestamp} from './conditions.ts';
import type {Diagnosis} from './diagnosis.ts';
import type {Hostname} from './hostname.ts';
import {isApexByName, normalise, objectNameOf, within} from './hostname.ts';
import type {Routing} from './ingress.ts';
import {edgeDelayMs, handOver, makeIngress} from './ingress.ts';
import type {IssuanceStep, IssuanceWorld, OrderWish} from './issuance.ts';
import {afterOrder, attemptOf, beforeOrder, expiryOf, failureOf} from './issuance.ts';
import type {ReasonName} from './reasons.ts';
import {reasons} from './reasons.ts';
import {instruction, recordsFor} from './records.ts';
import type {Redirector} from './routes.ts';
import {homeOf, httpToHttps, redirectFrom, serve} from './routes.ts';
import type {Tenant} from './tenant.ts';
import type {Proof, Question, Verdict} from './verification.ts';
import {told} from './verification.ts';

/** What the platform has set, as far as decisions need it. All times in milliseconds. */
export interface Policy {
  installation: string;
  zone: Hostname;
  tls: 'Wildcard' | 'PerProject';
  issuerRef: Certificate['spec']['issuerRef'];
  ingressClassName: string;
  edgeAddresses: readonly string[];
  redirector: Redirector;
  /** The CA's names in CAA records; empty: nobody knows them, CAA is not looked at. */
  caaIdentities: readonly Hostname[];
  deniedNames: readonly Hostname[];
  waitSchedule: readonly {everyMs: number; forMs: number}[];
  recheckIntervalMs: number;
  /** Rule 3: times after the first negative at which it must be seen again. */
  driftConfirmationsMs: readonly number[];
  /** The same where another has proven the hostname. */
  takeoverConfirmationsMs: readonly number[];
  quarantineTimeMs: number;
  propagationTimeMs: number;
  verificationExpiresAfterMs: number;
  issuanceStalledAfterMs: number;
  budgets: Budgets;
  graceTimeMs: number;
  defaultPlan: string;
}

/** What one address of the edge presented for a hostname: a leaf, or nothing. */
export interface EdgeFinding {
  edge: {address: string; port: number};
  leafSha256?: string;
  subjectAltNames?: string;
  /** RFC 3339, whole seconds, as in a Certificate's status. */
  notAfter?: string;
  unreachable?: string;
  /** Where that was asked: our redirector answered. */
  redirector?: boolean;
}

/** What was gathered about one hostname. */
export interface HostFacts {
  /** The newest verdict of this process; undefined before the first check. */
  verdict?: Verdict;
  /** When it was made, ms since the epoch. */
  checkedAt?: number;
  certificate?: CertificateFacts;
  /** Its orders of the last days, by time, as far as this process knows. */
  orders?: readonly Order[];
  /** What was said to its wish for an order. */
  grant?: Grant;
  /** What cert-manager says of the attempt that is stuck. */
  diagnosis?: Diagnosis;
  /** Its claim is another's: what proves that one's right, and what DNS has said of it, newest last. */
  rival?: {question: Question; looks: readonly {verdict: Verdict; at: number}[]};
  /** Since when a route of ours stands for it that serves (Primary), or redirects (RedirectSource), ms since the epoch. */
  standsAs?: {Primary?: number; RedirectSource?: number};
  /** A route of another's stands for it still. */
  occupied?: boolean;
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
  claimOf: (hostname: Hostname) => DomainClaim | undefined;
  /** Whether an Ingress stands in the cluster exactly as desired. */
  stands: (ingress: Ingress) => boolean;
  /** When this process started, ms since the epoch. */
  startedAt: number;
  /** A check that was asked for (Verify, Re-verify) and is not answered yet: the annotation's value, and when it was first seen. */
  request?: {value: string; seenAt: number};
}

/**
 * A look at the world that is due: a DNS check (of what proves our right, or the present holder's), a probe of the edge, or what
 * cert-manager says of an attempt. At Infinity: what is known is needed still, and nothing is asked.
 */
export type Look = {hostname: Hostname; at: number} &
  /** `caa`: with its CAA records, because an order would follow. */
  (
    | {what: 'dns'; question: Question; caa?: boolean}
    /** `whoAnswers`: whether that is our redirector is asked, too. */
    | {what: 'edge'; whoAnswers: boolean; question?: undefined; caa?: undefined}
    | {
        what: 'issuance';
        attempt: {id: string; namespace: string; request: string};
        question?: undefined;
        caa?: undefined;
      }
  );

/**
 * Another attempt at a certificate, because somebody asked (Re-verify) while it is stalled or has failed: the newest
 * CertificateRequest is deleted, Order and Challenge go with it. Where cert-manager is not at it any more, the Certificate is
 * marked for issuance, as `cmctl renew` does; that alone would not do, since a request that has failed in the same second counts
 * as the answer (cert-manager: requestmanager, deleteCurrentFailedRequests).
 */
export interface FreshAttempt {
  certificate: {namespace: string; name: string};
  request?: {namespace: string; name: string; uid: string};
  mark: boolean;
}

/** What should be. */
export interface Decision {
  status: CustomDomainStatus;
  /**
   * A hostname counts as proven, or as Live, and did not before. Status is written before anything is made of that: the process that
   * comes after a crash knows both by status alone, and would remove what it knows no proof of; and what was served in place of what
   * is Live now stops when that can be read, not sooner.
   */
  news: boolean;
  /** To be written before anything else, and then decided anew: nothing is won before the API server says so. */
  claims: ClaimWrite[];
  certificates: Certificate[];
  ingresses: Ingress[];
  freshAttempts: FreshAttempt[];
  /** Who wants an order, or has one under way. */
  wishes: OrderWish[];
  /** The looks that the next decision waits for. */
  looks: Look[];
  /** When to decide again although nothing has happened, ms since the epoch. */
  wakeAt?: number;
}

/** Between a check and the next one that somebody asks for. */
const shortestCheckMs = 10_000;
const hour = 3_600_000;

export interface Named {
  hostname: Hostname;
  written: string;
  role: HostStatus['role'];
  status: RedirectStatus;
  refusal?: Refusal;
}
/** `refusals`: all that speaks against it, the first counts. */
interface Wanted extends Named {
  refusals: Refusal[];
}

/**
 * The hostnames of the spec: the primary first, the others by name, each with why it is refused if it is. `hosts` is a map
 * by hostname; the spelling of a twin is its key there (CEL has seen to it that none is given twice), or the Unicode form.
 */
export function named(domain: CustomDomain, policy: Policy): Named[] {
  const entry = (written: string, role: HostStatus['role'], status: RedirectStatus): Named => ({
    hostname: normalise(written) ?? fold(written),
    written,
    role,
    status,
    refusal: acceptHostname(written, policy),
  });
  const out = [entry(domain.spec.primary, 'Primary', 301)];
  const sources = (domain.spec.redirects ?? [])
    .map((r) => entry(r.from, 'RedirectSource', r.status))
    .toSorted((a, b) =>
      a.hostname === b.hostname ? order(fold(a.written), fold(b.written)) : order(a.hostname, b.hostname),
    );
  for (const source of sources) {
    const twin = out.find((w) => w.hostname === source.hostname);
    if (!twin) {
      out.push(source);
      continue;
    }
    const key = [fold(source.written), domainToUnicode(source.hostname)].find(
      (k) => !out.some((w) => w.hostname === k),
    );
    if (key === undefined) continue;
    out.push({
      ...source,
      hostname: key,
      refusal: {
        reason: 'DuplicateHostname',
        message: `${JSON.stringify(source.written)} is the same hostname as ${JSON.stringify(twin.written)}, in another spelling. Remove one of the two.`,
      },
    });
  }
  return out;
}

/** The primary that the spec names no more and that is served still: until the new one is Live. */
export function formerPrimary(domain: CustomDomain): Hostname | undefined {
  return domain.status?.hosts?.find(
    (h) =>
      (h.role === 'Primary' || h.role === 'FormerPrimary') &&
      h.phase === 'Live' &&
      ![domain.spec.primary, ...(domain.spec.redirects ?? []).map((r) => r.from)].some(
        (written) => normalise(written) === h.hostname,
      ),
  )?.hostname;
}

/** What must be found in DNS for a hostname to be this tenant's. */
export const questionOf = (
  world: Pick<World, 'policy' | 'tenant' | 'claimOf'>,
  hostname: Hostname,
  target: Hostname,
): Question => ({
  hostname,
  target,
  token: tokenFor(world.policy.installation, world.tenant, hostname, world.claimOf(hostname)),
});

/** The hostnames of the spec with all that speaks against them, in the order in which it counts. */
function wanted(world: World): Wanted[] {
  const {domain, project, siblings, tenant, policy} = world;
  const input = {domain, project, siblings, tenant};
  const [whole, rest] = [acceptWhole(input), acceptRest(input)];
  const names = named(domain, policy);
  const struck = strikeNewest(
    names
      .filter((n) => !n.refusal)
      .map(({hostname, role}) => ({hostname, role, before: entryBefore(domain, hostname)})),
    tenant,
  );
  const former = formerPrimary(domain);
  return [
    ...names.map((n) => ({...n, refusals: [...whole, n.refusal ?? [], rest, struck.get(n.hostname) ?? []].flat()})),
    ...(former === undefined
      ? []
      : [
          {
            hostname: former,
            written: former,
            role: 'FormerPrimary' as const,
            status: 301 as const,
            refusals: [...whole, rest].flat(),
          },
        ]),
  ];
}

const entryBefore = (domain: CustomDomain, hostname: Hostname) =>
  domain.status?.hosts?.find((h) => h.hostname === hostname);

const order = (a: string, b: string) => (a === b ? 0 : a < b ? -1 : 1);

/** The next automatic check while waiting, by the schedule's step for the time waited so far; undefined when all is over. */
export function nextWaitingCheck(
  policy: Policy,
  addedAt: number,
  lastCheck: number | undefined,
  now: number,
): number | undefined {
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

/** Rule 6: every edge address presented, for that SNI, the very leaf that was issued; and what redirected is not redirected there any more. */
function seenOnEdge(
  hostname: Hostname,
  certificate: CertificateFacts | undefined,
  edge: readonly EdgeFinding[] | undefined,
): Seen {
  const {leafSha256: leaf, notAfter} = certificate ?? {};
  if ((leaf ?? notAfter) === undefined || edge === undefined || edge.length === 0) return {kind: 'Pending'};
  // No request tells the leaf of a Secret that cert-manager found and kept, or whose request is gone: status tells when it ends.
  const issued = (f: EdgeFinding) =>
    leaf !== undefined ? f.leafSha256 === leaf : f.notAfter === notAfter && f.subjectAltNames === `DNS:${hostname}`;
  const at = (f: EdgeFinding) => `${f.edge.address}:${f.edge.port}`;
  const dead = edge.find((f) => f.unreachable !== undefined);
  if (dead)
    return {
      kind: 'EdgeUnreachable',
      message: `The edge at ${at(dead)} does not answer for ${hostname} (${dead.unreachable}). The certificate is there; the platform must bring the edge back.`,
    };
  const other = edge.find((f) => !issued(f));
  if (other) {
    return {
      kind: 'EdgeNotServing',
      message: `The edge at ${at(other)} presents another certificate for ${hostname}${other.subjectAltNames ? ` (of ${other.subjectAltNames})` : ''} than the one that was issued. If that lasts, the platform must look at its ingress controller.`,
    };
  }
  const former = edge.find((f) => f.redirector);
  return former
    ? {
        kind: 'EdgeNotServing',
        message: `The edge at ${at(former)} still redirects ${hostname}, which is to serve now. If that lasts, the platform must look at its ingress controller.`,
      }
    : {kind: 'Seen'};
}

/** Certificates and routes only of a proven host (rule 1). */
interface HostDecision extends Routing {
  entry: HostStatus;
  claims: ClaimWrite[];
  freshAttempt?: FreshAttempt;
  wish?: OrderWish;
  records: DnsRecordStatus[];
  /** What speaks against it, while it is spared. */
  refusal?: Refusal;
  /** It is served on although DNS proves it no longer. */
  drifted: boolean;
  /** The check that was asked for has not been made yet. */
  asked: boolean;
  looks: Look[];
  wakeAt?: number;
}

const none: Routing = {certificates: [], ingresses: [], routed: false};

/**
 * A hostname that is no longer acceptable and stands all the same, because it was proven before. `ends`: when that is over, ms since
 * the epoch, and not told yet in the message.
 */
interface Spared {
  refusal: Refusal;
  servedUntil: string;
  ends?: number;
}

/** What is said of a hostname that is spared. */
const sparing: ReadonlySet<string> = new Set<ReasonName>(['PlanUpgradeRequired', 'HostnameLimitReached']);

/**
 * Rule 8: what speaks against a hostname that is proven counts only when the grace time is over; or, while nobody knows what its
 * tenant may have, not at all: then what was said before stands, and nothing ends.
 */
function acceptance(
  world: World,
  before: HostStatus | undefined,
  refusals: readonly Refusal[],
): 'Accepted' | 'Refused' | Spared {
  const [first] = refusals;
  if (!first) return 'Accepted';
  if (before?.verifiedAt === undefined || refusals.some((r) => r.sparesProven === undefined)) return 'Refused';
  // That of a drift is not that of a downgrade.
  const until = before.reason === 'DNSDrifted' ? undefined : before.servedUntil;
  if (first.sparesProven === 'Always') {
    if (until === undefined) return 'Accepted';
    const {reason, message} = sparing.has(before.reason) ? before : first;
    return {refusal: {reason: reason as ReasonName, message}, servedUntil: until};
  }
  const servedUntil = until ?? timestamp(world.now + world.policy.graceTimeMs);
  const ends = Date.parse(servedUntil);
  if (world.now >= ends) return 'Refused';
  return {refusal: first, servedUntil, ends};
}

/** Whose a hostname is, by its claim and by what DNS says of it now. */
interface Ownership {
  claim: DomainClaim | undefined;
  /** To be written. */
  claims: ClaimWrite[];
  standing: Standing;
  /** The platform's word is the proof. */
  byPlatform: boolean;
  /** All that were made for it, as far as anybody remembers. */
  orders: readonly Order[];
  /** What the claim remembers of a proof that DNS gives no longer. */
  drift: Drift | undefined;
  /** It was proven before, and that stands. */
  verified: boolean;
  /** It does not stand any more, by DNS: a new proof is awaited. */
  lost: boolean;
  /** It is served all the same until then, ms since the epoch. */
  servedUntil?: number;
}

function ownershipOf(
  world: World,
  hostname: Hostname,
  facts: HostFacts,
  {verifiedAt, liveAt}: {verifiedAt?: string; liveAt?: string},
): Ownership {
  const {now, policy} = world;
  const {verdict, checkedAt, certificate, diagnosis} = facts;
  const claims: ClaimWrite[] = [];
  const claim = world.claimOf(hostname);
  const failure = certificate && diagnosis && failureOf(certificate, diagnosis);
  const orders = mergeOrders(
    claim?.status?.orders ?? [],
    [...(facts.orders ?? []), failure ?? []].flat(),
    policy.budgets,
    now,
  );
  // Nothing is won by a proof before the claim is written, and what another has taken over is lost at once.
  const standing = standingOf({
    now,
    installation: policy.installation,
    hostname,
    holder: world.domain,
    tenant: world.tenant,
    claim,
    verdict,
    checkedAt,
    orders,
    verified: verifiedAt !== undefined,
    rival: facts.rival?.looks ?? [],
    takeoverConfirmationsMs: policy.takeoverConfirmationsMs,
  });
  if (standing.kind === 'Winning') claims.push(standing.write);
  const byPlatform = standing.kind === 'Held' && standing.byPlatform;
  if (standing.kind === 'Claimed' || standing.kind === 'Unproven') verifiedAt = undefined;

  // Drift: a proof stands until an authoritative negative is confirmed (rule 3).
  const drift =
    standing.kind === 'Held' && claim && !byPlatform && (verifiedAt !== undefined || verdict?.kind === 'Proven')
      ? driftOf(claim, verdict, checkedAt, policy.driftConfirmationsMs)
      : undefined;
  if (drift?.write) claims.push(drift.write);
  // What no CertificateRequest will tell any more is remembered, before anything is done that follows from it.
  if (standing.kind === 'Held' && claim && claims.length === 0) {
    const remembered = toRemember(orders, claim.status?.orders ?? [], certificate);
    if (remembered)
      claims.push({
        hostname,
        before: claim,
        spec: claim.spec,
        status: {generation: 0, ...claim.status, orders: remembered},
      });
  }
  const ends = drift?.confirmed ? driftEnds(world, claim, verdict, liveAt) : undefined;
  const lost = ends !== undefined && now >= ends;
  return {
    claim,
    claims,
    standing,
    byPlatform,
    orders,
    drift,
    lost,
    verified: verifiedAt !== undefined && !lost,
    ...(ends !== undefined && !lost && {servedUntil: ends}),
  };
}

/** What is said while something is awaited, the looks that it waits for, and when to decide again, ms since the epoch. */
interface Waiting {
  reason: ReasonName;
  message: string;
  looks: Look[];
  wakeAt: number[];
}

/** A hostname that is not proven: what its DNS says, or why that is not enough. `scheduled`: when it is asked again. */
function awaitProof(
  world: World,
  question: Question,
  facts: HostFacts,
  before: HostStatus | undefined,
  standing: Standing,
  p: {addedAt: number; scheduled: number},
): Waiting {
  const {now, policy} = world;
  const {verdict, checkedAt} = facts;
  const {hostname} = question;
  const wantedRecords = instruction(question, apexOf(world, hostname, verdict), policy.edgeAddresses);
  const next = Math.min('lookAt' in standing ? (standing.lookAt ?? Infinity) : Infinity, p.scheduled);
  const looks: Look[] = [];
  const look = (asks: Question, at: number) => {
    if (at < Infinity)
      looks.push({hostname, what: 'dns', question: asks, at, ...(policy.caaIdentities.length > 0 && {caa: true})});
  };
  const say = (reason: ReasonName, message: string): Waiting => ({
    reason,
    message,
    looks,
    wakeAt: [p.addedAt + policy.propagationTimeMs, p.addedAt + policy.verificationExpiresAfterMs],
  });
  look(question, next);
  if (standing.kind === 'Claimed') {
    if (standing.contest && facts.rival)
      look(facts.rival.question, nextRivalLook(facts.rival.looks, policy.takeoverConfirmationsMs, checkedAt ?? now));
    return say('HostnameClaimed', claimedMessage(hostname, standing));
  }
  if (next === Infinity) {
    return say(
      'VerificationExpired',
      `${hostname} was not verified within ${Math.round(policy.verificationExpiresAfterMs / hour)} hours; automatic checks have ended. Create ${wantedRecords}, then ask for a check (Verify).`,
    );
  }
  if (verdict !== undefined && verdict.kind !== 'Proven')
    return say(verdict.reason, told(verdict, checkedAt ?? now, before));
  // After a restart the last answer still stands in status: keep it rather than flap.
  return before?.phase === 'AwaitingVerification'
    ? say(before.reason as ReasonName, before.message)
    : say('CheckPending', `Create ${wantedRecords}. The first check follows at once.`);
}

/**
 * A hostname whose certificate is issued, until every edge has presented that (rule 6); then undefined. `redirected`: until now, so
 * that what is seen too soon does not count.
 */
function awaitEdge(
  {now}: World,
  hostname: Hostname,
  facts: HostFacts,
  before: HostStatus | undefined,
  redirected: boolean,
): Waiting | undefined {
  const waits = before?.phase === 'Verified' && edgeReasons.has(before.reason);
  const since = waits ? Date.parse(before.since) : now;
  const countsFrom = redirected ? since + edgeDelayMs : 0;
  const seen: Seen =
    (facts.edgeLookedAt ?? 0) < countsFrom ? {kind: 'Pending'} : seenOnEdge(hostname, facts.certificate, facts.edge);
  if (seen.kind === 'Seen') return undefined;
  const say = (reason: ReasonName, message: string, again: number): Waiting => ({
    reason,
    message,
    looks: [
      {
        hostname,
        what: 'edge',
        whoAnswers: redirected,
        at: Math.max(countsFrom, nextEdgeLook(since, facts.edgeLookedAt, now)),
      },
    ],
    wakeAt: [since + again],
  });
  if (seen.kind !== 'Pending' && waits && (before.reason !== 'EdgePending' || now - since >= edgeDelayMs))
    return say(seen.kind, seen.message, edgeGraceMs);
  // After a restart the last finding still stands in status: keep it rather than flap.
  if (facts.edge === undefined && waits && before.reason !== 'EdgePending')
    return say(before.reason as ReasonName, before.message, edgeGraceMs);
  return say('EdgePending', `${hostname} has its certificate; the edge is being watched for it.`, edgeDelayMs);
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
  const by = (at: number) => {
    if (at > now) wakeAt = Math.min(at, wakeAt ?? Infinity);
  };

  let objects: Routing = none;
  let verifiedAt = before?.verifiedAt;
  let liveAt = before?.liveAt;
  let redirect: HostStatus['redirect'];
  let claims: ClaimWrite[] = [];
  let servedUntil: string | undefined;
  let drifted = false;
  let freshAttempt: FreshAttempt | undefined;
  let wish: OrderWish | undefined;
  let spared: Spared | undefined;
  let records: DnsRecordStatus[] = [];
  let asked = world.request !== undefined && (facts.checkedAt ?? 0) < world.request.seenAt;

  const say = (
    phase: Phase,
    reason: ReasonName,
    message: string,
    waitingFor = reasons[reason].waitingFor as Party,
  ): HostDecision => {
    // An edge that is now unreachable and now serves another certificate has been missing all the time.
    const same = before?.reason === reason || (before && edgeMissing.has(before.reason) && edgeMissing.has(reason));
    const since = same && before.phase === phase ? before.since : timestamp(now);
    const certificate = facts.certificate && {
      name: facts.certificate.name,
      ...(facts.certificate.notAfter && {notAfter: facts.certificate.notAfter}),
    };
    return {
      entry: {
        hostname,
        role,
        phase,
        reason,
        message: message.slice(0, longestMessage),
        since,
        ...(addedAt !== undefined && {addedAt}),
        ...(verifiedAt !== undefined && {verifiedAt}),
        ...(liveAt !== undefined && {liveAt}),
        waitingFor,
        ...(certificate && {certificate}),
        ...(redirect && {redirect}),
        ...(servedUntil !== undefined && {servedUntil}),
      },
      claims,
      drifted,
      ...objects,
      ...(freshAttempt && {freshAttempt}),
      ...(wish && {wish}),
      ...(spared && {refusal: spared.refusal}),
      records,
      asked: asked && phase !== 'NotAccepted',
      looks,
      ...(wakeAt !== undefined && {wakeAt}),
    };
  };

  const awaits = (phase: Phase, waiting: Waiting): HostDecision => {
    looks.push(...waiting.looks);
    for (const at of waiting.wakeAt) by(at);
    return say(phase, waiting.reason, waiting.message);
  };

  const target = project?.status?.host;
  const accepted = acceptance(world, before, want.refusals);
  if (accepted === 'Refused' || project === undefined || target === undefined) {
    verifiedAt = undefined;
    liveAt = undefined;
    const refusal = want.refusals[0] ?? {
      reason: 'ProjectNotFound',
      message: `The Project ${world.domain.spec.projectRef.name} has no host yet.`,
    };
    // Who waits for a place comes after all who have one, whatever becomes of them meanwhile.
    if (refusal.reason === 'HostnameLimitReached') addedAt = undefined;
    return say('NotAccepted', refusal.reason, refusal.message);
  }
  if (accepted !== 'Accepted') {
    spared = accepted;
    ({servedUntil} = accepted);
    if (accepted.ends !== undefined) by(accepted.ends);
  }

  // What was refused for a while begins anew: the time in which DNS may be awaited is not over before the first check.
  if (before?.phase === 'NotAccepted') addedAt = timestamp(now);

  const {verdict, checkedAt, certificate, diagnosis} = facts;
  const {claim, standing, byPlatform, orders, drift, ...own} = ownershipOf(world, hostname, facts, {
    verifiedAt,
    liveAt,
  });
  ({claims} = own);
  if (!own.verified) verifiedAt = undefined;
  if (verifiedAt === undefined) liveAt = undefined;
  if (own.lost) addedAt = timestamp(now);
  if (own.servedUntil !== undefined) by(own.servedUntil);
  if (spared?.ends !== undefined) {
    const ends = timestamp(Math.min(spared.ends, own.servedUntil ?? Infinity));
    const message = `${spared.refusal.message} ${hostname} ${liveAt === undefined ? 'keeps what it has' : 'is served'} until ${minuteOf(ends)}.`;
    spared = {...spared, refusal: {...spared.refusal, message}};
  } else if (!spared && own.servedUntil !== undefined) {
    drifted = true;
    servedUntil = timestamp(own.servedUntil);
  }

  // Verification.
  const proven =
    standing.kind === 'Held' &&
    (verifiedAt !== undefined || byPlatform || (verdict?.kind === 'Proven' && !drift?.confirmed));
  const question = questionOf(world, hostname, target);
  // What a proven name's servers say counts here, too, only when it is confirmed.
  records = recordsOf(world, question, proven && !drifted && verdict?.kind === 'Refuted' ? undefined : verdict, proven);
  // Somebody asked: at once, but never sooner than a while after the last check.
  const sooner = (scheduled: number) =>
    asked ? Math.min(scheduled, Math.max(now, (checkedAt ?? -Infinity) + shortestCheckMs)) : scheduled;
  if (!proven) {
    const since = Date.parse(addedAt ?? timestamp(now));
    return awaits(
      'AwaitingVerification',
      awaitProof(world, question, facts, before, standing, {
        addedAt: since,
        scheduled: sooner(nextWaitingCheck(policy, since, checkedAt, now) ?? Infinity),
      }),
    );
  }
  verifiedAt ??= timestamp(now);
  // What has never been Live stands still while it is not acceptable: nothing new is ordered, nothing is lost.
  const still = spared !== undefined && liveAt === undefined;
  // Redirects: in effect once the primary is Live; until then the last one stands.
  const wasLive = before?.phase === 'Live' && !(role === 'Primary' && before.role === 'RedirectSource');
  if (role === 'RedirectSource')
    redirect = primary.live ? {to: primary.hostname, status: want.status} : before?.redirect;
  // One that becomes the primary redirects until it is seen to serve.
  else if (!wasLive) redirect = before?.redirect;
  // A hostname that is becoming the primary, or is no longer: what it was stands until what it becomes does.
  const was = role === 'RedirectSource' ? 'Primary' : 'RedirectSource';
  const changing = facts.standsAs?.[was] !== undefined && !still;
  const old = objectsOf(world, project, {hostname, role: was});
  const issuance: IssuanceWorld = {
    now,
    hostname,
    policy,
    before,
    wasLive,
    orders,
    ...(facts.grant && {grant: facts.grant}),
    ...(diagnosis && {diagnosis}),
    checked: {
      proven: verdict?.kind === 'Proven',
      verifies: records.every((r) => r.state === 'Found'),
      ...(verdict?.kind === 'Proven' && verdict.caa && {caa: verdict.caa}),
    },
    asked: world.request !== undefined && !asked,
  };
  const home = homeOf(role, world.domain.metadata.namespace ?? '', policy.redirector);
  const wishes = (state: OrderWish['state'], since: string) => {
    wish = {
      hostname,
      certificate: `${home}/${objectNameOf(world.domain.metadata.uid ?? '', hostname)}`,
      state,
      since: Date.parse(since),
    };
  };
  /** What a step of the issuance asks for. */
  const takes = ({wakeAt: at, wish: state, unanswered, read, again}: IssuanceStep) => {
    if (at !== undefined) by(at);
    if (state)
      wishes(
        state,
        (state === 'Ordered'
          ? certificate?.createdAt
          : before?.reason === 'IssuanceQueued'
            ? before.since
            : undefined) ?? timestamp(now),
      );
    if (unanswered) asked = true;
    if (read && certificate?.request)
      looks.push({
        hostname,
        what: 'issuance',
        at: diagnosis ? Infinity : now,
        attempt: {
          id: attemptOf(certificate),
          namespace: certificate.request.namespace,
          request: certificate.request.uid,
        },
      });
    if (again && certificate) freshAttempt = attemptAgain(objects.certificates, certificate);
  };
  // Where the platform's word is the proof, DNS need not verify, and CAA is left to the CA.
  const gate =
    certificate === undefined && !still
      ? ((byPlatform ? undefined : caaGate(world, hostname, facts, before)) ?? orderGate(world, issuance))
      : undefined;
  const recheck = (at: number, caa: boolean) => {
    const doubted = drifted
      ? nextWaitingCheck(policy, Date.parse(claim?.status?.negativeSince ?? timestamp(now)), checkedAt, now)
      : drift?.nextLook;
    looks.push({hostname, what: 'dns', question, at: sooner(Math.min(at, doubted ?? Infinity)), ...(caa && {caa})});
  };
  if (gate) {
    if (changing) objects = {...old, routed: false};
    // What has been served goes on: its Certificate is gone, the Secret may still stand.
    else if (liveAt !== undefined && !facts.occupied) objects = {...objectsOf(world, project, want), certificates: []};
    takes(gate);
    recheck(gate.nextLook, true);
    return say(
      changing && role === 'RedirectSource' && before?.phase === 'Live' ? 'Live' : 'Verified',
      gate.reason,
      gate.message,
      gate.waitingFor,
    );
  }
  recheck(
    (checkedAt ?? lastCheckBefore(world, hostname)) + policy.recheckIntervalMs,
    policy.caaIdentities.length > 0 && !still && !certificate?.ready,
  );

  objects = objectsOf(world, project, want);
  if (changing) {
    // The redirector reads status: what it shall answer is published before it is asked.
    const ready =
      certificate?.ready === true && (role !== 'RedirectSource' || (primary.live && before?.redirect !== undefined));
    const {wakeAt: at, ...both} = handOver(old, objects, {
      ready,
      since: facts.standsAs?.[role === 'RedirectSource' ? role : 'Primary'],
      now,
    });
    if (at !== undefined) by(at);
    objects = both;
    if (role === 'RedirectSource' && !objects.routed && before?.phase === 'Live') {
      return say(
        'Live',
        'Serving',
        `${hostname} is served as before until ${primary.hostname} is Live and its own redirect stands.`,
      );
    }
  }
  if (facts.occupied) objects = {...objects, ingresses: [], routed: false};
  if (spared && still) {
    if (!certificate) objects = none;
    return say('Verified', spared.refusal.reason, spared.refusal.message);
  }
  if (facts.inTheWay !== undefined) {
    // Nobody tells when it goes: it bears no label of ours.
    by(now + 60_000);
    if (!certificate) wishes('Wanted', timestamp(now));
    return say(
      'Verified',
      'NameTaken',
      `${facts.inTheWay} is not Doorplate's and has the name of an object that must be created; it is left alone. Delete or rename it.`,
    );
  }
  const expiry = certificate && expiryOf({...issuance, certificate});
  // What is farther away is met by the next check of its DNS.
  if (expiry?.next !== undefined && expiry.next - now < policy.recheckIntervalMs) by(expiry.next);
  if (expiry?.step) takes(expiry.step);
  if (expiry?.step?.reason === 'CertificateExpired')
    return say('Verified', expiry.step.reason, expiry.step.message, expiry.step.waitingFor);
  if (!certificate?.ready && !(wasLive && certificate)) {
    const step: IssuanceStep = certificate
      ? afterOrder({...issuance, certificate})
      : // Its Certificate has just been written.
        {
          reason: 'Issuing',
          message: `${hostname} is verified; its certificate is being issued, usually within a couple of minutes.`,
          wish: 'Wanted',
          wakeAt: now + policy.issuanceStalledAfterMs,
        };
    takes(step);
    if (step.withhold) objects = changing ? {...old, routed: false} : none;
    return say('Verified', step.reason, step.message, step.waitingFor);
  }
  // Another reason than what follows, so that the wait for the edge begins when the former routes are gone.
  if (changing && !wasLive)
    return say(
      'Verified',
      'RoutesPending',
      `${hostname} has its certificate; its ingress rules take the place of the former ones.`,
    );
  if (!objects.routed && !wasLive) {
    return say(
      'Verified',
      'EdgePending',
      facts.occupied
        ? `${hostname} has its certificate; its ingress rules follow when those of its former holder are gone.`
        : `${hostname} has its certificate; its ingress rules are being written.`,
    );
  }

  // Live means seen. Once seen it stays Live: a renewal swaps the leaf while it is served.
  if (!wasLive) {
    const waitForPrimary = () =>
      say(
        'Verified',
        'WaitingForPrimary',
        `${hostname} is ready and redirects as soon as ${primary.hostname} is Live.`,
      );
    // It was seen when it began to wait; it is looked at again once the primary is Live.
    if (
      role === 'RedirectSource' &&
      !redirect &&
      before?.phase === 'Verified' &&
      before.reason === 'WaitingForPrimary'
    ) {
      return waitForPrimary();
    }
    // What it was must be gone from the edge too before what it becomes counts as seen.
    const waiting = awaitEdge(world, hostname, facts, before, role === 'Primary' && redirect !== undefined);
    if (waiting) return awaits('Verified', waiting);
    if (role === 'RedirectSource' && !redirect) return waitForPrimary();
    // The redirector reads status: what it shall answer is published before the host is called Live.
    if (role === 'RedirectSource' && !before?.redirect) {
      return say(
        'Verified',
        'RoutesPending',
        `${hostname} is ready; its redirect to ${primary.hostname} is being published.`,
      );
    }
    liveAt ??= timestamp(now);
    if (role !== 'RedirectSource') redirect = undefined;
  }
  if (spared) return say('Live', spared.refusal.reason, spared.refusal.message);
  if (drifted) {
    const seen = verdict?.kind === 'Refuted' ? verdict.message : undefined;
    return say(
      'Live',
      'DNSDrifted',
      seen === undefined && before?.reason === 'DNSDrifted'
        ? before.message
        : `${seen ?? `${hostname} is proven no longer.`} ${hostname} is served until ${minuteOf(servedUntil ?? '')}.`,
    );
  }
  if (expiry?.step) return say('Live', expiry.step.reason, expiry.step.message, expiry.step.waitingFor);
  if (role === 'FormerPrimary')
    return say('Live', 'ServedUntilReplaced', `${hostname} is served as before until ${primary.hostname} is Live.`);
  return role === 'Primary'
    ? say('Live', 'Serving', `${hostname} is served over TLS.`)
    : say('Live', 'Redirecting', `${hostname} redirects to ${redirect?.to ?? primary.hostname}.`);
}

/**
 * Until when a Live hostname is served whose negative is confirmed, ms since the epoch: the grace time from then; no time at all
 * where DNS now names another Project here.
 */
function driftEnds(
  {now, policy}: World,
  claim: DomainClaim | undefined,
  verdict: Verdict | undefined,
  liveAt: string | undefined,
): number {
  if (liveAt === undefined) return now;
  if (
    verdict?.kind === 'Refuted' &&
    verdict.observed.some((o) => o.startsWith('CNAME ') && within(o.slice('CNAME '.length), policy.zone))
  )
    return now;
  const confirmedAt = claim?.status?.negativeAt;
  return (confirmedAt === undefined ? now : Date.parse(confirmedAt)) + policy.graceTimeMs;
}

/** Told only to who has proved, without a word about the holder (rule 4). */
const claimedMessage = (hostname: Hostname, {contest}: Extract<Standing, {kind: 'Claimed'}>) =>
  `${hostname} has the right record, but it is attached elsewhere on this platform. ${
    contest
      ? 'It passes over once the DNS names that place no longer: remove what points there, such as an older TXT record. This is watched.'
      : 'Create the TXT record of status.dnsRecords, or ask the platform.'
  }`;

const edgeMissing: ReadonlySet<string> = new Set<ReasonName>(['EdgeUnreachable', 'EdgeNotServing']);
const edgeReasons: ReadonlySet<string> = new Set<ReasonName>(['EdgePending', 'EdgeUnreachable', 'EdgeNotServing']);

const caaReasons: ReadonlySet<string> = new Set<ReasonName>(['CAABlocksIssuer', 'CAALookupFailed']);
const waitReasons: ReadonlySet<string> = new Set<ReasonName>(['IssuanceQueued', 'IssuanceBudgetExhausted']);

/** What holds an order back although the name is proven, and when DNS is looked at until then. */
type Gate = IssuanceStep & {nextLook: number};

/** CAA records that forbid it, that could not be read, or were not yet. */
function caaGate(world: World, hostname: Hostname, facts: HostFacts, before: HostStatus | undefined): Gate | undefined {
  const {now, policy} = world;
  const caa = facts.verdict?.kind === 'Proven' ? facts.verdict.caa : undefined;
  if (policy.caaIdentities.length === 0 || caa?.kind === 'Allowed') return undefined;
  const held =
    before?.phase === 'Verified' &&
    (caaReasons.has(before.reason) || (caa === undefined && waitReasons.has(before.reason)))
      ? before
      : undefined;
  // A proof that came without them is of a check that was not asked for them: the Certificate stood then.
  const nextLook =
    facts.verdict?.kind === 'Proven' && caa === undefined
      ? now
      : (nextWaitingCheck(policy, held ? Date.parse(held.since) : now, facts.checkedAt, now) ??
        (facts.checkedAt ?? now) + policy.recheckIntervalMs);
  if (caa === undefined) {
    // Not read by this process, or DNS could not be asked: what status said stands until they are, a place in line too.
    return held
      ? {
          reason: held.reason as ReasonName,
          message: held.message,
          waitingFor: held.waitingFor,
          nextLook,
          ...(held.reason === 'IssuanceQueued' && {wish: 'Wanted'}),
        }
      : {
          reason: 'Issuing',
          message: `${hostname} is verified; its CAA records are read before its certificate is ordered.`,
          nextLook,
        };
  }
  return caa.kind === 'Blocked'
    ? {reason: 'CAABlocksIssuer', message: caa.message, waitingFor: caa.by, nextLook}
    : {reason: 'CAALookupFailed', message: caa.message, nextLook};
}

/** The budgets and the line before them. */
function orderGate({now, policy, facts}: World, issuance: IssuanceWorld): Gate | undefined {
  const step = beforeOrder(issuance);
  if (!step) return undefined;
  const {checkedAt = now} = facts.get(issuance.hostname) ?? {};
  const since = step.reason === issuance.before?.reason ? Date.parse(issuance.before.since) : now;
  return {...step, nextLook: nextWaitingCheck(policy, since, checkedAt, now) ?? checkedAt + policy.recheckIntervalMs};
}

/** Its newest request goes; where cert-manager is not at it any more, the Certificate is marked. */
function attemptAgain([made]: readonly Certificate[], {request, issuing}: CertificateFacts): FreshAttempt | undefined {
  return (
    made && {
      certificate: {namespace: made.metadata.namespace ?? '', name: made.metadata.name},
      ...(request && {request}),
      mark: !issuing,
    }
  );
}

/** The Certificate and the Ingresses of a proven host: in the tenant's namespace for the primary, in Doorplate's for the others. */
function objectsOf(world: World, project: Project, {hostname, role}: Pick<Wanted, 'hostname' | 'role'>): Routing {
  const {domain, policy, traefik} = world;
  const name = objectNameOf(domain.metadata.uid ?? '', hostname);
  const tenant = domain.metadata.namespace ?? '';
  const serves = role !== 'RedirectSource';
  const routes = serves
    ? [
        serve({name, namespace: tenant, host: hostname, secretName: name, service: project.spec.serviceRef}),
        httpToHttps({name, host: hostname}, policy.redirector),
      ]
    : [redirectFrom({name, host: hostname, secretName: name}, policy.redirector)];
  const ingresses = routes.flatMap(
    (route) => makeIngress(route, {ingressClassName: policy.ingressClassName, traefik}) ?? [],
  );
  return {
    certificates: [
      makeCertificate({
        name,
        namespace: homeOf(role, tenant, policy.redirector),
        hostname,
        issuerRef: policy.issuerRef,
      }),
    ],
    ingresses,
    routed: ingresses.every(world.stands),
  };
}

const priorRecords = ({domain}: World, hostname: Hostname) =>
  (domain.status?.dnsRecords ?? []).filter((r) => r.hostname === hostname);

/** Whether a hostname is an apex: by the newest verdict, by what was found before, or by its name. */
function apexOf(world: World, hostname: Hostname, verdict: Verdict | undefined): boolean {
  const alias = priorRecords(world, hostname).find((r) => r.type === 'ALIAS');
  return verdict?.apex ?? (alias ? alias.name === '@' : isApexByName(hostname));
}

/** The records that the customer must create, and what was seen of them: the newest verdict, or what was said before it. */
function recordsOf(world: World, question: Question, verdict: Verdict | undefined, proven: boolean): DnsRecordStatus[] {
  const {hostname} = question;
  const prior = priorRecords(world, hostname);
  const alias = prior.some((r) => r.type === 'ALIAS');
  const by: Proof | undefined =
    verdict?.kind === 'Proven'
      ? verdict.by
      : verdict || prior.length === 0
        ? undefined
        : alias
          ? prior.length > 1
            ? 'TXT'
            : 'Addresses'
          : 'CNAME';
  return recordsFor(question, apexOf(world, hostname, verdict), world.policy.edgeAddresses, by).map(
    ({type, name, zone, value, ttl}): DnsRecordStatus => {
      const before = prior.find((r) => r.type === type);
      const seen =
        verdict?.kind === 'Proven'
          ? {state: 'Found' as const, observed: []}
          : verdict?.kind === 'Refuted'
            ? type === 'TXT'
              ? (verdict.txt ?? {state: 'Unknown' as const, observed: []})
              : verdict
            : verdict && !proven
              ? {state: 'Unknown' as const, observed: []}
              : // Before the first check, and where a proven name could not be asked.
                {state: before?.state ?? 'Unknown', observed: before?.observed ?? []};
      return {
        hostname,
        type,
        name,
        zone,
        value,
        ttl,
        state: seen.state,
        ...(seen.observed.length > 0 && {observed: seen.observed}),
      };
    },
  );
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
  const decisions = [
    primary,
    ...others.flatMap((w) => {
      const decision = decideHost(world, w, live);
      return w.role === 'FormerPrimary' && (live.live || decision.entry.phase !== 'Live') ? [] : decision;
    }),
  ];

  const hosts = decisions.map((d) => d.entry);
  const attached = hosts.filter((h) => h.role !== 'FormerPrimary');
  const conditions = makeConditions(world, hosts, primary, domain.status?.conditions ?? []);
  const target = project?.status?.host;
  const answered = world.request !== undefined && !decisions.some((d) => d.asked);
  const handled = answered ? world.request?.value : domain.status?.lastHandledReconcileAt;
  const status: CustomDomainStatus = {
    observedGeneration: domain.metadata.generation ?? 0,
    phase: primary.entry.phase,
    hostsLive: `${attached.filter((h) => h.phase === 'Live').length}/${attached.length}`,
    ...(target !== undefined && {
      dnsRecords: decisions.flatMap((d) =>
        d.entry.phase === 'NotAccepted' || d.entry.role === 'FormerPrimary' ? [] : d.records,
      ),
    }),
    hosts,
    ...(handled !== undefined && {lastHandledReconcileAt: handled}),
    conditions,
  };
  const wakes = decisions.flatMap((d) => d.wakeAt ?? []);
  return {
    status,
    news: hosts.some((h) => {
      const before = entryBefore(domain, h.hostname);
      return (
        (h.verifiedAt !== undefined && before?.verifiedAt === undefined) ||
        (h.phase === 'Live' && before?.phase !== 'Live')
      );
    }),
    claims: decisions.flatMap((d) => d.claims),
    certificates: decisions.flatMap((d) => d.certificates),
    ingresses: decisions.flatMap((d) => d.ingresses),
    freshAttempts: decisions.flatMap((d) => d.freshAttempt ?? []),
    wishes: decisions.flatMap((d) => d.wish ?? []),
    looks: decisions.flatMap((d) => d.looks),
    ...(wakes.length > 0 && {wakeAt: Math.min(...wakes)}),
  };
}

/** The status of what is being removed, when its routes and certificates are gone. */
export function removing(before: CustomDomainStatus, now: number): CustomDomainStatus {
  const gone = {
    reason: 'Removing' satisfies ReasonName,
    message: 'Routes and certificates are gone; something else holds this object up: see metadata.finalizers.',
  };
  const hosts = (before.hosts ?? []).map(({hostname, role, addedAt}): HostStatus => ({
    hostname,
    role,
    phase: 'Removing',
    ...gone,
    since: timestamp(now),
    ...(addedAt !== undefined && {addedAt}),
    waitingFor: reasons.Removing.waitingFor as Party,
  }));
  const conditions = (before.conditions ?? []).flatMap((c) =>
    c.type === 'Reconciling' || c.type === 'Stalled'
      ? []
      : {
          ...c,
          status: 'False' as const,
          ...gone,
          lastTransitionTime: c.status === 'False' ? c.lastTransitionTime : timestamp(now),
        },
  );
  return {...before, phase: 'Removing', hostsLive: `0/${hosts.length}`, dnsRecords: [], hosts, conditions};
}
