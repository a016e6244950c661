/** What becomes of hostnames that something else serves; test/operator/moving.test.ts and test/cluster/moving.test.ts take them over. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {pairIn} from '../../../operator/cli/platform/adopt/pair.ts';
import {type Facts, planFor, secretOf, settlesMs} from '../../../operator/cli/platform/adopt/plan.ts';
import type {HostStatus} from '../../../operator/api/custom-domain.ts';
import {makeCertificate} from '../../../operator/domain/certificates/certificate.ts';
import {retainedCertificate} from '../../../operator/domain/certificates/retained.ts';
import {timestamp} from '../../../operator/domain/times.ts';
import {SignedSecrets, type Wish} from '../../support/signed-secrets.ts';
import {days, enterprise, heldClaim, policy, t0, tenantOn} from '../../support/world.ts';

const hostname = 'docs.example.com';
let signed: SignedSecrets;
beforeAll(() => {
  signed = new SignedSecrets();
});
afterAll(() => signed?.remove());
const secret = (orderRequest: Partial<Wish> = {}) => ({data: signed.make({names: `DNS:${hostname}`, ...orderRequest})});

describe('A certificate and its key in a Secret', () => {
  test.each(['RSA 2048', 'ECDSA 256', 'ECDSA 384'] as const)('are taken over with their key, %s', (key) => {
    expect(pairIn(secret({key}), hostname, Date.now() + 1000)).toEqual({kind: 'Good', privateKey: key});
  });

  test('are taken over where the common name repeats the hostname', () => {
    const {kind} = pairIn(secret({subject: `/O=Acme/CN=${hostname}`}), hostname, Date.now() + 1000);
    expect(kind).toBe('Good');
  });

  test.each<[string, Partial<Wish>, number, RegExp]>([
    [
      'are for another name too',
      {names: `DNS:${hostname},DNS:www.example.com`},
      1,
      /must name only docs.example.com, but names/,
    ],
    ['are for another common name too', {subject: '/CN=example.com'}, 1, /must name only docs.example.com, but names/],
    [
      'are for an address too',
      {names: `DNS:${hostname},IP:192.0.2.1`},
      1,
      /must name only docs.example.com, but names/,
    ],
    ['are for every name of a zone', {names: 'DNS:*.example.com'}, 1, /must name only docs.example.com, but names/],
    ['are due for renewal', {}, 61, /is due for renewal/],
    ['have expired', {}, 91, /has expired/],
    ['are not valid yet', {}, -1, /is not valid before/],
    ['are signed by themselves', {signedByItself: true}, 1, /is signed by itself/],
    ['have a key of a kind that cert-manager would replace', {key: 'Ed25519'}, 1, /a key type/],
    ['have a key that is too short', {key: 'RSA 1024'}, 1, /a key type/],
  ])('are left where they are when they %s', (_, orderRequest, afterDays, why) => {
    const pair = pairIn(secret(orderRequest), hostname, Date.now() + afterDays * days);
    expect(pair).toEqual({kind: 'Bad', why: expect.stringMatching(why)});
  });

  test('are left where they are when the key is of another certificate, or one of them is missing or no PEM', () => {
    const [one, other] = [secret(), secret()];
    const mixed = {data: {...one.data, 'tls.key': other.data['tls.key']}};
    const all = [mixed, {data: {'tls.crt': one.data['tls.crt']}}, {}, {data: {...one.data, 'tls.crt': 'bm8='}}];
    expect(all.map((data) => pairIn(data as typeof one, hostname, Date.now() + 1000))).toEqual([
      {kind: 'Bad', why: 'does not match the key in the Secret'},
      {kind: 'Bad', why: expect.stringContaining('is missing')},
      {kind: 'Bad', why: expect.stringContaining('is missing')},
      {kind: 'Bad', why: expect.stringContaining('can’t be read')},
    ]);
  });
});

const entry = (phase: HostStatus['phase'], since: number): HostStatus => ({
  hostname,
  role: 'Primary',
  phase,
  reason: 'Serving',
  message: 'It waits for its record.',
  since: timestamp(since),
  waitingFor: 'Nobody',
  addedAt: timestamp(t0),
});
const ours = heldClaim(hostname);
const reserved = {...ours, spec: {...ours.spec, proof: 'DNS' as const}, status: undefined};
const vouched = {...reserved, spec: {...ours.spec, proof: 'Platform' as const}};
const [{issuerRef}] = policy.issuers;
const resting = retainedCertificate(makeCertificate({name: 'docs', namespace: 'acme', hostname, issuerRef}), {
  for: 'account acme',
  until: timestamp(t0 + 30 * days),
});
const served = {name: 'old', secretName: 'old-tls'};
const facts: Facts = {
  now: t0,
  named: {hostname},
  tenant: tenantOn(enterprise),
  claim: undefined,
  entry: undefined,
  serving: [served],
  pair: {kind: 'Good', privateKey: 'RSA 2048'},
  certificate: undefined,
};

describe('A hostname that another Ingress serves', () => {
  test.each<[string, Partial<Facts>, string]>([
    ['is taken over with the certificate of the Secret that its Ingress names', {}, 'TakeOver'],
    ['is gone on with after a run that ended early', {claim: reserved}, 'TakeOver'],
    ['is gone on with after a run that had made the Certificate', {claim: reserved, certificate: resting}, 'TakeOver'],
    ['is ready when it has been taken over', {claim: vouched, certificate: resting}, 'Ready'],
    ['is left to its CustomDomain when that holds it', {claim: ours, entry: entry('Verified', t0)}, 'UnderWay'],
    [
      'is not called served as soon as it is Live',
      {claim: ours, entry: entry('Live', t0 - settlesMs + 1000)},
      'UnderWay',
    ],
    ['is served by Doorplate a minute later', {claim: ours, entry: entry('Live', t0 - settlesMs)}, 'Served'],
    ['gets a certificate of its own where its Secret is gone', {pair: undefined}, 'NewOrder'],
    ['gets a certificate of its own where that one can’t be kept', {pair: {kind: 'Bad', why: 'is old'}}, 'NewOrder'],
    ['gets a certificate of its own where it has none', {serving: [{name: 'old'}]}, 'NewOrder'],
    ['may be served by two Ingresses with one Secret', {serving: [served, {...served, name: 'two'}]}, 'TakeOver'],
    ['is refused where they name two', {serving: [served, {name: 'two', secretName: 'other'}]}, 'Refused'],
    ['is refused where none serves it', {serving: []}, 'Refused'],
    [
      'is refused where it is another tenant’s',
      {claim: {...ours, spec: {tenant: {account: 'other'}, proof: 'Platform'}}},
      'Refused',
    ],
    [
      'is refused where Doorplate would refuse it',
      {named: {hostname, refusal: {reason: 'HostnameNotAllowed', message: 'It is the platform’s.'}}},
      'Refused',
    ],
  ])('%s', (_, change, becomes) => {
    const plan = planFor({...facts, ...change});
    expect(plan.becomes).toBe(becomes);
    expect(plan.why).toMatch(/[^.]$/);
  });

  test('has one Secret, or nobody can say which', () => {
    expect([
      secretOf([served, {name: 'http'}]),
      secretOf([]),
      secretOf([served, {name: 'two', secretName: 'x'}]),
    ]).toEqual(['old-tls', undefined, undefined]);
  });
});
