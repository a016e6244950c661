/** Each alert by its cause: the operator's role on a real API server, its /metrics scraped by a real Prometheus. When it then fires: test/observability; the release itself: test/faults/alerts. */
import {afterAll, afterEach, beforeAll, expect, test} from '@jest/globals';
import type {Certificate, Ingress} from '../../operator/api/foreign.ts';
import {accounts, certificates, customDomains, ingresses} from '../../operator/resources/resources.ts';
import {timestamp} from '../../operator/domain/times.ts';
import {leases, type Lease} from '../../operator/kube/leader/lease.ts';
import {keyOf, microTime} from '../../operator/kube/objects.ts';
import {healthServer} from '../../operator/observability/server.ts';
import {alerts, isDue as isDueBy} from '../support/alerts.ts';
import {Customer} from '../support/customer.ts';
import {eventually} from '../support/kube-api.ts';
import {RunningOperator, type Settings} from '../support/operator.ts';
import {home, ingressClass, Platform} from '../support/platform.ts';
import {Prometheus} from '../support/prometheus.ts';

const day = 86_400_000;
/** What is scraped too late on a busy machine counts as away for so long at most. */
const aMomentMs = 20_000;
let platform: Platform;
let prometheus: Prometheus;
let operator: RunningOperator | undefined;
/** Of the operator that runs now. */
const server = healthServer({
  port: 0,
  health: () => ({live: true, ready: true, waitingFor: []}),
  registry: {
    metrics: async () => (await operator?.registry.metrics()) ?? '',
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
  },
});
beforeAll(async () => {
  platform = await Platform.start();
  await server.start();
  prometheus = await Prometheus.start([{role: 'operator', port: server.port()}]);
});
afterEach(async () => {
  for (const domain of (await platform.client.list(customDomains)).items)
    await platform.client.delete(customDomains, keyOf(domain));
  await operator?.stop();
  operator = undefined;
});
afterAll(async () => {
  await prometheus?.stop();
  await server.stop();
  await platform?.stop();
});

async function start(change: Settings = {}): Promise<void> {
  operator = await RunningOperator.start(platform, change);
}

const isDue = (name: string, inMinutes = 0) => isDueBy(prometheus, name, inMinutes);
const expectDue = (name: string, inMinutes = 0) => eventually(() => isDue(name, inMinutes));
const expectOver = (name: string, inMinutes = 0) => eventually(async () => !(await isDue(name, inMinutes)));

/** A hostname that is proven, or will be, and nothing more is known of it. */
async function attached(): Promise<{customer: Customer; www: string}> {
  const customer = await Customer.deployed(platform);
  const www = customer.host('www');
  await customer.point([www]);
  return {customer, www};
}

test('A release at which nothing is wrong has no alert of the operator due, and says how long its hostname took', async () => {
  await start();
  await Customer.served(platform);
  await eventually(
    async () => (await prometheus.query('doorplate_verified_to_live_seconds_count{SELECTOR} == 1')).length > 0,
  );
  // Nobody runs the others here.
  await eventually(async () => {
    const due: string[] = [];
    for (const {alert} of alerts()) if (await isDue(alert)) due.push(alert);
    expect(due).toEqual(['DoorplateApiDown', 'DoorplateRedirectorDown']);
  }, aMomentMs);
});

test('DoorplateNotLeading: the lease is somebody else’s', async () => {
  const lease = 'doorplate-operator';
  const now = microTime(new Date());
  await platform.client.create<Lease>(leases, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {name: lease, namespace: home},
    spec: {holderIdentity: 'somebody_else', leaseDurationSeconds: 36_000, acquireTime: now, renewTime: now},
  });
  operator = await RunningOperator.standBy(platform, {leaderElection: {enabled: true, lease}});
  await expectDue('DoorplateNotLeading');
  await platform.client.delete(leases, `${home}/${lease}`);
  await expectOver('DoorplateNotLeading');
});

test('DoorplateReconcileErrors: the API server refuses what is written', async () => {
  await start();
  await Customer.served(platform);
  operator!.proxy.fate = ({method}) => (method === 'GET' ? 'forward' : {status: 500});
  const {customer, www} = {customer: await Customer.create(platform), www: 'www.none.test'};
  await customer.deploy('web');
  await customer.attach('web', www);
  await expectDue('DoorplateReconcileErrors');
  operator!.spare();
});

test('DoorplateEdgeNotServing: the edge presents another certificate', async () => {
  await start();
  const {customer, www} = await attached();
  platform.edge.darken(www, true);
  await customer.attach('web', www);
  await expectDue('DoorplateEdgeNotServing', 11);
  expect(await isDue('DoorplateEdgeNotServing')).toBe(false);
  platform.edge.darken(www, false);
  await expectOver('DoorplateEdgeNotServing', 11);
});

test('DoorplateIssuanceStalled: cert-manager does not deliver', async () => {
  await start({issuanceStalledAfter: '1s'});
  const {customer, www} = await attached();
  platform.certManager.hold(www);
  await customer.attach('web', www);
  await expectDue('DoorplateIssuanceStalled');
  await platform.certManager.issue(www);
  await expectOver('DoorplateIssuanceStalled');
});

test('DoorplateOrderBudgetNearlyUsed: the account may make one order, and has', async () => {
  // What other tests have ordered counts, too.
  await start({budgets: {account: [{limit: 1, per: '1h'}]}});
  const {customer, www} = await attached();
  await customer.attach('web', www);
  await expectDue('DoorplateOrderBudgetNearlyUsed');
});

test('DoorplateCertificateRequestedRepeatedly: cert-manager renews a certificate twice as soon as it is issued', async () => {
  await start();
  const customer = await Customer.served(platform);
  const [certificate] = (await platform.client.list(certificates, {namespace: customer.namespace})).items;
  const [hostname = ''] = certificate!.spec.dnsNames;
  const renew = async (orders: number) => {
    const now = await platform.client.get(certificates, keyOf(certificate!));
    const issuing = {
      type: 'Issuing',
      status: 'True',
      reason: 'Renewing',
      message: '',
      lastTransitionTime: timestamp(Date.now()),
    };
    await platform.client.patch<Certificate>(
      certificates,
      keyOf(certificate!),
      {status: {conditions: [...(now?.status?.conditions ?? []), issuing]}},
      {type: 'merge', subresource: 'status'},
    );
    await eventually(async () => {
      const {status} = (await platform.client.get(certificates, keyOf(certificate!)))!;
      return platform.certManager.orders.get(hostname) === orders && status?.revision === orders;
    });
  };
  await renew(2);
  await expectOver('DoorplateCertificateRequestedRepeatedly');
  await renew(3);
  await expectDue('DoorplateCertificateRequestedRepeatedly');
});

test('DoorplateCertificatesExpiring: a certificate ends tomorrow and was not renewed', async () => {
  await start();
  const customer = await Customer.served(platform);
  const [certificate] = (await platform.client.list(certificates, {namespace: customer.namespace})).items;
  const say = (ends: number, renewed: number) =>
    platform.client.patch<Certificate>(
      certificates,
      keyOf(certificate!),
      {status: {notAfter: timestamp(Date.now() + ends), renewalTime: timestamp(Date.now() + renewed)}},
      {type: 'merge', subresource: 'status'},
    );
  await say(day, -day);
  await expectDue('DoorplateCertificatesExpiring');
  await say(90 * day, 60 * day);
  await expectOver('DoorplateCertificatesExpiring');
});

test('DoorplateDNSUnreachable: a name server is silent', async () => {
  await start();
  const {customer, www} = await attached();
  platform.dns.silence(www, true);
  await customer.attach('web', www);
  for (let i = 0; i < 3; i++) {
    await customer.change(customDomains, 'web', {metadata: {annotations: {'doorplate.dev/requestedAt': `${i}`}}});
    await eventually(async () => (await customer.domain('web'))?.status?.lastHandledReconcileAt === `${i}`);
  }
  await expectDue('DoorplateDNSUnreachable');
  platform.dns.silence(www, false);
});

test('DoorplateWaitsForPlatform: the Plan of an Account is not there', async () => {
  await start();
  const {customer, www} = await attached();
  await customer.change(accounts, customer.namespace, {spec: {planRef: {name: 'none'}}});
  await customer.attach('web', www);
  await expectDue('DoorplateWaitsForPlatform', 31);
  await customer.change(accounts, customer.namespace, {spec: {planRef: {name: 'pro'}}});
  await expectOver('DoorplateWaitsForPlatform', 31);
});

test('DoorplatePreflightFailed: there is no issuer', async () => {
  await start({issuerRef: {name: 'none'}});
  await expectDue('DoorplatePreflightFailed');
});

test('DoorplateAdmissionPolicyOpen: the policy only warns', async () => {
  await start({admissionPolicy: {mode: 'Warn'}});
  await expectDue('DoorplateAdmissionPolicyOpen');
});

test('DoorplatePlainHttpContested: somebody has an Ingress without a host', async () => {
  await start({plainHttp: {shared: true}});
  const backend = {service: {name: 'another', port: {number: 80}}};
  await platform.client.create<Ingress>(ingresses, {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {name: 'another', namespace: 'default'},
    spec: {ingressClassName: ingressClass, rules: [{http: {paths: [{path: '/', pathType: 'Prefix', backend}]}}]},
  });
  await expectDue('DoorplatePlainHttpContested');
  await platform.client.delete(ingresses, 'default/another');
  await expectOver('DoorplatePlainHttpContested');
});
