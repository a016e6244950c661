/**
 * Whatever the outside answers, who waits for it is decided anew: the edge, cert-manager, the order book, the issuer.
 * All that looks again by itself is set to an hour.
 */
import {createServer, type Server} from 'node:https';
import type {AddressInfo} from 'node:net';
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from '@jest/globals';
import {caaIdentities} from '../../operator/acme/directory.ts';
import type {AcmeChallenge, AcmeIssuer, AcmeOrder} from '../../operator/api/foreign.ts';
import {
  acmeChallenges,
  acmeOrders,
  certificateRequests,
  clusterIssuers,
  customDomains,
  projects,
} from '../../operator/resources/resources.ts';
import {Customer} from '../support/customer.ts';
import {RunningOperator, settingsFor} from '../support/operator.ts';
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

async function expectSoon<T>(read: () => Promise<T>, expected: T, options?: {atLeastMs?: number}): Promise<void> {
  expect(await operator.comesTo(read, expected, options)).toEqual(expected);
}

/** A hostname reads so, as `Live Serving`, and the operator is at rest. */
async function expectHost(
  customer: Customer,
  hostname: string,
  expected: string,
  options?: {atLeastMs?: number},
): Promise<void> {
  await expectSoon(async () => (await customer.hosts('web'))[hostname], expected, options);
  await operator.rest();
}

/** A customer that has attached `www` with the right record. */
async function attached(): Promise<{customer: Customer; www: string}> {
  const customer = await Customer.deployed(platform);
  const www = customer.host('www');
  await customer.point([www]);
  await customer.attach('web', www);
  return {customer, www};
}

/** The same, and cert-manager has its order and does not end it. */
async function issuing(): Promise<{customer: Customer; www: string}> {
  const customer = await Customer.deployed(platform);
  const www = customer.host('www');
  platform.certManager.hold(www);
  await customer.point([www]);
  await customer.attach('web', www);
  await expectHost(customer, www, 'Verified Issuing');
  return {customer, www};
}

/** Starts the operator with room for so many orders more. */
async function startWithRoomFor(
  orders: number,
  {tls = 'Wildcard'}: {tls?: 'Wildcard' | 'PerProject'} = {},
): Promise<void> {
  const made = [...platform.certManager.orders.values()].reduce((sum, n) => sum + n, 0);
  const settings = {
    budgets: {account: [{limit: made + orders, per: '1h'}]},
    platform: {...settingsFor(platform).platform, tls},
  };
  operator = await RunningOperator.start(platform, settings);
}

/** How many orders everybody who is there would have. */
async function wanted(): Promise<number> {
  const [all, domains] = [await platform.client.list(projects), await platform.client.list(customDomains)];
  const waiting = domains.items
    .flatMap(({status}) => status?.hosts ?? [])
    .filter(({reason}) => reason === 'IssuanceQueued');
  return all.items.length + waiting.length;
}
const projectReason = async (customer: Customer) =>
  (await customer.project('web'))?.status?.conditions?.find(({type}) => type === 'Ready')?.reason;

const uidOf = (customer: Customer) => customer.domain('web').then((d) => d?.metadata.uid ?? '');

describe('DNS', () => {
  beforeEach(async () => {
    operator = await RunningOperator.start(platform);
  });

  test('answers after a silence: status says what it found', async () => {
    const customer = await Customer.deployed(platform);
    const www = customer.host('www');
    platform.dns.silence(www, true);
    await customer.attach('web', www);
    await expectHost(customer, www, 'AwaitingVerification CheckPending');
    platform.dns.silence(www, false);
    // It is asked again after a while in which it was silent.
    await expectHost(customer, www, 'AwaitingVerification RecordMissing', {atLeastMs: 10_000});
  });
});

describe('The edge', () => {
  beforeEach(async () => {
    operator = await RunningOperator.start(platform);
  });

  test('presents the certificate after a while: the hostname goes Live', async () => {
    const customer = await Customer.deployed(platform);
    const www = customer.host('www');
    platform.edge.darken(www, true);
    await customer.point([www]);
    await customer.attach('web', www);
    // A wrong answer is told only after a while.
    await expectSoon(async () => (await customer.hosts('web'))[www], 'Verified EdgeNotServing', {atLeastMs: 10_000});
    platform.edge.darken(www, false);
    await expectHost(customer, www, 'Live Serving', {atLeastMs: 10_000});
  });
});

describe('cert-manager', () => {
  beforeEach(async () => {
    operator = await RunningOperator.start(platform);
  });

  test('reports the Certificate ready after its request: the hostname goes Live', async () => {
    const {customer, www} = await issuing();
    await platform.certManager.issue(www, 'Request');
    await operator.rest();
    await platform.certManager.issue(www, 'Certificate');
    await expectHost(customer, www, 'Live Serving');
  });

  test('has lost a failed request, and the mark for another was not taken: it is made all the same', async () => {
    const {customer, www} = await issuing();
    await platform.certManager.fail(www, 'the order is invalid');
    await operator.rest();
    let refused = 0;
    operator.proxy.fate = ({method, url}) =>
      method === 'PATCH' && /\/certificates\/[^/]+\/status$/.test(url.pathname) && refused++ === 0
        ? {status: 504}
        : 'forward';
    await customer.change(customDomains, 'web', {
      metadata: {annotations: {'doorplate.dev/requestedAt': new Date().toISOString()}},
    });
    await expectSoon(async () => platform.certManager.orders.get(www), 2, {atLeastMs: 20_000});
    expect(refused).toBe(2);
  });

  test('has failed a request, and a fresh attempt cannot be written: status names that, and the request is answered when it has begun', async () => {
    const {customer, www} = await issuing();
    await platform.certManager.fail(www, 'the order is invalid');
    await operator.rest();
    const message = 'failed calling webhook "requests.example.com": connection refused';
    const body = JSON.stringify({kind: 'Status', status: 'Failure', reason: 'InternalError', message});
    operator.proxy.fate = ({method, url}) =>
      method === 'DELETE' && url.pathname.includes('/certificaterequests/') ? {status: 500, body} : 'forward';
    const value = new Date().toISOString();
    await customer.change(customDomains, 'web', {metadata: {annotations: {'doorplate.dev/requestedAt': value}}});
    await expectHost(customer, www, 'Verified WriteFailed');
    const {hosts, lastHandledReconcileAt} = (await customer.domain('web'))!.status!;
    expect(hosts?.[0]?.message).toContain(message);
    expect(lastHandledReconcileAt).not.toBe(value);
    operator.spare();
    await expectSoon(async () => (await customer.domain('web'))?.status?.lastHandledReconcileAt, value, {
      atLeastMs: 60_000,
    });
    // The stand-in orders when it sees that the request is deleted.
    await expectSoon(async () => platform.certManager.orders.get(www), 2);
  });

  test('reports a failed request, and the reason in its Challenge: status quotes the reason', async () => {
    const {customer, www} = await issuing();
    const uid = await uidOf(customer);
    const [request] = (await platform.client.list(certificateRequests, {namespace: customer.namespace})).items;
    const owned = (name: string, kind: string, by: {kind: string; metadata: {name: string; uid?: string}}) => ({
      apiVersion: 'acme.cert-manager.io/v1',
      kind,
      metadata: {
        name,
        namespace: customer.namespace,
        labels: {'doorplate.dev/owner-uid': uid},
        ownerReferences: [{apiVersion: 'v1', kind: by.kind, name: by.metadata.name, uid: by.metadata.uid ?? ''}],
      },
    });
    const order = await platform.client.create<AcmeOrder>(acmeOrders, owned('order', 'Order', request!));
    await platform.client.create<AcmeChallenge>(acmeChallenges, owned('challenge', 'Challenge', order));
    await platform.client.patch(
      acmeChallenges,
      `${customer.namespace}/challenge`,
      {status: {state: 'invalid', reason: 'the moon was in the way'}},
      {type: 'merge', subresource: 'status'},
    );
    const {promise: read, resolve: answer} = Promise.withResolvers<void>();
    let asked = 0;
    operator.proxy.fate = ({url}) =>
      url.pathname.includes('/acme.cert-manager.io/') && ++asked > 0 ? {until: read} : 'forward';
    // One after the other, so that each is heard of by itself: the request, and what was read of the Challenge.
    await platform.certManager.fail(www, 'the order is invalid', 'Request');
    await expectSoon(async () => asked > 0, true);
    await operator.rest();
    answer();
    await expectSoon(
      async () => (await customer.domain('web'))?.status?.hosts?.[0]?.message.includes('the moon was in the way'),
      true,
    );
  });
});

describe('The order book', () => {
  test('has room again after somebody withdraws: the next in line gets its certificate', async () => {
    await startWithRoomFor(1);
    const customer = await Customer.deployed(platform);
    const www = customer.host('www');
    platform.certManager.ignore(www);
    await customer.point([www]);
    await customer.attach('web', www);
    await expectHost(customer, www, 'Verified Issuing');
    const next = await attached();
    await expectHost(next.customer, next.www, 'Verified IssuanceQueued');
    await customer.remove(customDomains, 'web');
    await expectHost(next.customer, next.www, 'Live Serving');
  });

  test('is filled from the cluster after a restart: earlier orders still count', async () => {
    await startWithRoomFor(1);
    const [first, second] = [await attached(), await Customer.deployed(platform)];
    await expectHost(first.customer, first.www, 'Live Serving');
    await operator.stop();
    await startWithRoomFor(0);
    const www = second.host('www');
    await second.point([www]);
    await second.attach('web', www);
    await expectHost(second, www, 'Verified IssuanceQueued');
  });
});

describe("A tenant's share of the account's budget", () => {
  test('counts orders from before a restart: a tenant without any goes first', async () => {
    await startWithRoomFor(20);
    const greedy = await Customer.deployed(platform);
    const [www, ...others] = ['www', 'a', 'b', 'c', 'd'].map((label) => greedy.host(label)) as [string, ...string[]];
    await greedy.point([www, ...others]);
    await greedy.attach('web', www, others.slice(0, 3));
    await expectSoon(
      async () => Object.values(await greedy.hosts('web')).filter((said) => said.startsWith('Live')).length,
      4,
      // Each is seen on the edge by a look of its own, which has its timer.
      {atLeastMs: 20_000},
    );
    await operator.stop();
    await startWithRoomFor(0);
    await greedy.change(customDomains, 'web', {spec: {redirects: others.map((from) => ({from, status: 301}))}});
    await expectHost(greedy, others[3]!, 'Verified IssuanceQueued');
    const modest = await attached();
    await expectHost(modest.customer, modest.www, 'Verified IssuanceQueued');
    expect((await modest.customer.domain('web'))?.status?.hosts?.[0]?.message).toContain('at position 1 ');
  });
});

describe('The certificate of a default host', () => {
  test('waits in line, and is ordered when there is room', async () => {
    await startWithRoomFor((await wanted()) + 2, {tls: 'PerProject'});
    const [holder, next] = [await Customer.deployed(platform), await Customer.create(platform)];
    const www = holder.host('www');
    platform.certManager.ignore(www);
    await holder.point([www]);
    await holder.attach('web', www);
    await expectHost(holder, www, 'Verified Issuing');
    await expectSoon(wanted, (await platform.client.list(projects)).items.length);
    await next.deploy('web');
    await expectSoon(() => projectReason(next), 'IssuanceQueued');
    await holder.remove(customDomains, 'web');
    await expectSoon(() => projectReason(next), 'Serving');
  });
});

describe('The issuer', () => {
  let directory: Server;
  afterEach(() => {
    directory?.close();
    directory?.closeAllConnections();
  });

  test('learns late how the CA is named: CAA records are then checked for hostnames that wait for their order', async () => {
    const {promise: asked, resolve: answer} = Promise.withResolvers<void>();
    const own = await platform.certManager.keyPair('localhost');
    directory = createServer(
      own,
      (_, res) => void asked.then(() => res.end(JSON.stringify({meta: {caaIdentities: ['ca.test']}}))),
    );
    await new Promise<void>((resolve) => directory.listen(0, 'localhost', resolve));
    const server = `https://localhost:${(directory.address() as AddressInfo).port}/dir`;
    await platform.client.create<AcmeIssuer>(clusterIssuers, {
      apiVersion: 'cert-manager.io/v1',
      kind: 'ClusterIssuer',
      metadata: {name: 'late'},
      spec: {acme: {server, caBundle: Buffer.from(own.cert).toString('base64')}},
    });
    operator = await RunningOperator.start(
      platform,
      {
        issuerRef: {name: 'late'},
        caaIdentities: [],
        budgets: {registeredDomain: [{limit: 1, per: '1h'}]},
      },
      // What stands before the answer may take a slow machine longer than the ten seconds of a directory.
      {askCa: (of, options) => caaIdentities(of, {...options, timeoutMs: 900_000})},
    );

    const {customer, www} = await attached();
    await expectHost(customer, www, 'Live Serving');
    const old = customer.host('old');
    await customer.point([old]);
    await customer.change(customDomains, 'web', {spec: {redirects: [{from: old, status: 301}]}});
    await expectHost(customer, old, 'Verified IssuanceBudgetExhausted');
    platform.dns.forbid(old);
    answer();
    // By a connection of its own: what else the operator does says nothing of how far that is.
    await expectHost(customer, old, 'Verified CAABlocksIssuer', {atLeastMs: 30_000});
  });
});
