import {afterEach, beforeEach, describe, expect, jest, test} from '@jest/globals';
import {CaAvailability, type AvailabilityOptions} from '../../../../operator/controllers/state/ca-availability.ts';
import {hours, minutes, seconds} from '../../../support/world.ts';

const refOf = (name: string) => ({name, kind: 'ClusterIssuer', group: 'cert-manager.io'});
let works: Record<string, boolean>;
let asked: string[];
let changes: number;
let availability: CaAvailability;

function start(change: Partial<AvailabilityOptions> = {}): void {
  availability = new CaAvailability({
    client: {
      get: async (_: unknown, name: string) =>
        name === 'gone' ? undefined : {spec: {acme: {server: `https://${name}.example/dir`}}},
    } as unknown as AvailabilityOptions['client'],
    issuers: [refOf('first'), refOf('second')],
    namespace: 'doorplate-system',
    recoveryMs: hours,
    progress: {isStalled: () => false},
    log: {debug: () => {}, info: () => {}, warn: () => {}},
    ask: async (server) => {
      asked.push(server);
      return works[new URL(server).hostname.split('.')[0]!] ?? true;
    },
    ...change,
  });
  availability.onChange(() => {
    changes++;
  });
  availability.start();
}
const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  jest.useFakeTimers();
  [works, asked, changes] = [{}, [], 0];
});
afterEach(() => {
  availability.stop();
  jest.useRealTimers();
});

describe('The CA of an issuer', () => {
  test('is asked once a minute if there are several, and never if there is one', async () => {
    start();
    await pass(2 * minutes);
    expect(asked.toSorted()).toEqual([
      ...Array.from({length: 3}, () => 'https://first.example/dir'),
      ...Array.from({length: 3}, () => 'https://second.example/dir'),
    ]);
    availability.stop();
    asked = [];
    start({issuers: [refOf('first')]});
    await pass(hours);
    expect(asked).toEqual([]);
  });

  test('does not answer when a second read confirms it, since the first', async () => {
    start();
    await pass(30 * seconds);
    works.first = false;
    await pass(30 * seconds);
    const failedAt = Date.now();
    expect([availability.unavailableSince('first'), changes]).toEqual([undefined, 0]);
    await pass(10 * seconds);
    expect([availability.unavailableSince('first'), changes]).toEqual([failedAt, 1]);
    expect(availability.unavailableSince('second')).toBeUndefined();
  });

  test('answers if only one read failed', async () => {
    works.first = false;
    start();
    await pass(0);
    works.first = true;
    await pass(10 * minutes);
    expect([availability.unavailableSince('first'), changes]).toEqual([undefined, 0]);
  });

  test('is used again when it has answered for an hour without a failure', async () => {
    works.first = false;
    start();
    await pass(minutes);
    works.first = true;
    await pass(59 * minutes);
    expect(availability.unavailableSince('first')).toBeDefined();
    works.first = false;
    await pass(minutes);
    works.first = true;
    await pass(60 * minutes);
    expect(availability.unavailableSince('first')).toBeDefined();
    await pass(2 * minutes);
    // The second has answered for an hour by now.
    expect([availability.unavailableSince('first'), changes]).toEqual([undefined, 3]);
  });

  test('is steady when it has answered for an hour, and from a second failed read on no longer', async () => {
    const isSteady = () => availability.isSteady('first');
    start();
    await pass(59 * minutes);
    expect([isSteady(), changes]).toEqual([false, 0]);
    await pass(minutes);
    expect([isSteady(), changes]).toEqual([true, 2]);
    works.first = false;
    await pass(minutes);
    expect(isSteady()).toBe(true);
    await pass(10 * seconds);
    expect([isSteady(), changes]).toEqual([false, 3]);
    works.first = true;
    await pass(60 * minutes);
    expect(isSteady()).toBe(false);
    await pass(2 * minutes);
    expect([isSteady(), availability.unavailableSince('first')]).toEqual([true, undefined]);
  });

  test('does not answer if its orders get no answer, although its directory does', async () => {
    let isStalled = false;
    start({progress: {isStalled: (issuer) => isStalled && issuer === 'first'}});
    await pass(30 * seconds);
    isStalled = true;
    await pass(40 * seconds);
    expect(['first', 'second'].map((issuer) => availability.unavailableSince(issuer) !== undefined)).toEqual([
      true,
      false,
    ]);
    isStalled = false;
    await pass(62 * minutes);
    expect(availability.unavailableSince('first')).toBeUndefined();
  });

  test('is not known if the issuer does not exist, is of another group, or cannot be read', async () => {
    const issuers = [refOf('gone'), {...refOf('other'), group: 'cert-manager.example.net'}];
    start({issuers});
    await pass(minutes);
    expect(asked).toEqual([]);
    availability.stop();
    start({client: {get: () => Promise.reject(new Error('503'))}});
    await pass(minutes);
    expect([asked, availability.unavailableSince('first')]).toEqual([[], undefined]);
  });
});
