/** What is to be checked: CustomDomains that are not applied yet, out of hostnames or of files. */
import {parseAllDocuments} from 'yaml';
import type {core} from 'zod';
import {customDomainKind} from '../../api/custom-domain.ts';
import {group, version} from '../../api/crd.ts';
import type {CustomDomain, Project} from '../../api/foreign.ts';
import {projectKind} from '../../api/project.ts';
import {aLabelAdvice, normalise} from '../../domain/hostnames/hostname.ts';
import type {KubeObject} from '../../kube/objects.ts';
import {CommandError, UsageError} from '../errors.ts';

/** Objects of one namespace as they would be applied, without the existing objects. */
export interface Subject {
  namespace: string;
  domains: CustomDomain[];
  projects: Project[];
}

/** Files with their texts. Throws CommandError. */
export function textsOf(
  files: readonly string[],
  read: (file: string) => Promise<string>,
): Promise<{file: string; text: string}[]> {
  const textOf = async (file: string): Promise<string> => {
    try {
      return await read(file);
    } catch (error) {
      throw new CommandError(`${file} can't be read: ${(error as Error).message}`);
    }
  };
  return Promise.all(files.map(async (file) => ({file, text: await textOf(file)})));
}

const apiVersion = `${group}/${version}`;

/** The CustomDomains and Projects in YAML; everything else is passed over. Throws CommandError with what is wrong. */
export function subjectsIn(texts: readonly {file: string; text: string}[], namespace: string): Subject[] {
  const objects = texts.flatMap(({file, text}) => objectsIn(file, text));
  const found = objects.filter((object) => object?.apiVersion === apiVersion);
  const byNamespace = Map.groupBy(found, (object) => object.metadata?.namespace ?? namespace);
  const subjects = [...byNamespace].map(([of, all]) => ({
    namespace: of,
    domains: all.flatMap((object) => (object.kind === 'CustomDomain' ? checkedDomain(object as CustomDomain, of) : [])),
    projects: all.flatMap((object) => (object.kind === 'Project' ? checkedProject(object as Project, of) : [])),
  }));
  if (subjects.some(({domains}) => domains.length > 0)) return subjects;
  throw new CommandError(`there is no CustomDomain of ${apiVersion} in ${texts.map(({file}) => file).join(', ')}`);
}

/** The objects in YAML or JSON, those of lists among them. Throws CommandError. */
export function objectsIn(file: string, text: string): KubeObject[] {
  const documents = parseAllDocuments(text);
  const [error] = documents.flatMap((document) => document.errors);
  if (error) throw new CommandError(`${file}: ${error.message}`);
  const objects = documents.map((document) => document.toJS() as (KubeObject & {items?: KubeObject[]}) | null);
  return objects.flatMap((object) => (object?.kind === 'List' ? (object.items ?? []) : (object ?? [])));
}

function checkedDomain(object: CustomDomain, namespace: string): CustomDomain {
  const name = nameOf(object);
  return {
    ...object,
    metadata: {...object.metadata, name, namespace},
    spec: accepted(customDomainKind.spec.safeParse(object.spec), object),
  };
}

function checkedProject(object: Project, namespace: string): Project {
  const name = nameOf(object);
  return {
    ...object,
    metadata: {...object.metadata, name, namespace},
    spec: accepted(projectKind.spec.safeParse(object.spec), object),
  };
}

function nameOf({kind, metadata}: KubeObject): string {
  const name: unknown = metadata?.name;
  if (typeof name === 'string' && name !== '') return name;
  throw new CommandError(`a ${kind} without metadata.name: generated names can't be checked`);
}

/** The API server would say the same, in CEL. */
function accepted<T>(
  result: {success: true; data: T} | {success: false; error: core.$ZodError},
  {kind, metadata, spec}: KubeObject & {spec?: unknown},
): T {
  if (result.success) return result.data;
  const wrong = result.error.issues.map(({path, message}) => `${['spec', ...path].join('.')}: ${message}`);
  if (kind === 'CustomDomain') wrong.push(...hostnamesIn(spec).flatMap((written) => aLabelAdvice(written) ?? []));
  throw new CommandError(`the ${kind} ${metadata.name} would be refused: ${wrong.join('; ')}`);
}

/** The hostnames of a spec that need not be valid. */
function hostnamesIn(spec: unknown): string[] {
  const {primary, redirects} = Object(spec) as {primary?: unknown; redirects?: unknown};
  const sources = Array.isArray(redirects) ? redirects.map((each) => (Object(each) as {from?: unknown}).from) : [];
  return [primary, ...sources].filter((name) => typeof name === 'string');
}

const normal = (written: string): string => normalise(written) ?? written;

/** A Project's CustomDomain with additional hostnames: the existing one, or a new one with the Project's name. */
export function withHostnames(
  hostnames: readonly string[],
  {namespace, project, standing}: {namespace: string; project: string; standing: CustomDomain | undefined},
): Subject {
  const domain = standing ?? newDomain(hostnames, {namespace, project});
  const has = new Set([domain.spec.primary, ...(domain.spec.redirects ?? []).map(({from}) => from)].map(normal));
  const more = hostnames.filter((hostname) => !has.has(normal(hostname)));
  const redirects = [...(domain.spec.redirects ?? []), ...more.map((from) => ({from, status: 301 as const}))];
  const whole = {...domain, spec: {...domain.spec, ...(redirects.length > 0 && {redirects})}};
  return {namespace, projects: [], domains: [checkedDomain(whole, namespace)]};
}

function newDomain(
  [primary]: readonly string[],
  {namespace, project}: {namespace: string; project: string},
): CustomDomain {
  if (primary === undefined) throw new UsageError('name a hostname, or a file (-f)');
  return {
    apiVersion,
    kind: 'CustomDomain',
    metadata: {name: project, namespace},
    spec: {projectRef: {name: project}, primary},
  };
}
