/** What the platform sets, by the charts, as a platform engineer does it. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {eventually, fetchEdge, install, kubectl, presented, sh, acmeRoot} from '../../cluster/cluster.ts';
import {Tenant} from '../support/tenant.ts';

describe('values that do not hold', () => {
  const good = ['template', 'doorplate', 'charts/doorplate', '-f', 'examples/demo/values.yaml'];
  test.each([
    ['platform.zone=', '/platform/zone'],
    ['edge.addresses={}', '/edge/addresses'],
    ['issuerRef.name=', '/issuerRef/name'],
    ['ingressClassName=', '/ingressClassName'],
    ['dns.recheckInterval=soon', '/dns/recheckInterval'],
    ['platform.tls=Sometimes', '/platform/tls'],
    ['dnss.recursive={}', 'dnss'],
    ['graceTime=never', '/graceTime'],
    ['defaultPlan=', '/defaultPlan'],
    ['admissionPolicy.enable=false', '/admissionPolicy'],
    ['admissionPolicy.certManager.serviceAccounts={}', '/admissionPolicy/certManager/serviceAccounts'],
    ['admissionPolicy.furtherRoutes[0].apiGroups={x.example}', '/admissionPolicy/furtherRoutes/0'],
    ['plans.pro.customDomains.maxHostnamesPerProject=many', '/plans/pro/customDomains/maxHostnamesPerProject'],
  ])('%s stops helm, and the message names the value', async (value, named) => {
    await expect(sh('helm', good)).resolves.toContain('kind: Deployment');
    await expect(sh('helm', [...good, '--set', value])).rejects.toThrow(named);
  });
});

describe('platform.tls: Wildcard', () => {
  let tenant: Tenant;
  beforeAll(async () => {
    await install(['platform.tls=Wildcard']);
    tenant = await Tenant.create('wildcard');
  });
  afterAll(async () => {
    await tenant?.remove();
    await install();
  });

  const certificates = () => kubectl(['get', 'certificates', '-n', tenant.namespace, '-o', 'name']);

  test("the default host is served with the edge's own certificate, and no certificate is ordered for it", async () => {
    await kubectl(['wait', 'project/web', '-n', tenant.namespace, '--for=condition=Ready', '--timeout=300s']);
    const reply = await eventually('the default host answers', async () => {
      const r = await fetchEdge(`https://${tenant.target}/`);
      return r.status === 200 && r;
    });
    expect(reply.body).toBe(`hello from ${tenant.namespace}/web\n`);
    expect((await presented(tenant.target, await acmeRoot())).trusted).toBe(false);
    expect(await certificates()).toBe('');
  });

  test('PerProject orders one, and back to Wildcard removes it', async () => {
    await install(['platform.tls=PerProject']);
    await eventually(
      'the default host has a certificate of its own',
      async () => (await presented(tenant.target, await acmeRoot())).trusted,
    );
    expect((await certificates()).trim().split('\n')).toHaveLength(1);
    await install(['platform.tls=Wildcard']);
    await eventually('it is gone', async () => (await certificates()) === '');
  });
});
