/** What went while nobody looked, and what was set otherwise meanwhile: the operator finds it when it starts. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {objectNameOf} from '../../operator/domain/hostnames/hostname.ts';
import {certificates, ingresses} from '../../operator/resources/resources.ts';
import {acmeRoot, audit, eventually, fetchEdge, install, kubectl, presented} from '../../cluster/cluster.ts';
import {keyOf, operator, succeeded} from '../support/requests.ts';
import {Tenant} from '../support/tenant.ts';
import {turn} from '../support/turn.ts';

let tenant: Tenant;
let endTurn: (() => void) | undefined;
let ca: string;
beforeAll(async () => {
  [tenant, ca] = [await Tenant.create('restart', {}), await acmeRoot()];
});
afterAll(async () => {
  await install();
  endTurn?.();
  await tenant?.remove();
});

const operatorPods = () =>
  kubectl(['get', 'pods', '-n', 'doorplate-system', '-l', 'app.kubernetes.io/component=operator', '-o', 'name']);

async function stopOperator(): Promise<void> {
  await kubectl(['scale', 'deployment', '-n', 'doorplate-system', 'doorplate-operator', '--replicas=0']);
  await eventually('the operator has stopped', async () => (await operatorPods()).trim() === '');
}

const ofDefaultHost = async () => tenant.children((await tenant.getProject('web'))?.metadata.uid ?? '', certificates);
const hasItsOwn = () =>
  eventually(
    'the default host is served with a certificate of its own',
    async () => (await presented(tenant.target, ca)).trusted,
  );

describe('an operator that was away, and is started with platform.tls: Wildcard', () => {
  let hosts: string[];
  let uid: string;
  let leftBehind: string[];
  let began: Date;
  beforeAll(async () => {
    await tenant.records({www: tenant.proof, old: tenant.proof, left: tenant.proof});
    hosts = ['www', 'old', 'left'].map((label) => tenant.host(label));
    await tenant.attach(
      'site',
      hosts[0]!,
      hosts.slice(1).map((from) => ({from})),
    );
    await tenant.wait('site', 'Ready');
    await hasItsOwn();
    expect(await ofDefaultHost()).toHaveLength(1);
    uid = (await tenant.get('site'))?.metadata.uid ?? '';
    endTurn = await turn();
    await stopOperator();
    // Live without Doorplate, redirects and all.
    expect((await Promise.all(hosts.map((host) => fetchEdge(`https://${host}/`, {ca})))).map((r) => r.status)).toEqual([
      200, 301, 301,
    ]);
    await kubectl([
      'patch',
      'customdomain',
      '-n',
      tenant.namespace,
      'site',
      '--type=merge',
      '-p',
      '{"metadata":{"finalizers":null}}',
    ]);
    await kubectl(['delete', 'customdomain', '-n', tenant.namespace, 'site']);
    // Kubernetes collects what is in the tenant's namespace; what is in Doorplate's has no owner there.
    leftBehind = (await tenant.children(uid, certificates, ingresses)).filter((key) =>
      key.startsWith('doorplate-system/'),
    );
    expect(leftBehind).toHaveLength(4);
    began = new Date();
    await install(['platform.tls=Wildcard']);
  });

  test('sweeps hostnames that lost their CustomDomain, its finalizer taken off by force: routes, certificates, then claims into quarantine', async () => {
    await eventually(
      'nothing of it is left',
      async () => (await tenant.children(uid, certificates, ingresses)).length === 0,
    );
    await eventually('its claims are in quarantine', async () => {
      const claims = await Promise.all(
        hosts.map((h) =>
          kubectl(['get', 'domainclaim', h, '-o', 'jsonpath={.status.holder.uid}/{.status.quarantinedUntil}']),
        ),
      );
      return claims.every((c) => /^\/\d{4}-/.test(c.trim()));
    });
    console.log(`swept ${((Date.now() - began.getTime()) / 1000).toFixed(1)} s after the operator was started again`);
    const writes = await audit(
      began,
      (e) =>
        e.user.username === operator &&
        succeeded(e) &&
        (e.verb === 'delete'
          ? leftBehind.includes(keyOf(e))
          : e.verb === 'patch' && e.objectRef?.resource === 'domainclaims' && hosts.includes(keyOf(e))),
    );
    // Per hostname: the operator works on several hostnames at the same time. Those of `www` were in the tenant's namespace.
    const written = hosts.map((host) => {
      const keys = [host, `doorplate-system/${objectNameOf(uid, host)}`];
      return writes.filter((e) => keys.includes(keyOf(e))).map((e) => e.objectRef?.resource);
    });
    // By the last write of each kind: the order history may be written to a claim at any time.
    expect(written.map((kinds) => [...new Set(kinds.toReversed())].toReversed())).toEqual([
      ['domainclaims'],
      ['ingresses', 'certificates', 'domainclaims'],
      ['ingresses', 'certificates', 'domainclaims'],
    ]);
    for (const host of hosts)
      await eventually(`${host} is served no more`, async () => (await fetchEdge(`https://${host}/`)).status === 404);
  });

  test("removes the certificate of a default host, which is served with the edge's own; back with PerProject, it has one again", async () => {
    await eventually('its certificate is gone', async () => (await ofDefaultHost()).length === 0);
    await eventually("the edge's own is presented", async () => !(await presented(tenant.target, ca)).trusted);
    await kubectl(['wait', 'project/web', '-n', tenant.namespace, '--for=condition=Ready', '--timeout=300s']);
    expect(await fetchEdge(`https://${tenant.target}/`)).toMatchObject({
      status: 200,
      body: `hello from ${tenant.namespace}/web\n`,
    });
    await install(['platform.tls=PerProject']);
    await hasItsOwn();
    expect(await ofDefaultHost()).toHaveLength(1);
  });
});
