/** Issuance that has failed: what is said of it, and Re-verify as a fresh attempt. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {eventually} from '../../cluster/cluster.ts';
import {failingOrder, failuresOf} from '../support/failing.ts';
import {hurried} from '../support/hurried.ts';
import {Tenant} from '../support/tenant.ts';

let tenant: Tenant;
beforeAll(async () => {
  await hurried();
  tenant = await Tenant.create('failed');
});
afterAll(async () => {
  await tenant?.remove();
});

test('failed and backing off: another attempt begins at once, and the domain goes Live', async () => {
  const {hostname, mend, failed} = await failingOrder(tenant);
  const said = await eventually('the failure is said', async () => {
    const message = (await tenant.get('site'))?.status?.hosts?.[0]?.message;
    return message?.includes('CertificateRequest: Failed to wait') && message;
  });
  console.log(said);
  expect(said).toMatch(
    /The certificate authority cannot reach the edge on port 80.* Challenge \S+ is invalid: .*connection.* Order \S+ is invalid\.$/,
  );
  expect(await failuresOf(hostname)).toEqual([
    expect.objectContaining({message: expect.stringContaining('acme:error:connection')}),
  ]);
  await mend();
  await tenant.verify('site');
  await tenant.wait('site', 'Live');
  const uids = (await tenant.requests('site')).map((r) => r.metadata.uid);
  expect(uids.length).toBeGreaterThan(0);
  expect(uids).not.toEqual([failed.metadata.uid]);
});
