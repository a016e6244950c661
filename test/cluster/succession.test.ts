/** Hostnames that move between Projects of one Account while a client asks: no failed request, and an order only for another Namespace. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {acmeRoot, api, apply, eventually, fetchEdge, kubectl} from '../../cluster/cluster.ts';
import {ordersFor} from '../support/issuances.ts';
import {Recording} from '../support/published.ts';
import {Tenant} from '../support/tenant.ts';
import {constantClient} from '../support/visitor.ts';

/** Each takes some 15 s, as the former owner's negative is confirmed. */
const moves = Number(process.env.MOVES ?? 4);

let ca: string;
const tenants: Tenant[] = [];

async function newTenant(purpose: string): Promise<Tenant> {
  const tenant = await Tenant.create(purpose);
  tenants.push(tenant);
  return tenant;
}

/** A tenant with the Projects `web` and `other`, and the CNAME target of each Project. */
async function twoProjects(purpose: string): Promise<{tenant: Tenant; targets: Record<'web' | 'other', string>}> {
  const tenant = await newTenant(purpose);
  await apply([
    ...tenant.backend('other'),
    tenant.project('other', {serviceRef: {name: 'other', port: 80}, defaultHost: 'Disabled'}),
  ]);
  const other = await eventually('the other Project is deployed', async () => {
    const project = await tenant.getProject('other');
    return project?.status?.firstDeployTime !== undefined && project.status.host;
  });
  return {tenant, targets: {web: tenant.target, other}};
}

const answers = (hostname: string, {namespace}: Tenant, project: string) =>
  eventually(`${namespace}/${project} answers`, async () =>
    (await fetchEdge(`https://${hostname}/`, {ca})).body.includes(`${namespace}/${project}`),
  );

beforeAll(async () => {
  ca = await acmeRoot();
});
afterAll(async () => {
  for (const tenant of tenants) await tenant.remove();
});

test('a hostname moves back and forth: its certificate is handed over, and the former Project serves until the other one does', async () => {
  const {tenant, targets} = await twoProjects('moves');
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
    await answers(www, tenant, to);
    await eventually(
      'the routes of the former Project are gone',
      async () => (await ingressesOf(tenant, loser)) === '' && (await ingressesOf(tenant, winner)) !== '',
    );
  }
  const {requests, failed} = await client.stop();
  console.log(`${moves} moves, ${requests} requests, ${failed.length} failed`);
  expect(failed).toEqual([]);
  expect((await ordersFor([www], began)).caused).toEqual([www]);
});

test('an apex passes to another Project as soon as its Project has another primary, without an order', async () => {
  const {tenant} = await twoProjects('apex');
  const [apex, blog] = [tenant.zone, tenant.host('blog')];
  await tenant.records({
    '@': 'IN A 10.244.0.1',
    '_doorplate-challenge': `IN TXT "${tenant.token(apex)}"`,
    blog: tenant.proof,
  });
  await tenant.attach('site', apex, [{from: blog}]);
  await tenant.hosts('site', [`${apex} Live Serving`, `${blog} Live Redirecting`]);
  const began = new Date();
  const client = await constantClient([apex], ca);
  const spec = {primary: blog, redirects: []};
  await Promise.all([
    kubectl(['patch', 'customdomain', '-n', tenant.namespace, 'site', '--type', 'merge', '-p', JSON.stringify({spec})]),
    tenant.attach('second', apex, [], 'other'),
  ]);
  await tenant.hosts('second', [`${apex} Live Serving`]);
  console.log(`another Project serves the apex after ${Date.now() - began.getTime()} ms`);
  await answers(apex, tenant, 'other');
  await tenant.hosts('site', [`${blog} Live Serving`]);
  const {requests, failed} = await client.stop();
  console.log(`${requests} requests, ${failed.length} failed`);
  expect(failed).toEqual([]);
  expect((await ordersFor([apex], began)).caused).toEqual([]);
});

const domainOf = ({namespace}: Tenant, name: string, primary: string, project = 'web'): object => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'CustomDomain',
  metadata: {name, namespace},
  spec: {projectRef: {name: project}, primary},
});

/** In which order one commit applies the CustomDomain that an apex leaves, and the Project and CustomDomain that it creates for it. */
const orders: [order: string, isNewFirst: boolean][] = [
  ['the new Project first', true],
  ['the former CustomDomain first', false],
];

test.each(orders)('an apex passes to a Project that the same commit creates: %s', async (_, isNewFirst) => {
  const tenant = await newTenant('created');
  const [apex, blog] = [tenant.zone, tenant.host('blog')];
  await tenant.records({
    '@': 'IN A 10.244.0.1',
    '_doorplate-challenge': `IN TXT "${tenant.token(apex)}"`,
    blog: tenant.proof,
  });
  await tenant.attach('site', apex, [{from: blog}]);
  await tenant.hosts('site', [`${apex} Live Serving`, `${blog} Live Redirecting`]);
  const recording = await Recording.start(api(), tenant.namespace);
  const client = await constantClient([apex], ca);
  const created = [
    domainOf(tenant, 'new', apex, 'new'),
    ...tenant.backend('new'),
    tenant.project('new', {serviceRef: {name: 'new', port: 80}, defaultHost: 'Disabled'}),
  ];
  const left = [domainOf(tenant, 'site', blog)];
  await apply(isNewFirst ? [...created, ...left] : [...left, ...created]);
  await tenant.hosts('new', [`${apex} Live Serving`]);
  await answers(apex, tenant, 'new');
  await tenant.hosts('site', [`${blog} Live Serving`]);
  const {requests, failed} = await client.stop();
  await recording.stop();
  console.log(`${requests} requests, ${failed.length} failed`);
  expect([failed, recording.removals, recording.unrouted]).toEqual([[], [], []]);
});

test('the primaries of two CustomDomains are swapped by one commit', async () => {
  const {tenant} = await twoProjects('swapped');
  const [apex, shop] = [tenant.zone, tenant.host('shop')];
  await tenant.records({
    '@': 'IN A 10.244.0.1',
    '_doorplate-challenge': `IN TXT "${tenant.token(apex)}"`,
    shop: 'IN A 10.244.0.1',
    '_doorplate-challenge.shop': `IN TXT "${tenant.token(shop)}"`,
  });
  await tenant.attach('site', apex);
  await tenant.attach('second', shop, [], 'other');
  await tenant.hosts('site', [`${apex} Live Serving`]);
  await tenant.hosts('second', [`${shop} Live Serving`]);
  const began = new Date();
  const recording = await Recording.start(api(), tenant.namespace);
  const client = await constantClient([apex, shop], ca);
  await apply([domainOf(tenant, 'site', shop), domainOf(tenant, 'second', apex, 'other')]);
  await tenant.hosts('site', [`${shop} Live Serving`]);
  await tenant.hosts('second', [`${apex} Live Serving`]);
  await answers(apex, tenant, 'other');
  await answers(shop, tenant, 'web');
  const {requests, failed} = await client.stop();
  await recording.stop();
  console.log(`${requests} requests, ${failed.length} failed`);
  expect([failed, recording.removals, recording.unrouted]).toEqual([[], [], []]);
  expect((await ordersFor([apex, shop], began)).caused).toEqual([]);
});

test('a hostname moves to another Namespace of the Account: it is served as before until the one new certificate is issued', async () => {
  const [from, to] = [await newTenant('from'), await newTenant('to')];
  await to.belongsTo(from.namespace);
  const www = from.host('www');
  await from.record('www', from.proof);
  await from.attach('site', www);
  await from.hosts('site', [`${www} Live Serving`]);
  await to.attach('site', www);
  await to.reason('site', 'TargetMismatch');
  const began = new Date();
  const client = await constantClient([www], ca);
  await from.record('www', to.proof);
  await Promise.all([from.verify('site'), to.verify('site')]);
  await to.hosts('site', [`${www} Live Serving`]);
  await answers(www, to, 'web');
  await eventually('the former routes are gone', async () => (await ingressesOf(from, 'site')) === '');
  const {requests, failed} = await client.stop();
  console.log(`${requests} requests, ${failed.length} failed`);
  expect(failed).toEqual([]);
  expect((await ordersFor([www], began)).caused).toEqual([www]);
});

async function ingressesOf(tenant: Tenant, name: string): Promise<string> {
  const uid = (await tenant.get(name))?.metadata.uid ?? '';
  return kubectl(['get', 'ingresses', '-n', tenant.namespace, '-l', `doorplate.dev/owner-uid=${uid}`, '-o', 'name']);
}
