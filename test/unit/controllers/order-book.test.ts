import {afterEach, beforeEach, describe, expect, jest, test} from '@jest/globals';
import * as fc from 'fast-check';
import {OrderBook} from '../../../operator/controllers/order-book.ts';
import type {Budgets} from '../../../operator/domain/budget.ts';
import {timestamp} from '../../../operator/domain/conditions.ts';
import type {OrderWish} from '../../../operator/domain/issuance.ts';
import {days, hours, minutes, seconds, t0} from '../../support/world.ts';

const budgets: Budgets = {
  account: [{limit: 2, perMs: minutes}],
  registeredDomain: [{limit: 3, perMs: hours}],
  certificates: [{limit: 4, perMs: 7 * days}],
  failures: [{limit: 2, perMs: hours}],
};

let told: string[];
let book: OrderBook;
const make = (change: Partial<Budgets> = {}) =>
  new OrderBook({
    budgets: {...budgets, ...change},
    unheardAfterMs: 30 * minutes,
    onAnswer: (owner) => told.push(owner),
  });

beforeEach(() => {
  jest.useFakeTimers({now: t0});
  told = [];
  book = make();
});
afterEach(() => {
  book.stop();
  jest.useRealTimers();
});

/** A host of a CustomDomain of its own. */
const host = (name: string, zone = `${name}.example`): OrderWish => ({
  hostname: `www.${zone}`,
  certificate: `acme/${name}`,
  state: 'Wanted',
  since: Date.now(),
});
const want = (name: string, {tenant = 'acme', zone}: {tenant?: string; zone?: string} = {}) =>
  book.keep(name, tenant, [host(name, zone)]);
const answer = (name: string) => book.grant(`acme/${name}`)?.kind;
const answers = (...names: string[]) => names.map((n) => answer(n)).join(' ');
/** The request of a Certificate comes to be; `ordered`: the CA has the order. */
const requested = (name: string, {at = Date.now(), ordered = true, zone = `${name}.example`} = {}) =>
  book.observe(`acme/${name}`, `www.${zone}`, {at: timestamp(at), outcome: 'Pending'}, ordered);
const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

describe('The line', () => {
  test('grants at once while there is room; then who comes first is served first', async () => {
    expect(want('a')).toBe(true);
    want('b');
    for (const name of ['c', 'd', 'e']) {
      await pass(1);
      want(name);
    }
    expect(answers('a', 'b', 'c', 'd', 'e')).toBe('Granted Granted Queued Queued Queued');
    requested('a');
    requested('b');
    await pass(minutes);
    expect(answers('c', 'd', 'e')).toBe('Granted Granted Queued');
    expect(told).toEqual(['c', 'd']);
  });

  test('keeps the place of who asks again', async () => {
    for (const name of ['a', 'b', 'c', 'd']) {
      want(name);
      await pass(1);
    }
    want('c');
    requested('a');
    requested('b');
    await pass(minutes);
    expect(told).toEqual(['c', 'd']);
  });

  test('forgets who wants no more, and serves the next one', async () => {
    for (const name of ['a', 'b', 'c', 'd']) {
      want(name);
      await pass(1);
    }
    book.keep('c', 'acme', []);
    book.keep('a', 'acme', []);
    expect(answers('b', 'd')).toBe('Granted Granted');
    expect(answer('c')).toBeUndefined();
  });

  test('lets tenants take turns: a short line of one passes a long one of another', async () => {
    want('first');
    want('second');
    for (const name of ['a1', 'a2', 'a3', 'a4']) {
      await pass(1);
      want(name);
    }
    await pass(1);
    want('b1', {tenant: 'other'});
    requested('first');
    requested('second');
    await pass(minutes);
    expect(answers('a1', 'a2', 'b1')).toBe('Granted Queued Granted');
  });

  test('tells a place and a time, in whole minutes, which stand until they have passed', async () => {
    for (const name of ['a', 'b']) {
      want(name);
      requested(name);
    }
    await pass(10 * seconds);
    for (const name of ['c', 'd', 'e']) want(name);
    const told1 = book.grant('acme/e');
    expect(told1).toEqual({kind: 'Queued', place: 3, expectedAt: t0 + 3 * minutes});
    expect(book.grant('acme/c')).toEqual({kind: 'Queued', place: 1, expectedAt: t0 + 2 * minutes});
    await pass(51 * seconds);
    expect(answers('c', 'd')).toBe('Granted Granted');
    expect(book.grant('acme/e')).toEqual(told1);
    // Nobody has seen the orders of c and d yet.
    await pass(2 * minutes);
    expect(book.grant('acme/e')).toEqual({kind: 'Queued', place: 1, expectedAt: t0 + 5 * minutes});
  });
});

describe('The account', () => {
  test('counts a grant until its order is known to be made, and from then on for the window', async () => {
    want('a');
    want('b');
    want('c');
    await pass(5 * minutes);
    expect(answer('c')).toBe('Queued');
    requested('a', {ordered: false});
    await pass(5 * minutes);
    expect(answer('c')).toBe('Queued');
    book.observe('acme/a', 'www.a.example', {at: timestamp(t0 + 5 * minutes), outcome: 'Pending'}, true);
    await pass(minutes - 1);
    expect(answer('c')).toBe('Queued');
    await pass(1);
    expect(answer('c')).toBe('Granted');
  });

  test('counts what was never heard of as made after a while: a cert-manager that is away holds up nobody for ever', async () => {
    want('a');
    want('b');
    want('c');
    await pass(31 * minutes - 1);
    expect(answer('c')).toBe('Queued');
    await pass(1);
    expect(answer('c')).toBe('Granted');
  });

  test('counts what nobody asked leave for: renewals, and an order of before a restart', async () => {
    requested('renewed');
    book.keep('begun', 'acme', [{...host('begun'), state: 'Ordered', since: t0 - seconds}]);
    expect(want('a')).toBe(true);
    expect(answers('begun', 'a')).toBe('Granted Queued');
  });

  test('knows an order once, however often it is told', () => {
    want('a');
    requested('a');
    requested('a');
    book.observe('acme/a', 'www.a.example', {at: timestamp(t0), outcome: 'Issued', endedAt: timestamp(t0)}, true);
    want('b');
    expect(answer('b')).toBe('Granted');
    expect(book.orders('www.a.example')).toEqual([{at: timestamp(t0), outcome: 'Issued', endedAt: timestamp(t0)}]);
  });

  test('whenever cert-manager gets round to it, the CA never sees more orders than the budget in any span', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({pause: fc.nat({max: 40_000}), delay: fc.nat({max: 100_000})}), {
          minLength: 1,
          maxLength: 25,
        }),
        async (wishes) => {
          book.stop();
          book = new OrderBook({
            budgets: {...budgets, registeredDomain: [{limit: 1000, perMs: minutes}]},
            unheardAfterMs: 30 * minutes,
            onAnswer: (owner) => granted(owner),
          });
          const seen: number[] = [];
          const delays = new Map<string, number>();
          const done = new Set<string>();
          const granted = (name: string) => {
            if (answer(name) !== 'Granted' || done.has(name)) return;
            done.add(name);
            const begun = Date.now();
            setTimeout(() => {
              seen.push(Date.now());
              requested(name, {at: begun});
              book.keep(name, 'acme', []);
            }, delays.get(name));
          };
          for (const [i, {pause, delay}] of wishes.entries()) {
            await pass(pause);
            delays.set(`w${i}`, delay);
            want(`w${i}`);
            granted(`w${i}`);
          }
          await pass(2 * hours);
          expect(seen).toHaveLength(wishes.length);
          for (const t of seen) expect(seen.filter((u) => u >= t && u < t + minutes).length).toBeLessThanOrEqual(2);
        },
      ),
      {numRuns: 50},
    );
  });
});

describe('A registered domain', () => {
  test('that has had its share holds up nobody else, and its own until there is room', async () => {
    book = make({account: [{limit: 100, perMs: minutes}]});
    for (const name of ['a', 'b', 'c']) {
      want(name, {zone: `${name}.shared.example`});
      requested(name, {zone: `${name}.shared.example`});
    }
    want('d', {zone: 'd.shared.example'});
    want('e');
    expect(answers('d', 'e')).toBe('Exhausted Granted');
    expect(book.grant('acme/d')).toEqual({kind: 'Exhausted', until: t0 + hours});
    await pass(hours);
    expect(answer('d')).toBeUndefined();
    want('d', {zone: 'd.shared.example'});
    expect(answer('d')).toBe('Granted');
  });
});

describe('A restart forgets nothing', () => {
  test('who stood in line stands in line, in the same order, and nobody is served before all have been entered', () => {
    for (const [name, waited] of [
      ['late', 10],
      ['early', 30],
      ['middle', 20],
    ] as const)
      book.enter(name, 'acme', {...host(name), since: t0 - waited * seconds});
    expect(answers('late', 'early', 'middle')).toBe('Queued Queued Queued');
    want('late');
    expect(answers('early', 'middle', 'late')).toBe('Granted Granted Queued');
  });

  test('what CertificateRequests and claims tell counts, from the time at which it ended', async () => {
    book.observe(
      'acme/a',
      'www.a.example',
      {at: timestamp(t0 - 50 * seconds), outcome: 'Issued', endedAt: timestamp(t0 - 40 * seconds)},
      true,
    );
    book.recall('www.b.example', [
      {
        at: timestamp(t0 - 50 * seconds),
        outcome: 'Failed',
        endedAt: timestamp(t0 - 30 * seconds),
        message: 'it failed',
      },
    ]);
    want('c');
    expect(answer('c')).toBe('Queued');
    await pass(20 * seconds);
    expect(answer('c')).toBe('Queued');
    await pass(seconds);
    expect(answer('c')).toBe('Granted');
    expect(book.orders('www.b.example')).toMatchObject([{outcome: 'Failed', message: 'it failed'}]);
  });

  test('an order that never ended counts from when the CA had it, or when nobody waits for word of it any more, not from the restart', async () => {
    book.recall('www.a.example', [
      {at: timestamp(t0 - 10 * minutes), outcome: 'Pending', endedAt: timestamp(t0 - 9 * minutes)},
    ]);
    book.observe('acme/b', 'www.b.example', {at: timestamp(t0 - hours), outcome: 'Pending'}, true);
    for (const name of ['c', 'd']) want(name);
    expect(answers('c', 'd')).toBe('Granted Granted');
  });

  test('an order is remembered when its request is gone, and is forgotten when no budget counts it', async () => {
    requested('a');
    expect(book.orders('www.a.example')).toEqual([{at: timestamp(t0), outcome: 'Pending', endedAt: timestamp(t0)}]);
    await pass(7 * days);
    expect(book.orders('www.a.example')).toEqual([]);
  });
});
