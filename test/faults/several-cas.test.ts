/**
 * Two issuers with a CA each (docs/how-to/several-cas.md). The second takes the place of the first if CAA records forbid the first, if its
 * budget is spent, and if it has an outage. Then hostnames move back, and no request fails. LIFE=3600: with certificates of one hour.
 */
import {randomBytes} from 'node:crypto';
import {setTimeout as sleep} from 'node:timers/promises';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import type {Certificate} from '../../operator/api/foreign.ts';
import {api, apply, eventually, install} from '../../cluster/cluster.ts';
import {certificates} from '../../operator/resources/resources.ts';
import {FailingCa} from '../support/failing-ca.ts';
import {issuanceIsOver, ordersFor} from '../support/issuances.ts';
import {Tenant} from '../support/tenant.ts';
import {constantClient} from '../support/visitor.ts';

/** Seconds. */
const life = Number(process.env.LIFE ?? 600);
// Other names in each run: orders of a former run count for an hour.
const run = randomBytes(3).toString('hex');
const names = [`first-ca-${run}`, `second-ca-${run}`] as const;
let tenant: Tenant;
let first: FailingCa;
let second: FailingCa;
/** A hostname that the second CA alone may serve. */
let only: string;
let roots: string;
let before: Date;

/** The settings with both issuers. `limit`: orders of the first account in an hour. */
const installed = (limit: number) =>
  install([
    'issuerRef.name=',
    // The API's own certificate stays: helm would wait for a new one of the first issuer.
    'api.host=',
    'budgets=null',
    'issuerRecoveryTime=20s',
    ...names.flatMap((name, i) => [
      `issuers[${i}].issuerRef.name=${name}`,
      `issuers[${i}].caaIdentities={${name}.test}`,
      `issuers[${i}].budgets.account[0].limit=${i === 0 ? limit : 1000}`,
      `issuers[${i}].budgets.account[0].per=1h`,
      `issuers[${i}].budgets.certificates[0].limit=100`,
      `issuers[${i}].budgets.certificates[0].per=1h`,
    ]),
  ]);

beforeAll(async () => {
  before = new Date();
  [tenant, first, second] = await Promise.all([
    Tenant.create('several-cas', {}),
    FailingCa.start(names[0], {validitySeconds: life}),
    FailingCa.start(names[1], {validitySeconds: life}),
  ]);
  roots = [first, second].map(({rootCertificate}) => rootCertificate).join('\n');
  await installed(1000);
});
afterAll(async () => {
  await tenant?.remove();
  await install();
  await Promise.all([first?.remove(), second?.remove()]);
});

async function certificateOf(hostname: string): Promise<Certificate | undefined> {
  const {items} = await api().list(certificates, {namespace: tenant.namespace});
  return items.find(({spec}) => spec.dnsNames[0] === hostname);
}

/** A Live hostname of a Project of its own. `name`: the hostname below the tenant's zone. */
async function live(label: string, issuer: string, name = label): Promise<string> {
  const hostname = tenant.host(name);
  await apply([tenant.project(label, {serviceRef: {name: 'web', port: 80}, defaultHost: 'Disabled'})]);
  const target = await eventually(`the Project ${label} is deployed`, async () => {
    const {status} = (await tenant.getProject(label)) ?? {};
    return status?.firstDeployTime !== undefined && status.host;
  });
  await tenant.record(name, `IN CNAME ${target}.`);
  await tenant.attach(label, hostname, [], label);
  await tenant.hosts(label, [`${hostname} Live Serving`], 300_000);
  expect((await certificateOf(hostname))?.spec.issuerRef.name).toBe(issuer);
  return hostname;
}

const moved = (hostname: string, issuer: string): Promise<true> =>
  eventually(
    `${hostname} has its certificate from ${issuer}`,
    async () => {
      const certificate = await certificateOf(hostname);
      const ready = certificate?.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false;
      return certificate?.spec.issuerRef.name === issuer && ready;
    },
    1000 * life,
  ) as Promise<true>;

describe('The second CA', () => {
  test('issues if CAA records allow only that one, and no order goes to the first', async () => {
    await tenant.record('only', `IN CAA 0 issue "${names[1]}.test"`);
    only = await live('caa', names[1], 'caa.only');
    expect((await ordersFor([only], before)).caused).toEqual([only]);
  });

  test('issues while the budget of the first is spent', async () => {
    // With the certificate of the tenant's default hostname, the budget is spent.
    await moved(tenant.target, names[0]);
    await installed(1);
    const since = new Date();
    const beyond = await live('beyond', names[1]);
    expect((await ordersFor([beyond], since)).caused).toEqual([beyond]);
    await installed(1000);
    await moved(beyond, names[0]);
  });

  test('issues if the directory of the first answers, and its orders get server errors', async () => {
    await first.stall();
    const [since, stalledAt] = [new Date(), Date.now()];
    const stalled = await live('stalled', names[1]);
    console.log(`issued ${Date.now() - stalledAt} ms after the first took no orders`);
    await first.recover();
    await moved(stalled, names[0]);
    expect((await ordersFor([stalled], since)).caused).toHaveLength(3);
  });

  test(
    'issues and renews during an outage of the first; then hostnames move back, and no request fails',
    async () => {
      const renewed = await live('renewed', names[0]);
      const visitor = await constantClient([renewed], roots);
      const [since, failedAt] = [new Date(), Date.now()];
      await first.fail();
      const issued = await live('issued', names[1]);
      console.log(`issued ${Date.now() - failedAt} ms after the outage began`);
      await moved(renewed, names[1]);
      const waited = Date.now() - failedAt;
      console.log(`renewed ${waited} ms after the outage began, by certificates of ${life} s`);
      await first.recover();
      await Promise.all([renewed, issued].map((hostname) => moved(hostname, names[0])));
      await issuanceIsOver([renewed, issued]);
      const {requests, failed} = await visitor.stop();
      console.log(`${requests} requests, ${failed.length} failed`);
      expect(failed).toEqual([]);
      // The order at the first CA had no end when the second took its place.
      const {caused} = await ordersFor([renewed, issued], since);
      expect(caused.filter((hostname) => hostname === renewed)).toHaveLength(2);
      expect(caused.filter((hostname) => hostname === issued).length).toBeLessThanOrEqual(3);
    },
    900_000 + 1000 * life,
  );

  test(
    'loses no certificate that it alone may renew, if it takes no orders while that is due',
    async () => {
      const statusOf = async (): Promise<Certificate['status'] & {lastFailureTime?: string}> =>
        (await certificateOf(only))?.status ?? {};
      const timesOf = async () => {
        const {renewalTime, notAfter} = await statusOf();
        return [Date.parse(renewalTime ?? ''), Date.parse(notAfter ?? '')] as const;
      };
      const [dueBefore, endBefore] = await timesOf();
      // It is being renewed already.
      if (dueBefore < Date.now() + 10_000)
        await eventually('the certificate is renewed', async () => (await timesOf())[1] > endBefore);
      const [due, end] = await timesOf();
      const visitor = await constantClient([only], roots);
      const at = (ms: number) => sleep(Math.max(0, due + ms - Date.now()));
      // Doorplate's fresh attempt begins after half of the last third of the life: a second refusal would leave too little of a short one.
      const away = life < 3600 ? 100 * life : 600_000;
      // cert-manager then waits for an hour, which is longer than the certificate lives.
      await at(-5_000);
      await second.refuse();
      await at(away);
      const {lastFailureTime} = await statusOf();
      await second.recover();
      await eventually('the certificate is renewed', async () => (await timesOf())[1] > end, end - Date.now());
      console.log(
        `due at 0 s, refused at ${(Date.parse(lastFailureTime ?? '') - due) / 1000} s, CA back at ${away / 1000} s`,
      );
      console.log(`renewed at ${(Date.now() - due) / 1000} s, the end was at ${(end - due) / 1000} s`);
      await sleep(Math.max(0, end + 5_000 - Date.now()));
      const {requests, failed} = await visitor.stop();
      console.log(`${requests} requests, ${failed.length} failed`);
      expect(failed).toEqual([]);
      expect(lastFailureTime).toBeDefined();
    },
    900_000 + 1000 * life,
  );
});
