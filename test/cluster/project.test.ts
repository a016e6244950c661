import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {acmeRoot, apply, eventually, fetchEdge, kubectl, presented} from '../../cluster/cluster.ts';
import {Tenant} from '../support/tenant.ts';
import {redirected} from '../support/visitor.ts';

let tenant: Tenant;
let ca: string;
beforeAll(async () => {
  tenant = await Tenant.create('project', {});
  ca = await acmeRoot();
});
afterAll(async () => {
  await tenant?.remove();
});

/** Waits until a Project is not ready for this reason. */
const says = (name: string, reason: string) =>
  eventually(`the Project ${name} says ${reason}`, async () =>
    (await tenant.getProject(name))?.status?.conditions?.some(
      (c) => c.type === 'Ready' && c.status === 'False' && c.reason === reason,
    ),
  );

const ready = () => kubectl(['wait', 'project/web', '-n', tenant.namespace, '--for=condition=Ready', '--timeout=300s']);

test('a Project is served at its default host with a certificate of its own, and its HTTP goes to HTTPS', async () => {
  await ready();
  const project = await tenant.getProject('web');
  expect(project?.status?.url).toBe(`https://${tenant.target}`);
  await eventually(
    'the default hostname answers',
    async () => (await fetchEdge(`https://${tenant.target}/`, {ca})).status === 200,
  );
  expect(await presented(tenant.target, ca)).toMatchObject({trusted: true, subject: `DNS:${tenant.target}`});
  expect(await fetchEdge(`http://${tenant.target}/a?b`)).toMatchObject({
    status: 308,
    location: `https://${tenant.target}/a?b`,
  });
});

test('a deploy is remembered: without any endpoint the Project stays Deployed', async () => {
  const before = (await tenant.getProject('web'))?.status?.firstDeployTime;
  await kubectl(['scale', 'deployment/web', '-n', tenant.namespace, '--replicas=0']);
  await eventually('the Service has no ready endpoint', async () => {
    const slices = await kubectl([
      'get',
      'endpointslices',
      '-n',
      tenant.namespace,
      '-l',
      'kubernetes.io/service-name=web',
      '-o',
      'jsonpath={.items[*].endpoints[*].conditions.ready}',
    ]);
    return !slices.includes('true');
  });
  // One that has never been deployed tells that the operator knows it, too.
  await apply([tenant.project('never', {serviceRef: {name: 'web', port: 80}})]);
  await says('never', 'NoReadyEndpoint');
  const project = await tenant.getProject('web');
  expect(project?.status?.firstDeployTime).toBe(before);
  expect(project?.status?.conditions?.find((c) => c.type === 'Deployed')?.status).toBe('True');
  await kubectl(['scale', 'deployment/web', '-n', tenant.namespace, '--replicas=1']);
  await kubectl(['rollout', 'status', 'deployment/web', '-n', tenant.namespace]);
});

test('defaultHost RedirectToPrimary redirects once the primary is Live, and Disabled takes the route away', async () => {
  await apply([tenant.project('web', {defaultHost: 'RedirectToPrimary'})]);
  await ready();
  expect((await fetchEdge(`https://${tenant.target}/`, {ca})).status).toBe(200);

  await tenant.record('www', tenant.proof);
  await tenant.attach('site', tenant.host('www'));
  await tenant.wait('site', 'Ready');
  await redirected(`https://${tenant.target}/a?b`, 307, `https://${tenant.host('www')}/a?b`);
  expect((await fetchEdge(`https://${tenant.host('www')}/`, {ca})).status).toBe(200);

  await apply([tenant.project('web', {defaultHost: 'Disabled'})]);
  await eventually(
    'the default host is gone',
    async () => (await fetchEdge(`https://${tenant.target}/`)).status === 404,
  );
  await eventually('its status says so', async () =>
    (await tenant.getProject('web'))?.status?.conditions?.some(
      (c) => c.type === 'Ready' && c.status === 'True' && c.reason === 'DefaultHostDisabled',
    ),
  );
  await eventually(
    'nor is plain HTTP sent anywhere',
    async () => (await fetchEdge(`http://${tenant.target}/`)).status === 404,
  );
  expect((await fetchEdge(`https://${tenant.host('www')}/`, {ca})).status).toBe(200);
});

test('a Service that is missing, or has no such port, is told; put right, the Project is served', async () => {
  await apply([
    {
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'Project',
      metadata: {name: 'lost', namespace: tenant.namespace},
      spec: {serviceRef: {name: 'nowhere', port: 80}},
    },
  ]);
  await says('lost', 'ServiceNotFound');
  await apply([
    {
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'Project',
      metadata: {name: 'lost', namespace: tenant.namespace},
      spec: {serviceRef: {name: 'web', port: 'grpc'}},
    },
  ]);
  await says('lost', 'ServicePortNotFound');
  expect((await tenant.getProject('lost'))?.status?.firstDeployTime).toBeUndefined();
  await apply([
    {
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'Project',
      metadata: {name: 'lost', namespace: tenant.namespace},
      spec: {serviceRef: {name: 'web', port: 'http'}},
    },
  ]);
  await kubectl(['wait', 'project/lost', '-n', tenant.namespace, '--for=condition=Ready', '--timeout=300s']);
  const project = await tenant.getProject('lost');
  expect(project?.status?.firstDeployTime).toBeDefined();
  await eventually(
    'its default host answers',
    async () => (await fetchEdge(`https://${project?.status?.host}/`, {ca})).status === 200,
  );
});
