/**
 * Plain HTTP of all hostnames through one Ingress without a host, which the chart creates (`plainHttp.shared`). Older Ingresses for single
 * hostnames stay until every address of the edge serves the shared one, so that redirects never pause. The edge is probed only while such
 * Ingresses exist.
 */
import type {Logger} from 'pino';
import {edgeSettlesMs} from '../../domain/routes/edge.ts';
import {answersEveryHost, isForPlainHttp} from '../../domain/routes/ingress.ts';
import {Cache} from '../../kube/cache/cache.ts';
import type {Client} from '../../kube/client/client.ts';
import {sleep} from '../../kube/clock.ts';
import {type HasMeta, type Key, keyOf} from '../../kube/objects.ts';
import {identity} from '../../resources/projections.ts';
import {ownerLabel} from '../../resources/labels.ts';
import {ownerOf} from '../../resources/relations.ts';
import {type EdgeSources, isTraefik, type CachedRoute, type RouteObject} from '../state/rendering.ts';
import {ingresses} from '../../resources/resources.ts';

/** The cached part of an Ingress that does not belong to a hostname. */
interface OtherIngress extends HasMeta {
  answersEveryHost: boolean;
}

/** Those Ingresses: the shared one and others'. */
export const otherIngresses = (
  client: Client,
  log: Logger,
  ingressClassName: string,
): Cache<OtherIngress, RouteObject> =>
  new Cache<OtherIngress, RouteObject>(client, ingresses, {
    log,
    labelSelector: `!${ownerLabel}`,
    project: (ingress) => ({
      metadata: identity(ingress.metadata),
      answersEveryHost: answersEveryHost(ingress, ingressClassName),
    }),
  });

interface PlainHttpOptions extends Pick<EdgeSources, 'policy' | 'ingressClasses'> {
  /** Undefined: none is shared, each hostname has its own. */
  others: Cache<OtherIngress, RouteObject> | undefined;
  routes: Pick<Cache<CachedRoute, RouteObject>, 'get' | 'list' | 'onChange'>;
  /** The shared one. */
  shared: Key;
  /** Whether the redirector answers for a name without a domain, at every address of the edge. */
  serves: (signal: AbortSignal) => Promise<boolean>;
  /** Tells of another's Ingress that may answer in place of the shared one, or that the class is not Traefik's. */
  tell: (what: {rival: Key} | 'NotTraefik') => void;
  /** How often the edge is looked at, and how long after it was first seen to serve it is looked at again, ms. */
  everyMs?: number;
  settlesMs?: number;
}

export class PlainHttp {
  readonly #options: PlainHttpOptions;
  readonly #handlers: ((uid: string) => void)[] = [];
  readonly #stop = new AbortController();
  #serves = false;
  #looking: Promise<void> | undefined;

  constructor(options: PlainHttpOptions) {
    this.#options = options;
  }

  /** Whether the Ingress of this name, for plain HTTP of one hostname, is to stand. */
  isOfItsOwn({namespace, name}: {namespace: string; name: string}): boolean {
    const {others, routes} = this.#options;
    return others === undefined || (!this.#serves && routes.get(`${namespace}/${name}`) !== undefined);
  }

  /** Calls the handler with the UID of each owner of an Ingress that is no longer needed. */
  onChange(handler: (uid: string) => void): void {
    this.#handlers.push(handler);
  }

  /** Others' Ingresses that may answer in place of the shared one. */
  rivals(): Key[] {
    const {others, shared} = this.#options;
    const keys = (others?.list() ?? []).filter((o) => o.answersEveryHost).map(keyOf);
    return keys.filter((key) => key !== shared).toSorted();
  }

  /** Begins when this process leads. */
  begin(): void {
    const {others, tell, shared, routes, policy, ingressClasses} = this.#options;
    if (!others) return;
    if (ingressClasses.get(policy.ingressClassName) && !isTraefik({policy, ingressClasses})) tell('NotTraefik');
    for (const rival of this.rivals()) tell({rival});
    others.onChange((now, before) => {
      if (now?.answersEveryHost && !before?.answersEveryHost && keyOf(now) !== shared) tell({rival: keyOf(now)});
      this.#look();
    });
    // Another process wrote this Ingress while this process took over.
    routes.onChange((now, before) => {
      if (now && !before && isForPlainHttp(now)) this.#look();
    });
    this.#look();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#looking;
  }

  /** Ingresses that stand, each for plain HTTP of one hostname. */
  #former = (): CachedRoute[] => this.#options.routes.list().filter(isForPlainHttp);

  /** Whether the shared Ingress exists and no other Ingress can answer in its place. */
  #mayServe(): boolean {
    const {others, shared, policy, ingressClasses} = this.#options;
    const stands = others?.get(shared)?.answersEveryHost ?? false;
    return stands && this.rivals().length === 0 && isTraefik({policy, ingressClasses});
  }

  #isDue = (): boolean => this.#mayServe() && this.#former().length > 0;

  #look(): void {
    if (this.#serves || !this.#isDue()) return;
    this.#looking ??= this.#lookUntilItServes().finally(() => (this.#looking = undefined));
  }

  async #lookUntilItServes(): Promise<void> {
    const {serves, everyMs = 5_000} = this.#options;
    const {signal} = this.#stop;
    while (!signal.aborted && this.#isDue()) {
      if (await this.#isSeen(() => serves(signal))) return this.#removeFormer();
      await sleep(everyMs, signal);
    }
  }

  /** Probes twice: an address may belong to several controllers, and some may not have read the Ingress yet. */
  async #isSeen(look: () => Promise<boolean>): Promise<boolean> {
    const {settlesMs = edgeSettlesMs} = this.#options;
    if (!(await look())) return false;
    await sleep(settlesMs, this.#stop.signal);
    return (await look()) && !this.#stop.signal.aborted && this.#mayServe();
  }

  #removeFormer(): void {
    const owners = new Set(this.#former().flatMap(ownerOf));
    this.#serves = true;
    for (const uid of owners) for (const handler of this.#handlers) handler(uid);
  }
}
