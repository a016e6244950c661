import {describe, expect, test} from '@jest/globals';
import {createHash} from 'node:crypto';
import * as fc from 'fast-check';
import type {ApiKeySpec, ApiKeyStatus} from '../../../operator/api/api-key.ts';
import type {ApiKey} from '../../../operator/api/foreign.ts';
import type {KeyFacts} from '../../../operator/domain/api-key.ts';
import {
  decideApiKey,
  hashToken,
  liveHashes,
  longestToken,
  makeToken,
  nextChange,
  parseToken,
  tokenPattern,
} from '../../../operator/domain/api-key.ts';
import {timestamp} from '../../../operator/domain/times.ts';
import {hours, t0} from '../../support/world.ts';

/** Made once and kept: the format is published and must never change. */
const known = 'dp_acme.ci_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg0fxdJg';
const acmeCi = {namespace: 'acme', name: 'ci'};
const longest = {namespace: 'n'.repeat(63), name: 'k'.repeat(63)};
const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
const keyName = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?)?$/);

describe('A token', () => {
  test('has the published form: the key it is of, 43 characters at random, and 6 that check all before them', () => {
    expect(makeToken(acmeCi)).toMatch(/^dp_acme\.ci_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/);
    expect(parseToken(known)).toEqual(acmeCi);
  });

  test('names one ApiKey, whatever the names of it and of its namespace are', () => {
    fc.assert(
      fc.property(label, keyName, (namespace, name) => {
        const token = makeToken({namespace, name});
        expect([token.length <= longestToken, tokenPattern.test(token), parseToken(token)]).toEqual([
          true,
          true,
          {namespace, name},
        ]);
      }),
    );
    expect([makeToken(longest).length, parseToken(makeToken(longest))]).toEqual([longestToken, longest]);
    expect(parseToken(makeToken({namespace: 'acme', name: 'a.b-c.d'}))).toEqual({namespace: 'acme', name: 'a.b-c.d'});
  });

  test('is another each time, and every character of base62 is as likely as the others', () => {
    const tokens = Array.from({length: 5000}, () => makeToken(acmeCi));
    expect(new Set(tokens).size).toBe(tokens.length);
    const counts = new Map<string, number>();
    for (const t of tokens) for (const c of t.slice(-49, -6)) counts.set(c, (counts.get(c) ?? 0) + 1);
    const mean = (5000 * 43) / 62;
    // Chi-squared with 61 degrees of freedom: over 170 comes up once in 10^11; a byte's remainder by 62 gives some 1,400.
    expect([counts.size, [...counts.values()].reduce((sum, n) => sum + (n - mean) ** 2 / mean, 0) < 170]).toEqual([
      62,
      true,
    ]);
  });

  test.each([
    ['a namespace in capitals', {namespace: 'Acme', name: 'ci'}],
    ['a namespace with a dot', {namespace: 'a.b', name: 'ci_'}],
    ['an empty name', {namespace: 'acme', name: ''}],
    ['a name that is too long', {namespace: 'acme', name: 'a'.repeat(64)}],
    ['a name with an underscore', {namespace: 'acme', name: 'a_b'}],
  ])('is not made for %s', (_, names) => {
    expect(() => makeToken(names)).toThrow(RangeError);
  });

  test('is kept as its SHA-256, all of it', () => {
    expect(hashToken(known)).toBe(createHash('sha256').update(known).digest('hex'));
    expect(hashToken(known)).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('What is no token', () => {
  test('is told by its check: any one character changed, any two swapped', () => {
    const changed = [...known].flatMap((_, i) =>
      ['0', 'a', 'Z', '_', '.', '-'].map((c) => known.slice(0, i) + c + known.slice(i + 1)),
    );
    const swapped = [...known].map((c, i) => known.slice(0, i) + (known[i + 1] ?? '') + c + known.slice(i + 2));
    const wrong = [...changed, ...swapped].filter((text) => text !== known);
    expect(wrong.length).toBeGreaterThan(350);
    expect(wrong.filter((text) => parseToken(text) !== undefined)).toEqual([]);
  });

  test('is told for another ApiKey with the same secret', () => {
    expect(parseToken(known.replace('acme', 'acmf'))).toBeUndefined();
    expect(parseToken(known.replace('ci', 'cj'))).toBeUndefined();
  });

  test.each([
    '',
    'dp_',
    'dp_acme.ci_',
    'Bearer x',
    known.slice(1),
    ` ${known}`,
    `${known} `,
    `${known}\n`,
    `${known}0`,
    known.toUpperCase(),
    known.replace('.', '_'),
    known.replace('acme.', ''),
    known.replace('dp_', 'dp-'),
  ])('is told by its shape: %j', (text) => {
    expect(parseToken(text)).toBeUndefined();
  });

  test('is never an error, whatever it is, however long', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({unit: 'binary'}),
          fc.string({unit: 'binary'}).map((s) => `dp_${s}.${s}_${s}`),
          fc.uint8Array().map((b) => Buffer.from(b).toString('latin1')),
        ),
        (text) => {
          expect(parseToken(text)).toBeUndefined();
        },
      ),
    );
    expect(parseToken(`dp_${'a-'.repeat(1_000_000)}`)).toBeUndefined();
    expect(parseToken(`dp_acme.${'a.'.repeat(1_000_000)}_`)).toBeUndefined();
  });
});

const [newer, older] = ['a'.repeat(64), 'b'.repeat(64)];
const at = (ms: number) => timestamp(t0 + ms);
const apiKey = (change: Partial<ApiKeySpec> = {}, status?: ApiKeyStatus): ApiKey => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'ApiKey',
  metadata: {name: 'ci', namespace: 'acme', generation: 2},
  spec: {hashes: [{sha256: newer}], scopes: ['domains:read'], ...change},
  ...(status && {status}),
});
/** Bans by hash, until so many ms after t0. */
const banned = (bans: Record<string, number>): KeyFacts => ({
  bansOf: (hash) => (hash in bans ? [{network: '192.0.2.1', untilSeconds: (t0 + bans[hash]!) / 1000}] : []),
});
const free = banned({});
const lines = (key: ApiKey, facts: KeyFacts, now = t0) =>
  decideApiKey(key, facts, now).conditions!.map((c) => `${c.type}=${c.status}/${c.reason}`);
const message = (key: ApiKey, facts: KeyFacts, now = t0) => decideApiKey(key, facts, now).conditions![0]!.message;

const usable = ['Ready=True/KeyUsable'];
const expired = ['Ready=False/KeyExpired', 'Stalled=True/KeyExpired'];
const isBanned = ['Ready=False/KeyBanned', 'Stalled=True/KeyBanned'];
const rotated = (olderEnds: number): Partial<ApiKeySpec> => ({
  hashes: [{sha256: newer}, {sha256: older, expireTime: at(olderEnds)}],
});

describe('The status of an ApiKey', () => {
  test.each<[string, string[], Partial<ApiKeySpec>, KeyFacts, string]>([
    ['without an end', usable, {}, free, 'The key is accepted.'],
    ['before its end', usable, {expireTime: at(hours)}, free, `The key is accepted until ${at(hours)}.`],
    [
      'at its end',
      expired,
      {expireTime: at(0)},
      free,
      `The key expired at ${at(0)}: it is refused. Set a later expireTime`,
    ],
    [
      'after its end, written with another zone',
      expired,
      {expireTime: '2000-01-01T00:00:00+02:00'},
      free,
      'The key expired at 1999-12-31T22:00:00Z',
    ],
    [
      'whose only token has ended',
      expired,
      {hashes: [{sha256: newer, expireTime: at(-1000)}]},
      free,
      `The key expired at ${at(-1000)}`,
    ],
    [
      'in a rotation',
      usable,
      rotated(hours),
      free,
      `The key is accepted. Its older token is accepted until ${at(hours)}.`,
    ],
    [
      'in a rotation that outlasts it',
      usable,
      {...rotated(2 * hours), expireTime: at(hours)},
      free,
      `accepted until ${at(hours)}. Its older token is accepted until ${at(hours)}.`,
    ],
    ['after a rotation', usable, rotated(-1000), free, 'The key is accepted.'],
    [
      'that is banned',
      isBanned,
      {},
      banned({[newer]: hours}),
      `The key kept sending requests although all were refused. Banned from 192.0.2.1 until ${at(hours)}. Make the client wait as Retry-After requires.`,
    ],
    ['whose ban is over', usable, {}, banned({[newer]: 0}), 'The key is accepted.'],
    ['whose newer token is banned', isBanned, rotated(hours), banned({[newer]: hours}), 'The newer token kept sending'],
    ['whose older token is banned', isBanned, rotated(hours), banned({[older]: hours}), 'The older token kept sending'],
    [
      'whose tokens are both banned',
      isBanned,
      rotated(hours),
      banned({[newer]: 1000, [older]: hours}),
      `Both tokens of the key kept sending requests although all were refused. Banned from 192.0.2.1 until ${at(hours)}.`,
    ],
    [
      'whose older token was banned before it ended',
      usable,
      rotated(0),
      banned({[older]: hours}),
      'The key is accepted.',
    ],
    ['that is banned and has expired', expired, {expireTime: at(0)}, banned({[newer]: hours}), 'The key expired'],
    ['while another is banned', usable, {}, banned({[older]: hours}), 'The key is accepted.'],
  ])('of one %s is %j', (_, conditions, change, facts, said) => {
    expect(lines(apiKey(change), facts)).toEqual(conditions);
    expect(message(apiKey(change), facts)).toContain(said);
  });

  test('says by which command the platform lifts a ban', () => {
    expect(message(apiKey(), banned({[newer]: hours}))).toContain(
      'kubectl annotate apikey ci -n acme doorplate.dev/lift-ban=$(date -u +%FT%TZ) --overwrite',
    );
  });

  test('has the last use in whole hours, which never goes back', () => {
    const first = decideApiKey(apiKey(), {...free, lastUsedMs: Date.parse('2026-03-08T13:59:59.999Z')}, t0);
    expect(first.lastUsedTime).toBe('2026-03-08T13:00:00Z');
    const of = (lastUsedMs?: number) =>
      decideApiKey(apiKey({}, first), {...free, ...(lastUsedMs !== undefined && {lastUsedMs})}, t0).lastUsedTime;
    expect([of(), of(Date.parse('2026-03-08T12:59:00Z')), of(Date.parse('2026-03-08T14:00:00Z'))]).toEqual([
      '2026-03-08T13:00:00Z',
      '2026-03-08T13:00:00Z',
      '2026-03-08T14:00:00Z',
    ]);
    expect(decideApiKey(apiKey(), free, t0)).not.toHaveProperty('lastUsedTime');
  });

  test('says the same later within the hour, for the generation that it has seen', () => {
    const status = decideApiKey(apiKey(), {...free, lastUsedMs: t0}, t0);
    expect(status).toMatchObject({
      observedGeneration: 2,
      conditions: [{observedGeneration: 2, lastTransitionTime: at(0)}],
    });
    expect(
      decideApiKey(apiKey({}, status), {...free, lastUsedMs: Math.floor(t0 / hours) * hours + hours - 1}, t0 + 1000),
    ).toEqual(status);
  });

  test('remembers which annotation has lifted a ban, also when that is gone', () => {
    const status = decideApiKey(apiKey(), {...free, liftedBan: 'then'}, t0);
    expect(status.lastHandledLiftBan).toBe('then');
    expect(decideApiKey(apiKey({}, status), free, t0).lastHandledLiftBan).toBe('then');
    expect(decideApiKey(apiKey({}, status), {...free, liftedBan: 'now'}, t0).lastHandledLiftBan).toBe('now');
  });
});

describe('Time alone', () => {
  test.each<[string, Partial<ApiKeySpec>, KeyFacts, number | undefined]>([
    ['nothing of a key without an end', {}, free, undefined],
    ['a key when it expires', {expireTime: at(hours)}, free, hours],
    ['nothing of a key that has expired', {expireTime: at(0)}, free, undefined],
    ['a key when its older token ends, the sooner', {...rotated(1000), expireTime: at(hours)}, free, 1000],
    ['a key when its ban ends', {expireTime: at(hours)}, banned({[newer]: 2000}), 2000],
    ['a key when the ban of its older token ends', rotated(hours), banned({[older]: 2000}), 2000],
  ])('changes %s', (_, change, facts, after) => {
    expect(nextChange(apiKey(change).spec, facts, t0)).toBe(after === undefined ? undefined : t0 + after);
  });

  test('changes what is said at that moment, and not before', () => {
    const times = fc.option(fc.integer({min: -5, max: 20}), {nil: undefined});
    const steady = fc.property(times, times, times, times, fc.nat(15), (ends, newEnds, oldEnds, ban, now) => {
      const time = (t: number | undefined) => (t === undefined ? {} : {expireTime: at(t * 1000)});
      const key = apiKey({
        hashes: [
          {sha256: newer, ...time(newEnds)},
          {sha256: older, expireTime: at((oldEnds ?? 9) * 1000)},
        ],
        ...time(ends),
      });
      const facts = ban === undefined ? free : banned({[older]: ban * 1000});
      const said = (t: number) => lines(key, facts, t).join() + message(key, facts, t);
      const next = nextChange(key.spec, facts, t0 + now * 1000) ?? t0 + 60_000;
      const [from, told] = [t0 + now * 1000, new Set<string>()];
      for (let t = from; t < next; t += 500) told.add(said(t));
      return told.size === 1;
    });
    expect(fc.check(steady)).toMatchObject({failed: false});
  });

  test('takes the tokens of a key away one by one', () => {
    const key = {...rotated(1000), expireTime: at(2000)};
    expect([0, 999, 1000, 1999, 2000].map((ms) => liveHashes(apiKey(key).spec, t0 + ms))).toEqual([
      [newer, older],
      [newer, older],
      [newer],
      [newer],
      [],
    ]);
  });
});
