import {describe, expect, test} from '@jest/globals';
import type {Certificate} from '../../../../operator/api/foreign.ts';
import type {IssuedRequest} from '../../../../operator/domain/certificates/certificate.ts';
import {
  certificateFacts,
  makeCertificate,
  privateKeyAnnotation,
} from '../../../../operator/domain/certificates/certificate.ts';

const issuerRef = {name: 'le', kind: 'ClusterIssuer', group: 'cert-manager.io'};

test('The Certificate of a hostname is for that name alone, and renewal is left to cert-manager', () => {
  expect(makeCertificate({name: 'docs-1', namespace: 'acme', hostname: 'docs.example.com', issuerRef})).toEqual({
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata: {name: 'docs-1', namespace: 'acme'},
    spec: {
      secretName: 'docs-1',
      dnsNames: ['docs.example.com'],
      issuerRef,
      privateKey: {algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always'},
    },
  });
});

test('The Certificate of a hostname that was taken over asks for the kind of key that it came with, and says so', () => {
  const made = {name: 'docs-1', namespace: 'acme', hostname: 'docs.example.com', issuerRef};
  const taken = makeCertificate({...made, privateKey: 'RSA 2048'});
  expect(taken.spec.privateKey).toEqual({algorithm: 'RSA', size: 2048, rotationPolicy: 'Always'});
  expect([certificateFacts(taken, []).privateKey, certificateFacts(makeCertificate(made), []).privateKey]).toEqual([
    'RSA 2048',
    undefined,
  ]);
  const strange = {...taken, metadata: {...taken.metadata, annotations: {[privateKeyAnnotation]: 'RSA 512'}}};
  expect(certificateFacts(strange, [])).not.toHaveProperty('privateKey');
});

const since = '2026-03-01T12:00:05Z';
const certificate = (
  revision: number | undefined,
  ready: 'True' | 'False' | 'Unknown' | 'unsaid' = 'True',
): Certificate => ({
  ...makeCertificate({name: 'docs-1', namespace: 'acme', hostname: 'docs.example.com', issuerRef}),
  metadata: {name: 'docs-1', namespace: 'acme', uid: 'uid-1', creationTimestamp: '2026-03-01T12:00:00Z'},
  status: {
    ...(revision !== undefined && {revision}),
    notAfter: '2026-05-30T12:00:00Z',
    conditions: [
      {type: 'Issuing', status: 'True', lastTransitionTime: since, reason: '', message: ''},
      ...(ready !== 'unsaid' ? [{type: 'Ready', status: ready, lastTransitionTime: '', reason: '', message: ''}] : []),
    ],
  },
});
const request = (
  revision: number,
  rest: Omit<IssuedRequest, 'metadata'> = {},
  {name = 'docs-1', namespace = 'acme', owner = 'uid-1'} = {},
): IssuedRequest => ({
  metadata: {
    name: `docs-1-${revision}`,
    namespace,
    annotations: {'cert-manager.io/certificate-name': name, 'cert-manager.io/certificate-revision': String(revision)},
    ownerReferences: [{apiVersion: 'cert-manager.io/v1', kind: 'Certificate', name, uid: owner}],
  },
  ...rest,
});

const revision = (r: IssuedRequest) => Number(r.metadata.annotations?.['cert-manager.io/certificate-revision']);

/** Which request of ours is the newest. */
const newest = (requests: readonly IssuedRequest[]) => {
  const own = requests.filter(
    (r) =>
      r.metadata.namespace === 'acme' &&
      r.metadata.ownerReferences?.[0]?.name === 'docs-1' &&
      r.metadata.ownerReferences[0].uid === 'uid-1',
  );
  const last = own.toSorted((a, b) => revision(b) - revision(a))[0];
  return last && {namespace: 'acme', name: last.metadata.name, uid: ''};
};

describe('What is known of a certificate', () => {
  const about = {name: 'docs-1', issuerRef, createdAt: '2026-03-01T12:00:00Z', notAfter: '2026-05-30T12:00:00Z'};

  const unready = {since: '', reason: '', message: ''};

  const rows: [string, Certificate, IssuedRequest[], object][] = [
    [
      'is the leaf of the request of its current revision',
      certificate(2),
      [request(1, {leafSha256: 'a'}), request(2, {leafSha256: 'b'})],
      {ready: true, leafSha256: 'b'},
    ],
    [
      'is still that leaf while the next revision is on its way',
      certificate(2),
      [request(3, {leafSha256: 'c'}), request(2, {leafSha256: 'b'})],
      {ready: true, leafSha256: 'b'},
    ],
    [
      'is no leaf before the first revision',
      certificate(undefined, 'False'),
      [request(1, {leafSha256: 'a'})],
      {ready: false, unready, leafSha256: undefined},
    ],
    [
      'is no leaf when the request of the revision is gone',
      certificate(2),
      [request(1, {leafSha256: 'a'})],
      {ready: true, leafSha256: undefined},
    ],
    [
      "is no leaf of another Certificate's request",
      certificate(1),
      [request(1, {leafSha256: 'x'}, {name: 'docs-2'})],
      {ready: true, leafSha256: undefined},
    ],
    [
      'is no leaf of a Certificate of the same name that was there before',
      certificate(1),
      [request(1, {leafSha256: 'x'}, {owner: 'uid-0'})],
      {ready: true, leafSha256: undefined},
    ],
    [
      'is no leaf of a request in another namespace, whatever that says of itself',
      certificate(1),
      [request(1, {leafSha256: 'x'}, {namespace: 'evil'})],
      {ready: true, leafSha256: undefined},
    ],
    [
      'is the failure of the newest request',
      certificate(1),
      [request(1, {leafSha256: 'a'}), request(3, {failure: 'third'}), request(2, {failure: 'second'})],
      {ready: true, leafSha256: 'a', failure: 'third'},
    ],
    [
      'is no failure once a newer request has begun',
      certificate(undefined, 'False'),
      [request(1, {failure: 'first'}), request(2)],
      {ready: false, unready, failure: undefined},
    ],
    [
      'is the request that is under way, and what cert-manager says of it',
      certificate(1),
      [request(1, {leafSha256: 'a'}), request(2, {waiting: 'order is pending'})],
      {ready: true, leafSha256: 'a', waiting: 'order is pending'},
    ],
    [
      'is the issuer that the newest request asks',
      certificate(1),
      [request(1, {issuerRef: {name: 'old'}}), request(2, {issuerRef: {name: 'new'}})],
      {ready: true, askedOf: {name: 'new'}},
    ],
    ['is not ready while nothing is said of it', certificate(undefined, 'unsaid'), [], {ready: false}],
    ['is not ready while it is unknown', certificate(1, 'Unknown'), [], {ready: false, unready}],
  ];
  test.each(rows)('%s', (_, of, requests, expected) => {
    expect(certificateFacts(of, requests)).toEqual({
      ...about,
      issuing: true,
      issuingSince: since,
      ...(newest(requests) && {request: newest(requests)}),
      ...expected,
    });
    expect(certificateFacts(of, requests.toReversed())).toEqual({
      ...about,
      issuing: true,
      issuingSince: since,
      ...(newest(requests) && {request: newest(requests)}),
      ...expected,
    });
  });

  test.each([
    ['False', 'order is invalid'],
    ['True', undefined],
  ] as const)(
    'know of a failed attempt whose request is gone, until another begins: Issuing is %s',
    (status, failure) => {
      const issuing = {type: 'Issuing', status, reason: 'Failed', message: 'order is invalid', lastTransitionTime: ''};
      expect(certificateFacts({...certificate(1), status: {conditions: [issuing]}}, []).failure).toBe(failure);
    },
  );

  test('can be told of a Certificate that nobody has looked at yet', () => {
    const fresh = {...certificate(1), status: undefined};
    expect(certificateFacts(fresh, [])).toEqual({
      name: 'docs-1',
      issuerRef,
      ready: false,
      issuing: false,
      createdAt: about.createdAt,
    });
  });
});
