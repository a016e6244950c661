/** Re-verify is a fresh attempt, from both states in which an issuance can be stuck. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
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

interface Request {metadata: {uid: string; name: string}; status?: {conditions?: {type: string; status: string; reason: string}[]}}
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

test('failed and backing off: another attempt begins at once, and the domain goes Live', async () => {
  // The CA can reach the edge no more: its validation fails, while cert-manager's own check still passes.
  const pebble = (await kubectl(['get', 'pods', '-n', 'pebble', '-o', 'jsonpath={.items[0].status.podIP}'])).trim();
  const rule = (action: '-I' | '-D') => sh('cluster/enter.sh', ['iptables', '-w', action, 'INPUT', '-s', pebble, '-d', env().nodeIp, '-p', 'tcp', '--dport', '80', '-j', 'REJECT']);
  // Host ports are translated before INPUT sees them.
  const forward = (action: '-I' | '-D') => sh('cluster/enter.sh', ['iptables', '-w', '-t', 'raw', action, 'PREROUTING', '-s', pebble, '-d', env().nodeIp, '-p', 'tcp', '--dport', '80', '-j', 'DROP']);
  await rule('-I');
  await forward('-I');
  try {
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
    await forward('-D');
    await rule('-D');
    await reverify('failed');
    await tenant.wait('failed', 'Live', 90);
    const uids = (await requests('failed')).map((r) => r.metadata.uid);
    expect(uids.length).toBeGreaterThan(0);
    expect(uids).not.toEqual([failed.metadata.uid]);
  } finally {
    await forward('-D').catch(() => ''); // gone already where all went well
    await rule('-D').catch(() => '');
  }
  await kubectl(['delete', 'customdomain', '-n', tenant.namespace, 'failed', '--timeout=30s']);
}, 300_000);
