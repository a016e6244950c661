/**
 * Answers of HTTP servers to bytes that are not a request, or too large for one. Node.js by itself sends a status without a body, and
 * without the headers that a server promises.
 */
import {maxHeaderSize, STATUS_CODES} from 'node:http';
import type {IncomingMessage, Server, ServerResponse} from 'node:http';
import type {Socket} from 'node:net';

/** The fault and its remedy, as the client reads them. */
export interface BrokenRequest {
  status: 400 | 408 | 413 | 431;
  detail: string;
  /** Of the client or the last proxy; no header of the request can be believed. */
  address: string;
}

export interface BrokenAnswer {
  status: number;
  /** Beside Connection, Content-Length and Date. Nothing in them may come from the request. */
  headers: Readonly<Record<string, string | number>>;
  body: string;
}

/** Time in which a client that continues to send can read its answer. Unread bytes would reset a connection that closes (RFC 9112, 9.6). */
const lingerMs = 2000;
/** Node.js has no option for this limit (src/node_http_parser.cc). */
const chunkExtensionBytes = 16 << 10;

/** A request and its answer on a connection. `isAnswered`: its answer is sent, or given up. */
interface RequestInProgress {
  request: IncomingMessage;
  response: ServerResponse;
  isAnswered: boolean;
}

const isOver = ({request, isAnswered}: RequestInProgress): boolean => isAnswered && request.complete;

/** A proxy's method (RFC 9110, 9.3.6). Node.js closes the connection without an answer. */
const connectFault = {
  status: 400,
  detail: 'This server is not a proxy and opens no tunnels (CONNECT). Send the request without a proxy.',
} as const;

/**
 * Answers each broken request of a server, and each CONNECT, with `answerTo`, once, and closes its connection:
 *
 *   no request before it, or all are answered    the answer
 *   behind requests without their answers        those answers, then the end: the client would take ours for one of them
 *   in the body of a request                     the answer, or only the end if that request's own answer has begun
 */
export function answerBrokenRequests(server: Server, answerTo: (broken: BrokenRequest) => BrokenAnswer): void {
  /** Requests in progress on each connection, the newest last. */
  const current = new WeakMap<Socket, RequestInProgress[]>();
  const handled = new WeakSet<Socket>();
  const under = (socket: Socket): RequestInProgress[] => (current.get(socket) ?? []).filter((each) => !isOver(each));
  server.on('request', (request, response) => {
    const inProgress: RequestInProgress = {request, response, isAnswered: false};
    response.once('close', () => (inProgress.isAnswered = true));
    current.set(request.socket, [...under(request.socket), inProgress]);
  });
  server.on('clientError', (error: Error & {code?: string}, duplex) => {
    const socket = duplex as Socket;
    // All further bytes are errors, too. They are read and dropped.
    if (handled.has(socket)) return;
    handled.add(socket);
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    refuse(socket, faultOf(error, server));
  });
  server.on('connect', (_, duplex) => {
    const socket = duplex as Socket;
    // Node.js has removed its listeners from this connection.
    socket.on('error', () => socket.destroy()).resume();
    refuse(socket, connectFault);
  });
  function refuse(socket: Socket, fault: Omit<BrokenRequest, 'address'>): void {
    const all = under(socket);
    const newest = all.at(-1);
    const broken = newest?.request.complete === false ? newest : undefined;
    const before = broken ? all.at(-2) : newest;
    if (before) return void before.response.once('close', () => socket.destroySoon());
    if (broken?.response.headersSent) return void socket.destroy();
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(timer));
    socket.end(bytesOf(answerTo({...fault, address: socket.remoteAddress ?? ''})));
  }
}

function bytesOf({status, headers, body}: BrokenAnswer): string {
  const lines = Object.entries({
    ...headers,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    date: new Date().toUTCString(),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}

function faultOf(
  {code, reason}: Error & {code?: string; reason?: string},
  server: Server,
): Omit<BrokenRequest, 'address'> {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return {
        status: 431,
        detail:
          `The path, the query and the headers of a request may have at most ${kib(headerLimitOf(server))} ` +
          'together. Shorten the query, or send fewer cookies and headers. In a browser, delete the cookies of this site.',
      };
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return {
        status: 413,
        detail: `The chunk extensions of a body may have at most ${kib(chunkExtensionBytes)}. Send chunks without extensions.`,
      };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return {
        status: 408,
        detail:
          `The request took too long: its headers may take ${server.headersTimeout / 1000} s to arrive, and all of it ` +
          `${server.requestTimeout / 1000} s. Send it again on a new connection.`,
      };
    case 'HPE_PAUSED_H2_UPGRADE':
      return {
        status: 400,
        detail: 'This server answers HTTP/1.1, but not HTTP/2 without TLS. Send the request over HTTP/1.1.',
      };
    default:
      // The reason is a constant of llhttp. It contains no text of the request.
      return {
        status: 400,
        detail:
          `This is not a valid HTTP request${reason === undefined ? '' : ` (${reason})`}. ` +
          'Correct it, or send it with another client.',
      };
  }
}

const kib = (bytes: number): string => `${bytes / 1024} KiB`;

/** Node.js keeps the option at the server; @types/node lacks the property. */
const headerLimitOf = (server: Server & {maxHeaderSize?: number}): number => server.maxHeaderSize ?? maxHeaderSize;

/**
 * What is wrong with the header `Host`: HTTP/1.1 requires exactly one (RFC 9112, 3.2). If there are two, a proxy and a server can read
 * different ones. For servers with `requireHostHeader: false`, because Node's own answer has no body.
 */
export function hostFault({
  headersDistinct,
  httpVersion,
}: Pick<IncomingMessage, 'headersDistinct' | 'httpVersion'>): string | undefined {
  const hosts = headersDistinct.host?.length ?? 0;
  if (hosts > 1) return 'The request has more than one header `Host`.';
  return hosts === 0 && httpVersion === '1.1' ? 'The request has no header `Host`.' : undefined;
}
