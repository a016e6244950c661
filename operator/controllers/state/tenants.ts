import type {Logger} from 'pino';
import type {Account, CustomDomain, Plan} from '../../api/foreign.ts';
import type {Tenant} from '../../domain/tenant.ts';
import {accountOf, tenantOf} from '../../domain/tenant.ts';
import {Cache} from '../../kube/cache/cache.ts';
import type {Client} from '../../kube/client/client.ts';
import {StaleReadError} from '../../kube/errors.ts';
import type {HasMeta, KubeObject} from '../../kube/objects.ts';
import {bare, identity} from '../../resources/projections.ts';
import {accounts, namespaces, plans} from '../../resources/resources.ts';

/** The cached part of a Namespace: its Account, and the start of its deletion. */
interface TenantNamespace extends HasMeta {
  account?: string;
}

const tenantNamespace = ({metadata}: KubeObject): TenantNamespace => {
  const {labels, deletionTimestamp} = metadata;
  const account = accountOf(labels);
  return {
    metadata: {...identity(metadata), ...(deletionTimestamp !== undefined && {deletionTimestamp})},
    ...(account !== undefined && {account}),
  };
};

/** What {@link Tenants} reads. */
export const tenantCaches = (client: Client, log: Logger) => ({
  namespaces: new Cache<TenantNamespace, KubeObject>(client, namespaces, {
    log,
    project: tenantNamespace,
    // '' for a Namespace without an Account.
    indexes: {account: (n) => [n.account ?? '']},
  }),
  accounts: new Cache<Account, Account>(client, accounts, {
    log,
    project: bare,
    indexes: {plan: (a) => [a.spec.planRef.name]},
  }),
  plans: new Cache<Plan, Plan>(client, plans, {log, project: bare}),
});

type TenantCaches = ReturnType<typeof tenantCaches>;

/**
 * Resolves if the API server confirms that a Namespace belongs to this tenant. Otherwise throws a StaleReadError: until the watch reports a
 * re-created Namespace, the cache has the old one.
 */
export async function confirmTenant(
  client: Pick<Client, 'get'>,
  namespace: string,
  {account, namespaceUID}: Tenant,
): Promise<void> {
  const live = await client.get(namespaces, namespace);
  if (live?.metadata.uid !== namespaceUID || accountOf(live.metadata.labels) !== account) {
    throw new StaleReadError(
      `Namespace ${namespace} has changed since it was read: deleted, created again, or moved to another Account`,
    );
  }
}

/** Says whose a namespace is, out of three caches, and tells of the namespaces for which that has changed. */
export class Tenants {
  readonly #caches: TenantCaches;
  readonly #defaultPlan: string;

  constructor(caches: TenantCaches, defaultPlan: string) {
    this.#caches = caches;
    this.#defaultPlan = defaultPlan;
  }

  /** Undefined until the Namespace has been seen. Then `onChange` reports it. */
  of(namespace: string): Tenant | undefined {
    const found = this.#caches.namespaces.get(namespace);
    return (
      found &&
      tenantOf({account: found.account, uid: found.metadata.uid ?? ''}, this.#defaultPlan, {
        account: (name) => this.#caches.accounts.get(name),
        plan: (name) => this.#caches.plans.get(name),
      })
    );
  }

  /** Whether a namespace is being deleted: the API server takes nothing new into it, and deletes what is in it in any order. */
  isBeingDeleted(namespace: string): boolean {
    return this.#caches.namespaces.get(namespace)?.metadata.deletionTimestamp !== undefined;
  }

  /** Whether a namespace does not exist or is being deleted. Every write into it fails. */
  isGone(namespace: string): boolean {
    return this.#caches.namespaces.get(namespace) === undefined || this.isBeingDeleted(namespace);
  }

  /** How many of these are in a namespace whose Account, or its Plan, does not exist. */
  countWithoutPlan(domains: readonly CustomDomain[]): number {
    const lost = new Map<string, number>();
    for (const {
      metadata: {namespace = ''},
    } of domains) {
      if (!lost.has(namespace)) lost.set(namespace, 'missing' in (this.of(namespace)?.plan ?? {}) ? 1 : 0);
    }
    return domains.reduce((sum, d) => sum + (lost.get(d.metadata.namespace ?? '') ?? 0), 0);
  }

  /** Calls the handler with each namespace whose tenant or plan has changed, or whose deletion has begun. */
  onChange(handler: (namespace: string) => void): void {
    const ofAccount = (account: string) => {
      for (const n of this.#caches.namespaces.by('account', account)) handler(n.metadata.name);
    };
    this.#caches.namespaces.onChange((now, before) => {
      const same =
        now?.account === before?.account &&
        now?.metadata.uid === before?.metadata.uid &&
        now?.metadata.deletionTimestamp === before?.metadata.deletionTimestamp;
      if (!same) handler((now ?? before)!.metadata.name);
    });
    this.#caches.accounts.onChange((now, before) => {
      if (now?.spec.planRef.name !== before?.spec.planRef.name) ofAccount((now ?? before)!.metadata.name);
    });
    this.#caches.plans.onChange((now, before) => {
      const [a, b] = [now?.spec.customDomains, before?.spec.customDomains];
      const sameProjects = now?.spec.maxProjects === before?.spec.maxProjects;
      if (a?.allowed === b?.allowed && a?.maxHostnamesPerProject === b?.maxHostnamesPerProject && sameProjects) return;
      const {name} = (now ?? before)!.metadata;
      for (const account of this.#caches.accounts.by('plan', name)) ofAccount(account.metadata.name);
      if (name === this.#defaultPlan) ofAccount('');
    });
  }
}
