import {afterEach, beforeEach, describe, expect, test} from '@jest/globals';
import pino from 'pino';
import {Registry} from 'prom-client';
import {again, Controller, type Reconcile} from '../../../../operator/kube/controller/controller.ts';
import {ApiError, StaleReadError, TerminalError} from '../../../../operator/kube/errors.ts';
import {kitMetrics} from '../../../../operator/kube/metrics.ts';
import {Turns} from '../../../../operator/kube/controller/turns.ts';
import {settled, VirtualClock} from '../../../support/kube-clock.ts';

/** Opened after each test: a stop waits for all that runs, for ever where a failed test has left one shut. */
const gates: (() => void)[] = [];

/** A promise that the test settles. */
function gate(): {opened: Promise<void>; open: () => void} {
  const {promise, resolve} = Promise.withResolvers<void>();
  gates.push(resolve);
  return {opened: promise, open: resolve};
}

const refusal = (status: number, said: object) => new ApiError({status, body: JSON.stringify(said)});
const conflict = refusal(409, {reason: 'Conflict', message: 'stale'});
const synced = {synced: Promise.resolve(), isSynced: true};

let clock: VirtualClock;
let registry: Registry;
let logged: {level: number; msg: string; key?: string; controller?: string}[];
let controller: Controller;

function make(reconcile: Reconcile, options: Partial<ConstructorParameters<typeof Controller>[0]> = {}): Controller {
  const log = pino({level: 'debug'}, {write: (line: string) => void logged.push(JSON.parse(line))});
  controller = new Controller({
    name: 'widget',
    reconcile,
    workers: 2,
    waitFor: [synced],
    metrics: kitMetrics(registry),
    log,
    clock,
    turns: new Turns(() => clock.now()),
    backoff: {baseMs: 100, capMs: 1000, random: () => 0.5},
    ...options,
  });
  return controller;
}

async function metric(name: string): Promise<Record<string, number>> {
  const {values} = await registry.getSingleMetric(name)!.get();
  return Object.fromEntries(
    values.map(({labels, value}) => [String((labels as {result?: string}).result ?? ''), value]),
  );
}

/** How often a key had to wait for a worker, and for how long all together. */
async function waited(): Promise<{count: number | undefined; seconds: number | undefined}> {
  const {values} = (await registry.getSingleMetric('workqueue_queue_duration_seconds')!.get()) as {
    values: {metricName?: string; value: number}[];
  };
  const of = (what: string) => values.find(({metricName}) => metricName?.endsWith(what))?.value;
  return {count: of('_count'), seconds: of('_sum')};
}

beforeEach(() => {
  clock = new VirtualClock();
  registry = new Registry();
  logged = [];
});
afterEach(async () => {
  for (const open of gates.splice(0)) open();
  await controller.stop();
});

describe('the start', () => {
  test('nothing is reconciled before every cache has synced', async () => {
    const [first, second] = [gate(), gate()];
    const seen: string[] = [];
    make(async (key) => (seen.push(key), 'awaitChange'), {
      waitFor: [
        {synced: first.opened, isSynced: false},
        {synced: second.opened, isSynced: false},
      ],
    });
    controller.enqueue('a');
    const started = controller.start();
    await settled();
    first.open();
    await settled();
    expect(seen).toEqual([]);
    second.open();
    await started;
    await settled();
    expect(seen).toEqual(['a']);
  });

  test('nothing is counted before it, for however long; then all that was enqueued is worked on, and has not waited', async () => {
    const seen: string[] = [];
    make(async (key) => (seen.push(key), 'awaitChange'));
    for (const key of ['a', 'b', 'a']) controller.enqueue(key);
    await clock.advance(3_600_000);
    expect([await metric('workqueue_depth'), await metric('workqueue_adds_total')]).toEqual([{}, {}]);
    await controller.start();
    await settled();
    expect(seen).toEqual(['a', 'b']);
    expect([await metric('workqueue_depth'), await metric('workqueue_adds_total')]).toEqual([{'': 0}, {'': 2}]);
    expect(await waited()).toEqual({count: 2, seconds: 0});
  });

  test('a stop while caches still sync ends the start', async () => {
    make(async () => 'awaitChange', {waitFor: [{synced: new Promise<void>(() => {}), isSynced: false}]});
    const started = controller.start();
    await controller.stop();
    await expect(started).resolves.toBeUndefined();
  });
});

describe('what follows a reconcile', () => {
  test('awaitChange: nothing, until the key is enqueued', async () => {
    let runs = 0;
    await make(async () => (runs++, 'awaitChange')).start();
    controller.enqueue('a');
    await settled();
    await clock.advance(1e9);
    expect(runs).toBe(1);
    controller.enqueue('a');
    await settled();
    expect(runs).toBe(2);
    expect(await metric('controller_runtime_reconcile_total')).toEqual({success: 2});
  });

  test('requeueAfterMs: a run at that time', async () => {
    const at: number[] = [];
    await make(async () => (at.push(clock.now()), {requeueAfterMs: 500})).start();
    controller.enqueue('a');
    await settled();
    await clock.advance(1200);
    expect(at).toEqual([0, 500, 1000]);
  });

  test('requeueAfterMs replaces what was asked for later', async () => {
    const at: number[] = [];
    await make(async () => (at.push(clock.now()), at.length === 1 ? {requeueAfterMs: 500} : 'awaitChange')).start();
    controller.enqueueAfter('a', 100);
    await clock.advance(99);
    controller.enqueue('a');
    await settled();
    await clock.advance(10_000);
    expect(at).toEqual([99, 599]);
  });

  test('an error: retries with growing waits, an error log with key and trace id, and back to the first wait after a success', async () => {
    const at: number[] = [];
    await make(async () => {
      at.push(clock.now());
      if (at.length !== 4) throw new Error('no luck');
      return 'awaitChange';
    }).start();
    controller.enqueue('ns/a');
    await settled();
    await clock.advance(2000);
    expect(at).toEqual([0, 75, 225, 525]);
    controller.enqueue('ns/a');
    await settled();
    await clock.advance(74);
    expect(at).toHaveLength(5);
    await clock.advance(1);
    expect(at).toHaveLength(6);
    const errors = logged.filter(({level}) => level >= 50);
    expect(errors).toHaveLength(5);
    expect(errors[0]).toMatchObject({controller: 'widget', key: 'ns/a', msg: 'reconcile failed'});
    expect(await metric('controller_runtime_reconcile_errors_total')).toEqual({'': 5});
  });

  test.each([
    ['a conflict', conflict],
    ['a copy that is behind', new StaleReadError('another by now')],
    [
      'a namespace that is being deleted',
      refusal(403, {
        reason: 'Forbidden',
        details: {causes: [{reason: 'NamespaceTerminating', field: 'metadata.namespace'}]},
      }),
    ],
    ['a namespace that is gone', refusal(404, {reason: 'NotFound', details: {kind: 'namespaces', name: 'a'}})],
  ])('%s: a retry without a word', async (_, error) => {
    let runs = 0;
    await make(async () => {
      if (++runs === 1) throw error;
      return 'awaitChange';
    }).start();
    controller.enqueue('a');
    await settled();
    await clock.advance(75);
    expect(runs).toBe(2);
    expect(logged.filter(({level}) => level > 20)).toEqual([]);
    expect(await metric('controller_runtime_reconcile_total')).toEqual({requeue: 1, success: 1});
  });

  test('a terminal error: no retry until a change', async () => {
    let runs = 0;
    await make(async () => {
      runs++;
      throw new TerminalError('that will never do');
    }).start();
    controller.enqueue('a');
    await settled();
    await clock.advance(1e9);
    expect(runs).toBe(1);
    controller.enqueue('a');
    await settled();
    expect(runs).toBe(2);
  });

  test('Retry-After: not before that', async () => {
    let runs = 0;
    await make(async () => {
      runs++;
      throw new ApiError({status: 429, body: '', retryAfter: '7'});
    }).start();
    controller.enqueue('a');
    await settled();
    await clock.advance(6999);
    expect(runs).toBe(1);
    await clock.advance(1);
    expect(runs).toBe(2);
  });

  test('a reconcile that throws before its first await harms no other key', async () => {
    const seen: string[] = [];
    await make(
      (key) => {
        seen.push(key);
        if (key === 'bad') throw new Error('at once');
        return Promise.resolve('awaitChange');
      },
      {workers: 1},
    ).start();
    controller.enqueue('bad');
    controller.enqueue('good');
    await settled();
    expect(seen).toEqual(['bad', 'good']);
  });
});

describe('workers', () => {
  test('as many keys as there are workers run at once, a key never twice', async () => {
    const gateOf = new Map<string, ReturnType<typeof gate>>();
    const running: string[] = [];
    await make(async (key) => {
      running.push(key);
      gateOf.set(key, gate());
      await gateOf.get(key)!.opened;
      running.splice(running.indexOf(key), 1);
      return 'awaitChange';
    }).start();
    for (const key of ['a', 'a', 'b', 'c']) controller.enqueue(key);
    await settled();
    controller.enqueue('a');
    await settled();
    expect(running).toEqual(['a', 'b']);
    expect(await metric('controller_runtime_active_workers')).toEqual({'': 2});
    gateOf.get('b')!.open();
    await settled();
    expect(running).toEqual(['a', 'c']);
    gateOf.get('a')!.open();
    await settled();
    expect(running).toEqual(['c', 'a']);
  });
});

test('a stop takes no more keys, and waits for the last that runs; what it fails with then is no error', async () => {
  const write = gate();
  const seen: string[] = [];
  await make(
    async (key) => {
      seen.push(key);
      await write.opened;
      throw new Error('the client is closed');
    },
    {workers: 1},
  ).start();
  controller.enqueue('a');
  controller.enqueue('b');
  await settled();
  let stopped = false;
  const stopping = controller.stop().then(() => (stopped = true));
  controller.enqueue('c');
  await settled();
  expect(stopped).toBe(false);
  write.open();
  await stopping;
  await clock.advance(1e6);
  expect(seen).toEqual(['a']);
  expect(logged.filter(({level}) => level > 20)).toEqual([]);
});

test('a reconcile that has more to do has another turn at once, after those that are due already', async () => {
  const seen: string[] = [];
  make(
    async (key) => {
      seen.push(key);
      return seen.length === 1 ? again : 'awaitChange';
    },
    {workers: 1},
  );
  for (const key of ['a', 'b', 'c']) controller.enqueue(key);
  await controller.start();
  await settled();
  expect(seen).toEqual(['a', 'b', 'c', 'a']);
});
