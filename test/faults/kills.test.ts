/** The operator's process and the API server die on the whole cluster; the end is the same. After each single write: test/operator/kills. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import type {CustomDomain, Project} from '../../operator/api/foreign.ts';
import {acmeRoot, apply, eventually, fetchEdge, kubectl, sh} from '../../cluster/cluster.ts';
import {ordersFor} from '../support/issuances.ts';
import {Tenant} from '../support/tenant.ts';
import {redirected} from '../support/visitor.ts';

let tenant: Tenant;
let ca: string;
beforeAll(async () => {
  tenant = await Tenant.create('kills');
  ca = await acmeRoot();
});
afterAll(async () => {
  await tenant?.remove();
});

const pause = (ms: number) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** A seeded random number in [0, 1): mulberry32. */
function random(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Projects of one Service, each with a CustomDomain of a primary and a redirect, named after `group`: no hex digit, of which the zone's name is made. */
async function projects(group: string, count: number): Promise<string[]> {
  const names = Array.from({length: count}, (_, i) => `${group}${i}`);
  await apply(
    names.map((name) => tenant.project(name, {serviceRef: {name: 'web', port: 80}, defaultHost: 'Disabled'})),
  );
  const records: Record<string, string> = {};
  await kubectl([
    'wait',
    ...names.map((n) => `project/${n}`),
    '-n',
    tenant.namespace,
    '--for=condition=Deployed',
    '--timeout=300s',
  ]);
  for (const {metadata, ...rest} of await get('projects', '-n', tenant.namespace)) {
    const target = (rest as unknown as Project).status?.host ?? '';
    if (names.includes(metadata.name))
      for (const label of [metadata.name, `old-${metadata.name}`]) records[label] = `IN CNAME ${target}.`;
  }
  await tenant.records(records);
  return names;
}

const attach = (name: string) => tenant.attach(name, tenant.host(name), [{from: tenant.host(`old-${name}`)}], name);

/** A CustomDomain's status without what differs by name, time or chance: equal for all that ended well. */
function shape({metadata, status, spec}: CustomDomain, target: string): unknown {
  const text = JSON.stringify({
    ...status,
    conditions: status?.conditions?.map((c) => ({...c, lastTransitionTime: ''})),
  });
  // Digests first: a name of two letters may well be in one.
  return JSON.parse(
    text
      .replaceAll(/-[0-9a-z]{13}"/g, '-DIGEST"')
      .replaceAll(/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]+Z/g, 'TIME')
      .replaceAll(target, 'TARGET')
      .replaceAll(spec.primary, 'PRIMARY')
      .replaceAll(metadata.name, 'NAME'),
  ) as unknown;
}

const get = async (kinds: string, ...args: string[]) =>
  (
    JSON.parse(await kubectl(['get', kinds, '-o', 'json', ...args])) as {
      items: {kind: string; metadata: CustomDomain['metadata']; spec: {dnsNames?: string[]}}[];
    }
  ).items;

/** All Live, one certificate and one order for each hostname, served, and of one shape. */
async function expectAllWell(names: readonly string[], began: Date): Promise<void> {
  await kubectl([
    'wait',
    ...names.map((n) => `customdomain/${n}`),
    '-n',
    tenant.namespace,
    '--for=condition=Ready',
    '--timeout=300s',
  ]);
  const domains = (await get('customdomains', '-n', tenant.namespace)).filter((d) =>
    names.includes(d.metadata.name),
  ) as unknown as CustomDomain[];
  const targets = new Map(
    (await get('projects', '-n', tenant.namespace)).map((p) => [
      p.metadata.name,
      (p as unknown as Project).status?.host ?? '',
    ]),
  );
  expect(domains.map((d) => d.metadata.name).toSorted()).toEqual([...names].toSorted());
  expect([...new Set(domains.map((d) => JSON.stringify(shape(d, targets.get(d.metadata.name) ?? ''))))]).toHaveLength(
    1,
  );

  const children = await get('certificates,certificaterequests,ingresses', '-A', '-l', 'doorplate.dev/owner-uid');
  for (const {metadata} of domains) {
    const own = children.filter((c) => c.metadata.labels?.['doorplate.dev/owner-uid'] === metadata.uid);
    const count = (kind: string) => own.filter((c) => c.kind === kind).length;
    expect([metadata.name, count('Certificate'), count('CertificateRequest'), count('Ingress')]).toEqual([
      metadata.name,
      2,
      2,
      2,
    ]);
  }
  const orders = Map.groupBy(
    (await get('orders', '-A')).flatMap((o) => o.spec.dnsNames ?? []),
    (n) => n,
  );
  const hostnames = names.flatMap((n) => [tenant.host(n), tenant.host(`old-${n}`)]);
  expect(hostnames.map((h) => `${h}: ${orders.get(h)?.length}`)).toEqual(hostnames.map((h) => `${h}: 1`));
  // cert-manager keeps the last alone.
  const {caused} = await ordersFor(hostnames, began);
  expect(caused.filter((hostname, i) => caused.indexOf(hostname) !== i)).toEqual([]);
  await Promise.all(
    names.map(async (name) => {
      expect((await fetchEdge(`https://${tenant.host(name)}/`, {ca})).status).toBe(200);
      await redirected(`https://${tenant.host(`old-${name}`)}/x`, 301, `https://${tenant.host(name)}/x`, ca);
    }),
  );
}

/** Name and restarts of the operator's Pod. */
const pod = () =>
  kubectl([
    'get',
    'pods',
    '-n',
    'doorplate-system',
    '-l',
    'app.kubernetes.io/component=operator',
    '-o',
    'jsonpath={.items[0].metadata.name} {.items[0].status.containerStatuses[0].restartCount}',
  ]);

describe('a process that dies while domains go Live', () => {
  test("the operator's process is killed at a seeded moment: every domain ends the same, with one order for each hostname", async () => {
    const seed = Number(process.env.SEED ?? 20_261_121);
    const names = await projects('k', 3);
    const [before, began] = [await pod(), new Date()];
    for (const name of names) await attach(name);
    // Somewhere on the way from the first check to the certificate.
    const afterMs = 200 + random(seed)() * 12_000;
    await pause(afterMs);
    expect(
      (
        await sh('cluster/ctl.sh', ['kill-container', 'doorplate-system', 'app.kubernetes.io/component=operator'])
      ).trim(),
    ).not.toBe('');
    console.log(`killed after ${(afterMs / 1000).toFixed(1)} s, seed ${seed}`);
    await expectAllWell(names, began);
    expect(await pod()).not.toBe(before);
  });

  test('the API server is restarted midway: every domain ends the same, with one order for each hostname', async () => {
    const names = await projects('r', 4);
    const began = new Date();
    for (const name of names) await attach(name);
    await pause(1500);
    await sh('cluster/ctl.sh', ['restart', 'kube-apiserver']);
    await eventually('the API server is back', async () => (await kubectl(['get', '--raw', '/readyz'])) === 'ok');
    // An operator that could not renew its lease for 10 s has ended and begun anew, as every leader does; nothing else is to be seen of it.
    await expectAllWell(names, began);
  });
});
