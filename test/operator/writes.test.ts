/** What the operator writes, and in which order: a real API server saw it. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {hostsOf} from '../../operator/controllers/state/rendering.ts';
import {certificates, customDomains, ingresses, projects} from '../../operator/resources/resources.ts';
import type {CustomDomain, Ingress} from '../../operator/api/foreign.ts';
import {isRetained} from '../../operator/domain/certificates/certificate.ts';
import {events} from '../../operator/kube/writes/events.ts';
import {Customer} from '../support/customer.ts';
import {padToTheBrim} from '../support/padding.ts';
import {eventually} from '../support/kube-api.ts';
import type {Seen} from '../support/kube-proxy.ts';
import {isWrite, RunningOperator} from '../support/operator.ts';
import {ingressClass, Platform} from '../support/platform.ts';

const foreign = 'test.doorplate.dev/held';
let platform: Platform;
let operator: RunningOperator;
beforeAll(async () => {
  platform = await Platform.start();
  // However busy the machine is, nobody waits so long for a look at the DNS or at the edge.
  operator = await RunningOperator.start(platform, {}, {pace: {patienceMs: 600_000}});
});
afterAll(async () => {
  await operator?.stop();
  await platform?.stop();
});

/** The Events about a customer's CustomDomains. The operator writes them after the status. */
const eventsOf = async ({namespace}: Customer) =>
  (await platform.client.list(events, {namespace})).items.filter(({regarding}) => regarding?.kind === 'CustomDomain');

async function expectSoon<T>(read: () => Promise<T>, expected: T): Promise<void> {
  expect(await operator.comesTo(read, expected)).toEqual(expected);
}

/**
 * What was written since `from`, in the order in which the API server was asked: `DELETE ingresses`, `PATCH
 * customdomains/status`; repetitions once. Of these kinds alone: when an Account's status is written, or a CertificateRequest
 * that is done with is deleted, depends on how busy the machine is.
 */
function writesSince(from: number): string[] {
  const all = everyWriteSince(from);
  return all.filter((write, i) => write !== all[i - 1]);
}

/** The same, with repetitions. */
function everyWriteSince(from: number): string[] {
  return operator.proxy.seen
    .slice(from)
    .filter(isWrite)
    .flatMap(({method, url}) => {
      const [path] = /(customdomains|projects|domainclaims|certificates|ingresses).*$/.exec(url.pathname) ?? [];
      if (path === undefined) return [];
      const [plural = '', , subresource] = path.split('/');
      return [`${method} ${plural}${subresource === undefined ? '' : `/${subresource}`}`];
    });
}

/** A customer whose hostname `www` is Live, and the UID of its CustomDomain. */
async function served(): Promise<{customer: Customer; www: string; uid: string}> {
  const customer = await Customer.served(platform);
  await operator.rest();
  return {customer, www: customer.host('www'), uid: (await customer.domain('web'))?.metadata.uid ?? ''};
}

const routes = async (host: string): Promise<Ingress[]> =>
  (await platform.client.list(ingresses)).items.filter((i) => hostsOf(i).includes(host));
/** A write of a CustomDomain itself, not of its status. */
const isOfSpec = (seen: Seen) => isWrite(seen) && seen.url.pathname.endsWith('/customdomains/web');
const setFinalizers = (customer: Customer, finalizers: string[]) =>
  customer.change(customDomains, 'web', {metadata: {finalizers}});

describe('A hostname that is attached', () => {
  test('is written in order, until it is Live: the finalizer, its claim, its routes, its proof in status, its certificate, and that it is Live', async () => {
    const customer = await Customer.deployed(platform);
    const www = customer.host('www');
    await customer.point([www]);
    await operator.rest();
    const from = operator.proxy.seen.length;
    await customer.attach('web', www);
    await expectSoon(async () => (await customer.hosts('web'))[www], 'Live Serving');
    await operator.rest();
    expect(everyWriteSince(from)).toEqual([
      'PATCH customdomains',
      'POST domainclaims',
      'PATCH ingresses',
      'PATCH customdomains/status',
      'PATCH certificates',
      'PATCH customdomains/status',
    ]);
    const reasonsTold = async () => (await eventsOf(customer)).map(({reason}) => reason).toSorted();
    await expectSoon(reasonsTold, ['Live', 'Verified']);
  });

  test('is not proven while resolvers disagree with its own name servers', async () => {
    const customer = await Customer.deployed(platform);
    const www = customer.host('www');
    await customer.point([www]);
    platform.dns.lag(www, true);
    await customer.attach('web', www);
    await expectSoon(async () => (await customer.hosts('web'))[www], 'AwaitingVerification PropagationPending');
    expect(await customer.holder(www)).toBeUndefined();
  });
});

describe('A CustomDomain that is removed', () => {
  test('loses its routes, then (once its claim knows their orders) its certificates rest, then the finalizer goes, and nothing serves it', async () => {
    const {customer, www, uid} = await served();
    const from = operator.proxy.seen.length;
    await customer.remove(customDomains, 'web');
    await expectSoon(() => customer.holder(www), 'nobody');
    expect(writesSince(from)).toEqual([
      'DELETE ingresses',
      'PATCH domainclaims',
      'PATCH certificates',
      'PATCH customdomains',
      'PATCH domainclaims',
    ]);
    await platform.certManager.idle();
    expect(await platform.children(uid)).toEqual([]);
  });

  test("and has somebody else's finalizer keeps that one, and says so", async () => {
    const {customer, uid} = await served();
    const finalizers = async (domain?: CustomDomain) => (domain ?? (await customer.domain('web')))?.metadata.finalizers;
    await setFinalizers(customer, [...((await finalizers()) ?? []), foreign]);
    await operator.rest();
    await customer.remove(customDomains, 'web');
    await expectSoon(
      async () => [(await customer.domain('web'))?.status?.phase, await finalizers()],
      ['Removing', [foreign]],
    );
    await setFinalizers(customer, []);
    await platform.certManager.idle();
    expect(await platform.children(uid)).toEqual([]);
  });

  test("and is kept by somebody else's finalizer passes its Project, hostnames and certificates on to the next one", async () => {
    const {customer, www} = await served();
    const before = platform.certManager.orders.get(www);
    await setFinalizers(customer, [...((await customer.domain('web'))?.metadata.finalizers ?? []), foreign]);
    await customer.attach('younger', www);
    await expectSoon(() => customer.hosts('younger'), {[www]: 'NotAccepted ProjectHasDomains'});
    await customer.remove(customDomains, 'web');
    await expectSoon(() => customer.hosts('younger'), {[www]: 'Live Serving'});
    expect(await customer.holder(www)).toBe('CustomDomain younger');
    expect(platform.certManager.orders.get(www)).toBe(before);
    expect((await customer.domain('web'))?.metadata.finalizers).toEqual([foreign]);
    await setFinalizers(customer, []);
    await operator.rest();
    expect(await customer.hosts('younger')).toEqual({[www]: 'Live Serving'});
  });

  test('with its finalizer taken off by force still loses its routes and certificates, and its hostname goes into quarantine', async () => {
    const {customer, www, uid} = await served();
    operator.proxy.fate = (seen) => (isWrite(seen) ? {status: 503} : 'forward');
    await customer.remove(customDomains, 'web');
    await setFinalizers(customer, []);
    expect(await customer.domain('web')).toBeUndefined();
    // The operator has seen a later change of a CustomDomain, so it knows that this one is gone.
    await customer.attach('later', customer.host('later'));
    await eventually(() => operator.proxy.seen.some(({url}) => url.pathname.endsWith('/customdomains/later')));
    await operator.rest();
    operator.spare();
    await expectSoon(() => customer.holder(www), 'nobody');
    await platform.certManager.idle();
    expect(await platform.children(uid)).toEqual([]);
  });
});

describe('A route that the API server refuses to change', () => {
  test('is reported in its words, holds up no removal, and is written when the obstacle is gone', async () => {
    const customer = await Customer.deployed(platform);
    const [www, old] = [customer.host('www'), customer.host('old')];
    await customer.point([www, old]);
    await customer.attach('web', www, [old]);
    await expectSoon(() => customer.hosts('web'), {[www]: 'Live Serving', [old]: 'Live Redirecting'});
    const route = (await routes(www)).find((i) => i.metadata.namespace === customer.namespace)!;
    const [ours] = route.metadata.ownerReferences ?? [];
    const theirs = {apiVersion: 'v1', kind: 'ConfigMap', name: 'mine', uid: 'a-uid', controller: true};
    const own = (ownerReferences: object[]) =>
      customer.change(ingresses, route.metadata.name, {metadata: {ownerReferences}});
    await own([{...ours, controller: false}, theirs]);
    await expectSoon(async () => (await customer.hosts('web'))[www], 'Verified WriteRefused');
    const {hosts} = (await customer.domain('web'))!.status!;
    expect(hosts?.[0]?.message).toMatch(
      /^Ingress .* could not be written, because the API server refuses it: .*Only one reference can have Controller set to true/,
    );
    await customer.change(customDomains, 'web', {spec: {redirects: null}});
    await expectSoon(() => routes(old), []);
    await own([{...ours}]);
    await expectSoon(() => customer.hosts('web'), {[www]: 'Live Serving'});
  });
});

/** As the API server answers where the webhook that it asks is away. */
const failed = (what: string) => {
  const message = `Internal error occurred: failed calling webhook "${what}.example.com": connection refused`;
  return {status: 500, body: JSON.stringify({kind: 'Status', status: 'Failure', reason: 'InternalError', message})};
};

const isOfCertificate = (seen: Seen): boolean => isWrite(seen) && seen.url.pathname.includes('/certificates/');

describe('While the API server fails at every write of a Certificate', () => {
  test('the other hostnames of a CustomDomain go on, a claim waits for its Certificate to rest, and status is quiet', async () => {
    const customer = await Customer.deployed(platform);
    const [www, old, next, last] = ['www', 'old', 'next', 'last'].map((name) => customer.host(name)) as [
      string,
      string,
      string,
      string,
    ];
    await customer.point([www, old, next]);
    await customer.attach('web', www, [old]);
    await expectSoon(() => customer.hosts('web'), {[www]: 'Live Serving', [old]: 'Live Redirecting'});
    await operator.rest();
    const redirectFrom = (...sources: string[]) =>
      customer.change(customDomains, 'web', {spec: {redirects: sources.map((from) => ({from, status: 301}))}});
    operator.proxy.fate = (seen) => (isOfCertificate(seen) ? failed('certificates') : 'forward');
    await redirectFrom(last);
    const missing = 'AwaitingVerification RecordMissing';
    await expectSoon(() => customer.hosts('web'), {[www]: 'Live Serving', [last]: missing});
    expect((await customer.domain('web'))?.status?.dnsRecords?.some(({hostname}) => hostname === last)).toBe(true);
    expect(await routes(old)).toEqual([]);

    await redirectFrom(next, last);
    const waiting = {[www]: 'Live Serving', [next]: 'Verified WriteFailed', [last]: missing};
    await expectSoon(() => customer.hosts('web'), waiting);
    expect((await customer.domain('web'))?.status?.hosts?.find(({hostname}) => hostname === next)?.message).toMatch(
      /^Certificate .* could not be written; Doorplate tries again. The API server reports: Internal error occurred: failed calling webhook/,
    );
    expect(await customer.holder(old)).toBe('CustomDomain web');
    // It is tried again with each change, and by itself after a pause that has grown.
    const wake = (value: string) =>
      customer.change(customDomains, 'web', {metadata: {annotations: {'test.doorplate.dev/wake': value}}});
    const from = operator.proxy.seen.length;
    await wake('one');
    await eventually(() => operator.proxy.seen.slice(from).filter(isOfCertificate).length >= 2);
    expect(writesSince(from)).toEqual(['PATCH certificates']);

    operator.spare();
    await wake('two');
    const redirecting = {[www]: 'Live Serving', [next]: 'Live Redirecting', [last]: missing};
    expect(await operator.comesTo(() => customer.hosts('web'), redirecting, {atLeastMs: 600_000})).toEqual(redirecting);
    await expectSoon(() => customer.holder(old), 'nobody');
    const certificate = (await platform.client.list(certificates)).items.find(({spec}) => spec.dnsNames[0] === old);
    expect(certificate && isRetained(certificate)).toBe(true);
  });
});

describe('While every write of a Certificate hangs until it fails', () => {
  // The breaker's own limit is 5 s (operator/kube/writes/breaker.ts).
  const hung = {...failed('certificates'), afterMs: 5_500};

  test('a hostname is removed after a few of them, however many wait', async () => {
    const customer = await Customer.deployed(platform);
    const [www, old] = [customer.host('www'), customer.host('old')];
    const waiting = Array.from({length: 40}, (_, i) => customer.host(`r${i}`));
    await customer.point([www, old, ...waiting]);
    await customer.attach('web', www, [old]);
    await expectSoon(() => customer.hosts('web'), {[www]: 'Live Serving', [old]: 'Live Redirecting'});
    await operator.rest();
    operator.proxy.fate = (seen) => (isOfCertificate(seen) ? hung : 'forward');
    const redirectFrom = (...sources: string[]) =>
      customer.change(customDomains, 'web', {spec: {redirects: sources.map((from) => ({from, status: 301}))}});
    await redirectFrom(old, ...waiting);
    const from = operator.proxy.seen.length;
    const begun = () => operator.proxy.seen.slice(from).filter(isOfCertificate).length;
    await eventually(() => begun() > 0, 60_000);
    await redirectFrom(...waiting);
    await eventually(async () => (await routes(old)).length === 0, 120_000);
    // Eight at once, and then one at a time.
    expect(begun()).toBeLessThan(waiting.length / 2);
    operator.spare();
    const live = Object.fromEntries(waiting.map((host) => [host, 'Live Redirecting']));
    const expected = {[www]: 'Live Serving', ...live};
    expect(await operator.comesTo(() => customer.hosts('web'), expected, {atLeastMs: 600_000})).toEqual(expected);
  });
});

describe('A change of 501 hostnames at once', () => {
  test('is told in a status every other second at most, and in one Event for each', async () => {
    const customer = await Customer.create(platform);
    const names = Array.from({length: 501}, (_, i) => customer.host(`n${i}`));
    const began = performance.now();
    await customer.attach('many', names[0]!, names.slice(1));
    const reasonsOf = async () => [...new Set(Object.values(await customer.hosts('many')))].toSorted();
    // A write of so large an object takes its time; so many names of one zone are looked up one after the other.
    const slow = {atLeastMs: 300_000};
    const refused = ['NotAccepted ProjectNotFound'];
    expect(await operator.comesTo(reasonsOf, refused, slow)).toEqual(refused);
    await customer.deploy('web');
    // The plan has room for 500.
    const waiting = ['AwaitingVerification RecordMissing', 'NotAccepted HostnameLimitReached'];
    expect(await operator.comesTo(reasonsOf, waiting, slow)).toEqual(waiting);
    await operator.rest();
    const statuses = operator.proxy.seen.filter(
      ({method, url}) => method === 'PATCH' && url.pathname.endsWith('/customdomains/many/status'),
    );
    const isTold = async () => (await eventsOf(customer)).some(({note}) => note?.includes(' Of other hostnames: 500 '));
    await expectSoon(isTold, true);
    const told = await eventsOf(customer);
    const tookMs = performance.now() - began;
    console.log(`${statuses.length} statuses in ${(tookMs / 1000).toFixed(1)} s`);
    // The first one is of none.
    expect(statuses.length).toBeLessThan(tookMs / 2000 + 5);
    expect(told.length).toBeGreaterThan(0);
    expect(told.length).toBeLessThanOrEqual(statuses.length);
  });
});

describe('A CustomDomain whose labels leave no room for its status', () => {
  test('says so and what to do, and has its whole status when there is room again', async () => {
    const customer = await Customer.create(platform);
    // Messages of these are longer than what is said while there is no Project.
    const [www, old] = ['w', 'o'].map((letter) => customer.host(Array(3).fill(letter.repeat(60)).join('.'))) as [
      string,
      string,
    ];
    await customer.attach('web', www, [old]);
    await expectSoon(() => customer.hosts('web'), {
      [www]: 'NotAccepted ProjectNotFound',
      [old]: 'NotAccepted ProjectNotFound',
    });
    const unpad = await padToTheBrim(platform.client, customDomains, `${customer.namespace}/web`);
    await customer.deploy('web');
    const ready = async () => (await customer.domain('web'))?.status?.conditions?.find((c) => c.type === 'Ready');
    // A write of so large an object takes its time.
    const slow = {atLeastMs: 60_000};
    expect(await operator.comesTo(async () => (await ready())?.reason, 'StatusTooLarge', slow)).toBe('StatusTooLarge');
    expect((await ready())?.message).toContain('Reduce or shorten its labels');
    expect((await customer.domain('web'))?.status?.hosts).toBeUndefined();
    await unpad();
    const missing = {[www]: 'AwaitingVerification RecordMissing', [old]: 'AwaitingVerification RecordMissing'};
    expect(await operator.comesTo(() => customer.hosts('web'), missing, slow)).toEqual(missing);
  });
});

describe('A CustomDomain that has no room for its finalizer', () => {
  test('loses its routes all the same when its Project is deleted', async () => {
    const {customer, www} = await served();
    operator.proxy.fate = (seen) => (isOfSpec(seen) ? {status: 503} : 'forward');
    await setFinalizers(customer, []);
    const unpad = await padToTheBrim(platform.client, customDomains, `${customer.namespace}/web`, {toTheByte: true});
    operator.spare();
    await customer.remove(projects, 'web');
    expect(await operator.comesTo(() => routes(www), [], {atLeastMs: 30_000})).toEqual([]);
    await unpad();
    await operator.rest();
  });
});

describe('A Project', () => {
  test('whose route the API server fails at has its host in status, is not Ready, and has its route when that works again', async () => {
    operator.proxy.fate = (seen) =>
      isWrite(seen) && seen.url.pathname.includes('/ingresses/') ? failed('ingresses') : 'forward';
    const customer = await Customer.create(platform);
    await customer.service('web');
    await customer.endpoints('web');
    await operator.rest();
    await customer.publish('web');
    const stands = async (type: string) => {
      const {conditions = []} = (await customer.project('web'))?.status ?? {};
      return conditions.find((c) => c.type === type);
    };
    await expectSoon(async () => (await stands('Ready'))?.reason, 'WriteFailed');
    expect((await customer.project('web'))?.status?.host).toMatch(/^web-/);
    operator.spare();
    const isReady = async () => (await stands('Ready'))?.status;
    expect(await operator.comesTo(isReady, 'True', {atLeastMs: 600_000})).toBe('True');
  });

  test('whose route the API server refuses says so in its words, and has it a minute later when nobody refuses it any more', async () => {
    const says = 'a policy of the cluster has denied this';
    const body = JSON.stringify({kind: 'Status', status: 'Failure', reason: 'Forbidden', message: says});
    operator.proxy.fate = (seen) =>
      isWrite(seen) && seen.url.pathname.includes('/ingresses/') ? {status: 403, body} : 'forward';
    const customer = await Customer.create(platform);
    await customer.deploy('web');
    const stands = async (type: string) => {
      const {conditions = []} = (await customer.project('web'))?.status ?? {};
      return conditions.find((c) => c.type === type);
    };
    await expectSoon(async () => (await stands('Stalled'))?.reason, 'WriteRefused');
    expect((await stands('Ready'))?.message).toContain(says);
    // Nothing else wakes it.
    await operator.rest();
    operator.spare();
    const isReady = async () => (await stands('Ready'))?.status;
    expect(await operator.comesTo(isReady, 'True', {atLeastMs: 180_000})).toBe('True');
  });

  test('gets routes for its default host when it is deployed, and loses them first when it is removed, in every namespace', async () => {
    const customer = await Customer.deployed(platform);
    const host = await customer.target();
    await expectSoon(async () => (await routes(host)).map((i) => i.spec.ingressClassName), [ingressClass]);
    await operator.rest();
    const from = operator.proxy.seen.length;
    await customer.remove(projects, 'web');
    await expectSoon(() => customer.holder(host), undefined);
    expect(writesSince(from)).toEqual(['DELETE ingresses', 'PATCH projects', 'DELETE domainclaims']);
    expect(await routes(host)).toEqual([]);
  });
});
