import {beforeEach, describe, expect, test} from '@jest/globals';
import type {HostStatus} from '../../../../operator/api/custom-domain.ts';
import type {Certificate, CustomDomain, DomainClaim} from '../../../../operator/api/foreign.ts';
import {Census, timeHostnames} from '../../../../operator/controllers/state/census.ts';
import {retainedLabel} from '../../../../operator/domain/certificates/certificate.ts';

/** Tells what it is told. */
class Told<T> {
  readonly #handlers: ((now: T | undefined, before: T | undefined) => void)[] = [];
  onChange(handler: (now: T | undefined, before: T | undefined) => void): void {
    this.#handlers.push(handler);
  }
  tell(now: T | undefined, before?: T): void {
    for (const handler of this.#handlers) handler(now, before);
  }
}

const host = (hostname: string, change: Partial<HostStatus> = {}): HostStatus => ({
  hostname,
  role: 'Primary',
  phase: 'AwaitingVerification',
  reason: 'RecordMissing',
  message: '',
  since: '2026-03-01T12:00:00Z',
  addedAt: '2026-03-01T12:00:00Z',
  waitingFor: 'Customer',
  ...change,
});

const domain = (hosts: HostStatus[], uid = 'one'): CustomDomain => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'CustomDomain',
  metadata: {name: uid, namespace: 'acme', uid},
  spec: {projectRef: {name: 'docs'}, primary: 'a.example'},
  status: {observedGeneration: 1, hosts},
});

let domains: Told<CustomDomain>;
let certificates: Told<Certificate>;
let claims: Told<DomainClaim>;
let census: Census;
beforeEach(() => {
  [domains, certificates, claims] = [new Told(), new Told(), new Told()];
  census = new Census({domains, certificates, claims}, [{name: 'acme'}, {name: 'second'}]);
});

const live = {phase: 'Live', reason: 'Serving', waitingFor: 'Nobody'} as const;

describe('Hostnames are counted', () => {
  test('by phase, as their domains come, change and go', () => {
    const before = domain([host('a.example'), host('b.example')]);
    const now = domain([host('a.example', live), host('b.example')]);
    domains.tell(before);
    domains.tell(now, before);
    expect(Object.fromEntries(census.phases.sizes())).toMatchObject({AwaitingVerification: 1, Live: 1, Verified: 0});
    domains.tell(undefined, now);
    expect([...census.phases.sizes()].map(([, size]) => size)).toEqual([0, 0, 0, 0, 0]);
  });

  test('by who must act and why, with since when the oldest waits; what is done waits for nobody', () => {
    const [first, second] = ['2026-03-01T10:00:00Z', '2026-03-01T11:00:00Z'];
    const later = domain([host('b.example', {since: second}), host('c.example', live)], 'two');
    const both = domain([host('a.example', {since: first})]);
    domains.tell(later);
    domains.tell(both);
    const waiting = {waitingFor: 'Customer', reason: 'RecordMissing'};
    expect([...census.waiting()]).toEqual([{...waiting, count: 2, oldest: Date.parse(first)}]);
    domains.tell(undefined, both);
    expect([...census.waiting()]).toEqual([{...waiting, count: 1, oldest: Date.parse(second)}]);
    domains.tell(undefined, later);
    expect([...census.waiting()]).toEqual([{...waiting, count: 0, oldest: Infinity}]);
  });

  test('under Other, where another release gives a reason that this one does not know', () => {
    domains.tell(domain([host('a.example', {reason: 'a.example'})]));
    expect([...census.waiting()]).toMatchObject([{reason: 'Other', count: 1}]);
  });
});

describe('How long a hostname took', () => {
  let told: string[];
  let leads: boolean;
  beforeEach(() => {
    [told, leads] = [[], true];
    timeHostnames(domains, () => leads, {
      addedToVerified: (seconds) => told.push(`verified ${seconds}`),
      verifiedToLive: (seconds) => told.push(`live ${seconds}`),
    });
  });
  const added = domain([host('a.example')]);
  const verified = domain([host('a.example', {phase: 'Verified', verifiedAt: '2026-03-01T12:05:00Z'})]);
  const served = domain([
    host('a.example', {...live, verifiedAt: '2026-03-01T12:05:00Z', liveAt: '2026-03-01T12:05:40Z'}),
  ]);

  test('is told once, by the times in its status, whatever is written after', () => {
    domains.tell(added);
    domains.tell(verified, added);
    domains.tell(verified, verified);
    domains.tell(served, verified);
    domains.tell(served, served);
    expect(told).toEqual(['verified 300', 'live 40']);
  });

  test('is told for each attempt', () => {
    domains.tell(served, added);
    domains.tell(added, served);
    domains.tell(served, added);
    expect(told).toEqual(['verified 300', 'live 40', 'verified 300', 'live 40']);
  });

  test('is not told again by a process that sees it for the first time, nor of an object of the same name', () => {
    domains.tell(served);
    domains.tell(served, domain([host('a.example')], 'another'));
    expect(told).toEqual([]);
  });

  test('is told by the process that leads alone', () => {
    leads = false;
    domains.tell(served, added);
    expect(told).toEqual([]);
  });
});

describe('Certificates are counted', () => {
  const now = Date.parse('2026-03-01T12:00:00Z');
  const inDays = (days: number) => new Date(now + days * 86_400_000).toISOString();
  const certificate = (
    conditions: string[],
    {
      ends,
      renewed = 0,
      life = 90,
      labels,
      issuer = 'acme',
    }: {ends?: number; renewed?: number; life?: number; labels?: Record<string, string>; issuer?: string} = {},
  ): Certificate => ({
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata: {name: 'a', namespace: 'acme', labels},
    spec: {
      secretName: 'a',
      dnsNames: ['a.example'],
      issuerRef: {name: issuer},
      privateKey: {algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always'},
    },
    status: {
      conditions: conditions.map((type) => ({
        type,
        status: 'True',
        reason: 'X',
        message: '',
        lastTransitionTime: inDays(0),
      })),
      ...(ends !== undefined && {notBefore: inDays(ends - life), notAfter: inDays(ends), renewalTime: inDays(renewed)}),
    },
  });
  const states = () => Object.fromEntries([...census.certificates(now)].filter(([, count]) => count > 0));

  test.each([
    ['Ready', certificate(['Ready'], {ends: 60, renewed: 30})],
    ['Ready', certificate(['Ready', 'Issuing'], {ends: 31, renewed: -1})],
    ['Ready', certificate(['Ready'], {ends: 2.1, renewed: -0.1, life: 6})],
    ['Ready', certificate(['Ready'], {ends: 5, renewed: 1})],
    ['Expiring', certificate(['Ready'], {ends: 29, renewed: -1})],
    ['Expiring', certificate(['Ready'], {ends: 1.9, renewed: -0.1, life: 6})],
    ['Expiring', certificate(['Ready'], {ends: -1, renewed: -31})],
    ['Issuing', certificate(['Issuing'])],
    ['NotReady', certificate([])],
    ['Resting', certificate(['Ready'], {ends: 1, renewed: -29, labels: {[retainedLabel]: ''}})],
  ])('as %s', (state, one) => {
    certificates.tell(one);
    expect(states()).toEqual({[state]: 1});
    certificates.tell(undefined, one);
    expect(states()).toEqual({});
  });

  test('as Expiring also when cert-manager calls them Ready no more, because they have ended', () => {
    certificates.tell(certificate([], {ends: -1, renewed: -31}));
    certificates.tell(certificate(['Issuing'], {ends: -1, renewed: -31}));
    expect(states()).toEqual({Expiring: 2});
  });

  test('with when the first of those in use ends', () => {
    const first = certificate(['Ready'], {ends: 10});
    certificates.tell(first);
    certificates.tell(certificate(['Ready'], {ends: 20, issuer: 'second'}));
    certificates.tell(certificate(['Ready'], {ends: 1, labels: {[retainedLabel]: ''}}));
    expect(census.firstEnd()).toBe(Date.parse(inDays(10)));
    certificates.tell(undefined, first);
    expect(census.firstEnd()).toBe(Date.parse(inDays(20)));
  });

  test('by issuer, while they are in use: those of issuers that are not in the settings have to move', () => {
    const before = certificate(['Ready'], {ends: 10, issuer: 'staging'});
    const moved = certificate(['Ready'], {ends: 12});
    certificates.tell(before);
    certificates.tell(certificate(['Ready'], {ends: 10}));
    certificates.tell(certificate(['Ready'], {ends: 11, issuer: 'second'}));
    certificates.tell(certificate(['Issuing'], {issuer: 'staging'}));
    certificates.tell(certificate(['Ready'], {ends: 10, issuer: 'staging', labels: {[retainedLabel]: ''}}));
    expect(Object.fromEntries(census.inUse())).toEqual({acme: 1, second: 1, Other: 1});
    expect(census.toMove()).toBe(1);
    certificates.tell(moved, before);
    expect(Object.fromEntries(census.inUse())).toEqual({acme: 2, second: 1, Other: 0});
    expect(census.toMove()).toBe(0);
  });

  test('of another kind of issuer with the same name as of an issuer that is not in the settings', () => {
    const one = certificate(['Ready'], {ends: 10});
    certificates.tell({...one, spec: {...one.spec, issuerRef: {name: 'acme', kind: 'ClusterIssuer'}}});
    expect(Object.fromEntries(census.inUse())).toEqual({acme: 0, second: 0, Other: 1});
  });
});

const claim = (quarantinedUntil?: string): DomainClaim => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'DomainClaim',
  metadata: {name: 'a.example'},
  spec: {tenant: {account: 'acme'}, proof: 'DNS'},
  status: {generation: 0, ...(quarantinedUntil !== undefined && {quarantinedUntil})},
});

test('Claims are counted by whether they have a holder', () => {
  claims.tell(claim());
  claims.tell(claim('2026-04-01T12:00:00Z'), claim());
  claims.tell(claim());
  expect(Object.fromEntries(census.claims.sizes())).toEqual({Held: 1, Quarantined: 1});
});

test('10,000 domains that wait since as many times are read when they change, and by no scrape', () => {
  let reads = 0;
  for (let i = 0; i < 10_000; i++) {
    const since = new Date(Date.parse('2026-03-01T12:00:00Z') + i * 1000).toISOString();
    const {status, ...counted} = domain([host(`h${i}.example`, {since})], `${i}`);
    Object.defineProperty(counted, 'status', {get: () => (reads++, status)});
    domains.tell(counted);
  }
  expect(reads).toBe(10_000);
  for (let scrape = 0; scrape < 5; scrape++) expect([...census.waiting()]).toMatchObject([{count: 10_000}]);
  expect([...census.phases.sizes()]).toContainEqual(['AwaitingVerification', 10_000]);
  expect(reads).toBe(10_000);
});

test('Live hostnames that do not work are counted by reason, and among the Live ones', () => {
  domains.tell(
    domain([
      host('a.example', {phase: 'Live', reason: 'EdgeNotServing'}),
      host('b.example', {phase: 'Live', reason: 'Serving'}),
      host('c.example', {phase: 'Verified', reason: 'EdgeNotServing'}),
    ]),
  );
  expect(Object.fromEntries(census.degraded())).toEqual({EdgeNotServing: 1, EdgeUnreachable: 0, CertificateLost: 0});
  expect([...census.phases.sizes()]).toContainEqual(['Live', 2]);
});
