import {describe, expect, test} from '@jest/globals';
import {denies, eventOfPolicy} from '../../../operator/observability/admission.ts';

const policy = {enabled: true, mode: 'Deny', scope: 'All'} as const;

describe('The admission policy', () => {
  test('that denies in all namespaces needs no word', () => {
    expect([denies(policy), eventOfPolicy(policy)]).toEqual([{account: true, other: true}, undefined]);
  });

  test.each([
    [{scope: 'Accounts'} as const, {account: true, other: false}, 'admissionPolicy.scope is Accounts'],
    [{mode: 'Warn'} as const, {account: false, other: false}, 'admissionPolicy.mode is Warn'],
    [{mode: 'Audit', scope: 'Accounts'} as const, {account: false, other: false}, 'admissionPolicy.mode is Audit'],
    [{enabled: false} as const, {account: false, other: false}, 'admissionPolicy.enabled'],
  ])('with %j denies less, and the operator names the value', (change, denied, value) => {
    const changed = {...policy, ...change};
    expect(denies(changed)).toEqual(denied);
    expect(eventOfPolicy(changed)).toMatchObject({
      type: 'Warning',
      reason: 'OthersRoutesAllowed',
      note: expect.stringContaining(value),
    });
    expect(eventOfPolicy(changed)?.note.length).toBeLessThan(1000);
  });
});
