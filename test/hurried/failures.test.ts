/** Issuance that has failed: what is said of it, and Re-verify as a fresh attempt. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {eventually} from '../../cluster/cluster.ts';
import {failingOrder, failuresOf} from '../support/failing.ts';
import {hurried} from '../support/hurried.ts';
import {Tenant} from '../support/tenant.ts';

let tenant: Tenant | undefined;
beforeAll(hurried);
afterAll(async () => {
  await tenant?.remove();
});

/**
 * When cert-manager does not hear in time how a validation has ended it accepts the challenge a second time, and the CA refuses that:
 * why the first one failed is in no object then (cert-manager's pkg/controller/acmechallenges/sync.go).
 */
const isLost = (said: string) => said.includes('Cannot update challenge with status invalid');

/** A failed order of a tenant of its own, and what is said of it; another one where cert-manager has lost the reason. */
async function failedAndSaid() {
  for (let left = 2; ; left--) {
    const own = await Tenant.create('failed');
    tenant = own;
    const order = await failingOrder(own);
    const said = await eventually('the failure is said', async () => {
      const message = (await own.get('site'))?.status?.hosts?.[0]?.message;
      return message?.includes('CertificateRequest: Failed to wait') && message;
    });
    console.log(said);
    if (left === 0 || !isLost(said)) return {...order, own, said};
    await order.mend();
    await own.remove();
  }
}

test('failed and backing off: another attempt begins at once, and the domain goes Live', async () => {
  const {own, hostname, mend, failed, said} = await failedAndSaid();
  expect(said).toMatch(
    /The certificate authority cannot reach the edge on port 80.* Challenge \S+ is invalid: .*connection.* Order \S+ is invalid\.$/,
  );
  expect(await failuresOf(hostname)).toEqual([
    expect.objectContaining({message: expect.stringContaining('acme:error:connection')}),
  ]);
  await mend();
  await own.verify('site');
  await own.wait('site', 'Live');
  const uids = (await own.requests('site')).map((r) => r.metadata.uid);
  expect(uids.length).toBeGreaterThan(0);
  expect(uids).not.toEqual([failed.metadata.uid]);
});
