/**
 * For proxies that ask by HTTP (nginx's auth_request, Traefik's forwardAuth, Envoy's http_service): every method and path below
 * /authorize/<scope>/. The scope is read there and nowhere else. No body is read.
 */
import type {HeaderValues} from '../limits/headers.ts';
import {createServer} from 'node:http';
import type {IncomingMessage, ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {plainAddress, within} from '../http/gate/address.ts';
import {brokenProblem} from '../http/broken-requests.ts';
import {answerBrokenRequests, hostFault} from '../kube/broken-requests.ts';
import {drained} from '../kube/drain.ts';
import {Problem} from '../http/problems.ts';
import type {ManagedServer} from '../kube/manager.ts';
import {isScope} from './authorizer.ts';
import type {Authorizer, AuthorizeDecision} from './authorizer.ts';

/** As much as nginx passes on as it comes (large_client_header_buffers), and some more. */
const headerBytes = 64 << 10;
/** nginx passes on no answer but 2xx, 401 and 403; it asks by this header for 403 in place of any other refusal. */
const refuseWith = 'doorplate-refuse-with';

/**
 * Listens on the port, 0 for any free one. `trustedProxies`: addresses and networks whose X-Forwarded-For is believed. `drainMs`: how long
 * what has begun may go on after `stop`.
 */
export function authorizeServer({
  authorizer,
  port,
  trustedProxies,
  drainMs = 5000,
}: {
  authorizer: Authorizer;
  port: number;
  trustedProxies: readonly string[];
  drainMs?: number;
}): ManagedServer & {port: () => number} {
  const isTrusted = within(trustedProxies);
  const server = createServer(
    {
      maxHeaderSize: headerBytes,
      headersTimeout: 10_000,
      requestTimeout: 20_000,
      keepAliveTimeout: 100_000,
      connectionsCheckingInterval: 2000,
      requireHostHeader: false,
    },
    (request, response) => {
      // A connection that is in use ends with its answer.
      if (!server.listening) response.setHeader('connection', 'close');
      void answer(authorizer, isTrusted, request, response);
    },
  );
  // The server ignores an expectation, like the API: Node's own answer has no body.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  answerBrokenRequests(server, (broken) => brokenProblem(broken, (address) => authorizer.headersFor(address)));
  return {
    start: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject).listen(port, resolve);
      }),
    stop: () => drained(server, new Promise((resolve) => server.close(resolve)), drainMs),
    port: () => (server.address() as AddressInfo).port,
  };
}

async function answer(
  authorizer: Authorizer,
  isTrusted: (address: string) => boolean,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const address = clientOf(request, isTrusted);
  const fault = hostFault(request);
  const [, scope] = /^\/authorize\/([^/?#]+)(?:[/?#]|$)/.exec(request.url ?? '') ?? [];
  const decision =
    fault === undefined && scope !== undefined && isScope(scope)
      ? await authorizer.decide({authorization: request.headers.authorization, address, scope})
      : refusal(
          fault === undefined ? nowhere() : new Problem('malformed-request', fault),
          authorizer.headersFor(address),
        );
  const {status, headers, identity = {}, problem, body = ''} = decision;
  const shown = status > 401 && status < 500 && request.headers[refuseWith] === '403' ? 403 : status;
  const absent = Object.keys(identity).filter((name) => identity[name as keyof typeof identity] === '');
  response
    .writeHead(shown, {
      ...headers,
      ...identity,
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      'x-doorplate-status': String(status),
      ...(problem !== undefined && {'x-doorplate-problem': problem}),
      // Envoy's http_service leaves a client's header where ours is empty.
      ...(absent.length > 0 && {'x-envoy-auth-headers-to-remove': absent.join(',')}),
    })
    .end(request.method === 'HEAD' ? undefined : body);
}

const nowhere = (): Problem =>
  new Problem('not-found', 'The path must be /authorize/<scope>/, with a scope such as reports:read, or any.');

function refusal(
  problem: Problem,
  headers: HeaderValues,
): Omit<AuthorizeDecision, 'identity'> & {identity?: AuthorizeDecision['identity']} {
  return {
    status: problem.status,
    headers: {...headers, 'content-type': 'application/problem+json'},
    body: JSON.stringify(problem.body),
  };
}

/** The last address on the way here that is nobody's whose X-Forwarded-For is believed. */
function clientOf({socket, headers}: IncomingMessage, isTrusted: (address: string) => boolean): string {
  const way = [
    ...String(headers['x-forwarded-for'] ?? '')
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean),
    plainAddress(socket.remoteAddress ?? ''),
  ];
  const stranger = way.findLastIndex((address) => !isTrusted(address));
  return way[Math.max(stranger, 0)] ?? '';
}
