import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import {FairQueue, type Ticket} from '../../../../operator/controllers/probes/fair-queue.ts';

/** Takes all that may be had now, and gives what it was. */
function all(queue: FairQueue<string>): string[] {
  const taken: string[] = [];
  for (let ticket = queue.take(); ticket; ticket = queue.take()) taken.push(ticket.item);
  return taken;
}

const queueOf = (seats: number, share = seats, spare = 0) => new FairQueue<string>({seats, share, spare});

describe('Seats', () => {
  test('go to tenants in turn, and within a tenant in the order in which they were asked for', () => {
    const queue = queueOf(6);
    for (const item of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) queue.add(item[0]!, item);
    expect(all(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  test('are all one tenant’s where nobody else waits', () => {
    const queue = queueOf(4, 1);
    for (const item of ['a1', 'a2', 'a3', 'a4', 'a5']) queue.add('a', item);
    expect(all(queue)).toEqual(['a1', 'a2', 'a3', 'a4']);
  });

  test('above a tenant’s share go to others first, whoever came first', () => {
    const queue = queueOf(4, 2);
    const mine = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6'].map((item) => queue.add('a', item));
    expect(all(queue)).toEqual(['a1', 'a2', 'a3', 'a4']);
    for (const item of ['b1', 'b2', 'b3']) queue.add('b', item);
    const next = mine.slice(0, 4).map((ticket) => {
      queue.release(ticket);
      return queue.take()?.item;
    });
    // Two of b, its share; by then a has less than its own again.
    expect(next).toEqual(['b1', 'b2', 'a5', 'a6']);
  });

  test('are spare for a tenant that has none, and for no other', () => {
    const queue = queueOf(2, 2, 1);
    for (const item of ['a1', 'a2', 'a3']) queue.add('a', item);
    expect(all(queue)).toEqual(['a1', 'a2']);
    for (const item of ['b1', 'b2']) queue.add('b', item);
    expect(all(queue)).toEqual(['b1']);
    queue.add('c', 'c1');
    expect(all(queue)).toEqual([]);
  });

  test('that are spare take nothing from those who wait for a regular one', () => {
    const queue = queueOf(1, 1, 1);
    const first = queue.add('a', 'a1');
    queue.add('a', 'a2');
    all(queue);
    queue.add('b', 'b1');
    expect(all(queue)).toEqual(['b1']);
    queue.release(first);
    expect(all(queue)).toEqual(['a2']);
  });

  test('are not given to what has left the line, and a ticket is given back once', () => {
    const queue = queueOf(1);
    const tickets = ['a1', 'a2', 'a3'].map((item) => queue.add('a', item));
    expect(queue.take()?.item).toBe('a1');
    queue.release(tickets[1]!);
    for (let i = 0; i < 3; i++) queue.release(tickets[0]!);
    expect(all(queue)).toEqual(['a3']);
    queue.release(tickets[2]!);
    expect(queue.tenants).toBe(0);
  });
});

/** What one may do with a queue; `pick` chooses among what waits or has a seat. */
const steps = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({do: fc.constant('add' as const), tenant: fc.constantFrom('a', 'b', 'c', 'd', 'e')}),
    },
    {weight: 3, arbitrary: fc.record({do: fc.constant('take' as const)})},
    {weight: 2, arbitrary: fc.record({do: fc.constantFrom('end' as const, 'leave' as const), pick: fc.nat()})},
  ),
  {maxLength: 200},
);

/** What stands beside the queue: what waits and what has a seat, by tenant. */
class Model {
  readonly waiting: Ticket<string>[] = [];
  readonly seated: Ticket<string>[] = [];
  /** By tenant that waits with less than its share: the regular seats that each other has got since. */
  readonly passedBy = new Map<string, Map<string, number>>();

  of(tenant: string, tickets: readonly Ticket<string>[]): number {
    return tickets.filter(({item}) => item === tenant).length;
  }

  /** Counts that one who waits has been passed by another once more. */
  passes(waiting: string, by: string): number {
    const passed = this.passedBy.get(waiting) ?? new Map<string, number>();
    const times = (passed.get(by) ?? 0) + 1;
    this.passedBy.set(waiting, passed.set(by, times));
    return times;
  }

  /** The tenants that wait and have less than their share. */
  below(share: number): string[] {
    return [...new Set(this.waiting.map(({item}) => item))].filter((t) => this.of(t, this.seated) < share);
  }
}

describe('Whatever is added, taken, ended and left', () => {
  const options = {seats: 4, share: 2, spare: 2};

  test('no seat is free while somebody waits, none is above what there is, and nobody waits longer than a round', () => {
    fc.assert(
      fc.property(steps, (each) => {
        const queue = new FairQueue<string>(options);
        const model = new Model();
        const wrong: string[] = [];
        for (const step of each) {
          if (step.do === 'add') model.waiting.push(queue.add(step.tenant, step.tenant));
          else if (step.do === 'take') wrong.push(...take(queue, model));
          else {
            const among = step.do === 'end' ? model.seated : model.waiting;
            const [ticket] = among.splice(step.pick % Math.max(1, among.length), 1);
            if (ticket) queue.release(ticket);
          }
          // Who has its share, or waits no longer, waits for no round.
          for (const tenant of model.passedBy.keys())
            if (!model.below(options.share).includes(tenant)) model.passedBy.delete(tenant);
          expect(queue.tenants).toBe(new Set([...model.waiting, ...model.seated].map(({item}) => item)).size);
        }
        expect(wrong).toEqual([]);
      }),
      {numRuns: 1000},
    );
  });

  /** What is wrong about the next seat. */
  function take(queue: FairQueue<string>, model: Model): string[] {
    const [below, before] = [model.below(options.share), model.seated.length];
    const seatless = model.waiting.some(({item}) => model.of(item, model.seated) === 0);
    const mustWait = model.waiting.length === 0 || before >= options.seats + (seatless ? 1 : 0);
    const ticket = queue.take();
    if (!ticket) return mustWait ? [] : ['a seat stays free'];
    const isSpare = before >= options.seats && model.of(ticket.item, model.seated) === 0;
    model.waiting.splice(model.waiting.indexOf(ticket), 1);
    model.seated.push(ticket);
    model.passedBy.delete(ticket.item);
    // A seat beyond the regular ones takes nobody's turn.
    const passed = isSpare ? [] : below.filter((t) => t !== ticket.item);
    return [
      ...(model.seated.length > options.seats + options.spare ? ['more than there are'] : []),
      ...(below.length > 0 && !below.includes(ticket.item) ? ['above its share while others wait'] : []),
      ...passed.flatMap((t) => (model.passes(t, ticket.item) > 1 ? ['more than a round'] : [])),
    ];
  }
});
