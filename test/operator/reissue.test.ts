/** Reissue: a new key by one order, within the budget, while the former certificate is served. */
import {X509Certificate} from 'node:crypto';
import {afterAll, afterEach, beforeAll, describe, expect, test} from '@jest/globals';
import {reissueAnnotation} from '../../operator/api/custom-domain.ts';
import {certificates, customDomains} from '../../operator/resources/resources.ts';
import {keyOf} from '../../operator/kube/objects.ts';
import {Customer} from '../support/customer.ts';
import {RunningOperator} from '../support/operator.ts';
import {Platform} from '../support/platform.ts';

let platform: Platform;
let operator: RunningOperator;
beforeAll(async () => {
  platform = await Platform.start();
});
afterEach(async () => {
  await operator?.stop();
});
afterAll(async () => {
  await platform?.stop();
});

/** Longer than the allowance for clocks (clockSkewMs). */
const atLeastMs = 15_000;

async function expectSoon<T>(read: () => Promise<T>, expected: T): Promise<void> {
  expect(await operator.comesTo(read, expected, {atLeastMs})).toEqual(expected);
}

const request = async (customer: Customer, value = new Date().toISOString()): Promise<string> => {
  const {metadata} = (await customer.domain('web'))!;
  const patch = {metadata: {annotations: {[reissueAnnotation]: value}}};
  await platform.client.patch(customDomains, keyOf({metadata}), patch, {type: 'merge'});
  return value;
};

/** The public key that is served for a hostname. */
async function servedKey(hostname: string): Promise<string | undefined> {
  const {items} = await platform.client.list(certificates);
  const found = items.find(({spec}) => spec.dnsNames.includes(hostname));
  const pair = found && platform.certManager.secret(keyOf(found));
  return pair && new X509Certificate(pair.cert).publicKey.export({type: 'spki', format: 'pem'}).toString();
}

const entry = async (customer: Customer) => (await customer.domain('web'))?.status?.hosts?.[0];
const handled = async (customer: Customer) => (await customer.domain('web'))?.status?.lastHandledReissueAt;
const orders = async (hostname: string) => platform.certManager.orders.get(hostname);

describe('A reissue', () => {
  test('serves the former certificate until the new one is there, by one order, and a restart orders nothing more', async () => {
    operator = await RunningOperator.start(platform);
    const customer = await Customer.served(platform);
    const www = customer.host('www');
    const former = await servedKey(www);
    platform.certManager.hold(www);
    const value = await request(customer);
    await expectSoon(() => orders(www), 2);
    await operator.rest();
    expect([await servedKey(www), (await customer.hosts('web'))[www]]).toEqual([former, 'Live Serving']);
    expect((await entry(customer))?.message).toContain('The current certificate is served until then.');
    expect(await handled(customer)).toBeUndefined();

    await operator.stop();
    operator = await RunningOperator.start(platform);
    await operator.rest();
    expect(await orders(www)).toBe(2);

    await platform.certManager.issue(www);
    await expectSoon(() => handled(customer), value);
    expect((await entry(customer))?.message).toBe(`${www} is served over TLS.`);
    expect(await servedKey(www)).not.toBe(former);
    await operator.rest();
    expect(await orders(www)).toBe(2);
  });

  test('waits for room in the budget of the hostname, and status says so', async () => {
    operator = await RunningOperator.start(platform, {budgets: {certificates: [{limit: 1, per: '1h'}]}});
    const customer = await Customer.served(platform);
    const www = customer.host('www');
    await request(customer);
    await expectSoon(
      async () => (await entry(customer))?.message.includes('has used its budget of certificates'),
      true,
    );
    await operator.rest();
    expect([await orders(www), (await customer.hosts('web'))[www]]).toEqual([1, 'Live Serving']);
  });

  test('replaces the certificate of a hostname that was removed and is added again', async () => {
    operator = await RunningOperator.start(platform);
    const customer = await Customer.served(platform);
    const www = customer.host('www');
    const former = await servedKey(www);
    await customer.remove(customDomains, 'web');
    await expectSoon(() => customer.holder(www), 'nobody');
    await customer.attach('web', www);
    const value = await request(customer);
    // The request may be handled before the hostname is verified again. It holds for the certificate that returns, too.
    await expectSoon(() => handled(customer), value);
    await expectSoon(async () => [await orders(www), (await servedKey(www)) === former], [2, false]);
    await expectSoon(async () => (await customer.hosts('web'))[www], 'Live Serving');
  });
});
