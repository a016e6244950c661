import type {Project} from '../../api/foreign.ts';
import {byAge, projectLimitOf} from '../../domain/project/limit.ts';
import type {Change} from '../../kube/cache/cache.ts';
import {type Key, keyOf} from '../../kube/objects.ts';
import type {Caches} from './caches.ts';
import type {Tenants} from './tenants.ts';

type Namespace = ReturnType<Caches['namespaces']['list']>[number];

/**
 * The Projects that are within their tenant's plan limit. A Project that is being deleted does not count. Without a limit nothing is
 * counted.
 */
export class ProjectSlots {
  readonly #caches: Pick<Caches, 'namespaces' | 'projects'>;
  readonly #tenants: Pick<Tenants, 'of'>;

  constructor(caches: Pick<Caches, 'namespaces' | 'projects'>, tenants: Pick<Tenants, 'of'>) {
    this.#caches = caches;
    this.#tenants = tenants;
  }

  /** How many of its tenant's Projects have a place before this one; 0 where there is no limit. */
  ahead(project: Project): number {
    const among = this.#among(project.metadata.namespace ?? '');
    return among?.projects.filter((other) => byAge(other, project) < 0).length ?? 0;
  }

  /** The Project that gets or loses a place by a change of another. */
  movedBy = (now: Project | undefined, before: Project | undefined): Key[] => {
    const [is, was] = [now && !isBeingDeleted(now), before && !isBeingDeleted(before)];
    const changed = (now ?? before)!;
    if (is === was) return [];
    const among = this.#among(changed.metadata.namespace ?? '');
    if (!among) return [];
    const {limit, projects} = among;
    // Projects beyond the limit may come and go in any number without affecting others.
    if (projects.length < limit || projects.filter((p) => byAge(p, changed) < 0).length >= limit) return [];
    const moved = projects.toSorted(byAge)[is ? limit : limit - 1];
    return moved ? [keyOf(moved)] : [];
  };

  /** The Projects of both tenants where a Namespace with Projects passes from one to the other. */
  movedByNamespace = (...[now, before]: Change<Namespace>): Key[] => {
    const {name} = (now ?? before)!.metadata;
    if (now?.account === before?.account || this.#caches.projects.by('namespace', name).length === 0) return [];
    const accounts = [now?.account, before?.account].filter((account) => account !== undefined);
    return accounts.flatMap((account) => this.#ofAccount(account).map(keyOf));
  };

  #ofAccount(account: string): Project[] {
    return this.#caches.namespaces
      .by('account', account)
      .flatMap(({metadata}) => this.#caches.projects.by('namespace', metadata.name));
  }

  /** The Projects that share a limit with the Projects of a namespace; undefined if there is no limit. */
  #among(namespace: string): {limit: number; projects: Project[]} | undefined {
    const tenant = this.#tenants.of(namespace);
    const limit = tenant && projectLimitOf(tenant);
    if (!tenant || limit === undefined) return undefined;
    const all =
      tenant.account === undefined ? this.#caches.projects.by('namespace', namespace) : this.#ofAccount(tenant.account);
    return {limit, projects: all.filter((project) => !isBeingDeleted(project))};
  }
}

const isBeingDeleted = ({metadata}: Project): boolean => metadata.deletionTimestamp !== undefined;
