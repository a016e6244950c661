/**
 * A program inside the cluster's network: it asks the edge's addresses, 50 times a second in all, until its input ends. Then it prints
 * a {@link ClientReport} as JSON. Every target is asked over IPv4 and IPv6, on fresh connections and on connections that are kept.
 *
 *   node client.ts < a line with a ClientOrder as JSON
 */
import {Agent as HttpAgent, request as httpRequest} from 'node:http';
import {Agent as HttpsAgent, request as httpsRequest} from 'node:https';
import {createInterface} from 'node:readline';

export interface ClientTarget {
  url: string;
  status: number;
  /** Value of the header `location`. */
  location?: string;
  headers?: Record<string, string>;
}

export interface ClientOrder {
  targets: ClientTarget[];
  addresses: string[];
  /** Certificate of the ACME CA: every certificate must chain to it. */
  ca: string;
}

export interface ClientReport {
  requests: number;
  /** Requests that were sent again on a fresh connection, because a kept one was closed before any answer (RFC 9112, 9.3.1). */
  repeated: number;
  /** Longest time until an answer, ms. */
  slowestMs: number;
  failed: {what: string; atMs: number}[];
}

/** Time between two requests. */
export const everyMs = 20;
const timeoutMs = 10_000;

interface Line {
  target: ClientTarget;
  address: string;
  kept: boolean;
  agent: HttpAgent | undefined;
}

/** Sends one request. Resolves with status and location; rejects with `reused` set if a kept connection failed before the answer. */
function send({target: {url, headers = {}}, address, agent}: Line, ca: string): Promise<string> {
  const {protocol, hostname, pathname, host} = new URL(url);
  const secure = protocol === 'https:';
  const options = {
    host: address,
    path: pathname,
    agent: agent ?? false,
    timeout: timeoutMs,
    headers: {host, ...headers},
  };
  return new Promise((resolve, reject) => {
    const sent = secure ? httpsRequest({...options, servername: hostname, ca}) : httpRequest(options);
    sent
      .on('response', (answer) => {
        answer
          .on('end', () => resolve(`${answer.statusCode} ${answer.headers.location ?? ''}`))
          .on('error', reject)
          .resume();
      })
      .on('timeout', () => sent.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)))
      .on('error', (error) => reject(Object.assign(error, {reused: sent.reusedSocket})))
      .end();
  });
}

const linesOf = ({targets, addresses}: ClientOrder): Line[] =>
  targets.flatMap((target) =>
    addresses.flatMap((address) =>
      [false, true].map((kept) => {
        const options = {keepAlive: true, maxSockets: 4};
        const agent = target.url.startsWith('https:') ? new HttpsAgent(options) : new HttpAgent(options);
        return {target, address, kept, agent: kept ? agent : undefined};
      }),
    ),
  );

async function ask(line: Line, ca: string, report: ClientReport): Promise<void> {
  const began = Date.now();
  const name = `${line.target.url} at ${line.address}, ${line.kept ? 'kept' : 'fresh'} connection`;
  report.requests++;
  try {
    const answer = await send(line, ca).catch((error: Error & {reused?: boolean; code?: string}) => {
      if (!error.reused || !['ECONNRESET', 'EPIPE'].includes(error.code ?? '')) throw error;
      report.repeated++;
      return send({...line, agent: undefined}, ca);
    });
    const expected = `${line.target.status} ${line.target.location ?? ''}`;
    if (answer !== expected) report.failed.push({what: `${name}: ${answer}`, atMs: began});
  } catch (error) {
    report.failed.push({what: `${name}: ${(error as Error).message}`, atMs: began});
  }
  report.slowestMs = Math.max(report.slowestMs, Date.now() - began);
}

async function main(): Promise<void> {
  const input = createInterface({input: process.stdin});
  let order: ClientOrder | undefined;
  const report: ClientReport = {requests: 0, repeated: 0, slowestMs: 0, failed: []};
  const running = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  for await (const line of input) {
    if (order) continue;
    order = JSON.parse(line) as ClientOrder;
    const {ca} = order;
    const lines = linesOf(order);
    let next = 0;
    timer = setInterval(() => {
      const asked: Promise<void> = ask(lines[next++ % lines.length]!, ca, report).finally(() => running.delete(asked));
      running.add(asked);
    }, everyMs);
  }
  clearInterval(timer);
  await Promise.all(running);
  console.log(JSON.stringify(report));
  process.exit(0);
}

if (import.meta.main) await main();
