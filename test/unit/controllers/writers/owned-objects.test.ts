/** That the real API server and its garbage collector answer so is shown in test/crds/kube-apply.test.ts and test/cluster/obstacles.test.ts. */
import {describe, expect, test} from '@jest/globals';
import {pino} from 'pino';
import type {Certificate, CertificateRequest} from '../../../../operator/api/foreign.ts';
import {makeCaches} from '../../../../operator/controllers/state/caches.ts';
import {OwnedObjects} from '../../../../operator/controllers/writers/owned-objects.ts';
import {Writes, writesPerTurn} from '../../../../operator/controllers/writers/writes.ts';
import {ownerLabel} from '../../../../operator/resources/labels.ts';
import {ingresses} from '../../../../operator/resources/resources.ts';
import type {RetainedCertificates} from '../../../../operator/controllers/writers/retained-certificates.ts';
import {makeCertificate} from '../../../../operator/domain/certificates/certificate.ts';
import {Applier} from '../../../../operator/kube/writes/apply.ts';
import type {Client} from '../../../../operator/kube/client/client.ts';
import {ApiError, StaleReadError} from '../../../../operator/kube/errors.ts';

const owner = {
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'CustomDomain',
  metadata: {name: 'docs', namespace: 'acme', uid: 'owner'},
};
const cacheOf = (...objects: object[]) =>
  ({resource: ingresses, by: () => objects, get: () => undefined, kept: (o: object) => o}) as never;

const goes = () => undefined;

/** What writing these routes has come to. Throws what is not of one route alone. */
async function applied(children: OwnedObjects, routes: readonly object[]) {
  const writes = new Writes(async () => true);
  const changed = await children.applyRoutes(owner, routes as never, writes);
  return {changed, ...writes, failed: writes.failure()};
}

test('a route whose deletion a tenant holds up is deleted all the same when its owner goes', async () => {
  const sent: unknown[] = [];
  const client = {
    delete: async (_: unknown, key: string, options: object) => {
      sent.push([key, options]);
      return 'Deleted';
    },
  } as unknown as Client;
  const held = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {
      name: 'x',
      namespace: 'acme',
      uid: 'route',
      finalizers: ['foregroundDeletion'],
      deletionTimestamp: '2026-01-01T00:00:00Z',
    },
  };
  const applier = new Applier(client, {fieldManager: 'doorplate', hashAnnotation: 'doorplate.dev/intent'});
  await new OwnedObjects({
    client,
    applier,
    certificates: cacheOf(),
    routes: cacheOf(held),
    requests: cacheOf(),
    resting: {} as RetainedCertificates,
    beforeCertificatesAreRemoved: async () => {},
  }).remove(owner);
  expect(sent).toEqual([['acme/x', {uid: 'route', propagation: 'Background'}]]);
});

test('a write that fails holds up no removal: deletions come before it', async () => {
  const sent: unknown[] = [];
  const client = {
    delete: async (_: unknown, key: string) => {
      sent.push(`DELETE ${key}`);
      return 'Deleted';
    },
    applyPatch: async (_: unknown, {metadata: {name}}: {metadata: {name: string}}) => {
      sent.push(`PATCH ${name}`);
      throw new Error('no answer');
    },
  } as unknown as Client;
  const going = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {name: 'old', namespace: 'acme', uid: 'route'},
    hosts: [],
  };
  const applier = new Applier(client, {fieldManager: 'doorplate', hashAnnotation: 'doorplate.dev/intent'});
  const caches = {
    certificates: cacheOf(),
    routes: cacheOf(going),
    requests: cacheOf(),
  };
  const children = new OwnedObjects({
    client,
    applier,
    ...caches,
    resting: {} as RetainedCertificates,
    beforeCertificatesAreRemoved: async () => {},
  });
  const wanted = ['one', 'two'].map((name) => ({...going, metadata: {name, namespace: 'acme'}, spec: {rules: []}}));
  await expect(applied(children, wanted)).rejects.toThrow('no answer');
  expect(sent).toEqual(['DELETE acme/old', 'PATCH one', 'PATCH two']);
});

test('the facts about each of many Certificates are found by its own requests, not among all of their owner', () => {
  const caches = makeCaches({} as Client, pino({level: 'silent'}), ingresses);
  const labels = {'app.kubernetes.io/managed-by': 'doorplate', [ownerLabel]: 'owner'};
  const names = Array.from({length: 500}, (_, i) => `c${i}`);
  const meta = (name: string) => ({name, namespace: 'acme', uid: `uid-${name}`, resourceVersion: '1', labels});
  for (const name of names) {
    caches.certificates.observe({
      metadata: meta(name),
      spec: {dnsNames: [`${name}.example`]},
    } as unknown as Certificate);
    const annotations = {'cert-manager.io/certificate-name': name};
    const ownerReferences = [{uid: `uid-${name}`}];
    const metadata = {...meta(`${name}-1`), annotations, ownerReferences, creationTimestamp: name};
    caches.requests.observe({metadata} as unknown as CertificateRequest);
  }
  let looked = 0;
  const requests = {
    by: (index: string, value: string) => {
      const found = caches.requests.by(index, value);
      looked += found.length;
      return found;
    },
  } as never;
  const [applier, resting, beforeCertificatesAreRemoved] = [{} as Applier, {} as RetainedCertificates, async () => {}];
  const children = new OwnedObjects({
    ...caches,
    requests,
    client: {} as Client,
    applier,
    resting,
    beforeCertificatesAreRemoved,
  });
  const at = {owner, namespace: 'acme', tenant: undefined, now: 0};
  const attemptOf = (name: string) => children.certificate({...at, hostname: `${name}.example`})?.attemptAt;
  expect(names.map(attemptOf)).toEqual(names);
  expect(looked).toBe(500);
});

describe('An owner of many objects', () => {
  const routes = Array.from({length: 3 * writesPerTurn}, (_, i) => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {name: `r${i}`, namespace: 'acme'},
    spec: {rules: []},
  }));

  /** Of an API server that keeps what it takes and refuses the routes of these names. */
  function childrenOf(refused: ReadonlySet<string>, answer = {status: 422, body: ''}) {
    const standing = new Map<string, object>();
    let sent = 0;
    const client = {
      applyPatch: async (_: unknown, route: (typeof routes)[number]) => {
        sent++;
        if (refused.has(route.metadata.name)) throw new ApiError(answer);
        return {...route, metadata: {...route.metadata, uid: route.metadata.name}};
      },
    } as unknown as Client;
    const cache = {
      ...(cacheOf() as object),
      get: (key: string) => standing.get(key),
      observe: (route: (typeof routes)[number]) => standing.set(`acme/${route.metadata.name}`, route),
    } as never;
    const applier = new Applier(client, {fieldManager: 'doorplate', hashAnnotation: 'doorplate.dev/intent'});
    const caches = {certificates: cacheOf(), routes: cache, requests: cacheOf()};
    const resting = {} as RetainedCertificates;
    const children = new OwnedObjects({
      client,
      applier,
      resting,
      ...caches,
      beforeCertificatesAreRemoved: async () => {},
    });
    const apply = () => applied(children, routes);
    return {apply, standing, sent: () => sent};
  }

  test('has so many written in a turn, and the rest in those that follow', async () => {
    const {apply, standing} = childrenOf(new Set());
    const turns: [number, boolean][] = [];
    for (let before = 0; turns.length < 5 && standing.size < routes.length; before = standing.size) {
      const {unfinished} = await apply();
      turns.push([standing.size - before, unfinished]);
    }
    expect(turns.map(([, unfinished]) => unfinished)).toEqual([true, true, false]);
    for (const [written] of turns) expect(written).toBeLessThan(writesPerTurn + 8);
    expect(await apply()).toMatchObject({changed: false, unfinished: false});
  });

  test('has all tried that are refused, and others are written in the same turn', async () => {
    const refused = new Set(routes.slice(0, 2 * writesPerTurn).map(({metadata}) => metadata.name));
    const {apply, standing, sent} = childrenOf(refused);
    const {unfinished, writeErrors} = await apply();
    expect([sent(), standing.size, writeErrors.size, unfinished]).toEqual([300, 100, 200, false]);
  });

  test('has the failure of one write named, and thrown for a retry, when the others are written', async () => {
    const {apply, standing} = childrenOf(new Set(['r0']), {status: 500, body: 'the webhook is away'});
    const {failed, changed, writeErrors} = await apply();
    expect([failed?.says, changed, [...writeErrors.values()]]).toEqual([
      'the webhook is away',
      true,
      [{kind: 'WriteFailed', object: 'Ingress acme/r0', says: 'the webhook is away'}],
    ]);
    expect(standing.has('acme/r1')).toBe(true);
  });

  test('hears of a kind that the cluster does not have, as a refusal, and needs no retry of its own', async () => {
    const {failed, writeErrors} = await childrenOf(new Set(['r0']), {status: 404, body: '404 page not found'}).apply();
    expect([failed, [...writeErrors.values()]]).toEqual([
      undefined,
      [{kind: 'WriteRefused', object: 'Ingress acme/r0', says: 'the cluster has no kind Ingress.'}],
    ]);
  });

  test.each([
    ['asks everybody to wait', 429],
    ['cannot serve', 503],
    ['knows nobody', 401],
  ])('is not brought further while the API server %s', async (_, status) => {
    await expect(childrenOf(new Set(['r0']), {status, body: ''}).apply()).rejects.toThrow(ApiError);
  });
});

/** Three attempts whose CertificateRequests are deleted, while the API server answers so to the deletion of the first. */
async function started(answer: {status: number; body: string}) {
  const sent: string[] = [];
  const client = {
    delete: async (_: unknown, key: string) => {
      sent.push(key);
      if (key === 'acme/r0') throw new ApiError(answer);
      return 'Deleted';
    },
  } as unknown as Client;
  const caches = {certificates: cacheOf(), routes: cacheOf(), requests: cacheOf()};
  const [applier, resting] = [{} as Applier, {} as RetainedCertificates];
  const children = new OwnedObjects({
    client,
    applier,
    resting,
    ...caches,
    beforeCertificatesAreRemoved: async () => {},
  });
  const writes = new Writes(async () => true);
  const attempts = ['r0', 'r1', 'r2'].map((name) => ({
    certificate: {namespace: 'acme', name: `of-${name}`},
    request: {namespace: 'acme', name, uid: `uid-${name}`},
    mark: false,
  }));
  const outcome = await children.startAttempts(attempts, 0, writes).catch((error: unknown) => error);
  return {sent, outcome, writes};
}

describe('Fresh attempts', () => {
  const all = ['acme/r0', 'acme/r1', 'acme/r2'];

  test('are all tried when one fails: the failure is named by its Certificate, and thrown for a retry', async () => {
    const {sent, outcome, writes} = await started({status: 500, body: 'the webhook is away'});
    expect([sent, outcome, [...writes.writeErrors], writes.failure()?.says]).toEqual([
      all,
      true,
      [['of-r0', {kind: 'WriteFailed', object: 'Certificate acme/of-r0', says: 'the webhook is away'}]],
      'the webhook is away',
    ]);
  });

  test('that the API server refuses are named, and retried each minute', async () => {
    const {sent, outcome, writes} = await started({status: 403, body: 'no'});
    expect([sent, outcome, [...writes.writeErrors.values()], writes.failure()]).toEqual([
      all,
      true,
      [{kind: 'WriteRefused', object: 'Certificate acme/of-r0', says: 'no'}],
      undefined,
    ]);
  });

  test('whose copies are old throw the conflict after all were tried, so that the reconcile starts over', async () => {
    const {sent, outcome, writes} = await started({status: 409, body: ''});
    expect([sent, outcome, writes.writeErrors.size]).toEqual([all, expect.any(ApiError), 0]);
  });
});

test('a Certificate that is to come back and is gone is not made anew: the reconcile starts over', async () => {
  const applier = new Applier({} as Client, {fieldManager: 'doorplate', hashAnnotation: 'doorplate.dev/intent'});
  const caches = {certificates: cacheOf(), routes: cacheOf(), requests: cacheOf()};
  const children = new OwnedObjects({
    client: {} as Client,
    applier,
    ...caches,
    resting: {} as RetainedCertificates,
    beforeCertificatesAreRemoved: async () => {},
  });
  const issuerRef = {name: 'ca', kind: 'ClusterIssuer', group: 'cert-manager.io'};
  const wanted = makeCertificate({name: 'docs', namespace: 'acme', hostname: 'docs.example.com', issuerRef});
  await expect(
    (async () => {
      const writes = new Writes(async () => true);
      await children.applyCertificates(owner, {certificates: [wanted], returning: ['acme/docs']}, goes, writes);
      writes.failure();
    })(),
  ).rejects.toThrow(StaleReadError);
});
