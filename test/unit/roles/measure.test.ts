import {expect, test} from '@jest/globals';
import {Registry} from 'prom-client';
import {domainMetrics} from '../../../operator/observability/metrics.ts';
import {measure} from '../../../operator/roles/measure.ts';
import {policy} from '../../support/world.ts';

/** Objects of a kind that never change. */
const none = {onChange: () => {}, list: () => []};
const [{issuerRef, ...rest}] = policy.issuers;
const named = (...names: string[]) => names.map((name) => ({...rest, issuerRef: {...issuerRef, name}}));

/** What a scrape reads about the availability of issuers, of which `first` has not answered for a while. */
async function availability(...names: string[]): Promise<string[]> {
  const registry = new Registry();
  const sources = {
    caches: {domains: none, certificates: none, claims: none},
    tenants: {countWithoutPlan: () => 0},
    orders: {waiting: () => [], account: () => []},
    plainHttp: {rivals: () => []},
    preflight: {known: () => []},
    edgeHealth: {serving: () => []},
    cas: {unavailableSince: (name: string) => (name === 'first' ? 1 : undefined)},
    issuers: named(...names),
    leads: () => true,
  };
  measure(registry, domainMetrics(registry), sources as unknown as Parameters<typeof measure>[2]);
  return (await registry.metrics()).split('\n').filter((line) => line.startsWith('doorplate_issuer_available'));
}

test('Each of several issuers is available unless its CA does not answer', async () => {
  expect(await availability('first', 'second')).toEqual([
    'doorplate_issuer_available{issuer="first"} 0',
    'doorplate_issuer_available{issuer="second"} 1',
  ]);
});

test('A single issuer has no availability, because nobody reads its directory', async () => {
  expect(await availability('first')).toEqual([]);
});
