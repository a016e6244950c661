import {afterEach, beforeEach, describe, expect, jest, test} from '@jest/globals';
import * as fc from 'fast-check';
import {fullAfter, roomAt} from '../../../../operator/domain/certificates/bucket.ts';
import {OrderQueue} from '../../../../operator/controllers/orders/order-queue.ts';
import type {Budgets} from '../../../../operator/domain/certificates/budget.ts';
import type {OrderRequest} from '../../../../operator/domain/certificates/issuance.ts';
import {timestamp} from '../../../../operator/domain/times.ts';
import {days, hours, minutes, seconds, t0} from '../../../support/world.ts';

const budgets: Budgets = {
  account: [{limit: 2, perMs: minutes}],
  registeredDomain: [{limit: 3, perMs: hours}],
  certificates: [{limit: 4, perMs: 7 * days}],
  authorizations: [{limit: 5, perMs: hours}],
  failures: [{limit: 2, perMs: hours}],
  countRenewals: false,
};

let told: string[];
let book: OrderQueue;
/** Whose a hostname is. */
const holders = new Map<string, string>();
function make(change: Partial<Budgets> = {}): OrderQueue {
  const made = new OrderQueue({
    issuer: 'letsencrypt',
    budgets: {...budgets, ...change},
    unheardAfterMs: 30 * minutes,
    tenantOf: (hostname) => holders.get(hostname),
  });
  made.onChange((owner) => told.push(owner));
  return made;
}

beforeEach(() => {
  jest.useFakeTimers({now: t0});
  told = [];
  holders.clear();
  book = make();
});
afterEach(() => {
  book.stop();
  jest.useRealTimers();
});

/** A host of a CustomDomain of its own. */
const host = (name: string, zone = `${name}.example`): OrderRequest => ({
  hostname: `www.${zone}`,
  certificate: `acme/${name}`,
  state: 'Wanted',
  since: Date.now(),
});
function want(name: string, {tenant = 'acme', zone}: {tenant?: string; zone?: string} = {}): boolean {
  const orderRequest = host(name, zone);
  holders.set(orderRequest.hostname, tenant);
  return book.keep(name, tenant, [orderRequest]);
}
const answer = (name: string) => book.grant(`acme/${name}`)?.kind;
const answers = (...names: string[]) => names.map((n) => answer(n)).join(' ');
/** The request of a Certificate comes to be; `ordered`: the CA has the order. */
const requested = (name: string, {at = Date.now(), ordered = true, zone = `${name}.example`} = {}) =>
  book.observe(`acme/${name}`, `www.${zone}`, {at: timestamp(at), outcome: 'Pending'}, ordered);
const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);
/** Below one registered domain. */
const wantBelow = async (...names: string[]) => {
  for (const name of names) {
    await pass(1);
    want(name, {zone: `${name}.shared.example`});
  }
};
/** One after the other. */
const wantAll = async (tenant: string, ...names: string[]) => {
  for (const name of names) {
    await pass(1);
    want(name, {tenant});
  }
};

/** Calls `wantAll`, and lets the CA receive the orders. */
const orderAll = async (tenant: string, ...names: string[]) => {
  await wantAll(tenant, ...names);
  for (const name of names) requested(name);
};
/** Of a host below one registered domain. */
const below = (name: string) => ({zone: `${name}.shared.example`});

/** Three certificates below it, as many as it may have at once. */
const spendDomain = () => {
  for (const name of ['a', 'b', 'c']) {
    want(name, below(name));
    book.observe(
      `acme/${name}`,
      `www.${name}.shared.example`,
      {at: timestamp(Date.now()), outcome: 'Issued', endedAt: timestamp(Date.now() - seconds)},
      true,
    );
  }
};

test('What is used of the account is counted for each limit: a grant at once, and an order until its token is back', async () => {
  book = make({
    account: [
      {limit: 2, perMs: minutes},
      {limit: 9, perMs: hours},
    ],
  });
  const used = () => [...book.account()].map(({limit, used: orders}) => `${orders}/${limit}`);
  expect(used()).toEqual(['0/2', '0/9']);
  want('a');
  expect(used()).toEqual(['1/2', '1/9']);
  requested('a');
  await pass(30 * seconds);
  expect(used()).toEqual(['0/2', '1/9']);
});

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

  test('keeps the place of an owner that asks again', async () => {
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

  test('drops an owner that no longer wants an order, and serves the next one', async () => {
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
    // Another token each five seconds. A share is three, so that no tenant waits because of its share.
    book = make({account: [{limit: 12, perMs: minutes}]});
    for (const tenant of 'cdef') await wantAll(tenant, `${tenant}1`, `${tenant}2`, `${tenant}3`);
    await wantAll('acme', 'a1', 'a2', 'a3');
    await wantAll('other', 'b1');
    for (const tenant of 'cdef') for (const n of [1, 2, 3]) requested(`${tenant}${n}`);
    await pass(12 * seconds);
    expect(answers('a1', 'a2', 'b1')).toBe('Granted Queued Granted');
  });

  describe('of an account that may order eight an hour', () => {
    const account = [{limit: 8, perMs: hours}];
    beforeEach(() => {
      book = make({account});
    });

    test('keeps its last quarter for tenants that have had less than a quarter', async () => {
      await wantAll('acme', ...'abcdefg');
      expect(answers(...'fg')).toBe('Granted Queued');
      await wantAll('other', 'x');
      await wantAll('third', 'y', 'z');
      expect(answers(...'gxyz')).toBe('Queued Granted Granted Queued');
    });

    test('serves tenants that have had less than a quarter of it before all others', async () => {
      await orderAll('acme', ...'abcdef');
      await wantAll('acme', 'i', 'j');
      await wantAll('other', 'x', 'y', 'z');
      expect(answers('i', 'j', 'x', 'y', 'z')).toBe('Queued Queued Granted Granted Queued');
      requested('x');
      requested('y');
      // In turns, the tenants would get i, j, z. Each tenant has used its quarter, and must leave one token.
      await pass(22 * minutes + 30 * seconds);
      expect(answers('i', 'j', 'z')).toBe('Granted Queued Queued');
    });

    test('reports places in that order', async () => {
      await orderAll('acme', ...'abcdef');
      await wantAll('third', 'u', 'v');
      await wantAll('acme', 'i');
      await wantAll('other', 'x', 'y', 'z');
      const place = (name: string) => {
        const grant = book.grant(`acme/${name}`);
        return grant?.kind === 'Queued' ? grant.place : undefined;
      };
      book.keep('i', 'acme', []);
      await wantAll('acme', 'i');
      expect(['x', 'y', 'i', 'z'].map(place)).toEqual([1, 2, 4, 4]);
    });

    test('counts orders from before a restart for the tenant that made them', async () => {
      for (const name of 'abcdefgh') {
        const at = timestamp(Date.now() - minutes);
        book.recall(`www.${name}.example`, [{at, outcome: 'Issued', endedAt: at, tenant: 'acme'}]);
      }
      await wantAll('acme', 'i');
      await wantAll('other', 'x');
      await pass(8 * minutes);
      expect(told).toEqual(['x']);
    });

    test('counts orders of a hostname for the tenant that made them, also after it has passed to another', async () => {
      await orderAll('acme', ...'abcdef');
      for (const name of 'abcdef') {
        holders.set(`www.${name}.example`, 'other');
        book.pass(`www.${name}.example`);
      }
      await wantAll('other', 'x');
      await wantAll('acme', 'i');
      expect(answers('x', 'i')).toBe('Granted Queued');
    });
  });

  test('of thousands asks whose a hostname is once for each order, not for all with each wish', async () => {
    let asked = 0;
    book = new OrderQueue({
      issuer: 'letsencrypt',
      budgets: {...budgets, account: [{limit: 1000, perMs: hours}], registeredDomain: []},
      unheardAfterMs: 30 * minutes,
      tenantOf: (hostname) => {
        asked++;
        return hostname;
      },
    });
    const names = Array.from({length: 3000}, (_, i) => `n${i}`);
    for (const name of names) {
      book.keep(name, name, [host(name)]);
      if (answer(name) === 'Granted') requested(name);
    }
    expect(book.waiting).toBe(2000);
    expect(asked).toBe(1000);
  });

  test('reports a place and a time in whole minutes, which stay until that time has passed', async () => {
    for (const name of ['a', 'b']) {
      want(name);
      requested(name);
    }
    await pass(10 * seconds);
    for (const name of ['c', 'd', 'e']) want(name);
    const told1 = book.grant('acme/e');
    expect(told1).toEqual({kind: 'Queued', since: t0 + 10 * seconds, place: 3, expectedAt: t0 + 2 * minutes});
    expect(book.grant('acme/c')).toEqual({
      kind: 'Queued',
      since: t0 + 10 * seconds,
      place: 1,
      expectedAt: t0 + minutes,
    });
    await pass(51 * seconds);
    expect(answers('c', 'd')).toBe('Granted Granted');
    expect(book.grant('acme/e')).toEqual(told1);
    // The orders of c and d have not been seen yet.
    await pass(2 * minutes);
    expect(book.grant('acme/e')).toEqual({
      kind: 'Queued',
      since: t0 + 10 * seconds,
      place: 1,
      expectedAt: t0 + 4 * minutes,
    });
  });
});

describe('The account', () => {
  test('counts a grant until its order is known to be made, and gets its token back from then on', async () => {
    want('a');
    want('b');
    want('c');
    await pass(5 * minutes);
    expect(answer('c')).toBe('Queued');
    requested('a', {ordered: false});
    await pass(5 * minutes);
    expect(answer('c')).toBe('Queued');
    book.observe('acme/a', 'www.a.example', {at: timestamp(t0 + 5 * minutes), outcome: 'Pending'}, true);
    await pass(30 * seconds - 1);
    expect(answer('c')).toBe('Queued');
    await pass(1);
    expect(answer('c')).toBe('Granted');
  });

  test('counts a grant whose order is never seen as made after a while: an absent cert-manager blocks nobody for ever', async () => {
    want('a');
    want('b');
    want('c');
    await pass(30 * minutes + 30 * seconds - 1);
    expect(answer('c')).toBe('Queued');
    await pass(1);
    expect(answer('c')).toBe('Granted');
  });

  test('counts orders that nobody asked for: renewals, and an order from before a restart', async () => {
    requested('renewed');
    book.keep('begun', 'acme', [{...host('begun'), state: 'Ordered', since: t0 - seconds}]);
    expect(want('a')).toBe(true);
    expect(answers('begun', 'a')).toBe('Granted Queued');
  });

  test('counts an order once, however often it is observed', () => {
    want('a');
    requested('a');
    requested('a');
    book.observe('acme/a', 'www.a.example', {at: timestamp(t0), outcome: 'Issued', endedAt: timestamp(t0)}, true);
    want('b');
    expect(answer('b')).toBe('Granted');
    expect(book.orders('www.a.example')).toEqual([
      {at: timestamp(t0), outcome: 'Issued', endedAt: timestamp(t0), tenant: 'acme'},
    ]);
  });

  test("however late cert-manager orders, the CA's bucket always has a token", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({pause: fc.nat({max: 40_000}), delay: fc.nat({max: 100_000})}), {
          minLength: 1,
          maxLength: 25,
        }),
        async (orderRequests) => {
          book.stop();
          book = new OrderQueue({
            issuer: 'letsencrypt',
            budgets: {...budgets, registeredDomain: [{limit: 1000, perMs: minutes}]},
            unheardAfterMs: 30 * minutes,
            tenantOf: () => undefined,
          });
          book.onChange((owner) => granted(owner));
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
          for (const [i, {pause, delay}] of orderRequests.entries()) {
            await pass(pause);
            delays.set(`w${i}`, delay);
            want(`w${i}`);
            granted(`w${i}`);
          }
          await pass(2 * hours);
          expect(seen).toHaveLength(orderRequests.length);
          let full = -Infinity;
          for (const t of seen) {
            expect(roomAt({full: [full], unheard: 0}, budgets.account, t)).toBe(t);
            full = fullAfter(full, t, budgets.account[0]!);
          }
        },
      ),
      {numRuns: 50},
    );
  });
});

describe('A registered domain', () => {
  beforeEach(() => {
    book = make({account: [{limit: 100, perMs: minutes}]});
    spendDomain();
  });

  test('that has spent its budget waits until there is room, and delays nobody else', async () => {
    want('d', below('d'));
    want('e');
    expect(answers('d', 'e')).toBe('Exhausted Granted');
    expect(book.grant('acme/d')).toEqual({kind: 'Exhausted', since: t0, until: t0 + 21 * minutes});
    await pass(20 * minutes);
    expect(answer('d')).toBe('Granted');
    expect(told).toEqual(['d']);
  });

  test('serves those that wait for it by arrival, and tells each when its turn comes', async () => {
    await wantBelow('d', 'e', 'f');
    expect(['d', 'e', 'f'].map((name) => book.grant(`acme/${name}`))).toMatchObject([
      {until: t0 + 21 * minutes},
      {until: t0 + 41 * minutes},
      {until: t0 + 61 * minutes},
    ]);
    // Another that comes now is behind them, whenever it asks.
    await pass(19 * minutes);
    await wantBelow('g');
    await pass(minutes);
    expect(answers('d', 'e', 'f', 'g')).toBe('Granted Exhausted Exhausted Exhausted');
  });

  test('has room again at once when an order fails', async () => {
    book = make({account: [{limit: 100, perMs: minutes}], registeredDomain: [{limit: 1, perMs: hours}]});
    want('a', below('a'));
    want('b', below('b'));
    expect(answers('a', 'b')).toBe('Granted Exhausted');
    const order = {at: timestamp(Date.now()), outcome: 'Failed' as const, endedAt: timestamp(Date.now())};
    book.observe('acme/a', 'www.a.shared.example', order, true);
    expect(answer('b')).toBe('Granted');
  });

  test('and the account give a renewal no token, unless the CA counts renewals', async () => {
    const issued = {at: timestamp(t0 - 60 * days), outcome: 'Issued' as const, endedAt: timestamp(t0 - 60 * days)};
    for (const countRenewals of [false, true]) {
      book = make({account: [{limit: 1, perMs: minutes}], registeredDomain: [{limit: 1, perMs: hours}], countRenewals});
      book.recall('www.a.shared.example', [issued]);
      requested('a', {zone: 'a.shared.example'});
      want('b', below('b'));
      expect(answer('b')).toBe(countRenewals ? 'Exhausted' : 'Granted');
    }
  });
});

describe('An order that replaces a valid certificate', () => {
  const ends = t0 + 30 * days;
  const issued = {at: timestamp(t0 - 60 * days), outcome: 'Issued' as const, endedAt: timestamp(t0 - 60 * days)};
  const replace = (name: string, since = ends) => {
    book.recall(`www.${name}.example`, [issued]);
    holders.set(`www.${name}.example`, 'acme');
    book.keep(name, 'acme', [{...host(name), since}]);
  };
  const names = Array.from({length: 8}, (_, i) => `r${i}`);
  beforeEach(() => {
    // Eight an hour; two replacements at once, and another each 7.5 minutes.
    book = make({account: [{limit: 8, perMs: hours}]});
  });

  test('is paced, though it takes no token, and the certificate that ends first comes first', async () => {
    for (const [i, name] of names.entries()) replace(name, ends - i * hours);
    expect(answers('r0', 'r1', 'r2', 'r7', 'r6')).toBe('Granted Granted Queued Queued Queued');
    await pass(7.5 * minutes);
    expect(answers('r2', 'r7', 'r6')).toBe('Queued Granted Queued');
    await pass(7.5 * minutes);
    expect(answers('r2', 'r6')).toBe('Queued Granted');
  });

  test('delays no newcomer, and waits while one waits', async () => {
    for (const name of names) replace(name);
    for (let n = 0; n < 9; n++) want(`n${n}`, {tenant: `t${n}`});
    expect(answers('n0', 'n7', 'n8')).toBe('Granted Granted Queued');
    for (let n = 0; n < 8; n++) requested(`n${n}`);
    want('later', {tenant: 'later'});
    await pass(7.5 * minutes + 2 * seconds);
    expect(answers('n8', 'later', 'r2')).toBe('Granted Queued Queued');
    await pass(7.5 * minutes + 2 * seconds);
    expect(answers('later', 'r2')).toBe('Granted Granted');
  });

  test('says its position behind all others, and when its turn comes', () => {
    for (const name of names) replace(name);
    expect(book.grant('acme/r4')).toMatchObject({kind: 'Queued', place: 3, expectedAt: t0 + 23 * minutes});
    expect(book.expectedAt('acme', {certificate: 'acme/r4', hostname: 'www.r4.example'})).toBe(t0);
  });

  test('waits for a token if it is no renewal, and for nothing once its certificate has ended', () => {
    for (let n = 0; n < 6; n++) want(`n${n}`, {tenant: `t${n}`});
    book.keep('fresh', 'acme', [{...host('fresh'), since: ends + hours}]);
    for (const name of ['r0', 'r1', 'r2']) replace(name);
    expect(answers('fresh', 'r0', 'r1', 'r2')).toBe('Queued Granted Granted Queued');
    replace('r2', t0 - seconds);
    expect(answer('r2')).toBe('Granted');
  });
});

describe('A restart forgets nothing', () => {
  test('the line keeps its order, and nobody is served before all have been entered again', () => {
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

  test('orders known from CertificateRequests and claims count from the time at which they ended', async () => {
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
    // The buckets regained a token 9 s ago, and regain one every 30 s.
    want('c');
    want('d');
    expect(answers('c', 'd')).toBe('Granted Queued');
    expect(book.orders('www.b.example')).toMatchObject([{outcome: 'Failed', message: 'it failed'}]);
  });

  test('an order without an end counts from when the CA had it or from when it was given up, not from the restart', async () => {
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
    await pass(14 * days);
    expect(book.orders('www.a.example')).toEqual([]);
  });
});
