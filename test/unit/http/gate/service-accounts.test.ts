/** What is remembered of an API server's reviews. The API server is a fake here: it counts, and can be silent. */
import {beforeEach, describe, expect, test} from '@jest/globals';
import {ServiceAccounts} from '../../../../operator/http/gate/service-accounts.ts';
import type {Client} from '../../../../operator/kube/client/client.ts';
import {NoAnswerError} from '../../../../operator/kube/errors.ts';

const start = Date.parse('2026-11-22T12:00:00Z');
const user = {
  username: 'system:serviceaccount:platform:backend',
  uid: 'u',
  groups: ['system:serviceaccounts'],
  extra: {a: ['b']},
};
const right = {verb: 'get', resource: 'customdomains'} as const;

const tokenWith = (claims: object): string =>
  [
    'eyJh',
    Buffer.from(JSON.stringify({aud: ['doorplate'], exp: start / 1000 + 3600, ...claims})).toString('base64url'),
    'c2ln',
  ].join('.');

let now = start;
/** How far the system's clock is ahead of the one that nobody sets. */
let offsetMs = 0;
let asked: object[] = [];
let status: object | 'silent' = {};
const client: Pick<Client, 'create'> = {
  async create(_, review, {signal} = {}) {
    asked.push((review as object as {spec: object}).spec);
    if (status === 'silent')
      await new Promise((_resolve, reject) => {
        signal!.addEventListener('abort', () => reject(signal!.reason as Error));
      });
    return {...review, status};
  },
};
let accounts: ServiceAccounts;
beforeEach(() => {
  [now, offsetMs, asked] = [start, 0, []];
  status = {authenticated: true, audiences: ['doorplate'], user, allowed: true};
  accounts = new ServiceAccounts({
    client,
    audience: 'doorplate',
    now: () => now + offsetMs,
    trustedNow: () => now,
    answerWithinMs: 50,
  });
});

/** Whether the token is good, as a request of now finds out. */
async function good(token: string): Promise<boolean> {
  const remembered = accounts.remembered(token);
  return (remembered === undefined ? await accounts.recognise(token) : remembered) !== null;
}

/** How long an answer is believed, in ms, to the second. */
async function believedMs(ask: () => Promise<unknown>): Promise<number> {
  await ask();
  const before = asked.length;
  while (asked.length === before && now < start + 60_000) {
    now += 1000;
    await ask();
  }
  return now - start;
}

describe('What the API server says', () => {
  test('of a token is believed for 10 s, of a bad one for 2 s, and never longer than the token lives', async () => {
    expect(await believedMs(() => good(tokenWith({})))).toBe(10_000);
    now = start;
    expect(await believedMs(() => good(tokenWith({exp: start / 1000 + 4})))).toBe(4000);
    now = start;
    status = {authenticated: false};
    expect(await believedMs(() => good(tokenWith({jti: 'bad'})))).toBe(2000);
  });

  test('of a token is believed for as long after the system’s clock was set: the token’s end is by that clock, the 10 s are not', async () => {
    offsetMs = -2 * 3_600_000;
    const token = tokenWith({exp: (start + offsetMs) / 1000 + 3600});
    expect(await believedMs(() => good(token))).toBe(10_000);
    [now, offsetMs] = [start, 0];
    await good(tokenWith({}));
    const before = asked.length;
    [now, offsetMs] = [start + 10_000, -3_600_000];
    await good(tokenWith({}));
    expect(asked.length - before).toBe(1);
  });

  test('of a right is believed for 10 s, and of a missing one for 2 s', async () => {
    expect(await believedMs(() => accounts.may(user, right, 'acme'))).toBe(10_000);
    now = start;
    status = {allowed: false};
    expect(await believedMs(() => accounts.may(user, right, 'other'))).toBe(2000);
  });

  test('is asked once by many requests at the same time, for each namespace and verb of its own', async () => {
    await Promise.all(Array.from({length: 20}, () => accounts.recognise(tokenWith({}))));
    await Promise.all(Array.from({length: 20}, () => accounts.may(user, right, 'acme')));
    await accounts.may(user, right, 'other');
    await accounts.may(user, {...right, verb: 'delete'}, 'acme');
    expect(asked).toEqual([
      {token: tokenWith({}), audiences: ['doorplate']},
      ...[
        ['acme', 'get'],
        ['other', 'get'],
        ['acme', 'delete'],
      ].map(([namespace, verb]) => ({
        user: user.username,
        uid: 'u',
        groups: user.groups,
        extra: user.extra,
        resourceAttributes: {namespace, verb, group: 'doorplate.dev', resource: 'customdomains'},
      })),
    ]);
  });

  test.each<[string, object]>([
    ['no audience: an API server that knows none', {authenticated: true, user}],
    ['another audience', {authenticated: true, audiences: ['other'], user}],
    ['a user who is no ServiceAccount', {authenticated: true, audiences: ['doorplate'], user: {username: 'jane'}}],
    ['nothing', {}],
  ])('with %s lets nobody in', async (_, said) => {
    status = said;
    expect(await good(tokenWith({}))).toBe(false);
  });

  test('is not asked for a token that says itself that it is for somebody else', async () => {
    for (const token of [tokenWith({aud: ['other']}), tokenWith({aud: 7}), 'eyJh.bm8.c2ln', 'eyJh'])
      expect(await good(token)).toBe(false);
    expect(asked).toEqual([]);
  });

  test('is no answer where it says nothing in time, and is asked again', async () => {
    status = 'silent';
    await expect(accounts.recognise(tokenWith({}))).rejects.toBeInstanceOf(NoAnswerError);
    await expect(accounts.may(user, right, 'acme')).rejects.toBeInstanceOf(NoAnswerError);
    status = {authenticated: true, audiences: ['doorplate'], user, allowed: true};
    expect([await good(tokenWith({})), await accounts.may(user, right, 'acme')]).toEqual([true, true]);
  });
});
