/**
 * Two tenants, a platform and one hostname, in a small town with a clock of its own: the model under which claims are tested. What
 * decides is the operator's own code (`gather`, `decide`, Claims, ClaimReconciler); what is modelled is the rest of the world, DNS first of
 * all. Where DomainClaims are kept is given: in memory for thousands of runs, or on a real API server.
 */
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import {belongsTo, identityOf} from '../../operator/domain/claims/claim.ts';
import {shorterStatuses} from '../../operator/domain/status/status-size.ts';
import {decide} from '../../operator/domain/lifecycle.ts';
import {questionOf} from '../../operator/domain/claims/ownership.ts';
import type {Verdict} from '../../operator/domain/verification/method.ts';
import type {Question} from '../../operator/domain/verification/records.ts';
import type {Tenant as TenantOfWorld} from '../../operator/domain/tenant.ts';
import {timestamp} from '../../operator/domain/times.ts';
import type {Decision, Policy, World} from '../../operator/domain/world.ts';
import {accountLabel} from '../../operator/api/account.ts';
import type {CustomDomainStatus} from '../../operator/api/custom-domain.ts';
import type {CustomDomain, DomainClaim, Ingress, Project} from '../../operator/api/foreign.ts';
import {ClaimReconciler, Claims} from '../../operator/controllers/writers/claims.ts';
import {DomainReconciliation, domainStages} from '../../operator/controllers/domain-stages.ts';
import {gather, type GatherSources} from '../../operator/controllers/gather.ts';
import {finalizer} from '../../operator/resources/projections.ts';
import {dnsKey} from '../../operator/controllers/probes/observations.ts';
import {hostsOf} from '../../operator/controllers/state/rendering.ts';
import {customDomains} from '../../operator/resources/resources.ts';
import {leavingFor} from '../../operator/controllers/writers/retention.ts';
import {carryOut, type StageDeps} from '../../operator/controllers/stages.ts';
import type {Writes} from '../../operator/controllers/writers/writes.ts';
import type {Client} from '../../operator/kube/client/client.ts';
import {ApiError, StaleReadError} from '../../operator/kube/errors.ts';
import type {KubeObject, Resource} from '../../operator/kube/objects.ts';
import {compareResourceVersions, keyOf} from '../../operator/kube/objects.ts';
import {TownCertificates} from './certificates.ts';
import {
  certificate,
  days,
  edgeAt,
  enterprise,
  free,
  heldClaim,
  hours,
  leaf,
  minutes,
  policy as usual,
  project,
  seconds,
  served,
  t0,
} from './world.ts';

const noErrors: Pick<Writes, 'writeErrors' | 'claimErrors'> = {writeErrors: new Map(), claimErrors: new Map()};

interface TownDeps {
  now: () => number;
  deps: StageDeps;
  world: (domain: CustomDomain, writes: Writes) => World;
  publish: (domain: CustomDomain, status: CustomDomainStatus) => CustomDomain;
  schedule: (looks: Decision['looks']) => void;
}

/** A reconcile of a CustomDomain of the town: the operator's own stages, on the town's objects. */
class TownReconciliation extends DomainReconciliation {
  readonly cache = {observe: () => {}};
  readonly deps: StageDeps;
  readonly #town: TownDeps;

  constructor(domain: CustomDomain, tenant: TenantOfWorld, town: TownDeps) {
    super(domain, tenant, town.now);
    this.deps = town.deps;
    this.#town = town;
  }

  protected decide(): Decision {
    return decide(this.#town.world(this.object, this.writes));
  }
  debounceMs(): number {
    return 0;
  }
  async publish(): Promise<void> {
    this.wrote(this.#town.publish(this.object, this.plan.status));
  }
  answer(): void {}
  async startAttempts(): Promise<boolean> {
    return false;
  }
  scheduleProbes(looks: Decision['looks']): void {
    this.#town.schedule(looks);
  }
}

/** The part of an API server that claims need. */
export type ClaimApi = Pick<Client, 'create' | 'patch' | 'get' | 'delete'>;

const refused = (status: number, reason: string) =>
  new ApiError({status, body: JSON.stringify({kind: 'Status', reason, message: reason})});

/** An API server's rules about one kind, in memory: names are unique, a write against an old resourceVersion is refused. */
export class MemoryApi implements ClaimApi {
  readonly #objects = new Map<string, KubeObject>();
  #version = 100;

  create<T extends KubeObject>(_: Resource<T>, object: T): Promise<T> {
    const {name} = object.metadata;
    if (this.#objects.has(name)) return Promise.reject(refused(409, 'AlreadyExists'));
    return Promise.resolve(this.#put({...object, metadata: {...object.metadata, uid: `claim-${this.#version}`}}));
  }

  patch<T extends KubeObject>(_: Resource<T>, name: string, body: unknown): Promise<T> {
    const found = this.#objects.get(name);
    if (!found) return Promise.reject(refused(404, 'NotFound'));
    const operations = body as {path: string; value: unknown}[];
    const value = (path: string) => operations.find((o) => o.path === path)?.value;
    if (value('/metadata/resourceVersion') !== found.metadata.resourceVersion)
      return Promise.reject(refused(409, 'Conflict'));
    return Promise.resolve(this.#put({...found, spec: value('/spec'), status: value('/status')} as unknown as T));
  }

  get<T extends KubeObject>(_: Resource<T>, name: string): Promise<T | undefined> {
    return Promise.resolve(this.#objects.get(name) as T | undefined);
  }

  delete<T extends KubeObject>(
    _: Resource<T>,
    name: string,
    {uid, resourceVersion}: {uid?: string; resourceVersion?: string} = {},
  ): Promise<'Deleted' | 'NotFound'> {
    const found = this.#objects.get(name)?.metadata;
    if (!found) return Promise.resolve('NotFound');
    if ((uid ?? found.uid) !== found.uid || (resourceVersion ?? found.resourceVersion) !== found.resourceVersion)
      return Promise.reject(refused(409, 'Conflict'));
    this.#objects.delete(name);
    return Promise.resolve('Deleted');
  }

  #put<T extends KubeObject>(object: T): T {
    const stored = {...object, metadata: {...object.metadata, resourceVersion: String(++this.#version)}};
    this.#objects.set(object.metadata.name, stored);
    return stored;
  }
}

/** Coarser than usual, so that a run of weeks has hundreds of looks and not thousands. */
export const policy: Policy = {
  ...usual,
  waitSchedule: [
    {everyMs: 30 * minutes, forMs: 2 * hours},
    {everyMs: 12 * hours, forMs: 6 * days},
  ],
  recheckIntervalMs: 24 * hours,
};

const behindCdn: Verdict = {
  kind: 'Refuted',
  reason: 'BehindCDN',
  behind: 'Cloudflare',
  message: 'A CDN.',
  state: 'Unknown',
  observed: ['A of Cloudflare'],
  txt: {state: 'Missing', observed: []},
  apex: true,
};

const confirmationMs = Math.max(...policy.takeoverConfirmationsMs);
/** For how long a route may stand after DNS stopped proving it: until the next look, the confirmations, the grace time. */
const longestDriftMs =
  policy.recheckIntervalMs + Math.max(...policy.driftConfirmationsMs) + policy.graceTimeMs + 10 * minutes;

export const names = ['ann', 'ben'] as const;
export type Name = (typeof names)[number];

class Tenant {
  readonly name: Name;
  account: string | undefined;
  namespaceUID = '';
  allowed = true;
  /** What the operator takes it for while the copy of its namespace is that of before; and for how many looks it is. */
  before: TenantOfWorld | undefined;
  behind = 0;
  domain: CustomDomain | undefined;
  /** Its routes in the cluster, and since when they stand. */
  routes = new Map<string, {ingress: Ingress; since: number}>();
  looks: Decision['looks'] = [];
  wakeAt = Infinity;
  /** By question: this process' memory. */
  memory = new Map<string, {result: Verdict; at: number}[]>();
  request: World['request'];
  /** Its object is filled up: its status says nothing. */
  padded = false;
  /** Its routes can't be written; those that are to go, go. */
  refused = false;
  /** When the town last knew that the hostname was rightly this one's, since it was added. */
  rightAt: number | undefined;
  #uids = 0;

  constructor(name: Name) {
    this.name = name;
    this.account = name;
    this.renew();
  }

  get host() {
    return `${this.name}-host.${policy.zone}`;
  }
  /** A hostname that nobody else wants: it is always proven, issued and seen on the edge. */
  get own() {
    return `${this.name}.example`;
  }

  /** What its namespace and the platform say of it. */
  get tenant(): TenantOfWorld {
    return {
      ...(this.account !== undefined && {account: this.account}),
      namespaceUID: this.namespaceUID,
      plan: this.allowed ? enterprise : free,
    };
  }
  /** What the operator knows of that. */
  get seen(): TenantOfWorld {
    return (this.behind > 0 ? this.before : undefined) ?? this.tenant;
  }
  get project(): Project {
    return {...project({host: this.host}), metadata: {...project().metadata, namespace: this.name}};
  }

  isRouted(hostname: string): boolean {
    return [...this.routes.values()].some(({ingress}) => hostsOf(ingress).includes(hostname));
  }
  /** Since when an Ingress of this key stands. */
  since(key: string): number | undefined {
    return [...this.routes.values()].find(({ingress}) => keyOf(ingress) === key)?.since;
  }
  fallBehind() {
    [this.before, this.behind] = [this.seen, 3];
  }
  /** A namespace of the same name, and another. */
  renew() {
    this.namespaceUID = `ns-${this.name}-${++this.#uids}`;
  }
  nextUid() {
    return `domain-${this.name}-${++this.#uids}`;
  }
}

export class Town {
  readonly hostname: string;
  readonly tenants: Record<Name, Tenant> = {ann: new Tenant('ann'), ben: new Tenant('ben')};
  now = t0;
  /** What the name's own servers say; `fails`: nothing; `cdn`: addresses of a CDN in place of what there was, and the TXT. */
  dns = {cname: undefined as string | undefined, edge: false, cdn: false, txt: new Set<string>(), fails: false};
  /** How many reads of a claim still get the operator's stale copy. */
  stale = 0;
  /** Tokens that were published before the hostname was released or passed on: they prove nothing any more. */
  readonly #void = new Set<string>();
  readonly #issued = new Map<string, Name>();
  readonly #api: ClaimApi;
  #copy: DomainClaim | undefined;
  #holder: string | undefined;
  #unseenAt = -Infinity;
  #claimAt = Infinity;
  #startedAt = t0 - seconds;
  readonly #claims: Claims;
  readonly #claimReconciler: ClaimReconciler;
  /** Of the hostname. */
  readonly certificates = new TownCertificates(() => this.now);

  constructor(api: ClaimApi, hostname = 'example.org') {
    this.#api = api;
    this.hostname = hostname;
    const cache = {
      get: (name: string) => (name === this.hostname ? this.#copy : undefined),
      observe: (claim: DomainClaim) => {
        if (
          compareResourceVersions(claim.metadata.resourceVersion, this.#copy?.metadata.resourceVersion) > 0 ||
          claim.metadata.uid !== this.#copy?.metadata.uid
        )
          this.#copy = claim;
      },
    };
    const {certificates} = this;
    const {resting} = certificates;
    const client: ClaimApi = {
      create: (resource, object, options) => {
        certificates.assertOnlyOf(this.#namesOf((object as unknown as DomainClaim).spec.tenant), 'a claim is created');
        return api.create(resource, object, options);
      },
      patch: (resource, key, body, options) => {
        const spec = (body as {path: string; value: DomainClaim['spec']}[]).find((o) => o.path === '/spec')?.value;
        certificates.assertOnlyOf(spec ? this.#namesOf(spec.tenant) : [], 'a claim is written');
        return api.patch(resource, key, body, options);
      },
      delete: (resource, key, options) => {
        certificates.assertOnlyOf([], 'a claim is deleted');
        return api.delete(resource, key, options);
      },
      get: <T extends KubeObject>(resource: Resource<T>, name: string) =>
        (resource as Resource) === (customDomains as Resource)
          ? Promise.resolve(
              names
                .map((n) => this.tenants[n].domain)
                .find((d) => `${d?.metadata.namespace}/${d?.metadata.name}` === name) as unknown as T | undefined,
            )
          : api.get(resource, name),
    };
    this.#claims = new Claims(client as never, cache as never, (name, tenant) => resting.makeWay(name, tenant));
    this.#claimReconciler = new ClaimReconciler({
      client: client as never,
      policy,
      claims: this.#claims,
      now: () => this.now,
      domains: {
        by: (_: string, uid: string) =>
          this.#all()
            .filter((t) => t.domain?.metadata.uid === uid)
            .map((t) => t.domain),
      } as never,
      projects: {by: () => []} as never,
      ownedObjects: {routes: () => false, remove: () => Promise.resolve(), ownersOf: () => new Map()} as never,
      resting,
      orders: {orders: () => []} as never,
      certified: {of: () => Math.max(this.#startedAt, this.certificates.certifiedAt)},
      tenants: {of: (name) => this.tenants[name as Name].seen},
    });
  }

  get #leaving() {
    return {claims: this.#claims, policy, now: () => this.now};
  }

  #all() {
    return names.map((n) => this.tenants[n]);
  }

  /** By what a tenant's Certificates may rest: what a namespace had before it had an Account is the Account's. */
  #namesOf(tenant: DomainClaim['spec']['tenant']): DomainClaim['spec']['tenant'][] {
    const given = this.#all().filter(
      ({tenant: now, seen}) => tenant.account !== undefined && [now.account, seen.account].includes(tenant.account),
    );
    return [tenant, ...given.flatMap(({tenant: now, seen}) => [now, seen].map(({namespaceUID}) => ({namespaceUID})))];
  }

  isRouted(t: Tenant): boolean {
    return t.isRouted(this.hostname);
  }

  /** What stands on the API server. */
  async claim(): Promise<DomainClaim | undefined> {
    return this.#api.get<DomainClaim>(
      {plural: 'domainclaims', group: 'doorplate.dev', version: 'v1alpha1', kind: 'DomainClaim', namespaced: false},
      this.hostname,
    );
  }

  // --- what people do

  add(name: Name): void {
    const t = this.tenants[name];
    if (t.domain) return;
    t.domain = {
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'CustomDomain',
      metadata: {
        name: 'docs',
        namespace: name,
        uid: t.nextUid(),
        generation: 1,
        finalizers: [finalizer],
        creationTimestamp: timestamp(this.now),
      },
      spec: {projectRef: {name: 'docs'}, primary: this.hostname},
    };
    t.rightAt = undefined;
  }

  /** The finalizer's work: the routes are gone before the object is. */
  async remove(name: Name, {withNamespace = false} = {}): Promise<void> {
    const t = this.tenants[name];
    t.routes.clear();
    if (t.domain)
      await this.certificates.ownedObjects.remove(
        t.domain,
        leavingFor(this.#leaving, withNamespace ? undefined : t.seen),
      );
    t.domain = undefined;
    this.#forget(t);
    t.rightAt = undefined;
  }

  /** The hostname and one that is nobody else's change places: what was the primary is a redirect source, and the other way round. */
  swap(name: Name): void {
    const primary = this.tenants[name].domain?.spec.primary;
    if (primary === undefined) return;
    this.#edit(
      name,
      primary === this.hostname ? [this.tenants[name].own, this.hostname] : [this.hostname, this.tenants[name].own],
    );
  }

  /** The spec names another hostname alone; or the hostname again, as a source. */
  drop(name: Name): void {
    this.#edit(name, [this.tenants[name].own]);
  }
  include(name: Name): void {
    this.#edit(name, [this.tenants[name].own, this.hostname]);
  }

  #edit(name: Name, [primary, ...sources]: [string, ...string[]]): void {
    const t = this.tenants[name];
    if (!t.domain) return;
    const {metadata, spec} = t.domain;
    t.domain = {
      ...t.domain,
      metadata: {...metadata, generation: (metadata.generation ?? 0) + 1},
      spec: {...spec, primary, redirects: sources.map((from) => ({from, status: 301}))},
    };
  }

  /** With everything in it, and without the platform's label. */
  async recreateNamespace(name: Name): Promise<void> {
    await this.remove(name, {withNamespace: true});
    this.certificates.clear(name);
    this.tenants[name].renew();
    this.tenants[name].account = undefined;
  }

  /** The same, and what was in it is there again while the operator's copy of the namespace is still that of before. */
  async recreateUnseen(name: Name): Promise<void> {
    this.tenants[name].fallBehind();
    await this.recreateNamespace(name);
    this.add(name);
  }

  verify(name: Name): void {
    this.tenants[name].request = {value: String(this.now), seenAt: this.now};
  }

  /** What the page shows as the TXT's value. */
  token(name: Name): string {
    const t = this.tenants[name];
    const token =
      questionOf({policy, tenant: t.tenant}, this.hostname, t.host, this.#claims.of(this.hostname)).token ?? '';
    this.#issued.set(token, name);
    return token;
  }

  /** The platform's word, where nobody has the name. */
  async grant(name: Name): Promise<void> {
    const {account, namespaceUID} = this.tenants[name];
    await this.#api
      .create<DomainClaim>(
        {plural: 'domainclaims', group: 'doorplate.dev', version: 'v1alpha1', kind: 'DomainClaim', namespaced: false},
        {
          apiVersion: 'doorplate.dev/v1alpha1',
          kind: 'DomainClaim',
          metadata: {name: this.hostname},
          spec: {tenant: account === undefined ? {namespaceUID} : {account}, proof: 'Platform'},
        },
      )
      .catch((e: unknown) => {
        if (!(e instanceof ApiError)) throw e;
      });
  }

  /** Every process memory is lost. */
  crash(): void {
    this.#startedAt = this.now;
    for (const t of this.#all()) this.#forget(t);
  }

  // --- the operator

  #forget(t: Tenant): void {
    t.memory.clear();
    t.looks = [];
    t.wakeAt = Infinity;
    t.request = undefined;
  }

  #world(t: Tenant, domain: CustomDomain, writes = noErrors): World {
    return gather(this.#sources(t, domain), {
      now: this.now,
      domain,
      tenant: t.seen,
      request: t.request,
      writes,
    });
  }

  /** What one tenant's operator knows: of the hostname as the town has it, of the tenant's own always the best. */
  #sources(t: Tenant, domain: CustomDomain): GatherSources {
    const own = {...heldClaim(t.own, domain.metadata.uid), spec: {tenant: identityOf(t.seen), proof: 'DNS' as const}};
    const looks = (key: string) =>
      key.startsWith(`${t.own} `) ? [{result: served().verdict!, at: this.now}] : (t.memory.get(key) ?? []);
    return {
      policy,
      cas: {
        identities: () => policy.issuers[0].caaIdentities,
        unavailableSince: () => undefined,
        isCertain: () => true,
      },
      edgeAddresses: {edge: {edgeAddresses: policy.edgeAddresses}, endpoints: [edgeAt('192.0.2.1', {}).edge]},
      startedAt: () => t0,
      domains: {
        by: (_, uid) => this.#all().flatMap((o) => (o.domain?.metadata.uid === uid ? o.domain : [])),
      },
      firsts: {of: () => domain},
      projects: {get: (key) => this.#all().find((o) => key === `${o.name}/docs`)?.project},
      ingressClasses: {get: () => undefined},
      plainHttp: {isOfItsOwn: () => false},
      claims: {of: (hostname) => (hostname === t.own ? own : this.#claims.of(hostname))},
      ownedObjects: {
        certificate: (place) =>
          place.hostname === this.hostname ? this.certificates.ownedObjects.certificate(place) : certificate(),
        routedSince: (hostname) =>
          new Map(this.#all().flatMap((other) => (other !== t && other.isRouted(hostname) ? [[other.name, 0]] : []))),
        since: (_, key) => t.since(key),
        stands: (_, ingress) => t.routes.has(JSON.stringify(ingress)),
      },
      dns: {latest: (_, key) => looks(key).at(-1), recent: (_, key) => looks(key)},
      edge: {recent: () => [{result: [edgeAt('192.0.2.1', {leafSha256: leaf})], at: this.now}]},
      edgeHealth: {state: undefined},
      issuance: {latest: () => undefined},
      orders: {orders: () => [], grant: () => ({kind: 'Granted'}), expectedAt: () => 0},
      checks: {of: () => undefined},
    };
  }

  #ask({target, token}: Question): Verdict {
    const {cname, edge, cdn, txt, fails} = this.dns;
    if (fails) return {kind: 'Unknown', reason: 'AuthoritativeFailure', message: 'SERVFAIL.', apex: true};
    const has = token !== undefined && txt.has(token);
    if (cdn && !has) return behindCdn;
    if (cdn) return {kind: 'Proven', by: 'TXT', apex: true};
    if (cname === target) return {kind: 'Proven', by: 'CNAME', apex: true};
    if (cname !== undefined)
      return {
        kind: 'Refuted',
        reason: 'TargetMismatch',
        message: 'Another.',
        state: 'Wrong',
        observed: [`CNAME ${cname}`],
        apex: true,
      };
    if (edge && has) return {kind: 'Proven', by: 'TXT', apex: true};
    return {kind: 'Refuted', reason: 'RecordMissing', message: 'Nothing.', state: 'Missing', observed: [], apex: true};
  }

  async #reconcile(t: Tenant): Promise<void> {
    const {domain} = t;
    if (!domain) return;
    const live = {
      get: () => Promise.resolve({metadata: {uid: t.namespaceUID, labels: {[accountLabel]: t.account ?? ''}}}),
    };
    const before = this.isRouted(t);
    const reconciliation = new TownReconciliation(domain, t.seen, {
      now: () => this.now,
      world: (object, writes) => this.#world(t, object, writes),
      publish: (object, status) =>
        (t.domain = {
          ...object,
          status: t.padded ? shorterStatuses(status, object.status, this.now).at(-1)! : status,
        }),
      schedule: (looks) => this.#schedule(t, looks),
      deps: {
        client: live as never,
        claims: this.#claims,
        orders: {keep: () => false},
        policy,
        ingressClasses: {get: () => undefined},
        plainHttp: {isOfItsOwn: () => true},
        ownedObjects: {
          routedBy: () => new Set([...t.routes.values()].flatMap(({ingress}) => hostsOf(ingress))),
          removeRoutesOfOthers: (_, hostnames) => {
            const gone = [...t.routes].filter(([, {ingress}]) => !hostsOf(ingress).some((h) => hostnames.has(h)));
            for (const [key] of gone) t.routes.delete(key);
            return Promise.resolve(gone.length > 0);
          },
          applyRoutes: (_, ingresses) => Promise.resolve(this.#applyRoutes(t, ingresses)),
          applyCertificates: (owner, {certificates, ...wanted}, ...rest) => {
            const ofHostname = certificates.filter((c) => c.spec.dnsNames.includes(this.hostname));
            return this.certificates.ownedObjects.applyCertificates(
              owner,
              {certificates: ofHostname, ...wanted},
              ...rest,
            );
          },
        },
      },
    });
    await carryOut(domainStages, reconciliation);
    const {plan} = reconciliation;
    if (this.isRouted(t) && !before) await this.#mayRoute(t);
    t.wakeAt = plan.wakeAt ?? Infinity;
    if (t.request && plan.status.lastHandledReconcileAt === t.request.value) t.request = undefined;
  }

  #schedule(t: Tenant, looks: Decision['looks']): void {
    t.looks = looks.filter((l) => l.what === 'dns' && l.hostname === this.hostname);
    // What no look names any more is forgotten (controllers/probes/observations.ts).
    const kept = new Set<string>(t.looks.flatMap((l) => (l.what === 'dns' ? dnsKey(l.question) : [])));
    for (const key of t.memory.keys()) if (!kept.has(key)) t.memory.delete(key);
  }

  /** Routes as an API server takes them, which may refuse new ones. Returns whether others stand now. */
  #applyRoutes(t: Tenant, ingresses: readonly Ingress[]): boolean {
    const written = ingresses
      .map((ingress) => ({ingress, key: JSON.stringify(ingress)}))
      .filter(({key}) => !t.refused || t.routes.has(key));
    const routes = new Map(
      written.map(({ingress, key}) => [key, {ingress, since: t.routes.get(key)?.since ?? this.now}]),
    );
    const changed = routes.size !== t.routes.size || [...routes.keys()].some((key) => !t.routes.has(key));
    t.routes = routes;
    return changed;
  }

  async #reconcileClaim(): Promise<void> {
    const result = await this.#claimReconciler.reconcile(this.hostname);
    this.#claimAt = result === 'awaitChange' ? Infinity : this.now + result.requeueAfterMs;
  }

  /** The copy of claims is brought up to date, unless it is late. */
  async #deliver(): Promise<void> {
    for (const t of this.#all()) if (t.behind > 0) t.behind--;
    if (this.stale > 0) {
      this.stale--;
      return;
    }
    this.#copy = await this.claim();
  }

  /** Everything that is due at this moment is done, until nothing is. Throws when a guarantee is broken. */
  async settle(): Promise<void> {
    for (let round = 0; round < 40; round++) {
      await this.#deliver();
      this.certificates.renew();
      const before = this.#state();
      let looked = false;
      for (const t of this.#all()) {
        for (const look of t.looks) {
          if (look.what !== 'dns' || look.at > this.now || !t.domain) continue;
          looked = true;
          const key = dnsKey(look.question);
          t.memory.set(
            key,
            [...(t.memory.get(key) ?? []), {result: this.#ask(look.question), at: this.now}].slice(-16),
          );
        }
        // A write against a stale copy is refused and tried again.
        await this.#reconcile(t).catch((e: unknown) => {
          if (!(e instanceof ApiError || e instanceof StaleReadError)) throw e;
        });
      }
      await this.#reconcileClaim().catch((e: unknown) => {
        if (!(e instanceof ApiError)) throw e;
      });
      await this.#remember();
      assert(!this.#all().every((t) => this.isRouted(t)), 'both are routed');
      const isBehind = this.stale > 0 || this.#all().some((t) => t.behind > 0);
      if (!looked && !isBehind && this.#state() === before) return this.#guarantee();
    }
    assert.fail(`the town does not come to rest: ${this.#state()}`);
  }

  /** Lets time pass, doing what is due when it is due. */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    await this.settle();
    for (;;) {
      const due = Math.min(
        this.#claimAt,
        ...this.#all()
          .flatMap((t) => (t.domain ? [t.wakeAt, ...t.looks.map((l) => l.at)] : []))
          .map((at) => Math.max(at, this.now + seconds)),
      );
      if (due > end) break;
      this.now = due;
      await this.settle();
    }
    this.now = end;
    await this.settle();
  }

  #state(): string {
    const {resourceVersion, uid} = this.#copy?.metadata ?? {};
    return [
      resourceVersion,
      uid,
      ...this.certificates.standing.map((c) => JSON.stringify(c.metadata)),
      ...this.#all().flatMap((t) => {
        const hosts = (t.domain?.status?.hosts ?? []).flatMap((h) => [
          h.hostname,
          h.role,
          h.phase,
          h.reason,
          h.servedUntil,
        ]);
        return [...t.routes.keys(), ...hosts, ...t.looks.map((l) => Math.max(l.at, this.now)), t.request?.value];
      }),
    ].join(' ');
  }

  // --- what must hold

  /** Whether the hostname is rightly a tenant's now: by DNS as it is, or by the platform's word. */
  async #isRight(t: Tenant): Promise<boolean> {
    const claim = await this.claim();
    if (claim?.spec.proof === 'Platform' && belongsTo(claim, t.tenant)) return true;
    const {cname, edge, cdn, txt} = this.dns;
    if (cname !== undefined && !cdn) return cname === t.host;
    // What the claim keeps for its tenant is no other's, though that tenant was without its Account in between.
    const kept = claim && belongsTo(claim, t.tenant) ? claim.status?.token : undefined;
    return (
      (edge || cdn) &&
      [...txt].some((token) => token === kept || (this.#issued.get(token) === t.name && !this.#void.has(token)))
    );
  }

  async #remember(): Promise<void> {
    const claim = await this.claim();
    const uid = claim?.status?.holder?.uid;
    // After the quarantine, or where it was never served, nobody remembers it: what stands in the zone counts as it stands.
    if (claim === undefined) this.#void.clear();
    if (uid !== this.#holder) {
      // Released or passed on: what others had published before is void.
      if (this.#holder !== undefined && claim !== undefined) {
        const keeper = claim && this.#all().find((t) => belongsTo(claim, t.tenant));
        for (const [token, issued] of this.#issued) if (issued !== keeper?.name) this.#void.add(token);
      }
      this.#holder = uid;
    }
    if (this.dns.fails || this.dns.cdn) this.#unseenAt = this.now;
    for (const t of this.#all()) {
      if (uid !== undefined && uid !== t.domain?.metadata.uid) t.rightAt = undefined;
      if (t.domain && (await this.#isRight(t))) t.rightAt = this.now;
    }
  }

  async #mayRoute(t: Tenant): Promise<void> {
    await this.#remember();
    assert(t.rightAt !== undefined, `${t.name} is routed and has never proven the hostname`);
  }

  /** At rest. */
  #guarantee(): void {
    this.certificates.assertOnlyOf(this.#copy ? this.#namesOf(this.#copy.spec.tenant) : [], 'nothing happens any more');
    this.certificates.assertWhole();
    for (const t of this.#all()) {
      if (!this.isRouted(t)) continue;
      assert.equal(this.#holder, t.domain?.metadata.uid, `${t.name} is routed and does not hold the claim`);
      // While nobody can be asked, or a CDN hides it, nothing is taken back.
      const right = Math.max(t.rightAt ?? Infinity, this.#unseenAt);
      assert(
        this.now - right <= longestDriftMs,
        `${t.name} is routed ${(this.now - right) / hours} hours after its proof has gone`,
      );
    }
  }

  /** From now on the hostname is rightly this one's, by a CNAME or by the TXT, behind a CDN or not, and nobody else's: it must be served within the time of the confirmations. */
  async restore(name: Name, by: EndProof): Promise<void> {
    const claim = await this.claim();
    const t = this.tenants[name];
    Object.assign(t, {allowed: true, padded: false, refused: false});
    this.add(name);
    if (t.domain?.spec.primary === t.own) this.include(name);
    this.stale = 0;
    t.behind = 0;
    await this.#deliver();
    this.dns = {
      cname: by === 'CNAME' ? t.host : undefined,
      edge: by === 'TXT',
      cdn: by === 'BehindCDN',
      txt: new Set(by === 'CNAME' ? [] : [this.token(name)]),
      fails: false,
    };
    await this.settle();
    // No check sooner than a while after the last.
    await this.pass(15 * seconds);
    this.verify(name);
    await this.pass(confirmationMs + 5 * seconds);
    const lockedOut = claim?.spec.proof === 'Platform' && !belongsTo(claim, t.tenant);
    assert(
      this.isRouted(t) || lockedOut,
      `${name} is locked out: ${JSON.stringify(t.domain?.status?.hosts)} ${JSON.stringify(await this.claim())}`,
    );
  }
}

// --- what may happen, in any order

export type Deed = [what: string, name: Name, ms: number];

const deeds: Record<string, (town: Town, name: Name, ms: number) => Promise<void> | void> = {
  add: (town, name) => town.add(name),
  remove: (town, name) => town.remove(name),
  swap: (town, name) => town.swap(name),
  drop: (town, name) => town.drop(name),
  include: (town, name) => town.include(name),
  point: (town, name) => {
    town.dns = {...town.dns, cname: town.tenants[name].host};
  },
  // The ALIAS, and the TXT beside whatever TXT is there.
  publish: (town, name) => {
    town.dns = {...town.dns, cname: undefined, edge: true, txt: new Set([...town.dns.txt, town.token(name)])};
  },
  withdraw: (town) => {
    town.dns = {...town.dns, cname: undefined, txt: new Set()};
  },
  // Switched on, or off.
  proxy: (town) => {
    town.dns = {...town.dns, cdn: !town.dns.cdn};
  },
  fail: (town) => {
    town.dns = {...town.dns, fails: !town.dns.fails};
  },
  downgrade: (town, name) => {
    town.tenants[name].allowed = !town.tenants[name].allowed;
  },
  recreate: (town, name) => town.recreateNamespace(name),
  recreateUnseen: (town, name) => town.recreateUnseen(name),
  label: (town, name) => {
    const t = town.tenants[name];
    t.account = t.account === undefined ? name : undefined;
  },
  pad: (town, name) => {
    const t = town.tenants[name];
    t.padded = !t.padded;
  },
  refuse: (town, name) => {
    const t = town.tenants[name];
    t.refused = !t.refused;
  },
  grant: (town, name) => town.grant(name),
  verify: (town, name) => town.verify(name),
  loseKeys: (town) => town.certificates.loseKeys(),
  crash: (town) => town.crash(),
  stale: (town) => {
    town.stale = 3;
  },
  pass: (town, _, ms) => town.pass(ms),
};

/** How its owner proves in the end whose the hostname is: behind a CDN by the TXT. */
type EndProof = 'CNAME' | 'TXT' | 'BehindCDN';

export interface HistoryOfRivals {
  deeds: Deed[];
  owner: Name;
  by: EndProof;
}

export const historyOfRivals: fc.Arbitrary<HistoryOfRivals> = fc.record({
  deeds: fc.array(
    fc.tuple(
      fc.oneof(
        {weight: 5, arbitrary: fc.constantFrom('add', 'point', 'publish', 'pass')},
        fc.constantFrom(...Object.keys(deeds).filter((d) => d !== 'grant')),
        {weight: 1, arbitrary: fc.constantFrom('grant', 'pass', 'pass', 'pass')},
      ),
      fc.constantFrom(...names),
      fc.constantFrom(2 * seconds, 10 * seconds, 2 * minutes, hours, 8 * hours, 3 * days, 9 * days, 31 * days),
    ),
    {minLength: 1, maxLength: 12},
  ),
  owner: fc.constantFrom(...names),
  by: fc.constantFrom('CNAME', 'TXT', 'BehindCDN'),
});

/** Plays a history and, at its end, gives the hostname back to its rightful owner. Throws when a guarantee is broken. */
export async function play(town: Town, {deeds: history, owner, by}: HistoryOfRivals): Promise<void> {
  for (const [what, name, ms] of history) {
    await deeds[what]!(town, name, ms);
    await town.settle();
  }
  await town.restore(owner, by);
}
