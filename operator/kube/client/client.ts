import type {KubeConfig} from '@kubernetes/client-node';
import {type Credentials, fromKubeConfig, type Impersonation, impersonating, inCluster} from './credentials.ts';
import {AnswerTooLongError, ApiError, isGone, isNotFound} from '../errors.ts';
import {loadKubeConfig} from './kubeconfig.ts';
import {LineSplitter} from './lines.ts';
import type {KitMetrics} from '../metrics.ts';
import {apiVersionOf, type Json, type Key, type KubeObject, pathOf, type Resource, splitKey} from '../objects.ts';
import {type Request, retryAfter, Transport, type TransportOptions} from './transport.ts';

export interface ListOptions {
  /** All namespaces by default. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Objects per page; 0 requests all objects in one answer. 500 by default. */
  limit?: number;
  /** Requests metadata only: the objects contain no spec or status. */
  metadataOnly?: boolean;
  signal?: AbortSignal;
}

export interface WatchOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion: string;
  timeoutSeconds: number;
  signal: AbortSignal;
}

export type WatchEvent<T> =
  | {type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T}
  | {type: 'BOOKMARK'; object: {metadata: {resourceVersion: string}}}
  | {type: 'ERROR'; object: {code?: number; reason?: string; message?: string}};

export interface ListPage<T> {
  items: T[];
  resourceVersion: string;
  /** Continue token of the following page. */
  next: string | undefined;
}

export interface ClientOptions extends TransportOptions {}

/**
 * Typed requests to one API server over pooled connections. Bodies are JSON; times stay strings. Requests are not retried here:
 * callers have a queue with back-off.
 *
 * Every method throws:
 * - `ApiError` when the server refuses the request.
 * - `NoAnswerError` when no answer came.
 * - `AnswerTooLongError` when the answer exceeds the size limit.
 * - `WriteRefusedError` when the guard of `guardWrites` refuses a write.
 */
export class Client {
  readonly #transport: Transport;

  constructor(credentials: Credentials, options: ClientOptions = {}) {
    this.#transport = new Transport(credentials, options);
  }

  static fromKubeConfig(config: KubeConfig, options?: ClientOptions, as?: Impersonation): Client {
    const own = fromKubeConfig(config);
    return new Client(as ? impersonating(own, as) : own, options);
  }

  /** Uses the Pod's ServiceAccount when in a cluster and KUBECONFIG is unset; otherwise KUBECONFIG or ~/.kube/config. */
  static async load(options?: ClientOptions): Promise<Client> {
    const own = process.env.KUBECONFIG ? undefined : inCluster();
    if (own) return new Client(own, options);
    return Client.fromKubeConfig(await loadKubeConfig(), options);
  }

  get metrics(): KitMetrics | undefined {
    return this.#transport.options.metrics;
  }

  /** A client of the same API server and credentials, with separate connections and without the write guard. */
  apart(options: ClientOptions = {}): Client {
    const {credentials, options: own} = this.#transport;
    return new Client(credentials, {...own, ...options});
  }

  /**
   * Calls `guard` right before each later write is sent. If the guard throws, nothing is sent, and the caller gets a
   * WriteRefusedError with the guard's error as its `because`. The guard must be fast and cannot wait.
   */
  guardWrites(guard: () => void): void {
    this.#transport.guardWrites(guard);
  }

  /** The object, or undefined when it does not exist. */
  async get<T extends KubeObject>(
    resource: Resource<T>,
    key: Key,
    options: {signal?: AbortSignal} = {},
  ): Promise<T | undefined> {
    try {
      return await this.#json<T>({method: 'GET', path: pathOf(resource, splitKey(key)), ...options});
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /**
   * All objects at one resourceVersion, read in pages. If the pages expire before the last is read (410), they are read a second
   * time. After a second expiry all objects are requested in one answer.
   */
  async list<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions = {},
  ): Promise<{items: T[]; resourceVersion: string}> {
    for (const limit of [options.limit, options.limit]) {
      try {
        return await this.#whole(resource, {...options, limit});
      } catch (error) {
        if (!isGone(error)) throw error;
      }
    }
    return this.#whole(resource, {...options, limit: 0});
  }

  /**
   * The pages of one consistent list, starting at the first page or at the token `from`. All pages carry the same resourceVersion.
   * A page above the size limit is requested again with half as many objects, and later pages keep that size. Throws a 410 when the
   * list expired midway.
   */
  async *pages<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions = {},
    from?: string,
  ): AsyncGenerator<ListPage<T>> {
    let {limit = 500} = options;
    const read = (at?: string): Promise<ListPage<T>> =>
      this.#page(resource, {...options, limit}, at).catch((error: unknown) => {
        if (!(error instanceof AnswerTooLongError) || limit <= 1) throw error;
        limit = Math.ceil(limit / 2);
        return read(at);
      });
    let coming: Promise<ListPage<T>> | undefined = read(from);
    while (coming) {
      const {items, resourceVersion, next}: ListPage<T> = await coming;
      // The server prepares the next page while the caller processes this one.
      coming = next === undefined ? undefined : read(next);
      // If the caller stops early, the next page's failure is ignored.
      coming?.catch(() => {});
      yield {items, resourceVersion, next};
    }
  }

  /**
   * The current resourceVersion of a collection. The request reads one object. It uses a connection of the watches: idle connections
   * of other requests may be dead without notice. A watch that follows then usually reaches the same API server.
   */
  async version(
    resource: Resource,
    {namespace, signal}: {namespace?: string; signal?: AbortSignal} = {},
  ): Promise<string> {
    return (await this.#page(resource, {namespace, signal, limit: 1, pool: 'watches'})).resourceVersion;
  }

  /**
   * One watch request. Yields events in batches as they arrive, including bookmarks. Returns when the server ends the watch in
   * order. Throws when the watch is refused, cut or aborted, and when the stream ends inside an event.
   */
  async *watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions): AsyncGenerator<WatchEvent<T>[]> {
    const {namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds, signal} = options;
    const path = pathOf(resource, {namespace});
    const query = {
      watch: true,
      allowWatchBookmarks: true,
      labelSelector,
      fieldSelector,
      resourceVersion,
      timeoutSeconds,
    };
    const answer = await this.#transport.stream({method: 'GET', path, query, signal});
    if (answer.statusCode !== 200) {
      throw new ApiError({
        status: answer.statusCode,
        body: await answer.body.text(),
        request: `WATCH ${path}`,
        retryAfter: retryAfter(answer),
      });
    }
    const lines = new LineSplitter();
    yield [];
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      const events = lines.push(chunk).map((line) => JSON.parse(line) as WatchEvent<T>);
      if (events.length > 0) yield events;
    }
    if (lines.midLine) throw new Error(`WATCH ${path}: the stream ended inside an event`);
  }

  /** POST: throws AlreadyExists when an object of that name exists. */
  async create<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    {fieldManager, signal}: {fieldManager?: string; signal?: AbortSignal} = {},
  ): Promise<T> {
    const path = pathOf(resource, {namespace: object.metadata.namespace});
    return this.#json<T>({method: 'POST', path, query: {fieldManager}, body: JSON.stringify(object), signal});
  }

  /**
   * Server-side apply: creates the object, or sets exactly the given fields. `metadata.resourceVersion` and `metadata.uid` in the
   * body are preconditions. With `dryRun` the server validates everything and writes nothing. Without `force`, throws a field
   * manager conflict when another manager owns a field with another value.
   */
  async applyPatch<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    {fieldManager, force, dryRun = false}: {fieldManager: string; force: boolean; dryRun?: boolean},
  ): Promise<T> {
    return this.#json<T>({
      method: 'PATCH',
      path: pathOf(resource, object.metadata),
      query: {fieldManager, force, dryRun: dryRun ? 'All' : undefined},
      body: JSON.stringify(object),
      contentType: 'application/apply-patch+yaml',
    });
  }

  /** A JSON patch (RFC 6902; the body is a list) or a merge patch (RFC 7386) of the object, its status or its scale. */
  async patch<T extends KubeObject>(
    resource: Resource<T>,
    key: Key,
    body: unknown,
    {
      type,
      subresource,
      fieldManager,
      signal,
    }: {type: 'json' | 'merge'; subresource?: 'status' | 'scale'; fieldManager?: string; signal?: AbortSignal},
  ): Promise<T> {
    return this.#json<T>({
      method: 'PATCH',
      path: pathOf(resource, {...splitKey(key), subresource}),
      query: {fieldManager},
      body: JSON.stringify(body),
      contentType: type === 'json' ? 'application/json-patch+json' : 'application/merge-patch+json',
      signal,
    });
  }

  /** Requests deletion; finalizers may delay it. Throws a conflict when `uid` or `resourceVersion` no longer match the object. */
  async delete<T extends KubeObject>(
    resource: Resource<T>,
    key: Key,
    {
      uid,
      resourceVersion,
      propagation,
    }: {uid?: string; resourceVersion?: string; propagation?: 'Background' | 'Foreground' | 'Orphan'} = {},
  ): Promise<'Deleted' | 'NotFound'> {
    const options: Json = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: {uid, resourceVersion},
      propagationPolicy: propagation,
    };
    try {
      await this.#json({method: 'DELETE', path: pathOf(resource, splitKey(key)), body: JSON.stringify(options)});
      return 'Deleted';
    } catch (error) {
      if (isNotFound(error)) return 'NotFound';
      throw error;
    }
  }

  /** Whether the API server has a resource, by its discovery. */
  async serves({group, version, plural}: Resource): Promise<boolean> {
    try {
      const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
      const {resources} = await this.raw<{resources: {name: string}[]}>(path);
      return resources.some(({name}) => name === plural);
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  /** GET of any path that returns JSON, such as '/version'. */
  async raw<T>(path: string): Promise<T> {
    return this.#json<T>({method: 'GET', path});
  }

  /** GET of any path that returns text, such as a Pod's log. */
  text(path: string): Promise<string> {
    return this.#text({method: 'GET', path, accept: 'text/plain, */*'});
  }

  /** Finishes the requests in flight and cuts the watches. */
  close(): Promise<void> {
    return this.#transport.close();
  }

  async #whole<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions,
  ): Promise<{items: T[]; resourceVersion: string}> {
    const items: T[] = [];
    let resourceVersion = '';
    for await (const page of this.pages(resource, options)) {
      items.push(...page.items);
      resourceVersion = page.resourceVersion;
    }
    return {items, resourceVersion};
  }

  async #page<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions & Pick<Request, 'pool'>,
    from?: string,
  ): Promise<ListPage<T>> {
    const {namespace, labelSelector, fieldSelector, limit = 500, metadataOnly = false, signal, pool} = options;
    const query = {labelSelector, fieldSelector, limit: limit === 0 ? undefined : limit, continue: from};
    const path = pathOf(resource, {namespace});
    const list = await this.#json<{items: T[] | null; metadata: {resourceVersion: string; continue?: string}}>({
      method: 'GET',
      path,
      query,
      ...(metadataOnly && {accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'}),
      signal,
      pool,
    });
    const items = list.items ?? [];
    const apiVersion = apiVersionOf(resource);
    // Inside a list the API server omits these fields for built-in kinds.
    for (const item of items) {
      item.apiVersion ??= apiVersion;
      item.kind ??= resource.kind;
    }
    return {items, resourceVersion: list.metadata.resourceVersion, next: list.metadata.continue || undefined};
  }

  async #json<T>(request: Request): Promise<T> {
    return JSON.parse(await this.#text(request)) as T;
  }

  async #text(request: Request): Promise<string> {
    const {status, body, retryAfter: wait} = await this.#transport.request(request);
    if (status < 200 || status > 299)
      throw new ApiError({status, body, request: `${request.method} ${request.path}`, retryAfter: wait});
    return body;
  }
}
