/** What the copy makes of lists and watches, on virtual time. That real ones look like this is shown in test/crds/kube-cache.test.ts. */
import {afterEach, beforeEach, describe, expect, test} from '@jest/globals';
import {Cache} from '../../../../operator/kube/cache/cache.ts';
import type {Client, WatchEvent} from '../../../../operator/kube/client/client.ts';
import {ApiError, NoAnswerError} from '../../../../operator/kube/errors.ts';
import {type ConfigMap, configMaps} from '../../../support/kube-api.ts';
import {settled, VirtualClock} from '../../../support/kube-clock.ts';

const object = (name: string, resourceVersion: number, a = String(resourceVersion)): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {name, namespace: 'ns', resourceVersion: String(resourceVersion)},
  data: {a},
});
const gone = new ApiError({status: 410, body: '{"reason":"Expired"}'});

/** What the API server holds, and where its history stands. */
let held: ConfigMap[];
let version: number;
/** Into the watch that is open: events, or its end. */
let tell: (event: WatchEvent<ConfigMap> | 'end' | Error) => void;
/** What a new watch meets instead of events. */
let refuse: (() => Error | 'end' | undefined) | undefined;
/** A page that can't be read, by where it begins. */
let failing: {at: number; with: Error} | undefined;
let requests: string[];
let clock: VirtualClock;
let stop: AbortController;
let cache: Cache<ConfigMap, ConfigMap>;
let told: string[];

const client = {
  async version() {
    requests.push('check');
    return String(version);
  },
  async *pages(_: unknown, {limit}: {limit: number}, from?: string) {
    requests.push(limit === 0 ? 'list all' : from === undefined ? 'list' : `list from ${from}`);
    const items = structuredClone(held);
    const size = limit === 0 ? items.length : 2;
    for (let at = Number(from ?? 0); at === 0 || at < items.length; at += size) {
      if (failing?.at === at) throw failing.with;
      const next = at + size < items.length ? String(at + size) : undefined;
      yield {items: items.slice(at, at + size), resourceVersion: String(version), next};
    }
  },
  async *watch(
    _: unknown,
    {resourceVersion, timeoutSeconds, signal}: {resourceVersion: string; timeoutSeconds: number; signal: AbortSignal},
  ) {
    requests.push(`watch ${resourceVersion}${timeoutSeconds < 10 ? ' briefly' : ''}`);
    // A storm must end, or the test could not say that there was one.
    if (requests.length > 500) stop.abort();
    const refused = refuse?.();
    if (refused === 'end') return;
    if (refused) throw refused;
    yield [];
    for (;;) {
      const {promise, resolve, reject} = Promise.withResolvers<WatchEvent<ConfigMap> | 'end'>();
      tell = (event) => (event instanceof Error ? reject(event) : resolve(event));
      signal.addEventListener('abort', () => reject(signal.reason as Error), {once: true});
      const event = await promise;
      if (event === 'end') return;
      yield [event];
    }
  },
} as unknown as Client;

beforeEach(async () => {
  held = [object('a', 1), object('b', 2)];
  version = 10;
  refuse = undefined;
  failing = undefined;
  requests = [];
  told = [];
  clock = new VirtualClock();
  stop = new AbortController();
  cache = new Cache(client, configMaps, {
    watcher: {clock, backoff: {baseMs: 100, capMs: 1000, random: () => 0}},
    indexes: {letter: ({data}) => [data!.a!.toUpperCase()]},
  });
  cache.onChange((now, before) =>
    told.push(`${(now ?? before)!.metadata.name} ${before?.data?.a ?? '-'} ${now?.data?.a ?? '-'}`),
  );
  cache.start(stop.signal);
  await cache.synced;
  await settled();
  told = [];
  requests = [];
});
afterEach(async () => {
  stop.abort();
  await cache.stopped();
});

/** Ends the watch so, and lets the copy find its way back. */
async function after(end: 'end' | Error): Promise<void> {
  tell(end);
  await settled();
  await clock.advance(10_000);
}

test('what was missed is told after a relist: changed, new, and deleted', async () => {
  held = [object('a', 11), object('c', 12)];
  version = 13;
  await after(gone);
  expect(told).toEqual(['a 1 11', 'c - 12', 'b 2 -']);
  expect(requests).toEqual(['list', 'watch 13']);
});

test('an object is never replaced by an older one, whoever brings it', async () => {
  cache.observe(object('a', 15));
  tell({type: 'MODIFIED', object: object('a', 12)});
  await settled();
  cache.observe(object('a', 11));
  expect(cache.get('ns/a')!.data!.a).toBe('15');
  held = [object('a', 12), object('b', 2)];
  version = 13;
  await after(gone);
  expect(cache.get('ns/a')!.data!.a).toBe('15');
  expect(told).toEqual(['a 1 15']);
});

test('a history that was set back is noticed when a watch fails, and believed', async () => {
  held = [object('a', 1, 'from the backup')];
  version = 5;
  await after(new Error('cut'));
  expect(requests).toEqual(['check', 'list', 'watch 5']);
  expect(told).toEqual(['a 1 from the backup', 'b 2 -']);
});

test('a history that was set back, and goes on above all versions that were, is believed', async () => {
  tell({type: 'MODIFIED', object: object('a', 15)});
  await settled();
  cache.observe(object('b', 1001));
  told = [];
  held = [object('a', 1, 'from the backup'), object('b', 2)];
  version = 1000;
  await after(gone);
  expect(told).toEqual(['a 15 from the backup']);
  expect(cache.get('ns/b')!.data!.a).toBe('1001');
});

test('a watch that ends in order goes on at once from what was seen last', async () => {
  tell({type: 'BOOKMARK', object: {metadata: {resourceVersion: '17'}}});
  await settled();
  tell('end');
  await settled();
  expect(requests).toEqual(['watch 17']);
});

test('a quiet watch that is cut after it has lived for a while is followed by the next within the first back-off, each time', async () => {
  for (let cuts = 0; cuts < 20; cuts++) {
    await clock.advance(35_000);
    tell(new Error('cut'));
    await settled();
    await clock.advance(100);
  }
  expect(requests).toEqual(Array.from({length: 20}, () => ['check', 'watch 10']).flat());
});

test('a watch that the server does not end is dead: within 45 s it is followed by another', async () => {
  await clock.advance(43_000);
  expect(requests).toEqual([]);
  await clock.advance(2_000);
  expect(requests).toEqual(['check', 'watch 10']);
});

test('a history that was set back is noticed also if each watch ends in order, and brings nothing', async () => {
  held = [object('a', 1, 'from the backup')];
  version = 5;
  await clock.advance(40_000);
  tell('end');
  await settled();
  await clock.advance(1_000);
  expect(requests).toEqual(['check', 'list', 'watch 5']);
});

describe('a copy that is to catch up', () => {
  let isCurrent: boolean;
  const catchUp = async (): Promise<void> => {
    isCurrent = false;
    void cache.catchUp().then(() => (isCurrent = true));
    await settled();
  };

  test('is current at once where nothing has changed since its last event', async () => {
    await catchUp();
    expect(isCurrent).toBe(true);
    expect(requests).toEqual(['check', 'watch 10']);
  });

  test.each<[string, () => WatchEvent<ConfigMap>]>([
    ['a bookmark', () => ({type: 'BOOKMARK', object: {metadata: {resourceVersion: '12'}}})],
    ['an event', () => ({type: 'ADDED', object: object('c', 12)})],
  ])('waits until %s shows that version, and does not wait for the end of the watch', async (_, shows) => {
    version = 12;
    await catchUp();
    expect(requests).toEqual(['check', 'watch 10 briefly']);
    tell({type: 'MODIFIED', object: object('a', 11)});
    await settled();
    expect([isCurrent, told]).toEqual([false, ['a 1 11']]);
    tell(shows());
    await settled();
    expect(isCurrent).toBe(true);
    tell('end');
    await settled();
    expect(requests.slice(2)).toEqual(['watch 12']);
  });

  test.each<[string, () => Promise<void>]>([
    ['ends before it shows that version', async () => tell('end')],
    ['is silent', () => clock.advance(8_000)],
    ['says that its history is gone', async () => tell(gone)],
  ])('lists if the watch %s', async (_, strike) => {
    version = 12;
    held = [object('a', 11), object('b', 2)];
    await catchUp();
    await strike();
    await settled();
    await clock.advance(500);
    expect(isCurrent).toBe(true);
    expect(told).toEqual(['a 1 11']);
    expect(requests).toEqual(['check', 'watch 10 briefly', 'list', 'watch 12']);
  });

  test('does not wait for a back-off, and waits as long as a busy server requests', async () => {
    refuse = () => new Error('refused');
    tell(new Error('cut'));
    await settled();
    await clock.advance(3_000);
    refuse = undefined;
    requests = [];
    await catchUp();
    expect([isCurrent, requests]).toEqual([true, ['check', 'watch 10']]);
    tell(new ApiError({status: 429, body: '', retryAfter: '7'}));
    await settled();
    await catchUp();
    await clock.advance(6_900);
    expect(isCurrent).toBe(false);
    await clock.advance(200);
    expect(isCurrent).toBe(true);
  });

  test('is asked twice, and is current for each call', async () => {
    version = 12;
    await catchUp();
    version = 14;
    let isAgain = false;
    void cache.catchUp().then(() => (isAgain = true));
    tell({type: 'BOOKMARK', object: {metadata: {resourceVersion: '12'}}});
    await settled();
    expect([isCurrent, isAgain]).toEqual([true, false]);
    tell({type: 'BOOKMARK', object: {metadata: {resourceVersion: '14'}}});
    await settled();
    expect(isAgain).toBe(true);
  });
});

const broken = (name: string, resourceVersion: number): ConfigMap => ({...object(name, resourceVersion), data: {}});
const event = async (type: 'ADDED' | 'MODIFIED' | 'DELETED', of: ConfigMap): Promise<void> => {
  tell({type, object: of});
  await settled();
};

describe('an object of which nothing can be made', () => {
  test('is passed over and counted, what was held of it stands, and the watch goes on', async () => {
    await event('MODIFIED', broken('a', 11));
    await event('ADDED', broken('c', 12));
    await event('MODIFIED', object('b', 13));
    expect(cache.unreadable).toBe(2);
    expect(cache.get('ns/a')?.data?.a).toBe('1');
    expect(cache.get('ns/c')).toBeUndefined();
    expect(cache.by('letter', '13')).toHaveLength(1);
    expect(told).toEqual(['b 2 13']);
    expect(requests).toEqual([]);
  });

  test('counts until it is put right or gone', async () => {
    await event('MODIFIED', broken('a', 11));
    await event('ADDED', broken('c', 12));
    await event('MODIFIED', object('a', 13));
    expect(cache.unreadable).toBe(1);
    await event('DELETED', broken('c', 14));
    expect(cache.unreadable).toBe(0);
    await event('ADDED', broken('d', 15));
    [held, version] = [[object('a', 13), object('b', 2)], 20];
    await after(gone);
    expect(cache.unreadable).toBe(0);
    expect(told).toEqual(['a 1 13']);
  });
});

describe('a list in pages', () => {
  beforeEach(() => {
    held = [object('a', 1), object('c', 11), object('d', 12), object('e', 13)];
    version = 20;
  });

  test('goes on with the page that could not be read', async () => {
    failing = {at: 2, with: new Error('cut')};
    tell(gone);
    await settled();
    await clock.advance(250);
    failing = undefined;
    await clock.advance(10_000);
    expect(requests.slice(0, 4)).toEqual(['list', 'list from 2', 'list from 2', 'watch 20']);
    expect(told).toEqual(['c - 11', 'd - 12', 'e - 13', 'b 2 -']);
  });

  test('asks for that page not before the server allows it', async () => {
    failing = {at: 2, with: new ApiError({status: 429, body: '', retryAfter: '7'})};
    tell(gone);
    await settled();
    await clock.advance(150);
    failing = undefined;
    await clock.advance(6_850);
    expect(requests).toEqual(['list']);
    await clock.advance(150);
    expect(requests).toEqual(['list', 'list from 2', 'watch 20']);
  });

  test('begins anew when the API server has refused the same page five times', async () => {
    failing = {at: 2, with: new ApiError({status: 500, body: ''})};
    tell(gone);
    await settled();
    await clock.advance(10_000);
    expect(requests.slice(0, 6)).toEqual(['list', ...Array(4).fill('list from 2'), 'list']);
    failing = undefined;
    await clock.advance(10_000);
    expect(requests.at(-1)).toBe('watch 20');
    expect(told).toEqual(['c - 11', 'd - 12', 'e - 13', 'b 2 -']);
  });

  test.each([
    ['gives no answer', new NoAnswerError('GET /', new Error('cut'))],
    ['asks everybody to wait', new ApiError({status: 503, body: ''})],
  ])('stays at its page for as long as the API server %s', async (_, error) => {
    failing = {at: 2, with: error};
    tell(gone);
    await settled();
    await clock.advance(10_000);
    expect(requests.length).toBeGreaterThan(10);
    expect(new Set(requests.slice(1))).toEqual(new Set(['list from 2']));
  });

  test('begins anew, in pages, when these have expired', async () => {
    failing = {at: 2, with: gone};
    tell(gone);
    await settled();
    await clock.advance(100);
    failing = undefined;
    await clock.advance(10_000);
    expect(requests.slice(0, 3)).toEqual(['list', 'list', 'watch 20']);
    expect(told).toEqual(['c - 11', 'd - 12', 'e - 13', 'b 2 -']);
  });

  test('that expires twice is asked for at once, and in pages again where that fails', async () => {
    failing = {at: 2, with: gone};
    tell(gone);
    await settled();
    for (let i = 0; i < 40 && requests.length < 2; i++) await clock.advance(50);
    failing = {at: 0, with: new Error('too large')};
    await clock.advance(1_000);
    failing = undefined;
    await clock.advance(10_000);
    expect(requests.slice(0, 3)).toEqual(['list', 'list', 'list all']);
    expect(requests.slice(3).filter((request) => request === 'list all')).toEqual([]);
    expect(requests.at(-1)).toBe('watch 20');
  });
});

describe('without end', () => {
  test.each<[string, () => Error | 'end']>([
    ['a refusal', () => new Error('refused')],
    ['a watch that ends at once', () => 'end'],
    ['a 410', () => gone],
  ])('%s makes one attempt for each back-off', async (_, refusal) => {
    refuse = refusal;
    await after(new Error('cut'));
    // 50, 100, 200, 400, 500, 500, ... ms within 10 s: 23 times.
    const watches = requests.filter((request) => request.startsWith('watch')).length;
    expect(watches).toBeGreaterThan(15);
    expect(watches).toBeLessThan(25);
    expect(requests.length).toBeLessThan(50);
  });
});
