/**
 * Reconciles CustomDomains: gather (gather.ts: caches, the newest DNS checks and edge probes) -> decide (domain/lifecycle.ts, pure) ->
 * carry out the plan's stages (domain-stages.ts) -> return the time of the next reconcile.
 */
import {type CustomDomainStatus, requestAnnotations} from '../api/custom-domain.ts';
import type {CustomDomain} from '../api/foreign.ts';
import {shorterStatuses} from '../domain/status/status-size.ts';
import {decide, removing} from '../domain/lifecycle.ts';
import type {Tenant} from '../domain/tenant.ts';
import {tenantKey} from '../domain/tenant.ts';
import type {Decision, FreshAttempt, Policy, World} from '../domain/world.ts';
import {cut} from '../api/rules.ts';
import type {Change} from '../kube/cache/cache.ts';
import type {Client} from '../kube/client/client.ts';
import type {Result} from '../kube/controller/controller.ts';
import type {EventRecorder} from '../kube/writes/events.ts';
import {isDeepEqual} from '../kube/equality.ts';
import {removeFinalizer} from '../kube/writes/finalizer.ts';
import {type Key, keyOf} from '../kube/objects.ts';
import {writeStatus} from '../kube/writes/status.ts';
import {
  all,
  asIs,
  by,
  on,
  onItself,
  type ChangeSource,
  type KeysOf,
  type Wake,
  whenNewOrGone,
  whenSpecChanges,
} from '../kube/controller/wake.ts';
import type {CheckTimes} from './state/check-times.ts';
import type {OwnedObjects} from './writers/owned-objects.ts';
import type {Caches} from './state/caches.ts';
import type {Claims} from './writers/claims.ts';
import {DomainReconciliation, domainStages} from './domain-stages.ts';
import type {EdgeAddresses} from './state/edge-addresses.ts';
import type {EdgeHealth} from './probes/edge-health.ts';
import type {FirstDomains} from './state/first-domains.ts';
import {gather} from './gather.ts';
import {finalizer, longestRequest} from '../resources/projections.ts';
import {leavingFor} from './writers/retention.ts';
import {type EdgeSources, cachedHostnames} from './state/rendering.ts';
import {forget, type Observations, schedule} from './probes/observations.ts';
import type {OrderQueues} from './orders/order-queues.ts';
import {
  holderOf,
  nameOf,
  namespacedNameOf,
  ownerOf,
  projectIsQueued,
  servedHostnamesOf,
} from '../resources/relations.ts';
import {customDomains} from '../resources/resources.ts';
import {carryOut} from './stages.ts';
import {eventOfDomain, statusTooLarge} from './status-events.ts';
import {type Pace, StatusPace} from './status-pace.ts';
import type {KnownCas} from './issuers.ts';
import type {Tenants} from './state/tenants.ts';
import type {VerificationSlots} from './state/verification-slots.ts';

export interface CustomDomainDeps extends Observations, Pick<Caches, 'domains' | 'projects' | 'ingressClasses'> {
  client: Client;
  policy: Policy;
  plainHttp: EdgeSources['plainHttp'];
  cas: KnownCas;
  edgeAddresses: Pick<EdgeAddresses, 'edge' | 'endpoints'>;
  edgeHealth: Pick<EdgeHealth, 'state'>;
  tenants: Tenants;
  claims: Claims;
  ownedObjects: OwnedObjects;
  orders: OrderQueues;
  firsts: FirstDomains;
  checks: CheckTimes;
  waiting: VerificationSlots;
  events: EventRecorder;
  /** {@link World.startedAt}. */
  startedAt(): number;
  pace?: Partial<Pace> | undefined;
  now?: () => number;
}

/** Without the changed CustomDomain itself. */
const others =
  (keysOf: KeysOf<Change<CustomDomain>>): KeysOf<Change<CustomDomain>> =>
  (now, before) => {
    const changed = new Set([now, before].flatMap((domain) => (domain ? keyOf(domain) : [])));
    return keysOf(now, before).filter((key) => !changed.has(key));
  };

/** The changes that wake CustomDomains. */
export const wakeDomains = (
  c: Caches,
  {tenants, cas, looks, orders, firsts, waiting, plainHttp, edgeAddresses, edgeHealth}: DomainSources,
): Wake[] => [
  onItself(c.domains),
  on(c.domains, whenSpecChanges(others(by(c.domains, 'hostname', servedHostnamesOf)))),
  on(firsts, by(c.domains, 'project', asIs)),
  on(waiting, asIs),
  on(c.projects, by(c.domains, 'project', namespacedNameOf)),
  on(tenants, by(c.domains, 'namespace', asIs)),
  on(c.claims, by(c.domains, 'hostname', nameOf), by(c.domains, 'uid', holderOf)),
  on(c.routes, by(c.domains, 'uid', ownerOf), whenNewOrGone(by(c.domains, 'hostname', cachedHostnames))),
  on(c.certificates, by(c.domains, 'uid', ownerOf)),
  on(c.requests, by(c.domains, 'uid', ownerOf)),
  on(c.ingressClasses, all(c.domains)),
  on(plainHttp, by(c.domains, 'uid', asIs)),
  on(cas, all(c.domains)),
  on(edgeAddresses, all(c.domains)),
  on(edgeHealth, all(c.domains)),
  on(looks.dns, asIs),
  on(looks.edge, asIs),
  on(looks.issuance, asIs),
  on(orders, (owner) => (projectIsQueued(owner) === undefined ? [owner] : [])),
];

/** Sources besides objects that wake CustomDomains. Each reports a namespace, a key, a Project's key, a UID or nothing. */
interface DomainSources {
  tenants: ChangeSource<[string]>;
  cas: ChangeSource<[]>;
  edgeAddresses: ChangeSource<[]>;
  edgeHealth: ChangeSource<[]>;
  looks: Record<keyof Observations, ChangeSource<[string]>>;
  orders: ChangeSource<[string]>;
  firsts: ChangeSource<[string]>;
  waiting: ChangeSource<[string]>;
  plainHttp: ChangeSource<[string]>;
}

/** The value of the annotation that asks for a check. If both annotations are set, the later time counts, in any time zone. */
export function requestValue({metadata: {annotations = {}}}: Pick<CustomDomain, 'metadata'>): string | undefined {
  const [one, other] = requestAnnotations.flatMap((name) => annotations[name] || []);
  const latest = one && other && Date.parse(other) > Date.parse(one) ? other : one;
  return latest && cut(latest, longestRequest);
}

/** Memory between the reconciles of CustomDomains. */
class Memory {
  /** First sight of a requested check, until it is answered. */
  readonly #requests = new Map<Key, {value: string; seenAt: number}>();
  readonly pace: StatusPace;

  constructor(pace: StatusPace) {
    this.pace = pace;
  }

  /** The requested check that is not answered yet, with the time of its first sight. */
  request(domain: CustomDomain, now: number): World['request'] {
    const [key, value] = [keyOf(domain), requestValue(domain)];
    const isNew = value !== domain.status?.lastHandledReconcileAt && this.#requests.get(key)?.value !== value;
    if (value !== undefined && isNew) this.#requests.set(key, {value, seenAt: now});
    return this.#requests.get(key);
  }

  /** Notes that a published status answers the request with this value. */
  answered(key: Key, value: string | undefined): void {
    if (this.#requests.get(key)?.value === value) this.#requests.delete(key);
  }

  forget(key: Key): void {
    this.#requests.delete(key);
    this.pace.forget(key);
  }
}

/**
 * Leaves the numbers of hostnames out if they are the only news, because an older release has written the status. An upgrade then causes
 * no write for them: they come with the next change.
 */
export function withoutLoneCounts(
  status: CustomDomainStatus,
  published: CustomDomainStatus | undefined,
): CustomDomainStatus {
  if (published?.attachedHostnames !== undefined) return status;
  const {attachedHostnames: _, liveHostnames: __, ...rest} = status;
  return isDeepEqual(rest, published) ? rest : status;
}

/** A reconcile with the caches, the client and the memory of this process. */
class CustomDomainReconciliation extends DomainReconciliation {
  readonly deps: CustomDomainDeps;
  readonly #memory: Memory;

  constructor(domain: CustomDomain, tenant: Tenant, deps: CustomDomainDeps, memory: Memory) {
    super(domain, tenant, () => nowOf(deps));
    this.deps = deps;
    this.#memory = memory;
  }

  get cache(): CustomDomainDeps['domains'] {
    return this.deps.domains;
  }

  protected decide(now: number): Decision {
    const {object: domain, tenant, writes} = this;
    const plan = decide(gather(this.deps, {now, domain, tenant, request: this.#memory.request(domain, now), writes}));
    this.deps.waiting.note(keyOf(domain), tenant, plan.status.hosts ?? []);
    return {...plan, status: withoutLoneCounts(plan.status, domain.status)};
  }

  debounceMs(): number {
    return this.#memory.pace.waits(this.object, this.plan, this.decidedAt);
  }

  async publish(): Promise<void> {
    const {object: before, plan} = this;
    const written = await writeDomainStatus(this.deps, before, plan.status);
    if (!written) return;
    this.wrote(written);
    this.#memory.pace.published(written);
    const event = written.status?.hosts ? eventOfDomain(before.status, plan.status) : statusTooLarge;
    if (event) this.deps.events.record({regarding: before, ...event});
  }

  answer(): void {
    this.#memory.answered(keyOf(this.object), this.plan.status.lastHandledReconcileAt);
  }

  async startAttempts(attempts: readonly FreshAttempt[]): Promise<boolean> {
    return this.deps.ownedObjects.startAttempts(attempts, this.decidedAt, this.writes);
  }

  scheduleProbes(looks: Decision['looks']): void {
    schedule(this.deps, this.object, tenantKey(this.tenant), looks);
  }
}

const nowOf = ({now = Date.now}: CustomDomainDeps): number => now();

/** Writes a status if it differs, in a shorter form if the object has no room for it. Returns the written object. */
const writeDomainStatus = (
  deps: CustomDomainDeps,
  domain: CustomDomain,
  status: CustomDomainStatus,
): Promise<CustomDomain | undefined> =>
  writeStatus(deps.client, customDomains, domain, status, {
    shorter: () => shorterStatuses(status, domain.status, nowOf(deps)),
  });

export class CustomDomainReconciler {
  readonly #deps: CustomDomainDeps;
  readonly #memory: Memory;

  constructor(deps: CustomDomainDeps) {
    this.#deps = deps;
    this.#memory = new Memory(new StatusPace(deps.pace));
  }

  /** Reconciles one CustomDomain. Throws errors of the API server, so that the queue retries. */
  async reconcile(key: Key): Promise<Result> {
    const {domains, tenants} = this.#deps;
    const domain = domains.get(key);
    if (!domain) {
      this.#forget(key);
      return 'awaitChange';
    }
    if (domain.metadata.deletionTimestamp) return this.#remove(key, domain);
    const namespace = domain.metadata.namespace ?? '';
    if (tenants.isBeingDeleted(namespace)) return this.#removeFinalizers(key, domain);
    // The Namespace exists. When the watch reports it, this object is woken again.
    const tenant = tenants.of(namespace);
    if (!tenant) return 'awaitChange';
    return carryOut(domainStages, new CustomDomainReconciliation(domain, tenant, this.#deps, this.#memory));
  }

  #forget(key: Key): void {
    this.#memory.forget(key);
    forget(this.#deps, key);
    this.#deps.waiting.forget(key);
    this.#deps.orders.keep(key, '', []);
  }

  /** In a Namespace that is being deleted, removes the owned objects and creates nothing. Kubernetes deletes the CustomDomain itself. */
  async #removeFinalizers(key: Key, domain: CustomDomain): Promise<Result> {
    this.#forget(key);
    await this.#deps.ownedObjects.remove(domain);
    return 'awaitChange';
  }

  /** Removes the routes first, so that traffic stops at once; then the Certificates; then the finalizer. */
  async #remove(key: Key, domain: CustomDomain): Promise<Result> {
    this.#forget(key);
    if (!domain.metadata.finalizers?.includes(finalizer)) return 'awaitChange';
    const {tenants, ownedObjects} = this.#deps;
    const namespace = domain.metadata.namespace ?? '';
    // No Certificate is retained in a Namespace that is being deleted.
    const tenant = tenants.isBeingDeleted(namespace) ? undefined : tenants.of(namespace);
    await ownedObjects.remove(domain, leavingFor(this.#deps, tenant));
    // Other finalizers may delay the deletion. Meanwhile status reports the removal.
    const held =
      domain.metadata.finalizers.length > 1 && domain.status
        ? await writeDomainStatus(this.#deps, domain, removing(domain.status, nowOf(this.#deps)))
        : undefined;
    const freed = await removeFinalizer(this.#deps.client, customDomains, held ?? domain, finalizer);
    // A watch event that is already on its way then finds no finalizer to remove.
    if (freed) this.#deps.domains.observe(freed);
    this.#deps.events.record({
      regarding: domain,
      type: 'Normal',
      reason: 'Removed',
      action: 'Remove',
      note: 'Routes and certificates are deleted.',
    });
    return 'awaitChange';
  }
}
