/** The event stream: the state at once, each change, and an end when the key, the project or the process goes. */
import {request} from 'node:http';
import {setTimeout as sleep} from 'node:timers/promises';
import type {ClientRequest, IncomingHttpHeaders} from 'node:http';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {accounts, apiKeys, customDomains, projects} from '../../operator/resources/resources.ts';
import {eventually} from '../../cluster/cluster.ts';
import {ApiWorld} from '../support/api-role.ts';

const allowed = {allowed: true, maxHostnamesPerProject: 10};
let world: ApiWorld;
let key: string;
beforeAll(async () => {
  world = await ApiWorld.start();
  await world.tenant('acme', 'huge');
  key = await world.key('acme', 'ci');
});
afterAll(async () => {
  await world?.stop();
});

interface Stream {
  status: number;
  headers: IncomingHttpHeaders;
  text: () => string;
  ids: () => string[];
  ended: Promise<void>;
  close: () => void;
}

const open = (of: string, options?: Parameters<typeof openAt>[1]): Promise<Stream> =>
  openAt(`/v1/projects/${of}/events`, options);

function openAt(
  path: string,
  {token = key, lastEventId}: {token?: string; lastEventId?: string} = {},
): Promise<Stream> {
  return new Promise((resolve, reject) => {
    let text = '';
    const sent: ClientRequest = request(
      {
        port: world.port,
        host: '127.0.0.1',
        path,
        agent: false,
        headers: {authorization: `Bearer ${token}`, ...(lastEventId !== undefined && {'last-event-id': lastEventId})},
      },
      (response) => {
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        const ended = new Promise<void>((done) => {
          response.on('close', done);
        });
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          text: () => text,
          ids: () => [...text.matchAll(/^id: (.*)$/gm)].map((m) => m[1]!),
          ended,
          close: () => sent.destroy(),
        });
      },
    );
    sent.on('error', reject).end();
  });
}

/** The lines of the log. */
const lines = () => world.log.map((line) => JSON.parse(line) as Record<string, unknown>);

/** What has changed, each once. */
const told = ({text}: Stream): string[] =>
  [...new Set([...text().matchAll(/^data: (.*)$/gm)].map((m) => m[1]!))].toSorted();

async function project(name: string, namespace = 'acme', token = key): Promise<void> {
  await world.project(namespace, name);
  await eventually(
    'the API knows the project',
    async () => (await world.ask(`/v1/projects/${name}`, {key: token})).status === 200,
  );
}

describe('The event stream of a namespace', () => {
  const fewer = {requestsPerMinute: 50, requestsPerDay: 500};
  test.each<[string, string, () => Promise<unknown>]>([
    ['Account', 'agreed', () => world.client.patch(accounts, 'agreed', {spec: {rateLimit: fewer}}, {type: 'merge'})],
    ['Plan', 'planned', () => world.plan('planned', fewer, allowed)],
  ])('says that the account has changed when its %s has other limits', async (_, name, change) => {
    await world.plan(name, {requestsPerMinute: 1000, requestsPerDay: 10_000}, allowed);
    await world.tenant(name, name);
    const token = await world.key(name, 'ci');
    const limit = async () => (await world.ask('/v1/account', {key: token})).body.rateLimit.requestsPerMinute as number;
    await eventually('the API knows the plan', async () => (await limit()) === 1000);
    const stream = await openAt('/v1/events', {token});
    await change();
    await eventually('the new limit counts', async () => (await limit()) === 50);
    // What comes after it is told after it.
    await world.project(name, 'later');
    await eventually('the next change is told', async () => stream.text().includes('data: {"project":"later"}'));
    expect(stream.text()).toContain('event: changed\ndata: {"account":true}');
    stream.close();
  });
});

describe('An event stream', () => {
  test('begins with the current state, sends each change, and sends a client that reconnects only what is new', async () => {
    await project('live');
    const stream = await open('live');
    expect(stream).toMatchObject({
      status: 200,
      headers: {'content-type': 'text/event-stream', 'x-ratelimit-limit': expect.any(String)},
    });
    await eventually('the state is told', async () => stream.ids().length === 1);
    expect(stream.text()).toMatch(
      /^retry: \d{4,5}\n\nid: [\w-]{22}\nevent: domains\ndata: {"project":"live","domains":{"primary":null/,
    );
    await world.domain('acme', 'live', {primary: 'live.example.com'});
    await eventually('the change is told', async () => stream.text().includes('live.example.com'));
    stream.close();

    const known = await open('live', {lastEventId: stream.ids().at(-1)!});
    const unknown = await open('live', {lastEventId: 'of-another-life'});
    await eventually('who knows nothing is told', async () => unknown.ids().length === 1);
    expect(known.ids()).toEqual([]);
    // The first change does not show.
    await world.client.patch(customDomains, 'acme/live', {metadata: {annotations: {a: 'b'}}}, {type: 'merge'});
    await world.client.patch(customDomains, 'acme/live', {spec: {primary: 'other.example.com'}}, {type: 'merge'});
    await eventually('both are told', async () =>
      [known, unknown].every((s) => s.text().includes('other.example.com')),
    );
    expect([known.ids().length, unknown.ids().length]).toEqual([1, 2]);
    known.close();
    unknown.close();
  });

  test('ends when its key is revoked, and when the project is deleted', async () => {
    await project('gone');
    const token = await world.key('acme', 'short');
    const [mine, other] = [await open('gone', {token}), await open('gone')];
    const revokedAt = Date.now();
    await world.client.delete(apiKeys, 'acme/short');
    expect(await Promise.race([mine.ended.then(() => true), sleep(30_000, false, {ref: false})])).toBe(true);
    console.log(`ended ${Date.now() - revokedAt} ms after the key was revoked`);
    await world.client.delete(projects, 'acme/gone');
    await other.ended;
    expect(other.text()).toContain('event: gone');
  });

  test('has a line in the log when it is opened and when it ends, and none among the answers', async () => {
    await project('logged');
    const stream = await open('logged');
    await eventually('the state is told', async () => stream.ids().length === 1);
    stream.close();
    const ofStream = () => lines().filter(({requestId}) => requestId === stream.headers['x-request-id']);
    await eventually('its end is in the log', async () => ofStream().length > 1);
    const who = {route: '/v1/projects/:project/events', namespace: 'acme', key: 'acme/ci'};
    expect(ofStream()).toEqual([
      expect.objectContaining({msg: 'event stream opened', ...who}),
      expect.objectContaining({msg: 'event stream ended', ...who, events: 1, why: 'client-left'}),
    ]);
  });

  test('is not opened by HEAD', async () => {
    await project('headless');
    expect(await world.ask('/v1/projects/headless/events', {key, method: 'HEAD'})).toMatchObject({
      status: 405,
      headers: {allow: 'GET'},
    });
  });

  test('is refused to a key that has ten open', async () => {
    await project('crowded');
    const streams = await Promise.all(Array.from({length: 10}, () => open('crowded')));
    expect(streams.map((s) => s.status)).toEqual(streams.map(() => 200));
    expect(await world.ask('/v1/projects/crowded/events', {key})).toMatchObject({
      status: 429,
      headers: {'retry-after': '15'},
      body: {type: 'https://doorplate.dev/problems/too-many-streams'},
    });
    for (const stream of streams) stream.close();
    const again = await eventually('there is room again', async () => {
      const stream = await open('crowded');
      return stream.status === 200 && stream;
    });
    again.close();
  });

  test('is refused to a tenant that has a hundred open, by whichever key it asks; another tenant gets one', async () => {
    await world.tenant('many', 'huge');
    await world.tenant('few', 'huge');
    const keys = await Promise.all(Array.from({length: 11}, (_, i) => world.key('many', `key-${i}`)));
    const [last, ...others] = keys;
    const other = await world.key('few', 'ci');
    await project('loud', 'many', last);
    await project('quiet', 'few', other);
    const streams = await Promise.all(others.flatMap((token) => Array.from({length: 10}, () => open('loud', {token}))));
    expect(streams.map((s) => s.status)).toEqual(streams.map(() => 200));
    const refused = await open('loud', {token: last});
    expect(refused).toMatchObject({status: 429, headers: {'retry-after': '15'}});
    await refused.ended;
    expect(refused.text()).toContain('one account');
    const another = await open('quiet', {token: other});
    expect(another.status).toBe(200);
    for (const stream of [...streams, another]) stream.close();
  });

  test('of a namespace tells each key of what it may read: projects with domains:read, keys with keys:write, the account always', async () => {
    await world.tenant('shared', 'huge');
    await world.project('shared', 'docs');
    const scopes = ['domains:read', 'keys:write', 'metering:read'];
    const tokens = await Promise.all(scopes.map((scope, i) => world.key('shared', `key-${i}`, {scopes: [scope]})));
    const streams = await Promise.all(tokens.map((token) => openAt('/v1/events', {token})));
    expect(streams.map((s) => s.status)).toEqual([200, 200, 200]);
    await world.key('shared', 'another');
    await eventually('a key is told of', async () => streams.some((s) => told(s).includes('{"keys":true}')));
    await world.domain('shared', 'docs', {primary: 'shared.example.com'});
    await eventually('a project is told of', async () => streams.some((s) => told(s).includes('{"project":"docs"}')));
    // What is told last: whatever there is to tell of the others has come before it.
    await world.tenant('shared', 'pro');
    await eventually('the account is told of', async () => streams.every((s) => told(s).includes('{"account":true}')));
    expect(streams.map(told)).toEqual([
      ['{"account":true}', '{"project":"docs"}'],
      ['{"account":true}', '{"keys":true}'],
      ['{"account":true}'],
    ]);
    for (const stream of streams) stream.close();
  });

  test('ends with a jittered retry time when the process stops, and continues in the next process', async () => {
    await project('moving');
    const stream = await open('moving');
    await eventually('the state is told', async () => stream.ids().length === 1);
    await world.stopRole();
    await stream.ended;
    expect(stream.text()).toMatch(/retry: \d{4,5}\n\n$/);
    await world.startRole();
    const next = await open('moving', {lastEventId: stream.ids().at(-1)!});
    expect(next.status).toBe(200);
    next.close();
  });
});
