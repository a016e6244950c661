/**
 * The charts and the image of the commit that test/upgrade/BASE names, upgraded to this checkout's and rolled back, in the order
 * that docs/how-to/upgrade.md says, while a client asks over and over. Two versions can't share a cluster (kinds and admission policies
 * are of the whole cluster), so this has the cluster to itself. What the operator alone does of it: test/operator/upgrade.test.ts.
 */
import {readFileSync} from 'node:fs';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import type {Order} from '../../operator/domain/certificates/budget.ts';
import {timestamp} from '../../operator/domain/times.ts';
import {leases} from '../../operator/kube/leader/lease.ts';
import type {KubeObject, Resource} from '../../operator/kube/objects.ts';
import {defineResource, keyOf as nameOf} from '../../operator/kube/objects.ts';
import {
  accounts,
  certificates,
  customDomains,
  domainClaims,
  ingresses,
  projects,
} from '../../operator/resources/resources.ts';
import {acmeRoot, api, audit, eventually, fetchEdge, install, kubectl, root, sh} from '../../cluster/cluster.ts';
import {Base} from '../support/base.ts';
import {stopCertManager} from '../support/cert-manager.ts';
import {issuanceIsOver} from '../support/issuances.ts';
import {operator, succeeded} from '../support/requests.ts';
import {Tenant} from '../support/tenant.ts';
import {constantClient, type Failure, servedBy} from '../support/visitor.ts';

const secrets = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  plural: 'secrets',
  kind: 'Secret',
  namespaced: true,
});
const pods = defineResource<KubeObject>({group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true});
const [release, crds] = [
  ['doorplate', '-n', 'doorplate-system'],
  ['doorplate-crds', '-n', 'doorplate-system'],
];
const waiting = ['--wait', '--timeout', '300s'];

let base: Base;
let ca: string;
/** Served with a redirect and a default host; waiting for its record; removed, its claims in quarantine. */
let served: Tenant;
let early: Tenant;
let gone: Tenant;
/** Its hostname is Live, and its certificate is lost: a state that the previous release does not know. */
let lost: Tenant | undefined;
let hostnames: string[];

const tagOf = (folder: string) => readFileSync(`${folder}/dist/image.tag`, 'utf8').trim();

/** Builds the image of BASE with the scripts of BASE, and imports it into the cluster. */
async function loadBaseImage(): Promise<string> {
  await sh(`${base.folder}/cluster/image.sh`, []);
  const tag = tagOf(base.folder);
  await sh('cluster/enter.sh', ['ctr', 'images', 'import', `${base.folder}/dist/doorplate-${tag}.tar`]);
  return tag;
}

async function installBase(): Promise<void> {
  const {folder} = base;
  const kinds = async () => {
    await sh('helm', ['uninstall', ...release, ...waiting, '--ignore-not-found']);
    // The one for plain HTTP of all hostnames stays with the redirector's Service, and the former release knows nothing of it.
    await kubectl(['delete', 'ingress', 'doorplate-redirector', '-n', 'doorplate-system', '--ignore-not-found']);
    await sh('helm', [
      'upgrade',
      '--install',
      ...crds,
      `${folder}/charts/doorplate-crds`,
      '--create-namespace',
      ...waiting,
    ]);
  };
  const [tag] = await Promise.all([loadBaseImage(), kinds()]);
  await sh('helm', [
    'install',
    ...release,
    `${folder}/charts/doorplate`,
    '-f',
    `${folder}/examples/demo/values.yaml`,
    '--set-string',
    `image.tag=${tag}`,
    ...waiting,
  ]);
}

/** What Doorplate and cert-manager made of these hostnames, by kind and name. */
async function standing(
  kinds: readonly Resource[],
): Promise<Map<string, KubeObject & {spec?: unknown; status?: unknown; data?: unknown}>> {
  const namespaces = [served, early, gone].map((t) => t.namespace);
  const ours = new Set([...namespaces, ...hostnames]);
  const lists = await Promise.all(
    kinds.map(async (kind) => (await api().list(kind)).items.map((o) => [`${kind.kind} ${nameOf(o)}`, o] as const)),
  );
  return new Map(
    lists
      .flat()
      .filter(
        ([
          key,
          {
            metadata: {namespace, name, labels},
          },
        ]) =>
          labels?.['acme.cert-manager.io/http01-solver'] === undefined &&
          (ours.has(namespace ?? name) ||
            (namespace === 'doorplate-system' &&
              [served, early, gone].some((t) => key.includes(t.zone.replace('.', '-'))))),
      )
      .toSorted(),
  );
}

/**
 * What may not change: which object it is, what it says, the keys and certificates themselves, what was told but zones. Ingresses
 * for plain HTTP of one hostname each go with this release, and come back with that of before; no request notices.
 */
async function untouchable(): Promise<Record<string, unknown>> {
  const all = await standing([certificates, ingresses, secrets, customDomains, projects, domainClaims, accounts]);
  return Object.fromEntries(
    [...all]
      .filter(([key]) => !isForPlainHttp(key))
      .map(
        ([
          key,
          {
            metadata: {uid, generation},
            spec,
            data,
            status,
          },
        ]) => [
          key,
          {uid, generation, spec, data, ...(!key.startsWith('Certificate ') && {status: withoutNewFields(status)})},
        ],
      ),
  );
}

const isForPlainHttp = (key: string): boolean => /^Ingress .*-http$/.test(key);

const unworded = (each: object) => ({...each, message: undefined});

/**
 * Removes the status fields that the previous release does not know: `zone`, `verifiedBy` and `details` of each hostname, and the numbers
 * `attachedHostnames` and `liveHostnames`; the new fields of orders; and the messages, which a release may word in another way.
 */
function withoutNewFields(status: unknown): object | undefined {
  if (typeof status !== 'object' || status === null) return undefined;
  const {hosts, conditions, orders} = status as {hosts?: object[]; conditions?: object[]; orders?: Order[]};
  return {
    ...status,
    attachedHostnames: undefined,
    liveHostnames: undefined,
    conditions: conditions?.map(unworded),
    orders: orders?.map(({at, outcome, endedAt}) => ({at, outcome, endedAt})),
    hosts: hosts?.map((host) => ({...unworded(host), zone: undefined, verifiedBy: undefined, details: undefined})),
  };
}

const scaleCertManager = (replicas: number) =>
  kubectl(['scale', 'deploy/cert-manager', '-n', 'cert-manager', `--replicas=${replicas}`]);

/** Orders for these hostnames at the CA, as cert-manager made them. */
async function ordersSince(since: Date): Promise<string[]> {
  const made = await audit(since, (e) => e.verb === 'create' && e.objectRef?.resource === 'orders' && succeeded(e));
  return made
    .flatMap((e) => (e.requestObject as {spec: {dnsNames: string[]}}).spec.dnsNames)
    .filter((name) => hostnames.includes(name));
}

/** Requests of the operator that were refused, but those that a sound one has: another was quicker, what it looks for is not there. */
async function refusedSince(since: Date): Promise<string[]> {
  const refused = await audit(
    since,
    (e) =>
      e.user.username === operator &&
      (e.responseStatus?.code ?? 0) >= 400 &&
      ![404, 409].includes(e.responseStatus?.code ?? 0) &&
      // Where a kind has changed, the API server reads it anew.
      !/storage is \(re\)initializing/.test(e.responseStatus?.message ?? ''),
  );
  return refused.map((e) => `${e.verb} ${e.requestURI}: ${e.responseStatus?.code} ${e.responseStatus?.message}`);
}

/**
 * The requests that fail because the redirector of the previous release stops listening before the edge has heard of it. It was
 * corrected in this release (`lingerMs`). Only redirected requests fail like this, and only those that begin while it stops.
 */
function gapOfBase(failures: readonly Failure[]): readonly Failure[] {
  if (readFileSync(`${base.folder}/operator/redirector/server.ts`, 'utf8').includes('lingerMs')) return [];
  // The Pod refuses the connection (502), or is gone and answers nothing: the edge gives up after its dial timeout of 30 s (504).
  const refusedOrGone = /^(http:|https:\/\/old\.)[^ ]*: (502 Bad Gateway|504 Gateway Timeout|0 timeout)$/;
  const redirected = failures.filter((f) => refusedOrGone.test(f.said));
  const first = Math.min(...redirected.map((f) => f.began));
  return redirected.filter((f) => f.began < first + 5000);
}

/** Does it while a client asks; what stands is as it was, nothing was ordered, and no request failed. */
async function expectNothingOf(
  change: () => Promise<void>,
  excused: (failures: readonly Failure[]) => readonly Failure[] = () => [],
): Promise<void> {
  await issuanceIsOver(hostnames);
  const client = await constantClient([served.host('www'), served.host('old'), served.target], ca);
  const [before, since] = [await untouchable(), new Date()];
  expect(Object.keys(before).filter((key) => /^(Certificate|Secret) /.test(key)).length).toBeGreaterThanOrEqual(6);
  await change();
  await decidesAnew();
  const [after, visits, orders, refused] = [
    await untouchable(),
    await client.stop(),
    await ordersSince(since),
    await refusedSince(since),
  ];
  console.log(`${visits.requests} requests meanwhile, ${visits.failed.length} failed`);
  const failed = visits.failed.filter((f) => !excused(visits.failed).includes(f));
  expect({failed, orders, refused}).toEqual({failed: [], orders: [], refused: []});
  expect(after).toEqual(before);
}

/** One of the operators that stay leads: until then the one of before may decide still, as it goes. */
async function aNewOneLeads(): Promise<void> {
  await eventually('an operator that stays leads', async () => {
    const [{items}, lease] = await Promise.all([
      api().list(pods, {namespace: 'doorplate-system', labelSelector: 'app.kubernetes.io/component=operator'}),
      api().get(leases, 'doorplate-system/doorplate-operator'),
    ]);
    const [holder] = lease?.spec?.holderIdentity?.split('_') ?? [];
    return (
      items.every(({metadata}) => metadata.deletionTimestamp === undefined) &&
      items.some(({metadata}) => metadata.name === holder)
    );
  });
}

/** The operator that runs now has decided something, and done it. */
async function decidesAnew(): Promise<void> {
  await aNewOneLeads();
  await early.attach('second', early.host('second'));
  await early.reason('second', 'ProjectHasDomains');
  await kubectl(['delete', 'customdomain', 'second', '-n', early.namespace]);
}

beforeAll(async () => {
  base = await Base.unpack();
  await installBase();
  [served, early, gone] = await Promise.all([
    Tenant.create('served', {}),
    Tenant.create('early'),
    Tenant.create('gone'),
  ]);
  ca = await acmeRoot();
  hostnames = [served, early, gone].flatMap((t) => [t.host('www'), t.host('old'), t.target]);
  for (const tenant of [served, gone]) await tenant.records({www: tenant.proof, old: tenant.proof});
  for (const tenant of [served, early, gone])
    await tenant.attach('site', tenant.host('www'), [{from: tenant.host('old')}]);
  await Promise.all([served.wait('site', 'Ready'), gone.wait('site', 'Ready'), early.reason('site', 'RecordMissing')]);
  await kubectl(['delete', 'customdomain', 'site', '-n', gone.namespace]);
  await eventually('its claims are in quarantine', async () =>
    (await Promise.all(['www', 'old'].map((label) => api().get(domainClaims, gone.host(label))))).every(
      (c) => c?.status?.quarantinedUntil !== undefined,
    ),
  );
});
afterAll(async () => {
  await scaleCertManager(1);
  await install();
  await Promise.all([served?.remove(), early?.remove(), gone?.remove(), lost?.remove()]);
  await base?.remove();
});

/** A time so many minutes ago. */
const at = (minutes: number) => timestamp(Date.now() - minutes * 60_000);

describe('an installation of the release before', () => {
  test('is upgraded, the kinds first: no order, no changed certificate, no refused status, no failed request', async () => {
    await expectNothingOf(async () => {
      await sh('helm', ['upgrade', ...crds, 'charts/doorplate-crds', ...waiting]);
      await sh('helm', [
        'upgrade',
        ...release,
        'charts/doorplate',
        '--reset-then-reuse-values',
        '--set',
        'image.repository=localhost/doorplate',
        '--set-string',
        `image.tag=${tagOf(root)}`,
        ...waiting,
      ]);
    }, gapOfBase);
  });

  test('needs no Ingress of its own for plain HTTP of a hostname any more', async () => {
    await eventually(
      'the operator has removed them',
      async () => ![...(await standing([ingresses])).keys()].some(isForPlainHttp),
    );
    const www = served.host('www');
    expect(await fetchEdge(`http://${www}/a?b`)).toMatchObject({status: 308, location: `https://${www}/a?b`});
  });

  test('goes on after it: what waited goes Live, and what was removed comes back to its tenant', async () => {
    await early.records({www: early.proof, old: early.proof});
    await gone.attach('site', gone.host('www'), [{from: gone.host('old')}]);
    await Promise.all([early, gone].map((t) => t.wait('site', 'Ready')));
    for (const tenant of [early, gone]) await servedBy(tenant.host('www'), tenant, ca);
    expect((await api().get(domainClaims, gone.host('www')))?.status).toMatchObject({holder: {name: 'site'}});
  });

  test('reports a lost certificate of a Live hostname, which the release before did not', async () => {
    lost = await Tenant.create('lost');
    await lost.record('www', lost.proof);
    await lost.attach('site', lost.host('www'));
    const {metadata} = await lost.wait('site', 'Ready').then(async () => (await lost!.get('site'))!);
    const [key = ''] = await lost.children(metadata.uid ?? '', certificates);
    // cert-manager is away, so it does not correct the condition.
    await stopCertManager();
    const {status} = (await api().get(certificates, key))!;
    const conditions = (status?.conditions ?? []).map((c) =>
      c.type === 'Ready' ? {...c, status: 'False', reason: 'DoesNotExist', message: 'Secret does not exist'} : c,
    );
    await api().patch(certificates, key, {status: {conditions}}, {type: 'merge', subresource: 'status'});
    expect((await lost.reason('site', 'CertificateLost')).status?.phase).toBe('Live');
  });

  test('remembers the orders of a hostname with their issuer, their tenant and why they failed', async () => {
    const made = {issuer: 'pebble', tenant: early.namespace};
    const orders: Order[] = [
      // Of an issuer that the settings do not name.
      {at: at(60), outcome: 'Issued', endedAt: at(59), ...made, issuer: 'another'},
      {at: at(50), outcome: 'Issued', endedAt: at(49), ...made},
      {
        at: at(40),
        outcome: 'Failed',
        endedAt: at(39),
        cause: 'Authority',
        refusedUntil: at(30),
        message: '500',
        ...made,
      },
      {at: at(20), outcome: 'Pending', endedAt: at(20), superseded: true, renewal: true, ...made},
    ];
    const claim = early.host('old');
    await api().patch(domainClaims, claim, {status: {orders}}, {type: 'merge'});
    await decidesAnew();
    expect((await api().get(domainClaims, claim))?.status?.orders).toMatchObject(orders);
  });

  test('is rolled back, the kinds stay: the same holds, and what is removed then is removed', async () => {
    await expectNothingOf(async () => {
      await sh('helm', ['rollback', ...release, ...waiting]);
    });
    await kubectl(['delete', 'customdomain', 'site', '-n', early.namespace]);
    await eventually(
      'its claim is in quarantine',
      async () => (await api().get(domainClaims, early.host('www')))?.status?.quarantinedUntil !== undefined,
    );
    expect((await gone.get('site'))?.status?.phase).toBe('Live');
    // The previous release does not know the reason of the lost certificate, and writes its own.
    expect((await lost!.reason('site', 'Serving')).status?.phase).toBe('Live');
    expect((await fetchEdge(`https://${lost!.host('www')}/`, {ca})).status).toBe(200);
  });
});
