/**
 * Mutants of the admission policy that leave out one part of it: a validation, a match condition, a rule, a selector, a binding.
 * They follow from the rendered chart, so each part that you add has its mutant. Such a mutant is red if any row of the policy's
 * table comes out differently.
 *
 * The API server refuses a policy without validations or rules. Without its only validation, rule or binding a policy refuses
 * nothing. The mutant `policy-without-NAME-denial` covers these cases: all bindings warn instead of deny.
 */
import {type Manifest, type Policy, policies} from '../support/policy.ts';
import {homeOf} from './homes.ts';
import {brokenPolicies, nameOf, renderPolicies} from './manifests.ts';
import {type Edit, isOfPolicy, type Mutant, mutants, policyTest} from './mutant.ts';

/** A mutant that leaves out a part of a policy. `file` is the file for an entry that does the same. */
export interface PartLeftOut extends Mutant {
  policy: Policy;
  /** The policy refuses more without the part, not less. */
  widens: boolean;
  /** The rules of the policy, all of them. */
  rules: readonly Rule[];
  /** The reason, if no row can show the mutant. */
  equivalent: string | undefined;
}

/** A rule of `matchConstraints.resourceRules`. */
export interface Rule {
  apiGroups: string[];
  resources: string[];
  operations: string[];
}

/** The mutants that no row can show, by name, and the reason: another part has the same effect. */
const equivalents: Readonly<Record<string, string>> = {
  'policy-without-routes-exclude-resource-rules-of-routes':
    'the binding routes-status denies the same with mode Deny. test/operator/policy-modes.test.ts covers the other modes',
  'policy-without-routes-resource-rules-of-routes-status':
    'the binding routes denies the same with mode Deny. test/operator/policy-modes.test.ts covers the other modes',
};

export const isPartLeftOut = (mutant: Mutant): mutant is PartLeftOut => 'widens' in mutant;

/** The mutants of all `.mutants` files, then the mutants for the policies in the chart of a checkout. */
export async function allMutants(root: string): Promise<Mutant[]> {
  const written = mutants();
  return [...written, ...partsLeftOut(await renderPolicies(root), written)];
}

/**
 * The mutants for rendered policies, without those that an entry of a `.mutants` file makes already. Throws if two mutants have
 * one name, or if an equivalent names no part.
 */
export function partsLeftOut(
  rendered: readonly Manifest[],
  written: readonly Mutant[],
  reasons: Readonly<Record<string, string>> = equivalents,
): PartLeftOut[] {
  const parts = rendered
    .filter((o) => o.kind === 'ValidatingAdmissionPolicy')
    .flatMap((policy) => partsOf(policy, bindingsOf(policy, rendered)))
    .map((part) => {
      const equivalent = reasons[part.name];
      return {...part, equivalent, ...(equivalent !== undefined && {breaks: `nothing: ${equivalent}`})};
    });

  const names = new Set<string>();
  for (const {name} of [...written, ...parts]) {
    if (names.has(name)) throw new Error(`${name}: two mutants have this name`);
    names.add(name);
  }
  const gone = Object.keys(reasons).find((name) => !parts.some((part) => part.name === name));
  if (gone !== undefined) throw new Error(`${gone}: the chart has no such part. Remove it from the equivalents`);

  const result = ({edits}: Mutant) => JSON.stringify(brokenPolicies(rendered, edits));
  const leaveOut = written.filter((m) => isOfPolicy(m) && m.edits.every(({change}) => change === undefined));
  const made = new Set(leaveOut.map(result));
  return parts.filter((part) => !made.has(result(part)));
}

/** The fields that a policy or binding applies to more without. */
const limits = {
  matchConstraints: ['namespaceSelector', 'objectSelector', 'excludeResourceRules'],
  matchResources: ['namespaceSelector', 'objectSelector', 'excludeResourceRules', 'resourceRules'],
} as const;

interface Spec {
  policyName?: string;
  matchConstraints?: Record<string, unknown> & {resourceRules: Rule[]};
  matchConditions?: {name: string}[];
  validations?: {message?: string; messageExpression?: string}[];
  matchResources?: Record<string, unknown>;
}
const specOf = (object: Manifest) => object.spec as Spec;

const bindingsOf = (policy: Manifest, rendered: readonly Manifest[]): Manifest[] =>
  rendered.filter((o) => specOf(o).policyName === policy.metadata.name);

type Part = Omit<PartLeftOut, 'equivalent'>;

function partsOf(object: Manifest, bindings: readonly Manifest[]): Part[] {
  const policy = policies.find((p) => p === nameOf(object));
  if (policy === undefined) throw new Error(`${nameOf(object)}: the policy's table has no such policy`);
  const {matchConstraints, matchConditions = [], validations = []} = specOf(object);
  const rules = matchConstraints?.resourceRules ?? [];

  const part = (what: string, widens: boolean, ...edits: Edit[]): Part => ({
    name: `policy-without-${policy}-${slug(what)}`,
    file: homeOf(edits[0]!.file),
    breaks: `the admission policy: ${policy} without its ${what}`,
    test: policyTest,
    title: 'any row',
    threats: [],
    edits,
    policy,
    widens,
    rules,
  });
  const several = <T>(list: readonly T[], make: (item: T, i: number) => Part) =>
    list.length > 1 ? list.map(make) : [];
  const limitsOf = (of: Manifest, path: keyof typeof limits, where = '') =>
    limits[path]
      .filter((limit) => specOf(of)[path]?.[limit] !== undefined)
      .map((limit) => part(inWords(limit) + where, true, without(of, `${path}.${limit}`)));
  const words = distinctWords(validations.map((v) => v.message ?? v.messageExpression ?? ''));
  const denials = bindings.map((b) => ({...without(b, 'validationActions'), change: {from: '[Deny]', to: '[Warn]'}}));

  return [
    ...several(validations, (_, i) => part(`validation ${words[i]!}`, false, without(object, `validations[${i}]`))),
    ...matchConditions.map(({name}, i) => part(`condition ${name}`, true, without(object, `matchConditions[${i}]`))),
    ...several(rules, (rule, i) =>
      part(ruleName(rule), false, without(object, `matchConstraints.resourceRules[${i}]`)),
    ),
    ...limitsOf(object, 'matchConstraints'),
    ...bindings.flatMap((b) => limitsOf(b, 'matchResources', ` of ${nameOf(b)}`)),
    ...several(bindings, (b) => part(`binding ${nameOf(b)}`, false, without(b))),
    part('denial', false, ...denials),
  ];
}

const without = (object: Manifest, symbol?: string): Edit => ({
  file: `${object.kind}/${nameOf(object)}`,
  symbol,
  change: undefined,
});

const ruleName = ({apiGroups, operations}: Rule) => `rule ${apiGroups[0] || 'core'} ${operations.join(' ')}`;

/** `namespaceSelector` as `namespace selector`. */
const inWords = (field: string) => field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const slug = (text: string) =>
  text
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .toLowerCase();

/** For each text the shortest start that no other text has, of two words or more, behind the words with which all texts start. */
function distinctWords(texts: readonly string[]): string[] {
  const split = texts.map((text) => text.match(/[\w./-]+/g) ?? []);
  const [first = [], ...others] = split;
  const differs = first.findIndex((word, i) => others.some((words) => words[i] !== word));
  const common = Math.max(0, differs);
  const start = (of: readonly string[], length: number) => of.slice(common, common + length).join(' ');
  return split.map((words) => {
    const lengths = words.map((_, i) => i + 2);
    const isDistinct = (length: number) =>
      split.filter((of) => start(of, length) === start(words, length)).length === 1;
    return start(words, lengths.find(isDistinct) ?? words.length);
  });
}
