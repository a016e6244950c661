/** The routes of a hostname that is removed, or passes to another tenant, while requests of the operator fail. */
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from '@jest/globals';
import type {Certificate, DomainClaim, Ingress} from '../../operator/api/foreign.ts';
import {hostsOf} from '../../operator/controllers/state/rendering.ts';
import {certificates, customDomains, domainClaims, ingresses} from '../../operator/resources/resources.ts';
import {keyOf, type KubeObject} from '../../operator/kube/objects.ts';
import {Customer} from '../support/customer.ts';
import {eventually} from '../support/kube-api.ts';
import type {Fate, Seen} from '../support/kube-proxy.ts';
import {isWrite, RunningOperator} from '../support/operator.ts';
import {Platform} from '../support/platform.ts';

/** Within this time a removed hostname is no longer served, on a quiet machine; on a busy one the test allows ten times as much. */
const promisedMs = 2_000;
/** How many clients of a tenant take the finalizer off in a loop. */
const vandals = 24;

let platform: Platform;
let operator: RunningOperator;
beforeAll(async () => {
  platform = await Platform.start();
});
beforeEach(async () => {
  operator = await RunningOperator.start(platform);
});
afterEach(() => operator?.stop());
afterAll(() => platform?.stop());

const routesOf = async (host: string): Promise<Ingress[]> =>
  (await platform.client.list(ingresses)).items.filter((i) => hostsOf(i).includes(host));
const isRouted = async (host: string): Promise<boolean> => (await routesOf(host)).length > 0;

const redirectFrom = (customer: Customer, ...sources: string[]) =>
  customer.change(customDomains, 'web', {spec: {redirects: sources.map((from) => ({from, status: 301}))}});

const become = (customer: Customer, primary: string, redirects: string[] = []) =>
  customer.change(customDomains, 'web', {
    spec: {primary, redirects: redirects.map((from) => ({from, status: 301}))},
  });

/** A customer with `www` Live and a redirect from `old` that is Live. */
async function served(): Promise<{customer: Customer; www: string; old: string}> {
  const customer = await Customer.deployed(platform);
  const [www, old] = [customer.host('www'), customer.host('old')];
  await customer.point([www, old]);
  await customer.attach('web', www, [old]);
  const live = {[www]: 'Live Serving', [old]: 'Live Redirecting'};
  expect(await operator.comesTo(() => customer.hosts('web'), live)).toEqual(live);
  await operator.rest();
  return {customer, www, old};
}

/** For how long a hostname still had a route after this, ms. */
async function routedFor(host: string, begin: () => Promise<unknown>): Promise<number> {
  await begin();
  const from = performance.now();
  await eventually(async () => !(await isRouted(host)), 60_000);
  return performance.now() - from;
}

/** What a policy of the cluster says. */
const says = 'a policy of the cluster denies it';
const answer = (status: number, reason: string, message: string): Fate => ({
  status,
  body: JSON.stringify({kind: 'Status', status: 'Failure', reason, message}),
});

const noLeader = answer(500, 'InternalError', 'etcd has no leader');

const isClaimWrite = (seen: Seen): boolean => isWrite(seen) && seen.url.pathname.includes('/domainclaims');
const isStatusWrite = (seen: Seen): boolean => isWrite(seen) && seen.url.pathname.endsWith('/customdomains/web/status');
/** Starts an operator with a stale copy of the claims, from a fake API server replica that receives no updates. */
function startedWith(stale: {items: readonly KubeObject[]; resourceVersion: string}): Promise<RunningOperator> {
  const behind = {status: 200, body: JSON.stringify(listOf(stale))};
  const fate = ({method, url, isWatch}: Seen): Fate => {
    if (method !== 'GET' || !url.pathname.endsWith('/domainclaims')) return 'forward';
    return isWatch ? {delayMs: Infinity} : behind;
  };
  return RunningOperator.start(platform, {}, {fate});
}

/** The platform's word that a hostname is another's from now on. */
const giveAway = (host: string): Promise<DomainClaim> =>
  platform.client.patch<DomainClaim>(
    domainClaims,
    host,
    {
      spec: {tenant: {account: 'another'}, proof: 'Platform'},
      status: {holder: {kind: 'CustomDomain', namespace: 'another', name: 'web', uid: 'another'}},
    },
    {type: 'merge'},
  );
const isOfClaim = (host: string, {method, url}: Seen): boolean =>
  method === 'GET' && url.pathname.endsWith(`/domainclaims/${host}`);

describe('A hostname that is removed from the spec loses its routes within 2 s', () => {
  test.each([
    ['every write of a claim fails', isClaimWrite, answer(500, 'InternalError', 'failed calling webhook "claims"')],
    ['every write of a claim is refused', isClaimWrite, answer(403, 'Forbidden', says)],
    ['every write of its status conflicts', isStatusWrite, answer(409, 'Conflict', 'the object has been modified')],
  ])('while %s', async (what, isOf, answered) => {
    const {customer, www, old} = await served();
    const next = customer.host('next');
    await customer.point([next]);
    let failed = 0;
    operator.proxy.fate = (seen) => {
      if (!isOf(seen)) return 'forward';
      failed++;
      return answered;
    };
    await redirectFrom(customer, old, next);
    await eventually(() => failed >= 3, 60_000);
    const tookMs = await routedFor(old, () => redirectFrom(customer, next));
    console.log(`${what}: routes were gone after ${tookMs.toFixed(0)} ms`);
    expect(tookMs).toBeLessThan(10 * promisedMs);
    expect(await isRouted(www)).toBe(true);

    operator.spare();
    const live = {[www]: 'Live Serving', [next]: 'Live Redirecting'};
    expect(await operator.comesTo(() => customer.hosts('web'), live, {atLeastMs: 600_000})).toEqual(live);
  });

  test(`while ${vandals} clients take the finalizer off, over and over`, async () => {
    const {customer, old} = await served();
    const end = new AbortController();
    let taken = 0;
    const loops = Array.from({length: vandals}, async () => {
      for (; !end.signal.aborted; taken++) await customer.change(customDomains, 'web', {metadata: {finalizers: null}});
    });
    try {
      await eventually(() => taken > 10 * vandals, 60_000);
      const tookMs = await routedFor(old, () => redirectFrom(customer));
      console.log(`the finalizer taken off ${taken} times: routes were gone after ${tookMs.toFixed(0)} ms`);
      expect(tookMs).toBeLessThan(10 * promisedMs);
    } finally {
      end.abort();
      await Promise.all(loops);
    }
  });
});

describe('While a claim cannot be written', () => {
  test('its hostname says so in the words of the API server, the others go on, and it is served when it can be', async () => {
    const {customer, www, old} = await served();
    const next = customer.host('next');
    await customer.point([next]);
    await redirectFrom(customer);
    expect(await operator.comesTo(() => customer.holder(old), 'nobody')).toBe('nobody');
    // The claim of `old` exists: it is changed, and not made.
    operator.proxy.fate = ({method, url}) =>
      method === 'POST' && url.pathname.endsWith('/domainclaims') ? answer(403, 'Forbidden', says) : 'forward';
    await redirectFrom(customer, next, old);
    const refused = {
      [www]: 'Live Serving',
      [next]: 'AwaitingVerification WriteRefused',
      [old]: 'Live Redirecting',
    };
    expect(await operator.comesTo(() => customer.hosts('web'), refused)).toEqual(refused);
    const {message} = (await customer.domain('web'))!.status!.hosts!.find(({hostname}) => hostname === next)!;
    expect(message).toContain(`DomainClaim ${next}`);
    expect(message).toContain(says);

    operator.spare();
    const live = {...refused, [next]: 'Live Redirecting'};
    expect(await operator.comesTo(() => customer.hosts('web'), live, {atLeastMs: 600_000})).toEqual(live);
  });
});

const certificatesOf = async (host: string): Promise<string[]> =>
  (await platform.client.list<Certificate>(certificates)).items
    .filter((c) => c.spec.dnsNames.includes(host))
    .map(keyOf);

describe('A copy of a claim that is not up to date', () => {
  test('creates neither a route nor a Certificate for a hostname that has passed to another', async () => {
    const {customer, www, old} = await served();
    await operator.stop();
    const stale = await platform.client.list<DomainClaim>(domainClaims);
    await giveAway(old);
    for (const route of await routesOf(old)) await platform.client.delete(ingresses, keyOf(route));
    for (const key of await certificatesOf(old)) await platform.client.delete(certificates, key);

    operator = await startedWith(stale);
    const lost = 'AwaitingVerification HostnameClaimed';
    expect(await operator.comesTo(async () => (await customer.hosts('web'))[old], lost)).toBe(lost);
    await operator.rest();
    const created = operator.proxy.seen.filter(
      (seen) => isWrite(seen) && /\/(ingresses|certificates)\//.test(seen.url.pathname),
    );
    expect(created.map(({method, url}) => `${method} ${url.pathname}`)).toEqual([]);
    expect(await routesOf(old)).toEqual([]);
    expect(await certificatesOf(old)).toEqual([]);
    expect(await isRouted(www)).toBe(true);
  });

  test('costs one read for each new hostname, and none for one that is served', async () => {
    const {customer, www, old} = await served();
    const reads = (host: string) => operator.proxy.seen.filter((seen) => isOfClaim(host, seen)).length;
    expect([reads(www), reads(old)]).toEqual([1, 1]);
    // They are reconciled again, and nothing is created.
    await customer.change(customDomains, 'web', {metadata: {annotations: {'reconcile.fluxcd.io/requestedAt': 'now'}}});
    await operator.rest();
    expect([reads(www), reads(old)]).toEqual([1, 1]);
  });

  test('does not take the routes of its holder', async () => {
    const {customer, old} = await served();
    await operator.stop();
    const {spec, status} = (await platform.client.get(domainClaims, old))!;
    await giveAway(old);
    const stale = await platform.client.list<DomainClaim>(domainClaims);
    await platform.client.patch<DomainClaim>(domainClaims, old, {spec, status}, {type: 'merge'});
    const before = (await routesOf(old)).map(({metadata: {uid}}) => uid);

    operator = await startedWith(stale);
    await eventually(() => operator.proxy.seen.some((seen) => isOfClaim(old, seen)));
    await operator.rest();
    expect((await routesOf(old)).map(({metadata: {uid}}) => uid)).toEqual(before);
    expect((await customer.hosts('web'))[old]).toBe('Live Redirecting');
  });

  test('does not keep the routes of one who has lost it: the claim is read again until it can be read', async () => {
    const {customer, www, old} = await served();
    let failed = 0;
    operator.proxy.fate = (seen) => {
      // The other holder does not exist, so the operator would release the claim.
      if (isClaimWrite(seen)) return noLeader;
      if (!isOfClaim(old, seen) || failed >= 3) return 'forward';
      failed++;
      return noLeader;
    };
    await giveAway(old);
    await eventually(() => failed >= 3, 60_000);
    // Nothing else wakes it.
    expect(await operator.comesTo(() => isRouted(old), false, {atLeastMs: 30_000})).toBe(false);
    expect(await isRouted(www)).toBe(true);
    const lost = 'AwaitingVerification HostnameClaimed';
    expect(await operator.comesTo(async () => (await customer.hosts('web'))[old], lost)).toBe(lost);
  });
});

/** A list as the API server answers with it. */
const listOf = ({items, resourceVersion}: {items: readonly KubeObject[]; resourceVersion: string}) => ({
  kind: 'DomainClaimList',
  apiVersion: 'doorplate.dev/v1alpha1',
  metadata: {resourceVersion},
  items,
});

describe('The hostname that served last as primary', () => {
  test('is served on after it was a redirect source, by a new process, too; the annotation doorplate.dev/stop ends it', async () => {
    const customer = await Customer.served(platform);
    const [www, next] = [customer.host('www'), customer.host('next')];
    const waiting = 'AwaitingVerification RecordMissing';
    await operator.rest();
    await become(customer, next, [www]);
    const both = {[next]: waiting, [www]: 'Live Serving'};
    expect(await operator.comesTo(() => customer.hosts('web'), both)).toEqual(both);

    await become(customer, next);
    const left = {[next]: waiting, [www]: 'Live ServedUntilReplaced'};
    expect(await operator.comesTo(() => customer.hosts('web'), left)).toEqual(left);
    await operator.rest();
    await operator.stop();
    operator = await RunningOperator.start(platform);
    await operator.rest();
    expect([await customer.hosts('web'), await isRouted(www)]).toEqual([left, true]);

    const annotations = {'doorplate.dev/stop': www};
    const tookMs = await routedFor(www, () => customer.change(customDomains, 'web', {metadata: {annotations}}));
    expect(tookMs).toBeLessThan(promisedMs * 10);
    expect(await operator.comesTo(() => customer.hosts('web'), {[next]: waiting})).toEqual({[next]: waiting});
  });
});
