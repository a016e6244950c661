/** What a session of the page costs whom, by a clock that the test moves. Sessions are a table here. */
import {describe, expect, test} from '@jest/globals';
import type {FastifyReply, FastifyRequest} from 'fastify';
import type {ApiKey} from '../../../operator/api/foreign.ts';
import {makeToken} from '../../../operator/domain/api-key.ts';
import {Gate, type GateDeps} from '../../../operator/http/gate/gate.ts';
import {Problem} from '../../../operator/http/problems.ts';
import type {Session} from '../../../operator/http/session/sessions.ts';
import {Bans} from '../../../operator/limits/bans.ts';
import {Limiter} from '../../../operator/limits/limiter.ts';
import {MemoryStore} from '../../../operator/limits/store.ts';
import {apiKeyOf, planOf} from '../../support/plans-and-keys.ts';

const minuteMs = 60_000;
const page = {requestsPerMinute: 60, requestsPerDay: 500};

const plan = planOf('free', {requestsPerMinute: 60, requestsPerDay: 1000});

interface Told {
  status: number;
  problem: string | undefined;
  headers: Record<string, string | number>;
}

interface Asked {
  method?: string;
  headers?: Record<string, string>;
  config?: object;
  address?: string;
}

const host = 'domains.example.com';
const own = {origin: `https://${host}`, 'sec-fetch-site': 'same-origin'};

class World {
  nowMs = Date.parse('2026-11-22T12:00:00Z');
  readonly token = makeToken({namespace: 'acme', name: 'ci'});
  readonly key = apiKeyOf('acme', 'ci', this.token, {scopes: ['domains:read', 'domains:write', 'keys:write']});
  /** Of a key in a namespace without an Account. */
  readonly lonely = makeToken({namespace: 'lonely', name: 'ci'});
  readonly store = new MemoryStore();
  readonly sessions = new Map<string, Session>();
  readonly #keys = new Map<string, ApiKey>([
    ['acme/ci', this.key],
    ['lonely/ci', apiKeyOf('lonely', 'ci', this.lonely, {scopes: this.key.spec.scopes})],
  ]);
  readonly gate = this.replica();

  /** A process of the API; all share what is counted in the store. */
  replica(more: Partial<GateDeps> = {}): Gate {
    const clock = {nowMs: () => this.nowMs};
    return new Gate({
      limiter: new Limiter({clock, store: this.store}),
      local: new Limiter({clock}),
      bans: new Bans({clock}),
      now: clock.nowMs,
      findKey: (name) => this.#keys.get(name),
      tenantOf: (namespace) => ({
        ...(namespace !== 'lonely' && {account: namespace.replace(/-.*/, '')}),
        namespaceUID: namespace,
        plan,
      }),
      addressQuota: {requestsPerMinute: 60},
      serviceAccountQuota: {requestsPerMinute: 6000},
      used: () => {},
      refused: () => {},
      letThrough: () => {},
      sessions: {
        wasGood: (token) => this.sessions.has(token),
        find: async (token) => this.sessions.get(token) ?? {problem: 'session-ended', detail: 'over'},
      },
      pageOrigin: `https://${host}`,
      serviceAccounts: {
        audience: 'doorplate',
        remembered: () => null,
        wasGood: () => false,
        may: async () => false,
        recognise: async () => null,
      },
      ...more,
    });
  }

  session(cookie: string, more: Partial<Session> = {}): string {
    this.sessions.set(cookie, {
      id: cookie,
      namespace: 'acme',
      namespaceUID: 'acme',
      scopes: this.key.spec.scopes,
      endsSeconds: this.nowMs / 1000 + 3600,
      ...more,
    });
    return `__Host-doorplate=${cookie}`;
  }

  async ask(
    {method = 'GET', headers = {}, config = {scope: 'any'}, address = '203.0.113.7'}: Asked,
    gate = this.gate,
  ): Promise<Told> {
    const told: Told = {status: 200, problem: undefined, headers: {}};
    const request = {method, ip: address, headers, host, protocol: 'https', routeOptions: {config}};
    const reply = {headers: (more: object) => Object.assign(told.headers, more)};
    try {
      await gate.pass(request as unknown as FastifyRequest, reply as unknown as FastifyReply);
      return told;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return {...told, status: error.status, problem: error.type};
    }
  }

  /** How many of so many requests are admitted. */
  async admitted(count: number, asked: Asked, gate = this.gate): Promise<number> {
    let admitted = 0;
    for (let i = 0; i < count; i++) if ((await this.ask(asked, gate)).status === 200) admitted++;
    return admitted;
  }
}

describe('A session of the page', () => {
  test('has a small pool that all sessions of its account share, on all replicas; beyond it the plan pays, and the headers show which', async () => {
    const world = new World();
    const one = {headers: {...own, cookie: world.session('one')}};
    const two = {headers: {...own, cookie: world.session('two', {namespace: 'acme-two', namespaceUID: 'acme-two'})}};
    expect((await world.ask(one)).headers).toMatchObject({
      'x-ratelimit-limit': page.requestsPerMinute,
      'ratelimit-policy': '"page-minute";q=60;w=60, "page-day";q=500;w=86400',
    });
    expect((await world.admitted(30, two)) + (await world.admitted(29, one))).toBe(59);
    expect((await world.ask(two)).headers).toMatchObject({
      'x-ratelimit-limit': 60,
      'x-ratelimit-remaining': 59,
      'ratelimit-policy': '"plan-minute";q=60;w=60, "plan-day";q=1000;w=86400',
    });
    const byKey = {headers: {authorization: `Bearer ${world.token}`}};
    expect((await world.admitted(20, byKey)) + (await world.admitted(100, one))).toBe(59);
    expect(await world.ask(byKey)).toMatchObject({status: 429, problem: 'rate-limited'});
    expect(await world.admitted(10, two, world.replica())).toBe(0);
  });

  test('gains its account no more in a day than the pool of the page, however many sessions send as fast as they can', async () => {
    const world = new World();
    let admitted = 0;
    for (let minute = 0; minute < 11 * 60; minute++) {
      const asked = {headers: {...own, cookie: world.session(`s${minute}`)}};
      admitted += await world.admitted(minute < 60 ? 130 : 2, asked);
      world.nowMs += minuteMs;
    }
    expect(admitted).toBe(page.requestsPerDay + plan.spec.rateLimit.requestsPerDay);
  });

  test('that is refused is told to wait for the pool that has room first, and finds it', async () => {
    const world = new World();
    const asked = {headers: {...own, cookie: world.session('one', {namespace: 'globex', namespaceUID: 'globex'})}};
    await world.admitted(130, asked);
    const refused = await world.ask(asked);
    const wait = Number(refused.headers['retry-after']);
    expect(wait).toBeLessThanOrEqual(60);
    world.nowMs += (wait - 1) * 1000;
    expect((await world.ask(asked)).status).toBe(429);
    world.nowMs += 1000;
    expect((await world.ask(asked)).status).toBe(200);
  });

  test('removes a hostname and revokes a key when all of its account is used up, with a scope for it and not without', async () => {
    const world = new World();
    const headers = {...own, cookie: world.session('one')};
    const reader = {...own, cookie: world.session('reader', {scopes: ['domains:read']})};
    await world.admitted(200, {headers});
    await world.admitted(100, {
      headers: {authorization: `Bearer ${world.token}`},
      config: {scope: 'any', ownQuota: true},
    });
    const removal = {method: 'DELETE', config: {scope: 'domains:write'}};
    expect(await world.admitted(100, {...removal, headers: reader})).toBe(0);
    expect(await world.ask({...removal, headers})).toMatchObject({
      status: 200,
      headers: {'ratelimit-policy': '"removal-minute";q=60;w=60'},
    });
    expect((await world.ask({method: 'DELETE', headers})).status).toBe(200);
    expect((await world.ask({method: 'POST', config: {scope: 'domains:write'}, headers})).status).toBe(429);
  });

  test('has no more than the key that it was opened by, and none of what that has used already', async () => {
    const world = new World();
    world.key.spec.rateLimit = {requestsPerMinute: 5, requestsPerDay: 8};
    const key = {name: 'ci', uid: 'acme-ci', hash: 'x', network: '203.0.113.7'};
    const asked = {headers: {...own, cookie: world.session('one', {key})}};
    expect(await world.admitted(2, {headers: {authorization: `Bearer ${world.token}`}})).toBe(2);
    expect(await world.admitted(10, asked)).toBe(3);
    world.nowMs += minuteMs;
    expect(await world.admitted(10, asked)).toBe(3);
    expect(await world.admitted(10, {headers: {...own, cookie: world.session('linked')}})).toBe(10);
  });
});

test('Signing out works while a program of the same office signs in over and over', async () => {
  const world = new World();
  const sent = {headers: own, config: {isSignIn: true}};
  expect(await world.admitted(100, {...sent, method: 'POST'})).toBe(60);
  expect((await world.ask({...sent, method: 'DELETE'})).status).toBe(200);
});

describe('A request with the cookie that the page has not sent', () => {
  test.each([
    ['GET', {'sec-fetch-site': 'cross-site'}],
    ['HEAD', {'sec-fetch-site': 'same-site'}],
    ['GET', {'sec-fetch-site': 'none'}],
    ['GET', {origin: 'https://evil.example'}],
    ['POST', {origin: 'https://evil.example'}],
    ['POST', {}],
    ['DELETE', {'sec-fetch-site': 'same-origin'}],
  ])('(%s, %j) is refused, and costs its address alone', async (method, sent) => {
    const world = new World();
    const cookie = world.session('one');
    const told = await world.ask({method, headers: {...sent, cookie}});
    expect(told).toMatchObject({
      status: 403,
      problem: 'cross-site',
      headers: {'ratelimit-policy': '"cross-site-minute";q=60;w=60'},
    });
    expect(await world.admitted(100, {method, headers: {...sent, cookie}})).toBe(0);
    expect(await world.ask({method, headers: {...sent, cookie}})).toMatchObject({status: 429});
    // The page has used none of its quota, and a person at that address may sign in.
    expect((await world.ask({headers: {...own, cookie}})).headers['x-ratelimit-remaining']).toBe(59);
    expect((await world.ask({method: 'POST', headers: own, config: {isSignIn: true}})).status).toBe(200);
  });

  test('is refused where it would sign in or out, and keeps nobody at its address from that', async () => {
    const world = new World();
    const evil = {method: 'POST', headers: {origin: 'https://evil.example'}, config: {isSignIn: true}};
    expect(await world.ask(evil)).toMatchObject({status: 403, problem: 'cross-site'});
    await world.admitted(100, evil);
    expect((await world.ask({...evil, headers: own})).status).toBe(200);
  });

  test.each([{'sec-fetch-site': 'cross-site'}, {'sec-fetch-site': 'none'}])(
    'gets the document of the page, and what needs nobody signed in (%j)',
    async (sent) => {
      const world = new World();
      const headers = {...sent, cookie: world.session('one')};
      expect((await world.ask({headers, config: {isFile: true}})).status).toBe(200);
      expect((await world.ask({headers, config: {}})).status).toBe(200);
      expect((await world.ask({headers: {...own, cookie: headers.cookie}})).headers['x-ratelimit-remaining']).toBe(59);
    },
  );

  test('and that an older browser has: without Sec-Fetch-Site a GET is served', async () => {
    const world = new World();
    expect((await world.ask({headers: {cookie: world.session('one')}})).status).toBe(200);
  });
});

/** Knows every token as one of a ServiceAccount in that namespace, which may do all. */
const accounts = (namespace: string) => ({
  audience: 'doorplate',
  remembered: () => ({username: `system:serviceaccount:${namespace}:ci`}),
  wasGood: () => true,
  may: async () => true,
  recognise: async () => null,
});

describe('A namespace without an account, where each needs one,', () => {
  test.each(['key', 'session'] as const)(
    'has no request by a %s, and no pool of its own: its address pays',
    async (by) => {
      const one = new World();
      const headers: Record<string, string> =
        by === 'key'
          ? {authorization: `Bearer ${one.lonely}`}
          : {...own, cookie: one.session('lonely', {namespace: 'lonely', namespaceUID: 'lonely'})};
      expect(await one.ask({headers})).toMatchObject({status: 200});
      const strict = one.replica({requireAccount: true});
      expect(await one.ask({headers}, strict)).toMatchObject({status: 403, problem: 'account-missing'});
      expect((await one.ask({headers}, strict)).headers['ratelimit-policy']).toMatch(
        /^"(address|cookie)-minute";q=60;w=60$/,
      );
      await one.admitted(100, {headers}, strict);
      expect((await one.ask({headers}, strict)).status).toBe(429);
      expect((await one.ask({headers: {authorization: `Bearer ${one.token}`}}, strict)).status).toBe(200);
    },
  );

  test("has none at the authorizer, and none by the tenant's own ServiceAccount; the platform's still may", async () => {
    const world = new World();
    const strict = {requireAccount: true};
    await expect(
      world.replica(strict).passKey({authorization: `Bearer ${world.lonely}`, address: '203.0.113.7'}, () => {}),
    ).rejects.toMatchObject({type: 'account-missing', status: 403});
    const headers = {authorization: 'Bearer eyJh.eyJh.good', 'doorplate-namespace': 'lonely'};
    const asked = {headers, config: {scope: 'domains:read'}};
    const byTenant = world.replica({...strict, serviceAccounts: accounts('lonely')});
    const byPlatform = world.replica({...strict, serviceAccounts: accounts('platform')});
    expect(await world.ask(asked, byTenant)).toMatchObject({status: 403, problem: 'account-missing'});
    expect(await world.ask(asked, byPlatform)).toMatchObject({status: 200});
  });
});
