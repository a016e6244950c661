import {describe, expect, test} from '@jest/globals';
import {
  caaOfIssuers,
  issuerFor,
  issuersNow,
  type HostnameToIssue,
  type KnownCas,
} from '../../../operator/controllers/issuers.ts';
import type {Order} from '../../../operator/domain/certificates/budget.ts';
import type {CaaVerdict} from '../../../operator/domain/certificates/caa.ts';
import {issuerCases} from '../../../operator/domain/certificates/choose-issuer.ts';
import {decide} from '../../../operator/domain/lifecycle.ts';
import {timestamp} from '../../../operator/domain/times.ts';
import type {Verdict} from '../../../operator/domain/verification/method.ts';
import type {Policy} from '../../../operator/domain/world.ts';
import {certificate, hours, minutes, policy as usual, proven, t0, world} from '../../support/world.ts';

const [one] = usual.issuers;
const second = {...one, issuerRef: {...one.issuerRef, name: 'second'}, when: issuerCases};
const policy: Pick<Policy, 'issuers'> = {issuers: [one, second]};
const withIssuers: Pick<Policy, 'issuers'> = {issuers: [{...one, caaIdentities: ['letsencrypt.example']}, second]};
const cas = (change: Partial<KnownCas> = {}): KnownCas => ({
  identities: (issuer) => [`${issuer}.example`],
  unavailableSince: () => undefined,
  isCertain: () => true,
  ...change,
});
const orders = (expected: Record<string, number> = {}) => ({expectedAt: (issuer: string) => expected[issuer] ?? 0});
const host: HostnameToIssue = {
  now: t0,
  hostname: 'docs.example.com',
  tenant: 'acme',
  certificate: 'acme/docs',
  existing: undefined,
  orders: [],
  caaOf: undefined,
};
const blocked: CaaVerdict = {kind: 'Blocked', by: 'Customer', miss: 'Issuer', message: ''};
const nameFor = (change: Partial<HostnameToIssue>, sources: {cas?: KnownCas; expected?: Record<string, number>} = {}) =>
  issuerFor(policy, {cas: sources.cas ?? cas(), orders: orders(sources.expected)}, {...host, ...change})?.issuer
    .issuerRef.name;

const failed = (minutesAgo: number, change: Partial<Order> = {}): Order => ({
  at: timestamp(t0 - minutesAgo * minutes),
  outcome: 'Failed',
  endedAt: timestamp(t0 - minutesAgo * minutes),
  ...change,
});
const valid = (left: number) => ({
  ...certificate(),
  issuerRef: one.issuerRef,
  notAfter: timestamp(t0 + left * hours),
});
const decided = (change = {}) =>
  decide(world({policy, facts: {'docs.example.com': {...proven(), issuer: second, ...change}}}));

test('A single issuer is not chosen', () => {
  expect(issuerFor(usual, {cas: cas(), orders: orders()}, host)).toBeUndefined();
});

test('The issuers have the names that their CAs have by now', () => {
  expect(issuersNow(policy, cas()).map(({caaIdentities}) => caaIdentities)).toEqual([
    ['letsencrypt.example'],
    ['second.example'],
  ]);
});

describe('The first issuer is passed over', () => {
  test('if CAA records forbid it alone', () => {
    expect(nameFor({caaOf: {letsencrypt: blocked, second: {kind: 'Allowed'}}})).toBe('second');
    expect(nameFor({caaOf: {letsencrypt: blocked, second: blocked}})).toBe('letsencrypt');
  });

  test('if its queue would take more than a minute', () => {
    expect(nameFor({}, {expected: {letsencrypt: t0 + minutes}})).toBe('letsencrypt');
    expect(nameFor({}, {expected: {letsencrypt: t0 + minutes + 1}})).toBe('second');
  });

  test("if the hostname's certificates of this CA are used up, but not for failures of the hostname itself", () => {
    const issued = Array.from({length: 5}, (_, i) => failed(20 + i, {outcome: 'Issued'}));
    expect(nameFor({orders: issued})).toBe('second');
    expect(nameFor({orders: issued.map((order) => ({...order, issuer: 'second'}))})).toBe('letsencrypt');
    expect(nameFor({orders: [failed(20), failed(10)]})).toBe('letsencrypt');
  });

  test('if its CA does not answer, and a certificate waits for a third of its life', () => {
    const away = cas({unavailableSince: (issuer) => (issuer === 'letsencrypt' ? t0 - hours : undefined)});
    expect(nameFor({}, {cas: away})).toBe('second');
    expect(nameFor({existing: valid(3)}, {cas: away})).toBe('letsencrypt');
    expect(nameFor({existing: valid(2)}, {cas: away})).toBe('second');
    // A third of the four hours that were left when it stopped answering.
    const until = t0 + 20 * minutes;
    expect(issuerFor(policy, {cas: away, orders: orders()}, {...host, existing: valid(3)})).toMatchObject({until});
    const live = {certificate: {...certificate(), issuerRef: one.issuerRef}, issuer: one, issuerUntil: t0 + 1000};
    expect(decide(world({policy, facts: {'docs.example.com': {...proven(), ...live}}})).wakeAt).toBe(t0 + 1000);
  });
});

describe('A certificate moves back to the first issuer', () => {
  const at = {...host, existing: {...valid(300), issuerRef: second.issuerRef}};
  const nameAt = (change: Partial<HostnameToIssue>, known = cas()) =>
    issuerFor(withIssuers, {cas: known, orders: orders()}, {...at, ...change})?.issuer.issuerRef.name;
  const allowed: CaaVerdict = {kind: 'Allowed'};

  test('only when the CAA records of the hostname were read, unless the platform has verified it', () => {
    expect(nameAt({})).toBe('second');
    expect(nameAt({caaOf: {letsencrypt: {kind: 'Unknown', message: ''}, second: allowed}})).toBe('second');
    expect(nameAt({caaOf: {letsencrypt: allowed, second: allowed}})).toBe('letsencrypt');
    expect(nameAt({caaOf: 'NotNeeded'})).toBe('letsencrypt');
  });

  test('and they are read at once, unless the last check could not read them', () => {
    const read = (caaOf: HostnameToIssue['caaOf']) =>
      issuerFor(withIssuers, {cas: cas(), orders: orders()}, {...at, caaOf})?.readsCaa;
    expect([read(undefined), read({}), read('NotNeeded')]).toEqual([true, undefined, undefined]);
    expect(caaOfIssuers(undefined)).toBeUndefined();
    expect(caaOfIssuers({kind: 'Proven', by: 'CNAME'} as Verdict)).toBeUndefined();
    expect(caaOfIssuers({kind: 'Unknown'} as Verdict)).toEqual({});
    expect(caaOfIssuers({kind: 'Refuted'} as Verdict)).toEqual({});
    const live = {certificate: {...certificate(), issuerRef: second.issuerRef}, issuer: second, checkedAt: t0 - 1000};
    const [look] = decide(
      world({policy: withIssuers, facts: {'docs.example.com': {...proven(), ...live, readsCaa: true}}}),
    ).looks;
    expect(look).toMatchObject({what: 'dns', at: t0, caa: true});
  });

  test('only when its CA has answered for long enough in this process', () => {
    expect(nameAt({caaOf: 'NotNeeded'}, cas({isCertain: () => false}))).toBe('second');
  });

  test('by the CAA records of its regular check', () => {
    const live = {certificate: {...certificate(), issuerRef: second.issuerRef}};
    const looksOf = (facts: object, now = t0) =>
      decide(world({now, policy: withIssuers, facts: {'docs.example.com': {...proven(), ...facts}}}))
        .looks.filter(({what}) => what === 'dns')
        .map((look) => 'caa' in look && look.caa);
    expect(looksOf({...live, issuer: second})).toEqual([true]);
    const own = {
      certificate: {...certificate({renewalTime: timestamp(t0 + hours)}), issuerRef: one.issuerRef},
      issuer: withIssuers.issuers[0],
    };
    expect(looksOf(own)).toEqual([false]);
    // A renewal goes to another issuer if CAA records forbid its own.
    expect(looksOf(own, t0 + hours)).toEqual([true]);
  });
});

describe('A decision', () => {
  test('orders of the chosen issuer', () => {
    expect(decided().orderRequests).toMatchObject([{issuer: 'second'}]);
    expect(decided({grant: {kind: 'Granted'}}).certificates).toMatchObject([{spec: {issuerRef: {name: 'second'}}}]);
  });

  test('moves a hostname from one issuer to the other when that has granted the order', () => {
    const live = {...certificate(), issuerRef: one.issuerRef};
    expect(decided({certificate: live, grant: undefined}).certificates).toMatchObject([
      {spec: {issuerRef: {name: 'letsencrypt'}}},
    ]);
    expect(decided({certificate: live, grant: {kind: 'Granted'}}).certificates).toMatchObject([
      {spec: {issuerRef: {name: 'second'}}},
    ]);
  });
});
