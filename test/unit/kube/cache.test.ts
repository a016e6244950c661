/** What the copy makes of lists and watches, on virtual time. That real ones look like this is shown in test/crds/kube-cache.test.ts. */
import {afterEach, beforeEach, describe, expect, test} from '@jest/globals';
import {Cache} from '../../../operator/kube/cache.ts';
import type {Client, WatchEvent} from '../../../operator/kube/client.ts';
import {ApiError} from '../../../operator/kube/errors.ts';
import {type ConfigMap, configMaps} from '../../support/kube-api.ts';
import {settled, VirtualClock} from '../../support/kube-clock.ts';

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
  async *pages() {
    requests.push('list');
    yield {items: structuredClone(held), resourceVersion: String(version)};
  },
  async *watch(_: unknown, {resourceVersion, signal}: {resourceVersion: string; signal: AbortSignal}) {
    requests.push(`watch ${resourceVersion}`);
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
  requests = [];
  told = [];
  clock = new VirtualClock();
  stop = new AbortController();
  cache = new Cache(client, configMaps, {watcher: {clock, backoff: {baseMs: 100, capMs: 1000, random: () => 0}}});
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

test('a watch that ends in order goes on at once from what was seen last', async () => {
  tell({type: 'BOOKMARK', object: {metadata: {resourceVersion: '17'}}});
  await settled();
  tell('end');
  await settled();
  expect(requests).toEqual(['watch 17']);
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
