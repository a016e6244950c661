/**
 * Plain HTTP of all hostnames through one Ingress without a host (`plainHttp.shared`), which shared-ingress.ts writes. Older Ingresses for
 * single hostnames stay until every address of the edge serves the shared one, so that redirects never pause. The edge is probed only while
 * such Ingresses exist.
 */
import type {Logger} from 'pino';
import {edgeSettlesMs} from '../../domain/routes/edge.ts';
import {answersEveryHost, isForPlainHttp, isSharedIngress} from '../../domain/routes/ingress.ts';
import {Cache} from '../../kube/cache/cache.ts';
import type {Client} from '../../kube/client/client.ts';
import {sleep} from '../../kube/clock.ts';
import {type HasMeta, type Key, keyOf} from '../../kube/objects.ts';
import {identity} from '../../resources/projections.ts';
import {ownerLabel} from '../../resources/labels.ts';
import {ownerOf} from '../../resources/relations.ts';
import {type CachedRoute, type PlainHttpSources, type RouteObject, sharesPlainHttp} from '../state/rendering.ts';
import {ingresses} from '../../resources/resources.ts';

/** The cached part of an Ingress that does not belong to a hostname. */
export interface OtherIngress extends HasMeta {
  answersEveryHost: boolean;
  /** Of the shared Ingress only. */
  spec?: RouteObject['spec'];
}

/** Those Ingresses: the shared one, whole, and the identity of others'. */
export const otherIngresses = (
  client: Client,
  log: Logger,
  {ingressClassName, shared}: {ingressClassName: string; shared: Key},
): Cache<OtherIngress, RouteObject> =>
  new Cache<OtherIngress, RouteObject>(client, ingresses, {
    log,
    labelSelector: `!${ownerLabel}`,
    project: (ingress) => ({
      ...(keyOf(ingress) === shared
        ? {metadata: ingress.metadata, spec: ingress.spec}
        : {metadata: identity(ingress.metadata)}),
      answersEveryHost: answersEveryHost(ingress, ingressClassName),
    }),
    indexes: {answersEveryHost: (other) => [String(other.answersEveryHost)]},
  });

interface PlainHttpOptions extends PlainHttpSources {
  others: Pick<Cache<OtherIngress, RouteObject>, 'get' | 'by' | 'onChange'>;
  routes: Pick<Cache<CachedRoute, RouteObject>, 'get' | 'list' | 'onChange'>;
  ingressClasses: PlainHttpSources['ingressClasses'] & Pick<Cache, 'onChange'>;
  /** Key of the shared Ingress. */
  shared: Key;
  /** Whether the redirector answers for a name without a domain, at every address of the edge. */
  serves: (signal: AbortSignal) => Promise<boolean>;
  /** Reports another owner's Ingress that may answer in place of the shared one. */
  report: (rival: Key) => void;
  /** How often the edge is looked at, and how long after it was first seen to serve it is looked at again, ms. */
  everyMs?: number;
  settlesMs?: number;
}

export class PlainHttp {
  readonly #options: PlainHttpOptions;
  readonly #handlers: ((uid: string) => void)[] = [];
  readonly #stop = new AbortController();
  #serves = false;
  #reported: ReadonlySet<Key> = new Set();
  #looking: Promise<void> | undefined;

  constructor(options: PlainHttpOptions) {
    this.#options = options;
  }

  /** Whether the Ingress of this name, for plain HTTP of one hostname, is desired. */
  isOfItsOwn({namespace, name}: {namespace: string; name: string}): boolean {
    const {setting, routes} = this.#options;
    return setting === false || (!this.#serves && routes.get(`${namespace}/${name}`) !== undefined);
  }

  /** Calls the handler with the UID of each owner of an Ingress that is no longer needed. */
  onChange(handler: (uid: string) => void): void {
    this.#handlers.push(handler);
  }

  /** Other owners' Ingresses that may answer in place of the shared one. */
  rivals(): Key[] {
    if (!sharesPlainHttp(this.#options)) return [];
    const answering = this.#options.others.by('answersEveryHost', 'true');
    return answering
      .filter((other) => !this.#isShared(other))
      .map(keyOf)
      .toSorted();
  }

  #isShared = (other: OtherIngress): boolean => keyOf(other) === this.#options.shared && isSharedIngress(other);

  /** Begins when this process leads. */
  begin(): void {
    const {others, routes, ingressClasses} = this.#options;
    const follow = (): void => {
      this.#reportRivals();
      this.#look();
    };
    others.onChange(follow);
    ingressClasses.onChange(follow);
    // Another process wrote this Ingress while this process took over.
    routes.onChange((now, before) => {
      if (now && !before && isForPlainHttp(now)) this.#look();
    });
    follow();
  }

  /**
   * Reports each rival once, and once more if the rival disappears and returns. shared-ingress.ts reports a rival that has
   * the shared name.
   */
  #reportRivals(): void {
    const {report, shared} = this.#options;
    const rivals = this.rivals();
    for (const rival of rivals) if (rival !== shared && !this.#reported.has(rival)) report(rival);
    this.#reported = new Set(rivals);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#looking;
  }

  /** Ingresses that stand, each for plain HTTP of one hostname. */
  #former = (): CachedRoute[] => this.#options.routes.list().filter(isForPlainHttp);

  /** Whether the shared Ingress exists and no other Ingress can answer in its place. */
  #mayServe(): boolean {
    const {others, shared} = this.#options;
    const existing = others.get(shared);
    const answers = existing !== undefined && existing.answersEveryHost && this.#isShared(existing);
    return answers && sharesPlainHttp(this.#options) && this.rivals().length === 0;
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
