/** What went while nobody looked: the operator finds it when it starts. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {certificates, ingresses} from '../../operator/controllers/resources.ts';
import {acmeRoot, eventually, fetchEdge, kubectl} from '../../cluster/cluster.ts';
import {Tenant} from '../support/tenant.ts';

const scale = async (replicas: number) => {
  await kubectl(['scale', 'deployment', '-n', 'doorplate-system', 'doorplate-operator', `--replicas=${replicas}`]);
  if (replicas > 0) await kubectl(['rollout', 'status', 'deployment', '-n', 'doorplate-system', 'doorplate-operator']);
  else
    await eventually(
      'the operator has stopped',
      async () =>
        (
          await kubectl([
            'get',
            'pods',
            '-n',
            'doorplate-system',
            '-l',
            'app.kubernetes.io/component=operator',
            '-o',
            'name',
          ])
        ).trim() === '',
    );
};

let tenant: Tenant;
beforeAll(async () => {
  tenant = await Tenant.create('sweep');
});
afterAll(async () => {
  await scale(1);
  await tenant?.remove();
});

test('hostnames that lost their CustomDomain while the operator was down, its finalizer taken off by force, are swept when it starts: routes first, claims into quarantine', async () => {
  const [www, old, left] = [tenant.host('www'), tenant.host('old'), tenant.host('left')];
  await tenant.records({www: tenant.proof, old: tenant.proof, left: tenant.proof});
  await tenant.attach('site', www, [{from: old}, {from: left}]);
  await tenant.wait('site', 'Ready');
  const ca = await acmeRoot();
  const uid = (await tenant.get('site'))?.metadata.uid ?? '';
  await scale(0);
  // Live without Doorplate, redirects and all.
  expect((await fetchEdge(`https://${www}/`, {ca})).status).toBe(200);
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
  expect(
    (await tenant.children(uid, ingresses)).filter((i) => i.startsWith('doorplate-system/')).length,
  ).toBeGreaterThanOrEqual(3);
  const began = Date.now();
  await scale(1);
  await eventually(
    'nothing of it is left',
    async () => (await tenant.children(uid, certificates, ingresses)).length === 0,
  );
  await eventually('its claims are in quarantine', async () => {
    const claims = await Promise.all(
      [www, old, left].map((h) =>
        kubectl(['get', 'domainclaim', h, '-o', 'jsonpath={.status.holder.uid}/{.status.quarantinedUntil}']),
      ),
    );
    return claims.every((c) => /^\/\d{4}-/.test(c.trim()));
  });
  console.log(`swept ${((Date.now() - began) / 1000).toFixed(1)} s after the operator was started again`);
  for (const host of [www, old, left])
    await eventually(`${host} is served no more`, async () => (await fetchEdge(`https://${host}/`)).status === 404);
});
