/** Options of all listings, by a fake API server that holds objects of two namespaces. */
import {describe, expect, test} from '@jest/globals';
import {parse} from 'yaml';
import {runCli} from '../../support/cli.ts';
import type {Client, ListOptions} from '../../../operator/kube/client/client.ts';
import type {KubeObject, Resource} from '../../../operator/kube/objects.ts';

const apiVersion = 'doorplate.dev/v1alpha1';
const record = {
  type: 'CNAME',
  name: 'docs',
  zone: 'example.com',
  value: 'x.apps.platform.test',
  ttl: 3600,
  state: 'Missing',
};
const domain = (namespace: string, name: string) => {
  const hostname = `${name}.example.com`;
  const host = {hostname, role: 'Primary', phase: 'AwaitingVerification', waitingFor: 'Customer'};
  return {
    apiVersion,
    kind: 'CustomDomain',
    metadata: {name, namespace},
    spec: {projectRef: {name}, primary: hostname},
    status: {
      hosts: [{...host, reason: 'RecordMissing', message: 'm'}],
      dnsRecords: [{...record, hostname}],
    },
  };
};
const project = (namespace: string, reason: string) => ({
  apiVersion,
  kind: 'Project',
  metadata: {name: 'site', namespace},
  status: {conditions: [{type: 'Ready', status: 'False', reason, message: 'm'}]},
});
const key = (namespace: string, name: string) => ({
  apiVersion,
  kind: 'ApiKey',
  metadata: {name, namespace},
  spec: {hashes: [{sha256: 'a'}, {sha256: 'b', expireTime: '2026-03-01T11:00:00Z'}], scopes: ['domains:read']},
  status: {conditions: [{type: 'Ready', status: 'True', reason: 'Accepted', message: 'm'}]},
});

const objects = [
  domain('acme', 'docs'),
  domain('other', 'shop'),
  project('acme', 'ServiceNotFound'),
  key('acme', 'ci'),
  key('other', 'bot'),
] as unknown as KubeObject[];

/** The output of a command, and the queries of its list requests. */
async function listed(line: string) {
  const queries: unknown[] = [];
  const fake = {
    list: async ({kind}: Resource, {namespace, labelSelector}: ListOptions = {}) => {
      queries.push([kind, namespace ?? '*', labelSelector ?? '']);
      return {items: objects.filter((o) => o.kind === kind && [o.metadata.namespace, undefined].includes(namespace))};
    },
    get: async () => undefined,
    close: async () => {},
  } as unknown as Client;
  const ended = await runCli(line.split(' '), {
    cluster: async () => ({namespace: 'acme', client: () => fake}),
    now: () => Date.parse('2026-03-01T12:00:00Z'),
    wait: async () => {},
  });
  return {...ended, queries};
}

const listings = ['status', 'records', 'why', 'key list'];

describe.each(listings)('%s', (command) => {
  test('lists the namespace of the context, -n another one, -A all, and -l sends the selector', async () => {
    const kinds = (await listed(command)).queries.map((query) => (query as string[])[0]);
    expect(kinds.length).toBeGreaterThan(0);
    const everyKind = (namespace: string, selector: string) => kinds.map((kind) => [kind, namespace, selector]);
    expect((await listed(command)).queries).toEqual(everyKind('acme', ''));
    expect((await listed(`${command} -n other`)).queries).toEqual(everyKind('other', ''));
    expect((await listed(`${command} -A`)).queries).toEqual(everyKind('*', ''));
    expect((await listed(`${command} --all-namespaces --selector team=web`)).queries).toEqual(
      everyKind('*', 'team=web'),
    );
    expect((await listed(`${command} -l team=web`)).queries).toEqual(everyKind('acme', 'team=web'));
  });

  test('with -o yaml prints the values of -o json', async () => {
    const [json, yaml] = await Promise.all([listed(`${command} -A -o json`), listed(`${command} -A -o yaml`)]);
    expect(JSON.parse(json.out)).toHaveLength({status: 2, records: 2, why: 3, 'key list': 2}[command]!);
    expect(parse(yaml.out)).toEqual(JSON.parse(json.out));
    expect(yaml.code).toBe(json.code);
    expect(JSON.parse(json.out).map(({namespace}: {namespace: string}) => namespace)).toEqual(
      expect.arrayContaining(['acme', 'other']),
    );
  });

  test('with -A shows the namespace of each object to people, and without it does not', async () => {
    expect((await listed(`${command} -A`)).out).toMatch(/\bother\b/);
    expect((await listed(command)).out).not.toMatch(/\bacme {2}|in the namespace acme\)/);
  });
});

test.each([
  ['status', 'customdomain.doorplate.dev/docs\ncustomdomain.doorplate.dev/shop\n'],
  ['records', 'customdomain.doorplate.dev/docs\ncustomdomain.doorplate.dev/shop\n'],
  ['why', 'customdomain.doorplate.dev/docs\ncustomdomain.doorplate.dev/shop\nproject.doorplate.dev/site\n'],
  ['key list', 'apikey.doorplate.dev/ci\napikey.doorplate.dev/bot\n'],
])('%s with -o name prints names that kubectl takes', async (command, names) => {
  expect((await listed(`${command} -A -o name`)).out).toBe(names);
});

test.each(['status', 'why', 'key list'])('%s that lists nothing says where it looked', async (command) => {
  expect((await listed(`${command} -n empty`)).told).toMatch(/ in the namespace empty\.\n$/);
});

test('a former token of a key that has expired is not listed', async () => {
  const [listedKey] = JSON.parse((await listed('key list -o json')).out) as object[];
  expect(listedKey).toMatchObject({name: 'ci', previousTokenExpires: null});
});
