/** A renewal that does not come, because cert-manager is away: loud while there is time, and after it. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {certificates} from '../../operator/resources/resources.ts';
import {acmeRoot, eventually, fetchEdge, kubectl} from '../../cluster/cluster.ts';
import {stopCertManager} from '../support/cert-manager.ts';
import {Tenant} from '../support/tenant.ts';
import {turn} from '../support/turn.ts';

let tenant: Tenant;
let endTurn: (() => void) | undefined;
beforeAll(async () => {
  tenant = await Tenant.create('expiry');
});
afterAll(async () => {
  await certManager(1);
  endTurn?.();
  await tenant?.remove();
});

const certManager = (replicas: number) =>
  kubectl(['scale', 'deploy/cert-manager', '-n', 'cert-manager', `--replicas=${replicas}`]);
const time = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;

test('a certificate that is not renewed in time is overdue, then expired, with Events; when cert-manager is back it is Live', async () => {
  await tenant.record('late', tenant.proof);
  await tenant.attach('late', tenant.host('late'));
  await tenant.wait('late', 'Live');
  const ca = await acmeRoot();
  const [key = ''] = await tenant.children((await tenant.get('late'))?.metadata.uid ?? '', certificates);
  const [namespace = '', name = ''] = key.split('/');
  endTurn = await turn();
  await stopCertManager();
  // Its own times, as they would be weeks later: nobody is there to correct them.
  const notAfter = Date.now() + 30_000;
  await kubectl([
    'patch',
    'certificate',
    '-n',
    namespace,
    name,
    '--subresource=status',
    '--type=merge',
    '-p',
    JSON.stringify({status: {renewalTime: time(notAfter - 86_400_000), notAfter: time(notAfter)}}),
  ]);

  const overdue = await tenant.reason('late', 'RenewalOverdue');
  console.log(overdue.status?.hosts?.[0]?.message);
  expect(overdue.status?.hosts?.[0]).toMatchObject({
    phase: 'Live',
    waitingFor: 'Platform',
    certificate: {notAfter: time(notAfter)},
  });
  expect(overdue.status?.conditions?.find((c) => c.type === 'Ready')).toMatchObject({status: 'True'});
  expect(overdue.status?.conditions?.find((c) => c.type === 'CertificateReady')).toMatchObject({
    status: 'True',
    reason: 'Issued',
  });

  const expired = await tenant.reason('late', 'CertificateExpired');
  expect(Date.now()).toBeGreaterThanOrEqual(Math.floor(notAfter / 1000) * 1000);
  expect(expired.status?.hosts?.[0]).toMatchObject({phase: 'Verified', message: expect.stringContaining('expired on')});
  expect(expired.status?.conditions?.find((c) => c.type === 'Stalled')).toMatchObject({
    status: 'True',
    reason: 'CertificateExpired',
  });
  expect((await fetchEdge(`https://${tenant.host('late')}/`, {ca})).status).toBe(200);
  await eventually('both are told by a Warning Event', async () => {
    const {items} = JSON.parse(await kubectl(['get', 'events', '-n', tenant.namespace, '-o', 'json'])) as {
      items: {type: string; reason: string}[];
    };
    return ['RenewalOverdue', 'CertificateExpired'].every((r) =>
      items.some((e) => e.type === 'Warning' && e.reason === r),
    );
  });

  await certManager(1);
  await tenant.wait('late', 'Live');
});
