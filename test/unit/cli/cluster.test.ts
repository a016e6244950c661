import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {createServer, type Server} from 'node:http';
import type {AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, expect, test} from '@jest/globals';
import {clusterOf} from '../../../operator/cli/cluster.ts';

let server: Server;
let folder: string;
let agents: (string | undefined)[];
beforeEach(async () => {
  agents = [];
  server = createServer((request, answer) => {
    agents.push(request.headers['user-agent']);
    answer.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  folder = await mkdtemp(join(tmpdir(), 'cli-'));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, {recursive: true});
});

test('the plugin names itself to the API server', async () => {
  const kubeconfig = join(folder, 'config');
  const {port} = server.address() as AddressInfo;
  await writeFile(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      clusters: [{name: 'test', cluster: {server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true}}],
      users: [{name: 'test', user: {}}],
      contexts: [{name: 'test', context: {cluster: 'test', user: 'test'}}],
    }),
  );
  const client = (await clusterOf({kubeconfig})).client();
  await client.raw('/version');
  await client.close();
  expect(agents).toEqual(['kubectl-doorplate']);
});
