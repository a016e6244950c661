import type {Account, CustomDomain, Plan} from '../api/foreign.ts';
import type {Tenant} from '../domain/tenant.ts';
import {accountOf, tenantOf} from '../domain/tenant.ts';
import type {Cache} from '../kube/cache.ts';
import type {HasMeta, KubeObject} from '../kube/objects.ts';

/** What is kept of a Namespace: whose it is. */
export interface TenantNamespace extends HasMeta {
  account?: string;
}

export const tenantNamespace = ({metadata: {name, uid, resourceVersion, labels}}: KubeObject): TenantNamespace => {
  const account = accountOf(labels);
  return {metadata: {name, uid, resourceVersion}, ...(account !== undefined && {account})};
};

/** Under what a Namespace is found again: its Account, or `''` without one. */
export const namespacesByAccount = {account: (n: TenantNamespace) => [n.account ?? '']};
export const accountsByPlan = {plan: (a: Account) => [a.spec.planRef.name]};

/** Says whose a namespace is, out of three caches, and tells of the namespaces for which that has changed. */
export class Tenants {
  readonly #namespaces: Cache<TenantNamespace, KubeObject>;
  readonly #accounts: Cache<Account, Account>;
  readonly #plans: Cache<Plan, Plan>;
  readonly #defaultPlan: string;

  /** Indexed by {@link namespacesByAccount} and {@link accountsByPlan}. */
  constructor(p: {
    namespaces: Cache<TenantNamespace, KubeObject>;
    accounts: Cache<Account, Account>;
    plans: Cache<Plan, Plan>;
    defaultPlan: string;
  }) {
    this.#namespaces = p.namespaces;
    this.#accounts = p.accounts;
    this.#plans = p.plans;
    this.#defaultPlan = p.defaultPlan;
  }

  /** Undefined while the Namespace has not been seen: it will be told of. */
  of(namespace: string): Tenant | undefined {
    const found = this.#namespaces.get(namespace);
    return (
      found &&
      tenantOf({account: found.account, uid: found.metadata.uid ?? ''}, this.#defaultPlan, {
        account: (name) => this.#accounts.get(name),
        plan: (name) => this.#plans.get(name),
      })
    );
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

  /** Calls with each namespace whose tenant, or what that may have, is another than before. */
  onChange(handler: (namespace: string) => void): void {
    const ofAccount = (account: string) => {
      for (const n of this.#namespaces.by('account', account)) handler(n.metadata.name);
    };
    this.#namespaces.onChange((now, before) => {
      if (!now || !before || now.account !== before.account || now.metadata.uid !== before.metadata.uid)
        handler((now ?? before)!.metadata.name);
    });
    this.#accounts.onChange((now, before) => {
      if (now?.spec.planRef.name !== before?.spec.planRef.name) ofAccount((now ?? before)!.metadata.name);
    });
    this.#plans.onChange((now, before) => {
      const [a, b] = [now?.spec.customDomains, before?.spec.customDomains];
      if (a?.allowed === b?.allowed && a?.maxHostnamesPerProject === b?.maxHostnamesPerProject) return;
      const {name} = (now ?? before)!.metadata;
      for (const account of this.#accounts.by('plan', name)) ofAccount(account.metadata.name);
      if (name === this.#defaultPlan) ofAccount('');
    });
  }
}
