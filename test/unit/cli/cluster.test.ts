import {execFile} from 'node:child_process';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {createServer, type Server} from 'node:http';
import type {AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import {delimiter, join} from 'node:path';
import {promisify} from 'node:util';
import {afterEach, beforeEach, describe, expect, test} from '@jest/globals';
import {clusterOf} from '../../../operator/cli/cluster.ts';
import {bin} from '../../support/kube-server.ts';

let servers: Server[];
let folder: string;
/** Which server was asked by whom, in order; and the tokens of the requests. */
let asked: string[];
let tokens: (string | undefined)[];
let impersonated: {user: string[] | undefined; groups: string[] | undefined}[];
const before = process.env.KUBECONFIG;
beforeEach(async () => {
  [asked, tokens, impersonated] = [[], [], []];
  servers = ['first', 'second'].map((name) =>
    createServer(({headers, headersDistinct}, answer) => {
      asked.push(`${name} by ${headers['user-agent']?.split('/')[0]}`);
      tokens.push(headers.authorization);
      const {'impersonate-user': user, 'impersonate-group': groups} = headersDistinct;
      impersonated.push({user, groups});
      answer.end('{}');
    }),
  );
  for (const server of servers) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  folder = await mkdtemp(join(tmpdir(), 'cli-'));
});
afterEach(async () => {
  if (before === undefined) delete process.env.KUBECONFIG;
  else process.env.KUBECONFIG = before;
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  await rm(folder, {recursive: true});
});

/** Writes a kubeconfig whose contexts lead to one of the servers; the first is the current one. */
async function kubeconfig(name: string, number: 0 | 1, contexts: readonly string[]): Promise<string> {
  const {port} = servers[number]!.address() as AddressInfo;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': contexts[0],
    clusters: [{name, cluster: {server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true}}],
    users: [{name: 'me', user: {token: `of-${name}`}}],
    contexts: contexts.map((context) => ({name: context, context: {cluster: name, user: 'me', namespace: name}})),
  };
  await writeFile(join(folder, name), JSON.stringify(config));
  return join(folder, name);
}

test('the plugin names itself to the API server', async () => {
  const client = (await clusterOf({kubeconfig: await kubeconfig('one', 0, ['test'])})).client();
  await client.raw('/version');
  await client.close();
  expect(asked).toEqual(['first by kubectl-doorplate']);
});

test.each([
  ['no context', undefined, 'a', 'first'],
  ['a context that two files have', 'shared', 'a', 'first'],
  ['a context of the second file', 'b', 'b', 'second'],
])('of several files in KUBECONFIG the first counts, as with kubectl: with %s', async (_, context, namespace, name) => {
  const files = [
    join(folder, 'none'),
    await kubeconfig('a', 0, ['a', 'shared']),
    await kubeconfig('b', 1, ['b', 'shared']),
  ];
  process.env.KUBECONFIG = files.join(delimiter);
  const cluster = await clusterOf({context});
  expect(cluster.namespace).toBe(namespace);
  const client = cluster.client();
  await client.raw('/version');
  await client.close();
  const args = ['get', '--raw', '/version', ...(context === undefined ? [] : ['--context', context])];
  await promisify(execFile)(join(bin, 'kubectl'), args, {env: {...process.env, HOME: folder}});
  expect(asked).toEqual([`${name} by kubectl-doorplate`, `${name} by kubectl`]);
  // kubectl sends none by plain HTTP.
  expect(tokens[0]).toBe('Bearer of-a');
});

test('a file that is not there is told, where KUBECONFIG names no other', async () => {
  process.env.KUBECONFIG = join(folder, 'none');
  await expect(clusterOf({})).rejects.toThrow("the kubeconfig can't be read: ENOENT");
});

describe('With --as and --as-group', () => {
  test('every request asks the API server to decide as that user and those groups', async () => {
    const own = await kubeconfig('one', 0, ['test']);
    const client = (await clusterOf({kubeconfig: own, as: 'jane', asGroup: ['team-a', 'team-b']})).client();
    await client.raw('/version');
    await client.close();
    expect(impersonated).toEqual([{user: ['jane'], groups: ['team-a', 'team-b']}]);
    expect(tokens).toEqual(['Bearer of-one']);
  });

  test('a group without a user is a wrong command line', async () => {
    await expect(clusterOf({asGroup: ['team-a']})).rejects.toThrow('--as-group needs a user, too: --as USER');
  });
});
