/** The redirector's HTTP server around the pure table. Its table comes from a watch, and each request reads it. */
import {createServer} from 'node:http';
import type {IncomingMessage, ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {setTimeout as sleep} from 'node:timers/promises';
import type {Logger} from 'pino';
import {answerBrokenRequests, hostFault} from '../kube/broken-requests.ts';
import {drained} from '../kube/drain.ts';
import {answer, plain} from './table.ts';
import type {RedirectRule, Response} from './table.ts';

export interface RedirectorOptions {
  /** 0 for any free one. */
  port: number;
  /** The table as it stands now; its keys as in RedirectRule.host. */
  table: () => ReadonlyMap<string, RedirectRule>;
  /** False until the table is complete: until then every request gets 503, because an unknown host may be a known one. */
  ready: () => boolean;
  /** The newest rule for a host that the table may lack, never rejects: {@link Lookup.ruleOf}. */
  ruleOf: (host: string) => Promise<RedirectRule | undefined>;
  log: Pick<Logger, 'info' | 'warn'>;
  /** How long close() serves on before it stops listening: the edge hears only later that it shall send no more. */
  lingerMs: number;
  /** How long close() lets requests finish after that. */
  drainMs: number;
}

export interface RedirectServer {
  port: number;
  /**
   * Serves on for `lingerMs`, each answer the last on its connection; then stops listening, lets requests in flight finish for
   * `drainMs`, and ends what is left. Safe to call twice.
   */
  close(): Promise<void>;
}

/**
 * Path, query and headers together. Sign-ins put long texts into queries (SAML), and long cookies come with every request. The edge decides
 * first: by default nginx passes on at most 32 KiB and Envoy 60 KiB, Traefik up to 1 MiB (docs/explanation/redirects.md).
 */
const HEADER_BYTES = 64 << 10;
/** A request's head has this long to arrive, and the whole request that long: a slow client holds a socket, nothing else. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 20_000;
const TIMEOUT_CHECK_MS = 2000;
/** Longer than the idle time of the edges (nginx 60 s, Traefik 90 s), so it's never us who close under a request being sent. */
const KEEP_ALIVE_TIMEOUT_MS = 100_000;

/** Listens on `port`; rejects when it can't. */
export async function startRedirector(opts: RedirectorOptions): Promise<RedirectServer> {
  let draining = false;
  const server = createServer({
    maxHeaderSize: HEADER_BYTES,
    requireHostHeader: false,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  });
  // Bodies are never looked at: once the answer is out, node:http reads past what is left of them.
  const handle = (req: IncomingMessage, res: ServerResponse) => {
    if (draining) res.setHeader('connection', 'close');
    const fault = hostFault(req);
    if (fault !== undefined) return send(res, plain(400, fault));
    if (!opts.ready()) return send(res, notReady());
    const request = requestOf(req);
    const response = answer(opts.table(), request);
    if (response.unsure === undefined) return send(res, response);
    void opts
      .ruleOf(response.unsure)
      .then((rule) => send(res, rule ? answer(new Map([[rule.host, rule]]), request) : response));
  };
  server.on('request', handle);
  // A client that asks whether to send its body gets the final answer at once (RFC 9110, 10.1.1). Other expectations are passed over.
  for (const event of ['checkContinue', 'checkExpectation'])
    server.on(event, (req: IncomingMessage, res: ServerResponse) => server.emit('request', req, res));
  answerBrokenRequests(server, ({status, detail}) => plain(status, detail));

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(opts.port, () => {
      server.off('error', reject);
      resolve();
    });
  });
  server.on('error', (error) => opts.log.warn({err: error}, 'redirector server'));
  const {port} = server.address() as AddressInfo;
  opts.log.info({port}, 'redirector listens');

  let closed: Promise<void> | undefined;
  return {
    port,
    close() {
      draining = true;
      closed ??= sleep(opts.lingerMs).then(() =>
        drained(server, new Promise((resolve) => server.close(resolve)), opts.drainMs),
      );
      return closed;
    },
  };
}

function requestOf(req: IncomingMessage): {host: string | undefined; url: string; forwardedProto: string | undefined} {
  const proto = req.headers['x-forwarded-proto'];
  return {host: req.headers.host, url: req.url ?? '/', forwardedProto: Array.isArray(proto) ? proto[0] : proto};
}

function notReady(): Response {
  const response = plain(503, 'The redirects are not loaded yet.');
  return {...response, headers: {...response.headers, 'retry-after': '1'}};
}

function send(res: ServerResponse, {status, headers, body}: Response): void {
  res.writeHead(status, headers);
  // node:http sends no body to HEAD, and keeps the length.
  res.end(body);
}
