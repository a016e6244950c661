/**
 * All that is known of the hostnames of a CustomDomain, for one decision: of the caches, of the newest looks at DNS, edge and
 * cert-manager, of the order book. It asks nobody and changes nothing.
 */
import type {DomainClaim} from '../api/foreign.ts';
import type {CertificateFacts} from '../domain/certificates/certificate.ts';
import {isHeldBy} from '../domain/claims/claim.ts';
import type {Hostname} from '../domain/hostnames/hostname.ts';
import {objectNameOf} from '../domain/hostnames/hostname.ts';
import {isHostRouted} from '../redirector/rules.ts';
import {formerPrimary, named} from '../domain/hostnames/hosts.ts';
import {attemptOf} from '../domain/certificates/issuance.ts';
import {questionOf} from '../domain/claims/ownership.ts';
import type {ReasonName} from '../domain/reasons/reasons.ts';
import type {Question} from '../domain/verification/records.ts';
import type {Use} from '../domain/routes/routes.ts';
import {homeOf, objectNames, otherUse, routesOfHost, useOf} from '../domain/routes/routes.ts';
import {type Tenant, tenantKey} from '../domain/tenant.ts';
import type {EdgeFinding, HostFacts, Policy, Successor, World} from '../domain/world.ts';
import {type EdgeSources, render} from './state/rendering.ts';
import type {HostStatus} from '../api/custom-domain.ts';
import type {CustomDomain, Project} from '../api/foreign.ts';
import type {Cache} from '../kube/cache/cache.ts';
import {type Key, keyOf} from '../kube/objects.ts';
import type {CheckTimes} from './state/check-times.ts';
import type {OwnedObjects} from './writers/owned-objects.ts';
import type {Writes} from './writers/writes.ts';
import type {Claims} from './writers/claims.ts';
import type {EdgeAddresses} from './state/edge-addresses.ts';
import type {EdgeHealth} from './probes/edge-health.ts';
import type {FirstDomains} from './state/first-domains.ts';
import {dnsKey, edgeKey, issuanceKey, type Observations} from './probes/observations.ts';
import type {Looked} from './probes/observer.ts';
import type {OrderQueues} from './orders/order-queues.ts';
import {issuerOf} from '../domain/certificates/choose-issuer.ts';
import {caaOfIssuers, judgedFor, orderFacts, issuersNow, type KnownCas} from './issuers.ts';
import type {Tenants} from './state/tenants.ts';
import type {VerificationSlots} from './state/verification-slots.ts';
import {hostnamesOf, projectKey, uidOf} from '../resources/relations.ts';

/** Where it is known. */
export interface GatherSources extends EdgeSources {
  policy: Policy;
  /** What is known of the issuers' CAs by now. */
  cas: KnownCas;
  /** The edge, as far as it is known by now. */
  edgeAddresses: Pick<EdgeAddresses, 'edge' | 'endpoints'>;
  domains: Pick<Cache<CustomDomain, CustomDomain>, 'by'>;
  firsts: Pick<FirstDomains, 'of'>;
  projects: Pick<Cache<Project, Project>, 'get'>;
  claims: Pick<Claims, 'of'>;
  ownedObjects: Pick<OwnedObjects, 'certificate' | 'routedSince' | 'since' | 'stands'>;
  /** Without it, no CustomDomain hands a hostname over. */
  tenants?: Pick<Tenants, 'of'>;
  dns: Pick<Observations['dns'], 'latest' | 'recent'>;
  edge: Pick<Observations['edge'], 'recent'>;
  edgeHealth: Pick<EdgeHealth, 'state'>;
  issuance: Pick<Observations['issuance'], 'latest'>;
  orders: Pick<OrderQueues, 'orders' | 'grant' | 'expectedAt'>;
  checks: Pick<CheckTimes, 'of'>;
  /** Undefined: no limit on waiting hostnames. */
  waiting?: Pick<VerificationSlots, 'of'>;
  /** {@link World.startedAt}. */
  startedAt(): number;
}

/** What is gathered for. */
export interface Moment {
  now: number;
  domain: CustomDomain;
  tenant: Tenant;
  request: World['request'];
  /** The outcomes of this reconcile's writes so far. */
  writes: Pick<Writes, 'writeErrors' | 'claimErrors'>;
}

export function gather(sources: GatherSources, {now, domain, tenant, request, writes}: Moment): World {
  const {policy, cas, edgeAddresses, edgeHealth, firsts, projects, claims, waiting, startedAt} = sources;
  const project = projects.get(projectKey(domain));
  const known = {
    now,
    domain,
    project,
    // A CustomDomain that is not cached yet is the only one, or comes after the cached ones.
    first: firsts.of(projectKey(domain)) ?? domain,
    tenant,
    policy: {...policy, ...edgeAddresses.edge, issuers: issuersNow(policy, cas)},
    waiting: waiting?.of(keyOf(domain), tenant),
    startedAt: startedAt(),
    ...(edgeHealth.state && {edge: edgeHealth.state}),
    request,
  };
  const former = formerPrimary(domain);
  const hosts = [
    ...named(domain, policy).filter(({refusal}) => !refusal),
    ...(former === undefined ? [] : [{hostname: former, role: 'FormerPrimary' as const}]),
  ];
  return {
    ...known,
    claims: new Map(hosts.flatMap(({hostname}) => claimEntry(hostname, claims.of(hostname)))),
    facts: new Map(hosts.map(({hostname, role}) => [hostname, factsOf(sources, known, hostname, role, writes)])),
  };
}

const claimEntry = (hostname: Hostname, claim: DomainClaim | undefined): [Hostname, DomainClaim][] =>
  claim ? [[hostname, claim]] : [];

function factsOf(
  sources: GatherSources,
  known: Pick<World, 'now' | 'domain' | 'project' | 'policy' | 'tenant'>,
  hostname: Hostname,
  role: HostStatus['role'],
  {writeErrors, claimErrors}: Moment['writes'],
): HostFacts {
  const {dns, edge, edgeAddresses, issuance, ownedObjects, claims, checks} = sources;
  const {now, domain, project, tenant, policy} = known;
  const {namespace = '', uid = ''} = domain.metadata;
  const key = keyOf(domain);
  const name = objectNameOf(uid, hostname);
  const home = (use: Use) => homeOf(use, namespace, policy.redirector);
  const target = project?.status?.host;
  const question = target === undefined ? undefined : questionOf(known, hostname, target, claims.of(hostname));
  const checked = question && dns.latest(key, dnsKey(question));
  const earlier = checks.of(tenantKey(tenant), hostname, now);
  const owner = isHeldBy(claims.of(hostname), domain) ? tenant : undefined;
  const siblingDomains = siblingsOf(sources, known, hostname);
  const siblings = new Set(siblingDomains.flatMap(uidOf));
  const certificateOf = (use: Use) =>
    ownedObjects.certificate({owner: domain, hostname, namespace: home(use), tenant: owner, siblings, now});
  const certificates = {serves: certificateOf('serves'), redirects: certificateOf('redirects')};
  const certificateNames = renamed(certificates, name);
  const privateKeys = takenOver(certificates);
  const nameOf = (use: Use) => certificateNames?.[use] ?? name;
  const certificate = certificates[useOf(role)];
  const formerCertificate = certificates[otherUse(useOf(role))];
  const read = certificate && issuance.latest(key, issuanceKey(hostname, attemptOf(certificate)));
  const ordered = orderFacts(policy, sources, {
    now,
    hostname,
    tenant: tenantKey(tenant),
    certificate: `${home(useOf(role))}/${nameOf(useOf(role))}`,
    existing: certificate,
    caaOf: claims.of(hostname)?.spec.proof === 'Platform' ? 'NotNeeded' : caaOfIssuers(checked?.result),
  });
  const [writeError] = [...objectNames(name), nameOf(useOf(role))].flatMap((object) => writeErrors.get(object) ?? []);
  const rival = rivalOf(sources, known, hostname);
  return {
    ...(checked && {
      verdict: judgedFor(checked.result, issuerOf(policy, ordered).issuerRef.name),
      checkedAt: checked.at,
    }),
    ...(earlier && {earlier}),
    ...edgeFacts(edgeAddresses.endpoints, edge.recent(key, edgeKey(hostname))),
    certificate,
    ...(formerCertificate && {formerCertificate}),
    ...(certificateNames && {certificateNames}),
    ...(privateKeys && {privateKeys}),
    ...ordered,
    ...(read && {diagnosis: read.result, diagnosedAt: read.at}),
    standing: standingOf(sources, known, hostname, nameOf),
    ...successionFacts(sources, known, hostname, siblings),
    ...(role === 'FormerPrimary' && siblingDomains.some(isToOwn(hostname, known)) && {isAwaited: true}),
    ...(rival && {rival: {...rival, looks: looksAt(sources, key, rival.question)}}),
    ...(writeError && {writeError}),
    ...(claimErrors.has(hostname) && {claimError: claimErrors.get(hostname)}),
  };
}

/** Whether the objects of each use stand, and since when. `nameOf`: the name of the Certificate. */
function standingOf(
  sources: GatherSources,
  {domain, project, policy}: Pick<World, 'domain' | 'project' | 'policy'>,
  hostname: Hostname,
  nameOf: (use: Use) => string,
): HostFacts['standing'] {
  const {namespace = '', uid = ''} = domain.metadata;
  const standing = (use: Use): HostFacts['standing'] => {
    const place = `${homeOf(use, namespace, policy.redirector)}/${objectNameOf(uid, hostname)}`;
    const since = sources.ownedObjects.since(domain, place);
    if (since === undefined) return {};
    const routes = project && routesOfHost(domain, project, hostname, use, policy.redirector, nameOf(use));
    const isWhole =
      routes !== undefined && render(routes, sources).every((i) => sources.ownedObjects.stands(domain, i));
    return {[use]: {since, isWhole}};
  };
  return {...standing('serves'), ...standing('redirects')};
}

/** The tenant's other CustomDomains that name a hostname, or serve it as their former primary. */
const siblingsOf = (
  {domains, tenants}: Pick<GatherSources, 'domains' | 'tenants'>,
  {domain, tenant}: Pick<World, 'domain' | 'tenant'>,
  hostname: Hostname,
): CustomDomain[] =>
  domains
    .by('hostname', hostname)
    .filter((other) => other.metadata.uid !== domain.metadata.uid && isOfTenant(tenants, other, tenant));

function isOfTenant(tenants: GatherSources['tenants'], {metadata}: CustomDomain, tenant: Tenant): boolean {
  const other = tenants?.of(metadata.namespace ?? '');
  return other !== undefined && tenantKey(other) === tenantKey(tenant);
}

/** Whether a CustomDomain names a hostname, and no decision about its present spec rules out that it serves the hostname. */
const isToOwn =
  (hostname: Hostname, {domain: former, now, policy}: Pick<World, 'domain' | 'now' | 'policy'>) =>
  (domain: CustomDomain): boolean => {
    const {metadata, status} = domain;
    if (metadata.deletionTimestamp !== undefined || !hostnamesOf(domain).includes(hostname)) return false;
    if (status?.observedGeneration !== metadata.generation) return true;
    const entry = entryOf(domain, hostname);
    if (entry === undefined) return false;
    const begun = entryOf(former, hostname);
    const from = begun?.reason === ('ServedUntilReplaced' satisfies ReasonName) ? Date.parse(begun.since) : now;
    return !hasGivenUp(entry) || (passingRefusals.has(entry.reason) && now < from + policy.graceTimeMs);
  };

const entryOf = ({status}: CustomDomain, hostname: Hostname): HostStatus | undefined =>
  status?.hosts?.find((host) => host.hostname === hostname);

/**
 * Refusals that pass without a change of the CustomDomain or the plan: the same commit creates or deploys its Project, or removes another
 * object. A former primary waits for that during the grace period.
 */
const passingRefusals: ReadonlySet<string> = new Set<ReasonName>([
  'ProjectNotFound',
  'NoSuccessfulDeploy',
  'ProjectHasDomains',
  'ProjectLimitReached',
  'TooManyWaiting',
]);

/** Whether a CustomDomain will not serve a hostname by itself: the hostname is refused, its checks have ended, or it is being removed. */
const hasGivenUp = ({phase, reason}: HostStatus): boolean =>
  phase === 'NotAccepted' || phase === 'Removing' || reason === ('VerificationExpired' satisfies ReasonName);

/**
 * Whether the owner of a hostname will not serve it by itself. It was accepted and verified when it became the owner, so a refusal
 * published until then is outdated. For the grace period from then on, an outdated refusal and a refusal that passes do not count.
 */
function isBlocked(
  entry: HostStatus,
  {now, policy: {graceTimeMs}}: Pick<World, 'now' | 'policy'>,
  wonAt = -Infinity,
): boolean {
  if (entry.reason === 'WriteRefused' || entry.reason === 'NameTaken') return true;
  if (!hasGivenUp(entry)) return false;
  const mayPass = Date.parse(entry.since) <= wonAt || passingRefusals.has(entry.reason);
  return entry.phase === 'Removing' || !mayPass || now >= wonAt + graceTimeMs;
}

/** A hostname that passes between CustomDomains: the routes of others, and the CustomDomain of the tenant that owns it now. */
function successionFacts(
  {ownedObjects, claims, domains}: Pick<GatherSources, 'ownedObjects' | 'claims' | 'domains'>,
  known: Pick<World, 'now' | 'domain' | 'policy'>,
  hostname: Hostname,
  siblings: ReadonlySet<string>,
): Pick<HostFacts, 'occupied' | 'succeeds' | 'successor'> {
  const routes = ownedObjects.routedSince(hostname);
  const others = [...routes.keys()].filter((uid) => uid !== known.domain.metadata.uid);
  const {holder: {uid = ''} = {}, since} = claims.of(hostname)?.status ?? {};
  const wonAt = since === undefined ? undefined : Date.parse(since);
  const [owner] = domains.by('uid', uid);
  const entry = owner && entryOf(owner, hostname);
  const routedSince = routes.get(uid);
  const successor: Successor = {
    ...(routedSince !== undefined && {routedSince}),
    isAnnounced: entry !== undefined && isHostRouted(entry),
    isBlocked: entry !== undefined && isBlocked(entry, known, wonAt),
  };
  return {
    ...(others.length > 0 && {occupied: true}),
    ...(others.length > 0 && others.every((other) => siblings.has(other)) && {succeeds: true}),
    ...(siblings.has(uid) && {successor}),
  };
}

const looksAt = (
  {dns}: Pick<GatherSources, 'dns'>,
  key: Key,
  rival: Question,
): NonNullable<HostFacts['rival']>['looks'] =>
  dns.recent(key, dnsKey(rival)).map(({result, at}) => ({verdict: result, at}));

/** The edge probes, for the current addresses of the edge. A newer address was not probed (rule 6). */
function edgeFacts(
  endpoints: GatherSources['edgeAddresses']['endpoints'],
  probes: readonly Looked<EdgeFinding[]>[],
): Pick<HostFacts, 'edge' | 'edgeLookedAt' | 'edgeIncomplete' | 'edgeEarlier'> {
  const current = ({result, at}: Looked<EdgeFinding[]>) => ({
    at,
    findings: endpoints.flatMap(
      ({address, port}) => result.find((f) => f.edge.address === address && f.edge.port === port) ?? [],
    ),
  });
  const newest = probes.at(-1);
  if (!newest) return {};
  const {findings, at} = current(newest);
  const edgeEarlier = probes
    .slice(0, -1)
    .map(current)
    .filter((probe) => probe.findings.length > 0);
  return {
    // No finding for any current address is no probe. Without any address, there is nothing to find.
    ...((findings.length > 0 || endpoints.length === 0) && {edge: findings, edgeLookedAt: at}),
    ...(findings.length < endpoints.length && {edgeIncomplete: true}),
    ...(edgeEarlier.length > 0 && {edgeEarlier}),
  };
}

/** The names that Certificates of a hostname have, where they are not `name`. */
function renamed(certificates: Record<Use, CertificateFacts | undefined>, name: string): HostFacts['certificateNames'] {
  const others = Object.entries(certificates).filter(([, c]) => c && c.name !== name);
  return others.length === 0 ? undefined : Object.fromEntries(others.map(([use, c]) => [use, c!.name]));
}

/** The keys that Certificates of a hostname were taken over with. */
function takenOver(certificates: Record<Use, CertificateFacts | undefined>): HostFacts['privateKeys'] {
  const keys = Object.entries(certificates).flatMap(([use, c]) => (c?.privateKey ? [[use, c.privateKey]] : []));
  return keys.length === 0 ? undefined : (Object.fromEntries(keys) as HostFacts['privateKeys']);
}

/**
 * The present owner of a hostname: the records that would verify it, whether it has let the hostname go to the tenant's other
 * CustomDomains, and whether it is being deleted. Undefined if the hostname has no owner or this object owns it.
 */
function rivalOf(
  {claims, domains, projects, tenants}: Pick<GatherSources, 'claims' | 'domains' | 'projects' | 'tenants'>,
  {domain, tenant}: Pick<World, 'domain' | 'tenant'>,
  hostname: Hostname,
): {question: Question; isLetGo: boolean; isBeingDeleted?: true} | undefined {
  const claim = claims.of(hostname);
  if (claim?.status?.holder === undefined || isHeldBy(claim, domain)) return undefined;
  const [holder] = domains.by('uid', claim.status.holder.uid);
  const target = holder && projects.get(projectKey(holder))?.status?.host;
  // Without a Project there is no host that a CNAME could name.
  const {token} = claim.status;
  return {
    question: {hostname, target: target ?? 'none.invalid', ...(token !== undefined && {token})},
    isLetGo:
      holder !== undefined &&
      hostnamesOf(domain).includes(hostname) &&
      !hostnamesOf(holder).includes(hostname) &&
      isOfTenant(tenants, holder, tenant),
    ...(holder?.metadata.deletionTimestamp !== undefined && {isBeingDeleted: true as const}),
  };
}
