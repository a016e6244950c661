import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {acmeRoot, apply, eventually, fetchEdge, kubectl, presented} from '../../cluster/cluster.ts';
import {Tenant} from '../support/tenant.ts';

let tenant: Tenant;
let ca: string;
beforeAll(async () => { tenant = await Tenant.create('project'); ca = await acmeRoot(); }, 60_000);
afterAll(async () => { await tenant?.remove(); }, 90_000);

const ready = () => kubectl(['wait', 'project/web', '-n', tenant.namespace, '--for=condition=Ready', '--timeout=120s'], {timeoutMs: 130_000});

test('a Project is served at its default host with a certificate of its own, and its HTTP goes to HTTPS', async () => {
  await ready();
  const project = await tenant.getProject('web');
  expect(project?.status?.url).toBe(`https://${tenant.target}`);
  await eventually('the default host answers', async () => (await fetchEdge(`https://${tenant.target}/`, {ca})).status === 200, 10_000);
  expect(await presented(tenant.target, ca)).toMatchObject({trusted: true, subject: `DNS:${tenant.target}`});
  expect(await fetchEdge(`http://${tenant.target}/a?b`)).toMatchObject({status: 308, location: `https://${tenant.target}/a?b`});
}, 180_000);

test('a deploy is remembered: without any endpoint the Project stays Deployed', async () => {
  const before = (await tenant.getProject('web'))?.status?.firstDeployTime;
  await kubectl(['scale', 'deployment/web', '-n', tenant.namespace, '--replicas=0']);
  await eventually('the Service has no ready endpoint', async () => {
    const slices = await kubectl(['get', 'endpointslices', '-n', tenant.namespace, '-l', 'kubernetes.io/service-name=web', '-o', 'jsonpath={.items[*].endpoints[*].conditions.ready}']);
    return !slices.includes('true');
  });
  const project = await tenant.getProject('web');
  expect(project?.status?.firstDeployTime).toBe(before);
  expect(project?.status?.conditions?.find((c) => c.type === 'Deployed')?.status).toBe('True');
  await kubectl(['scale', 'deployment/web', '-n', tenant.namespace, '--replicas=1']);
  await kubectl(['rollout', 'status', 'deployment/web', '-n', tenant.namespace, '--timeout=60s']);
}, 90_000);

test('defaultHost RedirectToPrimary redirects once the primary is Live, and Disabled takes the route away', async () => {
  await apply([tenant.project('web', {defaultHost: 'RedirectToPrimary'})]);
  await ready();
  await eventually('it serves until then', async () => (await fetchEdge(`https://${tenant.target}/`)).status === 200);

  await tenant.record('www', tenant.proof);
  await tenant.attach('site', tenant.host('www'));
  await tenant.wait('site', 'Ready');
  await eventually('the default host redirects', async () => {
    const {status, location} = await fetchEdge(`https://${tenant.target}/a?b`);
    return status === 307 && location === `https://${tenant.host('www')}/a?b`;
  });
  expect((await fetchEdge(`https://${tenant.host('www')}/`, {ca})).status).toBe(200);

  await apply([tenant.project('web', {defaultHost: 'Disabled'})]);
  await eventually('the default host is gone', async () => (await fetchEdge(`https://${tenant.target}/`)).status === 404);
  const project = await tenant.getProject('web');
  expect(project?.status?.conditions?.find((c) => c.type === 'Ready')).toMatchObject({status: 'True', reason: 'DefaultHostDisabled'});
  expect((await fetchEdge(`https://${tenant.host('www')}/`, {ca})).status).toBe(200);
}, 240_000);

test('a Service that is missing, or has no such port, is told', async () => {
  await apply([{apiVersion: 'doorplate.dev/v1alpha1', kind: 'Project', metadata: {name: 'lost', namespace: tenant.namespace}, spec: {serviceRef: {name: 'nowhere', port: 80}}}]);
  const expectReason = async (wanted: string) => {
    const reason = await eventually(`the Project says ${wanted}`, async () => {
      const now = (await tenant.getProject('lost'))?.status?.conditions?.find((c) => c.type === 'Ready')?.reason;
      return now === wanted && now;
    });
    expect(reason).toBe(wanted);
  };
  await expectReason('ServiceNotFound');
  await apply([{apiVersion: 'doorplate.dev/v1alpha1', kind: 'Project', metadata: {name: 'lost', namespace: tenant.namespace}, spec: {serviceRef: {name: 'web', port: 'grpc'}}}]);
  await expectReason('ServicePortNotFound');
  await apply([{apiVersion: 'doorplate.dev/v1alpha1', kind: 'Project', metadata: {name: 'lost', namespace: tenant.namespace}, spec: {serviceRef: {name: 'web', port: 'http'}}}]);
  await eventually('it is deployed', async () => (await tenant.getProject('lost'))?.status?.firstDeployTime !== undefined);
}, 90_000);
