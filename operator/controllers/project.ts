/** Reconciles Projects: gather -> decide (domain/project/project.ts, pure) -> carry out the stages; status is published last, once. */
import {defaultHostOf, routesOfDefaultHost} from '../domain/project/default-hostname.ts';
import {shorterProjectStatuses} from '../domain/status/status-size.ts';
import type {Hostname} from '../domain/hostnames/hostname.ts';
import {isHeldBy} from '../domain/claims/claim.ts';
import {objectNameOf} from '../domain/hostnames/hostname.ts';
import type {ProjectDecision, ProjectWorld} from '../domain/project/world.ts';
import {decideProject} from '../domain/project/project.ts';
import type {Use} from '../domain/routes/routes.ts';
import {homeOf} from '../domain/routes/routes.ts';
import type {Tenant} from '../domain/tenant.ts';
import type {Policy} from '../domain/world.ts';
import type {Project} from '../api/foreign.ts';
import type {Client} from '../kube/client/client.ts';
import type {Result} from '../kube/controller/controller.ts';
import type {EventRecorder} from '../kube/writes/events.ts';
import {removeFinalizer} from '../kube/writes/finalizer.ts';
import {type Key, keyOf} from '../kube/objects.ts';
import {writeStatus} from '../kube/writes/status.ts';
import {all, asIs, by, each, on, onItself, type ChangeSource, type Wake} from '../kube/controller/wake.ts';
import type {OwnedObjects} from './writers/owned-objects.ts';
import type {Writes} from './writers/writes.ts';
import type {Caches} from './state/caches.ts';
import type {Claims} from './writers/claims.ts';
import type {OrderQueues} from './orders/order-queues.ts';
import {
  holderOf,
  namespacedNameOf,
  orderOwner,
  ownerOf,
  projectIsQueued,
  projectOf,
  serviceOfSlice,
} from '../resources/relations.ts';
import type {Tenants} from './state/tenants.ts';
import {finalizer} from '../resources/projections.ts';
import type {ProjectSlots} from './state/project-slots.ts';
import {type EdgeSources, render} from './state/rendering.ts';
import {leavingFor} from './writers/retention.ts';
import {projects} from '../resources/resources.ts';
import {
  applyCertificates,
  applyRoutes,
  carryOut,
  ensureFinalizer,
  Reconciliation,
  removeObjects,
  requestOrders,
  type Stage,
  writeClaims,
} from './stages.ts';
import {tenantKey} from '../domain/tenant.ts';
import {orderFacts, issuersNow, type KnownCas} from './issuers.ts';
import {eventOfProject} from './status-events.ts';

export interface ProjectDeps extends Pick<Caches, 'projects' | 'services' | 'slices' | 'domains' | 'ingressClasses'> {
  client: Client;
  policy: Policy;
  plainHttp: EdgeSources['plainHttp'];
  tenants: Tenants;
  places: ProjectSlots;
  claims: Claims;
  ownedObjects: OwnedObjects;
  orders: OrderQueues;
  cas: KnownCas;
  events: EventRecorder;
  now?: () => number;
}

/** The changes that wake Projects. */
export const wakeProjects = (
  c: Caches,
  {
    tenants,
    plainHttp,
    orders,
    places,
    cas,
  }: {
    tenants: ChangeSource<[string]>;
    plainHttp: ChangeSource<[string]>;
    orders: ChangeSource<[string]>;
    cas: ChangeSource<[]>;
    places: Pick<ProjectSlots, 'movedBy' | 'movedByNamespace'>;
  },
): Wake[] => [
  onItself(c.projects),
  on(c.projects, places.movedBy),
  on(c.namespaces, places.movedByNamespace),
  on(c.domains, each(projectOf)),
  on(tenants, by(c.projects, 'namespace', asIs)),
  on(c.claims, by(c.projects, 'uid', holderOf)),
  on(c.routes, by(c.projects, 'uid', ownerOf)),
  on(c.certificates, by(c.projects, 'uid', ownerOf)),
  on(c.requests, by(c.projects, 'uid', ownerOf)),
  on(c.services, by(c.projects, 'service', namespacedNameOf)),
  on(c.slices, by(c.projects, 'service', serviceOfSlice)),
  on(c.ingressClasses, all(c.projects)),
  on(plainHttp, by(c.projects, 'uid', asIs)),
  on(cas, all(c.projects)),
  on(orders, (owner) => [projectIsQueued(owner) ?? []].flat()),
];

/** A running reconcile of a Project. */
class ProjectReconciliation extends Reconciliation<Project, ProjectDecision> {
  readonly resource = projects;
  readonly deps: ProjectDeps;

  constructor(project: Project, tenant: Tenant, deps: ProjectDeps) {
    super(project, tenant, deps.now ?? Date.now);
    this.deps = deps;
  }

  get orderOwner(): Key {
    return orderOwner(keyOf(this.object));
  }
  get cache(): ProjectDeps['projects'] {
    return this.deps.projects;
  }

  names(): ReadonlySet<string> {
    const {policy, claims} = this.deps;
    return new Set([defaultHostOf(this.object, this.tenant, policy, claims.of).host]);
  }

  protected decide(now: number): ProjectDecision {
    const {object: project, tenant, writes} = this;
    return decideProject(gatherProject(this.deps, {now, project, tenant, writes}));
  }
}

/** The stages that carry out a Project's plan, in order. */
export const projectStages: readonly Stage<ProjectReconciliation>[] = [
  removeObjects,
  ensureFinalizer,
  writeClaims,
  requestOrders,
  applyRoutes,
  applyCertificates,
  publishStatus,
];

async function publishStatus(r: ProjectReconciliation): Promise<void> {
  const {deps, object: before, plan} = r;
  const written = await writeStatus(deps.client, projects, before, plan.status, {
    shorter: () => shorterProjectStatuses(plan.status),
  });
  if (!written) return;
  r.wrote(written);
  const event = eventOfProject(before.status, plan.status);
  if (event) deps.events.record({regarding: before, ...event});
}

export class ProjectReconciler {
  readonly #deps: ProjectDeps;

  constructor(deps: ProjectDeps) {
    this.#deps = deps;
  }

  /** Reconciles one Project. Throws errors of the API server, so that the queue retries. */
  async reconcile(key: Key): Promise<Result> {
    const {projects: cache, orders, tenants} = this.#deps;
    const project = cache.get(key);
    // Nothing is created in a Namespace that is being deleted.
    const goes =
      project && (project.metadata.deletionTimestamp || tenants.isBeingDeleted(project.metadata.namespace ?? ''));
    if (!project || goes) orders.keep(orderOwner(key), '', []);
    if (!project) return 'awaitChange';
    if (goes) return this.#remove(project);
    // The Namespace exists. When the watch reports it, this object is woken again.
    const tenant = tenants.of(project.metadata.namespace ?? '');
    if (!tenant) return 'awaitChange';
    return carryOut(projectStages, new ProjectReconciliation(project, tenant, this.#deps));
  }

  /** Removes the routes first, so that traffic stops at once; then the Certificates; then, if the Project is deleted, the finalizer. */
  async #remove(project: Project): Promise<Result> {
    const {client, projects: cache, ownedObjects, tenants} = this.#deps;
    const {finalizers, deletionTimestamp} = project.metadata;
    if (!finalizers?.includes(finalizer)) return 'awaitChange';
    const namespace = project.metadata.namespace ?? '';
    // No Certificate is retained in a Namespace that is being deleted.
    const tenant = tenants.isBeingDeleted(namespace) ? undefined : tenants.of(namespace);
    await ownedObjects.remove(project, leavingFor(this.#deps, tenant));
    if (deletionTimestamp === undefined) return 'awaitChange';
    const freed = await removeFinalizer(client, projects, project, finalizer);
    if (freed) cache.observe(freed);
    return 'awaitChange';
  }
}

function gatherProject(
  deps: ProjectDeps,
  {now, project, tenant, writes}: {now: number; project: Project; tenant: Tenant; writes: Writes},
): ProjectWorld {
  const {services, slices, domains, claims, orders, places, cas} = deps;
  const policy = {...deps.policy, issuers: issuersNow(deps.policy, cas)};
  const serviceKey = `${project.metadata.namespace}/${project.spec.serviceRef.name}`;
  const {host, claim} = defaultHostOf(project, tenant, policy, claims.of);
  const holder = isHeldBy(claim, project) ? tenant : undefined;
  const facts = (use: Use) => factsOf(deps, project, {host, use, tenant: holder, now, policy});
  return {
    now,
    project,
    service: services.get(serviceKey),
    slices: slices.by('service', serviceKey),
    domains: domains.by('servedProject', keyOf(project)),
    tenant,
    ahead: places.ahead(project),
    host,
    claim,
    orders: orders.orders(host),
    facts: {serves: facts('serves'), redirects: facts('redirects')},
    writeError: writes.writeErrors.values().next().value,
    policy,
  };
}

/** The facts about the default hostname's objects for one use. */
function factsOf(
  deps: ProjectDeps,
  project: Project,
  {host, use, tenant, now, policy}: {host: Hostname; use: Use; tenant: Tenant | undefined; now: number; policy: Policy},
): ProjectWorld['facts'][Use] {
  const {ownedObjects} = deps;
  const {namespace: home = '', uid = ''} = project.metadata;
  const name = objectNameOf(uid, host);
  const namespace = homeOf(use, home, policy.redirector);
  const since = ownedObjects.since(project, `${namespace}/${name}`);
  const certificate = ownedObjects.certificate({owner: project, hostname: host, namespace, tenant, now});
  const certificateName = certificate?.name ?? name;
  const {orders: _, ...ordered} = orderFacts(policy, deps, {
    now,
    hostname: host,
    tenant: tenant ? tenantKey(tenant) : '',
    certificate: `${namespace}/${certificateName}`,
    existing: certificate,
    caaOf: 'NotNeeded',
  });
  const isWhole = () =>
    render(routesOfDefaultHost(project, host, use, policy, certificateName), deps).every((i) =>
      ownedObjects.stands(project, i),
    );
  return {
    ...(since !== undefined && {standing: {since, isWhole: isWhole()}}),
    ...(certificate && {certificate}),
    ...(certificateName !== name && {certificateName}),
    ...ordered,
  };
}
