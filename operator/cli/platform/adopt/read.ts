/** Reads the cluster's objects about hostnames that other software serves. */
import type {CustomDomain, DomainClaim} from '../../../api/foreign.ts';
import {toPolicy, type Settings} from '../../../config.ts';
import {ownerLabel} from '../../../resources/labels.ts';
import {
  accounts,
  certificates,
  customDomains,
  domainClaims,
  ingresses,
  namespaces,
} from '../../../resources/resources.ts';
import type {PrivateKey} from '../../../domain/certificates/certificate.ts';
import {type Hostname, objectNameOf} from '../../../domain/hostnames/hostname.ts';
import {named} from '../../../domain/hostnames/hosts.ts';
import {homeOf, useOf} from '../../../domain/routes/routes.ts';
import {accountOf, type Tenant, tenantOf} from '../../../domain/tenant.ts';
import type {Policy} from '../../../domain/world.ts';
import type {Client} from '../../../kube/client/client.ts';
import {doAll} from '../../../kube/writes/side-by-side.ts';
import {defineResource, type Key, type KubeObject} from '../../../kube/objects.ts';
import type {Subject} from '../../check/subjects.ts';
import {CommandError} from '../../errors.ts';
import {pairIn, type Secret} from './pair.ts';
import {type AdoptPlan, planFor, secretOf, type Serving} from './plan.ts';

export const secrets = defineResource<Secret>({
  group: '',
  version: 'v1',
  plural: 'secrets',
  kind: 'Secret',
  namespaced: true,
});

/** A hostname, its planned adoption, and the objects that this needs. */
export interface AdoptRow extends AdoptPlan {
  hostname: Hostname;
  namespace: string;
  tenant: Tenant;
  claim: DomainClaim | undefined;
  serving: readonly Serving[];
  /** The Secret and key to adopt. */
  source?: {secret: Secret; privateKey: PrivateKey};
  /** Location of its Certificate and Secret: `namespace/name`. */
  place: Key;
}

/** An Ingress of somebody else's. */
interface ForeignIngress {
  name: string;
  hosts: string[];
  secretOf: (hostname: Hostname) => string | undefined;
}

export interface AdoptFacts {
  policy: Policy;
  rows: AdoptRow[];
  /** Ingresses of others by namespace, with all their hosts. */
  others: Map<string, ForeignIngress[]>;
}

export async function readAll(
  client: Client,
  subjects: readonly Subject[],
  {settings, home, now}: {settings: Settings; home: string; now: number},
): Promise<AdoptFacts> {
  const policy = toPolicy(settings, home);
  const found: AdoptFacts = {policy, rows: [], others: new Map()};
  for (const {namespace, domains} of subjects) {
    const [tenant, others, {items: standing}] = await Promise.all([
      tenantIn(client, namespace),
      othersIn(client, namespace),
      client.list(customDomains, {namespace}),
    ]);
    found.others.set(namespace, others);
    const wanted = domains.flatMap((domain) => named(domain, policy));
    const rows = await doAll(wanted, (one) => rowOf(client, one, {namespace, tenant, others, standing, policy, now}));
    found.rows.push(...rows);
  }
  return found;
}

/** Its plan is not looked at: what it allows is for `check` and for the operator to say. */
async function tenantIn(client: Client, namespace: string): Promise<Tenant> {
  const found = await client.get(namespaces, namespace);
  if (!found)
    throw new CommandError(`there is no namespace ${namespace}: create it first, with the label of its Account`);
  const account = accountOf(found.metadata.labels);
  const read = account === undefined ? undefined : await client.get(accounts, account);
  if (account !== undefined && !read)
    throw new CommandError(`there is no Account ${account}, which the namespace ${namespace} names`);
  const of = {uid: found.metadata.uid ?? '', ...(account !== undefined && {account})};
  return tenantOf(of, '', {account: () => read, plan: () => undefined});
}

const solverLabel = 'acme.cert-manager.io/http01-solver';
const isOfOthers = ({metadata: {labels = {}}}: KubeObject): boolean =>
  !(ownerLabel in labels) && !(solverLabel in labels);

async function othersIn(client: Client, namespace: string): Promise<ForeignIngress[]> {
  const {items} = await client.list(ingresses, {namespace});
  return items.filter(isOfOthers).map(({metadata: {name}, spec: {rules = [], tls = []}}) => ({
    name,
    hosts: rules.flatMap(({host}) => host ?? []),
    secretOf: (hostname) => tls.find(({hosts = []}) => hosts.includes(hostname))?.secretName,
  }));
}

/** The Ingresses that serve a hostname. */
const servingOf = (others: readonly ForeignIngress[], hostname: Hostname): Serving[] =>
  others
    .filter(({hosts}) => hosts.includes(hostname))
    .map(({name, secretOf: secretFor}) => {
      const secretName = secretFor(hostname);
      return {name, ...(secretName !== undefined && {secretName})};
    });

async function rowOf(
  client: Client,
  one: ReturnType<typeof named>[number],
  {
    namespace,
    tenant,
    others,
    standing,
    policy,
    now,
  }: {
    namespace: string;
    tenant: Tenant;
    others: readonly ForeignIngress[];
    standing: readonly CustomDomain[];
    policy: Policy;
    now: number;
  },
): Promise<AdoptRow> {
  const {hostname, role} = one;
  const home = homeOf(useOf(role), namespace, policy.redirector);
  const place = `${home}/${objectNameOf(tenant.namespaceUID, hostname)}`;
  const serving = servingOf(others, hostname);
  const secretName = secretOf(serving);
  const [claim, certificate, secret] = await Promise.all([
    one.refusal ? undefined : client.get(domainClaims, hostname),
    client.get(certificates, place),
    secretName === undefined ? undefined : client.get(secrets, `${namespace}/${secretName}`),
  ]);
  const entry = standing.flatMap(({status}) => status?.hosts ?? []).find((host) => host.hostname === hostname);
  const pair = secret && pairIn(secret, hostname, now);
  const plan = planFor({now, named: one, tenant, claim, entry, serving, pair, certificate});
  const source = secret && pair?.kind === 'Good' ? {secret, privateKey: pair.privateKey} : undefined;
  return {...plan, hostname, namespace, tenant, claim, serving, place, ...(source && {source})};
}
