/** The operator's metrics about objects in the cluster. */
import type {Caches} from '../controllers/state/caches.ts';
import {RepeatedRequests} from '../controllers/state/repeated-requests.ts';
import {Census, timeHostnames} from '../controllers/state/census.ts';
import type {OrderQueues} from '../controllers/orders/order-queues.ts';
import type {PlainHttp} from '../controllers/writers/plain-http.ts';
import type {Cas} from '../controllers/state/cas.ts';
import type {EdgeHealth} from '../controllers/probes/edge-health.ts';
import type {Tenants} from '../controllers/state/tenants.ts';
import type {Preflight} from '../preflight/preflight.ts';
import type {domainMetrics} from '../observability/metrics.ts';
import type {RoleParts} from './parts.ts';
import {type LeaderFacts, standingMetrics} from '../observability/standing-metrics.ts';

/** Of what is counted. `leads`: whether this process leads; one that stands by counts, and tells nothing. */
interface MeasureSources {
  caches: Pick<Caches, 'domains' | 'certificates' | 'claims' | 'requests'>;
  tenants: Tenants;
  orders: OrderQueues;
  plainHttp: Pick<PlainHttp, 'rivals'>;
  preflight: Pick<Preflight, 'known'>;
  edgeHealth: Pick<EdgeHealth, 'serving'>;
  cas: Pick<Cas, 'unavailableSince'>;
  leads: () => boolean;
}

/** Before the caches start: what they tell first is counted, too. */
export function measure(
  {config, registry, log}: Pick<RoleParts, 'config' | 'registry' | 'log'>,
  {addedToVerified, verifiedToLive}: ReturnType<typeof domainMetrics>,
  {caches, tenants, orders, plainHttp, preflight, edgeHealth, cas, leads}: MeasureSources,
): void {
  const issuerRefs = config.policy.issuers.map(({issuerRef}) => issuerRef);
  const census = new Census(caches, issuerRefs);
  timeHostnames(caches.domains, leads, {
    addedToVerified: (seconds) => addedToVerified.observe(seconds),
    verifiedToLive: (seconds) => verifiedToLive.observe(seconds),
  });
  const repeated = new RepeatedRequests(caches.requests, {
    report: (certificate) => {
      if (leads()) log.warn({certificate}, 'a Certificate has had three CertificateRequests within an hour');
    },
  });
  const standing: LeaderFacts = {
    phases: () => census.phases.sizes(),
    waiting: () => census.waiting(),
    degraded: () => census.degraded(),
    edgeAddresses: () => edgeHealth.serving(),
    certificates: () => census.certificates(Date.now()),
    firstEnd: () => census.firstEnd(),
    certificatesToMove: () => census.toMove(),
    certificatesInUse: () => census.inUse(),
    issuersAvailable: () =>
      issuerRefs.length === 1
        ? []
        : issuerRefs.map(({name}) => [name, cas.unavailableSince(name) === undefined] as const),
    certificatesRepeated: () => repeated.count(),
    claims: () => census.claims.sizes(),
    ordersWaiting: () => orders.waiting(),
    budget: () => orders.account(),
    plainHttpRivals: () => plainHttp.rivals().length,
    preflight: () => preflight.known(),
    domainsWithoutPlan: () => tenants.countWithoutPlan(caches.domains.list()),
  };
  standingMetrics(registry, () => (leads() ? standing : undefined));
}
