import {afterAll, beforeAll, beforeEach, describe, expect, test} from '@jest/globals';
import {Registry} from 'prom-client';
import {Applier} from '../../operator/kube/writes/apply.ts';
import {Client} from '../../operator/kube/client/client.ts';
import {kitMetrics} from '../../operator/kube/metrics.ts';
import {type KubeObject, keyOf, ownerReference, type Resource} from '../../operator/kube/objects.ts';
import {type ConfigMap, configMaps, eventually, makeNamespace, makeWidgets, type Widget} from '../support/kube-api.ts';
import type {ApiServer} from '../support/kube-server.ts';
import {Platform} from '../support/platform.ts';

type Managed = ConfigMap & {metadata: {managedFields?: {manager: string; operation: string}[]}};

const registry = new Registry();
const isOurs = (object: KubeObject): boolean => object.metadata.labels?.owner === 'us';
const options = {fieldManager: 'kit', hashAnnotation: 'kit.test/intent'};

let server: ApiServer;
let client: Client;
let applier: Applier;
let namespace: string;
let serial = 0;
let name: string;

beforeAll(async () => {
  server = await Platform.server();
  client = new Client(server.credentials, {metrics: kitMetrics(registry)});
  applier = new Applier(client, options);
  namespace = await makeNamespace(client);
});
afterAll(async () => {
  await client.close();
  await server.stop();
});
beforeEach(() => {
  name = `object-${serial++}`;
});

function intent(data: Record<string, string>, labels: Record<string, string> = {owner: 'us'}): ConfigMap {
  return {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name, namespace, labels}, data};
}

function live(): Promise<Managed | undefined> {
  return client.get(configMaps, `${namespace}/${name}`) as Promise<Managed | undefined>;
}

async function sentSoFar(): Promise<number> {
  const {values} = await registry.getSingleMetric('rest_client_requests_total')!.get();
  return values.reduce((sum, {value}) => sum + value, 0);
}

/** Of the object that the test is about. */
function key(): string {
  return `${namespace}/${name}`;
}

/** How many requests `work` sends, and what it gives. */
async function counted<T>(work: () => Promise<T>): Promise<{requests: number; value: T}> {
  const before = await sentSoFar();
  const value = await work();
  return {requests: (await sentSoFar()) - before, value};
}

describe('the first write', () => {
  test('creates by one request, as an apply', async () => {
    const {requests, value} = await counted(() =>
      applier.apply(configMaps, intent({a: '1'}), {existing: undefined, isOurs}),
    );
    expect(value.outcome).toBe('Created');
    expect(requests).toBe(1);
    expect((await live())!.metadata.managedFields).toMatchObject([{manager: 'kit', operation: 'Apply'}]);
  });

  test.each([
    {who: 'another manager', fieldManager: 'somebody', data: {a: 'theirs'}},
    {who: 'another manager, with the very same content', fieldManager: 'somebody', data: {a: '1'}},
    {who: 'somebody under our field manager', fieldManager: 'kit', data: {a: 'theirs'}},
  ])('leaves alone what $who made, though the cache did not know it', async ({fieldManager, data}) => {
    await client.create(configMaps, intent(data, {}), {fieldManager});
    const before = await live();
    const result = await applier.apply(configMaps, intent({a: '1'}), {existing: undefined, isOurs});
    expect(result).toMatchObject({outcome: 'NotOurs', object: {metadata: {name}}});
    expect(await live()).toEqual(before);
  });

  test('updates an object of ours that the cache did not know', async () => {
    await applier.apply(configMaps, intent({a: '1', b: '1'}), {existing: undefined, isOurs});
    const result = await applier.apply(configMaps, intent({a: '2'}), {existing: undefined, isOurs});
    expect(result).toMatchObject({outcome: 'Applied', conflicts: []});
    expect((await live())!.data).toEqual({a: '2'});
  });

  test('is done once when ten do it at the same time', async () => {
    const all = await Promise.all(
      Array.from({length: 10}, () => applier.apply(configMaps, intent({a: '1'}), {existing: undefined, isOurs})),
    );
    expect(all.filter(({outcome}) => outcome === 'Created')).toHaveLength(1);
    expect(all.filter(({outcome}) => outcome === 'Applied')).toHaveLength(9);
  });
});

describe('a custom resource', () => {
  let widgets: Resource<Widget>;
  beforeAll(async () => {
    widgets = await makeWidgets(client);
  });
  const widget = (size: number, labels: Record<string, string> = {owner: 'us'}): Widget => ({
    apiVersion: `${widgets.group}/v1`,
    kind: 'Widget',
    metadata: {name, namespace, labels},
    spec: {size},
  });

  test('is created by one request, and once when ten do it at the same time', async () => {
    const {requests, value} = await counted(() => applier.apply(widgets, widget(1), {existing: undefined, isOurs}));
    expect({requests, outcome: value.outcome}).toEqual({requests: 1, outcome: 'Created'});
    name = `${name}-ten`;
    const all = await Promise.all(
      Array.from({length: 10}, () => applier.apply(widgets, widget(1), {existing: undefined, isOurs})),
    );
    expect(all.filter(({outcome}) => outcome === 'Created')).toHaveLength(1);
  });

  test('of somebody else is left alone, though the cache did not know it', async () => {
    await client.create(widgets, widget(1, {}), {fieldManager: 'kit'});
    const before = await client.get(widgets, key());
    expect((await applier.apply(widgets, widget(2), {existing: undefined, isOurs})).outcome).toBe('NotOurs');
    expect(await client.get(widgets, key())).toEqual(before);
  });

  test('of somebody else that replaced ours is left alone', async () => {
    const {object} = await applier.apply(widgets, widget(1), {existing: undefined, isOurs});
    await client.delete(widgets, key());
    await client.create(widgets, widget(7, {}));
    expect((await applier.apply(widgets, widget(2), {existing: object, isOurs})).outcome).toBe('NotOurs');
    expect((await client.get(widgets, key()))!.spec).toEqual({size: 7});
  });

  test('is taken back from another manager, who is named', async () => {
    const {object} = await applier.apply(widgets, widget(1), {existing: undefined, isOurs});
    const changed = await client.patch(
      widgets,
      keyOf(object),
      {spec: {size: 5}},
      {type: 'merge', fieldManager: 'somebody'},
    );
    const result = await applier.apply(widgets, widget(1), {existing: changed, isOurs});
    expect(result).toMatchObject({outcome: 'Applied', conflicts: [{manager: 'somebody'}]});
    expect((await client.get(widgets, key()))!.spec).toEqual({size: 1});
  });
});

describe('a later write', () => {
  test('is not sent when the object stands as intended', async () => {
    const {object} = await applier.apply(configMaps, intent({a: '1'}), {existing: undefined, isOurs});
    const {requests, value} = await counted(() =>
      applier.apply(configMaps, intent({a: '1'}), {existing: object, isOurs}),
    );
    expect({requests, outcome: value.outcome}).toEqual({requests: 0, outcome: 'Unchanged'});
  });

  test('removes what the intent no longer holds, and leaves what others added', async () => {
    const {object} = await applier.apply(configMaps, intent({a: '1', b: '1'}), {existing: undefined, isOurs});
    await client.patch(configMaps, keyOf(object), {data: {theirs: 'x'}}, {type: 'merge', fieldManager: 'somebody'});
    const {requests, value} = await counted(async () =>
      applier.apply(configMaps, intent({a: '1'}), {existing: object, isOurs}),
    );
    expect({requests, outcome: value.outcome}).toEqual({requests: 1, outcome: 'Applied'});
    expect((await live())!.data).toEqual({a: '1', theirs: 'x'});
  });

  test('takes back a field from another manager, and says whom from', async () => {
    const {object} = await applier.apply(configMaps, intent({a: '1'}), {existing: undefined, isOurs});
    const changed = await client.patch(
      configMaps,
      keyOf(object),
      {data: {a: 'theirs'}},
      {type: 'merge', fieldManager: 'somebody'},
    );
    const result = await applier.apply(configMaps, intent({a: '1'}), {existing: changed, isOurs});
    expect(result).toMatchObject({outcome: 'Applied', conflicts: [{manager: 'somebody', field: '.data.a'}]});
    expect((await live())!.data).toEqual({a: '1'});
  });

  test('never changes a namesake of somebody else that replaced the object', async () => {
    const {object} = await applier.apply(configMaps, intent({a: '1'}), {existing: undefined, isOurs});
    await client.delete(configMaps, keyOf(object));
    await client.create(configMaps, intent({a: 'theirs'}, {}), {fieldManager: 'somebody'});
    const before = await live();
    const result = await applier.apply(configMaps, intent({a: '2'}), {existing: object, isOurs});
    expect(result.outcome).toBe('NotOurs');
    expect(await live()).toEqual(before);
  });

  test('creates anew when the object is gone', async () => {
    const {object} = await applier.apply(configMaps, intent({a: '1'}), {existing: undefined, isOurs});
    await client.delete(configMaps, keyOf(object));
    const result = await applier.apply(configMaps, intent({a: '2'}), {existing: object, isOurs});
    expect(result.outcome).toBe('Created');
    expect((await live())!.metadata.uid).not.toBe(object.metadata.uid);
  });

  test('is not sent for an object that the cache knows as somebody else’s', async () => {
    const theirs = await client.create(configMaps, intent({a: 'theirs'}, {}));
    const {requests, value} = await counted(() =>
      applier.apply(configMaps, intent({a: '1'}), {existing: theirs, isOurs}),
    );
    expect({requests, outcome: value.outcome}).toEqual({requests: 0, outcome: 'NotOurs'});
  });

  test('throws what the API server says of a bad intent', async () => {
    await expect(
      applier.apply(configMaps, {...intent({}), data: {'not a key!': ''}}, {existing: undefined, isOurs}),
    ).rejects.toMatchObject({status: 422});
  });
});

describe('a removal', () => {
  test('deletes the object that was read, once', async () => {
    const {object} = await applier.apply(configMaps, intent({a: '1'}), {existing: undefined, isOurs});
    expect(await applier.remove(configMaps, object, {isOurs})).toBe('Deleted');
    expect(await live()).toBeUndefined();
    expect(await applier.remove(configMaps, object, {isOurs})).toBe('NotFound');
  });

  test('leaves a namesake that replaced it', async () => {
    const {object} = await applier.apply(configMaps, intent({a: '1'}), {existing: undefined, isOurs});
    await client.delete(configMaps, keyOf(object));
    await client.create(configMaps, intent({a: 'theirs'}, {}));
    expect(await applier.remove(configMaps, object, {isOurs})).toBe('NotFound');
    expect((await live())!.data).toEqual({a: 'theirs'});
  });

  test('asks nothing for what is somebody else’s, or is being deleted already', async () => {
    const theirs = await client.create(configMaps, intent({a: 'theirs'}, {}));
    expect(await counted(() => applier.remove(configMaps, theirs, {isOurs}))).toEqual({requests: 0, value: 'NotOurs'});
    const going = {metadata: {...theirs.metadata, labels: {owner: 'us'}, deletionTimestamp: '2026-01-01T00:00:00Z'}};
    expect(await counted(() => applier.remove(configMaps, going, {isOurs}))).toEqual({requests: 0, value: 'Going'});
  });

  test.each(['Foreground', 'Orphan'] as const)(
    'ends a deletion that waits (%s), and asks once where a stranger’s finalizer keeps the object',
    async (propagation) => {
      await applier.apply(configMaps, intent({a: '1'}), {existing: undefined, isOurs});
      const object = await client.patch(
        configMaps,
        key(),
        {metadata: {finalizers: ['kit.test/held']}},
        {type: 'merge'},
      );
      const dependent: ConfigMap = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: `${name}-dependent`,
          namespace,
          finalizers: ['kit.test/held'],
          ownerReferences: [ownerReference(object, {blockOwnerDeletion: true})],
        },
      };
      await client.create(configMaps, dependent);
      await client.delete(configMaps, key(), {propagation});
      // The garbage collector takes `orphan` off as soon as it has come round; then nothing waits.
      const waiting = {
        metadata: {
          ...(await live())!.metadata,
          finalizers: ['kit.test/held', propagation === 'Orphan' ? 'orphan' : 'foregroundDeletion'],
        },
      };
      expect(await counted(() => applier.remove(configMaps, waiting, {isOurs}))).toEqual({
        requests: 1,
        value: 'Deleted',
      });
      const now = await live();
      expect(now!.metadata.finalizers).toEqual(['kit.test/held']);
      expect(await counted(() => applier.remove(configMaps, now!, {isOurs}))).toEqual({requests: 0, value: 'Going'});
      for (const held of [key(), `${key()}-dependent`])
        await client.patch(configMaps, held, {metadata: {finalizers: null}}, {type: 'merge'});
      await eventually(async () => (await live()) === undefined);
    },
  );
});
