/**
 * The chart is uninstalled, and its namespace deleted, while a client asks over and over; and installed again. Alone on the cluster. All
 * orders, with the kinds and where no Pod runs: test/operator/uninstall.test.ts.
 */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {certificateRequests} from '../../operator/resources/resources.ts';
import {acmeRoot, api, eventually, install, kubectl, sh} from '../../cluster/cluster.ts';
import {issuanceIsOver} from '../support/issuances.ts';
import {Tenant} from '../support/tenant.ts';
import {constantClient, servedBy} from '../support/visitor.ts';

const waiting = ['--wait', '--timeout', '300s'];
let ca: string;
let served: Tenant;
/** Served with a redirect, and deleted while no operator runs. */
let gone: Tenant;
beforeAll(async () => {
  [ca, served, gone] = await Promise.all([acmeRoot(), Tenant.create('served', {}), Tenant.create('gone')]);
  for (const tenant of [served, gone]) {
    await tenant.records({www: tenant.proof, old: tenant.proof});
    await tenant.attach('site', tenant.host('www'), [{from: tenant.host('old')}]);
  }
  await Promise.all([served, gone].map((tenant) => tenant.wait('site', 'Ready')));
  await issuanceIsOver([served, gone].flatMap((tenant) => [tenant.host('www'), tenant.host('old')]));
});
afterAll(async () => {
  await install();
  await Promise.all([served?.remove(), gone?.remove()]);
});

/** Certificates that were asked for, by the UIDs of their requests. */
const requests = async (): Promise<string[]> =>
  (await api().list(certificateRequests)).items.map(({metadata}) => String(metadata.uid)).toSorted();

const remove = (tenant: Tenant) =>
  kubectl(['delete', 'customdomain', 'site', '-n', tenant.namespace, '--timeout=300s']);

test('between uninstalling and installing again no request fails, redirects among them, nothing is ordered, and what is deleted goes', async () => {
  const client = await constantClient([served.host('www'), served.host('old'), served.target], ca);
  const before = await requests();
  await sh('helm', ['uninstall', 'doorplate', '-n', 'doorplate-system', ...waiting]);
  expect((await sh('helm', ['list', '-n', 'doorplate-system', '-q'])).split('\n')).not.toContain('doorplate');
  await remove(gone);
  const meanwhile = new Set(await requests());
  await install();
  await eventually(
    'what stood for its redirect is gone',
    async () =>
      (await sh('kubectl', ['get', 'ingresses,certificates', '-n', 'doorplate-system', '-o', 'yaml'])).includes(
        gone.zone,
      ) === false,
  );
  await served.wait('site', 'Ready');
  const {failed, requests: asked} = await client.stop();
  console.log(`${asked} requests, ${failed.length} failed`);
  expect(failed).toEqual([]);
  expect([...meanwhile, ...(await requests())].filter((uid) => !before.includes(uid))).toEqual([]);
});

test('its namespace is deleted without a word to it: what is not in there is served on, and what is deleted goes', async () => {
  const client = await constantClient([served.host('www'), served.target], ca);
  await kubectl(['delete', 'namespace', 'doorplate-system', '--timeout=300s']);
  const {failed} = await client.stop();
  // Plain HTTP of all hostnames went with it.
  expect(failed.filter(({said}) => !said.startsWith('http:'))).toEqual([]);
  await servedBy(served.host('www'), served, ca);
  await remove(served);
});
