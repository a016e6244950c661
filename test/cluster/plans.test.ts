/** What a tenant may have: plans, the limit of hostnames, a downgrade; and what tenants may write at all. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {acmeRoot, apply, eventually, fetchEdge, kubectl} from '../../cluster/cluster.ts';
import type {Account} from '../../operator/api/foreign.ts';
import {issuanceIsOver} from '../support/issuances.ts';
import {operatorMetrics} from '../support/release.ts';
import {may} from '../support/rights.ts';
import {Tenant} from '../support/tenant.ts';

let tenant: Tenant;
let ca: string;
const [one, two] = ['one', 'two'].map((name) => `${name}-${Date.now().toString(36)}`) as [string, string];
const planNamed = (name: string, more: object = {}): object => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'Plan',
  metadata: {name},
  spec: {
    rateLimit: {requestsPerMinute: 1, requestsPerDay: 1},
    customDomains: {allowed: true, maxHostnamesPerProject: 2},
    ...more,
  },
});
beforeAll(async () => {
  await apply([planNamed(two)]);
  tenant = await Tenant.create('plans');
  ca = await acmeRoot();
});
afterAll(async () => {
  await tenant?.remove();
  await kubectl(['delete', 'plan', one, two, '--ignore-not-found']);
});

const remove = (name: string) => kubectl(['delete', 'customdomain', '-n', tenant.namespace, name]);
const get = async (...args: string[]) =>
  (
    JSON.parse(await kubectl(['get', ...args, '-A', '-o', 'json'])) as {
      items: {metadata: {uid: string}; spec: {dnsNames?: string[]}}[];
    }
  ).items;

/** UIDs of all that was made for a CustomDomain, and of the orders of its hostnames. */
async function made(uid: string, hostnames: readonly string[]): Promise<string[]> {
  const children = await get('certificates,certificaterequests,ingresses', '-l', `doorplate.dev/owner-uid=${uid}`);
  const orders = (await get('orders')).filter((o) => o.spec.dnsNames?.some((n) => hostnames.includes(n)));
  return [...children, ...orders].map((o) => o.metadata.uid).toSorted();
}

test('the chart ships four plans, with the numbers of the design', async () => {
  const {items} = JSON.parse(
    await kubectl(['get', 'plans', 'free', 'pro', 'business', 'enterprise', '-o', 'json']),
  ) as {items: {metadata: {name: string}; spec: {rateLimit: object; customDomains: object}}[]};
  expect(
    items.map(({metadata, spec}) => [
      metadata.name,
      ...Object.values(spec.rateLimit).toSorted((a: number, b: number) => a - b),
      spec.customDomains,
    ]),
  ).toEqual([
    ['free', 60, 1000, {allowed: false, maxHostnamesPerProject: 0}],
    ['pro', 300, 10_000, {allowed: true, maxHostnamesPerProject: 10}],
    ['business', 1000, 100_000, {allowed: true, maxHostnamesPerProject: 50}],
    ['enterprise', 1000, 100_000, {allowed: true, maxHostnamesPerProject: 500}],
  ]);
});

describe('what is not accepted, and heals itself', () => {
  test('a plan without custom domains, and every way to a better one', async () => {
    await tenant.attach('free', tenant.host('free'));
    await tenant.reason('free', 'RecordMissing');
    await tenant.onPlan('free');
    const refused = await tenant.reason('free', 'PlanUpgradeRequired');
    expect(refused.status).toMatchObject({
      phase: 'NotAccepted',
      hostsLive: '0/1',
      hosts: [
        {
          waitingFor: 'Customer',
          message: `The account ${tenant.namespace} is on the plan free, which does not allow custom domains. Upgrade the plan.`,
        },
      ],
    });
    expect(refused.status?.conditions?.find((c) => c.type === 'Stalled')).toMatchObject({
      status: 'True',
      reason: 'PlanUpgradeRequired',
    });
    expect(refused.status?.hosts?.[0]).not.toHaveProperty('servedUntil');
    await tenant.onPlan('pro');
    await tenant.reason('free', 'RecordMissing');
    // A namespace without the label is on the default plan.
    await tenant.belongsTo(undefined);
    const unlabelled = await tenant.reason('free', 'PlanUpgradeRequired');
    expect(unlabelled.status?.hosts?.[0]?.message).toBe(
      'This namespace is on the plan free, which does not allow custom domains. Upgrade the plan.',
    );
    await tenant.belongsTo(tenant.namespace);
    await tenant.reason('free', 'RecordMissing');
    await remove('free');
  });

  test('an Account or a Plan that does not exist: the platform is told, in the Account and in a metric too', async () => {
    await tenant.attach('lost', tenant.host('lost'));
    await tenant.reason('lost', 'RecordMissing');
    await tenant.onPlan(undefined);
    const orphan = await tenant.reason('lost', 'PlanNotFound');
    expect(orphan.status?.hosts?.[0]).toMatchObject({
      phase: 'NotAccepted',
      waitingFor: 'Platform',
      message: expect.stringContaining(`the Account ${tenant.namespace}, which does not exist`),
    });
    await eventually('a metric counts it', async () =>
      /^doorplate_customdomains_without_plan [1-9]/m.test(await operatorMetrics()),
    );
    await tenant.onPlan(`gold-${two}`);
    await eventually('the Plan is missing', async () =>
      (await tenant.get('lost'))?.status?.hosts?.[0]?.message.includes(`on the Plan gold-${two}, which does not exist`),
    );
    await kubectl(['wait', `account/${tenant.namespace}`, '--for=condition=Ready=False', '--timeout=300s']);
    expect(await kubectl(['get', 'account', tenant.namespace])).toContain('PlanNotFound');
    await eventually('a Warning says so', async () =>
      (
        await kubectl([
          'get',
          'events',
          '-n',
          'default',
          '--field-selector',
          `involvedObject.kind=Account,involvedObject.name=${tenant.namespace}`,
        ])
      ).includes('PlanNotFound'),
    );
    await tenant.onPlan('enterprise');
    await tenant.reason('lost', 'RecordMissing');
    await kubectl(['wait', `account/${tenant.namespace}`, '--for=condition=Ready', '--timeout=300s']);
    await remove('lost');
  });

  test('more Projects than the plan allows: the newest is refused in words, until the plan allows it', async () => {
    const says = (reason: string) =>
      eventually(`the newer Project says ${reason}`, async () =>
        (await tenant.getProject('extra'))?.status?.conditions?.some((c) => c.type === 'Ready' && c.reason === reason),
      );
    // A plan of its own: when the Account is found to be on it, the operator knows both.
    await apply([planNamed(one, {maxProjects: 1})]);
    await tenant.onPlan(one);
    await eventually('the Account is on it', async () => {
      const {metadata, status} = JSON.parse(
        await kubectl(['get', 'account', tenant.namespace, '-o', 'json']),
      ) as Account;
      return status?.observedGeneration === metadata.generation && status?.conditions?.[0]?.status === 'True';
    });
    await apply([tenant.project('extra', {serviceRef: {name: 'web', port: 80}, defaultHost: 'Disabled'})]);
    await says('ProjectLimitReached');
    const refused = await tenant.getProject('extra');
    expect(refused?.status?.host).toBeUndefined();
    expect(refused?.status?.conditions?.find((c) => c.type === 'Ready')?.message).toBe(
      `The plan ${one} allows 1 project, and older projects use it. Delete a project, or upgrade the plan.`,
    );
    await kubectl(['patch', 'plan', one, '--type=merge', '-p', '{"spec":{"maxProjects":null}}']);
    await says('DefaultHostDisabled');
    await kubectl(['delete', 'project', '-n', tenant.namespace, 'extra']);
    await tenant.onPlan('enterprise');
  });

  test('more hostnames than the plan allows: the newest wait for a place, and get it', async () => {
    const [a, b, c] = [tenant.host('a'), tenant.host('b'), tenant.host('c')];
    await tenant.attach('many', b, [{from: c}]);
    await tenant.reason('many', 'RecordMissing');
    await tenant.onPlan(two);
    await eventually(
      'the plan is known',
      async () =>
        (
          await kubectl([
            'get',
            'account',
            tenant.namespace,
            '-o',
            'jsonpath={.metadata.generation} {.status.observedGeneration}',
          ])
        ).match(/^(\d+) \1$/) !== null,
    );
    await tenant.attach('many', b, [{from: c}, {from: a}]);
    const full = await tenant.hosts('many', [
      `${b} AwaitingVerification RecordMissing`,
      `${a} NotAccepted HostnameLimitReached`,
      `${c} AwaitingVerification RecordMissing`,
    ]);
    expect(full.status?.hosts?.[1]).toMatchObject({
      waitingFor: 'Customer',
      message: `The plan ${two} allows 2 hostnames a project, and older hostnames use them. Remove a hostname, or upgrade the plan.`,
    });
    expect(full.status?.dnsRecords?.map((r) => r.hostname)).toEqual([b, c]);
    await tenant.attach('many', b, [{from: a}]);
    await tenant.hosts('many', [`${b} AwaitingVerification RecordMissing`, `${a} AwaitingVerification RecordMissing`]);
    await tenant.attach('many', b, [{from: a}, {from: c}]);
    await tenant.hosts('many', [
      `${b} AwaitingVerification RecordMissing`,
      `${a} AwaitingVerification RecordMissing`,
      `${c} NotAccepted HostnameLimitReached`,
    ]);
    await tenant.onPlan('enterprise');
    await tenant.hosts(
      'many',
      [b, a, c].map((h) => `${h} AwaitingVerification RecordMissing`),
    );
    await remove('many');
  });
});

test('a downgrade: Live hostnames are served on without a failed request, and an upgrade leaves no trace of it', async () => {
  const [www, old] = [tenant.host('www'), tenant.host('old')];
  await tenant.records({www: tenant.proof, old: tenant.proof});
  await tenant.attach('site', www, [{from: old}]);
  await tenant.wait('site', 'Ready');
  await issuanceIsOver([www, old]);
  const before = (await tenant.get('site'))!;
  const objects = await made(before.metadata.uid ?? '', [www, old]);
  const replies = new Set<string>();
  const watching = new AbortController();
  const traffic = (async () => {
    while (!watching.signal.aborted) {
      const [page, moved] = await Promise.all(
        [fetchEdge(`https://${www}/`, {ca}), fetchEdge(`https://${old}/x`, {ca})].map((r) =>
          r.catch((e: Error) => ({status: 0, location: e.message})),
        ),
      );
      replies.add(`${page!.status} ${moved!.status} ${moved!.location}`);
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
  })();

  await tenant.onPlan('free');
  const served = await tenant.hosts('site', [`${www} Live PlanUpgradeRequired`, `${old} Live PlanUpgradeRequired`]);
  const {servedUntil: until = '', since = ''} = served.status?.hosts?.[0] ?? {};
  expect(Date.parse(until) - Date.parse(since)).toBe(7 * 86_400_000);
  expect(served.status?.hosts?.[0]?.message).toContain(
    `Upgrade the plan. ${www} is served until ${until.slice(0, 10)}`,
  );
  expect(served.status?.conditions?.map((c) => `${c.type}=${c.status}/${c.reason}`)).toEqual([
    'Accepted=False/PlanUpgradeRequired',
    'Verified=True/Proven',
    'CertificateReady=True/Issued',
    'RoutesReady=True/Routed',
    'Live=True/Serving',
    'Ready=True/PlanUpgradeRequired',
  ]);
  await tenant.wait('site', 'Live');
  // A new hostname is refused at once, though its record is right.
  await tenant.record('new', tenant.proof);
  await tenant.attach('site', www, [{from: old}, {from: tenant.host('new')}]);
  await tenant.hosts('site', [
    `${www} Live PlanUpgradeRequired`,
    `${tenant.host('new')} NotAccepted PlanUpgradeRequired`,
    `${old} Live PlanUpgradeRequired`,
  ]);
  await tenant.attach('site', www, [{from: old}]);
  const again = await tenant.hosts('site', [`${www} Live PlanUpgradeRequired`, `${old} Live PlanUpgradeRequired`]);
  expect(again.status?.hosts?.map((h) => h.servedUntil)).toEqual([until, until]);
  // An Account that is missing neither ends that nor heals it: decided when a newcomer is told that it is missing.
  await tenant.onPlan(undefined);
  await apply([tenant.project('other', {serviceRef: {name: 'web', port: 80}})]);
  await tenant.attach('other', tenant.host('other'), [], 'other');
  await tenant.reason('other', 'PlanNotFound');
  await tenant.verify('site');
  const asked = again.status?.lastHandledReconcileAt;
  const lost = await eventually('it is decided anew', async () => {
    const now = await tenant.get('site');
    return now?.status?.lastHandledReconcileAt !== asked && now!;
  });
  expect({...lost.status, lastHandledReconcileAt: asked}).toEqual(again.status);
  await remove('other');

  await tenant.onPlan('pro');
  const healed = await tenant.hosts('site', [`${www} Live Serving`, `${old} Live Redirecting`]);
  expect(healed.status?.hosts?.map((h) => [h.servedUntil, h.addedAt, h.verifiedAt, h.liveAt])).toEqual(
    before.status?.hosts?.map((h) => [undefined, h.addedAt, h.verifiedAt, h.liveAt]),
  );
  expect(healed.status?.conditions?.map((c) => `${c.type}=${c.status}/${c.reason}`)).toEqual(
    before.status?.conditions?.map((c) => `${c.type}=${c.status}/${c.reason}`),
  );
  watching.abort();
  await traffic;
  expect([...replies]).toEqual([`200 301 https://${www}/x`]);
  expect(await made(before.metadata.uid ?? '', [www, old])).toEqual(objects);
  await eventually('the Events tell it', async () => {
    const told = await kubectl([
      'get',
      'events',
      '-n',
      tenant.namespace,
      '--field-selector',
      'involvedObject.name=site',
      '-o',
      'jsonpath={range .items[*]}{.type} {.reason} {.message}{"\\n"}{end}',
    ]);
    return (
      told.includes(`Warning PlanUpgradeRequired The account ${tenant.namespace} is on the plan free`) &&
      told.split(`Normal Live ${www} is served`).length === 3
    );
  });
  await remove('site');
});

/** Whether a tenant's ServiceAccount may: `projects` or `projects/status`. */
function can(name: string, verb: string, of: string): Promise<boolean> {
  const [resource = '', subresource] = of.split('/');
  // Asked of no namespace, where the kind has none.
  const namespace = ['plans', 'accounts', 'domainclaims'].includes(resource) ? undefined : tenant.namespace;
  return may({namespace: tenant.namespace, name}, verb, {group: 'doorplate.dev', resource, subresource, namespace});
}

describe('what a tenant may write', () => {
  /** A tenant's ServiceAccounts, bound to Kubernetes' own roles in their namespace. */
  const roles = ['view', 'edit', 'admin'] as const;
  beforeAll(async () => {
    await apply(
      roles.flatMap((role) => [
        {apiVersion: 'v1', kind: 'ServiceAccount', metadata: {name: role, namespace: tenant.namespace}},
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'RoleBinding',
          metadata: {name: role, namespace: tenant.namespace},
          roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role},
          subjects: [{kind: 'ServiceAccount', name: role, namespace: tenant.namespace}],
        },
      ]),
    );
    await eventually(
      'the roles have taken ours up',
      async () => (await can('admin', 'create', 'customdomains')) && (await can('view', 'get', 'projects')),
    );
  });

  const reads = ['get', 'list', 'watch'];
  const writes = ['create', 'update', 'patch', 'delete', 'deletecollection'];

  test.each<[string, string, readonly string[], string]>([
    ...['projects', 'customdomains', 'apikeys'].flatMap((kind): [string, string, readonly string[], string][] => [
      ...roles.map((role): [string, string, readonly string[], string] => [role, kind, reads, 'yes']),
      ['view', kind, writes, 'no'],
      ['edit', kind, writes, 'yes'],
      ['admin', kind, writes, 'yes'],
      ...roles.flatMap((role): [string, string, readonly string[], string][] => [
        [role, `${kind}/status`, ['update', 'patch'], 'no'],
        [role, `${kind}/finalizers`, ['update'], 'no'],
      ]),
    ]),
    ...roles.flatMap((role) =>
      ['plans', 'accounts', 'accounts/status', 'domainclaims'].map(
        (kind): [string, string, readonly string[], string] => [role, kind, [...reads, ...writes], 'no'],
      ),
    ),
  ])('%s of %s, %j: %s', async (role, kind, verbs, answer) => {
    expect(await Promise.all(verbs.map((verb) => can(role, verb, kind)))).toEqual(verbs.map(() => answer === 'yes'));
  });
});
