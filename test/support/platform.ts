import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parse} from 'yaml';
import {ownerLabel} from '../../operator/resources/labels.ts';
import type {AcmeIssuer, Certificate, IngressClass, Plan} from '../../operator/api/foreign.ts';
import {retainedLabel} from '../../operator/domain/certificates/certificate.ts';
import {
  apiKeys,
  certificateRequests,
  certificates,
  clusterIssuers,
  ingressClasses,
  ingresses,
  namespaces,
  plans,
} from '../../operator/resources/resources.ts';
import type {Client} from '../../operator/kube/client/client.ts';
import {defineResource, type KubeObject, type Resource} from '../../operator/kube/objects.ts';
import {eventually, crds} from './kube-api.ts';
import {ApiServer, type ApiServerOptions, lentServer} from './kube-server.ts';
import {certificateKinds, standIn} from './policy.ts';
import {StandInCertManager} from './stand-in-cert-manager.ts';
import {StandInDns} from './stand-in-dns.ts';
import {StandInEdge} from './stand-in-edge.ts';

/** The folder of the kinds of this checkout. */
const ours = fileURLToPath(new URL('../../crds/', import.meta.url));

export const zone = 'apps.platform.test';
/** Doorplate's own namespace. */
export const home = 'doorplate-system';
export const redirector = 'doorplate-redirector';
export const issuer = 'acme';
export const ingressClass = 'edge';

/** By name: how many hostnames a project; 0: no custom domains. */
const hostnames = {free: 0, single: 1, pro: 500};
export type PlanName = keyof typeof hostnames;

export const planOf = (name: string, maxHostnamesPerProject: number): Plan => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'Plan',
  metadata: {name},
  spec: {
    rateLimit: {requestsPerMinute: 60, requestsPerDay: 1000},
    customDomains: {allowed: maxHostnamesPerProject > 0, maxHostnamesPerProject},
  },
});

export const ingressClassOf = (controller: string): IngressClass => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  metadata: {name: ingressClass},
  spec: {controller},
});

/**
 * A platform without a cluster: a real API server with Doorplate's kinds, and stand-ins for all that surrounds the
 * operator.
 */
export class Platform {
  readonly server: ApiServer;
  /** The administrator's, past every fault. */
  readonly client: Client;
  readonly dns: StandInDns;
  readonly certManager: StandInCertManager;
  readonly edge: StandInEdge;

  private constructor(parts: Pick<Platform, 'server' | 'client' | 'dns' | 'certManager' | 'edge'>) {
    ({server: this.server, client: this.client, dns: this.dns, certManager: this.certManager, edge: this.edge} = parts);
  }

  /** An API server that knows the kinds, for tests that begin while `lentServers` names its folder. */
  static async lendServer(options: Pick<ApiServerOptions, 'niced'> = {}): Promise<ApiServer> {
    const server = await ApiServer.start(options);
    const client = server.client();
    await installKinds(client, await kindsIn(ours));
    await client.close();
    await server.lend();
    return server;
  }

  /** Borrows the API server that is lent to this worker, or starts one. Installs the kinds that it lacks. */
  static async server({kinds = ours}: {kinds?: string} = {}): Promise<ApiServer> {
    const lent = kinds === ours ? lentServer() : undefined;
    const server = await (lent === undefined ? ApiServer.start() : ApiServer.borrow(lent));
    const isMissing = ({metadata: {name}}: Kind) => lent === undefined || server.lostKinds.includes(name);
    const own = (await kindsIn(kinds)).filter(isMissing);
    const client = server.client();
    await installKinds(client, own, standIns().filter(isMissing));
    await client.close();
    return server;
  }

  /** `kinds`: the folder with Doorplate's CustomResourceDefinitions. The default is this checkout's. */
  static async start({kinds = ours}: {kinds?: string} = {}): Promise<Platform> {
    const server = await Platform.server({kinds});
    const client = server.client();
    const acme: AcmeIssuer = {
      apiVersion: 'cert-manager.io/v1',
      kind: 'ClusterIssuer',
      metadata: {name: issuer},
      spec: {acme: {server: 'https://ca.test/dir', solvers: [{http01: {ingress: {ingressClassName: ingressClass}}}]}},
      status: {
        acme: {uri: 'https://ca.test/acct/1'},
        conditions: [
          {type: 'Ready', status: 'True', reason: 'Test', message: '', lastTransitionTime: '2026-11-01T00:00:00Z'},
        ],
      },
    };
    await Promise.all([
      client.create(namespaces, {apiVersion: 'v1', kind: 'Namespace', metadata: {name: home}}),
      client.create(ingressClasses, ingressClassOf('traefik.io/ingress-controller')),
      ...Object.entries(hostnames).map(([name, most]) => client.create(plans, planOf(name, most))),
      client.create(clusterIssuers, acme),
    ]);
    await client.patch(clusterIssuers, issuer, {status: acme.status}, {type: 'merge', subresource: 'status'});
    const [dns, certManager] = await Promise.all([StandInDns.start(zone), StandInCertManager.start(client)]);
    return new Platform({
      server,
      client,
      dns,
      certManager,
      edge: await StandInEdge.start(client, certManager, redirector),
    });
  }

  /** Puts the kinds of this checkout in place of those that are installed: the upgrade of the chart doorplate-crds. */
  async upgradeKinds(): Promise<void> {
    await applyKinds(this.client, await kindsIn(ours));
    await eventually(() => this.client.list(apiKeys));
  }

  /** Certificates, their requests and Ingresses that serve the object of this UID; unless told, any. What rests serves nobody. */
  async children(uid?: string): Promise<KubeObject[]> {
    const kinds: Resource[] = [certificates, certificateRequests, ingresses];
    const lists = await Promise.all(
      kinds.map((kind) =>
        this.client.list(kind, {labelSelector: uid === undefined ? ownerLabel : `${ownerLabel}=${uid}`}),
      ),
    );
    const resting = new Set((await this.resting()).map(({metadata: {uid: its}}) => its));
    return lists
      .flatMap(({items}) => items)
      .filter(
        ({metadata: {uid: its, ownerReferences = []}}) =>
          !resting.has(its) && !ownerReferences.some((o) => resting.has(o.uid)),
      );
  }

  /** Certificates that rest. */
  async resting(): Promise<Certificate[]> {
    return (await this.client.list(certificates, {labelSelector: retainedLabel})).items;
  }

  async stop(): Promise<void> {
    await Promise.all([this.edge.stop(), this.certManager.stop(), this.dns.stop()]);
    await this.client.close();
    await this.server.stop();
  }
}

export type Kind = KubeObject & {spec: {group: string}};

/** CustomResourceDefinitions, a file each; those of this checkout unless told. */
export async function kindsIn(folder = ours): Promise<Kind[]> {
  const files = await Promise.all((await readdir(folder)).map((file) => readFile(join(folder, file), 'utf8')));
  return files.map((text) => parse(text) as Kind);
}

/** As Helm does. */
const applyKinds = (client: Client, kinds: readonly Kind[]): Promise<unknown> =>
  Promise.all(kinds.map((kind) => client.applyPatch(crds, kind, {fieldManager: 'helm', force: false})));

/** Kinds without a schema in place of cert-manager's. */
export const standIns = (): Kind[] =>
  [...certificateKinds, {apiVersion: 'cert-manager.io/v1', kind: 'ClusterIssuer'}].map((kind) => {
    const crd = standIn(kind) as unknown as Kind;
    return kind.kind === 'ClusterIssuer' ? {...crd, spec: {...crd.spec, scope: 'Cluster'}} : crd;
  });

/** Doorplate's kinds and cert-manager's; served when this resolves. */
export async function installKinds(client: Client, own: readonly Kind[], foreign = standIns()): Promise<void> {
  await applyKinds(client, own);
  await Promise.all(foreign.map((crd) => client.create(crds, crd)));
  await Promise.all(
    [...own, ...foreign].map(({metadata: {name}, spec: {group}}) => {
      const [plural = ''] = name.split('.');
      const served = defineResource<KubeObject>({
        group,
        version: group === 'doorplate.dev' ? 'v1alpha1' : 'v1',
        plural,
        kind: '',
        namespaced: false,
      });
      return eventually(() => client.list(served));
    }),
  );
}
