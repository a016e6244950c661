import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {Registry} from 'prom-client';
import {Client} from '../../operator/kube/client/client.ts';
import {inCluster} from '../../operator/kube/client/credentials.ts';
import {kitMetrics} from '../../operator/kube/metrics.ts';
import {defineResource, type KubeObject} from '../../operator/kube/objects.ts';
import {VirtualClock} from '../support/kube-clock.ts';
import {makeNamespace} from '../support/kube-api.ts';
import type {ApiServer} from '../support/kube-server.ts';
import {Platform} from '../support/platform.ts';

interface Review extends KubeObject {
  status: {userInfo: {username: string}};
}
interface TokenRequest extends KubeObject {
  status: {token: string};
}

const reviews = defineResource<Review>({
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
});
const serviceAccounts = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
});

let server: ApiServer;
let client: Client;
let namespace: string;
let root: string;

beforeAll(async () => {
  server = await Platform.server();
  client = server.client();
  namespace = await makeNamespace(client);
  for (const name of ['one', 'two'])
    await client.create(serviceAccounts, {apiVersion: 'v1', kind: 'ServiceAccount', metadata: {name, namespace}});
  root = await mkdtemp(join(tmpdir(), 'kit-'));
  await writeFile(join(root, 'ca.crt'), String((await server.credentials.read()).tls.ca));
});
afterAll(async () => {
  await rm(root, {recursive: true});
  await client.close();
  await server.stop();
});

async function tokenOf(name: string): Promise<string> {
  const plural = `serviceaccounts/${name}/token`;
  const tokens = defineResource<TokenRequest>({
    group: '',
    version: 'v1',
    plural,
    kind: 'TokenRequest',
    namespaced: true,
  });
  const request = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: {namespace},
    spec: {},
  } as unknown as TokenRequest;
  return (await client.create(tokens, request)).status.token;
}

const mountToken = (token: string): Promise<void> => writeFile(join(root, 'token'), `${token}\n`);

/** A client as a Pod's process makes it, and who the API server takes it for. */
function inPod(registry = new Registry(), clock?: VirtualClock) {
  const {hostname, port} = new URL(server.url);
  const pod = new Client(inCluster(root, {KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port})!, {
    metrics: kitMetrics(registry),
    clock,
  });
  const whoAmI = async (): Promise<string> => {
    const review = await pod.create(reviews, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'SelfSubjectReview',
      metadata: {},
    } as Review);
    return review.status.userInfo.username.split(':').at(-1)!;
  };
  return {pod, whoAmI};
}

describe('a Pod’s token', () => {
  test('that was revoked is read again, and the request repeated, unseen by the caller', async () => {
    const registry = new Registry();
    await mountToken('expired');
    const {pod, whoAmI} = inPod(registry);
    await expect(whoAmI()).rejects.toMatchObject({status: 401});
    await mountToken(await tokenOf('one'));
    expect(await whoAmI()).toBe('one');
    const {values} = await registry.getSingleMetric('rest_client_requests_total')!.get();
    // The first met its end at once, because the file had nothing new; the second was repeated.
    expect(Object.fromEntries(values.map(({labels, value}) => [(labels as {code: string}).code, value]))).toEqual({
      401: 2,
      201: 1,
    });
    await pod.close();
  });

  test('that was rotated is taken up when it is looked at again, after a minute', async () => {
    await mountToken(await tokenOf('one'));
    const clock = new VirtualClock();
    const {pod, whoAmI} = inPod(new Registry(), clock);
    expect(await whoAmI()).toBe('one');
    await mountToken(await tokenOf('two'));
    await clock.advance(59_999);
    expect(await whoAmI()).toBe('one');
    await clock.advance(1);
    expect(await whoAmI()).toBe('two');
    // For a moment there may be no file: the one that was read goes on.
    await rm(join(root, 'token'));
    await clock.advance(60_000);
    expect(await whoAmI()).toBe('two');
    await pod.close();
  });
});

test('outside of a cluster there are no such credentials', () => {
  expect(inCluster(root, {})).toBeUndefined();
  expect(inCluster(join(root, 'nowhere'), {KUBERNETES_SERVICE_HOST: '10.0.0.1'})).toBeUndefined();
});
