/** What caches keep of objects that somebody has filled up. `observe` puts in what a watch would bring. */
import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import {describe, expect, test} from '@jest/globals';
import {pino} from 'pino';
import {longestStop, requestAnnotations, stopAnnotation} from '../../../operator/api/custom-domain.ts';
import {makeCaches} from '../../../operator/controllers/state/caches.ts';
import {managedBy, ownerLabel} from '../../../operator/resources/labels.ts';
import {bareOwnedObject, bareOwner, finalizer} from '../../../operator/resources/projections.ts';
import {ingresses} from '../../../operator/resources/resources.ts';
import {storeCaches} from '../../../operator/http/store/store.ts';
import {Cache} from '../../../operator/kube/cache/cache.ts';
import type {Client} from '../../../operator/kube/client/client.ts';
import {removeFinalizer} from '../../../operator/kube/writes/finalizer.ts';
import type {KubeObject, ObjectMeta} from '../../../operator/kube/objects.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const noClient = {} as Client;
const log = pino({level: 'silent'});
const all: [role: string, caches: Record<string, unknown>][] = [
  ['operator', makeCaches(noClient, log, ingresses)],
  ['API', storeCaches(noClient, log)],
];

const repeated = (count: number, length: number) =>
  Array.from({length: count}, (_, i) => `pad.test/${String(i).padStart(6, '0')}${'x'.repeat(length)}`);

/** Some 400 KiB of what anybody may write into metadata: as text, so that each object has its own. */
const padding = JSON.stringify({
  labels: {
    [ownerLabel]: 'uid-owner',
    ...managedBy,
    ...Object.fromEntries(repeated(400, 40).map((name) => [name, 'y'.repeat(63)])),
  },
  annotations: {
    pad: 'a'.repeat(64 * 1024),
    'doorplate.dev/lift-ban': 'b'.repeat(64 * 1024),
    [stopAnnotation]: 'd'.repeat(64 * 1024),
    ...Object.fromEntries(requestAnnotations.map((name) => [name, 'c'.repeat(64 * 1024)])),
  },
  finalizers: [...repeated(400, 200), finalizer],
  ownerReferences: repeated(300, 100).map((name) => ({apiVersion: 'v1', kind: 'ConfigMap', name, uid: name})),
});

/** What indexes and projections read of any kind. */
const spec = {
  projectRef: {name: 'docs'},
  serviceRef: {name: 'web', port: 80},
  planRef: {name: 'free'},
  primary: 'docs.example.com',
  hashes: [],
  rules: [],
  ports: [],
};
const paddedObject = (i: number) =>
  ({
    apiVersion: 'any/v1',
    kind: 'Any',
    metadata: {
      ...(JSON.parse(padding) as Partial<ObjectMeta>),
      name: `padded-${i}`,
      namespace: 'acme',
      uid: `uid-${i}`,
      resourceVersion: String(i + 1),
    },
    spec,
  }) as KubeObject;

const heapUsed = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

describe('Of an object that its owner has filled to the brim', () => {
  // What the first objects of all bring into memory (compiled code) is not theirs, and what ran before may be let go meanwhile: of
  // three rounds the middle one counts. 270 KiB that came from elsewhere were seen in one: shared by 50 they are not much.
  const [rounds, objects, mostEach] = [3, 50, 40 * 1024];
  test.each(
    all.flatMap(([role, caches]) =>
      Object.entries(caches)
        .filter((entry): entry is [string, Cache] => entry[1] instanceof Cache)
        .map(([name, cache]) => [role, name, cache] as const),
    ),
  )('the %s keeps little of it among %s', (_, __, cache) => {
    expect(padding.length).toBeGreaterThan(380 * 1024);
    const each = Array.from({length: rounds}, (_r, round) => {
      const before = heapUsed();
      for (let i = 0; i < objects; i++) cache.observe(paddedObject(round * objects + i));
      return (heapUsed() - before) / objects;
    });
    expect([cache.size, cache.unreadable]).toEqual([rounds * objects, 0]);
    expect(each.toSorted((a, b) => a - b)[1]).toBeLessThan(mostEach);
  });
});

test('Of a value of doorplate.dev/stop that is too long, a copy keeps so much that it is too long', () => {
  const value = 'www.example.com,'.repeat(99);
  const {annotations} = bareOwner({metadata: {name: 'docs', annotations: {[stopAnnotation]: value}}}).metadata;
  expect(annotations![stopAnnotation]!.length).toBe(longestStop + 1);
});

describe('Of many finalizers', () => {
  const theirs = repeated(40, 10);
  const full = {
    ...paddedObject(0),
    metadata: {name: 'docs', namespace: 'acme', uid: 'u', resourceVersion: '7', finalizers: [...theirs, finalizer]},
  };

  test('a copy knows whether Doorplate’s is among them, and that there are others', () => {
    expect(bareOwner(full).metadata.finalizers).toEqual([finalizer, '...']);
    const without = {...full, metadata: {...full.metadata, finalizers: theirs}};
    expect(bareOwner(without).metadata.finalizers).toEqual(['...']);
  });

  test('Doorplate’s alone is taken off, although the copy does not have them all', async () => {
    const sent: unknown[] = [];
    const client = {
      get: () => Promise.resolve(full),
      patch: (_: unknown, __: unknown, body: unknown) => Promise.resolve(sent.push(body)),
    };
    await removeFinalizer(
      client as unknown as Client,
      {group: '', version: 'v1', plural: 'any', kind: 'Any', namespaced: true},
      bareOwner(full),
      finalizer,
    );
    expect(sent).toEqual([{metadata: {uid: 'u', resourceVersion: '7', finalizers: theirs}}]);
  });
});

test('Of what Doorplate has written a copy keeps the owners, the intent, and what holds up a removal', () => {
  const {metadata} = paddedObject(0);
  const ownerReferences = [{apiVersion: 'v1', kind: 'CustomDomain', name: 'docs', uid: 'u', controller: true}];
  const annotations = {
    'doorplate.dev/for': 'CustomDomain acme/docs',
    'doorplate.dev/intent': 'a-hash',
    'traefik.ingress.kubernetes.io/router.entrypoints': 'web',
  };
  const child = {
    metadata: {
      ...metadata,
      ownerReferences,
      annotations: {...metadata.annotations, ...annotations},
      finalizers: [...(metadata.finalizers ?? []), 'foregroundDeletion'],
    },
  };
  const {name, namespace, uid, resourceVersion} = metadata;
  expect(bareOwnedObject(child).metadata).toEqual({
    name,
    namespace,
    uid,
    resourceVersion,
    labels: {...managedBy, [ownerLabel]: 'uid-owner'},
    annotations,
    ownerReferences,
    finalizers: ['foregroundDeletion'],
  });
});
