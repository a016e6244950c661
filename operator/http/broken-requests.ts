/** Answers to input that is not HTTP: no request exists, only a socket. */
import type {HeaderValues} from '../limits/headers.ts';
import {randomUUID} from 'node:crypto';
import type {Socket} from 'node:net';
import {STATUS_CODES} from 'node:http';
import {Problem} from './problems.ts';
import type {ProblemName} from './problems.ts';

const byCode: Record<string, [ProblemName, string]> = {
  HPE_HEADER_OVERFLOW: ['headers-too-large', 'The headers have too many bytes.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['body-too-large', 'The chunk extensions of the body have too many bytes.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request-timeout', 'The request took too long to arrive.'],
};

/** Says what is wrong, with the headers of every answer, and closes. Nothing where the other side has gone already. */
export function answerBrokenRequest(
  error: Error & {code?: string},
  socket: Socket,
  limitHeaders: (address: string) => HeaderValues,
  bodyOf = (problem: Problem): object => problem.body,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = new Problem(
    ...(byCode[error.code ?? ''] ?? (['malformed-request', 'This is not a valid HTTP request.'] as const)),
  );
  const body = JSON.stringify(bodyOf(problem));
  const headers = {
    'content-type': 'application/problem+json',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
    'x-request-id': randomUUID(),
    date: new Date().toUTCString(),
    ...limitHeaders(socket.remoteAddress ?? ''),
  };
  const head = Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${head}\r\n${body}`);
}
