import {createServer as createHttpServer} from 'node:http';
import {createServer} from 'node:https';
import type {AddressInfo} from 'node:net';
import type {TLSSocket} from 'node:tls';
import {createSecureContext} from 'node:tls';
import type {Ingress} from '../../operator/api/foreign.ts';
import {hostsOf} from '../../operator/controllers/state/rendering.ts';
import {ingresses} from '../../operator/resources/resources.ts';
import {Cache} from '../../operator/kube/cache/cache.ts';
import type {Client} from '../../operator/kube/client/client.ts';
import {entryPointsAnnotation} from '../../operator/domain/routes/ingress.ts';
import {answeredBy} from '../../operator/redirector/table.ts';
import type {KeyPair} from './stand-in-cert-manager.ts';

/** Where the edge finds certificates. */
export interface KeyPairs {
  /** What a Secret (`namespace/name`) holds. */
  secret(key: string): KeyPair | undefined;
  /** A new one for a name. */
  keyPair(hostname: string): Promise<KeyPair>;
}

/** Whether it is bound to plain HTTP, or to every listener. */
const isPlain = ({metadata: {annotations}}: Ingress) =>
  annotations?.[entryPointsAnnotation]?.split(',').includes('web') ?? true;

/**
 * A fake, in place of an ingress controller: on loopback, by TLS, it presents for each server name the certificate
 * that an Ingress names for it, and says by whom it would be answered. A name without an Ingress gets the edge's own
 * certificate. Plain HTTP (`plainPort`) it answers by the Ingress of the host, or else by one without a host.
 */
export class StandInEdge {
  port = 0;
  plainPort = 0;
  /** How many have asked by plain HTTP so far. */
  plainLooks = 0;
  /** It has taken in no Ingress without a host yet. */
  isBehind = false;
  /** Every connection is closed at once, as by an edge that is stopped. */
  isAway = false;
  /** How many have looked so far. */
  looks = 0;
  readonly #ingresses: Cache<Ingress, Ingress>;
  readonly #keyPairs: KeyPairs;
  readonly #redirector: string;
  readonly #stop = new AbortController();
  readonly #dark = new Set<string>();
  #close: () => Promise<void> = async () => {};
  #closePlain: () => Promise<void> = async () => {};

  private constructor(client: Client, keyPairs: KeyPairs, redirector: string) {
    this.#ingresses = new Cache<Ingress, Ingress>(client, ingresses, {
      indexes: {host: hostsOf},
    });
    this.#keyPairs = keyPairs;
    this.#redirector = redirector;
  }

  /** `redirector`: name of the Service that redirects. `address`, `port`: where it listens, by TLS; 0: at any port. */
  static async start(
    client: Client,
    keyPairs: KeyPairs,
    redirector: string,
    address = '127.0.0.1',
    port = 0,
  ): Promise<StandInEdge> {
    const edge = new StandInEdge(client, keyPairs, redirector);
    edge.#ingresses.start(edge.#stop.signal);
    await Promise.all([edge.#ingresses.synced, edge.#listen(address, port), edge.#listenPlain(address)]);
    return edge;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all([this.#ingresses.stopped(), this.#close(), this.#closePlain()]);
  }

  /** It presents its own certificate for a hostname, whatever stands; or no longer. */
  darken(hostname: string, dark: boolean): void {
    if (dark) this.#dark.add(hostname);
    else this.#dark.delete(hostname);
  }

  #routeOf = (hostname: string): Ingress | undefined =>
    this.#dark.has(hostname) ? undefined : this.#ingresses.by('host', hostname).find((i) => i.spec.tls !== undefined);

  async #listen(address: string, port: number): Promise<void> {
    const own = await this.#keyPairs.keyPair('edge.test');
    const server = createServer(
      {
        ...own,
        SNICallback: (hostname, callback) => {
          this.looks++;
          const route = this.#routeOf(hostname);
          const presented =
            route && this.#keyPairs.secret(`${route.metadata.namespace}/${route.spec.tls?.[0]?.secretName}`);
          callback(null, createSecureContext(presented ?? own));
        },
      },
      (req, res) => {
        const route = this.#routeOf(String((req.socket as TLSSocket).servername));
        const service = route?.spec.rules?.[0]?.http?.paths[0]?.backend.service?.name;
        res
          .writeHead(
            service === undefined ? 404 : 200,
            service === this.#redirector ? {[answeredBy.name]: answeredBy.value} : {},
          )
          .end();
      },
    );
    server.on('connection', (socket) => this.isAway && socket.destroy());
    await new Promise<void>((resolve) => server.listen(port, address, resolve));
    this.port = (server.address() as AddressInfo).port;
    this.#close = () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
  }

  /** What answers plain HTTP of a hostname. */
  #plainRouteOf(hostname: string): Ingress | undefined {
    const all = this.#ingresses.list().filter((i) => isPlain(i) && (!this.isBehind || hostsOf(i).length > 0));
    return (
      all.find((i) => hostsOf(i).includes(hostname)) ?? all.find((i) => i.spec.rules?.some((r) => r.host === undefined))
    );
  }

  async #listenPlain(address: string): Promise<void> {
    const server = createHttpServer((req, res) => {
      this.plainLooks++;
      const route = this.#plainRouteOf(req.headers.host ?? '');
      const service = route?.spec.rules?.[0]?.http?.paths[0]?.backend.service?.name;
      res.writeHead(404, service === this.#redirector ? {[answeredBy.name]: answeredBy.value} : {}).end();
    });
    await new Promise<void>((resolve) => server.listen(0, address, resolve));
    this.plainPort = (server.address() as AddressInfo).port;
    this.#closePlain = () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
  }
}
