/** The parts of the role `api`: caches of the shown objects, the limits, the keys' status, and the HTTP server. */
import type {FastifyInstance} from 'fastify';
import type {ApiKey} from '../api/foreign.ts';
import {type ApiKeyDeps, ApiKeyReconciler} from '../controllers/api-key.ts';
import type {Config} from '../config.ts';
import {tenantCaches, Tenants} from '../controllers/state/tenants.ts';
import {acceptHostname} from '../domain/hostnames/acceptance.ts';
import {Audit} from '../http/audit.ts';
import {recognise, whyKeyEnded} from '../http/gate/auth.ts';
import {refusalOf} from '../http/routes/dry-run.ts';
import {banTopic, EventHub, sessionTopic} from '../http/events/event-hub.ts';
import type {Gate} from '../http/gate/gate.ts';
import {Idempotency} from '../http/idempotency.ts';
import {KeyWriter} from '../http/store/key-writer.ts';
import {loadPage, type PageVersion as PageFiles} from '../http/page/files.ts';
import {addPage} from '../http/page/routes.ts';
import {addAudit} from '../http/routes/audit.ts';
import {addEvents} from '../http/routes/events.ts';
import {addKeys} from '../http/routes/keys.ts';
import {addReads} from '../http/routes/reads.ts';
import {addUsage} from '../http/routes/usage.ts';
import {addWrites} from '../http/routes/writes.ts';
import {httpServer} from '../http/listen.ts';
import {bounds, makeServer} from '../http/server.ts';
import {ServiceAccounts} from '../http/gate/service-accounts.ts';
import {addSessions} from '../http/session/routes.ts';
import {Sessions} from '../http/session/sessions.ts';
import {Settling} from '../http/store/settled.ts';
import {type OwnedKey, ObjectStore, storeCaches} from '../http/store/store.ts';
import {countIn} from '../http/usage.ts';
import {DomainWriter} from '../http/store/writer.ts';
import {Controller} from '../kube/controller/controller.ts';
import {EventRecorder} from '../kube/writes/events.ts';
import {Manager} from '../kube/manager.ts';
import {keyOf} from '../kube/objects.ts';
import {asIs, by, itself, on} from '../kube/controller/wake.ts';
import type {KeyUser} from '../limits/bans.ts';
import type {Limits} from '../limits/limits.ts';
import {startLimits} from '../limits/limits.ts';
import {apiMetrics} from '../observability/metrics.ts';
import {authorizerSettings, limitsOf} from './api-limits.ts';
import {startAuthorizer} from './authorizer.ts';
import {makeGate} from './gate.ts';
import type {RoleParts} from './parts.ts';

export interface ApiOptions {
  /** 8082 by default; 0 for any free one. */
  port?: number;
  /** Ports for the platform's own APIs, if enabled. Default: 8083 for gRPC and 8084 for HTTP. */
  authorizePorts?: {grpc: number; http: number};
  /** How long it serves on after it was told to stop: 3 s by default. */
  lingerMs?: number;
  /** How often an event stream says that it lives: 15 s by default. */
  heartbeatMs?: number;
  /** How long a change waits for the operator to say what it makes of it: 15 s by default. */
  settleWithinMs?: number;
}

/** A manager, and where its API listens. */
export type ApiRole = Manager & {port: () => number};

/**
 * The API: reads from caches, writes specs, keeps the status of ApiKeys. It needs no lease: what it writes has
 * preconditions.
 */
export async function api(parts: RoleParts, options: ApiOptions = {}): Promise<ApiRole> {
  const {config, client, log, registry, metrics} = parts;
  const {port = 8082, authorizePorts = {grpc: 8083, http: 8084}, lingerMs = 3000} = options;
  const {audience, authorize, page: brand, trustedProxies} = config.settings.api;
  const counters = apiMetrics(registry);
  const events = new EventRecorder(client, {controller: 'doorplate.dev/api', instance: config.pod, log, metrics});
  const thread = authorize.enabled
    ? await startAuthorizer(authorizerSettings(config, authorizePorts), {log, registry})
    : undefined;
  const limits = thread?.limits ?? (await startLimits({...limitsOf(config), log, registry}));
  const shared = share(parts, limits);
  const all = Object.values(shared.caches);
  const keys = keepKeys(parts, shared, events);
  const page = await openPage(shared, brand);
  const serviceAccounts = new ServiceAccounts({...shared, client, audience});
  const {tenants, findKey, now, pageOrigin} = shared;
  const gate = makeGate({
    limits,
    tenants,
    findKey,
    now,
    settings: config.settings.api,
    ...(page && {sessions: page.sessions, pageOrigin}),
    serviceAccounts,
    used: keys.used,
    letThrough: countIn(limits.usage),
    refused: (why) => counters.refusals.inc({why}),
  });
  thread?.onReport(({decided, refusals, used}) => {
    for (const [status, seconds] of decided) counters.decisions.observe({status}, seconds);
    for (const [why, times] of Object.entries(refusals)) counters.refusals.inc({why}, times);
    for (const [name, atMs] of used) {
      const key = shared.findKey(name);
      if (key) keys.used(key, atMs);
    }
  });
  const http = httpServer({
    port,
    lingerMs,
    beside: thread ? [thread.server] : [],
    endStreams: () => shared.hub.close(),
    closed: limits.stop,
    make: () =>
      makeServer({
        log,
        gate,
        trustedProxies,
        ready: () => all.every((cache) => cache.isSynced),
        owner: {name: brand.name, origin: shared.pageOrigin},
        routes: (server) => addRoutes(server, parts, shared, {...options, gate, page, counters, serviceAccounts}),
        onAnswer: ({method, route, status, seconds}) => counters.answers.observe({method, route, status}, seconds),
      }),
  });
  const manager = new Manager({client, log, events})
    .addServer(http)
    .addCache(...all)
    .addController(keys.controller);
  if (thread) manager.addCache(thread.caches);
  return Object.assign(manager, {port: http.port});
}

type Shared = ReturnType<typeof share>;
interface PageRole {
  files: PageFiles;
  sessions: Sessions;
}

const openPage = async (shared: Shared, brand: Config['settings']['api']['page']): Promise<PageRole | undefined> =>
  brand.enabled ? {files: await loadPage(brand), sessions: makeSessions(shared, brand.sessionLifetime)} : undefined;

/** Members that the parts of the API share. */
function share({config, client, log}: RoleParts, limits: Limits) {
  const caches = {...storeCaches(client, log), ...tenantCaches(client, log)};
  const tenants = new Tenants(caches, config.policy.defaultPlan);
  const {host} = config.settings.api;
  return {
    caches,
    tenants,
    limits,
    store: new ObjectStore(caches),
    hub: new EventHub({...caches, tenants}),
    pageOrigin: host === '' ? undefined : `https://${host}`,
    // The system's clock says when keys and tokens end, as it does for whoever wrote that; limits, bans and sessions go by their own.
    now: (): number => Date.now(),
    trustedNow: (): number => limits.clock.nowMs(),
    findKey: (key: string): OwnedKey | undefined => caches.keys.get(key),
    bannedUntil: (user: KeyUser): number | undefined => limits.bans.until(user),
    namespaceUID: (namespace: string): string | undefined => caches.namespaces.get(namespace)?.metadata.uid,
  };
}

/** Keeps the status of ApiKeys. Call `used` with each use of a key. */
function keepKeys(
  {client, log, metrics}: RoleParts,
  {caches, hub, limits: {bans, clock}, now}: Shared,
  events: EventRecorder,
): {controller: Controller; used: (key: ApiKey, atMs: number) => void} {
  const lastUsed = new Map<string, number>();
  const reconciler = new ApiKeyReconciler({
    client,
    apiKeys: caches.keys,
    bans: bansBySystemClock(bans, clock),
    lastUsed: (uid) => lastUsed.get(uid),
    events,
    now,
  });
  caches.keys.onChange((key, before) => {
    if (!key) lastUsed.delete(before?.metadata.uid ?? '');
  });
  bans.onChange((hash) => hub.tell(banTopic(hash)));
  const controller = new Controller({
    name: 'apikey',
    reconcile: (key) => reconciler.reconcile(key),
    wokenBy: [on(caches.keys, itself), on(bans, by(caches.keys, 'hash', asIs))],
    // Fewer than there are connections: requests to the API write through the same client.
    workers: 10,
    waitFor: Object.values(caches),
    metrics,
    log,
  });
  const used = (key: ApiKey, atMs: number): void => {
    const {uid = ''} = key.metadata;
    const before = lastUsed.get(uid);
    lastUsed.set(uid, atMs);
    // The status tells the hour.
    if (before === undefined || Math.floor(before / 3_600_000) !== Math.floor(atMs / 3_600_000))
      controller.enqueue(keyOf(key));
  };
  return {controller, used};
}

/** A status tells of bans beside the ends of keys, so it has both by one clock. */
const bansBySystemClock = (bans: Limits['bans'], clock: Limits['clock']): ApiKeyDeps['bans'] => ({
  of: (hash) =>
    bans
      .of(hash)
      .map(({network, untilSeconds}) => ({network, untilSeconds: untilSeconds + Math.round(clock.offsetMs() / 1000)})),
  lift: (hash) => bans.lift(hash),
});

const makeSessions = (
  {limits: {records}, hub, now, trustedNow, namespaceUID, findKey, bannedUntil}: Shared,
  lifetimeMs: number,
): Sessions =>
  new Sessions({
    records,
    sessionSeconds: Math.floor(lifetimeMs / 1000),
    now: trustedNow,
    namespaceUID,
    keyEnded: ({namespace, key, scopes}) =>
      whyKeyEnded({namespace, ...key!, scopes}, {findKey, bannedUntil, now: now()}),
    onEnd: (id) => hub.tell(sessionTopic(id)),
  });

function addRoutes(
  server: FastifyInstance,
  {config, client, log}: RoleParts,
  shared: Shared,
  {
    gate,
    page,
    counters,
    serviceAccounts,
    heartbeatMs,
    settleWithinMs = 15_000,
  }: ApiOptions & {
    gate: Gate;
    page: PageRole | undefined;
    counters: ReturnType<typeof apiMetrics>;
    serviceAccounts: ServiceAccounts;
  },
): void {
  const {caches, store, limits, hub, now, trustedNow} = shared;
  const {page: brand} = config.settings.api;
  const idempotency = new Idempotency({records: limits.records, gate, now: trustedNow});
  caches.keys.onChange((key, before) => {
    if (!key) idempotency.forget(before?.metadata.uid ?? '');
  });
  idempotency.addTo(server);
  const settling = new Settling(caches.domains);
  const audit = new Audit({log, journal: limits.journal});
  addReads(server, {
    store,
    limiter: limits.limiter,
    offeredPlans: () => brand.offeredPlans.flatMap((name) => caches.plans.get(name) ?? []),
  });
  addWrites(server, {
    store,
    writer: new DomainWriter({client, store, domains: caches.domains}),
    settled: (domain) => settling.wait(domain, settleWithinMs),
    notAllowed: (written) => acceptHostname(written, config.policy),
    refusal: (attempt, hostname) => refusalOf(attempt, hostname, config.policy),
    now: () => new Date(now()),
    audit,
  });
  addUsage(server, {usage: limits.usage, serviceAccounts, now: trustedNow});
  addKeys(server, {store, writer: new KeyWriter({client, keys: caches.keys}), now, audit});
  addAudit(server, {journal: limits.journal});
  addEvents(server, {
    store,
    hub,
    mayGoOn: (request) => gate.mayGoOn(request),
    // The other half is for requests.
    atMost: bounds.connections / 2,
    log,
    metrics: counters,
    heartbeatMs,
  });
  if (page) addPageRoutes(server, shared, {gate, audit, page, brand});
}

function addPageRoutes(
  server: FastifyInstance,
  shared: Shared,
  {gate, audit, page, brand}: {gate: Gate; audit: Audit; page: PageRole; brand: Config['settings']['api']['page']},
): void {
  const {pageOrigin, now, trustedNow, findKey, tenants} = shared;
  const {returnOrigins, linksByKeys, strictTransportSecurity} = brand;
  addSessions(server, {
    ...shared,
    audit,
    now: trustedNow,
    gate,
    returnOrigins,
    linksByKeys,
    tenantOf: (namespace) => tenants.of(namespace),
    sessions: page.sessions,
    recognise: (token) => recognise(`Bearer ${token}`, findKey, now()),
  });
  addPage(server, {page: page.files, brand, hasHttps: pageOrigin !== undefined && strictTransportSecurity});
}
