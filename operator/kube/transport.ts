import {createHash} from 'node:crypto';
import {createSecureContext} from 'node:tls';
import {Agent, type Dispatcher, errors, Pool, ProxyAgent} from 'undici';
import type {Clock} from './clock.ts';
import {systemClock} from './clock.ts';
import type {Credentials, Secrets} from './credentials.ts';
import {AnswerTooLongError, NoAnswerError, WriteRefusedError} from './errors.ts';
import type {KitMetrics} from './metrics.ts';
import {connectionsFor, defaultWorkers} from './workers.ts';

export interface Request {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: string;
  contentType?: string;
  /** application/json unless told. */
  accept?: string;
  signal?: AbortSignal;
}

export interface TransportOptions {
  userAgent?: string;
  /**
   * The most requests in flight at the same time, without watches and deletions; other requests wait. Default: enough for the controllers
   * with `defaultWorkers`.
   */
  connections?: number;
  /** Most bytes that are read of an answer, except a watch. Any single object must fit. */
  longestAnswer?: number;
  metrics?: KitMetrics;
  clock?: Clock;
}

/** Credentials are looked at again this often, as client-go does with token files. */
const secretsLastMs = 60_000;
/** The API server ends an idle connection after 90 s: be first, or a request meets a closing socket. */
const idleConnectionMs = 60_000;
/** For deletions alone: what others wait for, such as a webhook that does not answer, holds none up. */
const connectionsToDelete = 8;
/** Options of a connection to the API server, or to the proxy in front of it. */
const connecting = {timeout: 10_000, keepAlive: true, keepAliveInitialDelay: 30_000, allowH2: false};
/** The API server itself gives a request up after 60 s (--request-timeout). */
const answerWithinMs = 65_000;
/** Ten times what etcd takes of one object, and more than what a page of objects of usual size has. */
const longestAnswer = 16 * 1024 * 1024;

/** What differs between the pools. */
type PoolLimits = Pick<Agent.Options, 'connections' | 'bodyTimeout' | 'maxResponseSize'>;

type PoolName = 'requests' | 'deletions' | 'watches';
const poolNames: readonly PoolName[] = ['requests', 'deletions', 'watches'];

interface Agents extends Record<PoolName, Dispatcher> {
  secrets: Secrets;
  fingerprint: string;
}

/**
 * HTTP/1.1 with keep-alive to one API server: a pool for requests, one for deletions, and one without a bound for watches, so that no
 * watch ever holds up a request, and no write that hangs a deletion. Each connection goes through the proxy, where there is one. New
 * certificates make new pools, what runs on the old ones ends in peace. A 401 reads the credentials again and repeats the request once
 * (the server did nothing with it).
 */
export class Transport {
  readonly credentials: Credentials;
  readonly options: TransportOptions;
  readonly #origin: string;
  readonly #prefix: string;
  readonly #host: string;
  readonly #userAgent: string;
  readonly #connections: number;
  readonly #metrics: KitMetrics | undefined;
  readonly #clock: Clock;
  #guard: () => void = () => {};
  #agents: Agents | undefined;
  #readAt = 0;
  #reading: Promise<Agents> | undefined;
  #retired: Dispatcher[] = [];

  constructor(credentials: Credentials, options: TransportOptions = {}) {
    const {
      userAgent = 'kube-kit',
      connections = connectionsFor(defaultWorkers),
      metrics,
      clock = systemClock,
    } = options;
    this.credentials = credentials;
    this.options = options;
    const url = new URL(credentials.server);
    this.#origin = url.origin;
    this.#prefix = url.pathname.replace(/\/$/, '');
    this.#host = url.host;
    this.#userAgent = userAgent;
    this.#connections = connections;
    this.#metrics = metrics;
    this.#clock = clock;
  }

  /**
   * From now on `guard` is called for every request except GET, at the moment its first byte would be sent: after it waited for a
   * connection, and even if the process was stopped in between. An error of `guard` becomes the reason (`because`) of a WriteRefusedError,
   * and nothing is sent.
   */
  guardWrites(guard: () => void): void {
    this.#guard = guard;
  }

  /** The whole answer, whatever its status. Throws NoAnswerError when there is none, AnswerTooLongError when it is too much to read. */
  async request(request: Request): Promise<{status: number; body: string; retryAfter: string | undefined}> {
    const answer = await this.#send(request, request.method === 'DELETE' ? 'deletions' : 'requests');
    const body = await answer.body.text().catch((error: unknown) => {
      throw noAnswer(request, error);
    });
    return {status: answer.statusCode, body, retryAfter: retryAfter(answer)};
  }

  /** The answer with its body still to be read; the caller reads it to its end or aborts the signal. */
  async stream(request: Request): Promise<Dispatcher.ResponseData> {
    return this.#send(request, 'watches');
  }

  /** Requests in flight are finished, watches are cut. */
  async close(): Promise<void> {
    const agents = this.#agents;
    if (!agents) return;
    const cut = [agents.watches, ...this.#retired];
    await Promise.all([agents.requests.close(), agents.deletions.close(), ...cut.map((agent) => agent.destroy())]);
  }

  async #send(request: Request, pool: PoolName): Promise<Dispatcher.ResponseData> {
    const agents = await this.#current();
    const answer = await this.#attempt(request, pool, agents);
    if (answer.statusCode !== 401) return answer;
    // If many requests are refused together, the first one renews the credentials.
    const renewed =
      this.#agents !== undefined && isOther(this.#agents, agents) ? this.#agents : await this.#refresh('refused');
    if (!isOther(renewed, agents)) return answer;
    await answer.body.dump();
    return this.#attempt(request, pool, renewed);
  }

  async #attempt(request: Request, pool: PoolName, agents: Agents): Promise<Dispatcher.ResponseData> {
    const count = (code: string): void =>
      this.#metrics?.restClientRequests.inc({code, method: request.method, host: this.#host});
    try {
      const answer = await agents[pool].request({
        origin: this.#origin,
        path: this.#prefix + request.path + queryString(request.query),
        method: request.method,
        headers: {
          accept: request.accept ?? 'application/json',
          'user-agent': this.#userAgent,
          ...(request.body === undefined ? {} : {'content-type': request.contentType ?? 'application/json'}),
          ...agents.secrets.headers,
        },
        body: request.body ?? null,
        signal: request.signal ?? null,
      });
      count(String(answer.statusCode));
      return answer;
    } catch (error) {
      count('<error>');
      throw noAnswer(request, error);
    }
  }

  #current(): Promise<Agents> {
    if (this.#agents && this.#clock.now() - this.#readAt < secretsLastMs) return Promise.resolve(this.#agents);
    return this.#refresh();
  }

  #refresh(refused?: 'refused'): Promise<Agents> {
    this.#reading ??= this.#read(refused).finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #read(refused?: 'refused'): Promise<Agents> {
    const old = this.#agents;
    // A file in the middle of its rotation is no reason to stop: what we have is valid until a 401 says otherwise.
    const secrets = await this.#whole(refused).catch((error: unknown) => {
      if (!old) throw error;
      return old.secrets;
    });
    const fingerprint = fingerprintOf(secrets);
    this.#readAt = this.#clock.now();
    if (old?.fingerprint === fingerprint) return (this.#agents = {...old, secrets});
    if (old) this.#retire(old);
    const maxResponseSize = this.options.longestAnswer ?? longestAnswer;
    const make = (connections: number) =>
      this.#agent(secrets.tls, {connections, bodyTimeout: answerWithinMs, maxResponseSize}).compose(this.#guarded);
    return (this.#agents = {
      secrets,
      fingerprint,
      requests: make(this.#connections),
      deletions: make(connectionsToDelete),
      // A watch is quiet for minutes, and has a watchdog of its own.
      watches: this.#agent(secrets.tls, {connections: null, bodyTimeout: 0}),
    });
  }

  #agent(tls: Secrets['tls'], limits: PoolLimits): Dispatcher {
    const options = {
      allowH2: false,
      keepAliveTimeout: idleConnectionMs,
      keepAliveMaxTimeout: idleConnectionMs,
      headersTimeout: answerWithinMs,
      ...limits,
    };
    const {proxy} = this.credentials;
    if (!proxy) return new Agent({...options, connect: {...tls, ...connecting}});
    return new ProxyAgent({
      ...options,
      uri: proxy.href,
      requestTls: {...tls, timeout: connecting.timeout, allowH2: false},
      proxyTls: connecting,
      clientFactory: (origin, own) => new Pool(origin, {...own, headersTimeout: connecting.timeout}),
    });
  }

  /** Throws when a file is missing or half written. */
  async #whole(refused?: 'refused'): Promise<Secrets> {
    const secrets = await this.credentials.read(refused);
    createSecureContext({ca: secrets.tls.ca, cert: secrets.tls.cert, key: secrets.tls.key});
    return secrets;
  }

  /** undici starts a request, by `onRequestStart`, when a connection is free and right before it writes to it. */
  readonly #guarded: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
    if (options.method !== 'GET') {
      const start = handler.onRequestStart?.bind(handler);
      handler.onRequestStart = (controller, context) => {
        try {
          this.#guard();
        } catch (error) {
          throw new WriteRefusedError(`${options.method} ${options.path.split('?')[0]}`, error);
        }
        start?.(controller, context);
      };
    }
    return dispatch(options, handler);
  };

  /** Lets what runs on the old pools end, then closes them. */
  #retire(old: Agents): void {
    for (const agent of poolNames.map((name) => old[name])) {
      this.#retired.push(agent);
      void agent.close().finally(() => (this.#retired = this.#retired.filter((other) => other !== agent)));
    }
  }
}

/** Whether they carry something that may be accepted where the others' was not. */
const isOther = (a: Agents, b: Agents): boolean =>
  a.secrets.headers.authorization !== b.secrets.headers.authorization || a.fingerprint !== b.fingerprint;

/** The error for a request that failed without an answer, or whose answer was too long. */
function noAnswer({method, path, signal}: Request, error: unknown): unknown {
  if (signal?.aborted || error instanceof WriteRefusedError) return error;
  if (error instanceof errors.ResponseExceededMaxSizeError) return new AnswerTooLongError(`${method} ${path}`, error);
  return new NoAnswerError(`${method} ${path}`, error);
}

function queryString(query: Request['query'] = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, String(value));
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

export function retryAfter(answer: Dispatcher.ResponseData): string | undefined {
  const header = answer.headers['retry-after'];
  return typeof header === 'string' ? header : undefined;
}

function fingerprintOf({tls}: Secrets): string {
  const hash = createHash('sha256');
  for (const part of [tls.ca, tls.cert, tls.key, tls.servername, tls.rejectUnauthorized])
    hash.update(`|${String(part)}`);
  return hash.digest('hex');
}
