/** Every query of the dashboard and of the alerts, by a real Prometheus that scrapes /metrics as every role serves it. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {kitMetrics} from '../../operator/kube/metrics.ts';
import {limitMetrics} from '../../operator/limits/metrics.ts';
import {apiMetrics, domainMetrics, makeRegistry} from '../../operator/observability/metrics.ts';
import {healthServer} from '../../operator/observability/server.ts';
import {standingMetrics} from '../../operator/observability/standing-metrics.ts';
import {alerts, queries} from '../support/alerts.ts';
import {eventually} from '../support/kube-api.ts';
import {Prometheus} from '../support/prometheus.ts';

/** A process that has counted something of everything. */
const registry = makeRegistry();
const {reconciles, queueDepth, restClientRequests, leaderElectionStatus} = kitMetrics(registry);
const ofDomains = domainMetrics(registry);
const ofApi = apiMetrics(registry);
const since = Date.now() - 7_200_000;
standingMetrics(registry, () => ({
  phases: () => [['Live', 3]],
  waiting: () => [{waitingFor: 'Platform', reason: 'EdgeNotServing', count: 2, oldest: since}],
  degraded: () => [['CertificateLost', 1]],
  edgeAddresses: () => [['192.0.2.1:443', false]],
  certificates: () => [['Ready', 3]],
  firstEnd: () => Date.now() + 86_400_000,
  certificatesToMove: () => 2,
  certificatesInUse: () => [
    ['letsencrypt', 1],
    ['Other', 2],
  ],
  issuersAvailable: () => [
    ['letsencrypt', true],
    ['google', true],
  ],
  certificatesRepeated: () => 0,
  claims: () => [['Held', 3]],
  ordersWaiting: () => [{issuer: 'letsencrypt', waiting: 4}],
  budget: () => [{issuer: 'letsencrypt', limit: 300, perMs: 10_800_000, used: 299}],
  domainsWithoutPlan: () => 0,
  plainHttpRivals: () => 0,
  preflight: () => [['edge', true]],
}));
limitMetrics(registry, {
  decisions: () => ({admitted: 1, refused: 1}),
  storeIsDown: () => false,
  storeFailures: () => 0,
  bansBegun: () => 0,
  activeBans: () => 1,
  clockOffsetMs: () => 0,
  usageLost: () => 0,
  journaled: () => ({written: 1, lost: 1}),
});
ofDomains.admissionPolicy({account: true, other: false});
leaderElectionStatus.set({name: 'doorplate-operator'}, 1);

/** What counts goes on counting: a rate needs two values. */
function work(): void {
  reconciles.inc({controller: 'customdomain', result: 'success'});
  queueDepth.set({name: 'customdomain', controller: 'customdomain'}, 1);
  restClientRequests.inc({code: '200', method: 'GET', host: 'api'});
  ofDomains.dnsChecks.inc({verdict: 'Proven'});
  ofDomains.dnsDurations.observe({result: 'Proven'}, 0.02);
  ofDomains.edgeProbes.inc({result: 'presented'});
  ofDomains.addedToVerified.observe(40);
  ofDomains.verifiedToLive.observe(12);
  ofApi.answers.observe({method: 'GET', route: '/v1/domains', status: '200'}, 0.01);
  ofApi.refusals.inc({why: 'rate-limited'});
  ofApi.streams.set({route: '/v1/events'}, 1);
  ofApi.streamEnds.inc({route: '/v1/events', why: 'client-left'});
  ofApi.streamEvents.inc({route: '/v1/events'});
}

const server = healthServer({port: 0, registry, health: () => ({live: true, ready: true, waitingFor: []})});
let timer: NodeJS.Timeout;
let prometheus: Prometheus;
beforeAll(async () => {
  await server.start();
  timer = setInterval(work, 100);
  prometheus = await Prometheus.start(['operator', 'redirector', 'api'].map((role) => ({role, port: server.port()})));
  await eventually(
    async () => (await prometheus.query('rate(doorplate_edge_probes_total{SELECTOR}[1m]) > 0')).length > 0,
  );
});
afterAll(async () => {
  clearInterval(timer);
  await prometheus?.stop();
  await server.stop();
});

/** What is scraped too late on a busy machine counts as away for so long at most. */
const aMomentMs = 20_000;

describe('The dashboard', () => {
  test.each(queries())('has something to show in $title: $expr', async ({expr}) => {
    await eventually(async () => {
      const found = await prometheus.query(expr);
      expect(found.length).toBeGreaterThan(0);
      expect(found.filter(({value}) => !Number.isFinite(value))).toEqual([]);
    }, aMomentMs);
  });
});

test('The alerts that are about what this process tells are due, and no others', async () => {
  await eventually(async () => {
    const due: string[] = [];
    for (const {alert, expr} of alerts()) if ((await prometheus.query(expr)).length > 0) due.push(alert);
    expect(due.toSorted()).toEqual([
      'DoorplateCertificateLost',
      'DoorplateEdgeAddressFails',
      'DoorplateEdgeNotServing',
      'DoorplateOrderBudgetNearlyUsed',
    ]);
  }, aMomentMs);
});
