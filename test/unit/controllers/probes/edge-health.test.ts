import {afterEach, beforeEach, describe, expect, jest, test} from '@jest/globals';
import {EdgeHealth, type EdgeNews} from '../../../../operator/controllers/probes/edge-health.ts';
import {leaf, otherLeaf, edgeAt, minutes, seconds, t0} from '../../../support/world.ts';

const [one, two] = ['192.0.2.1', '192.0.2.2'];
const names = ['a.example', 'b.example', 'c.example', 'd.example'];

let addresses: string[];
let hostnames: string[];
let news: EdgeNews[];
let sweeps: number;
let health: EdgeHealth;
/** What the edge presents by address and hostname. */
let presents: (address: string, hostname: string) => object;

/** Probes hostnames as the operator does. */
const probe = (chosen: readonly string[]) => {
  for (const hostname of chosen) {
    const findings = addresses.map((address) => edgeAt(address.split(':')[0]!, presents(address, hostname)));
    health.note({hostname, leafSha256: leaf}, findings, Date.now());
  }
};
const serving = () => Object.fromEntries(health.serving());

beforeEach(() => {
  jest.useFakeTimers({now: t0});
  [addresses, hostnames, news, sweeps] = [[`${one}:443`], names, [], 0];
  presents = () => ({leafSha256: leaf});
  health = new EdgeHealth({
    addresses: () => addresses,
    sample: (count) => {
      const chosen = hostnames.slice(0, count);
      void Promise.resolve().then(() => probe(chosen));
      return hostnames.length;
    },
    confirmationsMs: [minutes, 5 * minutes, 15 * minutes],
    report: (event) => news.push(event),
  });
  health.onChange(() => sweeps++);
  health.begin();
});
afterEach(() => {
  health.stop();
  jest.useRealTimers();
});

const after = (ms: number) => jest.advanceTimersByTimeAsync(ms);

describe('The health of the edge', () => {
  test('begins with a sweep of half an hour', () => {
    expect([sweeps, health.state?.sweep]).toEqual([1, {since: t0, withinMs: 30 * minutes}]);
  });

  test('reports an address that serves no hostname once, after 1, 5 and 15 minutes, and sweeps', async () => {
    presents = () => ({unreachable: 'connection refused'});
    await after(minutes + seconds);
    expect([serving(), news]).toEqual([{[`${one}:443`]: false}, []]);
    await after(15 * minutes - 2 * seconds);
    expect(news).toEqual([]);
    await after(2 * seconds);
    expect(news).toEqual([{edge: `${one}:443`, isFaulty: true, why: 'connection refused'}]);
    expect([sweeps, health.state]).toEqual([
      2,
      {sweep: {since: t0 + 16 * minutes, withinMs: 10 * minutes}, faulty: new Set([`${one}:443`])},
    ]);
    await after(60 * minutes);
    expect([news.length, sweeps]).toEqual([1, 2]);
  });

  test('reports an address that serves again once, and sweeps', async () => {
    presents = () => ({leafSha256: otherLeaf});
    await after(17 * minutes);
    presents = () => ({leafSha256: leaf});
    await after(minutes);
    expect(news.map(({isFaulty, why}) => [isFaulty, why])).toEqual([
      [true, 'presents another certificate'],
      [false, 'presents another certificate'],
    ]);
    expect([serving(), sweeps, health.state?.faulty]).toEqual([{[`${one}:443`]: true}, 3, new Set()]);
  });

  test('is not told by a hostname that is broken alone', async () => {
    presents = (_, hostname) => (hostname === 'a.example' ? {leafSha256: otherLeaf} : {leafSha256: leaf});
    await after(60 * minutes);
    expect([serving(), news]).toEqual([{[`${one}:443`]: true}, []]);
  });

  test('is told by all Live hostnames if there are fewer than three', async () => {
    hostnames = ['a.example'];
    presents = () => ({unreachable: 'no connection in time'});
    await after(16 * minutes + seconds);
    expect(news).toHaveLength(1);
  });

  test('writes nothing about an outage of ten minutes', async () => {
    presents = () => ({unreachable: 'connection refused'});
    await after(11 * minutes);
    presents = () => ({leafSha256: leaf});
    await after(30 * minutes);
    expect([news, sweeps]).toEqual([[], 1]);
  });

  test('sweeps when an address is added, and finds out that it is dead', async () => {
    await after(31 * minutes);
    addresses = [`${one}:443`, `${two}:443`];
    presents = (address) => (address.startsWith(two) ? {unreachable: 'no route to it'} : {leafSha256: leaf});
    await after(minutes);
    expect([sweeps, serving()]).toEqual([2, {[`${one}:443`]: true, [`${two}:443`]: false}]);
    await after(15 * minutes);
    expect(news).toMatchObject([{edge: `${two}:443`, isFaulty: true}]);
    addresses = [`${one}:443`];
    await after(minutes);
    expect([health.state?.faulty, sweeps]).toEqual([new Set(), 4]);
  });

  test('sweeps once while the addresses of a load balancer change all the time', async () => {
    for (let i = 0; i < 20; i++) {
      addresses = [`198.51.100.${i}:443`];
      await after(minutes);
    }
    expect(sweeps).toBe(1);
  });

  test('is unknown without a Live hostname', async () => {
    presents = () => ({unreachable: 'connection refused'});
    await after(20 * minutes);
    hostnames = [];
    await after(minutes);
    expect([serving(), health.state?.faulty]).toEqual([{[`${one}:443`]: true}, new Set()]);
  });
});
