/**
 * Clients that do as they are told, for hours and days of a clock that the test moves: none is refused what it has a right to, banned,
 * or charged for our restarts. Kubernetes is a fake that knows one good token.
 */
import {describe, expect, test} from '@jest/globals';
import type {FastifyReply, FastifyRequest} from 'fastify';
import type {ApiKey} from '../../../../operator/api/foreign.ts';
import {makeToken} from '../../../../operator/domain/api-key.ts';
import {Gate} from '../../../../operator/http/gate/gate.ts';
import {Problem} from '../../../../operator/http/problems.ts';
import {ServiceAccounts} from '../../../../operator/http/gate/service-accounts.ts';
import type {Client} from '../../../../operator/kube/client/client.ts';
import {Bans} from '../../../../operator/limits/bans.ts';
import {TrustedClock} from '../../../../operator/limits/clock.ts';
import {Limiter} from '../../../../operator/limits/limiter.ts';
import {MemoryStore} from '../../../../operator/limits/store.ts';
import {VirtualTime} from '../../../support/limits-time.ts';
import {apiKeyOf, planOf} from '../../../support/plans-and-keys.ts';

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const dayMs = 24 * 60 * minuteMs;
const office = '203.0.113.7';

const plan = planOf('free', {requestsPerMinute: 60, requestsPerDay: 1000});

/** A token of a ServiceAccount; the API server knows `good` ones. */
const jwt = (name: string, exp: number, account = name): string =>
  ['eyJh', Buffer.from(JSON.stringify({aud: ['doorplate'], sub: account, exp})).toString('base64url'), name].join('.');

interface Told {
  status: number;
  retryAfterSeconds: number | undefined;
  /** X-RateLimit-Reset. */
  resetSeconds: number | undefined;
  body: Record<string, unknown>;
}

class World {
  readonly time = new VirtualTime();
  readonly clock = new TrustedClock(this.time);
  readonly store = new MemoryStore();
  readonly token = makeToken({namespace: 'acme', name: 'ci'});
  readonly other = makeToken({namespace: 'acme', name: 'other'});
  /** Questions to the API server. */
  reviews = 0;
  sessionLooks = 0;
  limiter!: Limiter;
  gate!: Gate;
  readonly #keys: Record<string, ApiKey>;

  constructor() {
    this.#keys = {
      'acme/ci': apiKeyOf('acme', 'ci', this.token),
      'acme/other': apiKeyOf('acme', 'other', this.other),
    };
    this.start();
  }

  /** The API as after a start of its process. */
  start(): void {
    const {clock, time} = this;
    this.limiter = new Limiter({clock, store: this.store});
    this.gate = new Gate({
      limiter: this.limiter,
      local: new Limiter({clock}),
      bans: new Bans({clock}),
      now: () => time.wall,
      findKey: (name) => this.#keys[name],
      tenantOf: (namespace) => ({account: namespace, namespaceUID: 'u', plan}),
      addressQuota: {requestsPerMinute: 60},
      serviceAccountQuota: {requestsPerMinute: 6000, requestsPerDay: 1_000_000},
      used: () => {},
      refused: () => {},
      letThrough: () => {},
      sessions: {
        wasGood: () => false,
        find: async () => {
          this.sessionLooks++;
          return {problem: 'session-ended', detail: 'over'};
        },
      },
      serviceAccounts: new ServiceAccounts({
        client: {create: async (_, review) => this.#review(review)} as Pick<Client, 'create'>,
        audience: 'doorplate',
        now: () => time.wall,
        trustedNow: () => clock.nowMs(),
      }),
    });
  }

  #review<T extends object>(review: T): T {
    this.reviews++;
    const {token} = (review as {spec?: {token?: string}}).spec ?? {};
    const good = token === undefined || token.endsWith('.good');
    const user = {username: 'system:serviceaccount:platform:backend'};
    return {...review, status: {authenticated: good, audiences: ['doorplate'], user, allowed: true}};
  }

  /** An orderly end of the process, and a start. */
  async restart(): Promise<void> {
    await this.limiter.giveBack();
    this.start();
  }

  /** What one request from this address is answered. */
  async ask(
    credentials: {bearer?: string; cookie?: string},
    {config = {scope: 'any'}, address = office}: {config?: object; address?: string} = {},
  ): Promise<Told> {
    const {bearer, cookie} = credentials;
    const headers: Record<string, unknown> = {};
    const request = {
      method: 'GET',
      ip: address,
      headers: {
        'doorplate-namespace': 'acme',
        ...(bearer && {authorization: `Bearer ${bearer}`}),
        ...(cookie && {cookie: `__Host-doorplate=${cookie}`}),
      },
      routeOptions: {config},
    } as unknown as FastifyRequest;
    const reply = {headers: (more: object) => Object.assign(headers, more)} as unknown as FastifyReply;
    const told = (status: number, body: object): Told => {
      const wait = headers['retry-after'];
      return {
        status,
        retryAfterSeconds: wait === undefined ? undefined : Number(wait),
        resetSeconds: Number(headers['x-ratelimit-reset']),
        body: body as Record<string, unknown>,
      };
    };
    try {
      await this.gate.pass(request, reply);
      return told(200, {});
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return told(error.status, error.body);
    }
  }
}

describe('A client that does as it is told', () => {
  test("is a backend that asks every 5 s for a day, while another job of its office has a token that's no good", async () => {
    const world = new World();
    const refused: number[] = [];
    let reviewed = 0;
    for (let ms = 0; ms < dayMs; ms += 5 * secondMs) {
      // Kubernetes renews a projected token each hour, while it is good.
      const hour = Math.floor(world.time.wall / (60 * minuteMs));
      for (let i = 0; i < 10; i++) reviewed += (await world.ask({bearer: jwt('bad', 9e9 + i)})).status === 401 ? 1 : 0;
      const {status} = await world.ask({bearer: jwt('good', (hour + 2) * 3600)});
      if (status !== 200) refused.push(ms);
      world.time.pass(5 * secondMs);
    }
    expect({refused, reviewed}).toEqual({refused: [], reviewed: expect.any(Number)});
    // Of the other job's 172,800 no more than 60 a minute were asked about, beside the good token's every 10 s.
    expect(reviewed).toBeLessThanOrEqual(60 * 24 * 61);
    expect(world.reviews).toBeLessThanOrEqual(60 * 24 * (60 + 2 * 6) + 100);
  });

  test('is a Deployment of 200 Pods that all start at once, each with a token of its own', async () => {
    const world = new World();
    const ends = world.time.wall / 1000 + 3600;
    const answers: Told[] = [];
    for (let pod = 0; pod < 200; pod++) answers.push(await world.ask({bearer: jwt('good', ends + pod, 'backend')}));
    expect(answers.filter(({status}) => status !== 200)).toEqual([]);
  });

  test('waits until X-RateLimit-Reset by a clock that is 15 s ahead, and asks without a pause from then on', async () => {
    const world = new World();
    const minutes = 15;
    const answers = new Map<string, number>();
    for (const end = world.time.wall + minutes * minuteMs; world.time.wall < end; world.time.pass(20)) {
      const {status, resetSeconds, body} = await world.ask({bearer: world.token});
      const told = `${status}, strikes: ${body.strikes ?? 'none'}`;
      answers.set(told, (answers.get(told) ?? 0) + 1);
      if (status === 429) world.time.pass(Math.max(0, resetSeconds! * secondMs - (world.time.wall + 15 * secondMs)));
    }
    expect([...answers.keys()].toSorted()).toEqual(['200, strikes: none', '429, strikes: 0']);
    expect(answers.get('200, strikes: none')).toBeGreaterThanOrEqual(
      (minutes - 1) * plan.spec.rateLimit.requestsPerMinute,
    );
    expect(answers.get('429, strikes: 0')).toBeGreaterThan(1000);
  });

  test('goes on by a good token while another Pod of its ServiceAccount sends one that is not', async () => {
    const world = new World();
    const ends = world.time.wall / 1000 + 3600;
    const good = jwt('good', ends, 'backend');
    const answers: Told[] = [];
    for (let second = 0; second < 100; second++) {
      answers.push(await world.ask({bearer: good}));
      for (let i = 0; i < 10; i++) await world.ask({bearer: jwt('bad', ends + second * 10 + i, 'backend')});
      world.time.pass(secondMs);
    }
    expect(answers.filter(({status}) => status !== 200)).toEqual([]);
  });

  test('signs in while its office sends wrong keys, made-up cookies and tokens', async () => {
    const world = new World();
    for (let i = 0; i < 200; i++) {
      await world.ask({bearer: makeToken({namespace: 'acme', name: 'ci'})});
      await world.ask({cookie: `made-up-${i}`});
      for (let job = 0; job < 4; job++) await world.ask({bearer: jwt(`bad${job}`, 9e9 + i)});
    }
    const wrongly = await Promise.all([
      world.ask({bearer: makeToken({namespace: 'acme', name: 'ci'})}),
      world.ask({cookie: 'made-up'}),
      world.ask({bearer: jwt('bad1', 8e9)}),
    ]);
    expect(wrongly.map(({status}) => status)).toEqual([429, 429, 429]);
    expect(await world.ask({}, {config: {isSignIn: true}})).toMatchObject({status: 200});
    // An hour's guesses make no day's.
    world.time.pass(minuteMs);
    expect(await world.ask({cookie: 'made-up'})).toMatchObject({status: 401});
  });

  test('has what the plan gives in a day in which the API is restarted 25 times', async () => {
    const world = new World();
    let admitted = 0;
    for (let restart = 0; restart < 25; restart++) {
      for (let i = 0; i < 39; i++) admitted += (await world.ask({bearer: world.token})).status === 200 ? 1 : 0;
      await world.restart();
      world.time.pass(20 * minuteMs);
    }
    expect(admitted).toBe(975);
    for (let i = 0; i < 25; i++) expect(await world.ask({bearer: world.token})).toMatchObject({status: 200});
    expect(await world.ask({bearer: world.token})).toMatchObject({status: 429});
  });

  test('is a fleet of 50 workers that share a key for two days, with 15 new jobs a minute', async () => {
    const world = new World();
    const {time} = world;
    const mayAsk = Array.from({length: 50}, () => time.wall);
    const told = new Map<string, number>();
    const statuses = new Map<number, number>();
    const note = ({status, body}: Told): void => {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      const type = String(body.type);
      told.set(type, (told.get(type) ?? 0) + 1);
    };
    for (const end = time.wall + 2 * dayMs; time.wall < end;) {
      for (let job = 0; job < 15; job++) note(await world.ask({bearer: world.token}));
      for (const [i, from] of mayAsk.entries()) {
        if (time.wall < from) continue;
        const answer = await world.ask({bearer: world.token});
        note(answer);
        mayAsk[i] = time.wall + (answer.retryAfterSeconds ?? 1) * secondMs;
      }
      time.pass(minuteMs);
    }
    // Three days' quota, of the day before, the one between and the one after.
    expect(statuses.get(200)).toBe(3000);
    expect([...told.keys()].filter((type) => type.endsWith('/key-banned'))).toEqual([]);
  });
});

describe('A client that does not', () => {
  test('is told of its strikes, and banned in its own network alone', async () => {
    const world = new World();
    const seen: unknown[] = [];
    let banned: Told | undefined;
    for (let i = 0; i < 10_000 && !banned; i++) {
      const answer = await world.ask({bearer: world.token});
      if (answer.status === 429 && seen.at(-1) !== answer.body.strikes) seen.push(answer.body.strikes);
      if (String(answer.body.type).endsWith('/key-banned')) banned = answer;
      world.time.pass(100);
    }
    expect(seen).toEqual([0, 1, 2, 3, undefined]);
    expect(banned!.retryAfterSeconds).toBe(15 * 60);
    const elsewhere = await world.ask({bearer: world.token}, {address: '198.51.100.1'});
    expect(String(elsewhere.body.type ?? 200)).not.toMatch(/key-banned$/);
  });

  test('is let in with the quota of the next day, where it went on against that of this one', async () => {
    const world = new World();
    const {time} = world;
    // The day's thousand, an hour before midnight.
    time.pass(11 * 60 * minuteMs);
    for (let i = 0; i < 17; i++) {
      for (let n = 0; n < 60; n++) await world.ask({bearer: world.token});
      time.pass(minuteMs);
    }
    const midnight = Date.UTC(2026, 10, 23);
    while (time.wall < midnight - 500) {
      await world.ask({bearer: world.token});
      time.pass(250);
    }
    time.pass(62 * secondMs);
    expect(await world.ask({bearer: world.token})).toMatchObject({status: 200});
  });

  test('makes the API server no busier by made-up tokens than a network may', async () => {
    const world = new World();
    const statuses: number[] = [];
    for (let i = 0; i < 1000; i++) statuses.push((await world.ask({bearer: jwt('bad', 9e9, `made-up-${i}`)})).status);
    expect({reviews: world.reviews, refused: statuses.filter((s) => s === 429).length}).toEqual({
      reviews: 600,
      refused: 400,
    });
  });

  test('is one network of an IPv6 site that has thousands', async () => {
    const world = new World();
    let asked = 0;
    for (let i = 0; i < 2000; i++) {
      const address = `2001:db8:1:${i.toString(16)}::1`;
      if ((await world.ask({bearer: 'dp_none'}, {address})).status === 401) asked++;
    }
    expect(asked).toBe(600);
  });

  test('sends made-up cookies: no more than its quota of them reach the store', async () => {
    const world = new World();
    for (let i = 0; i < 1000; i++) await world.ask({cookie: `made-up-${i}`});
    expect(world.sessionLooks).toBe(60);
  });

  test('has one small quota beside the plan for all keys of its account', async () => {
    const world = new World();
    const config = {scope: 'any', ownQuota: true};
    let admitted = 0;
    for (let i = 0; i < 50; i++)
      for (const bearer of [world.token, world.other])
        admitted += (await world.ask({bearer}, {config})).status === 200 ? 1 : 0;
    expect(admitted).toBe(60);
  });
});
