/**
 * Rule 9: quiet when nothing changes. What is Live, what waits for its customer, what is stalled and what is refused stand for
 * two minutes. What waits for a record, and for how long, is in expired.test.ts.
 */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {certificates, ingresses} from '../../operator/resources/resources.ts';
import {apply, audit, kubectl} from '../../cluster/cluster.ts';
import {failingOrder} from '../support/failing.ts';
import {checksOf, hurried} from '../support/hurried.ts';
import {operator} from '../support/requests.ts';
import {Tenant} from '../support/tenant.ts';

const quietMs = 120_000;
const names = ['q0', 'q1', 'q2', 'q3', 'q4'];

let tenant: Tenant;
let stuck: Tenant;
beforeAll(async () => {
  await hurried();
  [tenant, stuck] = await Promise.all([Tenant.create('quiet'), Tenant.create('stuck')]);
});
afterAll(async () => {
  await Promise.all([tenant?.remove(), stuck?.remove()]);
});

const pause = (ms: number) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
/** Which process of the operator runs: its Pod, and how often that was restarted. */
const running = () =>
  kubectl([
    'get',
    'pods',
    '-n',
    'doorplate-system',
    '-l',
    'app.kubernetes.io/component=operator',
    '-o',
    'jsonpath={.items[*].metadata.name} {.items[*].status.containerStatuses[*].restartCount}',
  ]);

/** When two minutes began in which one process ran: another test of this installation ends one. */
async function twoMinutes(): Promise<Date> {
  for (let tries = 0; tries < 5; tries++) {
    await pause(5000); // Events follow the status.
    const [since, pod] = [new Date(), await running()];
    let same = true;
    while (same && Date.now() < since.getTime() + quietMs) {
      await pause(5000);
      same = (await running()) === pod;
    }
    if (same) return since;
  }
  throw new Error('the operator keeps being restarted');
}

test('with DNS checks every second, no object of a hostname is written or read for two minutes, be it Live, waiting, stalled or refused', async () => {
  const ofWeb = {serviceRef: {name: 'web', port: 80}, defaultHost: 'Disabled'};
  await apply([tenant.project('refused', ofWeb), stuck.project('blocked', ofWeb)]);
  for (const name of names) await tenant.record(name, tenant.proof);
  await tenant.attach(
    'site',
    tenant.host('q0'),
    names.slice(1).map((n) => ({from: tenant.host(n)})),
  );
  await tenant.attach('refused', 'mine.apps.platform.test', [], 'refused');
  // One that the CA cannot reach; and, with every further order of the zone held back, a hostname that waits for its CAA records.
  const {mend} = await failingOrder(stuck);
  await mend();
  await stuck.reason('site', 'IssuanceStalled');
  await stuck.records({
    '@': 'IN CAA 0 issue "other-ca.example.net"',
    blocked: `IN CNAME ${(await stuck.getProject('blocked'))?.status?.host}.`,
  });
  await stuck.attach('blocked', stuck.host('blocked'), [], 'blocked');
  await stuck.reason('blocked', 'CAABlocksIssuer');
  await tenant.reason('refused', 'HostnameNotAllowed');
  await tenant.wait('site', 'Ready');
  await kubectl(['wait', 'project/web', '-n', tenant.namespace, '--for=condition=Ready', '--timeout=300s']);

  const uids = await Promise.all(
    [tenant.get('site'), stuck.get('site')].map(async (d) => (await d)?.metadata.uid ?? ''),
  );
  const children = new Set(
    (await Promise.all(uids.map((uid) => tenant.children(uid, certificates, ingresses)))).flat(),
  );
  const since = await twoMinutes();
  const own = new Set(
    [tenant, stuck].flatMap((t) => [t.namespace, t.target, ...['www', 'blocked', ...names].map((n) => t.host(n))]),
  );
  const requests = await audit(
    since,
    ({user, verb, objectRef: ref}) =>
      user.username === operator &&
      verb !== 'watch' &&
      (own.has(ref?.namespace ?? '') || own.has(ref?.name ?? '') || children.has(`${ref?.namespace}/${ref?.name}`)),
  );
  const asked = [...names.map((n) => tenant.host(n)), stuck.host('www'), stuck.host('blocked')];
  const checks = await Promise.all(asked.map(async (host) => (await checksOf(host, since)).length));
  console.log(
    `${checks.join(', ')} DNS checks of the hostnames in ${quietMs / 1000} s, ${requests.length} requests for their objects`,
  );
  // Every second those that are proven, every two the other.
  expect(checks.filter((n) => n < quietMs / 1000 / 4)).toEqual([]);
  expect(requests.map((e) => `${e.verb} ${e.requestURI}`)).toEqual([]);
});
