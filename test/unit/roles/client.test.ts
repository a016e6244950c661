/** The client with which a role's process reaches the API server. */
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {createServer, type IncomingHttpHeaders, type Server, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as wait} from 'node:timers/promises';
import {afterEach, beforeEach, describe, expect, test} from '@jest/globals';
import {Registry} from 'prom-client';
import type {Client} from '../../../operator/kube/client/client.ts';
import {kitMetrics} from '../../../operator/kube/metrics.ts';
import {clientOf} from '../../../operator/roles/client.ts';
import {configMaps, eventually} from '../../support/kube-api.ts';

let server: Server;
let folder: string;
let client: Client;
/** The requests that have arrived, and whether the server answers them. */
let came: {headers: IncomingHttpHeaders; answer: ServerResponse}[];
let answers: boolean;
const before = process.env.KUBECONFIG;

beforeEach(async () => {
  [came, answers] = [[], false];
  server = createServer(({headers}, answer) => {
    came.push({headers, answer});
    if (answers) answer.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  folder = await mkdtemp(join(tmpdir(), 'role-'));
  const {port} = server.address() as AddressInfo;
  process.env.KUBECONFIG = join(folder, 'kubeconfig');
  await writeFile(
    process.env.KUBECONFIG,
    JSON.stringify({
      'current-context': 'test',
      clusters: [{name: 'test', cluster: {server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true}}],
      users: [{name: 'test', user: {}}],
      contexts: [{name: 'test', context: {cluster: 'test', user: 'test'}}],
    }),
  );
});
afterEach(async () => {
  if (before === undefined) delete process.env.KUBECONFIG;
  else process.env.KUBECONFIG = before;
  server.closeAllConnections();
  await client.close();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, {recursive: true});
});

/** From now on the server answers every request, those that have arrived included. */
const answerAll = (): void => {
  answers = true;
  for (const {answer} of came) answer.end('{}');
};

const load = async (role: string, workers: number): Promise<void> => {
  const operator = {deployment: 'doorplate-operator', workers};
  client = await clientOf(role, {operator}, kitMetrics(new Registry()));
};

const requests = 60;
/** Later than a request that has a connection arrives, ms. */
const lateMs = 300;

describe('connections follow workers', () => {
  test.each([
    ['operator', 30, 32],
    ['operator', 3, 5],
    ['operator', 40, 42],
    // The setting is the operator's: other roles have the kit's default.
    ['api', 3, 32],
  ])('the role %s with operator.workers %i has at most %i requests in flight', async (role, workers, connections) => {
    await load(role, workers);
    const all = Array.from({length: requests}, (_unused, i) =>
      client.patch(configMaps, `ns/c${i}`, {}, {type: 'merge'}),
    );
    await eventually(() => came.length >= connections, 60_000).catch(() => {});
    await wait(lateMs);
    const inFlight = came.length;
    // A deletion has a connection although all of these are busy.
    const deletion = client.delete(configMaps, 'ns/other');
    await eventually(() => came.length > inFlight);
    answerAll();
    await Promise.all([...all, deletion]);
    expect(inFlight).toBe(connections);
    expect(came).toHaveLength(requests + 1);
  });
});

test('the role is in the user agent', async () => {
  await load('redirector', 30);
  const asked = client.get(configMaps, 'ns/a');
  await eventually(() => came.length === 1);
  answerAll();
  await asked;
  expect(came[0]!.headers['user-agent']).toBe('doorplate/redirector');
});
