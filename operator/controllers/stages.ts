/**
 * How a reconcile carries out its plan. A plan is data: the desired objects, status, checks and order requests, decided from the caches
 * alone. A list of named stages carries the plan out; each stage does one kind of write. A stage that changes the inputs of the plan makes
 * the plan stale. The plan is then decided again, and its claims are written, before the next stage begins.
 */
import {type Holder, isHeldBy} from '../domain/claims/claim.ts';
import {tenantKey, type Tenant} from '../domain/tenant.ts';
import type {Decision, Policy} from '../domain/world.ts';
import type {Cache} from '../kube/cache/cache.ts';
import type {Client} from '../kube/client/client.ts';
import {again, type Result} from '../kube/controller/controller.ts';
import {ensureFinalizer as ensure} from '../kube/writes/finalizer.ts';
import {isOfOne} from '../kube/errors.ts';
import type {Key, Resource} from '../kube/objects.ts';
import {settleAll} from '../kube/writes/side-by-side.ts';
import type {OwnedObjects, Leaving} from './writers/owned-objects.ts';
import {writeErrorOf, Writes} from './writers/writes.ts';
import type {Claims} from './writers/claims.ts';
import {finalizer} from '../resources/projections.ts';
import {leavingFor} from './writers/retention.ts';
import type {OrderQueues} from './orders/order-queues.ts';
import {type EdgeSources, render} from './state/rendering.ts';
import {confirmTenant} from './state/tenants.ts';

/** Members of every kind's plan. */
export type ReconcilePlan = Pick<
  Decision,
  'claims' | 'certificates' | 'returning' | 'forfeited' | 'routes' | 'orderRequests' | 'wakeAt'
> &
  Partial<Pick<Decision, 'handingOver'>>;

export interface StageDeps extends EdgeSources {
  client: Client;
  policy: Policy;
  claims: Pick<Claims, 'of' | 'read' | 'writeAll'>;
  ownedObjects: Pick<OwnedObjects, 'routedBy' | 'removeRoutesOfOthers' | 'applyRoutes' | 'applyCertificates'>;
  orders: Pick<OrderQueues, 'keep'>;
}

/** A running reconcile of one object. */
export abstract class Reconciliation<T extends Holder = Holder, P extends ReconcilePlan = ReconcilePlan> {
  abstract readonly deps: StageDeps;
  abstract readonly resource: Resource<T>;
  abstract readonly cache: Pick<Cache<never, T>, 'observe'>;
  readonly tenant: Tenant;
  /** The outcomes of the stages' writes so far. */
  readonly writes = new Writes((hostname) => this.#isOwned(hostname));
  readonly #now: () => number;
  #object: T;
  #plan: P | undefined;
  #decidedAt = 0;

  constructor(object: T, tenant: Tenant, now: () => number) {
    this.#object = object;
    this.tenant = tenant;
    this.#now = now;
  }

  /** The newest copy of the object: read from the cache, or returned by the last write. */
  get object(): T {
    return this.#object;
  }

  /** The newest plan. The first read after {@link replan} decides it. */
  get plan(): P {
    if (!this.#plan) {
      this.#decidedAt = this.#now();
      this.#plan = this.decide(this.#decidedAt);
    }
    return this.#plan;
  }

  /** Time of the newest plan, ms since the epoch. */
  get decidedAt(): number {
    return this.#decidedAt;
  }

  /** Delay until the next reconcile if nothing changes, ms from {@link decidedAt}; undefined: no delay is planned. */
  get wakeAfterMs(): number | undefined {
    const {wakeAt} = this.plan;
    return wakeAt === undefined ? undefined : Math.max(1000, wakeAt - this.#decidedAt);
  }

  /** Whether the inputs of the plan have changed since it was decided. */
  get isStale(): boolean {
    return this.#plan === undefined;
  }

  /** Marks the plan as stale, because its inputs have changed. */
  replan(): void {
    this.#plan = undefined;
  }

  /** Takes over the object that a write returned; undefined: nothing was written. The plan stays current, because it contains the write. */
  wrote(object: T | undefined): void {
    if (!object) return;
    this.#object = object;
    this.cache.observe(object);
  }

  /** The hostnames in the object's spec, and a former primary that is still served. */
  abstract names(): ReadonlySet<string>;
  /** The key of the object in the order queue. */
  abstract readonly orderOwner: Key;
  protected abstract decide(now: number): P;

  /** Whether another object owns a hostname, according to the cached claim. */
  isLost(hostname: string): boolean {
    const claim = this.deps.claims.of(hostname);
    return claim?.status?.holder !== undefined && !isHeldBy(claim, this.#object);
  }

  /** Whether this object owns a hostname, according to the claim in the API server. Brings the cached claim up to date. */
  async #isOwned(hostname: string): Promise<boolean> {
    return isHeldBy(await this.deps.claims.read(hostname), this.#object);
  }

  /** Decides for each Certificate that left the plan whether it is retained or deleted. */
  leaving(): Leaving {
    const {claims, policy} = this.deps;
    return leavingFor({claims, policy, now: this.#now}, this.tenant, this.plan);
  }

  /** Throws a StaleReadError if the Namespace belongs to another tenant now. */
  confirmTenant = (): Promise<void> =>
    confirmTenant(this.deps.client, this.#object.metadata.namespace ?? '', this.tenant);
}

/** Returns `Unfinished` if writes are left for another reconcile, so that other objects are not delayed. */
export type Stage<R> = (reconciliation: R) => Promise<'Unfinished' | void>;
type Any = Reconciliation<Holder>;

/** Delay before a failed read of a claim is repeated, ms. */
export const rereadMs = 2000;

/**
 * Runs the stages in order and returns when the queue reconciles the object again. Throws the error of a stage at once. A failed write of
 * a single object is thrown at the end: all other objects are written and status is published first, and the queue retries with backoff.
 */
export async function carryOut<R extends Any>(stages: readonly Stage<R>[], r: R): Promise<Result> {
  for (const stage of stages) {
    if ((await stage(r)) === 'Unfinished') return again;
    if (r.isStale) await writeClaims(r);
  }
  const failure = r.writes.failure();
  if (failure) throw failure;
  const afterMs = r.writes.unconfirmed.size > 0 ? rereadMs : r.wakeAfterMs;
  return afterMs === undefined ? 'awaitChange' : {requeueAfterMs: afterMs};
}

/**
 * Removes routes that must not wait for any write: routes of hostnames that left the spec, from the caches alone, and routes of hostnames
 * that another tenant owns now. The cached claim may be stale, so the claim is read from the API server before a route is removed.
 */
export async function removeObjects(r: Any): Promise<void> {
  const {deps, writes} = r;
  if (await deps.ownedObjects.removeRoutesOfOthers(r.object, r.names())) r.replan();
  const lost = [...deps.ownedObjects.routedBy(r.object)].filter((hostname) => r.isLost(hostname));
  const read = await settleAll(lost, (hostname) => deps.claims.read(hostname));
  lost.forEach((hostname, i) => {
    if (read[i]?.status !== 'fulfilled') writes.unconfirmed.add(hostname);
  });
  if (lost.length > 0) r.replan();
}

/** The finalizer exists before the first object that needs cleanup. */
export async function ensureFinalizer<T extends Holder>(
  r: Pick<Reconciliation<T>, 'deps' | 'resource' | 'object' | 'wrote'>,
): Promise<void> {
  r.wrote(await ensure(r.deps.client, r.resource, r.object, finalizer));
}

/** How many times a plan may ask for other claims before the queue's backoff takes over. */
const rounds = 4;

/**
 * Writes claims until the plan asks for none: the API server decides the owner of a hostname before anything is done for it. A failed
 * write is a write error of its hostname, and all other hostnames continue. Throws errors that concern more than one claim.
 */
export async function writeClaims(r: Any): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const claims = r.plan.claims.filter(({hostname}) => !r.writes.claimErrors.has(hostname));
    if (claims.length === 0) return;
    const outcomes = await r.deps.claims.writeAll(claims, r);
    r.writes.add(outcomes);
    outcomes.forEach((outcome, i) => {
      if (outcome.status === 'fulfilled') return;
      if (!isOfOne(outcome.reason)) throw outcome.reason;
      const {hostname} = claims[i]!;
      r.writes.claimErrors.set(hostname, writeErrorOf(`DomainClaim ${hostname}`, outcome.reason));
    });
    r.replan();
  }
  throw new Error('the claims kept changing during the decision');
}

/** Asks the order queue for budget. The plan is decided again with the answer, before a Certificate is written. */
export async function requestOrders(r: Any): Promise<void> {
  if (r.deps.orders.keep(r.orderOwner, tenantKey(r.tenant), r.plan.orderRequests)) r.replan();
}

export async function applyRoutes(r: Any): Promise<'Unfinished' | void> {
  const {deps, writes, plan} = r;
  if (await deps.ownedObjects.applyRoutes(r.object, render(plan.routes, deps), writes, plan.handingOver)) r.replan();
  return writes.unfinished ? 'Unfinished' : undefined;
}

export async function applyCertificates(r: Any): Promise<'Unfinished' | void> {
  const {deps, writes, plan} = r;
  if (await deps.ownedObjects.applyCertificates(r.object, plan, r.leaving(), writes)) r.replan();
  return writes.unfinished ? 'Unfinished' : undefined;
}
