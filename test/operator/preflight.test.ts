/** What the operator asks before the first order, on a real API server: what it tells of an issuer that cannot issue, by Events on its Pod and by its metric. */
import {afterAll, afterEach, beforeAll, expect, test} from '@jest/globals';
import type {AcmeIssuer} from '../../operator/api/foreign.ts';
import {certificates, clusterIssuers} from '../../operator/resources/resources.ts';
import {worldOf} from '../../operator/roles/preflight.ts';
import {keyOf} from '../../operator/kube/objects.ts';
import {Customer} from '../support/customer.ts';
import {events} from '../../operator/kube/writes/events.ts';
import {eventually} from '../support/kube-api.ts';
import {RunningOperator, type Settings} from '../support/operator.ts';
import {home, Platform} from '../support/platform.ts';

let platform: Platform;
let operator: RunningOperator;
beforeAll(async () => {
  platform = await Platform.start();
});
afterEach(() => operator.stop());
afterAll(() => platform?.stop());

/** What the metric says of each question, once it says anything. */
async function metricOf(settings: Settings): Promise<Record<string, string>> {
  operator = await RunningOperator.start(platform, settings);
  return eventually(async () => {
    const lines = (await operator.registry.metrics()).matchAll(/^doorplate_preflight_ok\{question="(\w+)"\} (\d)$/gm);
    const said = Object.fromEntries([...lines].map(([, question, value]) => [question!, value!]));
    if (Object.keys(said).length === 0) throw new Error('it says nothing yet');
    return said;
  });
}
const well = {wildcard: '1', dns: '1', issuer: '1', edge: '1'};
const notes = async () =>
  (await platform.client.list(events, {namespace: home})).items
    .filter(({reason}) => reason === 'PreflightFailed')
    .map(({regarding, note}) => `${regarding?.kind} ${note}`);

test('Where all is there, it says so by its metric, and writes no Event', async () => {
  expect(await metricOf({})).toEqual(well);
  await operator.rest();
  expect(await notes()).toEqual([]);
});

test.each<[string, Pick<AcmeIssuer, 'spec' | 'status'> | undefined, string]>([
  ['is not there', undefined, 'No: There is no ClusterIssuer NAME. Create it'],
  [
    'is not ready',
    {
      spec: {acme: {server: 'https://ca.test/dir'}},
      status: {
        conditions: [
          {
            type: 'Ready',
            status: 'False',
            reason: 'ErrRegister',
            message: 'away',
            lastTransitionTime: '2026-11-01T00:00:00Z',
          },
        ],
      },
    },
    'No: ClusterIssuer NAME is not ready: ErrRegister: away. kubectl describe clusterissuer.cert-manager.io NAME',
  ],
  [
    'has a solver of another class',
    {
      spec: {
        acme: {server: 'https://ca.test/dir', solvers: [{http01: {ingress: {ingressClassName: 'nginx'}}}]},
      },
      status: {
        conditions: [
          {type: 'Ready', status: 'True', reason: 'Test', message: '', lastTransitionTime: '2026-11-01T00:00:00Z'},
        ],
      },
    },
    'No: It is ready, but its solver uses the class nginx. Set http01.ingress.ingressClassName to edge',
  ],
])('An issuer that %s is told of by an Event on its Pod and by its metric', async (situation, written, note) => {
  const name = situation.replaceAll(' ', '-');
  if (written) {
    const {spec, status} = written;
    const kind = {apiVersion: 'cert-manager.io/v1', kind: 'ClusterIssuer'};
    await platform.client.create<AcmeIssuer>(clusterIssuers, {...kind, metadata: {name}, ...(spec && {spec})});
    await platform.client.patch(clusterIssuers, name, {status}, {type: 'merge', subresource: 'status'});
  }
  expect(await metricOf({issuerRef: {name}})).toEqual({...well, issuer: '0'});
  const expected = note.replaceAll('NAME', name);
  await eventually(async () => (await notes()).some((of) => of.startsWith('Pod ') && of.includes(expected)));
});

test("cert-manager's feature gate ACMEUseARI is seen by the status of a Certificate, and told of by an Event and the metric", async () => {
  expect(await metricOf({})).toEqual(well);
  const customer = await Customer.served(platform);
  await operator.stop();
  const [certificate] = (await platform.client.list(certificates, {namespace: customer.namespace})).items;
  const ari = {nextCheck: new Date(Date.now() + 21_600_000).toISOString()};
  await platform.client.patch(
    certificates,
    keyOf(certificate!),
    {status: {acme: {ari}}},
    {type: 'merge', subresource: 'status'},
  );
  expect(await metricOf({})).toEqual({...well, ari: '0'});
  const note = `for 1 certificates, such as ${keyOf(certificate!)}. Up to version 1.21.2`;
  await eventually(async () => (await notes()).some((of) => of.startsWith('Pod ') && of.includes(note)));

  // The Pod of helm test has no cache.
  const config = {settings: {dns: {recursive: []}}, policy: {issuers: []}};
  const world = worldOf({config, client: platform.client} as never, undefined as never);
  const sample = await world.certificates(new AbortController().signal);
  expect(sample.map(keyOf)).toContain(keyOf(certificate!));
});
