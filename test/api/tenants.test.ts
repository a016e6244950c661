/** A key reaches its own namespace and nothing else: what is another's looks as if it were not there. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {eventually} from '../../cluster/cluster.ts';
import {ApiWorld} from '../support/api-role.ts';

let world: ApiWorld;
let stranger: string;
beforeAll(async () => {
  world = await ApiWorld.start();
  for (const name of ['acme', 'mallory']) {
    await world.tenant(name, 'huge');
    await world.project(name, name === 'acme' ? 'docs' : 'shop');
  }
  await world.domain('acme', 'docs', {primary: 'docs.example.com'});
  const own = await world.key('acme', 'ci');
  await eventually(
    'the API knows all',
    async () => (await world.ask('/v1/projects/docs/domains', {key: own})).body.domains?.primary === 'docs.example.com',
  );
  stranger = await world.key('mallory', 'ci');
});
afterAll(async () => {
  await world?.stop();
});

const rows: [string, string, object | undefined][] = [
  ['GET', '/v1/projects/docs', undefined],
  ['GET', '/v1/projects/docs/domains', undefined],
  ['POST', '/v1/projects/docs/domains', {hostname: 'evil.example.com'}],
  ['GET', '/v1/projects/docs/domains/docs.example.com', undefined],
  ['PUT', '/v1/projects/docs/domains/docs.example.com', {}],
  ['DELETE', '/v1/projects/docs/domains/docs.example.com', undefined],
  ['POST', '/v1/projects/docs/domains/docs.example.com/verify', undefined],
  ['POST', '/v1/projects/docs/domains/docs.example.com/make-primary', undefined],
  ['GET', '/v1/projects/docs/events', undefined],
  ['POST', '/v1/keys/missing/rotate', {}],
  ['DELETE', '/v1/keys/missing', undefined],
];

/** An answer without what differs between any two. */
async function told(method: string, path: string, body: object | undefined): Promise<unknown> {
  const {status, headers, body: said} = await world.ask(path, {method, body, key: stranger});
  const {date: _, 'x-request-id': __, ...rest} = headers;
  for (const name of Object.keys(rest)) if (name.includes('ratelimit')) delete rest[name];
  return {status, headers: rest, said};
}

describe("Another tenant's", () => {
  test.each(rows)('%s %s is answered as one that does not exist', async (method, path, body) => {
    const theirs = await told(method, path, body);
    expect(theirs).toMatchObject({status: 404});
    expect(theirs).toEqual(await told(method, path.replace('/docs', '/none').replace('missing', 'absent'), body));
  });

  test('objects are in no list', async () => {
    expect((await world.ask('/v1/projects', {key: stranger})).body.items.map((p: {name: string}) => p.name)).toEqual([
      'shop',
    ]);
    expect((await world.ask('/v1/keys', {key: stranger})).body.items.map((k: {name: string}) => k.name)).toEqual([
      'ci',
    ]);
  });

  test("objects can't be reached by names that leave the namespace", async () => {
    for (const name of ['..%2Facme%2Fdocs', 'acme%2Fdocs', '..', '%00']) {
      expect((await world.ask(`/v1/projects/${name}`, {key: stranger})).status).toBe(404);
    }
  });
});
