import {randomBytes} from 'node:crypto';
import type {CertificateRequest, CustomDomain, DomainClaim, Project} from '../../operator/api/foreign.ts';
import {certificateRequests, customDomains, domainClaims, projects} from '../../operator/resources/resources.ts';
import {tokenFor} from '../../operator/domain/claims/claim.ts';
import type {Resource} from '../../operator/kube/objects.ts';
import {api, apply, eventually, kubectl, patienceMs, setZone, sh} from '../../cluster/cluster.ts';

const domainKind = {apiVersion: 'doorplate.dev/v1alpha1', kind: 'CustomDomain'};

/** The claim of a hostname, whoever holds it. */
export const claimOf = (hostname: string): Promise<DomainClaim | undefined> => api().get(domainClaims, hostname);

/**
 * A customer of a test's own: an Account, a namespace with a Service that answers, a deployed Project `web`, and a DNS zone. Tests of
 * different files share the cluster and nothing else.
 */
export class Tenant {
  /** The name of its Account, too. */
  readonly namespace: string;
  /** A zone that only this tenant has records in, such as t3f9a2c.test. */
  readonly zone: string;
  /** The Project's default host: what CNAMEs must name. */
  target = '';
  readonly #records = new Map<string, string>();

  private constructor(purpose: string) {
    const id = randomBytes(3).toString('hex');
    this.namespace = `${purpose}-${id}`;
    this.zone = `t${id}.test`;
  }

  /** Made and deployed. Its default host has no route, and so no certificate, unless `projectSpec` says otherwise. */
  static async create(purpose: string, projectSpec: object = {defaultHost: 'Disabled'}): Promise<Tenant> {
    const tenant = new Tenant(purpose);
    await setZone(tenant.zone, []);
    await apply([
      tenant.#account('enterprise'),
      tenant.#home(tenant.namespace),
      ...tenant.backend('web'),
      tenant.project('web', projectSpec),
    ]);
    const project = await eventually(`the Project in ${tenant.namespace} is deployed`, async () => {
      const p = await tenant.getProject('web');
      return p?.status?.firstDeployTime !== undefined && p;
    });
    tenant.target = project.status?.host ?? '';
    return tenant;
  }

  /** Puts its Account on a plan; undefined removes the Account. */
  async onPlan(plan: string | undefined): Promise<void> {
    if (plan === undefined) await kubectl(['delete', 'account', this.namespace]);
    else await apply([this.#account(plan)]);
  }

  /** Says whose the namespace is; undefined: nobody's, so that it is on the default plan. */
  async belongsTo(account: string | undefined): Promise<void> {
    await apply([this.#home(account)]);
  }

  #account(plan: string): object {
    return {
      apiVersion: domainKind.apiVersion,
      kind: 'Account',
      metadata: {name: this.namespace},
      spec: {planRef: {name: plan}},
    };
  }

  #home(account: string | undefined): object {
    return {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {name: this.namespace, ...(account !== undefined && {labels: {'doorplate.dev/account': account}})},
    };
  }

  /** A Deployment and a Service that answer 200 on port 80. */
  backend(name: string): object[] {
    const {namespace} = this;
    const labels = {app: name};
    return [
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {name, namespace},
        data: {'index.html': `hello from ${namespace}/${name}\n`},
      },
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: {name, namespace},
        spec: {
          selector: {matchLabels: labels},
          template: {
            metadata: {labels},
            spec: {
              terminationGracePeriodSeconds: 1,
              containers: [
                {
                  name: 'httpd',
                  image: 'localhost/backend:1',
                  resources: {requests: {cpu: '5m'}},
                  readinessProbe: {httpGet: {path: '/', port: 8080}, periodSeconds: 1, timeoutSeconds: 10},
                  volumeMounts: [{name: 'www', mountPath: '/www'}],
                },
              ],
              volumes: [{name: 'www', configMap: {name}}],
            },
          },
        },
      },
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {name, namespace},
        spec: {selector: labels, ports: [{name: 'http', port: 80, targetPort: 8080}]},
      },
    ];
  }

  project(name: string, spec: object = {}): object {
    return {
      apiVersion: domainKind.apiVersion,
      kind: 'Project',
      metadata: {name, namespace: this.namespace},
      spec: {serviceRef: {name, port: 80}, ...spec},
    };
  }

  /** A hostname in the tenant's zone. */
  host(label: string): string {
    return `${label}.${this.zone}`;
  }

  /** Applies a CustomDomain of the Project `web`. */
  async attach(name: string, primary: string, redirects: object[] = [], project = 'web'): Promise<void> {
    await apply([
      {
        ...domainKind,
        metadata: {name, namespace: this.namespace},
        spec: {projectRef: {name: project}, primary, ...(redirects.length > 0 && {redirects})},
      },
    ]);
  }

  /** Sets one record of the zone, `IN CNAME x.` and so on; undefined removes it. */
  async record(label: string, record: string | undefined): Promise<void> {
    await this.records({[label]: record});
  }

  async records(set: Record<string, string | undefined>): Promise<void> {
    for (const [label, record] of Object.entries(set)) {
      if (record === undefined) this.#records.delete(label);
      else this.#records.set(label, record);
    }
    await setZone(
      this.zone,
      [...this.#records].map(([label, record]) => `${label} ${record}`),
    );
  }

  /** The record that proves a hostname. */
  get proof(): string {
    return `IN CNAME ${this.target}.`;
  }

  /** The TXT value that proves the right to a hostname; without a claim: to one that nobody has had. */
  token(hostname: string, claim?: DomainClaim): string {
    return tokenFor(
      'apps.platform.test',
      {account: this.namespace, namespaceUID: '', plan: {missing: {reason: 'PlanNotFound', message: ''}}},
      hostname,
      claim,
    );
  }

  async get(name: string): Promise<CustomDomain | undefined> {
    return api().get(customDomains, `${this.namespace}/${name}`);
  }

  async getProject(name: string): Promise<Project | undefined> {
    return api().get(projects, `${this.namespace}/${name}`);
  }

  /** The CustomDomain once its hosts read so, a line each: `www.t3f9a2c.test Live Serving`. */
  async hosts(name: string, expected: readonly string[], timeoutMs?: number): Promise<CustomDomain> {
    return eventually(
      `${this.namespace}/${name} reads ${expected.join('; ')}`,
      async () => {
        const domain = await this.get(name);
        const lines = (domain?.status?.hosts ?? []).map((h) => `${h.hostname} ${h.phase} ${h.reason}`);
        if (lines.join() !== expected.join()) throw new Error(`it reads ${lines.join('; ')}`);
        return domain;
      },
      timeoutMs,
    );
  }

  /** Waits for the phase and reason of one hostname, such as `AwaitingVerification BehindCDN`, and ignores the other hostnames. */
  async hostReads(name: string, hostname: string, expected: string): Promise<CustomDomain> {
    return eventually(`${hostname} of ${this.namespace}/${name} reads ${expected}`, async () => {
      const domain = await this.get(name);
      const host = domain?.status?.hosts?.find((h) => h.hostname === hostname);
      const line = `${host?.phase} ${host?.reason}`;
      if (line !== expected) throw new Error(`it reads ${line}`);
      return domain;
    });
  }

  /** The CustomDomain once its primary has this reason. */
  async reason(name: string, reason: string, timeoutMs?: number): Promise<CustomDomain> {
    return eventually(
      `${this.namespace}/${name} has the reason ${reason}`,
      async () => {
        const domain = await this.get(name);
        const primary = domain?.status?.hosts?.[0];
        if (primary && primary.reason !== reason) throw new Error(`it has ${primary.reason}: ${primary.message}`);
        return primary && domain;
      },
      timeoutMs,
    );
  }

  /** Asks for a check (Verify, Re-verify). */
  async verify(name: string): Promise<void> {
    await kubectl([
      'annotate',
      'customdomain',
      '-n',
      this.namespace,
      name,
      `doorplate.dev/requestedAt=${new Date().toISOString()}`,
      '--overwrite',
    ]);
  }

  /** `kubectl wait`, as a user has it. */
  async wait(name: string, condition: string): Promise<void> {
    await kubectl([
      'wait',
      `customdomain/${name}`,
      '-n',
      this.namespace,
      `--for=condition=${condition}`,
      `--timeout=${patienceMs / 1000}s`,
    ]);
  }

  /** Names of the objects of these kinds, in every namespace, that serve the CustomDomain of this UID: what rests does not. */
  async children(uid: string, ...kinds: Resource[]): Promise<string[]> {
    const lists = await Promise.all(
      kinds.map((kind) => api().list(kind, {labelSelector: `doorplate.dev/owner-uid=${uid},!doorplate.dev/resting`})),
    );
    return lists.flatMap(({items}) => items.map((o) => `${o.metadata.namespace}/${o.metadata.name}`)).toSorted();
  }

  /** The CertificateRequests of a CustomDomain in its namespace. */
  async requests(name: string): Promise<CertificateRequest[]> {
    const uid = (await this.get(name))?.metadata.uid ?? '';
    return (
      await api().list(certificateRequests, {
        namespace: this.namespace,
        labelSelector: `doorplate.dev/owner-uid=${uid}`,
      })
    ).items;
  }

  /** Everything goes; waited for are its CustomDomains, and not the namespace. */
  async remove({wait = true} = {}): Promise<void> {
    if (wait) await kubectl(['delete', 'customdomains,projects', '--all', '-n', this.namespace]);
    await kubectl([
      'delete',
      `namespace/${this.namespace}`,
      `account/${this.namespace}`,
      '--wait=false',
      '--ignore-not-found',
    ]);
    await sh('cluster/dns.sh', ['remove', this.zone]);
  }
}
