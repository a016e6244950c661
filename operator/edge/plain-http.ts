/** Looks whether plain HTTP of a name that nobody has is answered by our redirector: the Ingress without a host serves then. */
import {request} from 'node:http';
import {answeredBy} from '../redirector/table.ts';
import type {EdgeAddress} from './probe.ts';

/** No route has it (RFC 6761, 6.4). */
const nobodysName = 'plain-http.doorplate.invalid';

/** Whether every address answers so, within `timeoutMs`. Never rejects. */
export async function redirectorAnswers(
  edges: readonly EdgeAddress[],
  {timeoutMs, signal}: {timeoutMs: number; signal?: AbortSignal},
): Promise<boolean> {
  const answers = await Promise.all(edges.map((edge) => answersAt(edge, timeoutMs, signal)));
  return answers.length > 0 && answers.every(Boolean);
}

function answersAt({address, port}: EdgeAddress, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
  const within = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
  return new Promise((resolve) => {
    const headers = {host: nobodysName, 'user-agent': 'doorplate-probe'};
    request({host: address, port, method: 'HEAD', path: '/', headers, agent: false, signal: within}, (response) => {
      response.resume();
      resolve(response.headers[answeredBy.name] === answeredBy.value);
    })
      .on('error', () => resolve(false))
      .end();
  });
}
