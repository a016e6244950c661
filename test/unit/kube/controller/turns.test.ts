import {describe, expect, test} from '@jest/globals';
import pino from 'pino';
import {Registry} from 'prom-client';
import {Controller} from '../../../../operator/kube/controller/controller.ts';
import {kitMetrics} from '../../../../operator/kube/metrics.ts';
import {Turns} from '../../../../operator/kube/controller/turns.ts';

describe('Controllers with thousands of keys that send nothing', () => {
  test('let timers and I/O have a turn after ten milliseconds of work at most, all of them together', async () => {
    // Each key takes one.
    let nowMs = 0;
    const turns = new Turns(() => nowMs);
    const log = pino({level: 'silent'});
    const synced = {synced: Promise.resolve(), isSynced: true};
    const controllers = ['customdomain', 'project', 'domainclaim'].map(
      (name) =>
        new Controller({
          name,
          waitFor: [synced],
          workers: 10,
          metrics: kitMetrics(new Registry()),
          log,
          turns,
          async reconcile() {
            await Promise.resolve();
            nowMs++;
            return 'awaitChange';
          },
        }),
    );
    const keys = Array.from({length: 5000}, (_, i) => `acme/n${i}`);
    for (const controller of controllers) for (const key of keys) controller.enqueue(key);
    const between: number[] = [];
    const {promise: all, resolve: done} = Promise.withResolvers<void>();
    let last = 0;
    const count = (): void => {
      between.push(nowMs - last);
      last = nowMs;
      if (nowMs >= controllers.length * keys.length) done();
      else setImmediate(count);
    };
    setImmediate(count);
    for (const controller of controllers) await controller.start();
    await all;
    for (const controller of controllers) await controller.stop();
    expect(nowMs).toBe(15_000);
    // At the start each of thirty workers begins with a key.
    expect(between.filter((ms) => ms > 10).length).toBeLessThanOrEqual(1);
    expect(Math.max(...between)).toBeLessThanOrEqual(10 + 30);
  });
});
