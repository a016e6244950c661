import {setTimeout as wait} from 'node:timers/promises';
import {beforeEach, describe, expect, test} from '@jest/globals';
import pino from 'pino';
import {Registry} from 'prom-client';
import type {Client} from '../../../operator/kube/client/client.ts';
import {Controller, type Reconcile} from '../../../operator/kube/controller/controller.ts';
import type {Elector} from '../../../operator/kube/leader/leader.ts';
import type {EventRecorder} from '../../../operator/kube/writes/events.ts';
import {Manager} from '../../../operator/kube/manager.ts';
import {kitMetrics} from '../../../operator/kube/metrics.ts';
import {settled} from '../../support/kube-clock.ts';

/** Wins and loses when told. */
class FakeElector {
  win: (leads: boolean) => void = () => {};
  lose: (reason: Error) => void = () => {};
  readonly lost = new Promise<Error>((resolve) => (this.lose = resolve));
  leads = false;

  campaign(signal: AbortSignal): Promise<boolean> {
    story.push('candidate');
    return new Promise((resolve) => {
      this.win = (won) => resolve((this.leads = won));
      signal.addEventListener('abort', () => resolve(false));
    });
  }

  assertLeading(): void {
    if (!this.leads) throw new Error('not now');
  }

  async release(): Promise<void> {
    this.leads = false;
    story.push('released');
  }
}

/** What happened, in order. */
let story: string[];
let logged: string[];
let sync: () => void;
let manager: Manager;
let controller: Controller;
let mayWrite: () => void;
/** Resolves when the cache has caught up. */
let behind: Promise<void>;
/** With what the process refuses to start. */
let refusal: Error | undefined;

const log = pino({}, {write: (line: string) => void logged.push(line)});

const exit = (code: number): void => void story.push(`exit ${code}`);
const step = (what: string) => async (): Promise<void> => void story.push(what);

const mayStillWrite = (): boolean => {
  try {
    mayWrite?.();
    return true;
  } catch {
    return false;
  }
};

/** A process of one server, one cache that syncs when told, one controller, and perhaps an election. */
function make(reconcile: Reconcile, graceMs = 1000, elector?: FakeElector): void {
  const {promise, resolve} = Promise.withResolvers<void>();
  const cache = {
    resource: {plural: 'widgets'},
    synced: promise,
    isSynced: false,
    start(signal: AbortSignal) {
      story.push('cache starts');
      signal.addEventListener('abort', () => story.push('cache stops'));
    },
    catchUp: () => {
      story.push('cache catches up');
      return behind;
    },
    stopped: () => Promise.resolve(),
  };
  sync = () => {
    story.push('cache synced');
    cache.isSynced = true;
    resolve();
  };
  const client = {
    close: step('client closes'),
    guardWrites: (guard: () => void) => (mayWrite = guard),
  } as unknown as Client;
  const events = {flush: step('events are written')} as unknown as EventRecorder;
  controller = new Controller({name: 'widget', reconcile, waitFor: [cache], metrics: kitMetrics(new Registry()), log});
  manager = new Manager({client, log, events, graceMs, elector: elector as unknown as Elector, exit})
    .addCache(cache)
    .addController(controller)
    .addServer({start: step('server starts'), stop: step('server stops')})
    .whenSynced(() => {
      story.push('checks');
      if (refusal) throw refusal;
    })
    .whenLeading(() => story.push('leads'))
    .whenEnding(async () => void story.push(mayStillWrite() ? 'ends' : 'ends too late'));
}

beforeEach(() => {
  story = [];
  logged = [];
  refusal = undefined;
  behind = Promise.resolve();
});

test('a process starts and stops in order, and what has begun is finished', async () => {
  const write = Promise.withResolvers<void>();
  make(async (key) => {
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
    'server starts',
    'cache starts',
    'cache synced',
    'checks',
    'leads',
    'a begins',
    'a is finished',
    'ends',
    'events are written',
    'server stops',
    'cache stops',
    'client closes',
  ]);
  expect(logged.filter((line) => !line.includes('caches synced'))).toEqual([]);
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
    expect(performance.now() - since).toBeLessThan(15_000);
    expect(story.at(-1)).toBe('client closes');
    expect(logged.some((line) => line.includes('after the grace period'))).toBe(true);
  });

  test('before the caches have synced ends the start, and nothing is reconciled', async () => {
    make(async (key) => (story.push(key), 'awaitChange'));
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

/** A process that leads, in a reconcile that never ends. */
async function leadingAndBusy(graceMs: number): Promise<FakeElector> {
  const elector = new FakeElector();
  make(() => new Promise(() => {}), graceMs, elector);
  controller.enqueue('a');
  const starting = manager.start();
  sync();
  await settled();
  elector.win(true);
  await starting;
  return elector;
}

describe('with an election', () => {
  test('nobody is a candidate before the caches have synced, nothing is reconciled or written before this process leads, and the lease is released after the last write', async () => {
    const elector = new FakeElector();
    const write = Promise.withResolvers<void>();
    make(
      async (key) => {
        story.push(`${key} begins`);
        await write.promise;
        mayWrite();
        story.push(`${key} is finished`);
        return 'awaitChange';
      },
      1000,
      elector,
    );
    controller.enqueue('a');
    const starting = manager.start();
    await settled();
    sync();
    await wait(10);
    expect(manager.health().ready).toBe(true);
    expect(story).toEqual(['server starts', 'cache starts', 'cache synced', 'checks', 'candidate']);
    expect(mayWrite).toThrow('not now');
    elector.win(true);
    await starting;
    await settled();
    const stopping = manager.stop();
    await settled();
    write.resolve();
    await stopping;
    expect(story.slice(5)).toEqual([
      'cache catches up',
      'leads',
      'a begins',
      'a is finished',
      'ends',
      'events are written',
      'released',
      'server stops',
      'cache stops',
      'client closes',
    ]);
    expect(mayWrite).toThrow('not now');
  });

  test('a new leader reconciles nothing before its caches have caught up', async () => {
    const elector = new FakeElector();
    const {promise, resolve} = Promise.withResolvers<void>();
    behind = promise;
    make(async (key) => (story.push(key), 'awaitChange'), 1000, elector);
    controller.enqueue('a');
    const starting = manager.start();
    sync();
    await settled();
    elector.win(true);
    await wait(10);
    expect(story.at(-1)).toBe('cache catches up');
    resolve();
    await starting;
    await settled();
    expect(story.slice(-2)).toEqual(['leads', 'a']);
    await manager.stop();
  });

  test('a new leader that is told to stop while its caches catch up ends its start, and releases the lease', async () => {
    const elector = new FakeElector();
    behind = new Promise(() => {});
    make(async (key) => (story.push(key), 'awaitChange'), 1000, elector);
    controller.enqueue('a');
    const starting = manager.start();
    sync();
    await settled();
    elector.win(true);
    await settled();
    await manager.stop();
    await starting;
    expect(story).not.toContain('leads');
    expect(story).not.toContain('a');
    expect(story).toContain('released');
  });

  test('a process that refuses what its caches hold ends its start: it is never ready, and no candidate', async () => {
    make(async () => 'awaitChange', 1000, new FakeElector());
    refusal = new Error('not with such a class');
    const starting = manager.start();
    sync();
    await expect(starting).rejects.toThrow('not with such a class');
    expect(manager.health()).toEqual({live: true, ready: false, waitingFor: []});
    expect(story).not.toContain('candidate');
    await manager.stop();
  });

  test('a candidate that is told to stop ends its start', async () => {
    make(async (key) => (story.push(key), 'awaitChange'), 1000, new FakeElector());
    controller.enqueue('a');
    const starting = manager.start();
    await settled();
    sync();
    await wait(10);
    await manager.stop();
    await starting;
    expect(story).not.toContain('a');
    expect(story).not.toContain('leads');
  });

  test('leadership that is lost ends the process with 1, and nothing is released', async () => {
    const elector = await leadingAndBusy(20);
    elector.lose(new Error('too late'));
    await settled();
    expect(story.at(-1)).toBe('exit 1');
    expect(story).not.toContain('released');
    expect(logged.at(-1)).toContain('too late');
    await manager.stop();
  });

  test('while a reconcile still runs after the grace time, the lease is kept', async () => {
    await leadingAndBusy(50);
    await settled();
    await manager.stop();
    expect(story).not.toContain('released');
    expect(logged.some((line) => line.includes('after the grace period'))).toBe(true);
  });
});
