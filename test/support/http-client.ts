/** HTTP as the tests of the API speak it: each request on a connection of its own, or bytes as they are. */
import {request as httpRequest} from 'node:http';
import type {IncomingHttpHeaders} from 'node:http';
import {connect} from 'node:net';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Parsed where it is JSON, else the text. */
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

export interface Ask {
  method?: string;
  key?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** One request on a connection of its own. */
export function ask(port: number, path: string, {method = 'GET', key, body, headers = {}}: Ask = {}): Promise<Answer> {
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        port,
        host: '127.0.0.1',
        method,
        path,
        agent: false,
        headers: {
          ...(key !== undefined && {authorization: `Bearer ${key}`}),
          ...(text !== undefined && {'content-type': 'application/json'}),
          ...headers,
        },
      },
      (response) => {
        let received = '';
        response
          .setEncoding('utf8')
          .on('data', (chunk: string) => {
            received += chunk;
          })
          .on('end', () => {
            const json = /json/.test(response.headers['content-type'] ?? '');
            resolve({
              status: response.statusCode!,
              headers: response.headers,
              body: json && received !== '' ? JSON.parse(received) : received,
            });
          });
      },
    );
    sent.on('error', reject).end(text);
  });
}

/** Sends bytes as they are, and returns all that comes back. */
export function raw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket
      .setEncoding('utf8')
      .on('data', (chunk) => {
        received += chunk;
      })
      .on('close', () => resolve(received))
      .on('error', reject);
  });
}
