/** What each role of the one image is made of. */
import {getServers} from 'node:dns';
import {isIP} from 'node:net';
import type {Logger} from 'pino';
import type {Registry} from 'prom-client';
import type {
  Account,
  Certificate,
  CertificateRequest,
  CustomDomain,
  DomainClaim,
  EndpointSlice,
  Ingress,
  IngressClass,
  Plan,
  Project,
  Service,
} from './api/foreign.ts';
import type {Config} from './config.ts';
import {AccountReconciler} from './controllers/account.ts';
import {keepBook} from './controllers/book-keeping.ts';
import type {CheckOptions} from './controllers/check.ts';
import {check} from './controllers/check.ts';
import {byHost, Children, ownedSelector, ownerLabel} from './controllers/children.ts';
import {ClaimReconciler, Claims, claimsByHolder, hostnamesOf} from './controllers/claims.ts';
import type {DnsQuestion, EdgeQuestion} from './controllers/custom-domain.ts';
import {CustomDomainReconciler} from './controllers/custom-domain.ts';
import type {IssuanceQuestion} from './controllers/issuance-reader.ts';
import {IssuanceReader} from './controllers/issuance-reader.ts';
import {Issuer} from './controllers/issuer.ts';
import {Observer} from './controllers/observer.ts';
import {OrderBook} from './controllers/order-book.ts';
import {ProjectReconciler} from './controllers/project.ts';
import {
  accounts,
  certificateRequests,
  certificates,
  customDomains,
  domainClaims,
  endpointSlices,
  ingressClasses,
  ingresses,
  namespaces,
  plans,
  projects,
  services,
} from './controllers/resources.ts';
import type {TenantNamespace} from './controllers/tenants.ts';
import {accountsByPlan, namespacesByAccount, tenantNamespace, Tenants} from './controllers/tenants.ts';
import {DnsClient} from './dns/client.ts';
import type {IssuedRequest} from './domain/certificate.ts';
import type {Diagnosis} from './domain/diagnosis.ts';
import type {EdgeFinding, Policy} from './domain/lifecycle.ts';
import type {Verdict} from './domain/verification.ts';
import {leafSha256, probeEdge} from './edge/probe.ts';
import {Applier} from './kube/apply.ts';
import {Cache} from './kube/cache.ts';
import type {Client} from './kube/client.ts';
import {Controller} from './kube/controller.ts';
import {EventRecorder} from './kube/events.ts';
import {Elector} from './kube/leader.ts';
import {Manager} from './kube/manager.ts';
import type {KitMetrics} from './kube/metrics.ts';
import type {HasMeta, KubeObject, ObjectMeta} from './kube/objects.ts';
import {keyOf} from './kube/objects.ts';
import {domainMetrics} from './observability/metrics.ts';
import {startRedirector} from './redirector/server.ts';
import {Table, rulesOfDomain, rulesOfProject} from './redirector/rules.ts';
import type {RedirectRule} from './redirector/table.ts';

/** What every role is given. */
export interface Parts {
  config: Config;
  client: Client;
  log: Logger;
  registry: Registry;
  metrics: KitMetrics;
}

const ownerOf = (o: HasMeta) => o.metadata.labels?.[ownerLabel] ?? [];
const byOwner = {owner: (o: HasMeta) => [ownerOf(o)].flat()};
const meta = ({
  name,
  namespace,
  uid,
  resourceVersion,
  labels,
  annotations,
  ownerReferences,
}: ObjectMeta): ObjectMeta => ({name, namespace, uid, resourceVersion, labels, annotations, ownerReferences});

/** A CertificateRequest without its chain: thousands are kept. */
function issuedRequest(request: CertificateRequest): IssuedRequest {
  const ready = request.status?.conditions?.find((c) => c.type === 'Ready');
  const chain = request.status?.certificate;
  const ended =
    ready?.status === 'True'
      ? ready.lastTransitionTime
      : ready?.reason === 'Failed'
        ? (request.status?.failureTime ?? ready.lastTransitionTime)
        : undefined;
  let leaf: string | undefined;
  try {
    leaf = chain === undefined ? undefined : leafSha256(Buffer.from(chain, 'base64').toString('latin1'));
  } catch {
    /* no certificate in it */
  }
  return {
    metadata: {...meta(request.metadata), creationTimestamp: request.metadata.creationTimestamp},
    ...(leaf !== undefined && {leafSha256: leaf}),
    ...(ready?.status === 'False' && ready.reason === 'Failed' && {failure: ready.message}),
    ...(ready?.status !== 'True' && ready?.reason !== 'Failed' && {waiting: ready?.message ?? 'nothing yet'}),
    // Its Order has a state when the CA has answered newOrder (cert-manager: certificaterequests/acme).
    ...((ready?.status === 'True' ||
      ready?.reason === 'Failed' ||
      /: "[a-z]+"$|add certificate data/.test(ready?.message ?? '')) && {ordered: true as const}),
    ...(ended !== undefined && {endedAt: ended}),
  };
}

/** The operator: watches, decides, writes. */
export function operator({config, client, log, registry, metrics}: Parts): Manager {
  const {settings} = config;
  const counters = domainMetrics(registry);
  const startedAt = Date.now();
  const events = new EventRecorder(client, {controller: 'doorplate.dev/operator', instance: config.pod, log});
  const election = settings.leaderElection;
  const elector = election.enabled
    ? new Elector({
        // Renewals have connections of their own.
        client: client.apart({connections: 2}),
        namespace: config.namespace,
        name: election.lease,
        metrics,
        log,
        // The Deployment's Pods never have one another's names: a container that starts again in its Pod leads at once.
        instance: config.pod,
        times: {
          leaseDurationMs: election.leaseDuration,
          renewDeadlineMs: election.renewDeadline,
          retryPeriodMs: election.retryPeriod,
        },
      })
    : undefined;
  const manager = new Manager({client, log, events, elector});
  const issuer = new Issuer({
    client,
    issuerRef: config.policy.issuerRef,
    namespace: config.namespace,
    configured: config.policy.caaIdentities,
    log,
    onChange: () => {
      for (const d of domainCache.list()) domainController.enqueue(keyOf(d));
    },
  });
  // The CA may name itself otherwise one day.
  const policy: Policy = {
    ...config.policy,
    get caaIdentities() {
      return issuer.identities;
    },
  };

  const domainCache = new Cache<CustomDomain, CustomDomain>(client, customDomains, {
    log,
    indexes: {
      project: (d) => [`${d.metadata.namespace}/${d.spec.projectRef.name}`],
      namespace: (d) => [d.metadata.namespace ?? ''],
      uid: (d) => [d.metadata.uid ?? ''],
      hostname: hostnamesOf,
    },
  });
  const projectCache = new Cache<Project, Project>(client, projects, {
    log,
    indexes: {
      service: (p) => [`${p.metadata.namespace}/${p.spec.serviceRef.name}`],
      uid: (p) => [p.metadata.uid ?? ''],
      namespace: (p) => [p.metadata.namespace ?? ''],
    },
  });
  const serviceCache = new Cache<Service, Service>(client, services, {
    log,
    project: (s) => ({
      apiVersion: s.apiVersion,
      kind: s.kind,
      metadata: {
        name: s.metadata.name,
        namespace: s.metadata.namespace,
        uid: s.metadata.uid,
        resourceVersion: s.metadata.resourceVersion,
      },
      spec: {ports: s.spec.ports?.map(({name, port}) => ({name, port}))},
    }),
  });
  const sliceCache = new Cache<{metadata: ObjectMeta; endpoints?: EndpointSlice['endpoints']}, EndpointSlice>(
    client,
    endpointSlices,
    {
      log,
      project: (s) => ({
        metadata: {
          name: s.metadata.name,
          namespace: s.metadata.namespace,
          uid: s.metadata.uid,
          resourceVersion: s.metadata.resourceVersion,
          labels: {'kubernetes.io/service-name': s.metadata.labels?.['kubernetes.io/service-name'] ?? ''},
        },
        // Whether any endpoint is ready, and no more: a Service of a thousand Pods is kept as one.
        endpoints: s.endpoints?.some((e) => e.conditions?.ready !== false) ? [{conditions: {ready: true}}] : [],
      }),
      indexes: {service: (s) => [`${s.metadata.namespace}/${s.metadata.labels?.['kubernetes.io/service-name']}`]},
    },
  );
  const classCache = new Cache<IngressClass, IngressClass>(client, ingressClasses, {log});
  const ingressCache = new Cache<Ingress, Ingress>(client, ingresses, {
    log,
    labelSelector: ownedSelector,
    indexes: {...byOwner, ...byHost},
    project: (i) => ({apiVersion: i.apiVersion, kind: i.kind, metadata: i.metadata, spec: i.spec}),
  });
  const certificateCache = new Cache<Certificate, Certificate>(client, certificates, {
    log,
    labelSelector: ownedSelector,
    indexes: byOwner,
  });
  const requestCache = new Cache<IssuedRequest, CertificateRequest>(client, certificateRequests, {
    log,
    labelSelector: ownedSelector,
    indexes: byOwner,
    project: issuedRequest,
  });
  const planCache = new Cache<Plan, Plan>(client, plans, {log});
  const accountCache = new Cache<Account, Account>(client, accounts, {log, indexes: accountsByPlan});
  const namespaceCache = new Cache<TenantNamespace, KubeObject>(client, namespaces, {
    log,
    project: tenantNamespace,
    indexes: namespacesByAccount,
  });
  const claimCache = new Cache<DomainClaim, DomainClaim>(client, domainClaims, {log, indexes: claimsByHolder});
  const claims = new Claims(client, claimCache);
  const tenants = new Tenants({
    namespaces: namespaceCache,
    accounts: accountCache,
    plans: planCache,
    defaultPlan: policy.defaultPlan,
  });
  counters.domainsWithoutPlan(() => tenants.countWithoutPlan(domainCache.list()));
  const caches = [
    claimCache,
    planCache,
    accountCache,
    namespaceCache,
    domainCache,
    projectCache,
    serviceCache,
    sliceCache,
    classCache,
    ingressCache,
    certificateCache,
    requestCache,
  ];

  const applier = new Applier(client, {fieldManager: 'doorplate', hashAnnotation: 'doorplate.dev/intent'});
  const children = new Children({
    client,
    applier,
    certificates: certificateCache,
    ingresses: ingressCache,
    requests: requestCache,
  });

  const resolvers = settings.dns.recursive.length > 0 ? settings.dns.recursive : systemResolvers();
  const dnsClient = new DnsClient({recursive: resolvers, allowPrivateAddresses: settings.dns.allowPrivateAddresses});
  const checking: CheckOptions = {
    dns: dnsClient,
    rules: {edgeAddresses: settings.edge.addresses, addressOnly: settings.apexOwnership === 'AddressOnly'},
    mode: settings.dns.mode,
    ca: {
      get identities() {
        return issuer.identities;
      },
      get accountUri() {
        return issuer.accountUri;
      },
      zone: policy.zone,
    },
  };
  const look = async ({caa, ...question}: DnsQuestion, signal: AbortSignal): Promise<Verdict> => {
    const {hostname} = question;
    const verdict = await check(checking, question, caa, signal);
    counters.dnsChecks.inc({verdict: verdict.kind === 'Proven' ? 'Proven' : verdict.reason});
    log.debug({hostname, verdict: verdict.kind === 'Proven' ? 'Proven' : verdict.reason}, 'DNS checked');
    return verdict;
  };
  const edges =
    settings.edge.probe.length > 0
      ? settings.edge.probe
      : settings.edge.addresses.map((address) => ({address, port: 443}));
  const probe = async ({hostname, whoAnswers}: EdgeQuestion, signal: AbortSignal): Promise<EdgeFinding[]> => {
    const findings = await probeEdge(hostname, [...edges], {timeoutMs: 3000, signal, whoAnswers});
    for (const f of findings) counters.edgeProbes.inc({result: 'unreachable' in f ? 'unreachable' : 'presented'});
    return findings;
  };

  const onError = (error: unknown) => {
    counters.lookErrors.inc();
    log.error({err: error}, 'a look at the outside failed');
  };
  const dns = new Observer<DnsQuestion, Verdict>({
    look,
    onResult: (key) => domainController.enqueue(key),
    onError,
    concurrency: 64,
  });
  const reader = new IssuanceReader(client);
  const issuance = new Observer<IssuanceQuestion, Diagnosis>({
    look: (q, signal) => reader.read(q, signal),
    onResult: (key) => domainController.enqueue(key),
    onError,
    concurrency: 32,
  });
  const orders = new OrderBook({
    budgets: policy.budgets,
    unheardAfterMs: policy.issuanceStalledAfterMs,
    onAnswer: (key) => domainController.enqueue(key),
  });
  const book = keepBook({
    book: orders,
    requests: requestCache,
    certificates: certificateCache,
    domains: domainCache,
    projects: projectCache,
    claims: claimCache,
    tenants,
    namespace: config.namespace,
    waitFor: caches,
  });
  counters.ordersWaiting(() => orders.waiting);
  counters.certificates(() => domainCache.list().flatMap((d) => d.status?.hosts ?? []));
  const edge = new Observer<EdgeQuestion, EdgeFinding[]>({
    look: probe,
    onResult: (key) => domainController.enqueue(key),
    onError,
    concurrency: 32,
  });

  const domainReconciler = new CustomDomainReconciler({
    client,
    policy,
    domains: domainCache,
    projects: projectCache,
    tenants,
    ingressClasses: classCache,
    claims,
    children,
    dns,
    edge,
    issuance,
    orders,
    events,
    startedAt,
  });
  const projectReconciler = new ProjectReconciler({
    client,
    policy,
    projects: projectCache,
    services: serviceCache,
    slices: sliceCache,
    domains: domainCache,
    ingressClasses: classCache,
    tenants,
    claims,
    children,
    events,
  });
  const claimReconciler = new ClaimReconciler({
    client,
    policy,
    claims,
    domains: domainCache,
    projects: projectCache,
    children,
    orders,
  });
  const accountReconciler = new AccountReconciler({client, accounts: accountCache, plans: planCache, events});
  const domainController = new Controller({
    name: 'customdomain',
    reconcile: (key) => domainReconciler.reconcile(key),
    waitFor: [...caches, book, issuer],
    metrics,
    log,
  });
  const projectController = new Controller({
    name: 'project',
    reconcile: (key) => projectReconciler.reconcile(key),
    waitFor: caches,
    metrics,
    log,
  });
  const claimController = new Controller({
    name: 'domainclaim',
    reconcile: (key) => claimReconciler.reconcile(key),
    waitFor: [...caches, book],
    metrics,
    log,
  });
  const accountController = new Controller({
    name: 'account',
    reconcile: (key) => accountReconciler.reconcile(key),
    waitFor: caches,
    metrics,
    log,
  });

  // What it holds, it may hold no more.
  const releaseOf = ({metadata: {uid = ''}}: HasMeta) => {
    for (const c of claimCache.by('holder', uid)) claimController.enqueue(c.metadata.name);
  };
  const ofHostname = (hostname: string) => {
    for (const d of domainCache.by('hostname', hostname)) domainController.enqueue(keyOf(d));
  };
  domainCache.onChange((now, before) => {
    const one = (now ?? before)!;
    domainController.enqueue(keyOf(one));
    const projectKey = `${one.metadata.namespace}/${one.spec.projectRef.name}`;
    projectController.enqueue(projectKey);
    releaseOf(one);
    // Its siblings: the next oldest may now be accepted.
    if (!now || !before)
      for (const sibling of domainCache.by('project', projectKey)) domainController.enqueue(keyOf(sibling));
  });
  projectCache.onChange((now, before) => {
    const key = keyOf((now ?? before)!);
    projectController.enqueue(key);
    releaseOf((now ?? before)!);
    for (const domain of domainCache.by('project', key)) domainController.enqueue(keyOf(domain));
  });
  tenants.onChange((namespace) => {
    for (const d of domainCache.by('namespace', namespace)) domainController.enqueue(keyOf(d));
    for (const p of projectCache.by('namespace', namespace)) projectController.enqueue(keyOf(p));
  });
  claimCache.onChange((now, before) => {
    const {name} = (now ?? before)!.metadata;
    claimController.enqueue(name);
    ofHostname(name);
    for (const uid of new Set([now?.status?.holder?.uid, before?.status?.holder?.uid])) {
      for (const d of domainCache.by('uid', uid ?? '')) domainController.enqueue(keyOf(d));
      for (const p of projectCache.by('uid', uid ?? '')) projectController.enqueue(keyOf(p));
    }
  });
  ingressCache.onChange((now, before) => {
    if (now) return;
    // Its hostname may be released now, or routed for another.
    for (const {host} of before?.spec.rules ?? []) {
      claimController.enqueue(host);
      ofHostname(host);
    }
  });
  accountCache.onChange((now) => {
    if (now) accountController.enqueue(keyOf(now));
  });
  planCache.onChange((now, before) => {
    if (!now || !before)
      for (const a of accountCache.by('plan', (now ?? before)!.metadata.name)) accountController.enqueue(keyOf(a));
  });
  const onService = (namespacedName: string) => {
    for (const p of projectCache.by('service', namespacedName)) projectController.enqueue(keyOf(p));
  };
  serviceCache.onChange((now, before) => onService(keyOf((now ?? before)!)));
  sliceCache.onChange((now, before) => {
    const {namespace, labels} = (now ?? before)!.metadata;
    onService(`${namespace}/${labels?.['kubernetes.io/service-name']}`);
  });
  const onChild = (now: HasMeta | undefined, before: HasMeta | undefined) => {
    for (const uid of new Set([now, before].flatMap((o) => (o ? ownerOf(o) : [])))) {
      for (const d of domainCache.by('uid', uid)) domainController.enqueue(keyOf(d));
      for (const p of projectCache.by('uid', uid)) projectController.enqueue(keyOf(p));
    }
  };
  ingressCache.onChange(onChild);
  certificateCache.onChange(onChild);
  requestCache.onChange(onChild);
  classCache.onChange(() => {
    for (const d of domainCache.list()) domainController.enqueue(keyOf(d));
    for (const p of projectCache.list()) projectController.enqueue(keyOf(p));
  });

  // Looks end before the caches do: nothing new is asked of anybody while controllers drain.
  manager.addServer({
    start: async () => issuer.start(),
    stop: async () => {
      dns.stop();
      edge.stop();
      issuance.stop();
      orders.stop();
      issuer.stop();
    },
  });
  return manager
    .addCache(...caches)
    .addController(domainController, projectController, claimController, accountController);
}

function systemResolvers(): {address: string; port: number}[] {
  return getServers().flatMap((s) => {
    const address = s.replace(/^\[([^\]]+)\](:[0-9]+)?$/, '$1');
    return isIP(address) ? [{address, port: 53}] : [];
  });
}

/** The redirector: a table out of status, and an HTTP server. */
export function redirector({client, log}: Parts, port = 8080): Manager {
  const manager = new Manager({client, log});
  const table = new Table();
  type Rules = {metadata: ObjectMeta; rules: RedirectRule[]};
  const domainCache = new Cache<Rules, CustomDomain>(client, customDomains, {
    log,
    project: (d) => ({metadata: meta(d.metadata), rules: rulesOfDomain(d)}),
  });
  const projectCache = new Cache<Rules, Project>(client, projects, {
    log,
    project: (p) => ({metadata: meta(p.metadata), rules: rulesOfProject(p)}),
  });
  for (const cache of [domainCache, projectCache]) {
    cache.onChange((now, before) => table.set(`${cache.resource.kind} ${keyOf((now ?? before)!)}`, now?.rules ?? []));
  }
  let server: Awaited<ReturnType<typeof startRedirector>> | undefined;
  manager.addServer({
    start: async () => {
      server = await startRedirector({
        port,
        table: () => table.rules,
        ready: () => domainCache.isSynced && projectCache.isSynced,
        log,
        drainMs: 15_000,
      });
    },
    stop: async () => {
      await server?.close();
    },
  });
  return manager.addCache(domainCache, projectCache);
}
