import {timingSafeEqual} from 'node:crypto';
import {describe, expect, test} from '@jest/globals';
import type {ApiKey} from '../../../../operator/api/foreign.ts';
import {hashToken, makeToken} from '../../../../operator/domain/api-key.ts';
import {recognise} from '../../../../operator/http/gate/auth.ts';

const now = Date.parse('2026-11-22T12:00:00Z');
const token = makeToken({namespace: 'acme', name: 'ci'});
const older = makeToken({namespace: 'acme', name: 'ci'});

const keyWith = (spec: Partial<ApiKey['spec']> = {}): ApiKey => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'ApiKey',
  metadata: {namespace: 'acme', name: 'ci', uid: 'u'},
  spec: {hashes: [{sha256: hashToken(token)}], scopes: ['domains:read'], ...spec},
});
const find = (key: ApiKey) => (name: string) => (name === 'acme/ci' ? key : undefined);

/** What becomes of a header, and how many comparisons were made. */
function ask(header: string | undefined, key: ApiKey = keyWith()): {outcome: string; comparisons: number} {
  let comparisons = 0;
  const who = recognise(header, find(key), now, (a, b) => {
    comparisons++;
    return timingSafeEqual(a, b);
  });
  return {outcome: 'problem' in who ? who.problem : 'recognised', comparisons};
}

describe('A key', () => {
  test.each<[string, string | undefined, ApiKey, string]>([
    ['the right token', `Bearer ${token}`, keyWith(), 'recognised'],
    ['the scheme in other letters', `bearer ${token}`, keyWith(), 'recognised'],
    ['no header', undefined, keyWith(), 'credentials-missing'],
    ['another scheme', `Basic ${token}`, keyWith(), 'credentials-wrong'],
    [
      'a mistyped token',
      `Bearer ${token.slice(0, -1)}${token.endsWith('a') ? 'b' : 'a'}`,
      keyWith(),
      'credentials-wrong',
    ],
    ['another token of the same name', `Bearer ${older}`, keyWith(), 'credentials-wrong'],
    [
      'a token of a key that does not exist',
      `Bearer ${makeToken({namespace: 'acme', name: 'other'})}`,
      keyWith(),
      'credentials-wrong',
    ],
    [
      'a key that expired a second ago',
      `Bearer ${token}`,
      keyWith({expireTime: '2026-11-22T11:59:59Z'}),
      'key-expired',
    ],
    ['a key that expires in a second', `Bearer ${token}`, keyWith({expireTime: '2026-11-22T12:00:01Z'}), 'recognised'],
    [
      'an end in another zone that has passed',
      `Bearer ${token}`,
      keyWith({expireTime: '2026-11-22T13:30:00+02:00'}),
      'key-expired',
    ],
    [
      'the older token of a rotation, before its end',
      `Bearer ${older}`,
      keyWith({hashes: [{sha256: hashToken(token)}, {sha256: hashToken(older), expireTime: '2026-11-22T12:00:01Z'}]}),
      'recognised',
    ],
    [
      'the older token of a rotation, after its end',
      `Bearer ${older}`,
      keyWith({hashes: [{sha256: hashToken(token)}, {sha256: hashToken(older), expireTime: '2026-11-22T12:00:00Z'}]}),
      'key-expired',
    ],
  ])('%s', (_, header, key, outcome) => {
    expect(ask(header, key).outcome).toBe(outcome);
  });

  test('costs two comparisons, whether it exists or not, and whichever of its tokens is sent', () => {
    const rotating = keyWith({
      hashes: [{sha256: hashToken(token)}, {sha256: hashToken(older), expireTime: '2026-11-23T00:00:00Z'}],
    });
    const counts = [
      ask(`Bearer ${token}`),
      ask(`Bearer ${older}`),
      ask(`Bearer ${token}`, rotating),
      ask(`Bearer ${older}`, rotating),
      ask(`Bearer ${makeToken({namespace: 'acme', name: 'other'})}`),
    ].map((a) => a.comparisons);
    expect(counts).toEqual([2, 2, 2, 2, 2]);
  });
});
