/** Which rows of the policy's table to run for a mutant, and in which order, so that few requests decide. */
import {type Place, type Policy, type Row, rows} from '../support/policy.ts';
import type {PartLeftOut, Rule} from './policy-rules.ts';

/** The rows that a policy refuses. The first ones differ in method or resource. */
export const refusedRows = (policy: Policy, place: Place): Row[] =>
  inTurn(
    rows.filter(({refusedBy}) => refusedBy === policy),
    (row) => kindOf(row, place),
  );

/**
 * The rows that can come out differently without a part of a policy: if the policy refuses more then, the rows that pass and
 * write resources that it covers; if it refuses less, the rows that it refuses.
 */
export function rowsThatMayChange({policy, widens, rules}: PartLeftOut, place: Place): Row[] {
  if (!widens) return refusedRows(policy, place);
  const passing = rows.filter((row) => row.refusedBy === undefined && rules.some((rule) => covers(rule, row, place)));
  return inTurn(passing, (row) => `${row.as} ${kindOf(row, place)}`);
}

/** Does a rule list the row's resource or one of its subresources? The operation does not count. */
function covers({apiGroups, resources}: Rule, row: Row, place: Place): boolean {
  const {group, resource} = targetOf(row, place);
  const names = resources.map((name) => name.split('/', 1)[0]!);
  return [group, '*'].some((g) => apiGroups.includes(g)) && [resource, '*'].some((r) => names.includes(r));
}

const kindOf = (row: Row, place: Place): string => {
  const {group, resource} = targetOf(row, place);
  return `${row.write(place).method} ${group} ${resource}`;
};

/** The API group (empty for the core) and the resource in the path of a row's request. */
function targetOf(row: Row, place: Place): {group: string; resource: string} {
  const [, root, ...rest] = row.write(place).path.split(/[/?]/);
  const [group = '', , first = '', , third] = root === 'api' ? ['', ...rest] : rest;
  const ofNamespace = third === undefined || ['status', 'finalize'].includes(third);
  return {group, resource: first === 'namespaces' && !ofNamespace ? third : first};
}

/** The first item of each kind, then the second of each kind, and so on. */
function inTurn<T>(items: readonly T[], kind: (item: T) => string): T[] {
  const seen = new Map<string, number>();
  const numbered = items.map((item) => {
    const before = seen.get(kind(item)) ?? 0;
    seen.set(kind(item), before + 1);
    return {item, before};
  });
  return numbered.toSorted((x, y) => x.before - y.before).map(({item}) => item);
}
