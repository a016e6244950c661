/**
 * The chart's admission policy as Helm renders it, and what a mutant makes of it. Its addresses:
 *
 *   # in: ValidatingAdmissionPolicy/routes › variables[unchanged].expression
 *   # in: ValidatingAdmissionPolicy/bans › matchConstraints.resourceRules[apikeys].operations
 *   # without: ValidatingAdmissionPolicyBinding/labels-owner
 *
 * A kind and a name, without the release's in front of it; then a path in its spec. An element of a list is named by its
 * `name`, or else by a value or some words of its message that no other element has; in generated mutants (policy-rules.ts)
 * by its index. A string is edited as it stands, anything else as YAML in flow form: `[CREATE, UPDATE]`.
 */
import {execFile} from 'node:child_process';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {parse, parseAllDocuments, stringify} from 'yaml';
import {bin} from '../support/kube-server.ts';
import type {Manifest} from '../support/policy.ts';
import {replaceOnce} from './matching.ts';
import {at, type Edit} from './mutant.ts';

const run = promisify(execFile);

/** The release that is rendered. */
export const release = {namespace: 'doorplate-system', name: 'doorplate'};
const prefix = `${release.namespace}-${release.name}-`;

/** The policies and bindings of the chart of a checkout. Throws where helm is not there. */
export async function renderPolicies(root: string): Promise<Manifest[]> {
  const chart = [join(root, 'charts/doorplate'), '-f', join(root, 'examples/demo/values.yaml')];
  const template = ['template', release.name, '-n', release.namespace, '-s', 'templates/admission-policy.yaml'];
  const {stdout} = await run(join(bin, 'helm'), [...template, ...chart]).catch((e: NodeJS.ErrnoException) => {
    throw e.code === 'ENOENT' ? new Error('helm is not there: `make tools` builds it', {cause: e}) : e;
  });
  return parseAllDocuments(stdout)
    .map((d) => d.toJS() as Manifest | null)
    .filter((o) => o !== null);
}

/** The policy to which an object belongs: itself, or the one that it binds. */
const policyOf = ({metadata, spec}: Manifest): string => (spec as {policyName?: string}).policyName ?? metadata.name;

/**
 * Rendered policies with edits made, and their bindings: of those policies alone to which an edit was made. Throws when one
 * has no place in them, or more than one.
 */
export function brokenPolicies(rendered: readonly Manifest[], edits: readonly Edit[]): Manifest[] {
  const touched = new Set(edits.map((edit) => policyOf(at(edit, () => objectOf(rendered, edit)))));
  let objects = structuredClone(rendered.filter((o) => touched.has(policyOf(o))));
  for (const edit of edits) {
    const object = objectOf(objects, edit);
    if (edit.symbol === undefined) objects = objects.filter((o) => o !== object);
    else at(edit, () => change(object, edit.symbol!, edit.change));
  }
  return objects;
}

/** The name of a policy or binding without the release's in front of it: `labels-owner`. */
export const shortName = (name: string): string => name.slice(prefix.length);
export const nameOf = ({metadata}: Manifest): string => shortName(metadata.name);

function objectOf(objects: readonly Manifest[], {file}: Edit): Manifest {
  const object = objects.find((o) => `${o.kind}/${nameOf(o)}` === file);
  if (object === undefined) throw new Error('the chart renders no such object');
  return object;
}

type Holder = Record<string | number, unknown>;

function change(object: Manifest, path: string, edit: Edit['change']): void {
  let [holder, key]: [Holder, string | number] = [object, 'spec'];
  for (const [step, field, words] of path.matchAll(/([\w-]+)|\[([^\]]+)\]/g)) {
    holder = holder[key] as Holder;
    key = field ?? indexOf(Object.values(holder) as Holder[], words!);
    if (holder[key] === undefined) throw new Error(`it has no ${step}`);
  }
  const value = holder[key];
  if (edit !== undefined)
    holder[key] = typeof value === 'string' ? replaceOnce(value, edit) : parse(replaceOnce(inFlow(value), edit));
  else if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[key];
}

const inFlow = (value: unknown): string =>
  stringify(value, {collectionStyle: 'flow', flowCollectionPadding: false, lineWidth: 0}).trimEnd();

/** Where in a list the one element is that has this index, this name, this value, or these words in its message. */
function indexOf(list: readonly Holder[], words: string): number {
  if (/^\d+$/.test(words)) return Number(words);
  const saysSo = ({message, messageExpression}: Holder) => String(message ?? messageExpression).includes(words);
  const named = list.filter((e) => e.name === words);
  const found = named.length > 0 ? named : list.filter((e) => leaves(e).includes(words) || saysSo(e));
  if (found.length !== 1) throw new Error(`it has ${found.length} elements [${words}], not one`);
  return list.indexOf(found[0]!);
}

function leaves(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [value];
}
