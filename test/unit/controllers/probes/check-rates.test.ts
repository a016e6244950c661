/** How fast a tenant's DNS checks begin, whatever domains its hostnames are below. Times are ms. */
import {describe, expect, test} from '@jest/globals';
import {CheckRates, ofTenant} from '../../../../operator/controllers/probes/check-rates.ts';
import {perResolver} from '../../../../operator/dns/rate.ts';

const [seconds, minutes, hours] = [1000, 60_000, 3_600_000];
/** Questions of one check to each resolver, where the domain is unknown: its zone, four name servers, the record, CAA. */
const mostQuestions = 18;

/** When the checks of hostnames below so many domains begin, all of which are due at `now`. */
const begin = (rates: CheckRates, domains: number, now = 0, tenant = 'acme'): number[] =>
  Array.from({length: domains}, (_, i) => rates.next(tenant, `www.d${i}.test`, now) - now);

describe('A tenant with hostnames below 568 domains', () => {
  test('has a hundred checks at once, and then twenty a second', () => {
    const at = begin(new CheckRates(), 568);
    expect(at.filter((ms) => ms === 0)).toHaveLength(100);
    for (const second of [1, 5, 20]) expect(at.filter((ms) => ms <= second * seconds)).toHaveLength(100 + 20 * second);
  });

  test('delays the checks of no other tenant', () => {
    const rates = new CheckRates();
    begin(rates, 568);
    expect(begin(rates, 1, 0, 'other')).toEqual([0]);
  });

  test('leaves four fifths of what a resolver is asked to others, also at first', () => {
    expect(ofTenant.perSecond * mostQuestions * 5).toBeLessThanOrEqual(perResolver.perSecond);
    expect(ofTenant.burst * mostQuestions).toBeLessThanOrEqual(perResolver.burst);
  });
});

describe('A tenant that a platform wants', () => {
  test('and moves in with 500 hostnames, each below a domain of its own, has them all checked within 20 s', () => {
    expect(Math.max(...begin(new CheckRates(), 500))).toBeLessThanOrEqual(20 * seconds);
  });

  test('and has 10,000 Live hostnames and 1,000 that wait has its checks when they are due', () => {
    const rates = new CheckRates();
    const spread = (count: number, every: number) =>
      Array.from({length: Math.floor((10 * minutes * count) / every)}, (_, i) => ({
        at: (i * every) / count,
        hostname: `www.${every}-${i % count}.test`,
      }));
    const due = [...spread(10_000, 6 * hours), ...spread(1000, minutes)].toSorted((a, b) => a.at - b.at);
    expect(due.length).toBeGreaterThan(10_000);
    expect(Math.max(...due.map(({at, hostname}) => rates.next('acme', hostname, at) - at))).toBe(0);
  });
});

test('Below one domain there are 50 checks at once and 10 a second, also after checks of other domains', () => {
  const rates = new CheckRates();
  begin(rates, 400);
  const at = Array.from({length: 200}, (_, i) => rates.next('acme', `h${i}.customer.test`, 0));
  expect(at[0]).toBe(15_050);
  // The fiftieth of these, and every tenth from then on.
  for (const i of [60, 100, 150]) expect(at[i + 10]! - at[i]!).toBeLessThanOrEqual(1000);
  expect(at[199]! - at[0]!).toBeGreaterThanOrEqual(14_900);
  expect(rates.next('acme', 'www.elsewhere.test', 0)).toBeLessThan(at[199]!);
});
