/** Project: gather -> decide (domain/project.ts, pure) -> apply its default host's routes, then status once, last. */
import {defaultHostOf, routesOfDefaultHost} from '../domain/default-host.ts';
import {shorterProjectStatuses} from '../domain/fit.ts';
import type {Hostname} from '../domain/hostname.ts';
import {isHeldBy} from '../domain/claim.ts';
import {objectNameOf} from '../domain/hostname.ts';
import type {ProjectWorld} from '../domain/project-world.ts';
import {decideProject} from '../domain/project.ts';
import type {Use} from '../domain/routes.ts';
import {homeOf} from '../domain/routes.ts';
import type {Tenant} from '../domain/tenant.ts';
import {tenantKey} from '../domain/tenant.ts';
import type {Policy} from '../domain/world.ts';
import type {Project} from '../api/foreign.ts';
import type {Client} from '../kube/client.ts';
import type {Result} from '../kube/controller.ts';
import type {EventRecorder} from '../kube/events.ts';
import {ensureFinalizer, removeFinalizer} from '../kube/finalizer.ts';
import type {Key} from '../kube/objects.ts';
import {writeStatus} from '../kube/status.ts';
import {all, asIs, by, each, on, onItself, type Source, type Wake} from '../kube/wake.ts';
import type {Applied, Children} from './children.ts';
import type {Caches} from './caches.ts';
import type {Claims} from './claims.ts';
import type {OrderBook} from './order-book.ts';
import {
  holderOf,
  namespacedNameOf,
  orderOwner,
  ownerOf,
  projectInLine,
  projectOf,
  serviceOfSlice,
} from './relations.ts';
import type {Tenants} from './tenants.ts';
import {confirmTenant} from './tenants.ts';
import {finalizer} from './kept.ts';
import type {ProjectPlaces} from './project-places.ts';
import {type EdgeSources, render} from './rendering.ts';
import {leavingFor} from './leaving.ts';
import {projects} from './resources.ts';
import {eventOfProject} from './status-events.ts';

export interface ProjectDeps extends Pick<Caches, 'projects' | 'services' | 'slices' | 'domains' | 'ingressClasses'> {
  client: Client;
  policy: Policy;
  plainHttp: EdgeSources['plainHttp'];
  tenants: Tenants;
  places: ProjectPlaces;
  claims: Claims;
  children: Children;
  orders: OrderBook;
  events: EventRecorder;
  now?: () => number;
}

/** What wakes a Project. */
export const wakeProjects = (
  c: Caches,
  {
    tenants,
    plainHttp,
    orders,
    places,
  }: {
    tenants: Source<[string]>;
    plainHttp: Source<[string]>;
    orders: Source<[string]>;
    places: Pick<ProjectPlaces, 'movedBy' | 'movedByNamespace'>;
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
  on(orders, (owner) => [projectInLine(owner) ?? []].flat()),
];

export class ProjectReconciler {
  readonly #deps: ProjectDeps;

  constructor(deps: ProjectDeps) {
    this.#deps = deps;
  }

  /** Brings one Project to what it should be. Throws what the API server throws; the queue tries again. */
  async reconcile(key: Key): Promise<Result> {
    const {client, projects: cache, children, orders, events, tenants} = this.#deps;
    const cached = cache.get(key);
    // In a namespace that is being deleted nothing is put back.
    const goes = cached && (cached.metadata.deletionTimestamp || tenants.isGoing(cached.metadata.namespace ?? ''));
    if (!cached || goes) orders.keep(orderOwner(key), '', []);
    if (!cached) return 'awaitChange';
    if (goes) return this.#remove(cached);
    // Its Namespace exists; the watch is about to tell of it, and then of this.
    const tenant = tenants.of(cached.metadata.namespace ?? '');
    if (!tenant) return 'awaitChange';
    const claimed = await ensureFinalizer(client, projects, cached, finalizer);
    if (claimed) cache.observe(claimed);
    const project = claimed ?? cached;

    const confirm = () => confirmTenant(client, project.metadata.namespace ?? '', tenant);
    const decideOn = (applied?: Applied) =>
      this.#deps.claims.settle(() => decideProject(this.#gather(key, project, tenant, applied)), {tenant, confirm});
    let decision = await decideOn();
    // The budgets come before the order: what is wanted is asked for, and decided with the answer.
    if (orders.keep(orderOwner(key), tenantKey(tenant), decision.wishes)) decision = await decideOn();
    const applied = await children.apply(
      project,
      {...decision, routes: render(decision.routes, this.#deps)},
      leavingFor(this.#deps, tenant, decision),
    );
    if (applied.changed || applied.obstacles.size > 0) decision = await decideOn(applied);
    const written = await writeStatus(client, projects, project, decision.status, {
      shorter: () => shorterProjectStatuses(decision.status),
    });
    if (written) {
      cache.observe(written);
      const event = eventOfProject(project.status, decision.status);
      if (event) events.record({regarding: project, ...event});
    }
    // What does not depend on it is done and told; it is tried again after a pause that grows.
    if (applied.failed) throw applied.failed;
    return decision.wakeAt === undefined
      ? 'awaitChange'
      : {requeueAfterMs: Math.max(1000, decision.wakeAt - (this.#deps.now ?? Date.now)())};
  }

  /** Routes first: traffic stops at once. Then certificates, then the finalizer, where it is deleted itself. */
  async #remove(project: Project): Promise<Result> {
    const {client, projects: cache, children, tenants} = this.#deps;
    const {finalizers, deletionTimestamp} = project.metadata;
    if (!finalizers?.includes(finalizer)) return 'awaitChange';
    const namespace = project.metadata.namespace ?? '';
    // Nothing rests in a namespace that is being deleted.
    const tenant = tenants.isGoing(namespace) ? undefined : tenants.of(namespace);
    await children.remove(project, leavingFor(this.#deps, tenant));
    if (deletionTimestamp === undefined) return 'awaitChange';
    const freed = await removeFinalizer(client, projects, project, finalizer);
    if (freed) cache.observe(freed);
    return 'awaitChange';
  }

  #gather(key: Key, project: Project, tenant: Tenant, applied?: Applied): ProjectWorld {
    const {policy, services, slices, domains, claims, orders, places} = this.#deps;
    const serviceKey = `${project.metadata.namespace}/${project.spec.serviceRef.name}`;
    const {host, claim} = defaultHostOf(project, tenant, policy, claims.of);
    const now = (this.#deps.now ?? Date.now)();
    const holder = isHeldBy(claim, project) ? tenant : undefined;
    const facts = (use: Use) => this.#facts(project, {host, use, tenant: holder, now});
    return {
      now,
      project,
      service: services.get(serviceKey),
      slices: slices.by('service', serviceKey),
      domains: domains.by('servedProject', key),
      tenant,
      ahead: places.ahead(project),
      host,
      claim,
      orders: orders.orders(host),
      facts: {serves: facts('serves'), redirects: facts('redirects')},
      obstacle: applied?.obstacles.values().next().value,
      policy,
    };
  }

  /** What stands for the default host in one use. */
  #facts(
    project: Project,
    {host, use, tenant, now}: {host: Hostname; use: Use; tenant: Tenant | undefined; now: number},
  ): ProjectWorld['facts'][Use] {
    const {policy, children, orders} = this.#deps;
    const {namespace: home = '', uid = ''} = project.metadata;
    const name = objectNameOf(uid, host);
    const namespace = homeOf(use, home, policy.redirector);
    const since = children.since(project, `${namespace}/${name}`);
    const certificate = children.certificate({owner: project, hostname: host, namespace, tenant, now});
    const certificateName = certificate?.name ?? name;
    const grant = orders.grant(`${namespace}/${certificateName}`);
    const isWhole = () =>
      render(routesOfDefaultHost(project, host, use, policy, certificateName), this.#deps).every((i) =>
        children.stands(project, i),
      );
    return {
      ...(since !== undefined && {standing: {since, isWhole: isWhole()}}),
      ...(certificate && {certificate}),
      ...(certificateName !== name && {certificateName}),
      ...(grant && {grant}),
    };
  }
}
