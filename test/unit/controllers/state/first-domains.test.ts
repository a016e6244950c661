import {beforeEach, describe, expect, test} from '@jest/globals';
import type {CustomDomain} from '../../../../operator/api/foreign.ts';
import {FirstDomains} from '../../../../operator/controllers/state/first-domains.ts';
import {domain} from '../../../support/world.ts';

type Handler = (now: CustomDomain | undefined, before: CustomDomain | undefined) => void;
let tell: Handler;
let firsts: FirstDomains;
let told: string[];

beforeEach(() => {
  firsts = new FirstDomains({onChange: (handler: Handler) => void (tell = handler)});
  told = [];
  firsts.onChange((project) => told.push(project));
});

const made = (name: string, second: number, more: {uid?: string} = {}): CustomDomain => {
  const one = domain({name, uid: more.uid ?? `uid-${name}`});
  const creationTimestamp = `2026-11-22T00:00:${String(second).padStart(2, '0')}Z`;
  return {...one, metadata: {...one.metadata, creationTimestamp}};
};
const first = () => firsts.of('acme/docs')?.metadata.name;

describe('The first CustomDomain of a Project', () => {
  test('is the oldest, whichever is seen first, and each change of it is told', () => {
    tell(made('b', 2), undefined);
    tell(made('a', 1), undefined);
    tell(made('c', 3), undefined);
    expect([first(), told]).toEqual(['a', ['acme/docs', 'acme/docs']]);
    tell(undefined, made('a', 1));
    expect([first(), told.length]).toEqual(['b', 3]);
    tell(undefined, made('b', 2));
    tell(undefined, made('c', 3));
    expect([first(), told.length]).toEqual([undefined, 5]);
  });

  test('is not told again when it or another changes, comes or goes', () => {
    tell(made('a', 1), undefined);
    told = [];
    tell(made('a', 1), made('a', 1));
    tell(made('b', 2), undefined);
    tell(undefined, made('b', 2));
    expect(told).toEqual([]);
  });

  test('is the next one when Doorplate has cleaned up after a deleted one, however long another finalizer keeps it', () => {
    const [a, b] = [made('a', 1), made('b', 2)];
    const deleted = (finalizers: string[]) => ({
      ...a,
      metadata: {...a.metadata, deletionTimestamp: '2026-11-23T00:00:00Z', finalizers},
    });
    const [going, kept] = [deleted(['doorplate.dev/routes', 'test/held']), deleted(['test/held'])];
    tell(a, undefined);
    tell(b, undefined);
    told = [];
    tell(going, a);
    expect([first(), told]).toEqual(['a', []]);
    tell(kept, going);
    expect([first(), told]).toEqual(['b', ['acme/docs']]);
    tell(kept, kept);
    tell(undefined, kept);
    expect([first(), told]).toEqual(['b', ['acme/docs']]);
  });

  test('is another where one of its name was made anew while nobody watched', () => {
    tell(made('a', 1), undefined);
    tell(made('b', 2), undefined);
    tell(made('a', 3, {uid: 'anew'}), made('a', 1));
    expect(first()).toBe('b');
  });
});
