/** The scenario of clients.test.ts with the client that openapi-typescript makes the types of. */
import {setTimeout} from 'node:timers/promises';
import createClient from 'openapi-fetch';
import type {components, paths} from './api.d.ts';

const {API = '', KEY = '', HOSTNAME = ''} = process.env;
const connect = (key: string) => createClient<paths>({baseUrl: API, headers: {authorization: `Bearer ${key}`}});
const api = connect(KEY);
const path = {project: 'docs', hostname: HOSTNAME};

function good<T>({data, error}: {data?: T; error?: components['schemas']['Problem']}): T {
  if (data === undefined) throw new Error(`${error?.type}: ${error?.detail}`);
  return data;
}

async function waitFor(
  isSo: (hostname: components['schemas']['Hostname']) => boolean,
): Promise<components['schemas']['Hostname']> {
  for (let tries = 0; tries < 60; tries++) {
    const hostname = good(await api.GET('/v1/projects/{project}/domains/{hostname}', {params: {path}}));
    if (isSo(hostname)) return hostname;
    await setTimeout(500);
  }
  throw new Error('it never came');
}

good(await api.POST('/v1/projects/{project}/domains', {params: {path}, body: {hostname: HOSTNAME}}));
const {records} = await waitFor((hostname) => hostname.records.length > 0);
const {type, name, value} = records[0]!;
good(await api.POST('/v1/projects/{project}/domains/{hostname}/verify', {params: {path}}));
const {phase} = await waitFor((hostname) => hostname.phase === 'Live');

let problem: components['schemas']['Problem'] | undefined;
while (!problem) {
  const {error, response} = await api.GET('/v1/projects');
  if (!error) continue;
  problem = error;
  await setTimeout(1000 * Number(response.headers.get('retry-after')));
}
const {items} = good(await api.GET('/v1/projects'));

const rotated = await api.POST('/v1/keys/{name}/rotate', {
  params: {path: {name: 'ci'}, header: {'idempotency-key': crypto.randomUUID()}},
  body: {overlapSeconds: 60},
});
const account = good(await connect(good(rotated).token!).GET('/v1/account'));

console.log(
  JSON.stringify({
    record: `${type} ${name} ${value}`,
    phase,
    refused: `${problem.status} ${problem.type}`,
    projects: items.map((each) => each.name),
    account: `${account.key!.name} ${account.usage.minute.limit}`,
  }),
);
