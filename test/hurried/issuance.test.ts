/** Issuance that is stuck: what is said of it, and Re-verify as a fresh attempt. Its other states are in failures.test.ts and failures-spent.test.ts. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {apply, eventually, kubectl} from '../../cluster/cluster.ts';
import {hurried} from '../support/hurried.ts';
import {Tenant} from '../support/tenant.ts';

let tenant: Tenant;
beforeAll(async () => {
  await hurried();
  tenant = await Tenant.create('pending');
});
afterAll(async () => {
  await tenant?.remove();
});

test('pending for too long: the request is deleted, the next one has another UID, and the domain goes Live', async () => {
  // A solver's Pod that no quota admits.
  await apply([
    {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: {name: 'full', namespace: tenant.namespace},
      spec: {hard: {pods: '1'}},
    },
  ]);
  await tenant.record('pending', tenant.proof);
  await tenant.attach('pending', tenant.host('pending'));
  // A busy cert-manager may meet the quota late, and CAA is asked when it stalls: what is known later is told later.
  const stalled = await eventually('the cause is told, and what CAA says', async () => {
    const now = await tenant.reason('pending', 'IssuanceStalled');
    return /CAA records.* quota/.test(now.status?.hosts?.[0]?.message ?? '') && now;
  });
  expect(stalled.status?.hosts?.[0]).toMatchObject({phase: 'Verified', waitingFor: 'Platform'});
  const message = stalled.status?.hosts?.[0]?.message;
  console.log(message);
  expect(message).toMatch(
    /ordered 30 seconds ago and has not been issued\. Its last DNS check still verifies it, and its CAA records allow the certificate authority\. A quota .*\(Re-verify\)\. cert-manager reports: CertificateRequest: /,
  );
  expect(message).toMatch(/ Challenge \S+ is pending: .*exceeded quota: full.* Order \S+ is pending\.$/);
  expect(stalled.status?.conditions?.find((c) => c.type === 'Stalled')).toMatchObject({
    status: 'True',
    reason: 'IssuanceStalled',
  });
  const [before] = await tenant.requests('pending');

  await kubectl(['delete', 'resourcequota', 'full', '-n', tenant.namespace]);
  await tenant.verify('pending');
  await tenant.wait('pending', 'Live');
  const after = await eventually('one request is left', async () => {
    const now = await tenant.requests('pending');
    return now.length === 1 && now;
  });
  expect(after[0]?.metadata.uid).not.toBe(before?.metadata.uid);
});
