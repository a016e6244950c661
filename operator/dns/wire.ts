/**
 * Sends one question to one server: UDP first, TCP when the reply was truncated (RFC 7766), all within one time limit. Every opened
 * socket is closed again in all cases. Nothing is thrown, because "could not ask" is a separate answer.
 */
import {randomInt} from 'node:crypto';
import {createSocket} from 'node:dgram';
import {connect, isIP, isIPv6} from 'node:net';
import {canonicalName} from './names.ts';
import {decodeMessage, encodeQuestion, responseId} from './message.ts';
import type {Message, WireQuestion, Record_} from './message.ts';

export type {WireQuestion, Record_} from './message.ts';

export type Failure =
  | 'Timeout'
  | 'Unreachable'
  | 'Refused'
  | 'ServerFailure'
  | 'Malformed'
  | 'NotAuthoritative'
  | 'BrokenDnssec'
  | 'TooLarge'
  | 'Other';

export interface DnsServer {
  /** An IPv4 or IPv6 address. */
  address: string;
  port: number;
  /** The server's host name that resolved to the address, for messages. */
  name?: string;
}

export interface DnsAnswer {
  kind: 'Answer';
  server: DnsServer;
  rcode: 'NOERROR' | 'NXDOMAIN';
  aa: boolean;
  /** A resolver has validated the answer. */
  ad: boolean;
  /** The reply contained more answers than were read. */
  cut: boolean;
  answers: Record_[];
  authority: Record_[];
  additional: Record_[];
}

export interface NoAnswer {
  kind: 'Failure';
  server: DnsServer;
  failure: Failure;
  /** A short sentence without the server's name. */
  detail: string;
}

export type Reply = DnsAnswer | NoAnswer;

export interface DnsAskOptions {
  recursionDesired: boolean;
  /** Asks the resolver not to validate (RFC 4035, 3.2.2). */
  checkingDisabled?: boolean;
  /** Whether the first packet has EDNS (RFC 6891). Default true. */
  edns?: boolean;
  /** Uses TCP from the start. */
  overTcp?: boolean;
  /** Time limit for the whole question, including TCP. */
  timeoutMs: number;
  /** Ends the question early: `Timeout` when the signal's reason is a TimeoutError, else `Other`. */
  signal?: AbortSignal | undefined;
}

/** A larger UDP reply is invalid, because our question announced 1232 bytes. */
const LARGEST_UDP = 4096;

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EACCES',
  'EPERM',
  'ECONNRESET',
  'EPIPE',
]);

const RCODES = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED'];

class WireError extends Error {
  readonly failure: Failure;
  constructor(failure: Failure, detail: string) {
    super(detail);
    this.failure = failure;
  }
}

/**
 * Asks `server` one question. Resolves with its answer or with the reason for having none; never rejects, and takes at most
 * `timeoutMs`.
 *
 * The id and the source port are random, and the socket accepts that peer only. A reply counts when its id and question match ours
 * (RFC 5452). Over UDP other replies are ignored, because they may be forged.
 *
 * NOERROR and NXDOMAIN are answers. SERVFAIL is `ServerFailure`, REFUSED is `Refused`, any other code is `Other`. `Unreachable`
 * covers a closed port and an address family without a route.
 */
export async function ask(server: DnsServer, question: WireQuestion, opts: DnsAskOptions): Promise<Reply> {
  const endsAt = performance.now() + opts.timeoutMs;
  const exchange: Exchange = {
    server,
    question: {name: canonicalName(question.name), type: question.type},
    endsAt,
    timeoutMs: opts.timeoutMs,
    signal: opts.signal,
  };
  try {
    if (isIP(server.address) === 0 || !(server.port > 0 && server.port < 0x10000))
      throw new WireError('Other', `not an IP address and port: ${server.address} ${server.port}`);
    if (opts.overTcp) return toReply(server, await overTcp(exchange, query(question, opts, true)));
    let edns = opts.edns ?? true;
    let message = await overUdp(exchange, query(question, opts, edns));
    if (message.rcode === 1 || message.rcode === 4) {
      // A server without EDNS support answers FORMERR or NOTIMP (RFC 6891, 7): ask once more without EDNS.
      edns = false;
      message = await overUdp(exchange, query(question, opts, edns));
    }
    if (message.truncated) message = await overTcp(exchange, query(question, opts, edns));
    return toReply(server, message);
  } catch (error) {
    if (error instanceof WireError) return {kind: 'Failure', server, failure: error.failure, detail: error.message};
    return {kind: 'Failure', server, failure: 'Other', detail: error instanceof Error ? error.message : String(error)};
  }
}

interface Exchange {
  server: DnsServer;
  question: {name: string; type: string};
  endsAt: number;
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

interface Query {
  id: number;
  bytes: Buffer;
}

function query(question: WireQuestion, opts: DnsAskOptions, edns: boolean): Query {
  const id = randomInt(0x10000);
  return {
    id,
    bytes: encodeQuestion(id, question, {
      recursionDesired: opts.recursionDesired,
      checkingDisabled: opts.checkingDisabled ?? false,
      edns,
    }),
  };
}

function overUdp(exchange: Exchange, {id, bytes}: Query): Promise<Message> {
  const {server} = exchange;
  const family = isIPv6(server.address) ? 6 : 4;
  return withinTime(exchange, (resolve, reject) => {
    const socket = createSocket({
      type: family === 6 ? 'udp6' : 'udp4',
      // Both the server's and the bound address are IP addresses already: skip the lookup.
      lookup: (address, _options, done) => done(null, address, family),
    });
    socket.on('error', (error) => reject(asWireError(error)));
    let closed = false;
    socket.on('connect', () => {
      // The event may come after close().
      if (!closed) socket.send(bytes, (error) => error && reject(asWireError(error)));
    });
    socket.on('message', (reply) => {
      if (responseId(reply) !== id) return;
      if (reply.length > LARGEST_UDP) return reject(new WireError('Malformed', `a UDP reply of ${reply.length} bytes`));
      try {
        const message = decoded(reply);
        if (answersQuestion(message, exchange)) resolve(message);
      } catch (error) {
        reject(error);
      }
    });
    // On a connected socket the kernel drops packets from other peers and reports a closed port.
    socket.connect(server.port, server.address);
    return () => {
      closed = true;
      socket.close();
    };
  });
}

function overTcp(exchange: Exchange, {id, bytes}: Query): Promise<Message> {
  const {server} = exchange;
  return withinTime(exchange, (resolve, reject) => {
    const socket = connect({host: server.address, port: server.port, noDelay: true});
    const length = Buffer.alloc(2);
    length.writeUInt16BE(bytes.length);
    // At most 2 + 65,535 bytes are kept: the length field allows no more.
    const chunks: Buffer[] = [];
    let size = 0;
    socket.on('error', (error) => reject(asWireError(error)));
    socket.on('connect', () => socket.write(Buffer.concat([length, bytes])));
    socket.on('close', () => reject(new WireError('Malformed', 'the TCP connection ended before the reply did')));
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size < 2) return;
      if (chunks[0]!.length < 2) chunks.splice(0, chunks.length, Buffer.concat(chunks));
      const wanted = chunks[0]!.readUInt16BE(0);
      if (size < 2 + wanted) return;
      const received = Buffer.concat(chunks);
      try {
        const message = decoded(received.subarray(2, 2 + wanted));
        if (message.id !== id || !answersQuestion(message, exchange))
          throw new WireError('Malformed', 'a TCP reply to another question');
        if (message.truncated) throw new WireError('Malformed', 'a truncated reply over TCP');
        resolve(message);
      } catch (error) {
        reject(error);
      }
    });
    return () => socket.destroy();
  });
}

/**
 * Calls `over` after the time limit, once data that arrived earlier has been read. Node runs timers first. Without this delay, a
 * process that was busy for the whole time would mistake its own silence for the server's.
 */
export const timeLimit = (over: () => void, ms: number): NodeJS.Timeout => setTimeout(() => setImmediate(over), ms);

/** Runs `start` until it settles, the time is over or the signal fires. Then calls the returned cleanup function once. */
function withinTime<T>(
  exchange: Exchange,
  start: (resolve: (value: T) => void, reject: (error: unknown) => void) => () => void,
): Promise<T> {
  const {signal, endsAt, timeoutMs} = exchange;
  if (signal?.aborted) return Promise.reject(stopped(exchange, signal));
  return new Promise((resolve, reject) => {
    let settled = false;
    let cleanUp: (() => void) | undefined;
    const settle = (action: () => void) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      // In a microtask: `start` may settle before it has returned its cleanup function.
      queueMicrotask(() => cleanUp?.());
      action();
    };
    const onAbort = () => settle(() => reject(signal && stopped(exchange, signal)));
    const timer = timeLimit(
      () => settle(() => reject(new WireError('Timeout', `no answer within ${inSeconds(timeoutMs)}`))),
      Math.max(0, endsAt - performance.now()),
    );
    signal?.addEventListener('abort', onAbort, {once: true});
    try {
      cleanUp = start(
        (value) => settle(() => resolve(value)),
        (error) => settle(() => reject(error)),
      );
    } catch (error) {
      settle(() => reject(error));
    }
  });
}

function stopped({question: {name, type}}: Exchange, signal: AbortSignal): WireError {
  const timedOut = (signal.reason as {name?: unknown} | undefined)?.name === 'TimeoutError';
  return timedOut
    ? new WireError('Timeout', `no answer to ${type} of ${name} within the time limit for all queries`)
    : new WireError('Other', 'stopped');
}

function decoded(bytes: Buffer): Message {
  try {
    return decodeMessage(bytes);
  } catch (error) {
    throw new WireError(
      'Malformed',
      `a reply that can't be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** An error reply (except NXDOMAIN) may omit the question, because it cannot verify anything; other replies must repeat it. */
function answersQuestion(message: Message, {question}: Exchange): boolean {
  if (!message.question) return message.rcode !== 0 && message.rcode !== 3;
  return message.question.name === question.name && message.question.type === question.type;
}

function toReply(server: DnsServer, message: Message): Reply {
  const rcode = RCODES[message.rcode] ?? `code ${message.rcode}`;
  if (rcode === 'NOERROR' || rcode === 'NXDOMAIN') {
    return {
      kind: 'Answer',
      server,
      rcode,
      aa: message.aa,
      ad: message.ad,
      cut: message.cut,
      answers: message.answers,
      authority: message.authority,
      additional: message.additional,
    };
  }
  const failure: Failure = rcode === 'SERVFAIL' ? 'ServerFailure' : rcode === 'REFUSED' ? 'Refused' : 'Other';
  return {kind: 'Failure', server, failure, detail: `answered ${rcode}`};
}

function asWireError(error: Error): WireError {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return UNREACHABLE.has(code)
    ? new WireError('Unreachable', `can't be reached (${code})`)
    : new WireError('Other', error.message);
}

function inSeconds(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${ms / 1000} s`;
}
