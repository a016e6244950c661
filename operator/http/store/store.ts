/** Finds objects that a caller may see, in the caches. Objects of another namespace do not exist for the caller. */
import type {Logger} from 'pino';
import type {ApiKey, CustomDomain, Project} from '../../api/foreign.ts';
import {apiKeysByHash} from '../../controllers/api-key.ts';
import {bare, bareKey} from '../../resources/projections.ts';
import {namespaceOf, projectOf} from '../../resources/relations.ts';
import {apiKeys, customDomains, projects} from '../../resources/resources.ts';
import {older} from '../../domain/hostnames/acceptance.ts';
import {byText} from '../../domain/text.ts';
import {Cache} from '../../kube/cache/cache.ts';
import type {Client} from '../../kube/client/client.ts';
import type {ManagedFieldsEntry} from '../../kube/objects.ts';
import {keyOf} from '../../kube/objects.ts';
import {otherManager} from './managers.ts';
import {Problem} from '../problems.ts';

/** A CustomDomain, and who beside the API owns its spec. */
export interface OwnedDomain extends CustomDomain {
  managedBy?: string;
}

const ownedDomain = (domain: CustomDomain, managedFields: readonly ManagedFieldsEntry[]): OwnedDomain => ({
  ...bare(domain),
  managedBy: otherManager(managedFields),
});

/** An ApiKey, and who owns its spec, unless it was made by a tool of Doorplate's. */
export interface OwnedKey extends ApiKey {
  managedBy?: string;
}

const ownedKey = (key: ApiKey, managedFields: readonly ManagedFieldsEntry[]): OwnedKey => ({
  ...bareKey(key),
  managedBy: otherManager(managedFields),
});

/** What a {@link ObjectStore} reads. */
export const storeCaches = (client: Client, log: Logger) => ({
  projects: new Cache<Project, Project>(client, projects, {log, project: bare, indexes: {namespace: namespaceOf}}),
  domains: new Cache<OwnedDomain, CustomDomain>(client, customDomains, {
    log,
    project: ownedDomain,
    indexes: {project: projectOf},
  }),
  keys: new Cache<OwnedKey, ApiKey>(client, apiKeys, {
    log,
    project: ownedKey,
    indexes: {namespace: namespaceOf, ...apiKeysByHash},
  }),
});

type StoreCaches = ReturnType<typeof storeCaches>;

export class ObjectStore {
  readonly #caches: StoreCaches;

  constructor(caches: StoreCaches) {
    this.#caches = caches;
  }

  findProject(namespace: string, name: string): Project | undefined {
    return this.#caches.projects.get(`${namespace}/${name}`);
  }

  /** Throws `not-found`, in the same words whether it is missing or another's. */
  project(namespace: string, name: string): Project {
    const found = this.findProject(namespace, name);
    if (!found) throw new Problem('not-found', 'The project does not exist.');
    return found;
  }

  /** The CustomDomain that a Project's domains are in: the oldest that names it (of two of one second, by name). */
  domainOf(project: Project): OwnedDomain | undefined {
    return this.#caches.domains.by('project', keyOf(project)).toSorted(older)[0];
  }

  /** The name for a Project's first CustomDomain: its own, unless that is taken by another Project's. */
  freeName({metadata: {namespace, name}}: Project): string {
    return this.#caches.domains.get(`${namespace}/${name}`) ? `${name}-domains` : name;
  }

  projects(namespace: string): Project[] {
    return this.#caches.projects.by('namespace', namespace).toSorted(byName);
  }

  /** Throws `not-found`. */
  key(namespace: string, name: string): OwnedKey {
    const found = this.#caches.keys.get(`${namespace}/${name}`);
    if (!found) throw new Problem('not-found', 'The key does not exist.');
    return found;
  }

  keys(namespace: string): OwnedKey[] {
    return this.#caches.keys.by('namespace', namespace).toSorted(byName);
  }
}

type NamedObject = {metadata: {name: string}};
export const objectName = ({metadata: {name}}: NamedObject): string => name;
const byName = (a: NamedObject, b: NamedObject): number => byText(objectName(a), objectName(b));

/** A page of items sorted by `idOf`: the items that follow `after`. */
export function pageOf<T>(
  all: readonly T[],
  idOf: (item: T) => string,
  {limit, after = ''}: {limit: number; after?: string},
): {items: T[]; next: string | null} {
  const rest = all.filter((item) => idOf(item) > after);
  const items = rest.slice(0, limit);
  return {items, next: rest.length > limit ? idOf(items.at(-1)!) : null};
}
