/**
 * What an ApiKey's status says over its life, on an API server of its own: in a cluster with Doorplate the API would write it too.
 * Bans are a map here; the limiter's own are tested where they are.
 */
import {setTimeout as wait} from 'node:timers/promises';
import {isDeepStrictEqual} from 'node:util';
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from '@jest/globals';
import pino from 'pino';
import {Registry} from 'prom-client';
import {apiKeyKind, type ApiKeySpec, liftBanAnnotation} from '../../operator/api/api-key.ts';
import {crd} from '../../operator/api/crd.ts';
import type {ApiKey} from '../../operator/api/foreign.ts';
import {ApiKeyReconciler, apiKeysByHash} from '../../operator/controllers/api-key.ts';
import {apiKeys} from '../../operator/resources/resources.ts';
import {timestamp} from '../../operator/domain/times.ts';
import {Cache} from '../../operator/kube/cache/cache.ts';
import type {Client} from '../../operator/kube/client/client.ts';
import {Controller} from '../../operator/kube/controller/controller.ts';
import {EventRecorder, events} from '../../operator/kube/writes/events.ts';
import {kitMetrics} from '../../operator/kube/metrics.ts';
import {type Key, type KubeObject, keyOf} from '../../operator/kube/objects.ts';
import {eventually, crds} from '../support/kube-api.ts';
import {ApiServer} from '../support/kube-server.ts';
import {patience} from '../support/patience.ts';

const log = pino({level: 'silent'});
const namespace = 'default';
const patienceMs = patience(60_000);

/** What the API keeps of bans, by hash: until when, Unix seconds. */
class Bans {
  readonly #until = new Map<string, number>();
  readonly lifted: string[] = [];
  onChange: (hash: string) => void = () => {};
  of(hash: string): {network: string; untilSeconds: number}[] {
    const untilSeconds = this.#until.get(hash);
    return untilSeconds === undefined ? [] : [{network: '192.0.2.1', untilSeconds}];
  }
  lift(hash: string): void {
    this.lifted.push(hash);
    this.#until.delete(hash);
  }
  ban(hash: string, until: number): void {
    this.#until.set(hash, until);
    this.onChange(hash);
  }
}

let server: ApiServer;
let client: Client;
let controller: Controller;
let end: () => Promise<void>;
let recorder: EventRecorder;
let bans: Bans;
let used: Map<string, number>;
/** What the controller takes for now, ms since the epoch; undefined: the clock. */
let frozen: number | undefined;
let serial = 0;

beforeAll(async () => {
  server = await ApiServer.start();
  client = server.client();
  await client.create(crds, crd(apiKeyKind) as unknown as KubeObject);
  await eventually(() => client.list(apiKeys, {}));
});
afterAll(async () => {
  await client?.close();
  await server?.stop();
});

interface Replica {
  controller: Controller;
  cache: Cache<ApiKey, ApiKey>;
  reconcile: (key: string) => Promise<unknown>;
  end: () => Promise<void>;
}

/** The API's part that keeps ApiKeys, as after a start of the process. */
async function replica(known: Bans): Promise<Replica> {
  const stop = new AbortController();
  const cache = new Cache<ApiKey, ApiKey>(client, apiKeys, {log, indexes: apiKeysByHash});
  const reconciler = new ApiKeyReconciler({
    client,
    apiKeys: cache,
    bans: known,
    lastUsed: (uid) => used.get(uid),
    events: recorder,
    now: () => frozen ?? Date.now(),
  });
  const keeps = new Controller({
    name: 'apikey',
    reconcile: (key) => reconciler.reconcile(key),
    waitFor: [cache],
    metrics: kitMetrics(new Registry()),
    log,
  });
  cache.onChange((now) => {
    if (now) keeps.enqueue(keyOf(now));
  });
  known.onChange = (hash) => {
    for (const key of cache.by('hash', hash)) keeps.enqueue(keyOf(key));
  };
  cache.start(stop.signal);
  await cache.synced;
  keeps.start();
  return {
    controller: keeps,
    cache,
    reconcile: (key) => reconciler.reconcile(key as Key),
    end: async () => {
      await keeps.stop();
      stop.abort();
      await cache.stopped();
    },
  };
}

async function start(): Promise<void> {
  recorder = new EventRecorder(client, {controller: 'doorplate.dev/api', instance: 'test', log});
  ({controller, end} = await replica(bans));
}
beforeEach(async () => {
  bans = new Bans();
  used = new Map();
  frozen = undefined;
  await start();
});
afterEach(() => end());

const hash = () => (++serial).toString(16).padStart(64, '0');
const create = (change: Partial<ApiKeySpec> = {}, metadata: object = {}): Promise<ApiKey> =>
  client.create(apiKeys, {
    apiVersion: 'doorplate.dev/v1alpha1',
    kind: 'ApiKey',
    metadata: {name: `key-${++serial}`, namespace, ...metadata},
    spec: {hashes: [{sha256: hash()}], scopes: ['domains:read'], ...change},
  });
const get = async (key: ApiKey) => (await client.get(apiKeys, keyOf(key)))!;
const patch = (key: ApiKey, body: object) => client.patch(apiKeys, keyOf(key), body, {type: 'merge'});
const lift = (key: ApiKey, value: string) => patch(key, {metadata: {annotations: {[liftBanAnnotation]: value}}});
const ends = (inMs: number) => timestamp(Date.now() + inMs);
const unix = (inMs: number) => Math.ceil((Date.now() + inMs) / 1000);
const hashOf = (key: ApiKey) => key.spec.hashes[0]!.sha256;
const lastUsed = (key: ApiKey) => key.status?.lastUsedTime;
const refusedUntil = (at: number) => `until ${timestamp(at * 1000)}`;
const messageOf = (key: ApiKey) => key.status?.conditions?.[0]?.message;
const conditionsOf = (key: ApiKey) => key.status?.conditions?.map((c) => `${c.type}=${c.status}/${c.reason}`).join(' ');

/** A replica works on its keys in order: when a later one is done, those before are. */
async function isDone(known: Bans): Promise<void> {
  const later = await says(await create(), usable);
  known.ban(hashOf(later), unix(600_000));
  await says(later, banned);
}

/** The key as soon as it reads so. It is an assertion, in the end. */
async function becomes(key: ApiKey, read: (now: ApiKey) => unknown, wanted: unknown): Promise<ApiKey> {
  const over = Date.now() + patienceMs;
  let now = await get(key);
  while (!isDeepStrictEqual(read(now), wanted) && Date.now() < over) {
    await wait(50);
    now = await get(key);
  }
  expect(read(now)).toEqual(wanted);
  return now;
}
const says = (key: ApiKey, conditions: string) => becomes(key, conditionsOf, conditions);
const seen = (key: ApiKey, generation: number) => becomes(key, (now) => now.status?.observedGeneration, generation);
const usable = 'Ready=True/KeyUsable';
const expired = 'Ready=False/KeyExpired Stalled=True/KeyExpired';
const banned = 'Ready=False/KeyBanned Stalled=True/KeyBanned';

/**
 * What is to end at `at` (ms since the epoch) is changed and seen a second before that, whenever a slow machine comes to it: that it
 * has ended is then told by time alone.
 */
async function justBefore(at: number, change: () => unknown, isSeen: () => Promise<unknown>): Promise<void> {
  frozen = at - 1000;
  await change();
  await isSeen();
  frozen = undefined;
}

describe('An ApiKey', () => {
  test('is Ready as soon as it is there, for the generation that was seen', async () => {
    const key = await says(await create(), usable);
    expect(key.status?.observedGeneration).toBe(1);
    await patch(key, {spec: {scopes: ['domains:write']}});
    await seen(key, 2);
  });

  test('expires by time alone, with an Event, and is Ready again when its end is moved', async () => {
    const key = await says(await create({expireTime: ends(600_000)}), usable);
    const expireTime = ends(2000);
    await justBefore(
      Date.parse(expireTime),
      () => patch(key, {spec: {expireTime}}),
      () => seen(key, 2),
    );
    expect((await says(key, expired)).metadata.generation).toBe(2);
    await eventually(async () =>
      (await client.list(events, {namespace})).items.some(
        (e) => e.reason === 'KeyExpired' && e.note?.startsWith('The key expired at'),
      ),
    );
    await patch(key, {spec: {expireTime: ends(3_600_000)}});
    await says(key, usable);
  });

  test('says until when its older token is accepted, and no more when that has ended', async () => {
    const [newer, older] = [hash(), hash()];
    const rotated = (olderEnds: string) => ({hashes: [{sha256: newer}, {sha256: older, expireTime: olderEnds}]});
    const key = await says(await create(rotated(ends(600_000))), usable);
    expect(messageOf(key)).toContain('Its older token is accepted until');
    const olderEnds = ends(2000);
    await justBefore(
      Date.parse(olderEnds),
      () => patch(key, {spec: rotated(olderEnds)}),
      () => seen(key, 2),
    );
    await becomes(key, messageOf, 'The key is accepted.');
  });

  test('that is banned says until when, and is Ready when the ban has ended', async () => {
    const key = await says(await create(), usable);
    const until = unix(600_000);
    bans.ban(hashOf(key), until);
    expect(messageOf(await says(key, banned))).toContain(refusedUntil(until));
    const sooner = unix(2000);
    await justBefore(
      sooner * 1000,
      () => bans.ban(hashOf(key), sooner),
      () => becomes(key, (now) => messageOf(now)?.includes(refusedUntil(sooner)), true),
    );
    await says(key, usable);
  });

  test('that is banned is so again when it was deleted and created anew', async () => {
    const key = await says(await create(), usable);
    bans.ban(hashOf(key), unix(600_000));
    await says(key, banned);
    await client.delete(apiKeys, keyOf(key));
    const again = await create({hashes: key.spec.hashes}, {name: key.metadata.name});
    expect(again.metadata.uid).not.toBe(key.metadata.uid);
    await says(again, banned);
    expect(bans.lifted).toEqual([]);
  });

  test('has its ban lifted once by each value of the annotation, also across a restart', async () => {
    const key = await says(await create(), usable);
    bans.ban(hashOf(key), unix(600_000));
    await says(key, banned);
    await lift(key, '2026-01-01T00:00:00Z');
    expect((await says(key, usable)).status?.lastHandledLiftBan).toBe('2026-01-01T00:00:00Z');
    expect(bans.lifted).toEqual([hashOf(key)]);

    bans.ban(hashOf(key), unix(600_000));
    await says(key, banned);
    await end();
    await start();
    await patch(key, {spec: {scopes: ['domains:write']}});
    await seen(key, 2);
    expect([conditionsOf(await get(key)), bans.lifted.length]).toEqual([banned, 1]);

    await lift(key, '2026-01-02T00:00:00Z');
    await says(key, usable);
    expect(bans.lifted.length).toBe(2);
    // Taken off and put back it is no new value.
    bans.ban(hashOf(key), unix(600_000));
    await says(key, banned);
    await patch(key, {metadata: {annotations: null}, spec: {scopes: ['keys:write']}});
    await seen(key, 3);
    await lift(key, '2026-01-02T00:00:00Z');
    await patch(key, {spec: {scopes: ['domains:read']}});
    await seen(key, 4);
    expect([conditionsOf(await get(key)), bans.lifted.length]).toEqual([banned, 2]);
  });

  test('that one replica of the API has banned stays so in status, though another knows nothing of it, and both lift it', async () => {
    const others = new Bans();
    const other = await replica(others);
    const key = await says(await create(), usable);
    bans.ban(hashOf(key), unix(600_000));
    const {metadata} = await says(key, banned);
    await isDone(bans);
    await isDone(others);
    expect((await get(key)).metadata.resourceVersion).toBe(metadata.resourceVersion);
    // The other hears of the lift when this one has handled it.
    await other.controller.stop();
    await lift(key, 'now');
    await says(key, usable);
    await eventually(() => other.cache.get(keyOf(key))?.status?.lastHandledLiftBan === 'now');
    await other.reconcile(keyOf(key));
    expect([bans.lifted, others.lifted]).toEqual([[hashOf(key)], [hashOf(key)]]);
    await other.end();
  });

  test('that another replica has banned before this one saw it first stays banned', async () => {
    const later = await replica(new Bans());
    try {
      await later.controller.stop();
      // Times of objects are whole seconds.
      await wait(1000);
      const key = await says(await create(), usable);
      bans.ban(hashOf(key), unix(600_000));
      await says(key, banned);
      await eventually(() => {
        const known = later.cache.get(keyOf(key));
        return known !== undefined && conditionsOf(known) === banned;
      });
      await later.reconcile(keyOf(key));
      expect(conditionsOf(await get(key))).toBe(banned);
    } finally {
      await later.end();
    }
  });

  test('in a rotation has the bans of both its tokens lifted', async () => {
    const hashes = [{sha256: hash()}, {sha256: hash(), expireTime: ends(600_000)}];
    const key = await says(await create({hashes}), usable);
    for (const {sha256} of hashes) bans.ban(sha256, unix(600_000));
    await says(key, banned);
    await lift(key, 'now');
    await says(key, usable);
    expect(bans.lifted).toEqual(hashes.map((h) => h.sha256));
  });

  test('has its last use in whole hours, and a use within the hour costs no write', async () => {
    const key = await says(await create(), usable);
    used.set(key.metadata.uid!, Date.parse('2026-03-01T12:34:56Z'));
    controller.enqueue(keyOf(key));
    const first = await becomes(key, lastUsed, '2026-03-01T12:00:00Z');
    used.set(key.metadata.uid!, Date.parse('2026-03-01T12:59:59Z'));
    controller.enqueue(keyOf(key));
    // Its keys are worked on in order: when a later one is done, this one is.
    await says(await create(), usable);
    expect((await get(key)).metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    used.set(key.metadata.uid!, Date.parse('2026-03-01T13:00:00Z'));
    controller.enqueue(keyOf(key));
    await becomes(key, lastUsed, '2026-03-01T13:00:00Z');
  });
});
