/** How much a status says: never more than its object has room for. */
import {describe, expect, test} from '@jest/globals';
import {customDomainKind, type CustomDomainStatus} from '../../../../operator/api/custom-domain.ts';
import {fit, longestStatus, shorterStatuses} from '../../../../operator/domain/status/status-size.ts';
import {longestStatusOf} from '../../../support/longest.ts';
import {t0} from '../../../support/world.ts';

const size = (status: unknown): number => Buffer.byteLength(JSON.stringify(status));
const wordless = (status: CustomDomainStatus): unknown =>
  status.hosts?.map((host) => ({...host, message: '', details: undefined, zone: undefined}));
const waiting = longestStatusOf('AwaitingVerification');

describe('A status', () => {
  test.each(['AwaitingVerification', 'Live'] as const)(
    'of 501 hostnames of the longest kind fits, and every hostname is in it: %s',
    (phase) => {
      const fitted = fit(longestStatusOf(phase));
      expect(size(fitted)).toBeLessThanOrEqual(longestStatus);
      expect(fitted.hosts).toHaveLength(501);
      expect(customDomainKind.status.safeParse(fitted).success).toBe(true);
    },
  );

  test('keeps all that a decision goes by', () => {
    expect(wordless(fit(waiting))).toEqual(wordless(waiting));
  });

  test('of as many hostnames as are never shortened fits', () => {
    expect(
      size({...waiting, hosts: waiting.hosts!.slice(0, 15), dnsRecords: waiting.dnsRecords!.slice(0, 5 * 15)}),
    ).toBeLessThanOrEqual(longestStatus);
  });

  test('says of a few hostnames all that there is to say', () => {
    const few = {...waiting, hosts: waiting.hosts!.slice(0, 15)};
    expect(fit(few)).toBe(few);
  });

  test('gives up the DNS records of Live hostnames before those of others', () => {
    const hosts = waiting.hosts!.map((h, i) => ({...h, phase: i % 2 === 0 ? ('Live' as const) : h.phase}));
    const {dnsRecords = []} = fit({...waiting, hosts});
    const live = new Set(hosts.filter((h) => h.phase === 'Live').map((h) => h.hostname));
    expect(dnsRecords.length).toBeGreaterThan(10);
    expect(dnsRecords.filter((r) => live.has(r.hostname))).toEqual([]);
  });

  test('that is fitted again says the same: what is read back from it does not change it', () => {
    expect(fit(fit(waiting))).toEqual(fit(waiting));
  });
});

describe('What is written where an object has no room for its status', () => {
  const shorter = shorterStatuses(waiting, undefined, t0);

  test('is shorter each time; the last says nothing, as before the first look', () => {
    const sizes = [fit(waiting), ...shorter].map(size);
    expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
    expect(new Set(sizes).size).toBe(sizes.length);
    expect(shorter.at(-1)).toEqual({observedGeneration: -1});
  });

  test('tells what fills the object and what to do, and does not tick', () => {
    expect(shorter[1]?.conditions?.map((c) => `${c.type}=${c.status}/${c.reason}`)).toEqual([
      'Ready=False/StatusTooLarge',
      'Stalled=True/StatusTooLarge',
    ]);
    expect(shorterStatuses(waiting, shorter[1], t0 + 60_000)[1]).toEqual(shorter[1]);
  });

  test('is a status by the schema', () => {
    for (const each of shorter) expect(customDomainKind.status.safeParse(each).success).toBe(true);
  });
});
