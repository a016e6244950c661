/** A hostname that moves between two Projects of one Account while a client asks: no order, no failed request. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {acmeRoot, apply, eventually, fetchEdge, kubectl} from '../../cluster/cluster.ts';
import {ordersFor} from '../support/issuances.ts';
import {Tenant} from '../support/tenant.ts';
import {constantClient} from '../support/visitor.ts';

/** Each takes some 15 s, as the former owner's negative is confirmed. */
const moves = Number(process.env.MOVES ?? 4);

let tenant: Tenant;
let ca: string;
/** What the DNS of the hostname names, by Project. */
let targets: Record<'web' | 'other', string>;

beforeAll(async () => {
  [tenant, ca] = [await Tenant.create('moves'), await acmeRoot()];
  await apply([
    ...tenant.backend('other'),
    tenant.project('other', {serviceRef: {name: 'other', port: 80}, defaultHost: 'Disabled'}),
  ]);
  const other = await eventually('the other Project is deployed', async () => {
    const project = await tenant.getProject('other');
    return project?.status?.firstDeployTime !== undefined && project.status.host;
  });
  targets = {web: tenant.target, other};
});
afterAll(async () => {
  await tenant?.remove();
});

test('a hostname moves back and forth: its certificate is handed over, and the former Project serves until the other one does', async () => {
  const [www, began] = [tenant.host('www'), new Date()];
  await tenant.record('www', tenant.proof);
  await tenant.attach('site', www);
  await tenant.hosts('site', [`${www} Live Serving`]);
  await tenant.attach('second', www, [], 'other');
  await tenant.reason('second', 'TargetMismatch');
  const client = await constantClient([www], ca);
  for (let move = 1; move <= moves; move++) {
    const [to, winner, loser] =
      move % 2 === 1 ? (['other', 'second', 'site'] as const) : (['web', 'site', 'second'] as const);
    await tenant.record('www', `IN CNAME ${targets[to]}.`);
    await Promise.all([tenant.verify('site'), tenant.verify('second')]);
    await tenant.hosts(winner, [`${www} Live Serving`]);
    await eventually(`${to} answers`, async () =>
      (await fetchEdge(`https://${www}/`, {ca})).body.includes(`${tenant.namespace}/${to}`),
    );
    await eventually(
      'the routes of the former Project are gone',
      async () => (await ingressesOf(loser)) === '' && (await ingressesOf(winner)) !== '',
    );
  }
  const {requests, failed} = await client.stop();
  console.log(`${moves} moves, ${requests} requests, ${failed.length} failed`);
  expect(failed).toEqual([]);
  expect((await ordersFor([www], began)).caused).toEqual([www]);
});

async function ingressesOf(name: string): Promise<string> {
  const uid = (await tenant.get(name))?.metadata.uid ?? '';
  return kubectl(['get', 'ingresses', '-n', tenant.namespace, '-l', `doorplate.dev/owner-uid=${uid}`, '-o', 'name']);
}
