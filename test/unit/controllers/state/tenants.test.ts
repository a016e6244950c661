import {beforeEach, expect, test} from '@jest/globals';
import {pino} from 'pino';
import type {CustomDomain} from '../../../../operator/api/foreign.ts';
import {tenantCaches, Tenants} from '../../../../operator/controllers/state/tenants.ts';
import type {Client} from '../../../../operator/kube/client/client.ts';
import {domain, plan} from '../../../support/world.ts';

const limit = (rate: number) => ({requestsPerMinute: rate, requestsPerDay: rate});

let version: number;
let told: string[];
let tenants: Tenants;
let plans: ReturnType<typeof tenantCaches>['plans'];
let put: {
  namespace: (name: string, account?: string, uid?: string) => void;
  account: (name: string, plan: string, rate?: number) => void;
  plan: (name: string, hostnames: number, rate?: number) => void;
};

beforeEach(() => {
  // Nothing is listed or watched: `observe` puts in what a watch would bring.
  const cached = tenantCaches({} as Client, pino({level: 'silent'}));
  [version, told, plans] = [0, [], cached.plans];
  const meta = (name: string) => ({name, uid: `uid-${name}`, resourceVersion: String(++version)});
  put = {
    namespace: (name, account, uid = `uid-${name}`) =>
      cached.namespaces.observe({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: {
          ...meta(name),
          uid,
          labels: {version: String(version), ...(account !== undefined && {'doorplate.dev/account': account})},
        },
      }),
    account: (name, on, rate = 1) =>
      cached.accounts.observe({
        apiVersion: 'doorplate.dev/v1alpha1',
        kind: 'Account',
        metadata: meta(name),
        spec: {planRef: {name: on}, rateLimit: limit(rate)},
      }),
    plan: (name, hostnames, rate = 1) =>
      cached.plans.observe({
        ...plan(name, hostnames),
        metadata: meta(name),
        spec: {...plan(name, hostnames).spec, rateLimit: limit(rate)},
      }),
  };
  tenants = new Tenants(cached, 'free');
  put.plan('free', 0);
  put.plan('pro', 10);
  put.account('acme', 'pro');
  put.account('idle', 'free');
  put.namespace('a1', 'acme');
  put.namespace('a2', 'acme');
  put.namespace('i', 'idle');
  put.namespace('alone');
  put.namespace('lost', 'nobody');
  tenants.onChange((namespace) => told.push(namespace));
});

function planOf(namespace: string): string {
  const of = tenants.of(namespace)?.plan;
  if (of === undefined) return 'unseen';
  return 'missing' in of ? of.missing.reason : of.metadata.name;
}
const inNamespace = (namespace: string): CustomDomain => ({...domain(), metadata: {name: 'docs', namespace}});
const heard = () => told.splice(0).toSorted();

test('A namespace has the plan of its Account, or the default one, and is not known before it was seen', () => {
  expect(['a1', 'a2', 'i', 'alone', 'lost', 'never'].map(planOf)).toEqual([
    'pro',
    'pro',
    'free',
    'free',
    'PlanNotFound',
    'unseen',
  ]);
});

test.each<[string, () => void, string[]]>([
  ["a plan's limit: those of the accounts on it", () => put.plan('pro', 5), ['a1', 'a2']],
  ['the default plan: those on it by an account, and those of none', () => put.plan('free', 1), ['alone', 'i']],
  ["a plan's rate limit alone: none", () => put.plan('pro', 10, 7), []],
  ['a plan that nobody is on: none', () => put.plan('gold', 7), []],
  ["an account's plan: its own", () => put.account('acme', 'free'), ['a1', 'a2']],
  ["an account's rate limit alone: none", () => put.account('acme', 'pro', 7), []],
  ['an account that was missing: those that name it', () => put.account('nobody', 'pro'), ['lost']],
  ["a namespace's account: itself", () => put.namespace('a1', 'idle'), ['a1']],
  ['a namespace that loses its account: itself', () => put.namespace('a1'), ['a1']],
  ['another label of a namespace: none', () => put.namespace('a1', 'acme'), []],
  ['a namespace that is another one of that name: itself', () => put.namespace('a1', 'acme', 'uid-new'), ['a1']],
  ['a new namespace: itself', () => put.namespace('new', 'acme'), ['new']],
])('Told are just the namespaces that a change concerns. Of %s', (_, change, expected) => {
  change();
  expect(heard()).toEqual(expected);
});

test('What moved is told of where it is now, not where it was', () => {
  put.namespace('a1', 'idle');
  heard();
  put.account('acme', 'free');
  expect(heard()).toEqual(['a2']);
  put.plan('free', 1);
  expect(heard()).toEqual(['a1', 'a2', 'alone', 'i']);
});

test('CustomDomains without a plan are counted', () => {
  expect(tenants.countWithoutPlan(['a1', 'lost', 'lost', 'never', 'i'].map(inNamespace))).toBe(2);
});

test('A Plan whose limit of Projects changes wakes the namespaces on it', () => {
  const pro = plan('pro', 10);
  const limited = (maxProjects: number) =>
    plans.observe({
      ...pro,
      metadata: {name: 'pro', uid: 'uid-pro', resourceVersion: String(++version)},
      spec: {...pro.spec, maxProjects},
    });
  limited(5);
  expect(heard()).toEqual(['a1', 'a2']);
  limited(5);
  expect(heard()).toEqual([]);
});
