import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import {request} from 'node:https';
import type {AddressInfo, Socket} from 'node:net';
import {buffer} from 'node:stream/consumers';
import {setTimeout as wait} from 'node:timers/promises';
import type {Credentials} from '../../operator/kube/client/credentials.ts';

/**
 * What happens to a request: an answer of ours (`afterMs`: so late), a connection that is cut, its way to the API server, the same later (Infinity: never),
 * or when the test says so, the same with the connection cut in place of the answer.
 */
export type Fate =
  | 'forward'
  | 'cut'
  | 'unanswered'
  | {delayMs: number}
  | {until: Promise<void>}
  | {status: number; body?: string; headers?: Record<string, string>; afterMs?: number};

export interface Seen {
  method: string;
  url: URL;
  isWatch: boolean;
  at: number;
}

/** An HTTP proxy before the real API server that cuts, truncates, silences and answers errors, as a test tells it. */
export class FaultProxy {
  /** Decides about each request when it comes. */
  fate: (request: Seen) => Fate = () => 'forward';
  /** Called when the API server has answered a request, and nobody has been told yet. */
  onAnswer: (request: Seen) => void = () => {};
  readonly seen: Seen[] = [];
  readonly #credentials: Credentials;
  readonly #sockets = new Set<Socket>();
  readonly #watches = new Map<ServerResponse, Seen>();
  /** What is held back of a watch: bytes, and its end. */
  readonly #held = new Map<ServerResponse, (Buffer | 'end')[]>();
  readonly #writes = new Set<Promise<void>>();
  #server: Server | undefined;
  #port = 0;

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  /** Listens; on the port it had before, when it was closed in between. */
  async listen(): Promise<void> {
    this.#server = createServer((incoming, outgoing) => void this.#handle(incoming, outgoing));
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    await new Promise<void>((resolve) => this.#server!.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Nobody listens any more, and every connection is cut. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server?.close(resolve));
    this.cutAll();
    await closed;
  }

  /** Reaches the API server through here. */
  get credentials(): Credentials {
    return {server: `http://127.0.0.1:${this.#port}`, read: async () => ({tls: {}, headers: {}})};
  }

  get openWatches(): number {
    return this.#watches.size;
  }

  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Resolves when the API server has answered every write that is on its way: none is called back, whoever has gone meanwhile. */
  async settled(): Promise<void> {
    while (this.#writes.size > 0) await Promise.all(this.#writes);
  }

  /** Into every open watch: these bytes, and then the end of the stream. */
  endWatches(lastBytes: string): void {
    for (const watch of this.#watches.keys()) watch.end(lastBytes);
  }

  /** From now on the watches that are open, or these of them, bring nothing more, and nobody is told: a half-open connection. */
  holdWatches(which: (watch: Seen) => boolean = () => true): void {
    for (const [watch, seen] of this.#watches) if (which(seen)) this.#held.set(watch, []);
  }

  /** What was held back comes after all. */
  releaseWatches(): void {
    for (const [watch, parts] of this.#held) {
      for (const part of parts) {
        if (part === 'end') watch.end();
        else watch.write(part);
      }
    }
    this.#held.clear();
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const url = new URL(incoming.url!, 'http://proxy');
    const seen = {
      method: incoming.method!,
      url,
      isWatch: url.searchParams.get('watch') === 'true',
      at: performance.now(),
    };
    this.seen.push(seen);
    const fate = this.fate(seen);
    if (fate === 'cut') {
      incoming.socket.destroy();
      return;
    }
    if (typeof fate === 'object' && 'delayMs' in fate) {
      if (fate.delayMs === Infinity) return;
      await wait(fate.delayMs);
    } else if (typeof fate === 'object' && 'until' in fate) {
      await fate.until;
    } else if (typeof fate === 'object') {
      if (fate.afterMs !== undefined) await wait(fate.afterMs);
      outgoing.writeHead(fate.status, {'content-type': 'application/json', ...fate.headers});
      outgoing.end(fate.body ?? '');
      return;
    }
    const sent = this.#send(incoming, outgoing, {seen, answered: fate !== 'unanswered'});
    if (seen.method === 'GET') return;
    this.#writes.add(sent);
    void sent.finally(() => this.#writes.delete(sent));
  }

  /** Resolves when the API server's answer has ended, or will not come. */
  async #send(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    {seen, answered}: {seen: Seen; answered: boolean},
  ): Promise<void> {
    // Whole, or not at all; and not to a server that is gone, its certificates with it.
    const [secrets, body] = await Promise.all([this.#credentials.read(), buffer(incoming)]).catch(() => []);
    if (!secrets || !body || outgoing.destroyed) {
      outgoing.destroy();
      return;
    }
    const {tls, headers} = secrets;
    const target = new URL(incoming.url!, this.#credentials.server);
    await new Promise<void>((resolve) => {
      const onward = request(
        target,
        {...tls, method: incoming.method, headers: {...incoming.headers, ...headers, host: target.host}} as object,
        (answer) => {
          this.onAnswer(seen);
          if (answered) this.#relay(answer, outgoing, seen);
          else answer.resume().on('end', () => incoming.socket.destroy());
        },
      );
      onward.on('close', resolve);
      onward.on('error', () => outgoing.destroy());
      outgoing.on('close', () => {
        this.#watches.delete(outgoing);
        this.#held.delete(outgoing);
        if (seen.method === 'GET') onward.destroy();
      });
      onward.end(body);
    });
  }

  #relay(answer: IncomingMessage, outgoing: ServerResponse, seen: Seen): void {
    outgoing.writeHead(answer.statusCode!, answer.headers);
    outgoing.flushHeaders();
    if (seen.isWatch) this.#watches.set(outgoing, seen);
    answer.on('data', (chunk: Buffer) => {
      const held = this.#held.get(outgoing);
      if (held) held.push(chunk);
      else outgoing.write(chunk);
    });
    answer.on('end', () => {
      const held = this.#held.get(outgoing);
      if (held) held.push('end');
      else outgoing.end();
    });
    answer.on('error', () => outgoing.destroy());
  }
}
