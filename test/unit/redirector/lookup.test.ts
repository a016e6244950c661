import {describe, expect, test} from '@jest/globals';
import type {HostStatus} from '../../../operator/api/custom-domain.ts';
import type {CustomDomain, DomainClaim, Project} from '../../../operator/api/foreign.ts';
import type {Client} from '../../../operator/kube/client/client.ts';
import type {KubeObject, Resource} from '../../../operator/kube/objects.ts';
import {Lookup} from '../../../operator/redirector/lookup.ts';
import {domain, project} from '../../support/world.ts';

const [old, docs] = ['old.example.com', 'docs.example.com'];
const rule = {host: old, to: docs, status: 301};

const claimOf = ({metadata: {namespace, name, uid}}: KubeObject, kind: 'CustomDomain' | 'Project'): DomainClaim =>
  ({status: {holder: {kind, namespace, name, uid}}}) as DomainClaim;
const live: HostStatus = {
  hostname: old,
  role: 'RedirectSource',
  phase: 'Live',
  reason: 'Redirecting',
  message: '',
  since: '',
  waitingFor: 'Nobody',
  redirect: {to: docs, status: 301},
};
const site: CustomDomain = {...domain(), status: {observedGeneration: 1, hosts: [live]}};

/** The API server with these objects, by plural and key; `asked` lists the reads. */
function server(objects: Record<string, unknown>): {client: Pick<Client, 'get'>; asked: string[]} {
  const asked: string[] = [];
  const get = async ({plural}: Resource<KubeObject>, key: string) => {
    asked.push(`${plural} ${key}`);
    return objects[`${plural} ${key}`];
  };
  return {client: {get: get as unknown as Client['get']}, asked};
}
const keyOf = ({metadata}: KubeObject): string => `${metadata.namespace}/${metadata.name}`;
const everything = {
  [`domainclaims ${old}`]: claimOf(site, 'CustomDomain'),
  [`customdomains ${keyOf(site)}`]: site,
};

function started(client: Pick<Client, 'get'>, timeoutMs = 1000): {lookup: Lookup; pass: (ms: number) => void} {
  let now = 0;
  const clock = {now: () => now, setTimeout: () => 0, clearTimeout: () => undefined};
  const pass = (ms: number) => {
    now += ms;
  };
  return {lookup: new Lookup({client, log: {info: () => {}, debug: () => {}}, clock, timeoutMs}), pass};
}

describe('A redirect that the watch has not reported', () => {
  test('is read through the claim and its CustomDomain', async () => {
    const {client, asked} = server(everything);
    expect(await started(client).lookup.ruleOf(old)).toEqual(rule);
    expect(asked).toEqual([`domainclaims ${old}`, `customdomains ${keyOf(site)}`]);
  });

  test('is read through the claim and its Project', async () => {
    const status = {
      host: 'web.apps.example.net',
      redirect: {to: docs, status: 308},
      conditions: [{type: 'RoutesReady', reason: 'Routed'}],
    };
    const web = {...project(), status} as unknown as Project;
    const {client} = server({
      'domainclaims web.apps.example.net': claimOf(web, 'Project'),
      [`projects ${keyOf(web)}`]: web,
    });
    expect(await started(client).lookup.ruleOf('web.apps.example.net')).toEqual({
      host: 'web.apps.example.net',
      to: docs,
      status: 308,
    });
  });

  test.each<[string, Record<string, unknown>]>([
    ['without a claim', {}],
    ['of a claim without a holder', {[`domainclaims ${old}`]: {status: {}}}],
    ['of a holder that is gone', {[`domainclaims ${old}`]: claimOf(site, 'CustomDomain')}],
    [
      'of a later object of the same name',
      {...everything, [`customdomains ${keyOf(site)}`]: {...site, metadata: {...site.metadata, uid: 'another'}}},
    ],
    [
      'of a holder that has no redirect for it',
      {...everything, [`customdomains ${keyOf(site)}`]: {...site, status: {observedGeneration: 1, hosts: []}}},
    ],
  ])('is none %s', async (_, objects) => {
    expect(await started(server(objects).client).lookup.ruleOf(old)).toBeUndefined();
  });

  test('costs a busy hostname one lookup a second', async () => {
    const {client, asked} = server(everything);
    const {lookup, pass} = started(client);
    expect(await Promise.all(Array.from({length: 50}, () => lookup.ruleOf(old)))).toEqual(
      Array.from({length: 50}, () => rule),
    );
    pass(999);
    expect(await lookup.ruleOf(old)).toEqual(rule);
    expect(asked).toHaveLength(2);
    pass(1);
    expect(await lookup.ruleOf(old)).toEqual(rule);
    expect(asked).toHaveLength(4);
  });

  test('is found by a request that came while an earlier lookup missed it', async () => {
    const objects: Record<string, unknown> = {};
    const {client} = server(objects);
    const answered = Promise.withResolvers<void>();
    const slow: Pick<Client, 'get'> = {
      get: (async (resource: Resource<KubeObject>, key: string) => {
        const read = await client.get(resource, key);
        await answered.promise;
        return read;
      }) as Client['get'],
    };
    const {lookup} = started(slow);
    const first = lookup.ruleOf(old);
    await new Promise(setImmediate);
    Object.assign(objects, everything);
    const second = lookup.ruleOf(old);
    answered.resolve();
    expect(await Promise.all([first, second])).toEqual([undefined, rule]);
  });
});

describe('The API server', () => {
  test('gets at most 100 lookups at once and 20 a second, however many hosts are asked for', async () => {
    const {client, asked} = server({});
    const {lookup, pass} = started(client);
    const flood = () => Promise.all(Array.from({length: 500}, (_, n) => lookup.ruleOf(`h${n}.example.com`)));
    await flood();
    expect(asked).toHaveLength(100);
    pass(1000);
    await flood();
    expect(asked).toHaveLength(120);
    pass(3_600_000);
    await flood();
    expect(asked).toHaveLength(220);
  });

  test.each([
    '',
    'localhost',
    '10.244.0.1',
    '[::1]',
    '../plans',
    'a.example.com/status',
    'A.example.com',
    'a..example.com',
  ])('is not asked for the host "%s"', async (host) => {
    const {client, asked} = server({});
    expect(await started(client).lookup.ruleOf(host)).toBeUndefined();
    expect(asked).toEqual([]);
  });

  test('that fails or does not answer in time leaves the answer of the table', async () => {
    const failing: Pick<Client, 'get'> = {get: () => Promise.reject(new Error('503'))};
    expect(await started(failing).lookup.ruleOf(old)).toBeUndefined();
    const silent: Pick<Client, 'get'> = {
      get: ((_resource: unknown, _key: unknown, {signal}: {signal: AbortSignal}) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        })) as unknown as Client['get'],
    };
    expect(await started(silent, 20).lookup.ruleOf(old)).toBeUndefined();
  });
});
