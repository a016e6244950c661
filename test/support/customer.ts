import {randomBytes} from 'node:crypto';
import type {Account, CustomDomain, EndpointSlice, Project, Service} from '../../operator/api/foreign.ts';
import {
  accounts,
  customDomains,
  domainClaims,
  endpointSlices,
  namespaces,
  projects,
  services,
} from '../../operator/resources/resources.ts';
import type {Resource} from '../../operator/kube/objects.ts';
import {eventually} from './kube-api.ts';
import type {Platform, PlanName} from './platform.ts';

const apiVersion = 'doorplate.dev/v1alpha1';

/** A customer of a {@link Platform}: an Account, a Namespace, a DNS zone, and what it makes in them. */
export class Customer {
  /** The name of its Account, too. */
  readonly namespace: string;
  /** Only this customer has records in it. */
  readonly zone: string;
  readonly #platform: Platform;

  private constructor(platform: Platform, name: string) {
    [this.namespace, this.zone, this.#platform] = [name, `${name}.test`, platform];
  }

  static async create(
    platform: Platform,
    plan: PlanName = 'pro',
    name = `c${randomBytes(4).toString('hex')}`,
  ): Promise<Customer> {
    const customer = new Customer(platform, name);
    const {namespace} = customer;
    await Promise.all([
      platform.client.create<Account>(accounts, {
        apiVersion,
        kind: 'Account',
        metadata: {name: namespace},
        spec: {planRef: {name: plan}},
      }),
      platform.client.create(namespaces, {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: {name: namespace, labels: {'doorplate.dev/account': namespace}},
      }),
    ]);
    return customer;
  }

  /** One whose Account and Namespace are there already. */
  static of(platform: Platform, name: string): Customer {
    return new Customer(platform, name);
  }

  /** As created, with a Project `web` that has been deployed: needs an operator. */
  static async deployed(platform: Platform, plan?: PlanName): Promise<Customer> {
    const customer = await Customer.create(platform, plan);
    await customer.deploy('web');
    await eventually(async () => (await customer.project('web'))?.status?.firstDeployTime !== undefined);
    return customer;
  }

  /** The same, and the hostname `www` is Live. */
  static async served(platform: Platform): Promise<Customer> {
    const customer = await Customer.deployed(platform);
    const www = customer.host('www');
    await customer.point([www]);
    await customer.attach('web', www);
    await eventually(async () => (await customer.hosts('web'))[www] === 'Live Serving');
    return customer;
  }

  host(label: string): string {
    return `${label}.${this.zone}`;
  }

  async deploy(name: string, spec: Partial<Project['spec']> = {}): Promise<void> {
    await this.service(name);
    await this.endpoints(name);
    await this.publish(name, spec);
  }

  /** A Project of the Service of that name. */
  async publish(name: string, spec: Partial<Project['spec']> = {}): Promise<void> {
    await this.#platform.client.create<Project>(projects, {
      apiVersion,
      kind: 'Project',
      metadata: {name, namespace: this.namespace},
      spec: {serviceRef: {name, port: 80}, defaultHost: 'Serve', ...spec},
    });
  }

  async service(name: string): Promise<void> {
    await this.#platform.client.create<Service>(services, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {name, namespace: this.namespace},
      spec: {ports: [{name: 'http', port: 80}]},
    });
  }

  /** One endpoint of a Service. */
  async endpoints(service: string, ready = true): Promise<void> {
    const slice = {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {name: service, namespace: this.namespace, labels: {'kubernetes.io/service-name': service}},
      addressType: 'IPv4',
      endpoints: [{addresses: ['192.0.2.7'], conditions: {ready}}],
      ports: [{name: 'http', port: 80}],
    };
    await this.#platform.client.create<EndpointSlice>(endpointSlices, slice);
  }

  async project(name: string): Promise<Project | undefined> {
    return this.#platform.client.get(projects, `${this.namespace}/${name}`);
  }

  /** The default host of a Project, which CNAMEs must name. */
  async target(project = 'web'): Promise<string> {
    return (await eventually(async () => (await this.project(project))?.status?.host ?? false)) as string;
  }

  /** Creates the records that prove these hostnames to be those of a Project. */
  async point(hostnames: readonly string[], project = 'web'): Promise<void> {
    const target = await this.target(project);
    for (const hostname of hostnames) this.#platform.dns.point(hostname, target);
  }

  async attach(name: string, primary: string, sources: readonly string[] = [], project = 'web'): Promise<CustomDomain> {
    return this.#platform.client.create<CustomDomain>(customDomains, {
      apiVersion,
      kind: 'CustomDomain',
      metadata: {name, namespace: this.namespace},
      spec: {
        projectRef: {name: project},
        primary,
        ...(sources.length > 0 && {redirects: sources.map((from) => ({from, status: 301}))}),
      },
    });
  }

  async domain(name: string): Promise<CustomDomain | undefined> {
    return this.#platform.client.get(customDomains, `${this.namespace}/${name}`);
  }

  /** What status says of its hosts, by hostname: `Live Serving`. */
  async hosts(name: string): Promise<Record<string, string>> {
    return Object.fromEntries(
      ((await this.domain(name))?.status?.hosts ?? []).map((h) => [h.hostname, `${h.phase} ${h.reason}`]),
    );
  }

  /** Changes an object of the namespace by a merge patch. */
  async change(resource: Resource, name: string, patch: object): Promise<void> {
    await this.#platform.client.patch(resource, resource.namespaced ? `${this.namespace}/${name}` : name, patch, {
      type: 'merge',
    });
  }

  async remove(resource: Resource, name: string): Promise<void> {
    await this.#platform.client.delete(resource, `${this.namespace}/${name}`);
  }

  /**
   * Who holds a hostname, as its claim says: `CustomDomain web`; `nobody` while it rests; undefined without a claim.
   */
  async holder(hostname: string): Promise<string | undefined> {
    const claim = await this.#platform.client.get(domainClaims, hostname);
    const holder = claim?.status?.holder;
    return claim && (holder ? `${holder.kind} ${holder.name}` : 'nobody');
  }
}
