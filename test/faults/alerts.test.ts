/**
 * Each alert by its cause, of the release as a cluster runs it: its Pods are found and scraped by a real Prometheus. The causes stand side
 * by side. When an alert then fires: test/observability.
 */
import {execFile} from 'node:child_process';
import {promisify} from 'node:util';
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {apply, env, eventually, install, kubectl} from '../../cluster/cluster.ts';
import {managedBy, ownerLabel} from '../../operator/resources/labels.ts';
import {alerts, isDue} from '../support/alerts.ts';
import {causes, withCauses} from '../support/causes.ts';
import {stopCertManager} from '../support/cert-manager.ts';
import {Prometheus} from '../support/prometheus.ts';
import {Tenant} from '../support/tenant.ts';

const home = 'doorplate-system';
const rival = {apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: {name: 'rival', namespace: 'default'}};
const webhook = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: {name: 'alerts-nobody-answers'},
};
const absent = {apiVersion: 'cert-manager.io/v1', kind: 'ClusterIssuer', metadata: {name: 'alerts-absent'}};
const planless = {apiVersion: 'doorplate.dev/v1alpha1', kind: 'Account', metadata: {name: 'alerts-planless'}};
/** A customer for each cause that takes one; the hostname `www` of each is proven. */
const tenants: Tenant[] = [];
let fresh: Tenant[] = [];
let prometheus: Prometheus;
let demandPlans: (() => Promise<unknown>) | undefined;

const wereDue = new Set<string>();

async function expectDue(name: string, inMinutes = 0): Promise<void> {
  await eventually(`${name} is due in ${inMinutes} minutes`, () => isDue(prometheus, name, inMinutes));
  wereDue.add(name);
}
const expectOver = (name: string) => eventually(`${name} is over`, async () => !(await isDue(prometheus, name)));

const scale = (namespace: string, name: string, replicas: number) =>
  kubectl(['scale', 'deployment', '-n', namespace, name, `--replicas=${replicas}`]);
const rolledOut = (namespace: string, name: string) =>
  kubectl(['rollout', 'status', `deployment/${name}`, '-n', namespace, '--timeout=300s']);
const kindOfAccounts = ['crd', 'accounts.doorplate.dev'];
const changeKind = (...patch: object[]) =>
  kubectl(['patch', ...kindOfAccounts, '--type=json', '-p', JSON.stringify(patch)]);
/** Has the kind of Accounts accept those without a plan; returns what undoes that. Helm owns the kind as before, then. */
async function letAccountsHaveNoPlan(): Promise<() => Promise<unknown>> {
  const found = await kubectl(['get', ...kindOfAccounts, '-o', 'json', '--show-managed-fields']);
  const {managedFields} = (JSON.parse(found) as {metadata: {managedFields: object[]}}).metadata;
  const path = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/required';
  await changeKind({op: 'remove', path});
  return async () => {
    await changeKind({op: 'add', path, value: ['planRef']});
    await changeKind({op: 'replace', path: '/metadata/managedFields', value: managedFields});
  };
}
const stopped = ['doorplate-operator', 'doorplate-redirector', 'doorplate-api'];

/** The next of the customers. */
function customer(): Tenant {
  const tenant = fresh.pop();
  if (tenant === undefined) throw new Error('there are more causes than customers');
  return tenant;
}
const attach = (tenant: Tenant) => tenant.attach('site', tenant.host('www'));

beforeAll(async () => {
  await withCauses();
  prometheus = await Prometheus.start({kubeconfig: env().kubeconfig});
  await Promise.all(
    Array.from({length: 5}, async () => {
      const tenant = await Tenant.create('alert');
      tenants.push(tenant);
      await tenant.records({www: tenant.proof});
    }),
  );
  fresh = [...tenants];
});
afterAll(async () => {
  // What others stand on, first.
  await scale('cert-manager', 'cert-manager', 1);
  for (const name of stopped) await scale(home, name, 1);
  await kubectl(['delete', '--ignore-not-found', `validatingwebhookconfiguration/${webhook.metadata.name}`]);
  await kubectl(['delete', '--ignore-not-found', '-n', 'default', 'ingress/rival']);
  await kubectl(['delete', '--ignore-not-found', `clusterissuer/${absent.metadata.name}`]);
  await kubectl(['delete', '--ignore-not-found', `account/${planless.metadata.name}`]);
  await demandPlans?.();
  await rolledOut('cert-manager', 'cert-manager');
  await Promise.all(tenants.map((tenant) => tenant.remove()));
  await prometheus?.stop();
});

test('Where all runs, none of the Pods of the release is missed', async () => {
  for (const name of ['DoorplateNotLeading', 'DoorplateApiDown', 'DoorplateRedirectorDown']) await expectOver(name);
});

test('DoorplateAdmissionPolicyOpen: the policy only warns', () => expectDue('DoorplateAdmissionPolicyOpen'));

test('DoorplatePreflightFailed: nobody listens where the edge is looked at', () =>
  expectDue('DoorplatePreflightFailed'));

// The hostnames of the demo are Live.
test('DoorplateEdgeAddressFails: nobody listens where the edge is looked at', () =>
  expectDue('DoorplateEdgeAddressFails'));

test('DoorplateLimitsStoreDown: there is no Valkey', () => expectDue('DoorplateLimitsStoreDown'));

test('DoorplatePlainHttpContested: somebody has an Ingress without a host', async () => {
  const backend = {service: {name: 'nobody', port: {number: 80}}};
  const spec = {ingressClassName: 'traefik', rules: [{http: {paths: [{path: '/', pathType: 'Prefix', backend}]}}]};
  await apply([{...rival, spec}]);
  await expectDue('DoorplatePlainHttpContested');
  await kubectl(['delete', '-n', 'default', 'ingress/rival']);
  await expectOver('DoorplatePlainHttpContested');
});

test('DoorplateWaitsForPlatform: the Plan of an Account is not there', async () => {
  const tenant = customer();
  await tenant.onPlan('none');
  await attach(tenant);
  await expectDue('DoorplateWaitsForPlatform', 31);
});

test('DoorplateReconcileErrors: a webhook for what the operator writes does not answer', async () => {
  const tenant = customer();
  const matchLabels = {'kubernetes.io/metadata.name': tenant.namespace};
  const hook = {
    name: 'nobody.answers.test',
    clientConfig: {service: {name: 'nobody', namespace: 'default'}},
    namespaceSelector: {matchLabels},
    rules: [
      {apiGroups: ['doorplate.dev'], apiVersions: ['*'], operations: ['UPDATE'], resources: ['customdomains/status']},
    ],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  await apply([{...webhook, webhooks: [hook]}]);
  await attach(tenant);
  await expectDue('DoorplateReconcileErrors');
  await kubectl(['delete', `validatingwebhookconfiguration/${webhook.metadata.name}`]);
});

test('DoorplateDNSUnreachable: a name server refuses the connection', async () => {
  const tenant = customer();
  await tenant.records({www: undefined, '@': `IN NS ns.${tenant.zone}.`, ns: 'IN A 198.51.100.1'});
  // More than what else is checked on the cluster.
  const others = Array.from({length: 9}, (_, i) => ({from: tenant.host(`other${i}`)}));
  await tenant.attach('site', tenant.host('www'), others);
  await expectDue('DoorplateDNSUnreachable');
});

test('DoorplateEdgeNotServing: nobody listens where the edge is looked at; then, cert-manager stopped, DoorplateCertificatesExpiring and DoorplateIssuanceStalled', async () => {
  const [served, late] = [customer(), customer()];
  await attach(served);
  await served.reason('site', 'EdgeUnreachable');
  await expectDue('DoorplateEdgeNotServing', 11);
  expect(await isDue(prometheus, 'DoorplateEdgeNotServing')).toBe(false);

  await stopCertManager();
  await attach(late);
  // No clock is stepped: what its status says of the certificate that is there stands in for the time.
  const [name] = (await kubectl(['get', 'certificates', '-n', served.namespace, '-o', 'name'])).trim().split('\n');
  const [day, now] = [86_400_000, Date.now()];
  const at = (ms: number) => new Date(now + ms).toISOString().replace(/\.\d+/, '');
  const status = {notBefore: at(-60 * day), notAfter: at(day), renewalTime: at(-day)};
  const patch = ['--subresource=status', '--type=merge', '-p', JSON.stringify({status})];
  await kubectl(['patch', '-n', served.namespace, name ?? '', ...patch]);
  await expectDue('DoorplateCertificatesExpiring');
  await loseCertificateOfDemo(at(0));
  await expectDue('DoorplateCertificateLost');
  await late.reason('site', 'IssuanceStalled');
  await expectDue('DoorplateIssuanceStalled');
});

/** Has the Certificate of a Live hostname not Ready. cert-manager corrects that when it is back. */
async function loseCertificateOfDemo(lastTransitionTime: string): Promise<void> {
  const names = (await kubectl(['get', 'certificates', '-n', 'acme', '-o', 'name'])).trim().split('\n');
  const name = names.find((each) => each.includes('/docs-customer-test-')) ?? '';
  const ready = {type: 'Ready', status: 'False', reason: 'DoesNotExist', message: 'Secret does not exist'};
  const status = {conditions: [{...ready, lastTransitionTime}]};
  const patch = ['--subresource=status', '--type=merge', '-p', JSON.stringify({status})];
  await kubectl(['patch', '-n', 'acme', name, ...patch]);
}

test('DoorplateOrderBudgetNearlyUsed: the account may make one order a day, and has', async () => {
  await install([...causes(), 'budgets.account[0].limit=1', 'budgets.account[0].per=24h']);
  await expectDue('DoorplateOrderBudgetNearlyUsed');
});

test('DoorplateIssuerUnavailable: nothing listens at the ACME directory of the second of two issuers', async () => {
  const acme = {
    server: 'https://127.0.0.1:9/directory',
    privateKeySecretRef: {name: absent.metadata.name},
    solvers: [],
  };
  await apply([{...absent, spec: {acme}}]);
  await install([
    ...causes(),
    'issuerRef.name=',
    'budgets=null',
    'issuers[0].issuerRef.name=pebble',
    `issuers[1].issuerRef.name=${absent.metadata.name}`,
  ]);
  await expectDue('DoorplateIssuerUnavailable');
});

test('DoorplateCertificateRequestedRepeatedly: a program requests a certificate three times', async () => {
  const request = await certificateSigningRequest();
  const [{namespace}] = tenants as [Tenant];
  const annotations = {'cert-manager.io/certificate-name': 'alerts'};
  await apply(
    [1, 2, 3].map((n) => ({
      apiVersion: 'cert-manager.io/v1',
      kind: 'CertificateRequest',
      metadata: {name: `alerts-${n}`, namespace, annotations, labels: {...managedBy, [ownerLabel]: 'alerts'}},
      spec: {request, issuerRef: {name: 'nobody'}},
    })),
  );
  await expectDue('DoorplateCertificateRequestedRepeatedly');
});

/** A certificate signing request (PKCS #10), base64-encoded for `spec.request` of a CertificateRequest. */
async function certificateSigningRequest(): Promise<string> {
  const newKey = ['-newkey', 'rsa:2048', '-nodes', '-keyout', '/dev/null'];
  const {stdout} = await promisify(execFile)('openssl', ['req', ...newKey, '-subj', '/CN=alerts.test']);
  return Buffer.from(stdout).toString('base64');
}

test('DoorplateNotLeading, DoorplateRedirectorDown, DoorplateApiDown: their Deployments are scaled to none', async () => {
  const down = ['DoorplateNotLeading', 'DoorplateRedirectorDown', 'DoorplateApiDown'];
  for (const name of stopped) await scale(home, name, 0);
  for (const name of down) await expectDue(name);
  for (const name of stopped) await scale(home, name, 1);
  for (const name of stopped) await rolledOut(home, name);
  for (const name of down) await expectOver(name);
});

test('DoorplateObjectsUnreadable: the kinds are of a release in which an Account need not name a plan', async () => {
  demandPlans = await letAccountsHaveNoPlan();
  await eventually('an Account without a plan is accepted', async () => {
    await apply([{...planless, spec: {}}]);
    return true;
  });
  await expectDue('DoorplateObjectsUnreadable');
  await kubectl(['delete', 'account', planless.metadata.name]);
  await demandPlans();
  demandPlans = undefined;
  await expectOver('DoorplateObjectsUnreadable');
});

test('No alert has been left out', () => {
  const names = alerts().map(({alert}) => alert);
  expect(names.filter((name) => !wereDue.has(name))).toEqual([]);
});
