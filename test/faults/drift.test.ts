/** Rule 3 on a cluster whose platform is in a hurry: checks every second, confirmations within seconds, a short grace. */
import {afterAll, afterEach, beforeAll, expect, test} from '@jest/globals';
import {acmeRoot, env, eventually, fetchEdge, install, kubectl, setZone} from '../../cluster/cluster.ts';
import {failingDns} from '../support/failing.ts';
import {Tenant} from '../support/tenant.ts';

const graceSeconds = 12;
let tenant: Tenant;
let ca: string;
beforeAll(async () => {
  await install(['dns.recheckInterval=1s', 'dns.driftConfirmations={1s,2s,4s,6s}', `graceTime=${graceSeconds}s`, 'verificationExpiresAfter=20s', 'propagationTime=10s']);
  [tenant, ca] = [await Tenant.create('drift'), await acmeRoot()];
}, 150_000);
afterAll(async () => {
  await tenant?.remove();
  await install();
}, 180_000);

const pause = (ms: number) => new Promise((resolve) => { setTimeout(resolve, ms); });
const version = async () => (await tenant.get('site'))?.metadata.resourceVersion;
const clients = new Set<AbortController>();
afterEach(() => { for (const client of clients) client.abort(); });
/** Asks all the time; resolves, when stopped, with what was not answered as it should be. */
function constantClient(expected: Record<string, number>) {
  const stopping = new AbortController();
  clients.add(stopping);
  const wrong: string[] = [];
  const asking = (async () => {
    while (!stopping.signal.aborted) {
      for (const [host, status] of Object.entries(expected)) {
        const reply = await fetchEdge(`https://${host}/`, {ca}).catch((e: Error) => ({status: e.message}));
        if (reply.status !== status) wrong.push(`${host}: ${reply.status}`);
      }
      await pause(50);
    }
  })();
  return async () => { stopping.abort(); await asking; return wrong; };
}

test('a live hostname through timeouts, refused connections, SERVFAIL and REFUSED: no write to its object, and traffic never stops', async () => {
  const [www, old] = [tenant.host('www'), tenant.host('old')];
  await tenant.records({www: tenant.proof, old: tenant.proof});
  await tenant.attach('site', www, [{from: old}]);
  await tenant.wait('site', 'Ready');
  const before = await version();
  const stop = constantClient({[www]: 200, [old]: 301});
  const records = [`www ${tenant.proof}`, `old ${tenant.proof}`];
  const fake = '198.51.100.53';
  const blackHole = `${env().blackHole.split('/')[0]?.replace(/0$/, '1')}`;
  for (const [what, harm] of Object.entries({
    'a server that swallows questions': () => setZone(tenant.zone, [`@ IN NS ns.${tenant.zone}.`, `ns IN A ${blackHole}`]),
    'a server that refuses the connection': () => setZone(tenant.zone, [`@ IN NS ns.${tenant.zone}.`, 'ns IN A 198.51.100.1']),
    SERVFAIL: () => setZone(tenant.zone, [`@ IN NS ns.${tenant.zone}.`, `ns IN A ${fake}`]),
    REFUSED: () => setZone(tenant.zone, [`@ IN NS ns.${tenant.zone}.`, `ns IN A ${fake}`]),
  })) {
    const end = await (what === 'SERVFAIL' ? failingDns(fake, 2) : what === 'REFUSED' ? failingDns(fake, 5) : undefined);
    await harm();
    // Longer than a look that times out.
    await pause(what.startsWith('a ') ? 11_000 : 4000);
    expect(`${what}: ${await version()}`).toBe(`${what}: ${before}`);
    await setZone(tenant.zone, records);
    await end?.();
    await pause(1500);
  }
  expect(await version()).toBe(before);
  expect(await stop()).toEqual([]);
}, 180_000);

test('NXDOMAIN: degraded only after the confirmations, served for the grace time; put right in the meantime, as if nothing had been', async () => {
  const [www, old] = [tenant.host('www'), tenant.host('old')];
  const before = await tenant.get('site');
  const stop = constantClient({[www]: 200, [old]: 301});
  const began = Date.now();
  await tenant.record('www', undefined);
  await pause(4000);
  expect(await version()).toBe(before?.metadata.resourceVersion);
  const drifted = await tenant.hosts('site', [`${www} Live DNSDrifted`, `${old} Live Redirecting`], 30_000);
  console.log(`degraded ${((Date.now() - began) / 1000).toFixed(1)} s after the record went (confirmations 1, 2, 4 and 6 s)`);
  expect(Date.now() - began).toBeGreaterThan(6000);
  const conditions = Object.fromEntries((drifted.status?.conditions ?? []).map((c) => [c.type, c.status]));
  expect(conditions).toMatchObject({Accepted: 'True', Verified: 'False', Live: 'True', Ready: 'True'});
  expect(drifted.status?.dnsRecords?.[0]).toMatchObject({hostname: www, state: 'Missing'});
  await tenant.record('www', tenant.proof);
  const after = await tenant.hosts('site', [`${www} Live Serving`, `${old} Live Redirecting`], 30_000);
  expect(await stop()).toEqual([]);
  const timeless = (domain: typeof before) => domain?.status?.hosts?.map((h) => ({...h, since: ''}));
  expect(timeless(after)).toEqual(timeless(before));
  expect(await kubectl(['get', 'domainclaim', www, '-o', 'jsonpath={.status.negativeSince}'])).toBe('');
}, 120_000);

test('NXDOMAIN that lasts: after the grace time routes and certificate go and the claim stays; put right, it is Live again', async () => {
  const [www, old] = [tenant.host('www'), tenant.host('old')];
  const uid = (await tenant.get('site'))?.metadata.uid ?? '';
  await tenant.record('www', undefined);
  const drifted = await tenant.hosts('site', [`${www} Live DNSDrifted`, `${old} Live Redirecting`], 30_000);
  const until = Date.parse(drifted.status?.hosts?.[0]?.servedUntil ?? '');
  while (Date.now() < until - 500) expect((await fetchEdge(`https://${www}/`, {ca})).status).toBe(200);
  await tenant.hosts('site', [`${www} AwaitingVerification RecordMissing`, `${old} Live Redirecting`], 20_000);
  await eventually('it is served no more', async () => (await fetchEdge(`https://${www}/`)).status === 404, 10_000);
  expect((await tenant.children('certificates,ingresses', uid)).filter((c) => c.startsWith(tenant.namespace))).toEqual([]);
  expect((await kubectl(['get', 'domainclaim', www, '-o', 'jsonpath={.status.holder.uid} {.status.quarantinedUntil}'])).trim()).toBe(uid);
  await tenant.record('www', tenant.proof);
  await tenant.wait('site', 'Ready');
}, 150_000);

test('a record that never comes: VerificationExpired, nothing is checked any more, and Verify begins anew', async () => {
  const hostname = tenant.host('late');
  await kubectl(['apply', '--server-side', '-f', '-'], {input: JSON.stringify(tenant.project('late', {serviceRef: {name: 'web', port: 80}}))});
  await tenant.attach('late', hostname, [], 'late');
  const domain = await tenant.reason('late', 'VerificationExpired', 60_000);
  expect(domain.status?.conditions?.find((c) => c.type === 'Stalled')).toMatchObject({status: 'True', reason: 'VerificationExpired'});
  const target = (await tenant.getProject('late'))?.status?.host ?? '';
  await tenant.record('late', `IN CNAME ${target}.`);
  await pause(4000);
  expect((await tenant.get('late'))?.status?.hosts?.[0]?.reason).toBe('VerificationExpired');
  await kubectl(['annotate', 'customdomain', '-n', tenant.namespace, 'late', 'doorplate.dev/requestedAt=now']);
  await tenant.wait('late', 'Ready');
}, 150_000);
