/**
 * The operator's inputs, as far as the user's own rights reveal them. Unreadable objects are assumed to be no obstacle, and reported as not
 * checked. Users who may not read other tenants' claims learn nothing about them.
 */
import {pino} from 'pino';
import type {Account, CustomDomain, DomainClaim, EndpointSlice, Project, Service} from '../../api/foreign.ts';
import {toPolicy} from '../../config.ts';
import type {Settings} from '../../config.ts';
import {EdgeAddresses} from '../../controllers/state/edge-addresses.ts';
import {issuersNow} from '../../controllers/issuers.ts';
import {Cas} from '../../controllers/state/cas.ts';
import {hostnamesOf, projectKey} from '../../resources/relations.ts';
import {
  accounts,
  customDomains,
  domainClaims,
  endpointSlices,
  namespaces,
  plans,
  projects,
  services,
} from '../../resources/resources.ts';
import {resolveAddresses} from '../../dns/addresses.ts';
import {systemResolvers} from '../../dns/resolvers.ts';
import {identityOf} from '../../domain/claims/claim.ts';
import {defaultHostOf, hostsByClaim} from '../../domain/project/default-hostname.ts';
import {type Hostname, projectHost} from '../../domain/hostnames/hostname.ts';
import {decideProject} from '../../domain/project/project.ts';
import type {Edge} from '../../domain/verification/method.ts';
import {type Tenant, accountOf, tenantOf} from '../../domain/tenant.ts';
import {timestamp} from '../../domain/times.ts';
import type {Policy} from '../../domain/world.ts';
import type {Client} from '../../kube/client/client.ts';
import {type Key, keyOf} from '../../kube/objects.ts';
import {CommandError, isForbidden} from '../errors.ts';
import {anyPlan, publishedPlan} from './published.ts';
import type {Subject} from './subjects.ts';

export interface CheckFacts {
  policy: Policy;
  /** The edge, as far as it can be known here. */
  edge: Edge;
  cas: Pick<Cas, 'all' | 'identities' | 'unavailableSince' | 'isCertain'>;
  tenant: Tenant;
  /** By key: those of the namespace, and those of others' claims. */
  projects: Map<Key, Project>;
  domains: CustomDomain[];
  claims: Map<Hostname, DomainClaim>;
  /** Whether the user may read DomainClaims. */
  areClaimsRead: boolean;
  /** Facts that could not be checked, as sentences without a full stop. */
  notChecked: string[];
}

/** UID of a Project or a CustomDomain that does not exist yet. */
const uidToBe = 'not-made-yet';

const unreadClaims = 'whether another tenant owns a hostname, because you may not read DomainClaims';

/** Asks for all of it. Throws CommandError, and what the API server says of what nothing can be checked without. */
export async function knownOf(
  client: Client,
  subject: Subject,
  {settings, home, now}: {settings: Settings; home: string; now: number},
): Promise<CheckFacts> {
  const asker = new Asker(client);
  const {namespace} = subject;
  const policy = toPolicy(settings, home);
  const [read, standing, cas, claims, edge] = await Promise.all([
    asker.tenant(namespace, settings.defaultPlan),
    client.list(customDomains, {namespace}),
    asker.certificateAuthorities(settings, home, policy),
    asker.claims(subject),
    asker.edge(settings),
  ]);
  const tenant = read.plan === anyPlan ? {...read, plan: publishedPlan(read, standing.items)} : read;
  const domains = overlaid(standing.items, subject.domains, now);
  const known: CheckFacts = {
    policy: {...policy, ...edge, issuers: issuersNow(policy, cas)},
    cas,
    edge,
    tenant,
    projects: new Map(),
    domains,
    claims,
    areClaimsRead: !asker.notChecked.includes(unreadClaims),
    notChecked: asker.notChecked,
  };
  for (const name of new Set(subject.domains.map(({spec}) => spec.projectRef.name))) {
    const project = await asker.project(subject, name, {...known, now});
    if (project) known.projects.set(`${namespace}/${name}`, project);
  }
  await asker.addHolders(known);
  return known;
}

/** Existing objects, with the objects to apply in their place. */
function overlaid(standing: readonly CustomDomain[], wanted: readonly CustomDomain[], now: number): CustomDomain[] {
  const kept = standing.filter((domain) => !wanted.some((want) => keyOf(want) === keyOf(domain)));
  const creationTimestamp = timestamp(now);
  return [
    ...kept,
    ...wanted.map((want): CustomDomain => {
      const before = standing.find((domain) => keyOf(domain) === keyOf(want));
      if (before) return {...before, spec: want.spec};
      const metadata = {...want.metadata, uid: `${uidToBe}-${want.metadata.name}`, creationTimestamp, generation: 1};
      return {...want, metadata};
    }),
  ];
}

const unknownPlan = (unread: string): string => `the plan, because you may not read ${unread}`;

/** Reads with the user's rights and notes the missing rights. */
class Asker {
  readonly notChecked: string[] = [];
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** What was asked for; where that is forbidden, a note. */
  async #allowed<T>(asked: Promise<T>, note: string): Promise<T | undefined | 'forbidden'> {
    try {
      return await asked;
    } catch (error) {
      if (!isForbidden(error)) throw error;
      if (!this.notChecked.includes(note)) this.notChecked.push(note);
      return 'forbidden';
    }
  }

  async tenant(namespace: string, defaultPlan: string): Promise<Tenant> {
    const found = await this.#client.get(namespaces, namespace);
    if (!found) throw new CommandError(`there is no namespace ${namespace}. Name another one (-n), or create it`);
    const [account, uid] = [accountOf(found.metadata.labels), found.metadata.uid ?? ''];
    const read: Account | undefined | 'forbidden' =
      account === undefined
        ? undefined
        : await this.#allowed(this.#client.get(accounts, account), unknownPlan(`the Account ${account}`));
    const planName = account === undefined ? defaultPlan : read === 'forbidden' ? undefined : read?.spec.planRef.name;
    const plan =
      planName === undefined
        ? undefined
        : await this.#allowed(this.#client.get(plans, planName), unknownPlan(`the Plan ${planName}`));
    if (read === 'forbidden' || plan === 'forbidden') {
      return {namespaceUID: uid, plan: anyPlan, ...(account !== undefined && {account})};
    }
    return tenantOf({uid, ...(account !== undefined && {account})}, defaultPlan, {
      account: () => read,
      plan: () => plan,
    });
  }

  /** The names in CAA records, as the operator has them: those that are set, or else those that the CA's directory tells. */
  async certificateAuthorities(settings: Settings, namespace: string, {issuers}: Policy): Promise<CheckFacts['cas']> {
    const log = pino({level: 'silent'});
    const cas = new Cas({client: this.#client, issuers, namespace, recoveryMs: settings.issuerRecoveryTime, log});
    cas.start();
    await cas.synced;
    cas.stop();
    if (cas.all().every(({identities}) => identities.length === 0)) {
      this.notChecked.push('CAA records, because the names of the certificate authority are not known (caaIdentities)');
    }
    return cas;
  }

  /** The edge's addresses as the operator knows them: from the settings, from its hostname, or from the status of its Service. */
  async edge({edge, dns}: Settings): Promise<Edge> {
    const {namespace, name} = edge.service;
    const note = "whether addresses are the edge's, because the edge's addresses are not known here";
    const service =
      name === '' ? undefined : await this.#allowed(this.#client.get(services, `${namespace}/${name}`), note);
    const resolvers = dns.recursive.length > 0 ? dns.recursive : systemResolvers();
    const known = new EdgeAddresses({
      edge,
      services: {
        get: () => (service === 'forbidden' ? undefined : service),
        onChange: () => {},
        synced: Promise.resolve(),
      },
      resolve: (hostname, signal) => resolveAddresses(resolvers, hostname, {signal}),
      log: pino({level: 'silent'}),
    });
    known.start();
    await known.synced;
    known.stop();
    if (known.edge.edgeAddresses.length === 0 && !this.notChecked.includes(note)) this.notChecked.push(note);
    return known.edge;
  }

  /** Of the hostnames, by hostname: all of them, or none. */
  claims({domains}: Subject): Promise<Map<Hostname, DomainClaim>> {
    return this.#claimsOf(domains.flatMap(hostnamesOf));
  }

  async #claimsOf(hostnames: readonly Hostname[]): Promise<Map<Hostname, DomainClaim>> {
    const claims = new Map<Hostname, DomainClaim>();
    for (const hostname of new Set(hostnames)) {
      const claim = await this.#allowed(this.#client.get(domainClaims, hostname), unreadClaims);
      if (claim === 'forbidden') return new Map();
      if (claim) claims.set(hostname, claim);
    }
    return claims;
  }

  /** An existing Project, or a Project as it would be after it is applied and deployed; undefined: there is none. */
  async project(
    {namespace, projects: written}: Subject,
    name: string,
    {policy, tenant, now}: Pick<CheckFacts, 'policy' | 'tenant'> & {now: number},
  ): Promise<Project | undefined> {
    const standing = await this.#client.get(projects, `${namespace}/${name}`);
    const want = written.find(({metadata}) => metadata.name === name);
    if (standing?.status?.host !== undefined) return standing;
    if (!want) return standing;
    const project: Project = {...want, metadata: {...want.metadata, uid: uidToBe}};
    const parts = {installation: policy.installation, zone: policy.zone, namespace, name};
    const claims = await this.#claimsOf([
      projectHost({...parts, tenant: identityOf(tenant)}),
      ...hostsByClaim(parts, tenant, () => undefined),
    ]);
    const {status} = decideProject({
      now,
      project,
      ...(await this.#service(project)),
      domains: [],
      tenant,
      ahead: 0,
      ...defaultHostOf(project, tenant, policy, (host) => claims.get(host)),
      orders: [],
      facts: {serves: {}, redirects: {}},
      policy,
    });
    if (status.firstDeployTime !== undefined) return {...project, status};
    this.notChecked.push(`whether the Project ${name} is deployed, because it does not exist yet`);
    return {...project, status: {...status, firstDeployTime: timestamp(now)}};
  }

  async #service({
    metadata: {namespace = ''},
    spec,
  }: Project): Promise<{service: Service | undefined; slices: EndpointSlice[]}> {
    const {name} = spec.serviceRef;
    const labelSelector = `kubernetes.io/service-name=${name}`;
    const note = `whether the Service ${name} has a ready endpoint, because you may not read it`;
    const [service, slices] = await Promise.all([
      this.#allowed(this.#client.get(services, `${namespace}/${name}`), note),
      this.#allowed(this.#client.list(endpointSlices, {namespace, labelSelector}), note),
    ]);
    const areRead = service !== 'forbidden' && slices !== 'forbidden';
    return {service: areRead ? service : undefined, slices: areRead ? (slices?.items ?? []) : []};
  }

  /** Of claims that are others': the CustomDomains that hold them, and their Projects. */
  async addHolders(known: CheckFacts): Promise<void> {
    for (const claim of known.claims.values()) {
      const holder = claim.status?.holder;
      if (holder?.kind !== 'CustomDomain' || known.domains.some(({metadata}) => metadata.uid === holder.uid)) continue;
      const note = `whether ${claim.metadata.name} would move here, because you may not read what it is attached to`;
      const domain = await this.#allowed(this.#client.get(customDomains, `${holder.namespace}/${holder.name}`), note);
      if (!domain || domain === 'forbidden' || domain.metadata.uid !== holder.uid) continue;
      known.domains.push(domain);
      const key = projectKey(domain);
      const project = await this.#allowed(this.#client.get(projects, key), note);
      if (project && project !== 'forbidden') known.projects.set(key, project);
    }
  }
}
