/** Issuance that is stuck: what is said of it, Re-verify as a fresh attempt from both states, and the budget of failures. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import type {DomainClaim} from '../../operator/api/foreign.ts';
import {apply, env, eventually, install, kubectl, sh} from '../../cluster/cluster.ts';
import {Tenant} from '../support/tenant.ts';

let tenant: Tenant;
beforeAll(async () => {
  await install(['issuanceStalledAfter=15s']);
  tenant = await Tenant.create('issuance');
}, 120_000);
afterAll(async () => {
  await tenant?.remove();
  await install();
}, 180_000);

interface Request {metadata: {uid: string; name: string; creationTimestamp: string}; status?: {conditions?: {type: string; status: string; reason: string}[]}}
/** The CertificateRequests in the tenant's namespace for its CustomDomain. */
async function requests(name: string): Promise<Request[]> {
  const uid = (await tenant.get(name))?.metadata.uid ?? '';
  return (JSON.parse(await kubectl(['get', 'certificaterequests', '-n', tenant.namespace, '-l', `doorplate.dev/owner-uid=${uid}`, '-o', 'json'])) as {items: Request[]}).items;
}
const reverify = (name: string) => kubectl(['annotate', 'customdomain', '-n', tenant.namespace, name, `doorplate.dev/requestedAt=${new Date().toISOString()}`, '--overwrite']);

test('pending for too long: the request is deleted, the next one has another UID, and the domain goes Live', async () => {
  // A solver's Pod that no quota admits.
  await apply([{apiVersion: 'v1', kind: 'ResourceQuota', metadata: {name: 'full', namespace: tenant.namespace}, spec: {hard: {pods: '1'}}}]);
  await tenant.record('pending', tenant.proof);
  await tenant.attach('pending', tenant.host('pending'));
  const stalled = await tenant.reason('pending', 'IssuanceStalled', 60_000);
  expect(stalled.status?.hosts?.[0]).toMatchObject({phase: 'Verified', waitingFor: 'Platform'});
  const message = stalled.status?.hosts?.[0]?.message;
  console.log(message);
  expect(message).toMatch(/ordered 15 seconds ago and is still absent\. By the last answer of its DNS it still verifies, and its CAA records allow the certificate authority\. A quota .*\(Re-verify\)\. cert-manager says: CertificateRequest: /);
  expect(message).toMatch(/ Challenge \S+ is pending: .*exceeded quota: full.* Order \S+ is pending\.$/);
  expect(stalled.status?.conditions?.find((c) => c.type === 'Stalled')).toMatchObject({status: 'True', reason: 'IssuanceStalled'});
  const [before] = await requests('pending');

  await kubectl(['delete', 'resourcequota', 'full', '-n', tenant.namespace]);
  await reverify('pending');
  await tenant.wait('pending', 'Live', 90);
  const after = await requests('pending');
  expect(after).toHaveLength(1);
  expect(after[0]?.metadata.uid).not.toBe(before?.metadata.uid);
  await kubectl(['delete', 'customdomain', '-n', tenant.namespace, 'pending', '--timeout=30s']);
}, 240_000);

/** While it runs the CA can't reach the edge: its validation fails, while cert-manager's own check still passes. */
async function withoutTheEdge(run: (mend: () => Promise<void>) => Promise<void>): Promise<void> {
  const pebble = (await kubectl(['get', 'pods', '-n', 'pebble', '-o', 'jsonpath={.items[0].status.podIP}'])).trim();
  const rule = (action: '-I' | '-D') => sh('cluster/enter.sh', ['iptables', '-w', action, 'INPUT', '-s', pebble, '-d', env().nodeIp, '-p', 'tcp', '--dport', '80', '-j', 'REJECT']);
  // Host ports are translated before INPUT sees them.
  const forward = (action: '-I' | '-D') => sh('cluster/enter.sh', ['iptables', '-w', '-t', 'raw', action, 'PREROUTING', '-s', pebble, '-d', env().nodeIp, '-p', 'tcp', '--dport', '80', '-j', 'DROP']);
  await rule('-I');
  await forward('-I');
  try {
    await run(async () => { await forward('-D'); await rule('-D'); });
  } finally {
    await forward('-D').catch(() => ''); // gone already where all went well
    await rule('-D').catch(() => '');
  }
}

test('failed and backing off: another attempt begins at once, and the domain goes Live', async () => {
  await withoutTheEdge(async (mend) => {
    await tenant.record('failed', tenant.proof);
    await tenant.attach('failed', tenant.host('failed'));
    const failed = await eventually('the request has failed', async () =>
      (await requests('failed')).find((r) => r.status?.conditions?.some((c) => c.type === 'Ready' && c.reason === 'Failed')), 120_000);
    const said = await eventually('the failure is said', async () => {
      const message = (await tenant.get('failed'))?.status?.hosts?.[0]?.message;
      return message?.includes('CertificateRequest: Failed to wait') && message;
    });
    console.log(said);
    expect(said).toMatch(/The certificate authority cannot reach the edge on port 80.* Challenge \S+ is invalid: .*connection.* Order \S+ is invalid\.$/);
    const claim = JSON.parse(await kubectl(['get', 'domainclaim', tenant.host('failed'), '-o', 'json'])) as DomainClaim;
    expect(claim.status?.orders).toEqual([expect.objectContaining({outcome: 'Failed', message: expect.stringContaining('acme:error:connection')})]);
    await mend();
    await reverify('failed');
    await tenant.wait('failed', 'Live', 90);
    const uids = (await requests('failed')).map((r) => r.metadata.uid);
    expect(uids.length).toBeGreaterThan(0);
    expect(uids).not.toEqual([failed.metadata.uid]);
  });
  await kubectl(['delete', 'customdomain', '-n', tenant.namespace, 'failed', '--timeout=30s']);
}, 300_000);

test('failures spend the budget of the hostname: its Certificate goes, the time is told, and then it is tried again by itself', async () => {
  await install(['issuanceStalledAfter=5m', 'budgets.failures[0].limit=1', 'budgets.failures[0].per=45s', 'budgets.failures[1].limit=3', 'budgets.failures[1].per=1h']);
  await withoutTheEdge(async (mend) => {
    await tenant.record('spent', tenant.proof);
    await tenant.attach('spent', tenant.host('spent'));
    const spent = await tenant.reason('spent', 'IssuanceBudgetExhausted', 120_000);
    console.log(spent.status?.hosts?.[0]?.message);
    expect(spent.status?.hosts?.[0]).toMatchObject({phase: 'Verified', waitingFor: 'Platform', message: expect.stringMatching(/at most 1 in 45 seconds\)\. Nothing is ordered before .* UTC; then it is tried again\. The last failure: .*acme:error:connection/)});
    expect(spent.status?.conditions?.find((c) => c.type === 'Stalled')).toMatchObject({status: 'True', reason: 'IssuanceBudgetExhausted'});
    await eventually('the Certificate is gone', async () => (await tenant.children('certificate', spent.metadata.uid ?? '')).length === 0);
    // Whoever asks is told the same, and nothing is ordered.
    await reverify('spent');
    await mend();
    await tenant.wait('spent', 'Live', 150);
    const claim = JSON.parse(await kubectl(['get', 'domainclaim', tenant.host('spent'), '-o', 'json'])) as DomainClaim;
    const [failure] = claim.status?.orders ?? [];
    const [request] = await requests('spent');
    expect(Date.parse(request?.metadata.creationTimestamp ?? '') - Date.parse(failure?.endedAt ?? '')).toBeGreaterThanOrEqual(45_000);
  });
  await kubectl(['delete', 'customdomain', '-n', tenant.namespace, 'spent', '--timeout=30s']);
}, 400_000);
