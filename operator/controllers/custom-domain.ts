/**
 * CustomDomain: gather (caches, the newest looks at DNS and edge) -> decide (domain/lifecycle.ts, pure) -> apply
 * (Certificates and Ingresses, then status once, last) -> say when to look again.
 */
import type {CustomDomain, IngressClass, Project} from '../api/foreign.ts';
import {acceptHostname} from '../domain/acceptance.ts';
import {normalise, objectNameOf} from '../domain/hostname.ts';
import type {Decision, EdgeFinding, HostFacts, Policy, World} from '../domain/lifecycle.ts';
import {decide} from '../domain/lifecycle.ts';
import type {Diagnosis} from '../domain/diagnosis.ts';
import {attemptOf} from '../domain/issuance.ts';
import type {ReasonName} from '../domain/reasons.ts';
import {reasons} from '../domain/reasons.ts';
import type {Tenant} from '../domain/tenant.ts';
import type {Verdict} from '../domain/verification.ts';
import type {Cache} from '../kube/cache.ts';
import type {Client} from '../kube/client.ts';
import type {Result} from '../kube/controller.ts';
import type {EventRecorder} from '../kube/events.ts';
import {ensureFinalizer, removeFinalizer} from '../kube/finalizer.ts';
import type {Key} from '../kube/objects.ts';
import {writeStatus} from '../kube/status.ts';
import type {Applied, Children} from './children.ts';
import type {IssuanceQuestion} from './issuance-reader.ts';
import type {Observer} from './observer.ts';
import type {OrderBook} from './order-book.ts';
import {customDomains} from './resources.ts';
import type {Tenants} from './tenants.ts';

/** On a CustomDomain while Doorplate has something to take down when it goes. */
export const finalizer = 'doorplate.dev/routes';

const requestAnnotations = ['doorplate.dev/requestedAt', 'reconcile.fluxcd.io/requestedAt'] as const;

/** The DNS question of a host. */
export interface DnsQuestion {
  hostname: string;
  target: string;
  /** Whether a proof shall come with the CAA records: before an order. */
  caa: boolean;
}

export interface CustomDomainDeps {
  client: Client;
  policy: Policy;
  domains: Cache<CustomDomain, CustomDomain>;
  projects: Cache<Project, Project>;
  tenants: Tenants;
  ingressClasses: Cache<IngressClass, IngressClass>;
  children: Children;
  dns: Observer<DnsQuestion, Verdict>;
  edge: Observer<string, EdgeFinding[]>;
  issuance: Observer<IssuanceQuestion, Diagnosis>;
  orders: OrderBook;
  events: EventRecorder;
  startedAt: number;
  now?: () => number;
}

/** Whether an ingress class is Traefik's, the one that can bind an Ingress to a listener. */
export const isTraefik = (classes: Cache<IngressClass, IngressClass>, name: string) => classes.get(name)?.spec?.controller === 'traefik.io/ingress-controller';

/** The value by which somebody asks for a check; of two annotations the greater, which of times is the later. */
function requestValue(domain: CustomDomain): string | undefined {
  const values = requestAnnotations.flatMap((a) => domain.metadata.annotations?.[a] ?? []);
  return values.toSorted().at(-1)?.slice(0, 256);
}

export class CustomDomainReconciler {
  readonly #deps: CustomDomainDeps;
  /** When a request was first seen, by object; gone when it has been answered. */
  readonly #requests = new Map<Key, {value: string; seenAt: number}>();

  constructor(deps: CustomDomainDeps) { this.#deps = deps; }

  /** Brings one CustomDomain to what it should be. Throws what the API server throws; the queue tries again. */
  async reconcile(key: Key): Promise<Result> {
    const {domains, client, tenants, children} = this.#deps;
    const cached = domains.get(key);
    if (!cached) {
      this.#forget(key);
      return 'awaitChange';
    }
    if (cached.metadata.deletionTimestamp) return this.#remove(key, cached);
    // Its Namespace exists; the watch is about to tell of it, and then of this.
    const tenant = tenants.of(cached.metadata.namespace ?? '');
    if (!tenant) return 'awaitChange';
    const claimed = await ensureFinalizer(client, customDomains, cached, finalizer);
    if (claimed) domains.observe(claimed);
    const domain = claimed ?? cached;

    let applied: Applied = {changed: false, inTheWay: new Map()};
    let world = this.#gather(key, domain, tenant, applied);
    let decision = decide(world);
    // The budgets come before the order: what is wanted is asked for, and decided with the answer.
    if (this.#order(key, world, decision)) {
      world = this.#gather(key, domain, tenant, applied);
      decision = decide(world);
    }
    applied = await children.apply(domain, decision);
    if (applied.changed || applied.inTheWay.size > 0) {
      world = this.#gather(key, domain, tenant, applied);
      decision = decide(world);
    }
    for (const attempt of decision.freshAttempts) await children.attempt(attempt, world.now);
    this.#schedule(key, world, decision);
    await this.#publish(domain, decision);
    if (world.request && decision.status.lastHandledReconcileAt === world.request.value) this.#requests.delete(key);
    return decision.wakeAt === undefined ? 'awaitChange' : {requeueAfterMs: Math.max(1000, decision.wakeAt - world.now)};
  }

  #gather(key: Key, domain: CustomDomain, tenant: Tenant, applied: Applied): World {
    const {domains, projects, policy, children, dns, edge, issuance, orders, ingressClasses} = this.#deps;
    const now = (this.#deps.now ?? Date.now)();
    const namespace = domain.metadata.namespace ?? '';
    const projectKey = `${namespace}/${domain.spec.projectRef.name}`;
    const project = projects.get(projectKey);
    const traefik = isTraefik(ingressClasses, policy.ingressClassName);
    const value = requestValue(domain);
    if (value !== undefined && value !== domain.status?.lastHandledReconcileAt && this.#requests.get(key)?.value !== value) {
      this.#requests.set(key, {value, seenAt: now});
    }
    const facts = new Map<string, HostFacts>();
    const world: World = {now, domain, project, siblings: domains.by('project', projectKey), tenant, policy, traefik, startedAt: this.#deps.startedAt, request: this.#requests.get(key), facts,
      stands: (ingress) => children.stands(domain, ingress)};
    const primary = normalise(domain.spec.primary);
    for (const written of [domain.spec.primary, ...(domain.spec.redirects ?? []).map((r) => r.from)]) {
      const hostname = normalise(written);
      if (hostname === undefined || acceptHostname(written, policy)) continue;
      const name = objectNameOf(domain.metadata.uid ?? '', hostname);
      const of = `${hostname === primary ? namespace : policy.redirector.namespace}/${name}`;
      const certificate = children.certificate(domain, of);
      const read = certificate && issuance.latest(key, `${hostname} ${attemptOf(certificate)}`);
      const grant = orders.grant(of);
      const checked = project?.status?.host === undefined ? undefined : dns.latest(key, `${hostname} ${project.status.host}`);
      const looked = edge.latest(key, hostname);
      const blocked = applied.inTheWay.get(name) ?? applied.inTheWay.get(`${name}-http`);
      facts.set(hostname, {
        ...(checked && {verdict: checked.result, checkedAt: checked.at}),
        ...(looked && {edge: looked.result, edgeLookedAt: looked.at}),
        certificate,
        orders: orders.orders(hostname),
        ...(grant && {grant}),
        ...(read && {diagnosis: read.result}),
        ...(blocked !== undefined && {inTheWay: blocked}),
      });
    }
    return world;
  }

  /** Puts the wishes for orders into the book. Whether an answer has changed. */
  #order(key: Key, {domain, tenant, policy}: World, {wishes, failures}: Decision): boolean {
    const {orders} = this.#deps;
    const namespace = domain.metadata.namespace ?? '';
    const primary = normalise(domain.spec.primary);
    for (const {hostname, at, message} of failures) orders.explain(hostname, at, message);
    return orders.keep(key, tenant.account ?? namespace, wishes.map((wish) => ({
      ...wish, certificate: `${wish.hostname === primary ? namespace : policy.redirector.namespace}/${objectNameOf(domain.metadata.uid ?? '', wish.hostname)}`,
    })));
  }

  #forget(key: Key): void {
    const {dns, edge, issuance, orders} = this.#deps;
    this.#requests.delete(key);
    for (const observer of [dns, edge, issuance]) observer.forget(key);
    orders.keep(key, '', []);
  }

  #schedule(key: Key, world: World, decision: Decision): void {
    const {dns, edge, issuance} = this.#deps;
    const target = world.project?.status?.host;
    const keys = new Set(decision.looks.map((l) => (l.what === 'dns' ? `${l.hostname} ${target}` : l.what === 'issuance' ? `${l.hostname} ${l.attempt?.id}` : l.hostname)));
    for (const observer of [dns, edge, issuance]) observer.forget(key, keys);
    for (const look of decision.looks) {
      if (look.at === Infinity) continue;
      if (look.what === 'issuance') {
        if (look.attempt) issuance.due(key, `${look.hostname} ${look.attempt.id}`, {namespace: look.attempt.namespace, request: look.attempt.request, owner: world.domain.metadata.uid ?? ''}, look.at);
      } else if (look.what === 'edge') edge.due(key, look.hostname, look.hostname, look.at);
      else if (target !== undefined) dns.due(key, `${look.hostname} ${target}`, {hostname: look.hostname, target, caa: look.caa ?? false}, look.at);
    }
  }

  /** Status once, last; then the Events of what has changed in it. */
  async #publish(domain: CustomDomain, {status}: Decision): Promise<void> {
    const written = await writeStatus(this.#deps.client, customDomains, domain, status);
    if (!written) return;
    this.#deps.domains.observe(written);
    for (const host of status.hosts ?? []) {
      const before = domain.status?.hosts?.find((h) => h.hostname === host.hostname);
      const {health} = reasons[host.reason as ReasonName];
      // Told: a new phase, a new reason to act and its end, and the first word after the first check.
      if (host.reason === 'CheckPending' || (before?.phase === host.phase && before.servedUntil === host.servedUntil && (before.reason === host.reason || (health !== 'stalled' && before.reason !== 'CheckPending')))) continue;
      this.#deps.events.record({
        regarding: domain,
        type: health === 'stalled' ? 'Warning' : 'Normal',
        reason: health !== 'stalled' && (host.phase === 'Live' || host.phase === 'Verified') ? host.phase : host.reason,
        action: 'Reconcile',
        note: host.message,
      });
    }
  }

  /** Routes first: traffic stops at once. Then certificates, then the finalizer. */
  async #remove(key: Key, domain: CustomDomain): Promise<Result> {
    this.#forget(key);
    if (!domain.metadata.finalizers?.includes(finalizer)) return 'awaitChange';
    await this.#deps.children.remove(domain);
    await removeFinalizer(this.#deps.client, customDomains, domain, finalizer);
    this.#deps.events.record({regarding: domain, type: 'Normal', reason: 'Removed', action: 'Remove', note: 'Routes and certificates are gone.'});
    return 'awaitChange';
  }
}
