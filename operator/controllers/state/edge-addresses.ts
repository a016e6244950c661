/**
 * The current addresses of the edge: set by the platform, resolved from its hostname, or read from the status of its Service.
 *
 *   edge.addresses    never change
 *   edge.hostname     asked again when its TTL is over, after 30 s at least and 5 min at most
 *   edge.service      told by the watch of Services; a hostname in its status is asked as above
 *
 * A failure removes nothing: known addresses stay until others are known. Before the first answer there are no addresses, and no DNS check
 * of an apex can tell whether its addresses are the edge's (rule 3).
 */
import {isIP} from 'node:net';
import type {Logger} from 'pino';
import type {Service} from '../../api/foreign.ts';
import type {Resolved} from '../../dns/addresses.ts';
import {canonicalName} from '../../dns/names.ts';
import type {Edge} from '../../domain/verification/method.ts';
import {ttl} from '../../domain/verification/records.ts';
import type {EdgeAddress} from '../../edge/probe.ts';
import type {Cache, Syncable} from '../../kube/cache/cache.ts';
import {isDeepEqual} from '../../kube/equality.ts';
import {keyOf} from '../../kube/objects.ts';
import type {ServicePort} from '../../setting-values.ts';

/** Shortest and longest pause between two resolutions of a hostname. After a failure the shortest pause applies. */
const [shortestPauseMs, longestPauseMs] = [30_000, 300_000];

/** For so long an address of a hostname counts as the edge's after it was last seen: as long as a customer's records may be kept. */
const formerMs = ttl * 1000;

interface EdgeAddressesOptions {
  /** Exactly one of addresses, hostname and service is set. `probe`: where to probe instead of the addresses. */
  edge: {
    addresses: readonly string[];
    hostname: string;
    service: {namespace: string; name: string};
    probe: readonly (EdgeAddress | ServicePort)[];
  };
  services: Pick<Cache<Service, Service>, 'get' | 'onChange' | 'synced'>;
  /** Rejects where it cannot be told. */
  resolve: (hostname: string, signal: AbortSignal) => Promise<Resolved>;
  log: Pick<Logger, 'info' | 'warn'>;
  /** Calls with each attempt. */
  count?: (result: 'found' | 'failed') => void;
}

const sorted = (addresses: Iterable<string>): string[] => [...new Set(addresses)].toSorted();

export class EdgeAddresses implements Syncable {
  /** Resolves with the first answer, or when no answer can be had. */
  readonly synced: Promise<void>;
  readonly #options: EdgeAddressesOptions;
  readonly #handlers: (() => void)[] = [];
  readonly #stop = new AbortController();
  #resolveSynced: () => void = () => {};
  #isSynced = false;
  #timer: NodeJS.Timeout | undefined;
  /** Counts attempts, so that a result of an older attempt is ignored. */
  #round = 0;
  /** Addresses that the Service has itself, and names that lead to the edge. */
  #own: readonly string[] = [];
  #names: readonly string[] = [];
  readonly #resolved = new Map<string, readonly string[]>();
  /** Time of the last sight by address, ms since the epoch. */
  readonly #lastSeen = new Map<string, number>();
  #current: readonly string[];
  #edge: Edge;

  constructor(options: EdgeAddressesOptions) {
    const {addresses, hostname} = options.edge;
    this.#options = options;
    this.#current = addresses;
    this.#edge = {edgeAddresses: addresses, ...(hostname !== '' && {edgeHostname: hostname})};
    this.synced = new Promise((resolve) => {
      this.#resolveSynced = resolve;
    });
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** The edge as decisions see it; the same object until it changes. */
  get edge(): Edge {
    return this.#edge;
  }

  /** The addresses and ports for edge probes. */
  get endpoints(): readonly EdgeAddress[] {
    const {probe} = this.#options.edge;
    return probe.length > 0
      ? probe.flatMap((at) => ('service' in at ? this.#inside(at) : at))
      : this.#current.map((address) => ({address, port: 443}));
  }

  /** Addresses inside the cluster, of both families if the cluster has both. */
  #inside({service: {namespace, name}, port}: ServicePort): EdgeAddress[] {
    const {clusterIPs = []} = this.#options.services.get(`${namespace}/${name}`)?.spec ?? {};
    return clusterIPs.flatMap((address) => (isIP(address) > 0 ? {address, port} : []));
  }

  /** Calls the handler when the addresses that customers are shown change, or the first address becomes known. */
  onChange(handler: () => void): void {
    this.#handlers.push(handler);
  }

  start(): void {
    const {
      edge: {hostname, service},
      services,
    } = this.#options;
    if (hostname !== '') {
      this.#names = [hostname];
      void this.#refresh();
    } else if (service.name !== '') {
      const key = `${service.namespace}/${service.name}`;
      services.onChange((now, before) => {
        if (keyOf((now ?? before)!) === key) this.#read(services.get(key));
      });
      void services.synced.then(() => this.#read(services.get(key)));
    } else this.#begun();
  }

  stop(): void {
    this.#stop.abort();
    clearTimeout(this.#timer);
  }

  #begun(): void {
    this.#isSynced = true;
    this.#resolveSynced();
  }

  #read(service: Service | undefined): void {
    const entries = service?.status?.loadBalancer?.ingress ?? [];
    const own = entries.flatMap(({ip}) => (ip !== undefined && isIP(ip) > 0 ? ip : []));
    const names = entries.flatMap(({ip, hostname = ''}) => (ip || hostname === '' ? [] : canonicalName(hostname)));
    if (own.length + names.length > 0) {
      this.#options.count?.('found');
      [this.#own, this.#names] = [own, names];
      void this.#refresh();
      return;
    }
    this.#options.count?.('failed');
    this.#options.log.warn(
      {service: this.#options.edge.service, addresses: this.#current},
      'the Service of the edge has no address: the known addresses are kept',
    );
    this.#begun();
  }

  async #refresh(): Promise<void> {
    clearTimeout(this.#timer);
    const round = ++this.#round;
    const ttls = await Promise.all(this.#names.map((name) => this.#ask(name)));
    if (round !== this.#round || this.#stop.signal.aborted) return;
    this.#settle();
    this.#begun();
    if (ttls.length === 0) return;
    const pauseMs = Math.min(Math.max(Math.min(...ttls) * 1000, shortestPauseMs), longestPauseMs);
    this.#timer = setTimeout(() => void this.#refresh(), pauseMs);
    this.#timer.unref();
  }

  /** For how many seconds the answer holds. */
  async #ask(hostname: string): Promise<number> {
    const {resolve, log, count} = this.#options;
    try {
      const {addresses, ttlSeconds} = await resolve(hostname, this.#stop.signal);
      this.#resolved.set(hostname, addresses);
      count?.('found');
      return ttlSeconds;
    } catch (error) {
      if (this.#stop.signal.aborted) return 0;
      count?.('failed');
      const known = this.#resolved.get(hostname) ?? [];
      log.warn(
        {err: error, hostname, addresses: known},
        "the edge's hostname does not resolve: the known addresses are kept",
      );
      return 0;
    }
  }

  #settle(): void {
    const current = sorted([...this.#own, ...this.#names.flatMap((name) => this.#resolved.get(name) ?? [])]);
    if (current.length === 0) return;
    if (!isDeepEqual(current, this.#current)) {
      this.#current = current;
      this.#options.log.info({addresses: current}, 'the edge has these addresses');
    }
    const [edgeHostname] = this.#names;
    const before = this.#edge;
    const edge: Edge = {
      edgeAddresses: edgeHostname === undefined ? current : this.#withFormer(current),
      ...(edgeHostname !== undefined && {edgeHostname}),
    };
    if (isDeepEqual(edge, before)) return;
    this.#edge = edge;
    if (!isDeepEqual(told(edge), told(before))) for (const handler of this.#handlers) handler();
  }

  /** Adds former addresses that resolvers, and providers that follow the name, may still return. */
  #withFormer(current: readonly string[]): string[] {
    const now = Date.now();
    for (const address of current) this.#lastSeen.set(address, now);
    for (const [address, at] of this.#lastSeen) if (now - at > formerMs) this.#lastSeen.delete(address);
    return sorted(this.#lastSeen.keys());
  }
}

/** The addresses that customers see, and whether any are known: rotating addresses wake no object. */
const told = ({edgeAddresses, edgeHostname}: Edge) => ({
  known: edgeAddresses.length > 0,
  ...(edgeHostname === undefined ? {edgeAddresses} : {edgeHostname}),
});
