/** What the API server answers to it is shown in test/operator/resting.test.ts; here are faults that it seldom has. */
import {expect, test} from '@jest/globals';
import type {Certificate} from '../../../../operator/api/foreign.ts';
import {RetainedCertificates} from '../../../../operator/controllers/writers/retained-certificates.ts';
import {makeCertificate} from '../../../../operator/domain/certificates/certificate.ts';
import {retainedCertificate} from '../../../../operator/domain/certificates/retained.ts';
import {timestamp} from '../../../../operator/domain/times.ts';
import {Applier} from '../../../../operator/kube/writes/apply.ts';
import type {Client} from '../../../../operator/kube/client/client.ts';
import {ApiError} from '../../../../operator/kube/errors.ts';
import {days, enterprise, policy, t0, tenantOn} from '../../../support/world.ts';

const hostname = 'docs.example.com';
const rest = {for: 'account acme', until: timestamp(t0 + 9 * days)};

function made(name: string): Certificate {
  const certificate = makeCertificate({name, namespace: 'acme', hostname, issuerRef: policy.issuers[0].issuerRef});
  const ready = {type: 'Ready', status: 'True' as const, reason: '', message: '', lastTransitionTime: timestamp(t0)};
  return {...certificate, metadata: {...certificate.metadata, uid: `uid-${name}`}, status: {conditions: [ready]}};
}
const rested = (name: string, until: number): Certificate => ({
  ...retainedCertificate(made(name), {...rest, until: timestamp(until)}),
  status: made(name).status,
});

/** `client`: what is asked of the API server. */
function restingOf(standing: readonly Certificate[], client: Partial<Client> = {}): RetainedCertificates {
  return new RetainedCertificates({
    applier: new Applier(client as Client, {fieldManager: 'doorplate', hashAnnotation: 'doorplate.dev/intent'}),
    certificates: {by: () => standing, observe: () => {}} as never,
    requests: {by: () => []} as never,
    beforeCertificatesAreRemoved: async () => {},
    mayDisableRenewal: async () => false,
  });
}

test('a Certificate that the API server refuses to let rest is deleted: nothing that is to go stays', async () => {
  const sent: string[] = [];
  const client = {
    applyPatch: async () => {
      sent.push('PATCH');
      throw new ApiError({status: 422, body: JSON.stringify({kind: 'Status', reason: 'Invalid', message: 'no'})});
    },
    get: async () => made('docs'),
    delete: async (_: unknown, key: string) => {
      sent.push(`DELETE ${key}`);
      return 'Deleted' as const;
    },
  };
  expect(await restingOf([], client as unknown as Client).lay(made('docs'), rest)).toBe(false);
  expect(sent).toEqual(['PATCH', 'DELETE acme/docs']);
});

test('of several that rest for a hostname the one that is good for longest comes back, in its own namespace', () => {
  const [short, long] = [rested('a', t0 + days), rested('b', t0 + 9 * days)];
  const tenant = tenantOn(enterprise);
  const resting = restingOf([short, long, made('c')]);
  expect(resting.find(hostname, 'acme', tenant, t0)?.metadata.name).toBe('b');
  expect(resting.find(hostname, 'another', tenant, t0)).toBeUndefined();
  expect(resting.find(hostname, 'acme', tenant, t0 + 9 * days)).toBeUndefined();
});
