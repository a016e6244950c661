import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import {fieldConflicts} from '../../../operator/kube/writes/apply.ts';
import {backoffMs} from '../../../operator/kube/backoff.ts';
import {canonicalJson, hashOf, isDeepEqual, isSubset} from '../../../operator/kube/equality.ts';
import {
  ApiError,
  isAlreadyExists,
  isConflict,
  isFieldManagerConflict,
  isGone,
  isNotFound,
  retryAfterMs,
} from '../../../operator/kube/errors.ts';
import {cutToBytes} from '../../../operator/kube/writes/events.ts';
import {Heap} from '../../../operator/kube/collections/heap.ts';
import {LineSplitter} from '../../../operator/kube/client/lines.ts';
import {
  compareResourceVersions,
  defineResource,
  type KubeObject,
  keyOf,
  ownerReference,
  pathOf,
  splitKey,
} from '../../../operator/kube/objects.ts';

describe('what stands as intended', () => {
  test.each<[string, unknown, unknown]>([
    ['the same', {a: 1, b: ['x']}, {a: 1, b: ['x']}],
    [
      'defaults that the server added, also inside a list',
      {ports: [{port: 80}]},
      {ports: [{port: 80, protocol: 'TCP'}], type: 'ClusterIP'},
    ],
    ['a member that is undefined', {a: 1, b: undefined}, {a: 1}],
    ['empty members that the server dropped', {a: {}, b: [], c: null}, {}],
    ['an empty object where the server filled in defaults', {emptyDir: {}}, {emptyDir: {medium: ''}}],
    ['nothing but empty members', {a: {b: []}}, {}],
  ])('%s', (_, intent, live) => expect(isSubset(intent, live)).toBe(true));

  test.each<[string, unknown, unknown]>([
    ['another value', {a: 1}, {a: 2}],
    ['a member that is missing', {a: 1}, {}],
    ['a list with one more element', {a: [1]}, {a: [1, 2]}],
    ['a list with one less', {a: [1, 2]}, {a: [1]}],
    ['a list in another order', {a: [1, 2]}, {a: [2, 1]}],
    ['a list that should be empty and is not', {a: []}, {a: [1]}],
    ['a value where none should be', {a: null}, {a: 1}],
    ['a number as a string', {a: 80}, {a: '80'}],
    ['an object where a list should be', {a: ['x']}, {a: {0: 'x', length: 1}}],
    ['false where nothing is', {a: false}, {}],
    ['an object whose member is nowhere', {a: {b: 0}}, {a: {}}],
  ])('not: %s', (_, intent, live) => expect(isSubset(intent, live)).toBe(false));

  test('everything is a subset of itself and of itself with more members', () => {
    fc.assert(
      fc.property(fc.object({values: [fc.string(), fc.integer(), fc.boolean(), fc.constant(null)]}), (value) => {
        expect(isSubset(value, structuredClone(value))).toBe(true);
        expect(isSubset(value, {...value, ['\u0000more']: 1})).toBe(true);
      }),
    );
  });
});

describe('equality and hashes', () => {
  test('do not mind the order of members, nor members that are undefined', () => {
    expect(isDeepEqual({a: 1, b: {c: [1], d: 2}}, {b: {d: 2, c: [1]}, a: 1, e: undefined})).toBe(true);
    expect(hashOf({a: 1, b: {c: [1], d: 2}})).toBe(hashOf({b: {d: 2, c: [1]}, a: 1, e: undefined}));
  });

  test.each([
    [{a: 1}, {a: '1'}],
    [{a: [1, 2]}, {a: [2, 1]}],
    [{a: null}, {}],
    [{a: {}}, {a: []}],
    [{a: [1]}, {a: {0: 1}}],
  ])('%j is not %j', (a, b) => {
    expect(isDeepEqual(a, b)).toBe(false);
    expect(hashOf(a)).not.toBe(hashOf(b));
  });

  test('agree with each other on any two JSON values', () => {
    fc.assert(
      fc.property(fc.jsonValue({maxDepth: 2}), fc.jsonValue({maxDepth: 2}), (a, b) => {
        const [x, y] = [JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b))] as unknown[];
        expect(isDeepEqual(x, y)).toBe(canonicalJson(x) === canonicalJson(y));
      }),
    );
  });

  test('a hash is 22 characters that an annotation may hold', () => expect(hashOf({a: 1})).toMatch(/^[\w-]{22}$/));
});

describe('a byte stream in lines', () => {
  test('however it is cut, the same lines come out', () => {
    const lines = fc.array(
      fc
        .string({unit: 'grapheme', minLength: 1, maxLength: 20})
        .filter((line) => line.trim() === line && !line.includes('\n')),
      {maxLength: 10},
    );
    fc.assert(
      fc.property(lines, fc.infiniteStream(fc.integer({min: 1, max: 9})), (expected, sizes) => {
        const bytes = Buffer.from(expected.map((line) => `${line}\n`).join(''));
        const splitter = new LineSplitter();
        const got: string[] = [];
        for (let at = 0; at < bytes.length;) {
          const size = sizes.next().value!;
          got.push(...splitter.push(bytes.subarray(at, at + size)));
          at += size;
        }
        expect(got).toEqual(expected);
        expect(splitter.midLine).toBe(false);
      }),
    );
  });

  test('it tells when it ends inside a line', () => {
    const splitter = new LineSplitter();
    expect(splitter.push(Buffer.from('{"a":1}\n\n{"b"'))).toEqual(['{"a":1}']);
    expect(splitter.midLine).toBe(true);
  });
});

describe('resourceVersions', () => {
  test('compare as the integers they are', () => {
    fc.assert(
      fc.property(fc.bigInt({min: 1n, max: 2n ** 80n}), fc.bigInt({min: 1n, max: 2n ** 80n}), (a, b) => {
        expect(Math.sign(compareResourceVersions(String(a), String(b)))).toBe(a < b ? -1 : Number(a > b));
      }),
    );
  });

  test('a missing one is older than any', () => {
    expect(compareResourceVersions(undefined, '1')).toBeLessThan(0);
    expect(compareResourceVersions('1', undefined)).toBeGreaterThan(0);
    expect(compareResourceVersions(undefined, undefined)).toBe(0);
  });
});

describe('names', () => {
  const widgets = defineResource<KubeObject>({
    group: 'example.com',
    version: 'v1',
    plural: 'widgets',
    kind: 'Widget',
    namespaced: true,
  });
  const nodes = defineResource<KubeObject>({
    group: '',
    version: 'v1',
    plural: 'nodes',
    kind: 'Node',
    namespaced: false,
  });

  test('a key and its parts are the same thing', () => {
    expect(keyOf({metadata: {name: 'a', namespace: 'ns'}})).toBe('ns/a');
    expect(keyOf({metadata: {name: 'a'}})).toBe('a');
    expect(splitKey('ns/a')).toEqual({namespace: 'ns', name: 'a'});
    expect(splitKey('a')).toEqual({name: 'a'});
  });

  test.each([
    [pathOf(widgets, {}), '/apis/example.com/v1/widgets'],
    [pathOf(widgets, {namespace: 'ns'}), '/apis/example.com/v1/namespaces/ns/widgets'],
    [
      pathOf(widgets, {namespace: 'ns', name: 'a', subresource: 'status'}),
      '/apis/example.com/v1/namespaces/ns/widgets/a/status',
    ],
    [pathOf(nodes, {namespace: 'ns', name: 'a'}), '/api/v1/nodes/a'],
    [pathOf(widgets, {namespace: '../x', name: 'a?b'}), '/apis/example.com/v1/namespaces/..%2Fx/widgets/a%3Fb'],
  ])('path %s', (path, expected) => expect(path).toBe(expected));

  test('what was never read from the API server owns nothing', () => {
    const owner = {apiVersion: 'v1', kind: 'Node', metadata: {name: 'a'}};
    expect(() => ownerReference(owner)).toThrow('no uid');
    expect(
      ownerReference({...owner, metadata: {name: 'a', uid: 'u'}}, {controller: true, blockOwnerDeletion: true}),
    ).toEqual({apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'u', controller: true, blockOwnerDeletion: true});
  });
});

function status(code: number, reason: string, details = {}): ApiError {
  return new ApiError({status: code, body: JSON.stringify({kind: 'Status', reason, message: 'why', details, code})});
}

describe('errors', () => {
  test('two kinds of 409 are told apart', () => {
    expect([isConflict(status(409, 'Conflict')), isAlreadyExists(status(409, 'Conflict'))]).toEqual([true, false]);
    expect([isConflict(status(409, 'AlreadyExists')), isAlreadyExists(status(409, 'AlreadyExists'))]).toEqual([
      false,
      true,
    ]);
    expect([isNotFound(status(404, 'NotFound')), isGone(status(410, 'Expired')), isNotFound(new Error('404'))]).toEqual(
      [true, true, false],
    );
  });

  test('the wait comes from the header, or from the Status', () => {
    expect(retryAfterMs(new ApiError({status: 429, body: 'slow down', retryAfter: '3'}))).toBe(3000);
    expect(retryAfterMs(status(500, 'ServerTimeout', {retryAfterSeconds: 2}))).toBe(2000);
    expect(retryAfterMs(new ApiError({status: 429, body: '', retryAfter: 'soon'}))).toBeUndefined();
    expect(retryAfterMs(new Error('x'))).toBeUndefined();
  });

  test('a body that is no Status, or no JSON, is told as it came', () => {
    expect(new ApiError({status: 502, body: '<html>bad gateway', request: 'GET /x'}).message).toBe(
      'GET /x: 502: <html>bad gateway',
    );
    expect(new ApiError({status: 500, body: '[1]'}).reason).toBe('');
  });

  test('a field manager conflict names who and what', () => {
    const error = status(409, 'Conflict', {
      causes: [
        {
          reason: 'FieldManagerConflict',
          message: 'conflict with "kubectl-edit" using networking.k8s.io/v1',
          field: '.spec.rules',
        },
        {reason: 'FieldManagerConflict', message: 'conflict with "argo \\"cd\\""', field: '.metadata.labels.a'},
      ],
    });
    expect(isFieldManagerConflict(error)).toBe(true);
    expect(fieldConflicts(error)).toEqual([
      {manager: 'kubectl-edit', field: '.spec.rules'},
      {manager: 'argo "cd"', field: '.metadata.labels.a'},
    ]);
  });
});

describe('small things', () => {
  test('back-off doubles between half and whole of its bound, up to the cap', () => {
    fc.assert(
      fc.property(fc.integer({min: 1, max: 5000}), fc.double({min: 0, max: 0.999, noNaN: true}), (failures, chance) => {
        const bound = Math.min(8000, 100 * 2 ** (failures - 1));
        const ms = backoffMs(failures, {baseMs: 100, capMs: 8000, random: () => chance});
        expect(ms).toBeGreaterThanOrEqual(bound / 2);
        expect(ms).toBeLessThan(bound);
      }),
    );
  });

  test('a heap gives back in order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), (numbers) => {
        const heap = new Heap<number>((a, b) => a < b);
        for (const number of numbers) heap.push(number);
        expect(Array.from(numbers, () => heap.pop())).toEqual(numbers.toSorted((a, b) => a - b));
        expect(heap.pop()).toBeUndefined();
      }),
    );
  });

  test('a note is cut between characters, and says that it was', () => {
    expect(cutToBytes('short', 10)).toBe('short');
    expect(cutToBytes('ab€€', 7)).toBe('ab…');
    fc.assert(
      fc.property(fc.string({unit: 'grapheme', maxLength: 60}), fc.integer({min: 3, max: 40}), (text, bytes) => {
        const cut = cutToBytes(text, bytes);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(bytes);
        expect(cut === text || text.startsWith(cut.slice(0, -1))).toBe(true);
      }),
    );
  });
});
