import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import {
  chooseIssuer,
  issuerCases,
  type IssuedBy,
  type IssuerState,
} from '../../../../operator/domain/certificates/choose-issuer.ts';
import {hours, t0} from '../../../support/world.ts';

const state = (name: string, change: Partial<IssuerState> = {}): IssuerState => ({
  name,
  when: issuerCases,
  isCertain: true,
  isSpent: false,
  ...change,
});
const forbids = {forbiddenBy: 'Issuer'} as const;
const spent = {isSpent: true};
const away = {unavailableSince: t0 - 9 * hours};
const choose = (first: Partial<IssuerState>, second: Partial<IssuerState> = {}, issuedBy?: IssuedBy, now = t0) =>
  chooseIssuer([state('first', first), state('second', second)], issuedBy, now);

const underWay = (name: string): IssuedBy => ({name, isUnderWay: true});
const valid = (name: string, ms: number): IssuedBy => ({name, validUntil: t0 + ms});
const isGood = (s: IssuerState) => !s.isSpent && s.forbiddenBy === undefined && s.unavailableSince === undefined;

describe('A hostname without a certificate', () => {
  test.each<[string, string, Partial<IssuerState>, Partial<IssuerState>]>([
    ['nothing is wrong', 'first', {}, {}],
    ['CAA forbids the first', 'second', forbids, {}],
    ['the budget of the first is spent', 'second', spent, {}],
    ['the first does not answer', 'second', away, {}],
    [
      'CAA forbids the first, and the second is for other cases',
      'first',
      forbids,
      {when: ['BudgetSpent', 'Unavailable']},
    ],
    ['two cases hold, and the second is for one of them', 'second', {...forbids, ...spent}, {when: ['BudgetSpent']}],
    ['the budgets of both are spent', 'first', spent, spent],
    ['CAA forbids the first, and the second has to wait', 'second', forbids, spent],
    ['the first does not answer, and the second has to wait', 'second', away, spent],
    [
      'CAA forbids both, and the second would be allowed by a smaller change',
      'second',
      forbids,
      {forbiddenBy: 'Method'},
    ],
    ['CAA forbids both, in the same way', 'first', forbids, forbids],
  ])('gets, if %s, the %s issuer', (_, expected, first, second) => {
    expect(choose(first, second)).toBe(expected);
  });

  test('gets the third issuer if neither of the others can take it', () => {
    const states = [
      state('first', away),
      state('second', forbids),
      state('third', {when: ['CAAForbids', 'Unavailable']}),
    ];
    expect(chooseIssuer(states, undefined, t0)).toBe('third');
    const narrow = state('third', {when: ['CAAForbids']});
    // The second is forbidden, and the third is not for an issuer that does not answer.
    expect(chooseIssuer([states[0]!, states[1]!, narrow], undefined, t0)).toBe('first');
  });
});

describe('An order that is under way', () => {
  test('stays with its issuer while that answers, even if its budget is spent', () => {
    expect(choose(spent, {}, underWay('first'))).toBe('first');
    expect(choose({}, {}, underWay('second'))).toBe('second');
  });

  test('moves at once from an issuer that does not answer, or that CAA forbids now', () => {
    expect(choose(away, {}, underWay('first'))).toBe('second');
    expect(choose(forbids, {}, underWay('first'))).toBe('second');
    expect(choose({}, away, underWay('second'))).toBe('first');
  });

  test('stays if no other can take it', () => {
    expect(choose(away, forbids, underWay('first'))).toBe('first');
  });
});

describe('A hostname with a valid certificate', () => {
  test('renews with its own issuer, whatever its budget says', () => {
    expect(choose(spent, {}, valid('first', 30 * hours))).toBe('first');
  });

  test('waits a third of its remaining life for an issuer that does not answer', () => {
    const since = {unavailableSince: t0};
    const at = (ms: number) => choose(since, {}, valid('first', 30 * hours), t0 + ms);
    expect([at(10 * hours - 1), at(10 * hours)]).toEqual(['first', 'second']);
  });

  test('that is lost gets a new one from another issuer, if the budget of its own is spent and no order is under way', () => {
    expect(choose(spent, {}, {name: 'first'})).toBe('second');
    expect(choose({}, {}, {name: 'first'})).toBe('first');
  });

  test('moves back when an earlier issuer can take it for certain', () => {
    expect(choose({}, {}, valid('second', 30 * hours))).toBe('first');
    expect(choose(forbids, {}, valid('second', 30 * hours))).toBe('second');
    expect(choose(spent, {}, valid('second', 30 * hours))).toBe('second');
    expect(choose(away, {}, valid('second', 30 * hours))).toBe('second');
    expect(choose({isCertain: false}, {}, valid('second', 30 * hours))).toBe('second');
  });

  test('of an issuer that the platform has removed gets the first that can take it', () => {
    expect(choose(forbids, {}, valid('former', 30 * hours))).toBe('second');
  });
});

test('An issuer that can take a hostname is never left for one that cannot', () => {
  const states = fc.array(
    fc.record({
      isSpent: fc.boolean(),
      forbidden: fc.boolean(),
      unavailable: fc.boolean(),
    }),
    {minLength: 1, maxLength: 4},
  );
  fc.assert(
    fc.property(states, (given) => {
      const all = given.map(({forbidden, unavailable, ...s}, i): IssuerState => ({
        ...s,
        when: issuerCases,
        isCertain: true,
        name: `${i}`,
        ...(forbidden && forbids),
        ...(unavailable && away),
      }));
      const chosen = all.find(({name}) => name === chooseIssuer(all, undefined, t0))!;
      expect(all.find(isGood) ?? chosen).toBe(chosen);
      const isAllowed = all.some((s) => s.forbiddenBy === undefined);
      expect(isAllowed && chosen.forbiddenBy !== undefined).toBe(false);
    }),
  );
});
