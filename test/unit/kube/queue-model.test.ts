import {expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import {Queue} from '../../../operator/kube/controller/queue.ts';
import {settled, VirtualClock} from '../../support/kube-clock.ts';

/*
 * The queue against a model of its promises, over random schedules on virtual time. The model knows one number a key: when it
 * is due. It has no timers, no sets of reruns, and finds what happens by looking at all keys.
 */

type Step =
  | {do: 'add'; key: string; urgent: boolean}
  | {do: 'addAfter'; key: string; ms: number}
  | {do: 'fail'; key: string}
  | {do: 'succeed'; key: string}
  | {do: 'take'}
  | {do: 'done'; nth: number}
  | {do: 'wait'; ms: number};

const backoff = {baseMs: 20, capMs: 640, random: () => 0};
const backoffAfter = (failures: number): number => Math.min(640, 20 * 2 ** (failures - 1)) / 2;

interface ModelKey {
  due: number;
  /** Breaks ties between keys that are due at the same time. */
  order: number;
}

class Model {
  now = 0;
  readonly due = new Map<string, ModelKey>();
  readonly working: string[] = [];
  readonly failures = new Map<string, number>();
  readonly given: {key: string; at: number}[] = [];
  takers = 0;
  readonly #urgent = new Set<string>();
  readonly #takenUrgent = new Set<string>();
  readonly #first: string[] = [];
  readonly #second: string[] = [];
  #passes = 0;
  #order = 0;

  ask(key: string, ms: number): void {
    const known = this.due.get(key);
    const due = this.now + ms;
    if (!known || due < known.due) this.due.set(key, {due, order: this.#order++});
    this.settle();
  }

  hurry(key: string): void {
    this.#urgent.add(key);
    const place = this.#second.indexOf(key);
    if (place >= 0) this.#first.push(...this.#second.splice(place, 1));
  }

  fail(key: string): void {
    if (this.working.includes(key) && this.#takenUrgent.has(key)) this.hurry(key);
    const failures = (this.failures.get(key) ?? 0) + 1;
    this.failures.set(key, failures);
    this.ask(key, backoffAfter(failures));
  }

  done(nth: number): string {
    const [key] = this.working.splice(nth % this.working.length, 1);
    this.settle();
    return key!;
  }

  wait(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const next = Math.min(...[...this.due.values()].map(({due}) => due).filter((due) => due > this.now));
      if (next > end) break;
      this.now = next;
      this.settle();
    }
    this.now = end;
  }

  /** Who is due and not being worked on is ready; who is ready goes to who waits. */
  settle(): void {
    const became = [...this.due].filter(
      ([key, {due}]) => due <= this.now && ![...this.working, ...this.#first, ...this.#second].includes(key),
    );
    became.sort(([, a], [, b]) => a.due - b.due || a.order - b.order);
    for (const [key] of became) {
      (this.#urgent.has(key) ? this.#first : this.#second).push(key);
      this.#give();
    }
    this.#give();
  }

  #give(): void {
    while (this.takers > 0 && this.#first.length + this.#second.length > 0) {
      const key = this.#next();
      if (this.#urgent.delete(key)) this.#takenUrgent.add(key);
      else this.#takenUrgent.delete(key);
      this.takers--;
      this.due.delete(key);
      this.working.push(key);
      this.given.push({key, at: this.now});
    }
  }

  /** Of the urgent ones first; every eighth time, where another waits, of the others. */
  #next(): string {
    const passes = this.#first.length > 0 && this.#second.length > 0 && this.#passes < 7;
    this.#passes = passes ? this.#passes + 1 : 0;
    return (passes || this.#second.length === 0 ? this.#first : this.#second).shift()!;
  }
}

class Real {
  readonly clock = new VirtualClock();
  readonly queue = new Queue({clock: this.clock, backoff});
  readonly working = new Set<string>();
  readonly given: {key: string; at: number}[] = [];
  /** Keys given out while they were being worked on. */
  readonly twice: string[] = [];
  home = 0;

  async take(): Promise<void> {
    const key = await this.queue.get();
    if (key === undefined) {
      this.home++;
      return;
    }
    if (this.working.has(key)) this.twice.push(key);
    this.working.add(key);
    this.given.push({key, at: this.clock.now()});
  }

  done(key: string): void {
    this.working.delete(key);
    this.queue.done(key);
  }
}

async function play(step: Step, model: Model, real: Real): Promise<void> {
  switch (step.do) {
    case 'add':
      if (step.urgent) model.hurry(step.key);
      model.ask(step.key, 0);
      real.queue.add(step.key, {urgent: step.urgent});
      break;
    case 'addAfter':
      model.ask(step.key, step.ms);
      real.queue.addAfter(step.key, step.ms);
      break;
    case 'fail':
      model.fail(step.key);
      real.queue.addBackoff(step.key);
      break;
    case 'succeed':
      model.failures.delete(step.key);
      real.queue.forget(step.key);
      break;
    case 'take':
      model.takers++;
      model.settle();
      void real.take();
      break;
    case 'done':
      if (model.working.length > 0) real.done(model.done(step.nth));
      break;
    case 'wait':
      model.wait(step.ms);
      await real.clock.advance(step.ms);
      break;
  }
  await settled();
}

const key = fc.constantFrom('a', 'b', 'c');
const step: fc.Arbitrary<Step> = fc.oneof(
  {weight: 4, arbitrary: fc.record({do: fc.constant('add' as const), key, urgent: fc.boolean()})},
  {weight: 4, arbitrary: fc.record({do: fc.constant('addAfter' as const), key, ms: fc.integer({min: 0, max: 200})})},
  {weight: 2, arbitrary: fc.record({do: fc.constant('fail' as const), key})},
  {weight: 1, arbitrary: fc.record({do: fc.constant('succeed' as const), key})},
  {weight: 5, arbitrary: fc.record({do: fc.constant('take' as const)})},
  {weight: 5, arbitrary: fc.record({do: fc.constant('done' as const), nth: fc.nat(5)})},
  {weight: 4, arbitrary: fc.record({do: fc.constant('wait' as const), ms: fc.integer({min: 1, max: 150})})},
);

const runs = 1000;

test(`over ${runs} random schedules the queue gives out what its model gives out, when it does`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, {maxLength: 60, size: 'max'}), async (steps) => {
      const model = new Model();
      const real = new Real();
      for (const next of steps) {
        await play(next, model, real);
        expect(real.twice).toEqual([]);
        expect(real.given).toEqual(model.given);
      }
    }),
    {numRuns: runs},
  );
});

test('wherever a schedule is cut off by a shutdown, running keys are waited for and nothing else is given out', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, {maxLength: 40, size: 'max'}),
      fc.array(step, {maxLength: 20, size: 'max'}),
      async (before, after) => {
        const model = new Model();
        const real = new Real();
        for (const next of before) await play(next, model, real);
        const given = real.given.length;
        let drained = false;
        void real.queue.drain().then(() => (drained = true));
        await settled();
        expect(real.home).toBe(model.takers);
        for (const next of after) {
          expect(drained).toBe(real.working.size === 0);
          if (next.do === 'done') {
            const [first] = real.working;
            if (first !== undefined) real.done(first);
          } else if (next.do === 'add') {
            real.queue.add(next.key);
          } else if (next.do === 'addAfter') {
            real.queue.addAfter(next.key, next.ms);
          } else if (next.do === 'wait') {
            await real.clock.advance(next.ms);
          }
          await settled();
        }
        for (const running of real.working) real.done(running);
        await settled();
        expect(drained).toBe(true);
        expect(real.given).toHaveLength(given);
        expect(real.clock.pending).toBe(0);
      },
    ),
    {numRuns: 300},
  );
});
