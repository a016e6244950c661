/** The operator: watches, decides, writes. */
import {AccountReconciler, wakeAccounts} from '../controllers/account.ts';
import {OrderTracker, orderOf} from '../controllers/orders/order-tracker.ts';
import {type Caches, makeCaches} from '../controllers/state/caches.ts';
import {CertificateTimes} from '../controllers/state/certificate-times.ts';
import {CheckTimes} from '../controllers/state/check-times.ts';
import {OwnedObjects} from '../controllers/writers/owned-objects.ts';
import {ClaimReconciler, Claims, wakeClaims} from '../controllers/writers/claims.ts';
import {CustomDomainReconciler, wakeDomains} from '../controllers/custom-domain.ts';
import type {EdgeAddresses} from '../controllers/state/edge-addresses.ts';
import {FirstDomains} from '../controllers/state/first-domains.ts';
import {Cas} from '../controllers/state/cas.ts';
import {intentAnnotation} from '../resources/labels.ts';
import {removeFinalizers} from '../controllers/writers/remove-finalizers.ts';
import type {EdgeNews} from '../controllers/probes/edge-health.ts';
import {OrderQueues} from '../controllers/orders/order-queues.ts';
import {otherIngresses, PlainHttp} from '../controllers/writers/plain-http.ts';
import {
  type SharedIngressDeps,
  SharedIngressReconciler,
  wakeSharedIngress,
} from '../controllers/writers/shared-ingress.ts';
import {RenewalPolicy} from '../controllers/writers/renewal-policy.ts';
import {ProjectSlots} from '../controllers/state/project-slots.ts';
import {ProjectReconciler, wakeProjects} from '../controllers/project.ts';
import {ingresses, namespaces} from '../resources/resources.ts';
import {RetainedCertificates} from '../controllers/writers/retained-certificates.ts';
import {Tenants} from '../controllers/state/tenants.ts';
import {VerificationSlots} from '../controllers/state/verification-slots.ts';
import type {Certificate, DomainClaim} from '../api/foreign.ts';
import {ConfigError} from '../config.ts';
import type {Order} from '../domain/certificates/budget.ts';
import {mergeOrders} from '../domain/certificates/budget.ts';
import {whyUnfit} from '../domain/routes/unfit.ts';
import {tenantKey} from '../domain/tenant.ts';
import type {Policy} from '../domain/world.ts';
import {Applier} from '../kube/writes/apply.ts';
import type {Syncable} from '../kube/cache/cache.ts';
import {Controller, type Reconcile} from '../kube/controller/controller.ts';
import {type EventRecord, EventRecorder} from '../kube/writes/events.ts';
import {Elector} from '../kube/leader/leader.ts';
import {Manager} from '../kube/manager.ts';
import {keyOf} from '../kube/objects.ts';
import type {Wake} from '../kube/controller/wake.ts';
import {eventOfAnswer, Preflight} from '../preflight/preflight.ts';
import {denies, eventOfPolicy} from '../observability/admission.ts';
import {domainMetrics} from '../observability/metrics.ts';
import {eventOfEdge} from '../observability/edge.ts';
import {eventOfClass, eventOfRival, eventOfTakenName} from '../observability/plain-http.ts';
import {edgeAddressesOf, makeObservations, plainHttpServes} from './looks.ts';
import {measure} from './measure.ts';
import type {RoleParts} from './parts.ts';
import {worldOf} from './preflight.ts';

export function operator(parts: RoleParts): Manager {
  const {config, client, log, registry, pace, askCa} = parts;
  const caches = makeCaches(client, log, ingresses);
  const {policy, namespace} = config;
  const {issuerRecoveryTime: recoveryMs} = config.settings;
  const cas = new Cas({client, issuers: policy.issuers, namespace, recoveryMs, log, askNames: askCa});
  const [counters, tenants] = [domainMetrics(registry), new Tenants(caches, policy.defaultPlan)];
  const events = eventRecorder(parts, tenants);
  const ordersOf = ({metadata: {name}, status}: DomainClaim): Order[] =>
    mergeOrders(status?.orders ?? [], orders.orders(name), policy.orderMemoryMs, Date.now());
  const writes = writers(parts, caches, ordersOf);
  const [checks, edgeAddresses] = [new CheckTimes(), edgeAddressesOf(parts, caches, counters)];
  const report = (news: EdgeNews) => reportPlatform(parts, events, eventOfEdge(news));
  const {looks, edgeHealth} = makeObservations(parts, counters, {cas, checks, edgeAddresses, report});
  const known = [cas, edgeAddresses];
  const orders: OrderQueues = orderQueues(policy, (hostname) => writes.claims.of(hostname)?.spec.tenant);
  const {others, plainHttp, sharedIngress} = plainHttpOf(parts, caches, {edgeAddresses, events, ...writes});
  const preflight = preflightOf(parts, {edgeAddresses, events, certificates: () => caches.certificates.list()});
  const all = [...Object.values(caches), others];
  const book = new OrderTracker({book: orders, progress: cas.progress, caches, tenants, namespace});
  const elector = electorOf(parts);
  const leads = () => elector?.isLeading ?? true;
  counters.admissionPolicy(denies(config.settings.admissionPolicy));
  const waiting = new VerificationSlots(config.settings.maxWaitingHostnames);
  const [firsts, places] = [new FirstDomains(caches.domains), new ProjectSlots(caches, tenants)];
  const state = {firsts, places, waiting, certified: new CertificateTimes(caches.certificates)};
  const sources = {tenants, cas, edgeAddresses, edgeHealth, looks, orders, checks, ...state, plainHttp};
  measure(parts, counters, {...sources, caches, preflight, leads});
  let startedAt = Infinity;
  const deps = {...caches, ...looks, ...sources, ...writes, events, client, policy, pace, startedAt: () => startedAt};
  const controller = controllers(parts, all);
  return (
    new Manager({client, log, events, elector})
      .addCache(...all)
      .addController(
        controller('customdomain', new CustomDomainReconciler(deps), wakeDomains(caches, sources), book, ...known),
        controller('project', new ProjectReconciler(deps), wakeProjects(caches, sources), book),
        controller('domainclaim', new ClaimReconciler(deps), wakeClaims(caches), book),
        controller('account', new AccountReconciler(deps), wakeAccounts(caches)),
        controller('sharedingress', new SharedIngressReconciler(sharedIngress), wakeSharedIngress(sharedIngress)),
      )
      .whenSynced(() => refuseUnfitClass(caches, policy))
      .whenLeading(() => {
        startedAt = Date.now();
        edgeHealth.begin();
        waiting.begin(caches.domains.list(), (name) => tenants.of(name));
        book.begin();
        plainHttp.begin();
        reportWhatIsOpen(parts, events);
        preflight.begin();
      })
      .whenEnding(() => removeFinalizersOfNamespace(parts))
      // Observations end before the caches do: nothing new is asked of anybody while controllers drain.
      .addServer({
        start: async () => known.forEach((part) => part.start()),
        stop: async () =>
          [...Object.values(looks), edgeHealth, orders, ...known, plainHttp, preflight].forEach((part) => part.stop()),
      })
  );
}

const orderQueues = (
  {issuers, issuanceStalledAfterMs}: Policy,
  tenantOf: (hostname: string) => DomainClaim['spec']['tenant'] | undefined,
) =>
  new OrderQueues({
    issuers: issuers.map(({issuerRef: {name}, budgets}) => ({name, budgets})),
    unheardAfterMs: issuanceStalledAfterMs,
    tenantOf: (hostname) => {
      const tenant = tenantOf(hostname);
      return tenant && tenantKey(tenant);
    },
  });

/** The writers of claims, Certificates and routes. `ordersOf`: the orders of a claim's hostname. */
function writers(
  {client, log}: Pick<RoleParts, 'client' | 'log'>,
  caches: Caches,
  ordersOf: (claim: DomainClaim) => readonly Order[],
) {
  const claims: Claims = new Claims(client, caches.claims, (hostname, tenant) => resting.makeWay(hostname, tenant));
  const renewalPolicy = new RenewalPolicy({client, log});
  const writes = {
    ...caches,
    mayDisableRenewal: () => renewalPolicy.mayDisable(),
    applier: new Applier(client, {fieldManager: 'doorplate', hashAnnotation: intentAnnotation}),
    beforeCertificatesAreRemoved: (going: readonly Certificate[]) =>
      claims.remember(
        going.flatMap(({spec}) => spec.dnsNames),
        (claim) => {
          const shown = ordersShownByOthers(caches, claim.metadata.name, going);
          return ordersOf(claim).filter(({at}) => !shown.has(at));
        },
      ),
  };
  const resting: RetainedCertificates = new RetainedCertificates(writes);
  return {claims, resting, applier: writes.applier, ownedObjects: new OwnedObjects({...writes, client, resting})};
}

/** Times of a hostname's orders whose CertificateRequests belong to other Certificates than these, and therefore stay. */
function ordersShownByOthers(
  {certificates, requests}: Pick<Caches, 'certificates' | 'requests'>,
  hostname: string,
  going: readonly Certificate[],
): ReadonlySet<string> {
  const leaving = new Set(going.map(keyOf));
  const staying = certificates.by('hostname', hostname).filter((certificate) => !leaving.has(keyOf(certificate)));
  return new Set(staying.flatMap((each) => requests.by('certificate', keyOf(each)).map((r) => orderOf(r).at)));
}

/** Makes controllers, all of which wait for these. */
const controllers =
  ({config, metrics, log}: RoleParts, waitFor: readonly Syncable[]) =>
  (name: string, reconciler: {reconcile: Reconcile}, wokenBy: Wake[], ...alsoWaitFor: Syncable[]) =>
    new Controller({
      name,
      reconcile: (key) => reconciler.reconcile(key),
      wokenBy,
      workers: config.settings.operator.workers,
      waitFor: [...waitFor, ...alsoWaitFor],
      metrics,
      log,
    });

/**
 * Throws where no hostname could ever be served: before anything is written, and before a rolling upgrade takes this process for one
 * that works. A class that nobody knows is allowed.
 */
function refuseUnfitClass({ingressClasses}: Caches, {ingressClassName}: Policy): void {
  const why = whyUnfit(ingressClassName, ingressClasses.get(ingressClassName)?.spec?.controller);
  if (why !== undefined) throw new ConfigError(`ingressClassName: ${why} See docs/how-to/ingress-classes.md`);
}

function reportWhatIsOpen(parts: RoleParts, events: EventRecorder): void {
  const event = eventOfPolicy(parts.config.settings.admissionPolicy);
  if (event) reportPlatform(parts, events, event);
}

/** On this Pod, since nothing that it reconciles is at fault. */
function reportPlatform({config, log}: RoleParts, events: EventRecorder, event: Omit<EventRecord, 'regarding'>): void {
  const {pod: name, podUid: uid, namespace} = config;
  events.record({regarding: {apiVersion: 'v1', kind: 'Pod', metadata: {name, namespace, uid}}, ...event});
  log.warn(event.note);
}

/** Plain HTTP, the writer of its shared Ingress, and the cache of Ingresses that both need. */
function plainHttpOf(
  parts: RoleParts,
  {routes, ingressClasses, services}: Caches,
  {edgeAddresses, events, applier}: {edgeAddresses: EdgeAddresses; events: EventRecorder; applier: Applier},
) {
  const {policy, settings} = parts.config;
  const {ingressClassName, redirector} = policy;
  // The Ingress and its backend Service share a name.
  const shared = `${redirector.namespace}/${redirector.service}`;
  const others = otherIngresses(parts.client, parts.log, {ingressClassName, shared});
  const sources = {setting: settings.plainHttp.shared, policy, ingressClasses, routes, others, shared};
  const plainHttp = new PlainHttp({
    ...sources,
    serves: plainHttpServes(settings, edgeAddresses),
    report: (rival) => reportPlatform(parts, events, eventOfRival(rival, shared)),
  });
  const sharedIngress: SharedIngressDeps = {
    ...sources,
    applier,
    services,
    report: (why) =>
      reportPlatform(parts, events, why === 'NotTraefik' ? eventOfClass(ingressClassName) : eventOfTakenName(shared)),
  };
  return {plainHttp, sharedIngress, others};
}

const preflightOf = (
  parts: RoleParts,
  {
    edgeAddresses,
    events,
    certificates,
  }: {edgeAddresses: EdgeAddresses; events: EventRecorder; certificates: () => Certificate[]},
) =>
  new Preflight({
    world: worldOf(parts, edgeAddresses, certificates),
    ready: edgeAddresses.synced,
    tell: (answer) => reportPlatform(parts, events, eventOfAnswer(answer)),
  });

/**
 * If the Namespace of this process is being deleted, no other process follows it. Pods are deleted before ServiceAccounts and other objects
 * (KEP-5080, Kubernetes 1.33), so that this process may still write.
 */
async function removeFinalizersOfNamespace({client, config, log}: RoleParts): Promise<void> {
  const own = await client.get(namespaces, config.namespace);
  if (own && own.metadata.deletionTimestamp === undefined) return;
  log.warn({objects: await removeFinalizers(client)}, 'this namespace is being deleted: the finalizers are removed');
}

const eventRecorder = ({client, config, log, metrics}: RoleParts, tenants: Tenants) =>
  new EventRecorder(client, {
    controller: 'doorplate.dev/operator',
    instance: config.pod,
    log,
    metrics,
    isGone: (namespace) => tenants.isGone(namespace),
  });

/** Undefined where the settings say that there is one process only. */
function electorOf({config, client, metrics, log}: RoleParts): Elector | undefined {
  const {enabled, lease, leaseDuration, renewDeadline, retryPeriod} = config.settings.leaderElection;
  if (!enabled) {
    metrics.leaderElectionStatus.set({name: lease}, 1);
    return undefined;
  }
  return new Elector({
    // Renewals have connections of their own.
    client: client.apart({connections: 2}),
    namespace: config.namespace,
    name: lease,
    metrics,
    log,
    // The Deployment's Pods never have one another's names: a container that starts again in its Pod leads at once.
    instance: config.pod,
    times: {leaseDurationMs: leaseDuration, renewDeadlineMs: renewDeadline, retryPeriodMs: retryPeriod},
  });
}
