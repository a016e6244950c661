/** Rule 9: quiet when nothing changes. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {customDomains} from '../../operator/controllers/resources.ts';
import {api, audit, eventually, install, kubectl, writeVerbs} from '../../cluster/cluster.ts';
import {Tenant} from '../support/tenant.ts';

const quietMs = 120_000;
const operator = 'system:serviceaccount:doorplate-system:doorplate-operator';
const names = ['q0', 'q1', 'q2', 'q3', 'q4'];

let tenant: Tenant;
beforeAll(async () => {
  tenant = await Tenant.create('quiet');
});
afterAll(async () => {
  await tenant?.remove();
  await install();
});

/** How many DNS checks the operator's process has made. */
async function dnsChecks(): Promise<number> {
  const pod = (
    await kubectl([
      'get',
      'pods',
      '-n',
      'doorplate-system',
      '-l',
      'app.kubernetes.io/component=operator',
      '-o',
      'jsonpath={.items[0].metadata.name}',
    ])
  ).trim();
  const metrics = await kubectl(['get', '--raw', `/api/v1/namespaces/doorplate-system/pods/${pod}:8081/proxy/metrics`]);
  return [...metrics.matchAll(/^doorplate_dns_checks_total\{[^}]*\} ([0-9]+)$/gm)].reduce(
    (sum, [, n]) => sum + Number(n),
    0,
  );
}

/** The operator's requests but watches and leases. */
const requests = (since: Date) =>
  audit(since, (e) => e.user.username === operator && e.verb !== 'watch' && e.objectRef?.resource !== 'leases');

test('with all hosts Live and DNS checks every second, the operator writes and reads nothing for two minutes', async () => {
  for (const name of names) await tenant.record(name, tenant.proof);
  await tenant.attach(
    'site',
    tenant.host('q0'),
    names.slice(1).map((n) => ({from: tenant.host(n)})),
  );
  await install(['dns.recheckInterval=1s']); // while the certificates are issued
  await tenant.wait('site', 'Ready');
  await kubectl(['wait', 'project/web', '-n', tenant.namespace, '--for=condition=Ready', '--timeout=300s']);
  // What the demo has left that is not Live is checked as often, and says what it sees.
  for (const {metadata, status} of (await api().list(customDomains)).items) {
    if (status?.phase !== 'Live')
      await kubectl(['delete', 'customdomain', '-n', metadata.namespace ?? '', metadata.name]);
  }
  await eventually('nothing of that is left to be written', async () => {
    const since = new Date();
    await new Promise((resolve) => {
      setTimeout(resolve, 5000);
    });
    return (await requests(since)).length === 0;
  });
  const settled = await tenant.get('site');

  const checksBefore = await dnsChecks();
  const since = new Date();
  await new Promise((resolve) => {
    setTimeout(resolve, quietMs);
  });
  const checks = (await dnsChecks()) - checksBefore;
  const events = await requests(since);
  const writes = events.filter((e) => writeVerbs.has(e.verb));
  console.log(
    `${checks} DNS checks of ${names.length} hosts in ${quietMs / 1000} s, ${writes.length} writes, ${events.length - writes.length} reads`,
  );
  expect(checks).toBeGreaterThan((names.length * quietMs) / 1000 / 2);
  expect(events.map((e) => `${e.verb} ${e.objectRef?.resource}/${e.objectRef?.name}`)).toEqual([]);
  expect((await tenant.get('site'))?.metadata.resourceVersion).toBe(settled?.metadata.resourceVersion);
});
