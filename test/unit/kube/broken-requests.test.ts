/** Answers to bytes that are no HTTP request, and to requests beyond the limits. */
import {createServer, type RequestListener, type Server, type ServerOptions} from 'node:http';
import {connect, type AddressInfo, type Socket} from 'node:net';
import {setTimeout as sleep} from 'node:timers/promises';
import {afterEach, describe, expect, test} from '@jest/globals';
import {answerBrokenRequests, hostFault} from '../../../operator/kube/broken-requests.ts';
import {patience} from '../../support/patience.ts';

const running: Server[] = [];
afterEach(() => {
  for (const server of running.splice(0)) server.close().closeAllConnections();
});

async function started(handle: RequestListener, options: ServerOptions = {}): Promise<number> {
  const server = createServer({connectionsCheckingInterval: 20, ...options}, handle);
  answerBrokenRequests(server, ({status, detail}) => ({status, headers: {'x-kind': 'broken'}, body: detail}));
  running.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** Sends bytes, waits for answers that match, and returns all that comes until the server closes. */
async function say(port: number, ...parts: (string | RegExp)[]): Promise<string> {
  let received = '';
  const socket: Socket = connect({port, host: '127.0.0.1'});
  const closed = new Promise<string>((resolve) => {
    socket
      .setEncoding('utf8')
      .on('data', (chunk) => {
        received += chunk;
      })
      .on('error', (error) => {
        received += `\n${error.message}`;
      })
      .on('close', () => resolve(received));
  });
  for (const part of parts) {
    if (typeof part === 'string') socket.write(part);
    else while (!part.test(received) && !socket.closed) await sleep(5);
  }
  return closed;
}

const body = (answer: string): string => answer.split('\r\n\r\n')[1] ?? '';
const fine: RequestListener = (_, response) => response.end('fine');

/** A server that completes its answers after it has seen a fault. `begin`: it sends the first part of each answer at once. */
async function startedToAnswerLate({
  begin = false,
  ...options
}: ServerOptions & {begin?: boolean} = {}): Promise<number> {
  const fault = Promise.withResolvers<void>();
  const port = await started(async (_, response) => {
    if (begin) response.writeHead(200).write('one ');
    await fault.promise;
    response.end('two');
  }, options);
  // These run after the server's own listeners.
  for (const event of ['clientError', 'connect']) running.at(-1)!.once(event, () => fault.resolve());
  return port;
}

describe('A request that cannot be read', () => {
  test.each<[string, number, string, RegExp, ServerOptions]>([
    ['is no HTTP', 400, 'hello\r\n\r\n', /^This is not a valid HTTP request \(.+\)\. Correct it/, {}],
    ['is HTTP/2', 400, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', /^This server answers HTTP\/1\.1, but not HTTP\/2/, {}],
    ['is for a proxy', 400, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\nx', /^This server is not a proxy/, {}],
    ['has a header without a name', 400, 'GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n', /not a valid HTTP request/, {}],
    [
      'has two lengths',
      400,
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      /not a valid/,
      {},
    ],
    [
      'has a long query',
      431,
      `GET /?${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
      /at most 16 KiB together\. /,
      {},
    ],
    [
      'has long cookies',
      431,
      `GET / HTTP/1.1\r\nHost: a\r\nCookie: ${'x'.repeat(40_000)}\r\n\r\n`,
      /at most 32 KiB together\. Shorten the query, or send fewer cookies and headers/,
      {maxHeaderSize: 32 << 10},
    ],
    [
      'has long chunk extensions',
      413,
      `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(20_000)}\r\na\r\n0\r\n\r\n`,
      /extensions .* at most 16 KiB\. Send chunks without extensions/,
      {},
    ],
    [
      'takes too long',
      408,
      'GET / HTTP/1.1\r\nHost: a\r\n',
      /headers may take 0\.1 s to arrive, and all of it 0\.2 s\. Send it again on a new connection/,
      {headersTimeout: 100, requestTimeout: 200},
    ],
  ])('because it %s, is answered with %i, the limit and the way out', async (_, status, bytes, says, options) => {
    const answer = await say(await started(() => {}, options), bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [A-Z]`));
    expect(answer).toContain('\r\nconnection: close\r\n');
    expect(answer).toContain('\r\nx-kind: broken\r\n');
    expect(answer).toContain(`\r\ncontent-length: ${Buffer.byteLength(body(answer))}\r\n`);
    expect(body(answer)).toMatch(says);
  });

  test('is answered without anything that the client sent', async () => {
    const port = await started(fine);
    for (const bytes of [
      'GET / HTTP/9.9\r\nHost: evil\r\n\r\n',
      'EVIL\r\nX-Evil: evil\r\n\r\n',
      'GET /\nX: evil\r\n\r\n',
    ])
      expect((await say(port, bytes)).toLowerCase()).not.toContain('evil');
  });

  test('is answered once, and the client that sends on can read the answer', async () => {
    const part = 'x'.repeat(50_000);
    const port = await started(fine);
    const answer = await say(port, `GET /${part}`, part, part, part);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(body(answer)).toMatch(/at most 16 KiB/);
  });

  test('does not hold its connection when the client neither reads nor closes', async () => {
    const port = await started(fine);
    const socket = connect({port, host: '127.0.0.1', allowHalfOpen: true});
    socket.on('error', () => {}).write('hello\r\n\r\n');
    const [server] = running;
    const connections = (): Promise<number> =>
      new Promise((resolve) => {
        server!.getConnections((_, count) => resolve(count));
      });
    await new Promise((resolve) => socket.once('data', resolve));
    const end = performance.now() + patience(20_000);
    while ((await connections()) > 0 && performance.now() < end) await sleep(50);
    expect(await connections()).toBe(0);
    socket.destroy();
  });
});

describe('Bytes that are no request', () => {
  const good = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok';

  test('behind a request whose answer is still to come leave it its answer, and the connection closes', async () => {
    const answer = await say(await startedToAnswerLate(), `${good}too long`);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*two$/);
  });

  test('behind a request that was answered are answered', async () => {
    const answer = await say(await started(fine), good, /fine/, 'hello\r\n\r\n');
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  });

  test('never stand in an answer that has begun', async () => {
    const answer = await say(await startedToAnswerLate({begin: true}), good, /one/, 'hello\r\n\r\n');
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(answer).toContain('two');
  });

  const chunked = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
  const connectMethod = 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n';
  test.each<[string, boolean, (string | RegExp)[]]>([
    ['CONNECT, with the request', false, [`${good}${connectMethod}`]],
    ['CONNECT, while the answer is written', true, [good, /one/, connectMethod]],
    ['a broken body', false, [good, chunked, 'nonsense\r\n']],
  ])('never stand in place of the answer to an earlier request: %s', async (_, begin, parts) => {
    const answer = await say(await startedToAnswerLate({begin}), ...parts);
    expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*two/);
    expect(answer).not.toContain('HTTP/1.1 400');
  });

  test('behind a request that was answered are answered: CONNECT', async () => {
    const answer = await say(await started(fine), good, /fine/, connectMethod);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  });

  test("in a second request's body that comes too slowly leave the first its answer", async () => {
    const port = await startedToAnswerLate({headersTimeout: 100, requestTimeout: 100});
    const answer = await say(port, `${good}POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*two/);
    expect(answer).not.toContain('HTTP/1.1 408');
  });

  test('in a body are answered as long as no answer has begun', async () => {
    expect(await say(await started(() => {}), chunked, 'nonsense\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });

  test("in a body whose request was answered end the connection: a second answer would be the next one's", async () => {
    const answer = await say(await started(fine), chunked, /fine/, 'nonsense\r\n');
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
  });
});

test.each<[string, string[], string, string | undefined]>([
  ['no Host', [], '1.1', 'The request has no header `Host`.'],
  ['two', ['a', 'b'], '1.1', 'The request has more than one header `Host`.'],
  ['two in HTTP/1.0', ['a', 'b'], '1.0', 'The request has more than one header `Host`.'],
  ['one', ['a'], '1.1', undefined],
  ['none in HTTP/1.0', [], '1.0', undefined],
])('A request with %s has its fault named (RFC 9112, 3.2)', (_, host, httpVersion, fault) => {
  expect(hostFault({headersDistinct: host.length > 0 ? {host} : {}, httpVersion})).toBe(fault);
});
