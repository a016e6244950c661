/** An operator that stands by while another leads, and takes over. */
import {afterAll, afterEach, beforeAll, describe, expect, jest, test} from '@jest/globals';
import {customDomains, ingressClasses} from '../../operator/resources/resources.ts';
import {leases, type Lease} from '../../operator/kube/leader/lease.ts';
import {microTime} from '../../operator/kube/objects.ts';
import {Customer} from '../support/customer.ts';
import {eventually} from '../support/kube-api.ts';
import {RunningOperator} from '../support/operator.ts';
import {home, Platform} from '../support/platform.ts';

const hour = 3_600_000;
const lease = 'doorplate-operator';
const elected = {leaderElection: {enabled: true, lease}};

let platform: Platform;
const running: RunningOperator[] = [];
beforeAll(async () => {
  platform = await Platform.start();
});
afterEach(async () => {
  jest.restoreAllMocks();
  for (const operator of running.splice(0)) await operator.stop();
  await platform.client.delete(leases, `${home}/${lease}`);
});
afterAll(() => platform?.stop());

const noted = (operator: RunningOperator): RunningOperator => {
  running.push(operator);
  return operator;
};

/** Whether it says when the first certificate expires: 1, or 0. */
const certificates = async ({registry}: RunningOperator) =>
  (await registry.getSingleMetric('doorplate_certificate_expiry_timestamp_seconds')!.get()).values.length;

/** How many keys wait for a worker. */
const waiting = async ({registry}: RunningOperator) =>
  (await registry.getSingleMetric('workqueue_depth')!.get()).values.reduce((sum, {value}) => sum + value, 0);

/** Somebody leads who does nothing, until the lease is given back. */
async function somebodyLeads(): Promise<{giveBack: () => Promise<unknown>}> {
  const now = microTime(new Date());
  await platform.client.create<Lease>(leases, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {name: lease, namespace: home},
    spec: {holderIdentity: 'somebody_else', leaseDurationSeconds: 36_000, acquireTime: now, renewTime: now},
  });
  return {
    giveBack: () =>
      platform.client.patch<Lease>(leases, `${home}/${lease}`, {spec: {holderIdentity: ''}}, {type: 'merge'}),
  };
}

describe('A standby', () => {
  test('writes and counts nothing while another leads, takes over when that one stops, and orders nothing twice', async () => {
    const first = noted(await RunningOperator.start(platform, elected));
    const standby = noted(await RunningOperator.standBy(platform, elected));
    const before = await Customer.served(platform);
    const writes = () => standby.proxy.seen.filter((s) => s.method !== 'GET');
    expect(writes()).toEqual([]);
    expect([await certificates(first), await certificates(standby)]).toEqual([1, 0]);
    expect(await waiting(standby)).toBe(0);
    await first.stop();
    await standby.leads;
    expect(await certificates(standby)).toBe(1);
    const after = await Customer.served(platform);
    await standby.rest();
    const orders = [before, after].map((customer) => platform.certManager.orders.get(customer.host('www')));
    expect(orders).toEqual([1, 1]);
  });

  test('that has stood by for longer than the interval of re-checks does not ask for all hostnames at once', async () => {
    const first = noted(await RunningOperator.start(platform));
    const customer = await Customer.deployed(platform);
    const hostnames = Array.from({length: 12}, (_, i) => customer.host(`n${i}`));
    await customer.point(hostnames);
    await customer.attach('web', hostnames[0]!, hostnames.slice(1));
    await eventually(async () => {
      const phases = Object.values(await customer.hosts('web'));
      return phases.length === hostnames.length && phases.every((phase) => phase.startsWith('Live '));
    });
    await first.stop();

    const {giveBack} = await somebodyLeads();
    const standby = noted(await RunningOperator.standBy(platform, elected));
    const {now} = Date;
    jest.spyOn(Date, 'now').mockImplementation(() => now() + 48 * hour);
    const known = new Map(hostnames.map((name) => [name, platform.dns.questions(name).length]));
    await giveBack();
    await standby.leads;
    await standby.rest();
    const anew = hostnames.filter((name) => platform.dns.questions(name).length > known.get(name)!);
    // Each has its moment of the day by its name, and for some name that is now.
    expect(anew.length).toBeLessThan(hostnames.length / 2);
  });

  test('whose watches are dead without notice knows what has happened when it takes over, and takes over within seconds', async () => {
    const first = noted(await RunningOperator.start(platform));
    const customer = await Customer.served(platform);
    await first.stop();
    const {giveBack} = await somebodyLeads();
    const standby = noted(await RunningOperator.standBy(platform, elected));
    await eventually(() => standby.proxy.openWatches >= 12);
    // A fake half-open network: its watches bring nothing more, and none of them ends.
    standby.proxy.holdWatches();
    const next = customer.host('next');
    await customer.point([next]);
    await customer.change(customDomains, 'web', {spec: {redirects: [{from: next, status: 301}]}});

    await giveBack();
    const from = performance.now();
    await standby.leads;
    console.log(`works ${((performance.now() - from) / 1000).toFixed(1)} s after the lease was free`);
    expect(performance.now() - from).toBeLessThan(20_000);
    // Within a time in which a dead watch is not noticed yet.
    const phase = async () => (await customer.hosts('web'))[next];
    await eventually(async () => (await phase()) === 'Live Redirecting', 30_000).catch(() => {});
    expect(await phase()).toBe('Live Redirecting');
  });

  test('whose class cannot be the edge refuses to stand by: a rolling upgrade stops there, and who leads goes on', async () => {
    const alb = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'IngressClass',
      metadata: {name: 'alb'},
      spec: {controller: 'ingress.k8s.aws/alb'},
    };
    await platform.client.create(ingressClasses, alb);
    await somebodyLeads();
    const standby = RunningOperator.standBy(platform, {...elected, ingressClassName: 'alb'}).then(noted);
    await expect(standby).rejects.toThrow('IngressClass alb cannot be the edge');
  });
});
