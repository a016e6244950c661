/**
 * CustomDomain: gather (caches, the newest looks at DNS and edge) -> decide (domain/lifecycle.ts, pure) -> apply
 * (Ingresses and Certificates, then status; a proof is in status before the Certificate) -> say when to look again.
 */
import {type CustomDomainStatus, requestAnnotations} from '../api/custom-domain.ts';
import type {CustomDomain} from '../api/foreign.ts';
import {shorterStatuses} from '../domain/fit.ts';
import type {Hostname} from '../domain/hostname.ts';
import {decide, removing} from '../domain/lifecycle.ts';
import type {Tenant} from '../domain/tenant.ts';
import {tenantKey} from '../domain/tenant.ts';
import type {Decision, Policy, World} from '../domain/world.ts';
import {cut} from '../api/rules.ts';
import type {Client} from '../kube/client.ts';
import {again, type Result} from '../kube/controller.ts';
import {isDeepEqual} from '../kube/equality.ts';
import type {EventRecorder} from '../kube/events.ts';
import {ensureFinalizer, removeFinalizer} from '../kube/finalizer.ts';
import {type Key, keyOf} from '../kube/objects.ts';
import {doAll} from '../kube/side-by-side.ts';
import {writeStatus} from '../kube/status.ts';
import {all, asIs, by, on, onItself, type Source, type Wake, whenGone} from '../kube/wake.ts';
import type {CheckTimes} from './check-times.ts';
import type {Applied, Children} from './children.ts';
import type {Caches} from './caches.ts';
import type {Claims} from './claims.ts';
import type {EdgeAddresses} from './edge-addresses.ts';
import type {FirstDomains} from './first-domains.ts';
import {gather} from './gather.ts';
import {finalizer, longestRequest} from './kept.ts';
import {leavingFor} from './leaving.ts';
import {type EdgeSources, keptHosts, render} from './rendering.ts';
import {forget, type Looks, schedule} from './looks.ts';
import type {OrderBook} from './order-book.ts';
import {holderOf, nameOf, namespacedNameOf, ownerOf, projectInLine} from './relations.ts';
import {customDomains} from './resources.ts';
import {eventOfDomain, statusTooLarge} from './status-events.ts';
import type {Tenants} from './tenants.ts';
import {confirmTenant} from './tenants.ts';

export interface CustomDomainDeps extends Looks, Pick<Caches, 'domains' | 'projects' | 'ingressClasses'> {
  client: Client;
  policy: Policy;
  plainHttp: EdgeSources['plainHttp'];
  issuer: {readonly identities: readonly Hostname[]};
  edgeAddresses: Pick<EdgeAddresses, 'edge' | 'endpoints'>;
  tenants: Tenants;
  claims: Claims;
  children: Children;
  orders: OrderBook;
  firsts: FirstDomains;
  checks: CheckTimes;
  events: EventRecorder;
  /** {@link World.startedAt}. */
  startedAt(): number;
  /** In place of those of {@link pace}. */
  pace?: Partial<typeof pace> | undefined;
  now?: () => number;
}

/** How soon something is told in status. */
const pace = {
  /** What a user waits for no longer than this is not told: a first check of the DNS, a first look at the edge. */
  patienceMs: 1000,
  /**
   * For so long a status that was written stands, for each of its hostnames. DNS answers one by one: 501 hostnames would be 200 statuses
   * of 300 KiB in half a minute.
   */
  restMs: 4,
};

/** What wakes a CustomDomain. */
export const wakeDomains = (
  c: Caches,
  {tenants, issuer, looks, orders, firsts, plainHttp, edgeAddresses}: DomainSources,
): Wake[] => [
  onItself(c.domains),
  on(firsts, by(c.domains, 'project', asIs)),
  on(c.projects, by(c.domains, 'project', namespacedNameOf)),
  on(tenants, by(c.domains, 'namespace', asIs)),
  on(c.claims, by(c.domains, 'hostname', nameOf), by(c.domains, 'uid', holderOf)),
  on(c.routes, by(c.domains, 'uid', ownerOf), whenGone(by(c.domains, 'hostname', keptHosts))),
  on(c.certificates, by(c.domains, 'uid', ownerOf)),
  on(c.requests, by(c.domains, 'uid', ownerOf)),
  on(c.ingressClasses, all(c.domains)),
  on(plainHttp, by(c.domains, 'uid', asIs)),
  on(issuer, all(c.domains)),
  on(edgeAddresses, all(c.domains)),
  on(looks.dns, asIs),
  on(looks.edge, asIs),
  on(looks.issuance, asIs),
  on(orders, (owner) => (projectInLine(owner) === undefined ? [owner] : [])),
];

/** What wakes a CustomDomain besides objects; each tells of a namespace, of a key, of a Project's, of a UID or of nothing. */
interface DomainSources {
  tenants: Source<[string]>;
  issuer: Source<[]>;
  edgeAddresses: Source<[]>;
  looks: Record<keyof Looks, Source<[string]>>;
  orders: Source<[string]>;
  firsts: Source<[string]>;
  plainHttp: Source<[string]>;
}

/** The value by which somebody asks for a check; of two annotations the later time, also where each is told in another zone. */
export function requestValue({metadata: {annotations = {}}}: Pick<CustomDomain, 'metadata'>): string | undefined {
  const [one, other] = requestAnnotations.flatMap((name) => annotations[name] || []);
  const latest = one && other && Date.parse(other) > Date.parse(one) ? other : one;
  return latest && cut(latest, longestRequest);
}

export class CustomDomainReconciler {
  readonly #deps: CustomDomainDeps;
  /** When a request was first seen, by object; gone when it has been answered. */
  readonly #requests = new Map<Key, {value: string; seenAt: number}>();
  /** Since when there is something of a moment to tell, by object, ms since the epoch. */
  readonly #passing = new Map<Key, number>();
  /** Until when the status of an object stands, by `performance.now()`. */
  readonly #resting = new Map<Key, number>();

  readonly #pace: typeof pace;

  constructor(deps: CustomDomainDeps) {
    this.#deps = deps;
    this.#pace = {...pace, ...deps.pace};
  }

  /** Brings one CustomDomain to what it should be. Throws what the API server throws; the queue tries again. */
  async reconcile(key: Key): Promise<Result> {
    const {domains, client, tenants, claims, children, orders} = this.#deps;
    const cached = domains.get(key);
    if (!cached) {
      this.#forget(key);
      return 'awaitChange';
    }
    if (cached.metadata.deletionTimestamp) return this.#remove(key, cached);
    if (tenants.isGoing(cached.metadata.namespace ?? '')) return this.#letGo(key, cached);
    // Its Namespace exists; the watch is about to tell of it, and then of this.
    const tenant = tenants.of(cached.metadata.namespace ?? '');
    if (!tenant) return 'awaitChange';
    const claimed = await ensureFinalizer(client, customDomains, cached, finalizer);
    if (claimed) domains.observe(claimed);
    let domain = claimed ?? cached;

    let applied: Applied | undefined;
    let world!: World;
    const winner = {tenant, confirm: () => confirmTenant(client, cached.metadata.namespace ?? '', tenant)};
    const settle = () => claims.settle(() => decide((world = this.#gather(key, domain, tenant, applied))), winner);
    let decision = await settle();
    // The budgets come before the order: what is wanted is asked for, and decided with the answer.
    if (orders.keep(key, tenantKey(tenant), decision.wishes)) decision = await settle();
    if (decision.publish === 'First') domain = await this.#publish(domain, decision);
    const beforeOrders = async (soFar: Applied): Promise<Decision> => {
      if (decision.publish !== 'BeforeOrders') return decision;
      applied = soFar;
      decision = await settle();
      domain = await this.#publish(domain, decision);
      return decision;
    };
    applied = await children.apply(
      domain,
      {...decision, routes: render(decision.routes, this.#deps)},
      leavingFor(this.#deps, tenant, decision),
      beforeOrders,
    );
    if (applied.unfinished) return again;
    if (applied.changed || applied.obstacles.size > 0) decision = await settle();
    await doAll(decision.freshAttempts, (attempt) => children.attempt(attempt, world.now));
    schedule(this.#deps, domain, tenantKey(tenant), decision.looks);
    const waits = await this.#tell(key, domain, world, decision);
    // What does not depend on it is done and told; it is tried again after a pause that grows.
    if (applied.failed) throw applied.failed;
    if (waits > 0) return {requeueAfterMs: waits};
    return decision.wakeAt === undefined
      ? 'awaitChange'
      : {requeueAfterMs: Math.max(1000, decision.wakeAt - world.now)};
  }

  /** Tells in status what was decided, where that need not wait. Returns for how long it waits, ms. */
  async #tell(key: Key, domain: CustomDomain, {now, request}: World, decision: Decision): Promise<number> {
    const waits = decision.publish === 'Later' ? this.#waits(key, now) : this.#rests(key, domain, decision);
    if (waits > 0) return waits;
    this.#passing.delete(key);
    await this.#publish(domain, decision);
    if (request && decision.status.lastHandledReconcileAt === request.value) this.#requests.delete(key);
    return 0;
  }

  /** For how long what is of a moment is not told yet, ms. */
  #waits(key: Key, now: number): number {
    const since = Math.min(this.#passing.get(key) ?? now, now);
    this.#passing.set(key, since);
    return since + this.#pace.patienceMs - now;
  }

  /** For how long the last status still stands, ms, where there is another one. */
  #rests(key: Key, domain: CustomDomain, {status}: Decision): number {
    const left = Math.ceil((this.#resting.get(key) ?? 0) - performance.now());
    return left > 0 && !isDeepEqual(domain.status, status) ? left : 0;
  }

  #gather(key: Key, domain: CustomDomain, tenant: Tenant, applied: Applied | undefined): World {
    const now = this.#now;
    const obstacles = applied?.obstacles ?? new Map<string, never>();
    return gather(this.#deps, {now, domain, tenant, request: this.#request(key, domain, now), obstacles});
  }

  /** The check that somebody asks for and that is not answered yet; when it was first seen is remembered. */
  #request(key: Key, domain: CustomDomain, now: number): World['request'] {
    const value = requestValue(domain);
    if (
      value !== undefined &&
      value !== domain.status?.lastHandledReconcileAt &&
      this.#requests.get(key)?.value !== value
    ) {
      this.#requests.set(key, {value, seenAt: now});
    }
    return this.#requests.get(key);
  }

  #forget(key: Key): void {
    this.#requests.delete(key);
    this.#passing.delete(key);
    this.#resting.delete(key);
    forget(this.#deps, key);
    this.#deps.orders.keep(key, '', []);
  }

  /** Writes the status, where it differs; then the Events of what has changed in it. Returns the object as it stands. */
  async #publish(domain: CustomDomain, {status}: Decision): Promise<CustomDomain> {
    const written = await this.#write(domain, status);
    if (!written) return domain;
    this.#deps.domains.observe(written);
    const stands = this.#pace.restMs * (status.hosts?.length ?? 0);
    this.#resting.set(keyOf(written), performance.now() + stands);
    const event = written.status?.hosts ? eventOfDomain(domain.status, status) : statusTooLarge;
    if (event) this.#deps.events.record({regarding: domain, ...event});
    return written;
  }

  /** In a namespace that is being deleted: what stands goes, and nothing is put back. It will be deleted itself. */
  async #letGo(key: Key, domain: CustomDomain): Promise<Result> {
    this.#forget(key);
    await this.#deps.children.remove(domain);
    return 'awaitChange';
  }

  /** Routes first: traffic stops at once. Then certificates, then the finalizer. */
  async #remove(key: Key, domain: CustomDomain): Promise<Result> {
    this.#forget(key);
    if (!domain.metadata.finalizers?.includes(finalizer)) return 'awaitChange';
    const {tenants, children} = this.#deps;
    const namespace = domain.metadata.namespace ?? '';
    // Nothing rests in a namespace that is being deleted.
    const tenant = tenants.isGoing(namespace) ? undefined : tenants.of(namespace);
    await children.remove(domain, leavingFor(this.#deps, tenant));
    // Where others hold it up, it stands there for a while: with what has become of it.
    const held =
      domain.metadata.finalizers.length > 1 && domain.status
        ? await this.#write(domain, removing(domain.status, this.#now))
        : undefined;
    const freed = await removeFinalizer(this.#deps.client, customDomains, held ?? domain, finalizer);
    // So that an event that is on its way already finds nothing to take off.
    if (freed) this.#deps.domains.observe(freed);
    this.#deps.events.record({
      regarding: domain,
      type: 'Normal',
      reason: 'Removed',
      action: 'Remove',
      note: 'Routes and certificates are gone.',
    });
    return 'awaitChange';
  }

  /** Where there is no room for it, in fewer words. */
  #write(domain: CustomDomain, status: CustomDomainStatus): Promise<CustomDomain | undefined> {
    return writeStatus(this.#deps.client, customDomains, domain, status, {
      shorter: () => shorterStatuses(status, domain.status, this.#now),
    });
  }

  get #now(): number {
    return (this.#deps.now ?? Date.now)();
  }
}
