import {afterEach, describe, expect, test} from '@jest/globals';
import {request} from 'node:http';
import type {IncomingHttpHeaders} from 'node:http';
import {connect} from 'node:net';
import type {Socket} from 'node:net';
import {startRedirector} from '../../../operator/redirector/server.ts';
import type {RedirectServer, RedirectorOptions} from '../../../operator/redirector/server.ts';
import type {RedirectRule} from '../../../operator/redirector/table.ts';

const running: RedirectServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((redirector) => redirector.close()));
});

const rule: RedirectRule = {host: 'old.example.com', to: 'docs.example.com', status: 308};
const log = {info() {}, warn() {}};

async function started(over: Partial<RedirectorOptions> = {}): Promise<RedirectServer> {
  const redirector = await startRedirector({
    port: 0,
    table: () => new Map([[rule.host, rule]]),
    ready: () => true,
    ruleOf: async () => undefined,
    log,
    lingerMs: 0,
    drainMs: 200,
    ...over,
  });
  running.push(redirector);
  return redirector;
}

interface Answered {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

function send(
  port: number,
  options: {method?: string; path?: string; host?: string; headers?: Record<string, string>; body?: string | Buffer},
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const {method = 'GET', path = '/', host = 'old.example.com', headers = {}, body} = options;
    const sent = request(
      {port, host: '127.0.0.1', method, path, headers: {host, ...headers}, agent: false},
      (response) => {
        let received = '';
        response.setEncoding('utf8');
        response.on('data', (chunk) => {
          received += chunk;
        });
        response.on('end', () => resolve({status: response.statusCode!, headers: response.headers, body: received}));
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

describe('The redirector', () => {
  test.each(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'PROPFIND'])(
    'redirects %s with path and query, and the right length',
    async (method) => {
      const {port} = await started();
      const body = ['POST', 'PUT', 'PATCH'].includes(method) ? 'x=y' : undefined;
      const answered = await send(port, {method, path: '/a/%2F?b=c&d', body});
      expect(answered.status).toBe(308);
      expect(answered.headers.location).toBe('https://docs.example.com/a/%2F?b=c&d');
      expect(answered.headers['content-length']).toBe('19');
      expect(answered.body).toBe(method === 'HEAD' ? '' : 'Permanent Redirect\n');
    },
  );

  test('answers an upload without keeping it, and at once where the client asks before it sends', async () => {
    const {port} = await started();
    expect(await send(port, {method: 'POST', body: Buffer.alloc(8 << 20)})).toMatchObject({status: 308});
    const said = await raw(
      port,
      'POST / HTTP/1.1\r\nHost: old.example.com\r\nContent-Length: 1000000\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n',
    );
    expect(said).toMatch(/^HTTP\/1\.1 308 /);
  });

  test.each([
    ['*', 'OPTIONS * HTTP/1.1\r\nHost: old.example.com\r\n', 'https://docs.example.com/'],
    [
      'absolute-form',
      'GET http://old.example.com/x?y HTTP/1.1\r\nHost: old.example.com\r\n',
      'https://docs.example.com/x?y',
    ],
    [
      'two slashes',
      'GET //evil.example/x HTTP/1.1\r\nHost: old.example.com\r\n',
      'https://docs.example.com//evil.example/x',
    ],
    [
      'an upgrade',
      'GET /ws HTTP/1.1\r\nHost: old.example.com\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n',
      'https://docs.example.com/ws',
    ],
    ['HTTP/1.0', 'GET /x HTTP/1.0\r\nHost: old.example.com\r\n', 'https://docs.example.com/x'],
  ])('understands %s on the wire', async (_, head, location) => {
    const {port} = await started();
    const end = head.includes('Upgrade') ? '\r\n' : 'Connection: close\r\n\r\n';
    const said = await raw(port, head + end, /\r\n\r\n/);
    expect(said).toMatch(/^HTTP\/1\.1 308 /);
    expect(/^location: (.*)\r$/im.exec(said)?.[1]).toBe(location);
  });

  test.each([
    ['no host, in HTTP/1.1', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['no host, in HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n', 404],
    ['an unknown host', 'GET / HTTP/1.1\r\nHost: nobody.example.com\r\nConnection: close\r\n\r\n', 404],
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['a head of 70 KB', `GET /${'x'.repeat(70_000)} HTTP/1.1\r\nHost: old.example.com\r\n\r\n`, 431],
    ['two hosts', 'GET / HTTP/1.1\r\nHost: old.example.com\r\nHost: b\r\nConnection: close\r\n\r\n', 400],
    [
      'a loop',
      'GET / HTTP/1.1\r\nHost: docs.example.com\r\nX-Forwarded-Proto: https\r\nConnection: close\r\n\r\n',
      421,
    ],
  ])('answers %s without a redirect', async (_, bytes, status) => {
    const loop: RedirectRule = {host: 'docs.example.com', to: 'docs.example.com', status: 308};
    const {port} = await started({
      table: () =>
        new Map([
          [rule.host, rule],
          [loop.host, loop],
        ]),
    });
    const said = await raw(port, bytes);
    expect(said).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(said).not.toMatch(/^location:/im);
    const [head = '', body = ''] = said.split('\r\n\r\n');
    expect(head).toMatch(/\r\ncontent-type: text\/plain/i);
    expect(body).toMatch(/^[A-Z].+\.\n$/);
  });

  test('says how much it reads, and what to do', async () => {
    const {port} = await started();
    const said = await raw(port, `GET /${'x'.repeat(70_000)} HTTP/1.1\r\nHost: old.example.com\r\n\r\n`);
    expect(said).toMatch(/\r\n\r\nThe path, .+ at most 64 KiB together\. Shorten the query.+\.\n$/);
  });

  test('keeps a query and cookies as long as sign-ins and old sites need them', async () => {
    const {port} = await started();
    const path = `/acs?SAMLRequest=${'x'.repeat(30_000)}`;
    const head = `GET ${path} HTTP/1.1\r\nHost: old.example.com\r\nCookie: a=${'y'.repeat(30_000)}\r\n`;
    const said = await raw(port, `${head}Connection: close\r\n\r\n`);
    expect(said).toMatch(/^HTTP\/1\.1 308 /);
    expect(said).toContain(`\r\nlocation: https://docs.example.com${path}\r\n`);
  });

  test('passes over an expectation that it does not know', async () => {
    const {port} = await started();
    expect(await send(port, {headers: {expect: 'wonders'}})).toMatchObject({status: 308});
  });

  test('never redirects a challenge of ACME', async () => {
    const {port} = await started();
    for (const method of ['GET', 'HEAD', 'POST']) {
      const answered = await send(port, {method, path: '/.well-known/acme-challenge/token'});
      expect([answered.status, answered.headers.location, answered.headers['content-type']]).toEqual([
        404,
        undefined,
        'text/plain; charset=utf-8',
      ]);
    }
  });

  test('reads its table at every request, and sends nobody away before it is complete', async () => {
    let table = new Map<string, RedirectRule>();
    let ready = false;
    const {port} = await started({table: () => table, ready: () => ready});
    expect(await send(port, {})).toMatchObject({status: 503, headers: {'retry-after': '1'}});
    ready = true;
    expect((await send(port, {})).status).toBe(404);
    table = new Map([[rule.host, rule]]);
    expect((await send(port, {})).status).toBe(308);
  });

  test('looks up a rule that its table lacks, or that sends HTTPS to itself', async () => {
    const [to, host] = ['docs.example.com', 'new.example.com'];
    const asked: string[] = [];
    const ruleOf = async (h: string): Promise<RedirectRule | undefined> => {
      asked.push(h);
      return h === host || h === to ? {host: h, to: 'www.example.com', status: 301} : undefined;
    };
    const table = () => new Map<string, RedirectRule>([[to, {host: to, to, status: 308}]]);
    const {port} = await started({table, ruleOf});
    const https = {'x-forwarded-proto': 'https'};
    expect(await send(port, {host, path: '/a?b'})).toMatchObject({
      status: 301,
      headers: {location: 'https://www.example.com/a?b'},
    });
    expect(await send(port, {host: to, headers: https})).toMatchObject({status: 301});
    expect(await send(port, {host: 'nobody.example.com'})).toMatchObject({status: 404});
    // The table answers for a host that it knows, and no challenge is redirected.
    expect(await send(port, {host: to})).toMatchObject({status: 308});
    expect(await send(port, {host, path: '/.well-known/acme-challenge/token'})).toMatchObject({status: 404});
    expect(asked).toEqual([host, to, 'nobody.example.com']);
  });

  test('rejects a port that is taken', async () => {
    const {port} = await started();
    await expect(
      startRedirector({
        port,
        table: () => new Map(),
        ready: () => true,
        ruleOf: async () => undefined,
        log,
        lingerMs: 0,
        drainMs: 0,
      }),
    ).rejects.toMatchObject({code: 'EADDRINUSE'});
  });
});

describe('Closing', () => {
  test('answers what comes before the edge has heard of it, each on a connection of its own', async () => {
    const redirector = await started({lingerMs: 2000});
    const kept = await connected(redirector.port);
    const closing = redirector.close();
    // One that closes at once has closed by now.
    await later(100);
    const answers = await Promise.allSettled([send(redirector.port, {}), send(redirector.port, {})]);
    expect(answers.map((a) => a.status === 'fulfilled' && a.value.status)).toEqual([308, 308]);
    const said = text(kept);
    kept.write('GET / HTTP/1.1\r\nHost: old.example.com\r\n\r\n');
    expect(await said).toMatch(/^HTTP\/1\.1 308 [^]*\r\nconnection: close\r\n/i);
    await closing;
    await expect(connected(redirector.port)).rejects.toMatchObject({code: 'ECONNREFUSED'});
  });

  test('lets a request in flight finish, closes its connection, and takes no new one', async () => {
    const redirector = await started({drainMs: 2000});
    const socket = await connected(redirector.port);
    socket.write('GET /slow HTTP/1.1\r\nHost: old.example.com\r\n');
    await later(50);
    const closing = redirector.close();
    expect(await refusal(redirector.port)).toMatchObject({code: 'ECONNREFUSED'});
    const said = text(socket);
    socket.write('\r\n');
    expect(await said).toMatch(/^HTTP\/1\.1 308 [^]*\r\nconnection: close\r\n/i);
    await closing;
  });

  test('ends idle connections at once', async () => {
    const redirector = await started({drainMs: 60_000});
    const socket = await connected(redirector.port);
    const answered = new Promise((resolve) => socket.once('data', resolve));
    socket.write('GET / HTTP/1.1\r\nHost: old.example.com\r\n\r\n');
    await answered;
    const began = performance.now();
    await Promise.all([redirector.close(), redirector.close()]);
    expect(performance.now() - began).toBeLessThan(15_000);
    socket.destroy();
  });

  test('ends what has not finished after the drain time', async () => {
    const redirector = await started({drainMs: 100});
    const socket = await connected(redirector.port);
    socket.write('GET / HTTP/1.1\r\nHost: old');
    await later(50);
    const began = performance.now();
    await redirector.close();
    expect(performance.now() - began).toBeLessThan(15_000);
    socket.destroy();
  });
});

/** Why no connection is taken any more. */
async function refusal(port: number): Promise<unknown> {
  for (;;) {
    try {
      (await connected(port)).destroy();
      await later(5);
    } catch (error) {
      return error;
    }
  }
}

function connected(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.on('error', reject);
  });
}

/** All that comes until the end, or until `enough` matches. */
function text(socket: Socket, enough?: RegExp): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => {
      received += chunk;
      if (enough?.test(received)) socket.destroy();
    });
    socket.on('close', () => resolve(received));
  });
}

async function raw(port: number, bytes: string, enough?: RegExp): Promise<string> {
  const socket = await connected(port);
  const said = text(socket, enough);
  socket.write(bytes, 'latin1');
  return said;
}

function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
