import {describe, expect, test} from '@jest/globals';
import type {Certificate, DomainClaim} from '../../../../operator/api/foreign.ts';
import {makeCertificate, privateKeyOf} from '../../../../operator/domain/certificates/certificate.ts';
import {
  type Beside,
  mayBeRetained,
  mayReturn,
  retentionEnds,
  retainedCertificate,
  retentionOf,
} from '../../../../operator/domain/certificates/retained.ts';
import {timestamp} from '../../../../operator/domain/times.ts';
import {days, enterprise, heldClaim, hours, minutes, policy, t0, tenantOn} from '../../../support/world.ts';

const hostname = 'docs.example.com';
const acme = tenantOn(enterprise);
const {quarantineTimeMs} = policy;
const condition = (type: string, status: 'True' | 'False' = 'True') => ({
  type,
  status,
  reason: '',
  message: '',
  lastTransitionTime: timestamp(t0),
});

/** Issued, and due for renewal in so long. */
function issued(renewalInMs = 60 * days, conditions = [condition('Ready')]): Certificate {
  const made = makeCertificate({name: 'docs', namespace: 'acme', hostname, issuerRef: policy.issuers[0].issuerRef});
  return {
    ...made,
    metadata: {...made.metadata, uid: 'uid-certificate'},
    status: {conditions, revision: 1, renewalTime: timestamp(t0 + renewalInMs)},
  };
}
const own = heldClaim(hostname);
const released: DomainClaim = {...own, status: {generation: 1, quarantinedUntil: timestamp(t0 + 30 * days)}};
const anothers: DomainClaim = {...own, spec: {tenant: {account: 'another'}, proof: 'DNS'}};
const restFrom = (certificate: Certificate, claim: DomainClaim | undefined, tenant = acme) =>
  retentionOf(certificate, {now: t0, tenant, claim, quarantineTimeMs});
const rested = (certificate = issued(), claim = own): Certificate => ({
  ...retainedCertificate(certificate, restFrom(certificate, claim)!),
  status: certificate.status,
});

/** Rested while its namespace had no Account. */
const {namespaceUID, plan} = acme;
const alone = {namespaceUID, plan};
const ofNamespace: DomainClaim = {...own, spec: {tenant: {namespaceUID}, proof: 'DNS'}};
const restedAlone: Certificate = {
  ...retainedCertificate(issued(), restFrom(issued(), ofNamespace, alone)!),
  status: issued().status,
};
const elsewhere = {...acme, namespaceUID: 'uid-another'};

describe('A Certificate that its owner needs no more', () => {
  test('rests as long as the quarantine takes, while the claim is held or released', () => {
    const rest = {for: 'account acme', until: timestamp(t0 + 30 * days)};
    expect([restFrom(issued(), own), restFrom(issued(), released)]).toEqual([rest, rest]);
  });

  test('keeps the key that it was taken over with', () => {
    const {name, namespace = ''} = issued().metadata;
    const [{issuerRef}] = policy.issuers;
    const taken = makeCertificate({name, namespace, hostname, issuerRef, privateKey: 'RSA 4096'});
    const {metadata, spec} = rested({...issued(), ...taken});
    expect([spec.privateKey.algorithm, privateKeyOf({metadata})]).toEqual(['RSA', 'RSA 4096']);
  });

  test('rests until shortly before its renewal, where that is sooner', () => {
    expect(restFrom(issued(9 * days), own)?.until).toBe(timestamp(t0 + 9 * days - 5 * minutes));
  });

  test('rests until shortly before two thirds of its life, where it has just come back and its renewal is not planned yet', () => {
    const {conditions, revision} = issued().status!;
    const [notBefore, notAfter] = [timestamp(t0 - 3 * days), timestamp(t0 + 12 * days)];
    const certificate = {...issued(), status: {conditions, revision, notBefore, notAfter}};
    expect(restFrom(certificate, own)?.until).toBe(timestamp(t0 + 7 * days - 5 * minutes));
  });

  test.each<[string, Certificate, DomainClaim | undefined]>([
    ['its renewal is due within minutes', issued(4 * minutes), own],
    ['nobody knows when its renewal is due', {...issued(), status: {conditions: [condition('Ready')]}}, own],
    ['it is not ready', issued(60 * days, [condition('Ready', 'False')]), own],
    ['another is being issued in its place', issued(60 * days, [condition('Ready'), condition('Issuing')]), own],
    ['it has never been issued', {...issued(), status: undefined}, own],
    ['somebody has deleted it', {...issued(), metadata: {...issued().metadata, deletionTimestamp: timestamp(t0)}}, own],
    ['the hostname is another tenant’s', issued(), anothers],
    ['there is no claim', issued(), undefined],
  ])('goes where %s', (_, certificate, claim) => {
    expect(restFrom(certificate, claim)).toBeUndefined();
  });
});

describe('A Certificate that rests', () => {
  test('has no owner, says for whom it rests and until when, and is the same certificate', () => {
    const owner = {apiVersion: 'doorplate.dev/v1alpha1', kind: 'CustomDomain', name: 'docs', uid: 'uid-domain'};
    const before = issued();
    const {metadata, spec} = rested({...before, metadata: {...before.metadata, ownerReferences: [owner]}});
    expect(metadata).toEqual({
      name: 'docs',
      namespace: 'acme',
      labels: {'doorplate.dev/resting': 'true'},
      annotations: {
        'doorplate.dev/rests-for': 'account acme',
        'doorplate.dev/rests-until': timestamp(t0 + 30 * days),
      },
    });
    expect({...spec, renewBefore: undefined}).toEqual(before.spec);
  });

  test('is renewed by cert-manager as late as that lets it, should nobody be there to delete it', () => {
    // cert-manager: apis/certmanager/v1, MinimumRenewBefore.
    expect(rested().spec.renewBefore).toBe('5m0s');
  });

  test('is not renewed at all by a cert-manager that can be asked for that, and as late as possible by an older controller', () => {
    const rest = restFrom(issued(), own)!;
    const {spec} = retainedCertificate(issued(), rest, true);
    expect([spec.renewal, spec.renewBefore]).toEqual([{policy: 'Disabled'}, '5m0s']);
    expect(retainedCertificate(issued(), rest, false).spec).not.toHaveProperty('renewal');
  });

  test('comes back to its tenant, also to the Account that its namespace has been given to', () => {
    expect(mayReturn(rested(), acme, t0)).toBe(true);
    expect([mayReturn(restedAlone, alone, t0), mayReturn(restedAlone, acme, t0)]).toEqual([true, true]);
  });

  test.each<[string, Certificate, {tenant?: typeof acme; at?: number}]>([
    ['another tenant asks for it', rested(), {tenant: {...acme, account: 'another'}}],
    ['its namespace is its Account’s no more', rested(), {tenant: {...acme, account: undefined}}],
    ['its time is over', rested(), {at: t0 + 30 * days}],
    ['it is not ready any more', {...rested(), status: {conditions: [condition('Ready', 'False')]}}, {}],
    ['another is being issued', {...rested(), status: {conditions: [condition('Ready'), condition('Issuing')]}}, {}],
    ['it does not rest', issued(), {}],
  ])('does not come back where %s', (_, certificate, {tenant = acme, at = t0}) => {
    expect(mayReturn(certificate, tenant, at)).toBe(false);
  });

  test.each<[string, boolean, Partial<Beside> & {reordered?: boolean; at?: number; of?: Certificate}]>([
    ['goes on while its claim is held', true, {}],
    ['goes on for a namespace whose Account has the claim now', true, {of: restedAlone}],
    [
      'ends for a namespace whose Account has the claim, once nobody there holds it',
      false,
      {of: restedAlone, tenant: undefined},
    ],
    ['ends for a namespace that is another Account’s than the claim', false, {of: restedAlone, claim: anothers}],
    ['ends for another namespace of the Account that has the claim', false, {of: restedAlone, tenant: elsewhere}],
    ['goes on while its claim is in quarantine', true, {claim: released}],
    ['goes on until its time is over', true, {at: t0 + 30 * days - hours}],
    ['ends when its time is over', false, {at: t0 + 30 * days}],
    ['ends before its renewal', false, {of: rested(issued(9 * days)), at: t0 + 9 * days - 5 * minutes}],
    ['ends with its claim', false, {claim: undefined}],
    ['ends when the hostname is another tenant’s', false, {claim: anothers}],
    ['ends when cert-manager has asked for another', false, {reordered: true}],
    [
      'ends when cert-manager is about to ask for another',
      false,
      {of: {...rested(), status: {conditions: [condition('Ready'), condition('Issuing')]}}},
    ],
    ['ends when its key is gone', false, {of: {...rested(), status: {conditions: [condition('Ready', 'False')]}}}],
  ])('%s', (_, goesOn, world) => {
    const {reordered = false, at = t0, of = rested()} = world;
    const beside = {claim: own, tenant: acme, ...world};
    expect(mayBeRetained(of, {...beside, now: at, reordered})).toBe(goesOn);
  });

  test('that says no time has none left', () => {
    const {metadata, ...rest} = rested();
    expect(retentionEnds({...rest, metadata: {...metadata, annotations: {}}})).toBe(0);
  });
});
