/**
 * Two tenants, a platform and one hostname, in a small town with a clock of its own: the model under which claims are tested. What
 * decides is the operator's own code (`decide`, Claims, ClaimReconciler); what is modelled is the rest of the world, DNS first of
 * all. Where DomainClaims are kept is given: in memory for thousands of runs, or on a real API server.
 */
import * as fc from 'fast-check';
import type {CustomDomain, DomainClaim} from '../../operator/api/foreign.ts';
import {ClaimReconciler, Claims} from '../../operator/controllers/claims.ts';
import {customDomains} from '../../operator/controllers/resources.ts';
import {belongsTo} from '../../operator/domain/claim.ts';
import {timestamp} from '../../operator/domain/conditions.ts';
import type {Decision, Policy, World} from '../../operator/domain/lifecycle.ts';
import {decide, questionOf} from '../../operator/domain/lifecycle.ts';
import type {Question, Verdict} from '../../operator/domain/verification.ts';
import type {Client} from '../../operator/kube/client.ts';
import {ApiError} from '../../operator/kube/errors.ts';
import type {KubeObject, Resource} from '../../operator/kube/objects.ts';
import {compareResourceVersions} from '../../operator/kube/objects.ts';
import {
  certificate,
  days,
  edgeAt,
  enterprise,
  free,
  hours,
  leaf,
  minutes,
  policy as usual,
  project,
  seconds,
  t0,
} from './world.ts';

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
  domain: CustomDomain | undefined;
  routed = false;
  looks: Decision['looks'] = [];
  wakeAt = Infinity;
  /** By question: this process' memory. */
  memory = new Map<string, {result: Verdict; at: number}[]>();
  request: World['request'];
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
  /** A namespace of the same name, and another. */
  renew() {
    this.namespaceUID = `ns-${this.name}-${++this.#uids}`;
  }
  nextUid() {
    return `domain-${this.name}-${++this.#uids}`;
  }
}

const keyOf = ({hostname, target, token}: Question) => `${hostname} ${target} ${token}`;

export class Town {
  readonly hostname: string;
  readonly tenants: Record<Name, Tenant> = {ann: new Tenant('ann'), ben: new Tenant('ben')};
  now = t0;
  /** What the name's own servers say; `fails`: nothing. */
  dns = {cname: undefined as string | undefined, edge: false, txt: new Set<string>(), fails: false};
  /** Looks of the operator's copy at claims that are yet to come: a stale read. */
  stale = 0;
  /** Tokens that were published before the hostname was released or passed on: they prove nothing any more. */
  readonly #void = new Set<string>();
  readonly #issued = new Map<string, Name>();
  readonly #api: ClaimApi;
  #copy: DomainClaim | undefined;
  #holder: string | undefined;
  #failedAt = -Infinity;
  #claimAt = Infinity;
  readonly #claims: Claims;
  readonly #claimReconciler: ClaimReconciler;

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
    const client = {
      create: api.create.bind(api),
      patch: api.patch.bind(api),
      delete: api.delete.bind(api),
      get: (resource: Resource, name: string) =>
        resource === (customDomains as Resource)
          ? Promise.resolve(
              names
                .map((n) => this.tenants[n].domain)
                .find((d) => `${d?.metadata.namespace}/${d?.metadata.name}` === name),
            )
          : api.get(resource, name),
    };
    this.#claims = new Claims(client as never, cache as never);
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
      children: {routes: () => false, remove: () => Promise.resolve()} as never,
      orders: {orders: () => []} as never,
    });
  }

  #all() {
    return names.map((n) => this.tenants[n]);
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
        creationTimestamp: timestamp(this.now),
      },
      spec: {projectRef: {name: 'docs'}, primary: this.hostname},
    };
    t.rightAt = undefined;
  }

  /** The finalizer's work: the routes are gone before the object is. */
  remove(name: Name): void {
    const t = this.tenants[name];
    t.routed = false;
    t.domain = undefined;
    this.#forget(t);
    t.rightAt = undefined;
  }

  /** With everything in it, and without the platform's label. */
  recreateNamespace(name: Name): void {
    this.remove(name);
    this.tenants[name].renew();
    this.tenants[name].account = undefined;
  }

  verify(name: Name): void {
    this.tenants[name].request = {value: String(this.now), seenAt: this.now};
  }

  /** What the page shows as the TXT's value. */
  token(name: Name): string {
    const t = this.tenants[name];
    const token = questionOf(this.#world(t), this.hostname, t.host).token ?? '';
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
    for (const t of this.#all()) this.#forget(t);
  }

  // --- the operator

  #forget(t: Tenant): void {
    t.memory.clear();
    t.looks = [];
    t.wakeAt = Infinity;
    t.request = undefined;
  }

  #world(t: Tenant): World {
    const domain = t.domain ?? ({metadata: {}, spec: {primary: this.hostname}} as CustomDomain);
    const claimOf = this.#claims.of;
    const tenant = {
      ...(t.account !== undefined && {account: t.account}),
      namespaceUID: t.namespaceUID,
      plan: t.allowed ? enterprise : free,
    };
    const world = {
      now: this.now,
      domain,
      project: {...project({host: t.host}), metadata: {...project().metadata, namespace: t.name}},
      siblings: [domain],
      tenant,
      policy,
      traefik: false,
      claimOf,
      stands: () => t.routed,
      startedAt: t0,
      request: t.request,
      facts: new Map(),
    } satisfies World;
    const own = t.memory.get(keyOf(questionOf(world, this.hostname, t.host)))?.at(-1);
    const rival = this.#rivalOf(t);
    world.facts.set(this.hostname, {
      ...(own && {verdict: own.result, checkedAt: own.at}),
      certificate: certificate(),
      edge: [edgeAt('192.0.2.1', {leafSha256: leaf})],
      edgeLookedAt: this.now,
      standsAs: {...(t.routed && {Primary: 0})},
      ...(this.#all().some((other) => other !== t && other.routed) && {occupied: true}),
      ...(rival && {
        rival: {
          question: rival,
          looks: (t.memory.get(keyOf(rival)) ?? []).map(({result, at}) => ({verdict: result, at})),
        },
      }),
    });
    return world;
  }

  #rivalOf(t: Tenant): Question | undefined {
    const claim = this.#copy;
    const uid = claim?.status?.holder?.uid;
    if (uid === undefined || uid === t.domain?.metadata.uid) return undefined;
    const holder = this.#all().find((o) => o.domain?.metadata.uid === uid);
    return {
      hostname: this.hostname,
      target: holder?.host ?? 'none.invalid',
      ...(claim?.status?.token !== undefined && {token: claim.status.token}),
    };
  }

  #ask({target, token}: Question): Verdict {
    const {cname, edge, txt, fails} = this.dns;
    if (fails) return {kind: 'Unknown', reason: 'AuthoritativeFailure', message: 'SERVFAIL.', apex: true};
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
    if (edge && token !== undefined && txt.has(token)) return {kind: 'Proven', by: 'TXT', apex: true};
    return {kind: 'Refuted', reason: 'RecordMissing', message: 'Nothing.', state: 'Missing', observed: [], apex: true};
  }

  async #reconcile(t: Tenant): Promise<void> {
    if (!t.domain) return;
    const settle = () => this.#claims.settle(() => decide(this.#world(t)));
    let decision = await settle();
    const before = t.routed;
    t.routed = decision.ingresses.length > 0;
    if (t.routed !== before) decision = await settle();
    if (t.routed && !before) await this.#mayRoute(t);
    t.domain = {...t.domain, status: decision.status};
    t.looks = decision.looks.filter((l) => l.what === 'dns');
    t.wakeAt = decision.wakeAt ?? Infinity;
    if (t.request && decision.status.lastHandledReconcileAt === t.request.value) t.request = undefined;
  }

  async #reconcileClaim(): Promise<void> {
    if (!this.#copy) return;
    const result = await this.#claimReconciler.reconcile(this.hostname);
    this.#claimAt = result === 'awaitChange' ? Infinity : this.now + result.requeueAfterMs;
  }

  /** The copy of claims is brought up to date, unless it is late. */
  async #deliver(): Promise<void> {
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
      const before = this.#state();
      let looked = false;
      for (const t of this.#all()) {
        for (const look of t.looks) {
          if (look.what !== 'dns' || look.at > this.now || !t.domain) continue;
          looked = true;
          const key = keyOf(look.question);
          t.memory.set(
            key,
            [...(t.memory.get(key) ?? []), {result: this.#ask(look.question), at: this.now}].slice(-16),
          );
        }
        // A write against a stale copy is refused and tried again.
        await this.#reconcile(t).catch((e: unknown) => {
          if (!(e instanceof ApiError)) throw e;
        });
      }
      await this.#reconcileClaim().catch((e: unknown) => {
        if (!(e instanceof ApiError)) throw e;
      });
      await this.#remember();
      if (this.#all().every((t) => t.routed)) throw new Error('both are routed');
      if (!looked && this.stale === 0 && this.#state() === before) return this.#guarantee();
    }
    throw new Error(`the town does not come to rest: ${this.#state()}`);
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
      ...this.#all().flatMap((t) => {
        const [host] = t.domain?.status?.hosts ?? [];
        return [
          t.routed,
          host?.phase,
          host?.reason,
          host?.servedUntil,
          ...t.looks.map((l) => Math.max(l.at, this.now)),
          t.request?.value,
        ];
      }),
    ].join(' ');
  }

  // --- what must hold

  /** Whether the hostname is rightly a tenant's now: by DNS as it is, or by the platform's word. */
  async #isRight(t: Tenant): Promise<boolean> {
    const claim = await this.claim();
    if (
      claim?.spec.proof === 'Platform' &&
      belongsTo(claim, {...(t.account !== undefined && {account: t.account}), namespaceUID: t.namespaceUID, plan: free})
    )
      return true;
    const {cname, edge, txt} = this.dns;
    if (cname !== undefined) return cname === t.host;
    return edge && [...txt].some((token) => this.#issued.get(token) === t.name && !this.#void.has(token));
  }

  async #remember(): Promise<void> {
    const claim = await this.claim();
    const uid = claim?.status?.holder?.uid;
    // After the quarantine nobody remembers it: what stands in the zone counts as it stands.
    if (claim === undefined) this.#void.clear();
    if (uid !== this.#holder) {
      // Released or passed on: what others had published before is void.
      if (this.#holder !== undefined) {
        const keeper =
          claim &&
          this.#all().find((t) =>
            belongsTo(claim, {
              ...(t.account !== undefined && {account: t.account}),
              namespaceUID: t.namespaceUID,
              plan: free,
            }),
          );
        for (const [token, issued] of this.#issued) if (issued !== keeper?.name) this.#void.add(token);
      }
      this.#holder = uid;
    }
    if (this.dns.fails) this.#failedAt = this.now;
    for (const t of this.#all()) {
      if (uid !== undefined && uid !== t.domain?.metadata.uid) t.rightAt = undefined;
      if (t.domain && (await this.#isRight(t))) t.rightAt = this.now;
    }
  }

  async #mayRoute(t: Tenant): Promise<void> {
    await this.#remember();
    if (t.rightAt === undefined) throw new Error(`${t.name} is routed and has never proven the hostname`);
  }

  /** At rest. */
  #guarantee(): void {
    for (const t of this.#all()) {
      if (!t.routed) continue;
      if (this.#holder !== t.domain?.metadata.uid) throw new Error(`${t.name} is routed and does not hold the claim`);
      // While nobody can be asked, nothing is taken back.
      if (t.rightAt !== undefined && this.now - Math.max(t.rightAt, this.#failedAt) > longestDriftMs)
        throw new Error(`${t.name} is routed ${(this.now - t.rightAt) / hours} hours after its proof has gone`);
    }
  }

  /** From now on the hostname is rightly this one's, and nobody else's: it must be served within the time of the confirmations. */
  async restore(name: Name): Promise<void> {
    const claim = await this.claim();
    const t = this.tenants[name];
    t.allowed = true;
    this.add(name);
    this.stale = 0;
    this.dns = {cname: t.host, edge: false, txt: new Set(), fails: false};
    await this.settle();
    // No check sooner than a while after the last.
    await this.pass(15 * seconds);
    this.verify(name);
    await this.pass(confirmationMs + 5 * seconds);
    const lockedOut =
      claim?.spec.proof === 'Platform' &&
      !belongsTo(claim, {
        ...(t.account !== undefined && {account: t.account}),
        namespaceUID: t.namespaceUID,
        plan: free,
      });
    if (!t.routed && !lockedOut)
      throw new Error(
        `${name} is locked out: ${JSON.stringify(t.domain?.status?.hosts)} ${JSON.stringify(await this.claim())}`,
      );
  }
}

// --- what may happen, in any order

export type Deed = [what: string, name: Name, ms: number];

const deeds: Record<string, (town: Town, name: Name, ms: number) => Promise<void> | void> = {
  add: (town, name) => town.add(name),
  remove: (town, name) => town.remove(name),
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
  fail: (town) => {
    town.dns = {...town.dns, fails: !town.dns.fails};
  },
  downgrade: (town, name) => {
    town.tenants[name].allowed = !town.tenants[name].allowed;
  },
  recreate: (town, name) => town.recreateNamespace(name),
  label: (town, name) => {
    const t = town.tenants[name];
    t.account = t.account === undefined ? name : undefined;
  },
  grant: (town, name) => town.grant(name),
  verify: (town, name) => town.verify(name),
  crash: (town) => town.crash(),
  stale: (town) => {
    town.stale = 3;
  },
  pass: (town, _, ms) => town.pass(ms),
};

export const historyOfRivals: fc.Arbitrary<{deeds: Deed[]; owner: Name}> = fc.record({
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
});

/** Plays a history and, at its end, gives the hostname back to its rightful owner. Throws when a guarantee is broken. */
export async function play(town: Town, {deeds: history, owner}: {deeds: Deed[]; owner: Name}): Promise<void> {
  for (const [what, name, ms] of history) {
    await deeds[what]!(town, name, ms);
    await town.settle();
  }
  await town.restore(owner);
}
