import {setTimeout as wait} from 'node:timers/promises';
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from '@jest/globals';
import pino from 'pino';
import {Registry} from 'prom-client';
import {Cache, type CacheOptions} from '../../operator/kube/cache/cache.ts';
import {Client} from '../../operator/kube/client/client.ts';
import {kitMetrics} from '../../operator/kube/metrics.ts';
import {defineResource, type KubeObject} from '../../operator/kube/objects.ts';
import type {WatchState} from '../../operator/kube/cache/watch.ts';
import {type ConfigMap, configMaps, eventually, makeNamespace, makeWidgets} from '../support/kube-api.ts';
import {FaultProxy, type Fate, type Seen} from '../support/kube-proxy.ts';
import type {ApiServer} from '../support/kube-server.ts';
import {Platform} from '../support/platform.ts';

interface Small {
  metadata: ConfigMap['metadata'];
  a: string | undefined;
}

let server: ApiServer;
let proxy: FaultProxy;
/** Past the proxy. */
let direct: Client;
/** Through it. */
let client: Client;
let namespace: string;
let stop: AbortController;
let cache: Cache<Small, ConfigMap>;
let changes: string[];
let logged: string[];
let registry: Registry;

beforeAll(async () => {
  server = await Platform.server();
});
afterAll(() => server.stop());

beforeEach(async () => {
  proxy = new FaultProxy(server.credentials);
  await proxy.listen();
  direct = server.client();
  registry = new Registry();
  client = new Client(proxy.credentials, {metrics: kitMetrics(registry)});
  stop = new AbortController();
  changes = [];
  logged = [];
  namespace = await makeNamespace(direct);
});
afterEach(async () => {
  stop.abort();
  await cache.stopped();
  await client.close();
  await proxy.close();
  await direct.close();
});

function make(watcher: CacheOptions<Small, ConfigMap>['watcher'] = {}): Cache<Small, ConfigMap> {
  const log = pino({}, {write: (line: string) => void logged.push(line)});
  cache = new Cache(client, configMaps, {
    namespace,
    log,
    labelSelector: 'kit=test',
    project: ({metadata, data}) => ({metadata, a: readable(data?.a)}),
    indexes: {a: ({a}) => (a === undefined ? [] : [a])},
    watcher: {backoff: {baseMs: 50, capMs: 400}, ...watcher},
  });
  cache.onChange((now, before) =>
    changes.push(`${(now ?? before)!.metadata.name} ${before?.a ?? '-'} ${now?.a ?? '-'}`),
  );
  return cache;
}

function readable(a: string | undefined): string | undefined {
  if (a === 'unreadable') throw new Error('nothing can be made of this');
  return a;
}

const unreadable = async () => (await registry.getSingleMetric('cache_unreadable_objects')!.get()).values[0]?.value;

const object = (name: string, a: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {name, namespace, labels: {kit: 'test'}},
  data: {a},
});
const create = (name: string, a: string): Promise<ConfigMap> => direct.create(configMaps, object(name, a));
const change = (name: string, a: string): Promise<ConfigMap> =>
  direct.patch(configMaps, `${namespace}/${name}`, {data: {a}}, {type: 'merge'});
const destroy = (name: string): Promise<string> => direct.delete(configMaps, `${namespace}/${name}`);
const at = (name: string): string | undefined => cache.get(`${namespace}/${name}`)?.a;
const content = (): string =>
  cache
    .list()
    .map(({metadata, a}) => `${metadata.name}=${a}`)
    .toSorted()
    .join(' ');

async function started(): Promise<void> {
  cache.start(stop.signal);
  await cache.synced;
  await eventually(() => proxy.openWatches === 1);
}

describe('a copy', () => {
  test('is listed in pages, follows changes, and is found by index', async () => {
    for (let i = 0; i < 25; i++) await create(`o-${i}`, String(i % 5));
    make({pageSize: 10});
    expect(cache.isSynced).toBe(false);
    await started();
    expect(proxy.seen.filter(({isWatch}) => !isWatch)).toHaveLength(3);
    expect(cache.size).toBe(25);
    expect(changes).toHaveLength(25);
    expect(
      cache
        .by('a', '3')
        .map(({metadata}) => metadata.name)
        .toSorted(),
    ).toEqual(['o-13', 'o-18', 'o-23', 'o-3', 'o-8']);
    await change('o-3', 'new');
    await destroy('o-8');
    await eventually(() => at('o-3') === 'new' && at('o-8') === undefined);
    expect(cache.by('a', '3')).toHaveLength(3);
    expect(cache.by('a', 'new').map(({metadata}) => metadata.name)).toEqual(['o-3']);
    expect(changes.slice(25).toSorted()).toEqual(['o-3 3 new', 'o-8 3 -']);
    expect(() => cache.by('b', 'x')).toThrow("no index 'b'");
  });

  test('loses what leaves the selector, and holds no managedFields', async () => {
    await create('stays', '1');
    const leaves = await create('leaves', '1');
    make();
    await started();
    expect(cache.get(`${namespace}/stays`)!.metadata).not.toHaveProperty('managedFields');
    await direct.patch(configMaps, `${namespace}/${leaves.metadata.name}`, {metadata: {labels: null}}, {type: 'merge'});
    await eventually(() => at('leaves') === undefined);
    expect(content()).toBe('stays=1');
  });

  test('is whole where a page is too much to read: it is asked for by halves, and so are those after it', async () => {
    for (let i = 0; i < 8; i++) await create(`a-${i}`, 'small');
    for (let i = 0; i < 6; i++) await create(`b-${i}`, 'x'.repeat(20_000));
    await client.close();
    client = new Client(proxy.credentials, {longestAnswer: 70_000});
    make({pageSize: 8});
    cache.start(stop.signal);
    await eventually(() => cache.isSynced || logged.some((line) => line.includes('too long')));
    expect([cache.isSynced, cache.size]).toEqual([true, 14]);
    const lists = proxy.seen.filter((seen) => purpose(seen) === 'list');
    expect(lists.map(({url}) => url.searchParams.get('limit'))).toEqual(['8', '8', '4', '2', '2', '2']);
  });

  test('passes over an object of which nothing can be made, in a list and in a watch, and counts it until it is put right', async () => {
    await create('listed', 'unreadable');
    await create('one', '1');
    make();
    await started();
    expect([content(), await unreadable()]).toEqual(['one=1', 1]);
    await create('watched', 'unreadable');
    await create('two', '2');
    await eventually(() => at('two') === '2');
    expect([content(), await unreadable()]).toEqual(['one=1 two=2', 2]);
    await change('listed', '3');
    await destroy('watched');
    await eventually(() => cache.unreadable === 0);
    expect([content(), await unreadable()]).toEqual(['listed=3 one=1 two=2', 0]);
    expect(logged.filter((line) => line.includes('an object has an unexpected form and is ignored'))).toHaveLength(2);
  });

  test('goes on when a handler throws, and the other handlers are told', async () => {
    make();
    const told: string[] = [];
    cache.onChange(() => {
      throw new Error('a bad handler');
    });
    cache.onChange((now) => told.push(now!.metadata.name));
    await started();
    await create('one', '1');
    await create('two', '1');
    await eventually(() => told.length === 2);
    expect(logged.filter((line) => line.includes('a bad handler'))).toHaveLength(2);
  });
});

describe('one’s own writes', () => {
  test('are there as soon as they are observed, told once, and not told again by the watch', async () => {
    make();
    await started();
    // Nothing passes until we say so: the copy learns of the write from nobody else.
    proxy.holdWatches();
    const written = await create('mine', '1');
    expect(at('mine')).toBeUndefined();
    cache.observe(written);
    expect(at('mine')).toBe('1');
    cache.observe(await change('mine', '2'));
    expect(at('mine')).toBe('2');
    proxy.releaseWatches();
    await create('after', '1');
    await eventually(() => at('after') === '1');
    expect(changes).toEqual(['mine - 1', 'mine 1 2', 'after - 1']);
  });

  test('that are observed after their object was deleted do not bring it back', async () => {
    make();
    await started();
    const written = await create('mine', '1');
    await eventually(() => at('mine') === '1');
    await destroy('mine');
    await eventually(() => at('mine') === undefined);
    cache.observe(written);
    expect(at('mine')).toBeUndefined();
    expect(changes).toEqual(['mine - 1', 'mine 1 -']);
  });

  test('never go back to an older state', async () => {
    make();
    await started();
    const first = await create('mine', '1');
    const second = await change('mine', '2');
    cache.observe(second);
    cache.observe(first);
    expect(at('mine')).toBe('2');
    await create('after', '1');
    await eventually(() => at('after') === '1');
    expect(changes.filter((line) => line.startsWith('mine')).at(-1)).toMatch(/ 2$/);
    expect(at('mine')).toBe('2');
  });

  test('survive a relist that began before them, and go with one that began after their object was deleted', async () => {
    make();
    await started();
    proxy.holdWatches();
    const kept = await create('kept', '1');
    const gone = await create('gone', '1');
    await destroy('gone');
    cache.observe(kept);
    cache.observe(gone);
    expect(content()).toBe('gone=1 kept=1');
    proxy.fate = once(({isWatch}) => isWatch, {
      status: 410,
      body: JSON.stringify({kind: 'Status', reason: 'Expired', code: 410}),
    });
    proxy.cutAll();
    await eventually(() => content() === 'kept=1');
    expect(changes).toEqual(['kept - 1', 'gone - 1', 'gone 1 -']);
  });
});

/** The fate of the first request that fits; all others are forwarded. */
function once(fits: (seen: FaultProxy['seen'][number]) => boolean, fate: Fate): FaultProxy['fate'] {
  let done = false;
  return (seen) => {
    if (done || !fits(seen)) return 'forward';
    done = true;
    return fate;
  };
}

function status(code: number, reason: string): string {
  return JSON.stringify({kind: 'Status', status: 'Failure', reason, code, message: 'on purpose'});
}

function inStream(code: number, reason: string): string {
  return `{"type":"ERROR","object":${status(code, reason)}}\n`;
}

function nextWatch(fate: Fate): void {
  proxy.fate = once(({isWatch}) => isWatch, fate);
  proxy.cutAll();
}

/** What a request is for: a watch, a page of a list, or a look at where history stands. */
function purpose({isWatch, url}: Seen): 'watch' | 'list' | 'check' {
  if (isWatch) return 'watch';
  return url.searchParams.get('limit') === '1' ? 'check' : 'list';
}

/** By which a page of a list is asked for; null for the first. */
const token = ({url}: Seen) => url.searchParams.get('continue');

/** What the copy's requests were for, after its first list and watch. */
function later(): string[] {
  return proxy.seen.slice(2).map(purpose);
}

describe('a fault', () => {
  test.each<{fault: string; strike: () => void | Promise<void>; requests: string[]}>([
    {fault: 'the watch ends in order, but at once', strike: () => proxy.endWatches(''), requests: ['check', 'watch']},
    {fault: 'all connections are cut', strike: () => proxy.cutAll(), requests: ['check', 'watch']},
    {
      fault: 'the stream ends inside an event',
      strike: () => proxy.endWatches('{"type":"ADDED","obj'),
      requests: ['check', 'watch'],
    },
    {fault: 'the stream brings nonsense', strike: () => proxy.endWatches('<html>\n'), requests: ['check', 'watch']},
    {
      fault: 'an ERROR event of 500',
      strike: () => proxy.endWatches(inStream(500, 'InternalError')),
      requests: ['check', 'watch'],
    },
    {
      fault: 'an ERROR event of 410',
      strike: () => proxy.endWatches(inStream(410, 'Expired')),
      requests: ['list', 'watch'],
    },
    {
      fault: '410 to the watch',
      strike: () => nextWatch({status: 410, body: status(410, 'Expired')}),
      requests: ['check', 'watch', 'list', 'watch'],
    },
    {
      fault: '500 to the watch',
      strike: () => nextWatch({status: 500, body: status(500, 'InternalError')}),
      requests: ['check', 'watch', 'check', 'watch'],
    },
    {
      fault: 'an answer that is no JSON',
      strike: () => nextWatch({status: 503, body: '<html>'}),
      requests: ['check', 'watch', 'check', 'watch'],
    },
    {
      fault: 'the watch cut before its answer',
      strike: () => nextWatch('cut'),
      requests: ['check', 'watch', 'check', 'watch'],
    },
    {
      fault: 'the list cut that follows a 410',
      strike: () => {
        const fates: Fate[] = [{status: 410, body: status(410, 'Expired')}, 'cut', {status: 500, body: ''}];
        proxy.fate = (seen) => (purpose(seen) === 'check' ? 'forward' : (fates.shift() ?? 'forward'));
        proxy.cutAll();
      },
      requests: ['check', 'watch', 'list', 'list', 'list', 'watch'],
    },
    {
      fault: 'nobody listening for a second',
      strike: async () => {
        await proxy.close();
        await wait(1000);
        await proxy.listen();
      },
      requests: ['check', 'watch'],
    },
  ])('($fault) loses no change and makes up none', async ({strike, requests}) => {
    await create('changes', '1');
    await create('goes', '1');
    await create('stays', '1');
    make();
    await started();
    proxy.holdWatches();
    await change('changes', '2');
    await destroy('goes');
    await create('comes', '1');
    changes.length = 0;
    await strike();
    await eventually(() => content() === 'changes=2 comes=1 stays=1');
    await eventually(() => proxy.openWatches === 1);
    expect(changes.toSorted()).toEqual(['changes 1 2', 'comes - 1', 'goes 1 -']);
    expect(later()).toEqual(requests);
    await change('stays', '2');
    await eventually(() => at('stays') === '2');
  });

  test('(a half-open connection) is found out by the end that does not come', async () => {
    make({timeoutSeconds: 1});
    await started();
    proxy.holdWatches();
    await create('comes', '1');
    await eventually(() => at('comes') === '1');
    expect(later()).toContain('watch');
    expect(later()).not.toContain('list');
  });

  test('(429 with Retry-After) is given the time it asks for', async () => {
    make();
    await started();
    nextWatch({status: 429, body: status(429, 'TooManyRequests'), headers: {'retry-after': '1'}});
    await eventually(() => later().length === 4);
    expect(later()).toEqual(['check', 'watch', 'check', 'watch']);
    const [refused, next] = proxy.seen.slice(3);
    expect(next!.at - refused!.at).toBeGreaterThanOrEqual(990);
  });

  test('(errors without end) makes no storm of requests', async () => {
    make();
    await started();
    proxy.fate = () => ({status: 500, body: status(500, 'InternalError')});
    proxy.cutAll();
    await wait(2000);
    // Waits of 25 to 50, 50 to 100, ... up to 200 to 400 ms.
    expect(later().length).toBeLessThan(14);
    await eventually(() => later().length > 4);
    proxy.fate = () => 'forward';
    await create('comes', '1');
    await eventually(() => at('comes') === '1');
  });

  test('(watches that end at once, without end) makes no storm of requests', async () => {
    make();
    await started();
    proxy.fate = ({isWatch}) => (isWatch ? {status: 200} : 'forward');
    proxy.cutAll();
    await wait(2000);
    expect(later().filter((what) => what === 'watch').length).toBeLessThan(14);
    proxy.fate = () => 'forward';
  });

  test('(410 to every watch) relists with back-off', async () => {
    make();
    await started();
    proxy.fate = ({isWatch}) => (isWatch ? {status: 410, body: status(410, 'Expired')} : 'forward');
    proxy.cutAll();
    await wait(2000);
    expect(later().filter((what) => what === 'list').length).toBeLessThan(14);
    proxy.fate = () => 'forward';
    await create('comes', '1');
    await eventually(() => at('comes') === '1');
  });

  test.each([
    {how: 'once', times: 1, limits: ['5', '5', '5', '5', '5']},
    {how: 'twice', times: 2, limits: ['5', '5', '5', '5', 'all']},
  ])(
    '(pages that expire midway, $how) makes it list in pages again, then everything at once',
    async ({times, limits}) => {
      for (let i = 0; i < 12; i++) await create(`o-${i}`, '1');
      make({pageSize: 5});
      let left = times;
      proxy.fate = ({url}) =>
        url.searchParams.has('continue') && left-- > 0 ? {status: 410, body: status(410, 'Expired')} : 'forward';
      await started();
      expect(cache.size).toBe(12);
      expect(proxy.seen.filter(({isWatch}) => !isWatch).map(({url}) => url.searchParams.get('limit') ?? 'all')).toEqual(
        limits,
      );
    },
  );

  test('(a page that can not be read) costs that page once more, after the wait that the server asks for', async () => {
    for (let i = 0; i < 12; i++) await create(`o-${i}`, '1');
    make({pageSize: 5});
    const fates: Fate[] = ['cut', {status: 429, body: '', headers: {'retry-after': '2'}}];
    const page = (seen: Seen) => [...new Set(proxy.seen.map(token))].indexOf(token(seen));
    proxy.fate = (seen) => (page(seen) === 2 ? (fates.shift() ?? 'forward') : 'forward');
    await started();
    expect(cache.size).toBe(12);
    expect(changes).toHaveLength(12);
    const lists = proxy.seen.filter(({isWatch}) => !isWatch);
    expect(lists.map(page)).toEqual([0, 1, 2, 2, 2]);
    expect(lists[4]!.at - lists[3]!.at).toBeGreaterThanOrEqual(1990);
  });

  test('(nobody there at the start) delays the sync and no more', async () => {
    await create('one', '1');
    await proxy.close();
    make();
    cache.start(stop.signal);
    await wait(300);
    expect(cache.isSynced).toBe(false);
    await proxy.listen();
    await cache.synced;
    expect(content()).toBe('one=1');
  });

  test('(a stop) ends it at once, wherever it stands', async () => {
    make({backoff: {baseMs: 60_000, capMs: 60_000}});
    await started();
    proxy.fate = () => ({status: 500, body: ''});
    proxy.cutAll();
    await eventually(() => (cache.state as WatchState).at === 'Waiting');
    stop.abort();
    const since = performance.now();
    await cache.stopped();
    expect(performance.now() - since).toBeLessThan(10_000); // It would wait for 30 s at least.
  });
});

/** Nothing of these changes reaches the watch that is open: a half-open connection. */
async function missed(): Promise<void> {
  await create('changes', '1');
  await create('goes', '1');
  make();
  await started();
  proxy.holdWatches();
  await change('changes', '2');
  await destroy('goes');
  await create('comes', '1');
  expect(content()).toBe('changes=1 goes=1');
}

describe('a copy whose watch has brought nothing since', () => {
  test('catches up with all that was written before, by a watch of 1 to 2 s and without a list', async () => {
    await missed();
    const from = performance.now();
    await cache.catchUp();
    console.log(`caught up after ${(performance.now() - from).toFixed(0)} ms`);
    expect(content()).toBe('changes=2 comes=1');
    expect(performance.now() - from).toBeLessThan(10_000);
    expect(later()).toEqual(['check', 'watch']);
  });

  test('catches up also if only other kinds were written, so that no event shows the version', async () => {
    await create('stays', '1');
    make();
    await started();
    for (let i = 0; i < 3; i++) await makeNamespace(direct);
    await cache.catchUp();
    expect(content()).toBe('stays=1');
    expect(later()).toEqual(['check', 'watch']);
  });

  test.each<[string, Fate]>([
    ['ends its watch without a bookmark', {status: 200}],
    ['never answers the watch', {delayMs: Infinity}],
  ])('lists if it reaches an API server that is behind, which %s', async (_, fate) => {
    await missed();
    proxy.fate = ({isWatch}) => (isWatch ? fate : 'forward');
    await cache.catchUp();
    expect(content()).toBe('changes=2 comes=1');
    expect(later().slice(0, 3)).toEqual(['check', 'watch', 'list']);
  });
});

test('A cache of a kind that does not exist has synced and is empty, and has the objects once the kind exists', async () => {
  make();
  const group = `absent-${namespace}.test`;
  const widgets = defineResource<KubeObject>({
    group,
    version: 'v1',
    plural: 'widgets',
    kind: 'Widget',
    namespaced: true,
  });
  const log = pino({}, {write: (line: string) => void logged.push(line)});
  const watcher = {backoff: {baseMs: 50, capMs: 400}};
  const absent = new Cache<KubeObject>(client, widgets, {namespace, mayBeAbsent: true, log, watcher});
  absent.start(stop.signal);
  const since = performance.now();
  while (!absent.isSynced && performance.now() - since < 5_000) await wait(20);
  expect([absent.isSynced, absent.size]).toEqual([true, 0]);
  await wait(1_000);
  expect(logged.filter((line) => line.includes('the kind does not exist'))).toHaveLength(1);
  await makeWidgets(direct, group);
  await direct.create(widgets, {apiVersion: `${group}/v1`, kind: 'Widget', metadata: {name: 'one', namespace}});
  await eventually(() => absent.size === 1, 10_000);
  stop.abort();
  await absent.stopped();
});
