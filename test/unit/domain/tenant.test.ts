import {describe, expect, test} from '@jest/globals';
import type {Account, Plan} from '../../../operator/api/foreign.ts';
import {accountOf, decideAccount, tenantOf} from '../../../operator/domain/tenant.ts';
import {timestamp} from '../../../operator/domain/times.ts';
import {enterprise, free, hours, t0} from '../../support/world.ts';

const account = (plan: string, change: Partial<Account> = {}): Account => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'Account',
  metadata: {name: 'acme', generation: 3},
  spec: {planRef: {name: plan}},
  ...change,
});
const plans = new Map([free, enterprise].map((p) => [p.metadata.name, p]));
const given = (...accounts: Account[]) => ({
  account: (name: string) => accounts.find((a) => a.metadata.name === name),
  plan: (name: string) => plans.get(name),
});

const lines = (a: Account, plan: Plan | undefined) =>
  decideAccount(a, plan, t0).conditions!.map((c) => `${c.type}=${c.status}/${c.reason}`);

describe('The tenant of a namespace', () => {
  test.each([
    [undefined, undefined],
    [{}, undefined],
    [{'doorplate.dev/account': ''}, undefined],
    [{'doorplate.dev/account': 'acme', a: 'b'}, 'acme'],
  ])('labelled %j is the account %s', (labels, name) => {
    expect(accountOf(labels)).toBe(name);
  });

  test("has its Account's plan", () => {
    expect(tenantOf({account: 'acme', uid: 'u'}, 'free', given(account('enterprise')))).toEqual({
      account: 'acme',
      namespaceUID: 'u',
      plan: enterprise,
    });
  });

  test('without an account has the default plan', () => {
    expect(tenantOf({uid: 'u'}, 'free', given(account('enterprise')))).toEqual({namespaceUID: 'u', plan: free});
  });

  test.each([
    [
      'the Account',
      'acme',
      'free',
      'The namespace belongs to the Account acme, which does not exist. The platform must create it, or correct the label doorplate.dev/account.',
    ],
    [
      'the Plan of the Account',
      'other',
      'free',
      'The Account other is on the Plan gold, which does not exist. The platform must create it, or correct the Account.',
    ],
    [
      'the default Plan',
      undefined,
      'silver',
      "The namespace belongs to no Account, and the platform's default Plan silver does not exist. The platform must create it.",
    ],
  ])('is not known where %s does not exist, and never falls back to another plan', (_, name, defaultPlan, message) => {
    expect(
      tenantOf({account: name, uid: 'u'}, defaultPlan, given(account('gold', {metadata: {name: 'other'}}))).plan,
    ).toEqual({missing: {reason: 'PlanNotFound', message}});
  });
});

describe('An Account', () => {
  test('is ready when its Plan exists, else stalled, for the platform to see', () => {
    expect(lines(account('free'), free)).toEqual(['Ready=True/PlanFound']);
    expect(lines(account('gold'), undefined)).toEqual(['Ready=False/PlanNotFound', 'Stalled=True/PlanNotFound']);
    expect(decideAccount(account('gold'), undefined, t0).conditions![0]!.message).toContain(
      'The Plan gold does not exist',
    );
  });

  test('says the same later, for the generation that it has seen', () => {
    const status = decideAccount(account('free'), free, t0);
    expect(status).toMatchObject({
      observedGeneration: 3,
      conditions: [{observedGeneration: 3, lastTransitionTime: timestamp(t0)}],
    });
    expect(decideAccount(account('free', {status}), free, t0 + hours)).toEqual(status);
  });
});
