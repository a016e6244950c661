/** Retained Certificates with the kind Certificate of different versions of cert-manager, on a real API server. */
import {afterAll, afterEach, beforeAll, expect, test} from '@jest/globals';
import {certificateRequests, certificates, customDomains} from '../../operator/resources/resources.ts';
import type {Certificate} from '../../operator/api/foreign.ts';
import {isKindMissing} from '../../operator/kube/errors.ts';
import {keyOf} from '../../operator/kube/objects.ts';
import {type CertManagerVersion, certificateKind} from '../support/cert-manager-kinds.ts';
import {Customer} from '../support/customer.ts';
import {crds, eventually} from '../support/kube-api.ts';
import {RunningOperator, settingsFor} from '../support/operator.ts';
import {installKinds, type Kind, Platform} from '../support/platform.ts';

const kindOf = (version: CertManagerVersion): Kind => certificateKind(version) as unknown as Kind;
const {name: kindName} = kindOf('v1.20.3').metadata;

let platform: Platform;
let operator: RunningOperator | undefined;
beforeAll(async () => {
  platform = await Platform.start();
  await platform.client.delete(crds, kindName);
  await eventually(() => platform.client.list(certificates).then(() => false, isKindMissing));
  await installKinds(platform.client, [], [kindOf('v1.20.3')]);
});
afterEach(async () => {
  await operator?.stop();
  operator = undefined;
});
afterAll(async () => {
  // The next test that borrows the API server installs its own.
  await platform?.client.delete(crds, kindName);
  await platform?.stop();
});

/** An upgrade or downgrade of cert-manager's kinds. Resolves when the API server knows the fields of this version. */
async function install(version: CertManagerVersion): Promise<void> {
  const {metadata, spec} = kindOf(version);
  await platform.client.patch(crds, kindName, {metadata: {labels: metadata.labels}, spec}, {type: 'merge'});
  const tried = {
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata: {name: 'tried', namespace: 'default'},
    spec: {renewal: {policy: 'Disabled'}},
  } as unknown as Certificate;
  const isKnown = () =>
    platform.client.applyPatch(certificates, tried, {fieldManager: 'test', force: false, dryRun: true}).then(
      () => true,
      () => false,
    );
  await eventually(async () => (await isKnown()) === (version !== 'v1.20.3'));
}

async function start(): Promise<RunningOperator> {
  const {dns} = settingsFor(platform);
  return RunningOperator.start(platform, {
    defaultPlan: 'pro',
    dns: {...dns, waitSchedule: [{every: '1s', for: '24h'}]},
  });
}

/** The spec of the Certificate of a hostname that was served and removed, and the same Certificate after its return. */
async function retainedAndBack(): Promise<{retained: Certificate; back: Certificate; orders: number | undefined}> {
  const running = (operator = await start());
  const customer = await Customer.deployed(platform);
  const www = customer.host('www');
  await customer.point([www]);
  const serve = async () => {
    await customer.attach('web', www);
    const live = {[www]: 'Live Serving'};
    expect(await running.comesTo(() => customer.hosts('web'), live, {atLeastMs: 20_000})).toEqual(live);
  };
  await serve();
  await customer.remove(customDomains, 'web');
  expect(await running.comesTo(() => customer.holder(www), 'nobody')).toBe('nobody');
  await running.rest();
  const [retained] = (await platform.resting()).filter(({spec}) => spec.dnsNames.includes(www));
  await serve();
  await running.rest();
  const back = await platform.client.get(certificates, keyOf(retained!));
  return {retained: retained!, back: back!, orders: platform.certManager.orders.get(www)};
}

test.each<[CertManagerVersion, Certificate['spec']['renewal']]>([
  ['v1.20.3', undefined],
  ['v1.21.2', {policy: 'Disabled'}],
  ['v1.21.0', undefined],
  ['v1.20.3', undefined],
])('With the kinds of cert-manager %s the renewal of a retained Certificate is %j', async (version, renewal) => {
  await install(version);
  const {retained, back, orders} = await retainedAndBack();
  expect([retained.spec.renewal, retained.spec.renewBefore]).toEqual([renewal, '5m0s']);
  expect(back.metadata.uid).toBe(retained.metadata.uid);
  expect(back.spec).not.toHaveProperty('renewal');
  expect(back.spec).not.toHaveProperty('renewBefore');
  expect(orders).toBe(1);
});

test('A Certificate whose renewal is disabled comes back also after a downgrade to a version without the field', async () => {
  await install('v1.21.2');
  const running = (operator = await start());
  const customer = await Customer.served(platform);
  const [certificate] = (await platform.client.list(certificates, {namespace: customer.namespace})).items;
  await customer.remove(customDomains, 'web');
  await running.rest();
  const spec = async () => (await platform.client.get(certificates, keyOf(certificate!)))?.spec;
  expect((await spec())?.renewal).toEqual({policy: 'Disabled'});
  await install('v1.20.3');
  expect(await spec()).not.toHaveProperty('renewal');
  await customer.attach('web', certificate!.spec.dnsNames[0]!);
  const serving = {[certificate!.spec.dnsNames[0]!]: 'Live Serving'};
  expect(await running.comesTo(() => customer.hosts('web'), serving, {atLeastMs: 20_000})).toEqual(serving);
  expect(platform.certManager.orders.get(certificate!.spec.dnsNames[0]!)).toBe(1);
  expect((await platform.client.list(certificateRequests, {namespace: customer.namespace})).items).toHaveLength(1);
});
