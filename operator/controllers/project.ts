/** Project: gather -> decide (domain/project.ts, pure) -> apply its default host's routes, then status once, last. */
import type {CustomDomain, EndpointSlice, IngressClass, Project, Service} from '../api/foreign.ts';
import type {Policy} from '../domain/lifecycle.ts';
import type {ProjectWorld} from '../domain/project.ts';
import {decideProject} from '../domain/project.ts';
import {objectNameOf} from '../domain/hostname.ts';
import type {Cache} from '../kube/cache.ts';
import type {Client} from '../kube/client.ts';
import type {Result} from '../kube/controller.ts';
import type {EventRecorder} from '../kube/events.ts';
import {ensureFinalizer, removeFinalizer} from '../kube/finalizer.ts';
import type {Key, ObjectMeta} from '../kube/objects.ts';
import {writeStatus} from '../kube/status.ts';
import type {Applied, Children} from './children.ts';
import type {Claims} from './claims.ts';
import type {Tenants} from './tenants.ts';
import type {Tenant} from '../domain/tenant.ts';
import {finalizer, isTraefik} from './custom-domain.ts';
import {projects} from './resources.ts';

export interface ProjectDeps {
  client: Client;
  policy: Policy;
  projects: Cache<Project, Project>;
  services: Cache<Service, Service>;
  /** Indexed by `service`: `namespace/name` of the Service. */
  slices: Cache<{metadata: ObjectMeta; endpoints?: EndpointSlice['endpoints']}, EndpointSlice>;
  /** Indexed by `project`: `namespace/name`. */
  domains: Cache<CustomDomain, CustomDomain>;
  ingressClasses: Cache<IngressClass, IngressClass>;
  tenants: Tenants;
  claims: Claims;
  children: Children;
  events: EventRecorder;
  now?: () => number;
}

export class ProjectReconciler {
  readonly #deps: ProjectDeps;

  constructor(deps: ProjectDeps) {
    this.#deps = deps;
  }

  /** Brings one Project to what it should be. Throws what the API server throws; the queue tries again. */
  async reconcile(key: Key): Promise<Result> {
    const {client, projects: cache, children, events} = this.#deps;
    const cached = cache.get(key);
    if (!cached) return 'awaitChange';
    if (cached.metadata.deletionTimestamp) {
      if (!cached.metadata.finalizers?.includes(finalizer)) return 'awaitChange';
      await children.remove(cached);
      await removeFinalizer(client, projects, cached, finalizer);
      return 'awaitChange';
    }
    // Its Namespace exists; the watch is about to tell of it, and then of this.
    const tenant = this.#deps.tenants.of(cached.metadata.namespace ?? '');
    if (!tenant) return 'awaitChange';
    const claimed = await ensureFinalizer(client, projects, cached, finalizer);
    if (claimed) cache.observe(claimed);
    const project = claimed ?? cached;

    const decideOn = (applied?: Applied) =>
      this.#deps.claims.settle(() => decideProject(this.#gather(key, project, tenant, applied)));
    let decision = await decideOn();
    const applied = await children.apply(project, decision);
    if (applied.changed || applied.inTheWay.size > 0) decision = await decideOn(applied);
    const written = await writeStatus(client, projects, project, decision.status);
    if (written) {
      cache.observe(written);
      for (const condition of decision.status.conditions ?? []) {
        const before = project.status?.conditions?.find((c) => c.type === condition.type);
        if (condition.type === 'Reconciling' || condition.status !== 'True' || before?.status === 'True') continue;
        events.record({
          regarding: project,
          type: 'Normal',
          reason: condition.type,
          action: 'Reconcile',
          note: condition.message,
        });
      }
    }
    return decision.wakeAt === undefined
      ? 'awaitChange'
      : {requeueAfterMs: Math.max(1000, decision.wakeAt - (this.#deps.now ?? Date.now)())};
  }

  #gather(key: Key, project: Project, tenant: Tenant, applied?: Applied): ProjectWorld {
    const {policy, services, slices, domains, ingressClasses, children} = this.#deps;
    const namespace = project.metadata.namespace ?? '';
    const serviceKey = `${namespace}/${project.spec.serviceRef.name}`;
    const host = project.status?.host;
    const stands = (home: string) =>
      host === undefined
        ? undefined
        : children.since(project, `${home}/${objectNameOf(project.metadata.uid ?? '', host)}`);
    return {
      now: (this.#deps.now ?? Date.now)(),
      project,
      service: services.get(serviceKey),
      slices: slices.by('service', serviceKey),
      domains: domains.by('project', key),
      tenant,
      claimOf: this.#deps.claims.of,
      certificate: (home) =>
        host === undefined
          ? undefined
          : children.certificate(project, `${home}/${objectNameOf(project.metadata.uid ?? '', host)}`),
      standsAs: {serves: stands(namespace), redirects: stands(policy.redirector.namespace)},
      stands: (ingress) => children.stands(project, ingress),
      inTheWay: applied?.inTheWay.values().next().value,
      policy,
      traefik: isTraefik(ingressClasses, policy.ingressClassName),
    };
  }
}
