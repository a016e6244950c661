/** Issuance that has failed: what is said of it, Re-verify as a fresh attempt, and the budget of failures. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import type {CertificateRequest, DomainClaim} from '../../operator/api/foreign.ts';
import {certificates} from '../../operator/controllers/resources.ts';
import {eventually, kubectl} from '../../cluster/cluster.ts';
import {cutOffTheCA} from '../support/failing.ts';
import {hurried} from '../support/hurried.ts';
import {Tenant} from '../support/tenant.ts';

let tenant: Tenant;
let other: Tenant;
beforeAll(async () => {
  await hurried();
  [tenant, other] = await Promise.all([Tenant.create('failed'), Tenant.create('spent')]);
});
afterAll(async () => {
  await Promise.all([tenant?.remove(), other?.remove()]);
});

/** As the claim remembers them. cert-manager sometimes takes its first request back after a second: that one counts, and has no outcome. */
const failuresOf = async (hostname: string) =>
  (
    (JSON.parse(await kubectl(['get', 'domainclaim', hostname, '-o', 'json'])) as DomainClaim).status?.orders ?? []
  ).filter((o) => o.outcome === 'Failed');
/** The CertificateRequest of `site` once it has failed. */
const failure = (of: Tenant) =>
  eventually(`the request in ${of.namespace} has failed`, async () =>
    (await of.requests('site')).find((r) =>
      r.status?.conditions?.some((c) => c.type === 'Ready' && c.reason === 'Failed'),
    ),
  );
/** With `site` attached, and the CA cut off from its hostname. */
async function failing(of: Tenant): Promise<{hostname: string; mend: () => Promise<void>; failed: CertificateRequest}> {
  const hostname = of.host('www');
  const mend = await cutOffTheCA(hostname);
  await of.record('www', of.proof);
  await of.attach('site', hostname);
  return {hostname, mend, failed: await failure(of)};
}

test('failed and backing off: another attempt begins at once, and the domain goes Live', async () => {
  const {hostname, mend, failed} = await failing(tenant);
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

test('failures spend the budget of the hostname: its Certificate goes, the time is told, and then it is tried again by itself', async () => {
  const {hostname, mend} = await failing(other);
  // Once more is allowed.
  await other.verify('site');
  const spent = await other.reason('site', 'IssuanceBudgetExhausted');
  console.log(spent.status?.hosts?.[0]?.message);
  expect(spent.status?.hosts?.[0]).toMatchObject({
    phase: 'Verified',
    waitingFor: 'Platform',
    message: expect.stringMatching(
      /at most 2 in (60 seconds|1 minute)\)\. Nothing is ordered before .* UTC; then it is tried again\. The last failure: .*acme:error:connection/,
    ),
  });
  expect(spent.status?.conditions?.find((c) => c.type === 'Stalled')).toMatchObject({
    status: 'True',
    reason: 'IssuanceBudgetExhausted',
  });
  await eventually(
    'the Certificate is gone',
    async () => (await other.children(spent.metadata.uid ?? '', certificates)).length === 0,
  );
  // Whoever asks is told the same, and nothing is ordered.
  await other.verify('site');
  await mend();
  await other.wait('site', 'Live');
  const failures = await failuresOf(hostname);
  expect(failures).toHaveLength(2);
  const [request] = await other.requests('site');
  expect(
    Date.parse(request?.metadata.creationTimestamp ?? '') - Date.parse(failures[0]?.endedAt ?? ''),
  ).toBeGreaterThanOrEqual(60_000);
});
