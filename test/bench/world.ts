/** A platform without a cluster for benches: a real API server that writes an audit log, real certificates by a CA, and stand-ins for DNS and the edge. */
import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {certificates, clusterIssuers, ingressClasses, namespaces, plans} from '../../operator/resources/resources.ts';
import type {Client} from '../../operator/kube/client/client.ts';
import {isAlreadyExists} from '../../operator/kube/errors.ts';
import type {KubeObject} from '../../operator/kube/objects.ts';
import {eventually} from '../support/kube-api.ts';
import {ApiServer} from '../support/kube-server.ts';
import {
  home,
  ingressClass,
  ingressClassOf,
  installKinds,
  kindsIn,
  planOf,
  redirector,
  zone,
} from '../support/platform.ts';
import {StandInDns} from '../support/stand-in-dns.ts';
import {StandInEdge} from '../support/stand-in-edge.ts';
import {AuditLog} from './audit.ts';
import {certManagerKinds, type CertManagerSpeed, type Daemon, startCertManager} from './daemons.ts';
import {OperatorProcess} from './operator-process.ts';
import {attach, keyOfPlace, type Place, publish, until} from './population.ts';
import {secrets, selfSigned, TlsSecrets} from './secrets.ts';

/** The ClusterIssuer: a CA inside the cluster, so that the CA's speed is nobody's limit. */
export const issuer = 'ca';

export class BenchWorld {
  readonly server: ApiServer;
  readonly client: Client;
  readonly audit: AuditLog;
  readonly dns: StandInDns;
  /** A fake: a small TLS server that serves each Ingress' Secret by SNI, without any throttle. */
  readonly edge: StandInEdge;
  /** All that ends with it. */
  readonly #parts: {stop(): Promise<unknown>}[] = [];
  readonly #tls: TlsSecrets;

  private constructor(parts: Pick<BenchWorld, 'server' | 'client' | 'dns' | 'edge'> & {tls: TlsSecrets}) {
    ({server: this.server, client: this.client, dns: this.dns, edge: this.edge, tls: this.#tls} = parts);
    this.audit = new AuditLog(join(this.server.dir, 'audit.log'));
  }

  /** `dir`: a folder to go on with, or to begin; without one it is nobody's and goes with it. */
  static async start(dir?: string): Promise<BenchWorld> {
    const server = await ApiServer.start({audit: true, dir});
    const client = server.client();
    if ((await client.get(namespaces, home)) === undefined) await furnish(server, client);
    const folder = join(server.dir, 'edge');
    await mkdir(folder, {recursive: true});
    const tls = await TlsSecrets.start(client, folder);
    const [dns, edge] = await Promise.all([StandInDns.start(zone), StandInEdge.start(client, tls, redirector)]);
    return new BenchWorld({server, client, dns, edge, tls});
  }

  /** The chart's values, but for a budget that holds nothing up. `change`: others in their place. */
  settings(change: object = {}): object {
    return {
      platform: {zone},
      edge: {addresses: ['127.0.0.1'], probe: [`127.0.0.1:${this.edge.port}`]},
      issuerRef: {name: issuer},
      ingressClassName: ingressClass,
      dns: {recursive: [this.dns.address], allowPrivateAddresses: true},
      budgets: {account: [{limit: 1_000_000, per: '3h'}]},
      caaIdentities: ['ca.test'],
      redirector: {service: redirector},
      leaderElection: {enabled: false},
      log: {level: 'warn'},
      ...change,
    };
  }

  /** An operator whose copies are whole. It ends with this world at the latest. */
  async operator(change: object = {}): Promise<OperatorProcess> {
    const started = await OperatorProcess.start({server: this.server, settings: this.settings(change)});
    this.#parts.push(started);
    await started.ready();
    return started;
  }

  /** Ends with this world. */
  async with(daemon: Promise<Daemon>): Promise<Daemon> {
    const started = await daemon;
    this.#parts.push(started);
    return started;
  }

  /** cert-manager's controller, which has issued a certificate already: it is warm. */
  async certManager(speed: CertManagerSpeed): Promise<void> {
    await this.with(startCertManager(this.server, speed));
    const [namespace, name] = ['default', 'warm'];
    const spec = {secretName: name, dnsNames: ['warm.test'], issuerRef: {name: issuer, kind: 'ClusterIssuer'}};
    const warm = {apiVersion: 'cert-manager.io/v1', kind: 'Certificate', metadata: {namespace, name}, spec};
    await this.client.create<KubeObject>(certificates, warm as KubeObject).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
    await until(async () => {
      const {conditions = []} = (await this.client.get(certificates, `${namespace}/${name}`))?.status ?? {};
      return conditions.some(({type, status}) => type === 'Ready' && status === 'True');
    });
  }

  /** Projects of these places stand, and DNS proves their hostnames. */
  async publish(places: readonly Place[]): Promise<void> {
    const targets = await publish(this.client, places);
    for (const place of places) this.dns.point(place.hostname, targets.get(keyOfPlace(place)));
  }

  attach(places: readonly Place[]): Promise<void> {
    return attach(this.client, places);
  }

  async stop(): Promise<void> {
    for (const part of this.#parts.toReversed()) await part.stop();
    await Promise.all([this.edge.stop(), this.dns.stop(), this.#tls.stop()]);
    await this.client.close();
    await this.server.stop();
  }
}

const encoded = (text: string): string => Buffer.from(text).toString('base64');

/** The kinds, the issuer, the plan and the ingress class. Doorplate's namespace comes last: it says that the rest is there. */
async function furnish(server: ApiServer, client: Client): Promise<void> {
  await installKinds(client, await kindsIn(), await certManagerKinds());
  await client.create(namespaces, {apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'cert-manager'}});
  const ca = await selfSigned(server.dir, 'bench-ca', 'keyUsage=critical,keyCertSign');
  await client.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {name: issuer, namespace: 'cert-manager'},
    type: 'kubernetes.io/tls',
    data: {'tls.crt': encoded(ca.cert), 'tls.key': encoded(ca.key)},
  });
  await client.create(clusterIssuers, {
    apiVersion: 'cert-manager.io/v1',
    kind: 'ClusterIssuer',
    metadata: {name: issuer},
    spec: {ca: {secretName: issuer}} as object,
  });
  await client.create(ingressClasses, ingressClassOf('traefik.io/ingress-controller'));
  await client.create(plans, planOf('pro', 501));
  await client.create(namespaces, {apiVersion: 'v1', kind: 'Namespace', metadata: {name: home}});
  await eventually(async () => (await client.get(namespaces, home)) !== undefined);
}
