/** What stands in the way of a hostname, and who holds its removal up: each has a Project of its own, and all begin at once. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import type {Certificate, Ingress} from '../../operator/api/foreign.ts';
import {certificateRequests, certificates, customDomains, ingresses} from '../../operator/resources/resources.ts';
import {objectNameOf} from '../../operator/domain/hostnames/hostname.ts';
import {setTimeout as pause} from 'node:timers/promises';
import {acmeRoot, api, apply, eventually, fetchEdge, kubectl} from '../../cluster/cluster.ts';
import {padToTheBrim} from '../support/padding.ts';
import {Tenant} from '../support/tenant.ts';
import {redirected} from '../support/visitor.ts';

let tenant: Tenant;
let ca: string;
const names = ['lost', 'held', 'taken', 'kept', 'refused', 'failing'];
const targets = new Map<string, string>();
/** The record that proves a hostname of the CustomDomain of this name. */
const proof = (name: string) => `IN CNAME ${targets.get(name)}.`;
beforeAll(async () => {
  tenant = await Tenant.create('obstacle');
  ca = await acmeRoot();
  await apply(
    names.map((name) => tenant.project(name, {serviceRef: {name: 'web', port: 80}, defaultHost: 'Disabled'})),
  );
  for (const name of names) {
    await kubectl(['wait', `project/${name}`, '-n', tenant.namespace, '--for=condition=Deployed', '--timeout=300s']);
    targets.set(name, (await tenant.getProject(name))?.status?.host ?? '');
  }
  await tenant.records({
    'old-lost': proof('lost'),
    held: proof('held'),
    kept: proof('kept'),
    refused: proof('refused'),
  });
  await tenant.attach('lost', tenant.host('lost'), [{from: tenant.host('old-lost')}], 'lost');
  for (const name of ['held', 'taken', 'kept', 'refused', 'failing'])
    await tenant.attach(name, tenant.host(name), [], name);
});
afterAll(async () => {
  await tenant?.remove();
});

test('a hostname whose CertificateRequest has been cleaned away goes Live all the same, with no second order', async () => {
  const [www, old] = [tenant.host('lost'), tenant.host('old-lost')];
  const {
    metadata: {uid = ''},
  } = await tenant.hosts('lost', [`${www} AwaitingVerification RecordMissing`, `${old} Verified WaitingForPrimary`]);
  const [key = ''] = await tenant.children(uid, certificates);
  await kubectl([
    'wait',
    `certificate/${key.split('/')[1]}`,
    '-n',
    key.split('/')[0]!,
    '--for=condition=Ready',
    '--timeout=300s',
  ]);
  // Ready comes when the Secret is there; cert-manager is done with the request a moment later.
  await eventually('cert-manager is done with it', async () => {
    const {status} = (await api().get<Certificate>(certificates, key))!;
    return (
      status?.revision !== undefined && !status.conditions?.some((c) => c.type === 'Issuing' && c.status === 'True')
    );
  });
  const [request = ''] = await tenant.children(uid, certificateRequests);
  await api().delete(certificateRequests, request);
  await tenant.record('lost', proof('lost'));
  await tenant.verify('lost');
  await tenant.hosts('lost', [`${www} Live Serving`, `${old} Live Redirecting`]);
  await redirected(`https://${old}/x`, 301, `https://${www}/x`, ca);
  // The primary's.
  expect(await tenant.children(uid, certificateRequests)).toEqual([expect.stringMatching(`^${tenant.namespace}/`)]);
  await kubectl(['delete', 'customdomain', '-n', tenant.namespace, 'lost']);
});

test('an Ingress whose deletion a tenant holds up goes all the same when its CustomDomain is deleted', async () => {
  const www = tenant.host('held');
  await tenant.wait('held', 'Ready');
  const uid = (await tenant.get('held'))?.metadata.uid ?? '';
  const name = (await tenant.children(uid, ingresses)).find((i) => i.startsWith(tenant.namespace))?.split('/')[1] ?? '';
  const get = () => kubectl(['get', 'ingress', '-n', tenant.namespace, name, '-o', 'json', '--ignore-not-found']);
  // A dependent that never goes: deleted in the foreground, its owner waits for it.
  const ingress = JSON.parse(await get()) as {apiVersion: string; kind: string; metadata: {name: string; uid: string}};
  await apply([
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'holds',
        namespace: tenant.namespace,
        finalizers: ['test.doorplate.dev/held'],
        ownerReferences: [
          {
            apiVersion: ingress.apiVersion,
            kind: ingress.kind,
            name,
            uid: ingress.metadata.uid,
            blockOwnerDeletion: true,
          },
        ],
      },
    },
  ]);
  // The garbage collector reads of it by a watch of its own.
  await pause(5000);
  try {
    await eventually('the Ingress waits for its dependent', async () => {
      await kubectl(['delete', 'ingress', '-n', tenant.namespace, name, '--cascade=foreground', '--wait=false']);
      await pause(1000);
      // One that nothing holds up is gone by then, and another in its place.
      return (await get()).includes('foregroundDeletion');
    });
    expect((await fetchEdge(`https://${www}/`, {ca})).status).toBe(200);
    await kubectl(['delete', 'customdomain', '-n', tenant.namespace, 'held']);
    await eventually('the edge stops serving it', async () => (await fetchEdge(`https://${www}/`)).status === 404);
    expect(await get()).toBe('');
  } finally {
    await kubectl([
      'patch',
      'configmap',
      '-n',
      tenant.namespace,
      'holds',
      '--type=merge',
      '-p',
      '{"metadata":{"finalizers":null}}',
    ]);
  }
});

test("somebody else's object under a name that Doorplate needs is left alone and reported; when it is gone, the hostname goes on", async () => {
  const www = tenant.host('taken');
  const uid = (await tenant.reason('taken', 'RecordMissing')).metadata.uid ?? '';
  const name = objectNameOf(uid, www);
  const theirs = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {name, namespace: tenant.namespace},
    spec: {defaultBackend: {service: {name: 'web', port: {number: 80}}}},
  };
  await api().create(ingresses, theirs as unknown as Ingress);
  // The edge may write its status.
  const content = () =>
    kubectl([
      'get',
      'ingress',
      '-n',
      tenant.namespace,
      name,
      '-o',
      'jsonpath={.metadata.uid} {.metadata.generation} {.metadata.labels} {.metadata.annotations} {.metadata.ownerReferences}',
    ]);
  const before = await content();
  await tenant.record('taken', proof('taken'));
  const domain = await tenant.reason('taken', 'NameTaken');
  expect(domain.status?.hosts?.[0]).toMatchObject({phase: 'Verified', waitingFor: 'Platform'});
  expect(domain.status?.hosts?.[0]?.message).toContain(`Ingress ${tenant.namespace}/${name}`);
  expect(await content()).toBe(before);
  await kubectl(['delete', 'ingress', '-n', tenant.namespace, name]);
  await kubectl(['annotate', 'customdomain', '-n', tenant.namespace, 'taken', 'doorplate.dev/requestedAt=again']);
  await tenant.wait('taken', 'Ready');
  await kubectl(['delete', 'customdomain', '-n', tenant.namespace, 'taken']);
});

test('a route that the API server refuses to change is reported in its words, and is written when its tenant has put it right', async () => {
  await tenant.wait('refused', 'Ready');
  const uid = (await tenant.get('refused'))?.metadata.uid ?? '';
  const key = (await tenant.children(uid, ingresses)).find((i) => i.startsWith(tenant.namespace))!;
  const {
    metadata: {ownerReferences: [ours] = []},
  } = (await api().get<Ingress>(ingresses, key))!;
  await apply([{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'mine', namespace: tenant.namespace}}]);
  const theirs = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: 'mine',
    controller: true,
    uid: await kubectl(['get', 'configmap', '-n', tenant.namespace, 'mine', '-o', 'jsonpath={.metadata.uid}']),
  };
  await api().patch(
    ingresses,
    key,
    {metadata: {ownerReferences: [{...ours, controller: false}, theirs]}},
    {type: 'merge'},
  );
  const domain = await tenant.reason('refused', 'WriteRefused');
  expect(domain.status?.hosts?.[0]?.message).toContain(
    `Ingress ${key} could not be written, because the API server refuses it`,
  );
  await api().patch(ingresses, key, {metadata: {ownerReferences: [ours]}}, {type: 'merge'});
  await tenant.wait('refused', 'Ready');
  await kubectl(['delete', 'customdomain', '-n', tenant.namespace, 'refused']);
});

test('a hostname whose Certificate cannot be written while a webhook is away says so, and goes Live when the webhook is gone', async () => {
  const name = `away-${tenant.namespace}`;
  const webhook = {
    name: 'away.example.com',
    // Nothing listens there.
    clientConfig: {url: 'https://127.0.0.1:9/'},
    failurePolicy: 'Fail',
    sideEffects: 'None',
    timeoutSeconds: 1,
    admissionReviewVersions: ['v1'],
    namespaceSelector: {matchLabels: {'kubernetes.io/metadata.name': tenant.namespace}},
    rules: [
      {
        apiGroups: ['cert-manager.io'],
        apiVersions: ['*'],
        operations: ['CREATE', 'UPDATE'],
        resources: ['certificates'],
      },
    ],
  };
  const kind = 'ValidatingWebhookConfiguration';
  await apply([{apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: {name}, webhooks: [webhook]}]);
  try {
    await tenant.record('failing', proof('failing'));
    const domain = await tenant.reason('failing', 'WriteFailed');
    expect(domain.status?.hosts?.[0]).toMatchObject({phase: 'Verified', waitingFor: 'Platform'});
    expect(domain.status?.hosts?.[0]?.message).toContain('failed calling webhook "away.example.com"');
  } finally {
    await kubectl(['delete', 'validatingwebhookconfiguration', name]);
  }
  await kubectl(['annotate', 'customdomain', '-n', tenant.namespace, 'failing', 'doorplate.dev/requestedAt=again']);
  await tenant.wait('failing', 'Ready');
  await kubectl(['delete', 'customdomain', '-n', tenant.namespace, 'failing']);
});

test('a CustomDomain whose labels leave no room for its status says so, and what to do', async () => {
  // Messages of this hostname are longer than what is said while there is no Project.
  await tenant.attach('padded', tenant.host(Array(3).fill('p'.repeat(60)).join('.')), [], 'padded');
  await tenant.reason('padded', 'ProjectNotFound');
  const unpad = await padToTheBrim(api(), customDomains, `${tenant.namespace}/padded`);
  try {
    await apply([tenant.project('padded', {serviceRef: {name: 'web', port: 80}, defaultHost: 'Disabled'})]);
    const ready = async () => (await tenant.get('padded'))?.status?.conditions?.find((c) => c.type === 'Ready');
    await eventually('it says that there is no room', async () => (await ready())?.reason === 'StatusTooLarge');
    expect((await ready())?.message).toContain('Reduce or shorten its labels');
  } finally {
    // Not even its deletion has room: the time of it would be written into the object.
    await unpad();
  }
  await tenant.reason('padded', 'RecordMissing');
  await kubectl(['delete', 'customdomain', '-n', tenant.namespace, 'padded']);
});

test("a deleted CustomDomain with somebody else's finalizer says Removing, and its routes and certificates are gone", async () => {
  await tenant.wait('kept', 'Ready');
  const uid = (await tenant.get('kept'))?.metadata.uid ?? '';
  await kubectl([
    'patch',
    'customdomain',
    '-n',
    tenant.namespace,
    'kept',
    '--type=json',
    '-p',
    '[{"op":"add","path":"/metadata/finalizers/-","value":"test.doorplate.dev/held"}]',
  ]);
  await kubectl(['delete', 'customdomain', '-n', tenant.namespace, 'kept', '--wait=false']);
  const domain = await tenant.hosts('kept', [`${tenant.host('kept')} Removing Removing`]);
  expect(domain.status).toMatchObject({phase: 'Removing', hostsLive: '0/1'});
  expect(domain.status?.conditions?.every((c) => c.status === 'False' && c.reason === 'Removing')).toBe(true);
  // Said first, then let go.
  await eventually(
    'only the other finalizer is left',
    async () => (await tenant.get('kept'))?.metadata.finalizers?.join() === 'test.doorplate.dev/held',
  );
  expect(await tenant.children(uid, certificates, ingresses)).toEqual([]);
  await kubectl([
    'patch',
    'customdomain',
    '-n',
    tenant.namespace,
    'kept',
    '--type=merge',
    '-p',
    '{"metadata":{"finalizers":null}}',
  ]);
  await eventually('it is gone', async () => (await tenant.get('kept')) === undefined);
});
