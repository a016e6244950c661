/** Whose turn it is when Projects come and go. `observe` puts in what a watch would bring. */
import {beforeEach, describe, expect, test} from '@jest/globals';
import {pino} from 'pino';
import type {Plan, Project} from '../../../../operator/api/foreign.ts';
import {type Caches, makeCaches} from '../../../../operator/controllers/state/caches.ts';
import {ProjectSlots} from '../../../../operator/controllers/state/project-slots.ts';
import {ingresses} from '../../../../operator/resources/resources.ts';
import {Tenants} from '../../../../operator/controllers/state/tenants.ts';
import type {Client} from '../../../../operator/kube/client/client.ts';
import {timestamp} from '../../../../operator/domain/times.ts';
import {days, plan, project, seconds, t0} from '../../../support/world.ts';

let caches: Caches;
let places: ProjectSlots;
let version: number;

const next = () => String(++version);
const namespaceOf = (name: string, account?: string) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name,
    uid: `uid-${name}`,
    resourceVersion: next(),
    ...(account !== undefined && {labels: {'doorplate.dev/account': account}}),
  },
});
/** Made so many seconds after t0. */
const made = (namespace: string, name: string, after: number, going = false): Project => ({
  ...project(),
  metadata: {
    name,
    namespace,
    uid: `uid-${name}`,
    resourceVersion: next(),
    creationTimestamp: timestamp(t0 + after * seconds),
    ...(going && {deletionTimestamp: timestamp(t0 + days)}),
  },
});
const put = (one: Project): Project => {
  caches.projects.observe(one);
  return one;
};
const limited = (name: string, maxProjects: number): Plan => {
  const {spec, ...rest} = plan(name, 10);
  return {...rest, metadata: {name, resourceVersion: next()}, spec: {...spec, maxProjects}};
};

beforeEach(() => {
  version = 0;
  caches = makeCaches({} as Client, pino({level: 'silent'}), ingresses);
  places = new ProjectSlots(caches, new Tenants(caches, 'free'));
  caches.plans.observe(limited('two', 2));
  caches.plans.observe(limited('free', 1));
  caches.plans.observe({...plan('any', 10), metadata: {name: 'any', resourceVersion: next()}});
  for (const [name, of] of [
    ['acme', 'two'],
    ['big', 'any'],
  ] as const)
    caches.accounts.observe({
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'Account',
      metadata: {name, resourceVersion: next()},
      spec: {planRef: {name: of}},
    });
  for (const [name, account] of [['a1', 'acme'], ['a2', 'acme'], ['b', 'big'], ['alone'], ['beside']] as const)
    caches.namespaces.observe(namespaceOf(name, account));
});

describe('The Projects ahead of one', () => {
  test('are the older ones of its tenant, in all namespaces of its Account', () => {
    put(made('a1', 'first', 1));
    put(made('a2', 'second', 2));
    put(made('alone', 'older', 0));
    expect(['first', 'second'].map((name, i) => places.ahead(made(`a${i + 1}`, name, i + 1)))).toEqual([0, 1]);
    expect(places.ahead(made('a1', 'third', 3))).toBe(2);
    expect([places.ahead(made('alone', 'newer', 5)), places.ahead(made('beside', 'newer', 5))]).toEqual([1, 0]);
  });

  test('are none where the plan has no limit, and those that are being deleted do not count', () => {
    put(made('b', 'first', 1));
    expect(places.ahead(made('b', 'second', 2))).toBe(0);
    put(made('a1', 'going', 1, true));
    expect(places.ahead(made('a1', 'second', 2))).toBe(0);
  });
});

const four = () => {
  const [first, second, third, fourth] = [1, 2, 3, 4].map((after) => put(made('a1', `p${after}`, after)));
  return {first: first!, second: second!, third: third!, fourth: fourth!};
};
const goes = ({metadata: {name}}: Project): string[] => {
  const before = made('a1', name, Number(name.slice(1)));
  return places.movedBy(put(made('a1', name, Number(name.slice(1)), true)), before);
};

describe('Another Project is moved', () => {
  test('when one that has a place goes: the oldest without one gets it; and the next, when the next goes', () => {
    const {first, second} = four();
    expect(goes(first)).toEqual(['a1/p3']);
    expect(goes(second)).toEqual(['a1/p4']);
  });

  test('when an older one comes, as in another namespace: the newest that has a place loses it', () => {
    four();
    const older = put(made('a2', 'older', 0));
    expect(places.movedBy(older, undefined)).toEqual(['a1/p2']);
  });

  test.each<[string, () => string[]]>([
    ['one without a place goes', () => goes(four().fourth)],
    ['one more comes without a place', () => (four(), places.movedBy(put(made('a1', 'p5', 5)), undefined))],
    ['there is room', () => places.movedBy(put(made('a1', 'p1', 1)), undefined)],
    ['one only changes', () => (({first}) => places.movedBy(first, first))(four())],
    ['one that was on its way goes', () => places.movedBy(undefined, made('a1', 'p1', 1, true))],
    ['the plan has no limit', () => places.movedBy(undefined, put(made('b', 'p1', 1)))],
  ])('by nothing when %s', (_, moved) => {
    expect(moved()).toEqual([]);
  });

  test('when a Namespace with Projects passes to another Account: all of both may be', () => {
    four();
    put(made('a2', 'other', 5));
    const [now, before] = [
      {metadata: {name: 'a2'}, account: 'big'},
      {metadata: {name: 'a2'}, account: 'acme'},
    ];
    expect(places.movedByNamespace(now, before).toSorted()).toEqual(['a1/p1', 'a1/p2', 'a1/p3', 'a1/p4', 'a2/other']);
    expect(places.movedByNamespace(before, before)).toEqual([]);
    expect(
      places.movedByNamespace({metadata: {name: 'beside'}, account: 'acme'}, {metadata: {name: 'beside'}}),
    ).toEqual([]);
  });
});
