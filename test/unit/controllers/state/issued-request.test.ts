import {hash} from 'node:crypto';
import {expect, test} from '@jest/globals';
import type {CertificateRequest} from '../../../../operator/api/foreign.ts';
import {issuedRequest} from '../../../../operator/controllers/state/issued-request.ts';

const [t1, t2] = ['2026-03-01T12:00:00Z', '2026-03-01T12:05:00Z'];
const der = Buffer.from([0x30, 0x03, 0x02, 0x01, 0x01]);
const chain = (leaf: Buffer) =>
  Buffer.from(`-----BEGIN CERTIFICATE-----\n${leaf.toString('base64')}\n-----END CERTIFICATE-----\n`).toString(
    'base64',
  );
const ready = (status: 'True' | 'False', reason: string, message: string) => [
  {type: 'Ready', status, reason, message, lastTransitionTime: t1},
];

/** What is kept of a CertificateRequest with this status, its metadata aside. */
function kept(status?: CertificateRequest['status']): object {
  const metadata = {name: 'docs-1', namespace: 'acme', uid: 'u', resourceVersion: '7', creationTimestamp: t1};
  const {metadata: same, ...rest} = issuedRequest({
    apiVersion: 'cert-manager.io/v1',
    kind: 'CertificateRequest',
    metadata,
    status,
  });
  expect(same).toEqual(metadata);
  return rest;
}

test('A request that nobody has answered waits, and its order is not known to the CA', () => {
  expect(kept()).toEqual({waiting: 'nothing yet'});
  expect(kept({conditions: ready('False', 'Pending', 'Waiting on approval')})).toEqual({
    waiting: 'Waiting on approval',
  });
});

test.each([
  ['Waiting on certificate issuance from order acme/docs-1: "pending"', false],
  ['Waiting on certificate issuance from order acme/docs-1: "ready"', true],
  ['Waiting on certificate issuance from order acme/docs-1: "processing"', true],
  ['Failed to wait for order: add certificate data', true],
])('A request whose order the CA has answered says so, and whether it can be issued: %s', (message, signing) => {
  expect(kept({conditions: ready('False', 'Pending', message)})).toEqual({
    waiting: message,
    ordered: true,
    ...(signing && {signing, awaitsCa: true}),
  });
});

test('A request whose order the CA has not answered waits for the CA', () => {
  const message = 'Waiting on certificate issuance from order acme/docs-1: ""';
  expect(kept({conditions: ready('False', 'Pending', message)})).toEqual({waiting: message, awaitsCa: true});
});

test('A request that was issued is known by the fingerprint of its leaf and by when it ended', () => {
  const fingerprint = hash('sha256', der);
  expect(kept({conditions: ready('True', 'Issued', 'Certificate fetched'), certificate: chain(der)})).toEqual({
    leafSha256: fingerprint,
    ordered: true,
    endedAt: t1,
  });
});

test('A request that failed says why, and ended when it failed', () => {
  const conditions = ready('False', 'Failed', 'the order is invalid');
  expect(kept({conditions, failureTime: t2})).toEqual({failure: 'the order is invalid', ordered: true, endedAt: t2});
  expect(kept({conditions})).toEqual({failure: 'the order is invalid', ordered: true, endedAt: t1});
});

test('What is no certificate has no fingerprint', () => {
  const conditions = ready('True', 'Issued', 'Certificate fetched');
  expect(kept({conditions, certificate: 'bm9uZQ=='})).toEqual({ordered: true, endedAt: t1});
});
