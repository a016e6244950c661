/** Links and sessions by themselves: when they end. */
import {describe, expect, test} from '@jest/globals';
import {linkSeconds, Sessions} from '../../../operator/http/session/sessions.ts';
import {type NotRecognised, sessionEnded} from '../../../operator/http/gate/auth.ts';
import type {SessionGrant, Session} from '../../../operator/http/session/sessions.ts';
import {readCookie} from '../../../operator/http/session/cookie.ts';
import {HeldRecords} from '../../../operator/limits/records.ts';
import type {StoredRecord} from '../../../operator/limits/backend.ts';
import {settled} from '../../support/kube-clock.ts';

const sessionSeconds = 8 * 3600;
const grant: SessionGrant = {namespace: 'acme', namespaceUID: 'first', scopes: ['domains:read']};

function make() {
  const clock = {ms: Date.parse('2026-11-22T12:00:00Z'), nowMs: () => clock.ms};
  /** What the next process reads. */
  const written = new Map<string, StoredRecord>();
  const world = {
    uid: 'first' as string | undefined,
    broken: false,
    /** What a write waits for. */
    stalled: undefined as Promise<void> | undefined,
    ended: undefined as NotRecognised | undefined,
  };
  const ended: string[] = [];
  const records = new HeldRecords({
    clock,
    write: async (changes) => {
      await world.stalled;
      if (world.broken) throw new Error('the disk is full');
      for (const change of changes) {
        if ('put' in change) written.set(change.put.name, change.put);
        else written.delete(change.remove);
      }
    },
  });
  records.load([]);
  const sessions = new Sessions({
    records,
    now: clock.nowMs,
    keyEnded: () => world.ended,
    namespaceUID: () => world.uid,
    onEnd: (id) => ended.push(id),
    sessionSeconds,
  });
  return {sessions, clock, world, written, records, ended};
}

describe('A link', () => {
  test('is good until its five minutes are over, and not after', async () => {
    const {sessions, clock} = make();
    const [inTime, late] = [await sessions.makeLink(grant), await sessions.makeLink(grant)];
    clock.ms += linkSeconds * 1000 - 1;
    expect((await sessions.open(inTime.token)).session).toMatchObject(grant);
    clock.ms += 1;
    await expect(sessions.open(late.token)).rejects.toMatchObject({type: 'link-used'});
  });

  test('for which the store is too slow is used up by nobody: it can be followed again', async () => {
    const {sessions, world} = make();
    const {token} = await sessions.makeLink(grant);
    const {promise, resolve} = Promise.withResolvers<void>();
    world.stalled = promise;
    await expect(sessions.open(token)).rejects.toMatchObject({type: 'unavailable'});
    world.stalled = undefined;
    resolve();
    let session: Session | undefined;
    for (let turn = 0; turn < 50 && !session; turn++) {
      await settled();
      session = (await sessions.open(token).catch(() => undefined))?.session;
    }
    expect(session).toMatchObject(grant);
    await expect(sessions.open(token)).rejects.toMatchObject({type: 'link-used'});
  });

  test('is no session, and a session’s cookie no link', async () => {
    const {sessions} = make();
    const {token} = await sessions.makeLink(grant);
    expect(await sessions.find(token)).toMatchObject({problem: 'session-ended'});
    const session = await sessions.start(grant);
    await expect(sessions.open(session.token)).rejects.toMatchObject({type: 'link-used'});
  });
});

const banned = sessionEnded('KeyBanned', 'banned');

describe('A session', () => {
  test('ends after its lifetime', async () => {
    const {sessions, clock} = make();
    const {token} = await sessions.start(grant);
    clock.ms += sessionSeconds * 1000 - 1000;
    expect(await sessions.find(token)).toMatchObject(grant);
    clock.ms += 1000;
    expect(await sessions.find(token)).toMatchObject({problem: 'session-ended', cause: 'Expired'});
  });

  test('that was ended early reports how, also in the next process', async () => {
    const {sessions, written} = make();
    const [out, byId, byUser] = await Promise.all([1, 2, 3].map(() => sessions.start({...grant, subject: 'ann'})));
    await sessions.end(out!.token);
    await sessions.endById('first', byId!.session.id);
    await sessions.endAll('first', 'ann');
    const next = make();
    next.records.load([...written.values()]);
    for (const process of [sessions, next.sessions])
      expect(await Promise.all([out, byId, byUser].map((each) => process.find(each!.token)))).toMatchObject([
        {problem: 'session-ended', cause: 'SignedOut'},
        {problem: 'session-ended', cause: 'Ended'},
        {problem: 'session-ended', cause: 'Ended'},
      ]);
  });

  test('of a cookie that is not a token has expired, without a request to the store', async () => {
    const {sessions, records} = make();
    records.get = () => Promise.reject(new Error('asked'));
    expect(await sessions.find('not-a-token')).toMatchObject({problem: 'session-ended', cause: 'Expired'});
  });

  test('whose cause of its end cannot be written has ended', async () => {
    const {sessions, world, records} = make();
    const {token} = await sessions.start(grant);
    const put = records.put.bind(records);
    records.put = async (...record) => {
      world.broken = true;
      await put(...record);
    };
    expect(await sessions.end(token)).toMatchObject(grant);
    expect(await sessions.find(token)).toMatchObject({problem: 'session-ended', cause: 'Expired'});
  });

  test.each([
    ['is gone', undefined],
    ['was made anew', 'second'],
  ])('ends when its namespace %s: what comes after it inherits nothing', async (_, uid) => {
    const {sessions, world} = make();
    const [{token}, link] = [await sessions.start(grant), await sessions.makeLink(grant)];
    world.uid = uid;
    expect(await sessions.find(token)).toMatchObject({problem: 'session-ended'});
    await expect(sessions.open(link.token)).rejects.toMatchObject({type: 'session-ended'});
  });

  test('of a key goes on when the key is good again: a ban ends', async () => {
    const {sessions, world} = make();
    const {token} = await sessions.start({...grant, key: {name: 'ci', uid: 'u', hash: 'h', network: '192.0.2.1'}});
    world.ended = banned;
    expect(await sessions.find(token)).toEqual(banned);
    world.ended = undefined;
    expect(await sessions.find(token)).toMatchObject(grant);
  });

  test('is written as its hash', async () => {
    const {sessions, written} = make();
    const {token} = await sessions.start(grant);
    expect(written.size).toBe(1);
    expect(JSON.stringify([...written])).not.toContain(token);
    expect([...written.keys()][0]).toMatch(/^session:[0-9a-f]{64}$/);
  });

  test('whose end cannot be written goes on, and is over for the next process too once it is ended again', async () => {
    const {sessions, world, written} = make();
    const {token} = await sessions.start(grant);
    world.broken = true;
    await expect(sessions.end(token)).rejects.toMatchObject({type: 'unavailable'});
    expect(await sessions.find(token)).toMatchObject(grant);
    world.broken = false;
    await sessions.end(token);
    expect(await sessions.find(token)).toMatchObject({problem: 'session-ended'});
    expect([...written.keys()].filter((name) => !name.startsWith('ended:'))).toEqual([]);
  });

  test.each([
    ['is over for all who ask meanwhile when it is written', false],
    ['is over for nobody who asks meanwhile when it cannot be written', true],
  ])('whose end takes long %s', async (_, broken) => {
    const {sessions, world} = make();
    const {token} = await sessions.start(grant);
    const {promise, resolve} = Promise.withResolvers<void>();
    world.stalled = promise;
    const asked = Promise.allSettled([sessions.end(token), sessions.end(token), sessions.find(token)]);
    world.broken = broken;
    resolve();
    const unavailable = {status: 'rejected', reason: {type: 'unavailable'}};
    const ended = {status: 'fulfilled', value: undefined};
    expect(await asked).toMatchObject(
      broken
        ? [unavailable, unavailable, unavailable]
        : [{...ended, value: grant}, ended, {...ended, value: {problem: 'session-ended'}}],
    );
    world.broken = false;
    expect('problem' in (await sessions.find(token))).toBe(!broken);
  });

  test('is listed in its namespace until it ends, also by the next process', async () => {
    const {sessions, clock, written} = make();
    const {session} = await sessions.start({...grant, subject: 'ann', madeBy: 'ApiKey ci'});
    await sessions.start({...grant, namespaceUID: 'second'});
    expect(await sessions.list('first')).toEqual([session]);
    const next = make();
    next.records.load([...written.values()]);
    expect(await next.sessions.list('first')).toEqual([session]);
    clock.ms += sessionSeconds * 1000;
    expect(await sessions.list('first')).toEqual([]);
  });

  test('of a banned key is ended with its user, and does not come back when the ban ends', async () => {
    const {sessions, world} = make();
    const key = {name: 'ci', uid: 'u', hash: 'h', network: '192.0.2.1'};
    const {token} = await sessions.start({...grant, subject: 'ann', key});
    world.ended = banned;
    expect([await sessions.list('first'), await sessions.endAll('first', 'ann')]).toEqual([
      [],
      [expect.objectContaining({subject: 'ann'})],
    ]);
    world.ended = undefined;
    expect(await sessions.find(token)).toMatchObject({problem: 'session-ended'});
  });

  test('is ended by its id in its own namespace only', async () => {
    const {sessions, ended} = make();
    const {token, session} = await sessions.start(grant);
    expect([await sessions.endById('second', session.id), 'problem' in (await sessions.find(token))]).toEqual([
      undefined,
      false,
    ]);
    expect([await sessions.endById('first', session.id), 'problem' in (await sessions.find(token))]).toEqual([
      expect.objectContaining({namespace: grant.namespace}),
      true,
    ]);
    expect(ended).toEqual([session.id]);
  });

  test('that cannot be written is not begun, and one that cannot be asked for has not ended', async () => {
    const {sessions, world, clock} = make();
    world.broken = true;
    await expect(sessions.start(grant)).rejects.toMatchObject({type: 'unavailable'});
    const unread = new Sessions({
      records: new HeldRecords({clock, write: async () => {}}),
      now: clock.nowMs,
      keyEnded: () => undefined,
      namespaceUID: () => 'first',
      onEnd: () => {},
      sessionSeconds,
    });
    await expect(unread.find('A'.repeat(43))).rejects.toMatchObject({type: 'unavailable'});
    const silent = new Sessions({
      records: {
        get: () => new Promise(() => {}),
        put: () => new Promise(() => {}),
        claim: () => new Promise(() => {}),
        take: () => new Promise(() => {}),
        list: () => new Promise(() => {}),
      },
      now: clock.nowMs,
      keyEnded: () => undefined,
      namespaceUID: () => 'first',
      onEnd: () => {},
      sessionSeconds,
    });
    await expect(silent.find('A'.repeat(43))).rejects.toMatchObject({type: 'unavailable'});
  });
});

test('Of several that take one record at the same time one gets it', async () => {
  const {records} = make();
  await records.put({name: 'a', text: 'of a', endsSeconds: Date.parse('2026-11-23T00:00:00Z') / 1000});
  const taken = await Promise.all([1, 2, 3].map(() => records.take('a')));
  expect(taken.filter((text) => text !== undefined)).toEqual(['of a']);
});

test('Records of a kind are bounded: what is oldest goes first, and nothing of another kind', async () => {
  const clock = {ms: 0, nowMs: () => clock.ms};
  const records = new HeldRecords({clock, mostBytes: 1100});
  await records.put({name: 'kind:ends', text: '1', endsSeconds: 1});
  await records.put({name: 'kind:old', text: '2', endsSeconds: 100});
  clock.ms = 2000;
  await records.put({name: 'kind:new', text: '3', endsSeconds: 100});
  expect(await Promise.all(['kind:ends', 'kind:old', 'kind:new'].map((name) => records.get(name)))).toEqual([
    undefined,
    '2',
    '3',
  ]);
  await records.put({name: 'kind:newest', text: '4', endsSeconds: 100});
  expect(await Promise.all(['kind:old', 'kind:new', 'kind:newest'].map((name) => records.get(name)))).toEqual([
    undefined,
    '3',
    '4',
  ]);
  await records.put({name: 'other:one', text: '5', endsSeconds: 100});
  expect(await Promise.all(['kind:new', 'kind:newest'].map((name) => records.get(name)))).toEqual(['3', '4']);
});

test.each([
  ['__Host-doorplate=abc', 'abc'],
  ['a=b; __Host-doorplate=abc; c=d', 'abc'],
  ['doorplate=abc', undefined],
  ['x__Host-doorplate=abc', undefined],
  ['', undefined],
])('The cookie of %j is %j', (header, value) => {
  expect(readCookie(header)).toBe(value);
});
