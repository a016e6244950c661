import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import {CountedOrders} from '../../../../operator/controllers/orders/counted-orders.ts';
import {CutSum} from '../../../../operator/kube/collections/cut-sum.ts';
import {type QueuedRequest, RequestQueue} from '../../../../operator/controllers/orders/request-queue.ts';
import {SortedList} from '../../../../operator/kube/collections/sorted-list.ts';
import {takenAt} from '../../../../operator/domain/certificates/bucket.ts';

/** One who waits, and how often its arrival is read: each comparison reads it. */
class Counting implements QueuedRequest {
  static reads = 0;
  readonly tenant: string;
  readonly entered: number;
  readonly #arrival: number;

  constructor(tenant: string, arrival: number, entered: number) {
    [this.tenant, this.#arrival, this.entered] = [tenant, arrival, entered];
  }

  get arrival(): number {
    Counting.reads++;
    return this.#arrival;
  }
}

const many = 8000;
/** For each of `many` at most so many times the steps of a binary search. */
const atMost = (times: number) => times * many * Math.ceil(Math.log2(many));
/** Every number below `many` once, in no order: 4,801 has no divisor in common with it. */
const shuffled = Array.from({length: many}, (_, i) => (i * 4801) % many);

describe.each([
  ['one tenant', 1],
  ['a hundred tenants', 100],
  ['a tenant each', many],
])('A line of 8,000 of %s', (_, tenants) => {
  test('is entered, told and served without a look at all of it for each', () => {
    let asked = 0;
    const line = new RequestQueue<Counting>(() => {
      asked++;
      return {left: 3, until: Infinity};
    });
    Counting.reads = 0;
    const all = shuffled.map((arrival, i) => new Counting(`t${arrival % tenants}`, arrival, i));
    for (const one of all) line.enter(one);
    const places = all.map((one) => line.place(one, 0).place);
    expect(new Set(places).size).toBeLessThanOrEqual(many);
    expect(Math.max(...places)).toBeLessThanOrEqual(many);
    for (let next = line.next(0); next; next = line.next(0)) {
      line.leave(next.request);
      line.served(next.request.tenant);
    }
    expect(line.size).toBe(0);
    expect(Counting.reads).toBeLessThanOrEqual(atMost(10));
    expect(asked).toBeLessThanOrEqual(tenants);
  });
});

describe('A line', () => {
  const tenants = ['a', 'b', 'c', 'd'];
  const stepArbitrary = fc.oneof(
    fc.record({do: fc.constant('enter' as const), tenant: fc.nat({max: 3}), arrival: fc.nat({max: 20})}),
    fc.record({do: fc.constant('leave' as const), which: fc.nat()}),
    fc.record({do: fc.constant('serve' as const)}),
    fc.record({do: fc.constant('share' as const), tenant: fc.nat({max: 3}), left: fc.nat({max: 4})}),
    fc.record({do: fc.constant('pass' as const), ms: fc.nat({max: 10})}),
  );

  test('tells the places and serves in the order that counting one by one gives, whatever comes, goes and ends', () => {
    fc.assert(
      fc.property(fc.array(stepArbitrary, {maxLength: 60}), (steps) => {
        let now = 0;
        const left = new Map(tenants.map((t) => [t, 1]));
        const line = new RequestQueue<QueuedRequest>((tenant) => ({left: left.get(tenant)!, until: now + 7}));
        const model = new Model(left);
        for (const [i, step] of steps.entries()) {
          if (step.do === 'enter') {
            const one = {tenant: tenants[step.tenant]!, arrival: step.arrival, entered: i};
            line.enter(one);
            model.enter(one);
          }
          const gone = step.do === 'leave' ? model.all[step.which % model.all.length] : undefined;
          if (gone) {
            line.leave(gone);
            model.leave(gone);
          }
          const next = line.next(now)?.request;
          expect(next).toBe(model.next());
          if (step.do === 'serve' && next) {
            line.leave(next);
            model.leave(next);
            line.served(next.tenant);
            model.served(next.tenant);
          }
          if (step.do === 'share') {
            left.set(tenants[step.tenant]!, step.left);
            line.shareChanged(tenants[step.tenant]!);
          }
          // What changes by itself is told by when.
          if (step.do === 'pass' && step.ms >= 7) for (const t of tenants) left.set(t, left.get(t)! + 1);
          if (step.do === 'pass') now += step.ms >= 7 ? 7 : 0;
          expect(model.all.map((one) => line.place(one, now).place)).toEqual(model.all.map((one) => model.place(one)));
          expect(line.size).toBe(model.all.length);
        }
      }),
      {
        numRuns: 300,
        examples: [
          [
            [
              {do: 'enter', tenant: 3, arrival: 0},
              {do: 'serve'},
              {do: 'enter', tenant: 0, arrival: 17},
              {do: 'enter', tenant: 3, arrival: 17},
            ],
          ],
        ],
      },
    );
  });
});

/** A line that counts one by one. */
class Model {
  readonly #left: ReadonlyMap<string, number>;
  readonly #turns = new Map<string, number>();
  all: QueuedRequest[] = [];
  /** Tenants that wait, in the order in which they came. */
  #tenants: string[] = [];
  #turn = 0;

  constructor(left: ReadonlyMap<string, number>) {
    this.#left = left;
  }

  enter(one: QueuedRequest): void {
    this.all = [...this.all, one].toSorted((a, b) => a.arrival - b.arrival || a.entered - b.entered);
    if (!this.#tenants.includes(one.tenant)) this.#tenants.push(one.tenant);
  }

  leave(one: QueuedRequest): void {
    this.all = this.all.filter((other) => other !== one);
    // Who comes again comes after those who wait.
    if (!this.all.some(({tenant}) => tenant === one.tenant))
      this.#tenants = this.#tenants.filter((t) => t !== one.tenant);
    if (this.all.length === 0) this.#turns.clear();
  }

  served(tenant: string): void {
    if (this.all.length > 0) this.#turns.set(tenant, ++this.#turn);
  }

  next(): QueuedRequest | undefined {
    const firsts = [...new Set(this.all.map((one) => one.tenant))].map((t) =>
      this.all.find((one) => one.tenant === t)!,
    );
    const later = ({tenant}: QueuedRequest) => (this.#left.get(tenant) === 0 ? 1 : 0);
    const turn = ({tenant}: QueuedRequest) => this.#turns.get(tenant) ?? 0;
    const known = ({tenant}: QueuedRequest) => this.#tenants.indexOf(tenant);
    return firsts.toSorted(
      (a, b) => later(a) - later(b) || turn(a) - turn(b) || a.arrival - b.arrival || known(a) - known(b),
    )[0];
  }

  place(one: QueuedRequest): number {
    const of = (tenant: string) => this.all.filter((other) => other.tenant === tenant);
    const left = (tenant: string) => this.#left.get(tenant)!;
    const own = of(one.tenant).indexOf(one) + 1;
    const ownLeft = left(one.tenant);
    const before = (t: string) => (own <= ownLeft ? Math.min(own, left(t)) : left(t) + own - ownLeft);
    const others = [...new Set(this.all.map(({tenant}) => tenant))].filter((t) => t !== one.tenant);
    return others.reduce((sum, t) => sum + Math.min(of(t).length, before(t)), own);
  }
}

describe('A sorted list', () => {
  test('holds what was put in and not taken out, in order', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat({max: 9}))), (steps) => {
        const list = new SortedList<number>((a, b) => a - b);
        let model: number[] = [];
        for (const [isAdded, value] of steps) {
          const at = model.indexOf(value);
          const isDone = isAdded ? (list.add(value), true) : list.remove(value);
          expect(isDone).toBe(isAdded || at >= 0);
          model = isAdded ? [...model, value].toSorted((a, b) => a - b) : model.filter((_, i) => i !== at);
          expect(model.map((_, i) => list.at(i))).toEqual(model);
          expect(list.size).toBe(model.length);
          expect(list.countBefore(value)).toBe(model.filter((v) => v < value).length);
          expect(list.countAfter(value)).toBe(model.filter((v) => v > value).length);
        }
      }),
    );
  });
});

describe('A sum of cut numbers', () => {
  test('is that of the numbers one by one, however they change', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat({max: 5}), fc.nat({max: 40}))), fc.nat({max: 50}), (changes, limit) => {
        const sum = new CutSum();
        const numbers = [0, 0, 0, 0, 0, 0];
        for (const [at, to] of changes) {
          sum.change(numbers[at]!, to);
          numbers[at] = to;
          expect(sum.sum).toBe(numbers.reduce((a, b) => a + b, 0));
          expect(sum.cut(limit)).toBe(numbers.reduce((a, b) => a + Math.min(b, limit), 0));
        }
      }),
    );
  });
});

describe('Counted orders', () => {
  const limits = [
    {limit: 3, perMs: 30},
    {limit: 7, perMs: 50},
  ];

  test('say of every time what a list of their times says, in whatever order they come and go', () => {
    const orderArbitrary = fc.record({at: fc.nat({max: 50}), heard: fc.boolean()});
    fc.assert(
      fc.property(fc.array(orderArbitrary, {maxLength: 20}), fc.array(fc.nat({max: 60})), (orders, moments) => {
        const counted = new CountedOrders(limits, -20);
        for (const order of orders) counted.add(order);
        const left = [...orders];
        for (const now of moments.toSorted((a, b) => a - b)) {
          const times = left.map(({at, heard}) => (heard || at <= now ? at : Infinity));
          expect(counted.asOf(now)).toEqual(takenAt(times, limits, -20));
          const gone = left.pop();
          if (gone) counted.remove(gone);
          expect(counted.size).toBe(left.length);
        }
      }),
    );
  });

  test('keep the effect of those that are forgotten', () => {
    const counted = new CountedOrders(limits, 0);
    for (const at of [10, 20, 30, 40]) counted.add({at, heard: true});
    const before = counted.asOf(50);
    counted.forget(30);
    expect(counted.size).toBe(1);
    expect(counted.asOf(50)).toEqual(before);
    // One that comes late is counted after them.
    counted.add({at: 35, heard: true});
    expect(counted.asOf(50)).toEqual(takenAt([10, 20, 30, 35, 40], limits, 0));
  });
});
