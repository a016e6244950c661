/**
 * CustomDomain: gather (caches, the newest looks at DNS and edge) -> decide (domain/lifecycle.ts, pure) -> apply
 * (Certificates and Ingresses, then status; what is newly proven or Live is in status before them) -> say when to look again.
 */
import type {HostStatus} from '../api/custom-domain.ts';
import type {CustomDomain, IngressClass, Project} from '../api/foreign.ts';
import {isHeldBy} from '../domain/claim.ts';
import type {Hostname} from '../domain/hostname.ts';
import {objectNameOf} from '../domain/hostname.ts';
import type {Decision, EdgeFinding, HostFacts, Policy, World} from '../domain/lifecycle.ts';
import type {Diagnosis} from '../domain/diagnosis.ts';
import {attemptOf} from '../domain/issuance.ts';
import {decide, formerPrimary, named, questionOf, removing} from '../domain/lifecycle.ts';
import type {ReasonName} from '../domain/reasons.ts';
import {reasons} from '../domain/reasons.ts';
import {homeOf} from '../domain/routes.ts';
import type {Tenant} from '../domain/tenant.ts';
import {tenantKey} from '../domain/tenant.ts';
import type {Question, Verdict} from '../domain/verification.ts';
import type {Cache} from '../kube/cache.ts';
import type {Client} from '../kube/client.ts';
import type {Result} from '../kube/controller.ts';
import type {EventRecorder} from '../kube/events.ts';
import {ensureFinalizer, removeFinalizer} from '../kube/finalizer.ts';
import type {Key} from '../kube/objects.ts';
import {writeStatus} from '../kube/status.ts';
import type {Applied, Children} from './children.ts';
import type {Claims} from './claims.ts';
import type {IssuanceQuestion} from './issuance-reader.ts';
import type {Observer} from './observer.ts';
import type {OrderBook} from './order-book.ts';
import {customDomains} from './resources.ts';
import type {Tenants} from './tenants.ts';

/** On a CustomDomain while Doorplate has something to take down when it goes. */
export const finalizer = 'doorplate.dev/routes';

const requestAnnotations = ['doorplate.dev/requestedAt', 'reconcile.fluxcd.io/requestedAt'] as const;

/** A probe of the edge: what it presents for a hostname, and, where asked, who answers. */
export interface EdgeQuestion {
  hostname: Hostname;
  whoAnswers: boolean;
}

/** The DNS question of a host. */
export interface DnsQuestion {
  hostname: string;
  target: string;
  /** The value of the TXT that proves it where there is no CNAME; undefined: no proof by TXT is possible. */
  token?: string;
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
  claims: Claims;
  children: Children;
  dns: Observer<DnsQuestion, Verdict>;
  edge: Observer<EdgeQuestion, EdgeFinding[]>;
  issuance: Observer<IssuanceQuestion, Diagnosis>;
  orders: OrderBook;
  events: EventRecorder;
  startedAt: number;
  now?: () => number;
}

/** Whether an ingress class is Traefik's, the one that can bind an Ingress to a listener. */
export const isTraefik = (classes: Cache<IngressClass, IngressClass>, name: string) =>
  classes.get(name)?.spec?.controller === 'traefik.io/ingress-controller';

/** The value by which somebody asks for a check; of two annotations the greater, which of times is the later. */
function requestValue(domain: CustomDomain): string | undefined {
  const values = requestAnnotations.flatMap((a) => domain.metadata.annotations?.[a] ?? []);
  return values.toSorted().at(-1)?.slice(0, 256);
}

const questionKey = ({hostname, target, token}: Question) => `${hostname} ${target} ${token}`;

export class CustomDomainReconciler {
  readonly #deps: CustomDomainDeps;
  /** When a request was first seen, by object; gone when it has been answered. */
  readonly #requests = new Map<Key, {value: string; seenAt: number}>();

  constructor(deps: CustomDomainDeps) {
    this.#deps = deps;
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
    // Its Namespace exists; the watch is about to tell of it, and then of this.
    const tenant = tenants.of(cached.metadata.namespace ?? '');
    if (!tenant) return 'awaitChange';
    const claimed = await ensureFinalizer(client, customDomains, cached, finalizer);
    if (claimed) domains.observe(claimed);
    let domain = claimed ?? cached;

    let applied: Applied = {changed: false, inTheWay: new Map()};
    let world = this.#gather(key, domain, tenant, applied);
    const settle = () => claims.settle(() => decide((world = this.#gather(key, domain, tenant, applied))));
    let decision = await settle();
    // The budgets come before the order: what is wanted is asked for, and decided with the answer.
    if (orders.keep(key, tenantKey(tenant), decision.wishes)) decision = await settle();
    if (decision.news) domain = await this.#publish(domain, decision);
    applied = await children.apply(domain, decision);
    if (applied.changed || applied.inTheWay.size > 0) decision = await settle();
    for (const attempt of decision.freshAttempts) await children.attempt(attempt, world.now);
    this.#schedule(key, domain, decision);
    await this.#publish(domain, decision);
    if (world.request && decision.status.lastHandledReconcileAt === world.request.value) this.#requests.delete(key);
    return decision.wakeAt === undefined
      ? 'awaitChange'
      : {requeueAfterMs: Math.max(1000, decision.wakeAt - world.now)};
  }

  #gather(key: Key, domain: CustomDomain, tenant: Tenant, applied: Applied): World {
    const {domains, projects, policy, claims, children, dns, edge, issuance, orders, ingressClasses} = this.#deps;
    const now = (this.#deps.now ?? Date.now)();
    const {namespace = '', uid = ''} = domain.metadata;
    const projectKey = `${namespace}/${domain.spec.projectRef.name}`;
    const project = projects.get(projectKey);
    const traefik = isTraefik(ingressClasses, policy.ingressClassName);
    const value = requestValue(domain);
    if (
      value !== undefined &&
      value !== domain.status?.lastHandledReconcileAt &&
      this.#requests.get(key)?.value !== value
    ) {
      this.#requests.set(key, {value, seenAt: now});
    }
    const facts = new Map<string, HostFacts>();
    const world: World = {
      now,
      domain,
      project,
      siblings: domains.by('project', projectKey),
      tenant,
      policy,
      traefik,
      startedAt: this.#deps.startedAt,
      request: this.#requests.get(key),
      facts,
      claimOf: claims.of,
      stands: (ingress) => children.stands(domain, ingress),
    };
    const target = project?.status?.host;
    const former = formerPrimary(domain);
    const hosts = [
      ...named(domain, policy).filter((n) => !n.refusal),
      ...(former === undefined ? [] : [{hostname: former, role: 'FormerPrimary' as const}]),
    ];
    for (const {hostname, role} of hosts) {
      const name = objectNameOf(uid, hostname);
      const objectAs = (as: HostStatus['role']) => `${homeOf(as, namespace, policy.redirector)}/${name}`;
      const checked =
        target === undefined ? undefined : dns.latest(key, questionKey(questionOf(world, hostname, target)));
      const looked = edge.latest(key, hostname);
      const certificate = children.certificate(domain, objectAs(role));
      const read = certificate && issuance.latest(key, `${hostname} ${attemptOf(certificate)}`);
      const grant = orders.grant(objectAs(role));
      const blocked = applied.inTheWay.get(name) ?? applied.inTheWay.get(`${name}-http`);
      const rival = this.#rivalQuestion(hostname, domain);
      facts.set(hostname, {
        ...(checked && {verdict: checked.result, checkedAt: checked.at}),
        ...(looked && {edge: looked.result, edgeLookedAt: looked.at}),
        certificate,
        orders: orders.orders(hostname),
        ...(grant && {grant}),
        ...(read && {diagnosis: read.result}),
        standsAs: {
          Primary: children.since(domain, objectAs('Primary')),
          RedirectSource: children.since(domain, objectAs('RedirectSource')),
        },
        ...(children.routes(uid, hostname, {others: true}) && {occupied: true}),
        ...(rival && {
          rival: {
            question: rival,
            looks: dns.recent(key, questionKey(rival)).map(({result, at}) => ({verdict: result, at})),
          },
        }),
        ...(blocked !== undefined && {inTheWay: blocked}),
      });
    }
    return world;
  }

  /** What would prove the right of the one that holds a hostname now; undefined where none does, or this one. */
  #rivalQuestion(hostname: string, domain: CustomDomain): Question | undefined {
    const {claims, domains, projects} = this.#deps;
    const claim = claims.of(hostname);
    if (claim?.status?.holder === undefined || isHeldBy(claim, domain)) return undefined;
    const [holder] = domains.by('uid', claim.status.holder.uid);
    const target = holder && projects.get(`${holder.metadata.namespace}/${holder.spec.projectRef.name}`)?.status?.host;
    // Without a Project there is no host that a CNAME could name.
    return {
      hostname,
      target: target ?? 'none.invalid',
      ...(claim.status.token !== undefined && {token: claim.status.token}),
    };
  }

  #forget(key: Key): void {
    const {dns, edge, issuance, orders} = this.#deps;
    this.#requests.delete(key);
    for (const observer of [dns, edge, issuance]) observer.forget(key);
    orders.keep(key, '', []);
  }

  #schedule(key: Key, domain: CustomDomain, decision: Decision): void {
    const {dns, edge, issuance} = this.#deps;
    const keys = new Set(
      decision.looks.map((l) =>
        l.what === 'dns'
          ? questionKey(l.question)
          : l.what === 'issuance'
            ? `${l.hostname} ${l.attempt.id}`
            : l.hostname,
      ),
    );
    for (const observer of [dns, edge, issuance]) observer.forget(key, keys);
    for (const look of decision.looks) {
      if (look.at === Infinity) continue;
      if (look.what === 'edge')
        edge.due(key, look.hostname, {hostname: look.hostname, whoAnswers: look.whoAnswers}, look.at);
      else if (look.what === 'issuance')
        issuance.due(
          key,
          `${look.hostname} ${look.attempt.id}`,
          {...look.attempt, owner: domain.metadata.uid ?? ''},
          look.at,
        );
      else dns.due(key, questionKey(look.question), {...look.question, caa: look.caa ?? false}, look.at);
    }
  }

  /** Writes the status, where it differs; then the Events of what has changed in it. Returns the object as it stands. */
  async #publish(domain: CustomDomain, {status}: Decision): Promise<CustomDomain> {
    const written = await writeStatus(this.#deps.client, customDomains, domain, status);
    if (!written) return domain;
    this.#deps.domains.observe(written);
    for (const host of status.hosts ?? []) {
      const before = domain.status?.hosts?.find((h) => h.hostname === host.hostname);
      const {health} = reasons[host.reason as ReasonName];
      // Told: a new phase, a new reason to act and its end, and the first word after the first check.
      if (
        host.reason === 'CheckPending' ||
        (before?.phase === host.phase &&
          before.servedUntil === host.servedUntil &&
          (before.reason === host.reason || (health !== 'stalled' && before.reason !== 'CheckPending')))
      )
        continue;
      this.#deps.events.record({
        regarding: domain,
        type: health === 'stalled' ? 'Warning' : 'Normal',
        reason: health !== 'stalled' && (host.phase === 'Live' || host.phase === 'Verified') ? host.phase : host.reason,
        action: 'Reconcile',
        note: host.message,
      });
    }
    return written;
  }

  /** Routes first: traffic stops at once. Then certificates, then the finalizer. */
  async #remove(key: Key, domain: CustomDomain): Promise<Result> {
    this.#forget(key);
    if (!domain.metadata.finalizers?.includes(finalizer)) return 'awaitChange';
    await this.#deps.children.remove(domain);
    // Where others hold it up, it stands there for a while: with what has become of it.
    const held =
      domain.metadata.finalizers.length > 1 && domain.status
        ? await writeStatus(
            this.#deps.client,
            customDomains,
            domain,
            removing(domain.status, (this.#deps.now ?? Date.now)()),
          )
        : undefined;
    await removeFinalizer(this.#deps.client, customDomains, held ?? domain, finalizer);
    this.#deps.events.record({
      regarding: domain,
      type: 'Normal',
      reason: 'Removed',
      action: 'Remove',
      note: 'Routes and certificates are gone.',
    });
    return 'awaitChange';
  }
}
