import {expect, test} from '@jest/globals';
import {Registry} from 'prom-client';
import type {IssuedRequest} from '../../../operator/domain/certificates/certificate.ts';
import {domainMetrics} from '../../../operator/observability/metrics.ts';
import {measure} from '../../../operator/roles/measure.ts';
import {policy} from '../../support/world.ts';

/** Objects of a kind that never change. */
const none = {onChange: () => {}, list: () => []};
const [{issuerRef, ...rest}] = policy.issuers;
const named = (...names: string[]) => names.map((name) => ({...rest, issuerRef: {...issuerRef, name}}));

type Handler = (now: IssuedRequest | undefined, before: IssuedRequest | undefined) => void;

interface Change {
  issuers?: string[];
  requests?: {onChange: (handler: Handler) => void};
  leads?: boolean;
}

/** A scrape of a process of which the CA of `first` has not answered for a while. `logged`: what it warns of. */
function measured({issuers = ['first'], requests = none, leads = true}: Change) {
  const registry = new Registry();
  const logged: unknown[][] = [];
  const sources = {
    caches: {domains: none, certificates: none, claims: none, requests},
    tenants: {countWithoutPlan: () => 0},
    orders: {waiting: () => [], account: () => []},
    plainHttp: {rivals: () => []},
    preflight: {known: () => []},
    edgeHealth: {serving: () => []},
    cas: {unavailableSince: (name: string) => (name === 'first' ? 1 : undefined)},
    leads: () => leads,
  };
  const log = {warn: (...line: unknown[]) => logged.push(line)};
  const parts = {registry, log, config: {policy: {issuers: named(...issuers)}}};
  measure(
    parts as unknown as Parameters<typeof measure>[0],
    domainMetrics(registry),
    sources as unknown as Parameters<typeof measure>[2],
  );
  const lines = async (name: string) => (await registry.metrics()).split('\n').filter((line) => line.startsWith(name));
  return {lines, logged};
}

/** What a scrape reads about the availability of issuers. */
const availability = (...issuers: string[]): Promise<string[]> =>
  measured({issuers}).lines('doorplate_issuer_available');

test('Each of several issuers is available unless its CA does not answer', async () => {
  expect(await availability('first', 'second')).toEqual([
    'doorplate_issuer_available{issuer="first"} 0',
    'doorplate_issuer_available{issuer="second"} 1',
  ]);
});

test('A single issuer has no availability, because nobody reads its directory', async () => {
  expect(await availability('first')).toEqual([]);
});

test.each([
  [true, ['doorplate_certificates_requested_repeatedly 1'], [{certificate: 'acme/docs'}]],
  [false, [], []],
])(
  'A Certificate with three requests is counted, and named in the log, by the process that leads: %s',
  async (leads, counted, warned) => {
    const handlers: Handler[] = [];
    const {lines, logged} = measured({leads, requests: {onChange: (handler) => handlers.push(handler)}});
    for (const uid of ['1', '2', '3']) {
      const annotations = {'cert-manager.io/certificate-name': 'docs'};
      const creationTimestamp = new Date().toISOString();
      const metadata = {name: uid, namespace: 'acme', uid, creationTimestamp, annotations};
      for (const tell of handlers) tell({metadata}, undefined);
    }
    expect(await lines('doorplate_certificates_requested_repeatedly')).toEqual(counted);
    expect(logged.map(([fields]) => fields)).toEqual(warned);
  },
);
