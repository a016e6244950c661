import {setTimeout as wait} from 'node:timers/promises';
import {beforeEach, describe, expect, test} from '@jest/globals';
import pino from 'pino';
import {Registry} from 'prom-client';
import type {Client} from '../../../operator/kube/client.ts';
import {Controller, type Reconcile} from '../../../operator/kube/controller.ts';
import type {EventRecorder} from '../../../operator/kube/events.ts';
import {Manager} from '../../../operator/kube/manager.ts';
import {kitMetrics} from '../../../operator/kube/metrics.ts';
import {settled} from '../../support/kube-clock.ts';

/** What happened, in order. */
let story: string[];
let logged: string[];
let sync: () => void;
let manager: Manager;
let controller: Controller;

const log = pino({}, {write: (line: string) => void logged.push(line)});

const step = (what: string) => async (): Promise<void> => void story.push(what);

/** A process of one server, one cache that syncs when told, and one controller. */
function make(reconcile: Reconcile, graceMs = 1000): void {
  const {promise, resolve} = Promise.withResolvers<void>();
  const cache = {
    resource: {plural: 'widgets'}, synced: promise, isSynced: false,
    start(signal: AbortSignal) {
      story.push('cache starts');
      signal.addEventListener('abort', () => story.push('cache stops'));
    },
    stopped: () => Promise.resolve(),
  };
  sync = () => {
    story.push('cache synced');
    cache.isSynced = true;
    resolve();
  };
  const client = {close: step('client closes')} as unknown as Client;
  const events = {flush: step('events are written')} as unknown as EventRecorder;
  controller = new Controller({name: 'widget', reconcile, waitFor: [cache], metrics: kitMetrics(new Registry()), log});
  manager = new Manager({client, log, events, graceMs})
    .addCache(cache).addController(controller).addServer({start: step('server starts'), stop: step('server stops')});
}

beforeEach(() => {
  story = [];
  logged = [];
});

test('a process starts and stops in order, and what has begun is finished', async () => {
  const write = Promise.withResolvers<void>();
  make(async key => {
    story.push(`${key} begins`);
    await write.promise;
    story.push(`${key} is finished`);
    return 'awaitChange';
  });
  controller.enqueue('a');
  const starting = manager.start();
  await settled();
  expect(manager.health()).toEqual({live: true, ready: false, waitingFor: ['widgets']});
  sync();
  await starting;
  await settled();
  expect(manager.health()).toEqual({live: true, ready: true, waitingFor: []});
  const stopping = manager.stop();
  expect(manager.health().ready).toBe(false);
  controller.enqueue('b');
  await settled();
  write.resolve();
  await stopping;
  expect(story).toEqual([
    'server starts', 'cache starts', 'cache synced', 'a begins',
    'a is finished', 'events are written', 'server stops', 'cache stops', 'client closes',
  ]);
  await expect(manager.stop()).resolves.toBeUndefined();
});

describe('a stop', () => {
  test('waits no longer than the grace time, and says so', async () => {
    make(() => new Promise(() => {}), 50);
    controller.enqueue('a');
    sync();
    await manager.start();
    await settled();
    const since = performance.now();
    await manager.stop();
    expect(performance.now() - since).toBeLessThan(500);
    expect(story.at(-1)).toBe('client closes');
    expect(logged.some(line => line.includes('after the grace time'))).toBe(true);
  });

  test('before the caches have synced ends the start, and nothing is reconciled', async () => {
    make(async key => (story.push(key), 'awaitChange'));
    controller.enqueue('a');
    const starting = manager.start();
    await settled();
    await manager.stop();
    await starting;
    sync();
    await wait(10);
    expect(story).not.toContain('a');
  });
});
