/** What is left of claims when Projects and hostnames go. */
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test} from '@jest/globals';
import {
  customDomains,
  domainClaims,
  endpointSlices,
  namespaces,
  projects,
  services,
} from '../../operator/resources/resources.ts';
import {Customer} from '../support/customer.ts';
import {eventually} from '../support/kube-api.ts';
import {RunningOperator, type Settings} from '../support/operator.ts';
import {patience} from '../support/patience.ts';
import {Platform, zone} from '../support/platform.ts';

let platform: Platform;
let operator: RunningOperator;
beforeAll(async () => {
  platform = await Platform.start();
});
afterAll(async () => {
  await platform?.stop();
});

/** Each test of a describe has an operator with these settings. */
const withOperator = (change: Settings = {}) => {
  beforeEach(async () => {
    operator = await RunningOperator.start(platform, change);
  });
  afterEach(() => operator?.stop());
};

/** The claims of default hosts that there are. */
const claimedHosts = async (): Promise<string[]> =>
  (await platform.client.list(domainClaims)).items
    .map(({metadata: {name}}) => name)
    .filter((name) => name.endsWith(`.${zone}`));

const numbered = Array.from({length: 50}, (_, i) => `p${i}`);

describe('A tenant that makes Projects and deletes them', () => {
  withOperator();

  test.each([
    ['with an Account', true],
    ['without one', false],
  ])('leaves no claim behind: %s', async (_, owned) => {
    const customer = await Customer.create(platform);
    if (!owned)
      await customer.change(namespaces, customer.namespace, {metadata: {labels: {'doorplate.dev/account': null}}});
    await operator.rest();
    for (const name of numbered) await customer.publish(name);
    expect(await operator.comesTo(async () => (await claimedHosts()).length, numbered.length)).toBe(numbered.length);
    for (const name of numbered) await customer.remove(projects, name);
    expect(await operator.comesTo(claimedHosts, [])).toEqual([]);
  });

  test('has the same host again for a Project of the same name', async () => {
    const customer = await Customer.deployed(platform);
    const host = await customer.target();
    await customer.remove(projects, 'web');
    expect(await operator.comesTo(() => customer.holder(host), undefined)).toBeUndefined();
    await customer.publish('web');
    expect(await customer.target()).toBe(host);
    await customer.remove(projects, 'web');
    expect(await operator.comesTo(claimedHosts, [])).toEqual([]);
  });
});

describe('A tenant that adds hostnames that it has proven, and removes them', () => {
  withOperator({budgets: {account: [{limit: 1, per: '1h'}], registeredDomain: [{limit: 1000, per: '7d'}]}});

  test('leaves a claim behind for those that had a Certificate, and for no other', async () => {
    const customer = await Customer.deployed(platform);
    const www = customer.host('www');
    const [dropped, deleted] = ['a', 'b'].map((round) => numbered.map((label) => customer.host(`${label}.${round}`)));
    await customer.point([www, ...dropped!, ...deleted!]);
    const claimed = async () =>
      (await platform.client.list(domainClaims)).items
        .map(({metadata: {name}}) => name)
        .filter((name) => name.endsWith(customer.zone))
        .toSorted();
    const redirect = (sources: readonly string[]) =>
      customer.change(customDomains, 'web', {spec: {redirects: sources.map((from) => ({from, status: 301}))}});
    const areQueued = async () =>
      Object.values(await customer.hosts('web')).filter((said) => said === 'Verified IssuanceQueued').length;
    const slow = {atLeastMs: patience(60_000)};
    const before = Date.now();
    await customer.attach('web', www);
    await eventually(async () => (await customer.hosts('web'))[www] === 'Live Serving');
    // Times of claims are whole seconds: within that of its start the operator does not know what was before it.
    await eventually(() => Math.floor(Date.now() / 1000) > Math.floor(before / 1000));

    await redirect(dropped!);
    expect(await operator.comesTo(areQueued, numbered.length, slow)).toBe(numbered.length);
    await redirect([]);
    expect(await operator.comesTo(claimed, [www], slow)).toEqual([www]);

    await redirect(deleted!);
    expect(await operator.comesTo(areQueued, numbered.length, slow)).toBe(numbered.length);
    await customer.remove(customDomains, 'web');
    expect(await operator.comesTo(() => customer.holder(www), 'nobody', slow)).toBe('nobody');
    expect(await operator.comesTo(claimed, [www], slow)).toEqual([www]);
  });
});

describe('A default host with a certificate of its own', () => {
  withOperator({platform: {zone, tls: 'PerProject'}});

  test('keeps its claim for its tenant while its orders count, and they count again for the next Project of its name', async () => {
    const customer = await Customer.deployed(platform);
    const host = await customer.target();
    const ordersOf = async () => (await platform.client.get(domainClaims, host))?.status?.orders?.length;
    await eventually(() => platform.certManager.orders.get(host) === 1);
    // On a busy machine an order is counted there before its request stands.
    await platform.certManager.idle();
    await operator.rest();
    for (const kind of [projects, services, endpointSlices]) await customer.remove(kind, 'web');
    expect(await operator.comesTo(() => customer.holder(host), 'nobody')).toBe('nobody');
    expect(await ordersOf()).toBe(1);
    const {quarantinedUntil = ''} = (await platform.client.get(domainClaims, host))?.status ?? {};
    // A week, as the longest budget counts.
    expect(Date.parse(quarantinedUntil) - Date.now()).toBeGreaterThan(6.9 * 86_400_000);
    await customer.publish('web');
    expect(await operator.comesTo(() => customer.holder(host), 'Project web')).toBe('Project web');
    expect(await ordersOf()).toBe(1);
  });
});

describe('A tenant that comes back after a leader whose clock was a day ahead', () => {
  test('has its hostname at once, with the certificate that it had', async () => {
    const {now} = Date;
    jest.spyOn(Date, 'now').mockImplementation(() => now() + 86_400_000);
    operator = await RunningOperator.start(platform);
    const customer = await Customer.served(platform);
    const www = customer.host('www');
    await operator.rest();
    await customer.remove(customDomains, 'web');
    expect(await operator.comesTo(() => customer.holder(www), 'nobody')).toBe('nobody');
    await operator.stop();
    jest.restoreAllMocks();
    operator = await RunningOperator.start(platform);
    await customer.attach('again', www);
    const live = {[www]: 'Live Serving'};
    expect(await operator.comesTo(() => customer.hosts('again'), live)).toEqual(live);
    expect(platform.certManager.orders.get(www)).toBe(1);
    await operator.stop();
  });
});
