/**
 * Many domains at once against the budget of the ACME account. What is counted is what Pebble logs when it makes an order. The
 * solvers' Pods ask for more than the node has: an order is made before its challenge, and 80 Pods would measure nothing more. (With a
 * quota that admits none, cert-manager would try again as fast as it can.)
 */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import type {CustomDomain, Project} from '../../../operator/api/foreign.ts';
import {apply, eventually, kubectl, patienceMs, setZone} from '../../../cluster/cluster.ts';
import {orderBudget, withTwoEdges} from '../../support/edges.ts';
import {Tenant} from '../../support/tenant.ts';

const {domains: count, limit, windowMs} = orderBudget;
const timeoutMs = 4 * (count / limit) * windowMs + 240_000;

let tenant: Tenant;
beforeAll(async () => {
  await withTwoEdges();
  tenant = await Tenant.create('budget');
});
afterAll(async () => {
  await tenant?.remove({wait: false});
});

/** When Pebble made orders, ms since the epoch, by its log. */
async function ordersSeen(since: Date): Promise<number[]> {
  const log = await kubectl([
    'logs',
    '-n',
    'pebble',
    'deploy/pebble',
    '--timestamps',
    `--since-time=${since.toISOString()}`,
  ]);
  return log
    .split('\n')
    .filter((l) => l.includes('Added order '))
    .map((l) => Date.parse(l.split(' ')[0]!))
    .filter((t) => t >= since.getTime());
}

/** Plays the CA's bucket over orders, sorted times in ms. Returns the fewest tokens left. The CA would have refused an order below 0. */
function leastLeft(orders: readonly number[]): number {
  let [tokens, least, last] = [limit, limit, orders[0] ?? 0];
  for (const at of orders) {
    tokens = Math.min(limit, tokens + ((at - last) * limit) / windowMs) - 1;
    least = Math.min(least, tokens);
    last = at;
  }
  return least;
}

/** Orders since then that this test does not account for: of others, or another one of a hostname. More orders than domains come from these. */
async function otherOrders(since: Date): Promise<string[]> {
  interface Order {
    metadata: {namespace: string; name: string; creationTimestamp: string};
    spec: {dnsNames?: string[]};
  }
  const {items} = JSON.parse(await kubectl(['get', 'orders', '-A', '-o', 'json'])) as {items: Order[]};
  const had = new Set<string>();
  return items
    .filter(({metadata}) => Date.parse(metadata.creationTimestamp) >= since.getTime() - 1000)
    .filter(({metadata, spec: {dnsNames = []}}) => {
      const isFirst = metadata.namespace === tenant.namespace && !had.has(dnsNames.join());
      had.add(dnsNames.join());
      return !isFirst;
    })
    .map(({metadata, spec}) => `${metadata.creationTimestamp} ${metadata.namespace}/${metadata.name} ${spec.dnsNames}`);
}

const listed = async <T>(kind: string): Promise<T[]> =>
  (JSON.parse(await kubectl(['get', kind, '-n', tenant.namespace, '-o', 'json'])) as {items: T[]}).items;

test(
  `${count} domains are ordered only while the CA's bucket of ${limit} orders per ${windowMs / 1000} s has tokens, whatever becomes of the operator; the rest are IssuanceQueued and get through in order`,
  async () => {
    const names = Array.from({length: count}, (_, i) => `d${i}`);
    await apply([
      {
        apiVersion: 'v1',
        kind: 'LimitRange',
        metadata: {name: 'full', namespace: tenant.namespace},
        spec: {limits: [{type: 'Container', defaultRequest: {'ephemeral-storage': '100Ti'}}]},
      },
    ]);
    const of = (kind: string, name: string, spec: object) => ({
      apiVersion: 'doorplate.dev/v1alpha1',
      kind,
      metadata: {name, namespace: tenant.namespace},
      spec,
    });
    await apply(
      names.map((name) => of('Project', name, {serviceRef: {name: 'web', port: 80}, defaultHost: 'Disabled'})),
    );
    await apply(names.map((name) => of('CustomDomain', name, {projectRef: {name}, primary: tenant.host(name)})));
    const targets = await eventually(
      'every Project has its host',
      async () => {
        const projects = (await listed<Project>('projects')).filter(
          (p) => p.status?.firstDeployTime !== undefined && names.includes(p.metadata.name),
        );
        return projects.length === count && new Map(projects.map((p) => [p.metadata.name, p.status!.host]));
      },
      patienceMs,
      1000,
    );

    const began = new Date();
    await setZone(
      tenant.zone,
      names.map((name) => `${name} IN CNAME ${targets.get(name)}.`),
    );
    /** When each began to wait, by its status. */
    const queuedSince = new Map<string, string>();
    let killed = false;
    let told = '';
    await eventually(
      'every order is made',
      async () => {
        for (const {
          metadata: {name},
          status,
        } of await listed<CustomDomain>('customdomains')) {
          const host = status?.hosts?.[0];
          if (host?.reason !== 'IssuanceQueued') continue;
          queuedSince.set(name, queuedSince.get(name) ?? host.since);
          told = host.message;
          expect(host).toMatchObject({phase: 'Verified', waitingFor: 'Nobody'});
          expect(host.certificate).toBeUndefined();
        }
        const seen = await ordersSeen(began);
        if (!killed && seen.length >= 2 * limit) {
          killed = true;
          await kubectl([
            'delete',
            'pod',
            '-n',
            'doorplate-system',
            '-l',
            'app.kubernetes.io/component=operator',
            '--force',
            '--grace-period=0',
          ]);
        }
        // Pebble has answered all of these.
        return (await listed<{status?: {url?: string}}>('orders')).filter((o) => o.status?.url).length >= count;
      },
      timeoutMs,
      1000,
    );

    const seen = (await ordersSeen(began)).toSorted((a, b) => a - b);
    const left = leastLeft(seen);
    console.log(
      `${seen.length} orders in ${((seen.at(-1)! - seen[0]!) / 1000).toFixed(1)} s; the bucket had at least ${left.toFixed(1)} tokens left; ${queuedSince.size} were queued, such as: ${told}`,
    );
    console.log(`not counted on: ${(await otherOrders(began)).join(', ') || 'none'}`);
    expect(killed).toBe(true);
    expect(left).toBeGreaterThanOrEqual(0);
    expect(queuedSince.size).toBeGreaterThan(count / 2);

    // In order: leave is given to a whole budget at once, so that as many as that may overtake one that began to wait before them, and
    // no more. Times have whole seconds.
    const certificates = (
      await listed<{metadata: {creationTimestamp: string}; spec: {dnsNames: string[]}}>('certificates')
    ).map((c) => ({name: c.spec.dnsNames[0]!.split('.')[0]!, at: Date.parse(c.metadata.creationTimestamp)}));
    expect(certificates).toHaveLength(count);
    const waited = certificates.flatMap(({name, at}) =>
      queuedSince.has(name) ? [{name, at, since: Date.parse(queuedSince.get(name)!)}] : [],
    );
    const overtaken = waited.map(
      (late) => waited.filter((early) => early.at < late.at && early.since > late.since + 1000).length,
    );
    console.log(`one that waited was overtaken by at most ${Math.max(...overtaken)}`);
    expect(Math.max(...overtaken)).toBeLessThan(limit);
  },
  timeoutMs + 2 * patienceMs,
);
