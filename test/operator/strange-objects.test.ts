/** Objects that carry Doorplate's labels and are not as it writes them: they harm nobody else. */
import {afterAll, afterEach, beforeAll, describe, expect, test} from '@jest/globals';
import type {Certificate, CertificateRequest, Ingress} from '../../operator/api/foreign.ts';
import {managedBy, ownerLabel} from '../../operator/resources/labels.ts';
import {certificateRequests, certificates, ingresses} from '../../operator/resources/resources.ts';
import {ownerReference} from '../../operator/kube/objects.ts';
import {Customer} from '../support/customer.ts';
import {RunningOperator} from '../support/operator.ts';
import {issuer, Platform} from '../support/platform.ts';

let platform: Platform;
let operator: RunningOperator | undefined;
beforeAll(async () => {
  platform = await Platform.start();
});
afterEach(() => operator?.stop());
afterAll(() => platform?.stop());

async function start(): Promise<void> {
  operator = await RunningOperator.start(platform);
}

/** An Ingress without rules; a Certificate for no DNS name, and a request for it. */
async function makeStrangeObjects({namespace}: Customer): Promise<void> {
  const {client} = platform;
  const metadata = {name: 'strange', namespace, labels: {...managedBy, [ownerLabel]: 'an-owner'}};
  await client.create<Ingress>(ingresses, {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata,
    spec: {defaultBackend: {service: {name: 'web', port: {number: 80}}}},
  });
  const issuerRef = {name: issuer, kind: 'ClusterIssuer'};
  const certificate = await client.create(certificates, {
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata,
    spec: {secretName: 'strange', issuerRef, uris: ['spiffe://cluster.local/ns/a/sa/b']},
  } as unknown as Certificate);
  await client.create<CertificateRequest>(certificateRequests, {
    apiVersion: 'cert-manager.io/v1',
    kind: 'CertificateRequest',
    metadata: {
      ...metadata,
      annotations: {'cert-manager.io/certificate-name': 'strange'},
      ownerReferences: [ownerReference(certificate, {controller: true})],
    },
    spec: {issuerRef},
  });
}

describe('An Ingress without rules, and a Certificate without DNS names', () => {
  test('that are there when the operator starts: it starts, and serves', async () => {
    await makeStrangeObjects(await Customer.create(platform));
    await expect(start()).resolves.toBeUndefined();
    const customer = await Customer.served(platform);
    expect(await customer.hosts('web')).toEqual({[customer.host('www')]: 'Live Serving'});
  });

  test('that come while it runs: what comes after them is served', async () => {
    await start();
    await makeStrangeObjects(await Customer.create(platform));
    const customer = await Customer.served(platform);
    expect(await customer.hosts('web')).toEqual({[customer.host('www')]: 'Live Serving'});
  });
});
