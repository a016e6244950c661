/** Probes whether the redirector answers plain HTTP of a name that no route has: then the Ingress without a host is in effect. */
import {request} from 'node:http';
import type {Socket} from 'node:net';
import {answeredBy} from '../redirector/table.ts';
import type {EdgeAddress} from './probe.ts';
import {open, type ProxyProtocol} from './proxy-protocol.ts';

/** No route has it (RFC 6761, 6.4). */
const nobodysName = 'plain-http.doorplate.invalid';

interface PlainHttpProbeOptions {
  timeoutMs: number;
  signal?: AbortSignal;
  /** With this header in front: none by default. */
  proxyProtocol?: ProxyProtocol;
}

/** Whether every address answers so, within `timeoutMs`. Never rejects. */
export async function redirectorAnswers(
  edges: readonly EdgeAddress[],
  options: PlainHttpProbeOptions,
): Promise<boolean> {
  const answers = await Promise.all(edges.map((edge) => answersAt(edge, options)));
  return answers.length > 0 && answers.every(Boolean);
}

function answersAt(
  edge: EdgeAddress,
  {timeoutMs, signal, proxyProtocol = 'None'}: PlainHttpProbeOptions,
): Promise<boolean> {
  const within = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
  return new Promise((resolve) => {
    const headers = {host: nobodysName, 'user-agent': 'doorplate-probe', connection: 'close'};
    const createConnection = (_: unknown, done: (error: Error | null, socket: Socket) => void) => {
      const socket = open(edge, proxyProtocol, () => done(null, socket));
      // Once it is open, the request hears of them.
      socket.once('error', (error) => done(error, socket));
      within.addEventListener('abort', () => socket.destroy(), {once: true});
      return undefined;
    };
    request({method: 'HEAD', path: '/', headers, createConnection, signal: within}, (response) => {
      response.resume();
      resolve(response.headers[answeredBy.name] === answeredBy.value);
    })
      .on('error', () => resolve(false))
      .end();
  });
}
