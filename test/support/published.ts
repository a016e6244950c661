/** Everything that is published while a test moves hostnames: each status of CustomDomains, and which hostnames have a route of HTTPS. */
import type {CustomDomain, Ingress} from '../../operator/api/foreign.ts';
import {ownerLabel} from '../../operator/resources/labels.ts';
import {customDomains, ingresses} from '../../operator/resources/resources.ts';
import type {Client} from '../../operator/kube/client/client.ts';
import {keyOf, type KubeObject, type Resource} from '../../operator/kube/objects.ts';

/** Records from the start on. `namespaces`: those of the tenant; routes count in all namespaces. */
export class Recording {
  readonly #abort = new AbortController();
  readonly #namespaces: ReadonlySet<string>;
  readonly #ends: Promise<void>[] = [];
  readonly #said: string[] = [];
  readonly #routes = new Map<string, ReadonlySet<string>>();
  readonly #gone = new Set<string>();
  readonly #hostnames = new Set<string>();

  private constructor(namespaces: readonly string[]) {
    this.#namespaces = new Set(namespaces);
  }

  static async start(client: Client, ...namespaces: string[]): Promise<Recording> {
    const it = new Recording(namespaces);
    const last = new Map<string, string>();
    await it.#follow(client, customDomains, (domain: CustomDomain, isFirst, isGone) => {
      if (!it.#namespaces.has(domain.metadata.namespace ?? '') || isGone) return;
      for (const {hostname, phase, reason, message} of domain.status?.hosts ?? []) {
        const line = `${hostname} ${phase} ${reason}: ${message}`;
        it.#hostnames.add(hostname);
        const place = `${keyOf(domain)} ${hostname}`;
        if (!isFirst && last.get(place) !== line) it.#said.push(`${domain.metadata.name}: ${line}`);
        last.set(place, line);
      }
    });
    await it.#follow(client, ingresses, (route: Ingress, _isFirst, isGone) => {
      if (route.metadata.labels?.[ownerLabel] === undefined) return;
      const before = it.#routes.get(keyOf(route)) ?? new Set<string>();
      const hosts = isGone ? [] : (route.spec.tls ?? []).flatMap(({hosts: served}) => served ?? []);
      it.#routes.set(keyOf(route), new Set(hosts));
      const routed = new Set([...it.#routes.values()].flatMap((each) => [...each]));
      for (const host of before) if (!routed.has(host)) it.#gone.add(host);
    });
    return it;
  }

  /** The entries of statuses that were published, in order: `web: www.example.test Live Serving: message`. */
  get said(): readonly string[] {
    return this.#said;
  }

  /** Entries whose message asks for a removal. */
  get removals(): string[] {
    return this.#said.filter((line) => /remove/i.test(line));
  }

  /** Hostnames of recorded statuses that had a route, and had none at some time. Other tests of the cluster have hostnames, too. */
  get unrouted(): string[] {
    return [...this.#gone].filter((hostname) => this.#hostnames.has(hostname)).toSorted();
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await Promise.allSettled(this.#ends);
  }

  /** Resolves when the objects that exist are known. */
  async #follow<T extends KubeObject>(
    client: Client,
    resource: Resource<T>,
    note: (object: T, isFirst: boolean, isGone: boolean) => void,
  ): Promise<void> {
    const {items, resourceVersion} = await client.list(resource);
    for (const item of items) note(item, true, false);
    this.#ends.push(this.#watch(client, resource, resourceVersion, note));
  }

  async #watch<T extends KubeObject>(
    client: Client,
    resource: Resource<T>,
    resourceVersion: string,
    note: (object: T, isFirst: boolean, isGone: boolean) => void,
  ): Promise<void> {
    const {signal} = this.#abort;
    for await (const events of client.watch(resource, {resourceVersion, signal, timeoutSeconds: 600})) {
      for (const {type, object} of events) if (type !== 'BOOKMARK') note(object as T, false, type === 'DELETED');
    }
  }
}
