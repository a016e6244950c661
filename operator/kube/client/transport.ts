import {createHash} from 'node:crypto';
import {createSecureContext} from 'node:tls';
import {Agent, type Dispatcher, errors, Pool, ProxyAgent} from 'undici';
import type {Clock} from '../clock.ts';
import {systemClock} from '../clock.ts';
import type {Credentials, Secrets} from './credentials.ts';
import {AnswerTooLongError, NoAnswerError, WriteRefusedError} from '../errors.ts';
import type {KitMetrics} from '../metrics.ts';
import {connectionsFor, defaultWorkers} from './workers.ts';

export interface Request {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: string;
  contentType?: string;
  /** application/json by default. */
  accept?: string;
  signal?: AbortSignal;
  /** Overrides the pool that the method decides. */
  pool?: 'watches';
}

export interface TransportOptions {
  userAgent?: string;
  /**
   * Maximum number of requests in flight, not counting watches and deletions; further requests wait. The default suits controllers
   * with `defaultWorkers`.
   */
  connections?: number;
  /** Maximum size of an answer in bytes, except for watches. Must be large enough for any single object. */
  longestAnswer?: number;
  metrics?: KitMetrics;
  clock?: Clock;
}

/** Credentials are read again at this interval, as client-go does with token files. */
const secretsLastMs = 60_000;
/** The API server closes idle connections after 90 s. We close them earlier, so that no request uses a closing socket. */
const idleConnectionMs = 60_000;
/** Separate connections for deletions, so that hanging writes (a webhook that does not answer) never block deletions. */
const connectionsToDelete = 8;
/** Options of a connection to the API server, or to the proxy in front of it. */
const connecting = {timeout: 10_000, keepAlive: true, keepAliveInitialDelay: 30_000, allowH2: false};
/** The API server itself aborts a request after 60 s (--request-timeout). */
const answerWithinMs = 65_000;
/** Ten times etcd's limit for one object, and more than a page of normal objects. */
const longestAnswer = 16 * 1024 * 1024;

/** The options that differ between the pools. */
type PoolLimits = Pick<Agent.Options, 'connections' | 'bodyTimeout' | 'maxResponseSize'>;

type PoolName = 'requests' | 'deletions' | 'watches';
const poolNames: readonly PoolName[] = ['requests', 'deletions', 'watches'];

interface Agents extends Record<PoolName, Dispatcher> {
  secrets: Secrets;
  fingerprint: string;
}

/**
 * HTTP/1.1 with keep-alive to one API server. Requests and deletions have a pool each, and watches have an unbounded pool. So
 * watches never delay requests, and hanging writes never delay deletions. Each connection goes through the proxy, if configured.
 * New certificates create new pools; requests on the old pools run to their end. After a 401 the credentials are read again and the
 * request is repeated once, because the server has done nothing with it.
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
   * Calls `guard` for every later request except GET, at the moment the first byte would be sent. Waiting for a connection and
   * pauses of the process come before that moment. If the guard throws, nothing is sent, and its error becomes the `because` of a
   * WriteRefusedError.
   */
  guardWrites(guard: () => void): void {
    this.#guard = guard;
  }

  /**
   * The whole answer, with any status. Throws NoAnswerError when no answer came, AnswerTooLongError when the answer exceeds the
   * size limit.
   */
  async request(request: Request): Promise<{status: number; body: string; retryAfter: string | undefined}> {
    const answer = await this.#send(request, request.pool ?? (request.method === 'DELETE' ? 'deletions' : 'requests'));
    const body = await answer.body.text().catch((error: unknown) => {
      throw noAnswer(request, error);
    });
    return {status: answer.statusCode, body, retryAfter: retryAfter(answer)};
  }

  /** The answer with an unread body. The caller must read the body to its end or abort the signal. */
  async stream(request: Request): Promise<Dispatcher.ResponseData> {
    return this.#send(request, 'watches');
  }

  /** Waits for the requests in flight, and cuts watches. */
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
    // If several requests are refused together, only the first reads the credentials again.
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
    // A file in mid-rotation must not stop us: the current credentials stay valid until a 401.
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
      // A watch may be silent for minutes, and has its own watchdog.
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

  /** Throws when a file is missing or incomplete. */
  async #whole(refused?: 'refused'): Promise<Secrets> {
    const secrets = await this.credentials.read(refused);
    createSecureContext({ca: secrets.tls.ca, cert: secrets.tls.cert, key: secrets.tls.key});
    return secrets;
  }

  /** undici calls `onRequestStart` when a connection is free, right before writing the request to it. */
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

  /** Closes the old pools after their running requests end. */
  #retire(old: Agents): void {
    for (const agent of poolNames.map((name) => old[name])) {
      this.#retired.push(agent);
      void agent.close().finally(() => (this.#retired = this.#retired.filter((other) => other !== agent)));
    }
  }
}

/** Whether the credentials differ, so that one may be accepted after the other was refused. */
const isOther = (a: Agents, b: Agents): boolean =>
  a.secrets.headers.authorization !== b.secrets.headers.authorization || a.fingerprint !== b.fingerprint;

/** The error for a request without an answer, or with an answer above the size limit. */
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
