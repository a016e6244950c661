import type {Account, ApiKey, CustomDomain, Plan, Project} from '../../api/foreign.ts';
import type {Tenants} from '../../controllers/state/tenants.ts';
import type {Cache} from '../../kube/cache/cache.ts';
import {isDeepEqual} from '../../kube/equality.ts';
import type {HasMeta, KubeObject} from '../../kube/objects.ts';
import {keyOf} from '../../kube/objects.ts';
import type {OwnedDomain, OwnedKey} from '../store/store.ts';

/** The changed part of a namespace. */
export type Changed = {project: string} | {keys: true} | {account: true};
type Listener = (changed?: Changed) => void;

/**
 * Tells open event streams what has changed: of a Project (its CustomDomains among it), of an ApiKey, of a namespace, or that all
 * must end.
 */
export class EventHub {
  readonly #listeners = new Map<string, Set<Listener>>();
  #closing = false;

  constructor({
    projects,
    domains,
    keys,
    tenants,
    ...limits
  }: {
    projects: Cache<Project, Project>;
    domains: Cache<OwnedDomain, CustomDomain>;
    keys: Cache<OwnedKey, ApiKey>;
    tenants: Pick<Tenants, 'onChange' | 'of'>;
  } & LimitCaches) {
    projects.onChange((now, before) =>
      this.#reportProject((now ?? before)!.metadata.namespace ?? '', (now ?? before)!.metadata.name),
    );
    const reportAccount = (namespace: string): void => this.tell(namespaceTopic(namespace), {account: true});
    tenants.onChange(reportAccount);
    onLimitChange(limits, tenants, reportAccount);
    domains.onChange((now, before) => {
      const {metadata, spec} = (now ?? before)!;
      this.#reportProject(metadata.namespace ?? '', spec.projectRef.name);
    });
    keys.onChange((now, before) => {
      const key = (now ?? before)!;
      this.tell(keyTopic(key));
      this.tell(namespaceTopic(key.metadata.namespace ?? ''), {keys: true});
    });
  }

  /** True when streams must end, and no new one begins. */
  get closing(): boolean {
    return this.#closing;
  }

  /** Calls after each change of one of the topics; returns what ends that. */
  listen(topics: readonly string[], listener: Listener): () => void {
    for (const topic of topics) {
      const listeners = this.#listeners.get(topic) ?? new Set();
      this.#listeners.set(topic, listeners.add(listener));
    }
    return () => {
      for (const topic of topics) {
        const listeners = this.#listeners.get(topic);
        listeners?.delete(listener);
        if (listeners?.size === 0) this.#listeners.delete(topic);
      }
    };
  }

  tell(topic: string, changed?: Changed): void {
    for (const listener of this.#listeners.get(topic) ?? []) listener(changed);
  }

  #reportProject(namespace: string, name: string): void {
    this.tell(`project:${namespace}/${name}`);
    this.tell(namespaceTopic(namespace), {project: name});
  }

  /** Wakes every stream for the last time. */
  close(): void {
    this.#closing = true;
    for (const listeners of this.#listeners.values()) for (const listener of listeners) listener();
  }
}

/** Caches that determine a tenant's quota. */
interface LimitCaches {
  namespaces: Pick<Cache<HasMeta, KubeObject>, 'by' | 'list'>;
  accounts: Pick<Cache<Account, Account>, 'onChange'>;
  plans: Pick<Cache<Plan, Plan>, 'onChange'>;
}

/** Calls with each namespace whose tenant may make more or fewer requests than before, by the same Account and the same Plan. */
function onLimitChange(
  {namespaces, accounts, plans}: LimitCaches,
  tenants: Pick<Tenants, 'of'>,
  tell: (namespace: string) => void,
): void {
  accounts.onChange((now, before) => {
    if (!now || !before || isDeepEqual(now.spec.rateLimit, before.spec.rateLimit)) return;
    for (const {metadata} of namespaces.by('account', now.metadata.name)) tell(metadata.name);
  });
  plans.onChange((now, before) => {
    if (!now || !before || isDeepEqual(now.spec.rateLimit, before.spec.rateLimit)) return;
    for (const {metadata} of namespaces.list()) {
      const plan = tenants.of(metadata.name)?.plan;
      if (plan && 'metadata' in plan && plan.metadata.name === now.metadata.name) tell(metadata.name);
    }
  });
}

export const projectTopic = (project: HasMeta): string => `project:${keyOf(project)}`;
export const namespaceTopic = (namespace: string): string => `namespace:${namespace}`;
export const keyTopic = (key: HasMeta): string => `key:${keyOf(key)}`;
export const sessionTopic = (id: string): string => `session:${id}`;
export const banTopic = (hash: string): string => `ban:${hash}`;
