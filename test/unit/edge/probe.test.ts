import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {execFile} from 'node:child_process';
import {createHash} from 'node:crypto';
import {mkdtemp, readFile, rm} from 'node:fs/promises';
import {createServer as createTcpServer} from 'node:net';
import type {AddressInfo, Server, Socket} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createSecureContext, createServer as createTlsServer} from 'node:tls';
import {promisify} from 'node:util';
import {leafSha256, probeEdge} from '../../../operator/edge/probe.ts';

interface Certificate {
  key: string;
  cert: string;
  sha256: string;
  notAfter: string;
}

let folder: string;
let docs: Certificate;
let fallback: Certificate;
const servers: Server[] = [];
const sockets = new Set<Socket>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'doorplate-probe-'));
  [docs, fallback] = await Promise.all([certificate('docs.example.com'), certificate('fallback.test')]);
});

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  await rm(folder, {recursive: true});
});

async function certificate(name: string): Promise<Certificate> {
  const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)];
  await promisify(execFile)('openssl', [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '1',
    '-subj',
    `/CN=${name}`,
    '-addext',
    `subjectAltName=DNS:${name}`,
    '-keyout',
    key,
    '-out',
    cert,
  ]);
  const {stdout: der} = await promisify(execFile)('openssl', ['x509', '-in', cert, '-outform', 'DER'], {
    encoding: 'buffer',
  });
  const {stdout: end} = await promisify(execFile)('openssl', [
    'x509',
    '-in',
    cert,
    '-noout',
    '-enddate',
    '-dateopt',
    'iso_8601',
  ]);
  const notAfter = end.trim().replace(/^notAfter=(.*) (.*)$/, '$1T$2');
  return {
    key: await readFile(key, 'utf8'),
    cert: await readFile(cert, 'utf8'),
    sha256: createHash('sha256').update(der).digest('hex'),
    notAfter,
  };
}

async function listening(server: Server, address = '127.0.0.1'): Promise<{address: string; port: number}> {
  servers.push(server);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return {address, port: (server.address() as AddressInfo).port};
}

function edgeWithSni(): Server {
  const server = createTlsServer({
    ...fallback,
    SNICallback: (name, done) => {
      if (name === 'refused.example.com') return done(new Error('unknown name'));
      done(null, createSecureContext(name === 'docs.example.com' ? docs : fallback));
    },
  });
  server.on('tlsClientError', () => {});
  return server;
}

describe('The probe', () => {
  test('sees the leaf that each edge presents for the name, in the order of the edges', async () => {
    const [first, second] = [await listening(edgeWithSni()), await listening(createTlsServer({...fallback}), '::1')];
    expect(await probeEdge('docs.example.com', [first, second], {timeoutMs: 30_000})).toEqual([
      {edge: first, leafSha256: docs.sha256, subjectAltNames: 'DNS:docs.example.com', notAfter: docs.notAfter},
      {edge: second, leafSha256: fallback.sha256, subjectAltNames: 'DNS:fallback.test', notAfter: fallback.notAfter},
    ]);
    expect(await probeEdge('other.example.com', [first], {timeoutMs: 30_000})).toMatchObject([
      {leafSha256: fallback.sha256},
    ]);
    expect(await probeEdge('docs.example.com', [], {timeoutMs: 30_000})).toEqual([]);
  });

  test('says why an edge shows none', async () => {
    const gone = createTcpServer();
    const closed = await listening(gone);
    await new Promise((resolve) => gone.close(resolve));
    const silent = await listening(createTcpServer());
    const plain = await listening(createTcpServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
    const hangsUp = await listening(createTcpServer((socket) => socket.once('data', () => socket.end())));
    const resets = await listening(createTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy())));
    const began = performance.now();
    const findings = await probeEdge('docs.example.com', [closed, silent, plain, hangsUp, resets], {timeoutMs: 3000});
    expect(findings.map((finding) => ('unreachable' in finding ? finding.unreachable : finding.leafSha256))).toEqual([
      'connection refused',
      'connected, but the TLS handshake did not finish in time',
      'does not speak TLS',
      'connection reset',
      'connection reset',
    ]);
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  test('tells, where that is asked, whether the redirector answers', async () => {
    const answering = (head: string) =>
      listening(
        createTlsServer({...docs}, (socket) =>
          socket.once('data', (request) => {
            expect(String(request)).toMatch(/^HEAD \/ HTTP\/1\.1\r\nhost: docs\.example\.com\r\n/);
            // In two pieces, as it may come.
            socket.write(head.slice(0, 20));
            setTimeout(() => socket.end(head.slice(20)), 20);
          }),
        ),
      );
    const redirector = await answering(
      'HTTP/1.1 301 Moved Permanently\r\nDoorplate: redirector\r\nlocation: https://x/\r\n\r\n',
    );
    const backend = await answering('HTTP/1.1 200 OK\r\nx-doorplate: redirector\r\n\r\n');
    const mute = await listening(createTlsServer({...docs}));
    const hangsUp = await listening(
      createTlsServer({...docs}, (socket) => socket.once('data', () => socket.destroy())),
    );
    const findings = await probeEdge('docs.example.com', [redirector, backend, mute, hangsUp], {
      timeoutMs: 3000,
      whoAnswers: true,
    });
    expect(findings).toEqual(
      [redirector, backend, mute, hangsUp].map((edge, i) => ({
        edge,
        leafSha256: docs.sha256,
        subjectAltNames: 'DNS:docs.example.com',
        notAfter: docs.notAfter,
        redirector: i === 0,
      })),
    );
  });

  test('says so when the edge refuses the name, and never throws for a name that is none', async () => {
    const edge = await listening(edgeWithSni());
    const [refused] = await probeEdge('refused.example.com', [edge], {timeoutMs: 30_000});
    expect(refused).toMatchObject({edge, unreachable: expect.any(String)});
    expect(await probeEdge('192.0.2.1', [edge], {timeoutMs: 30_000})).toEqual([
      {edge, unreachable: 'an IP address is not a server name'},
    ]);
    expect(
      await probeEdge('docs.example.com', [{address: '127.0.0.1', port: 70_000}], {timeoutMs: 30_000}),
    ).toMatchObject([{unreachable: expect.any(String)}]);
    expect(await probeEdge('', [edge], {timeoutMs: 30_000})).toMatchObject([{edge}]);
  });

  test('ends with its signal', async () => {
    const silent = await listening(createTcpServer());
    const controller = new AbortController();
    const probed = probeEdge('docs.example.com', [silent], {timeoutMs: 10_000, signal: controller.signal});
    setTimeout(() => controller.abort(), 30);
    expect(await probed).toEqual([{edge: silent, unreachable: 'stopped'}]);
    expect(await probeEdge('docs.example.com', [silent], {timeoutMs: 10_000, signal: controller.signal})).toEqual([
      {edge: silent, unreachable: 'stopped'},
    ]);
  });
});

describe('The hash of a leaf', () => {
  test('is that of the first certificate in the chain, as the edge presents it', () => {
    expect(leafSha256(docs.cert)).toBe(docs.sha256);
    expect(leafSha256(`leaf:\n${docs.cert}${fallback.cert}`)).toBe(docs.sha256);
    expect(leafSha256(docs.cert.replaceAll('\n', '\r\n'))).toBe(docs.sha256);
  });

  test.each([
    ['nothing', () => ''],
    ['a key', () => docs.key],
    ['half a certificate', () => docs.cert.slice(0, 200)],
    ['no DER', () => '-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n'],
  ])('is not given for %s', (_, pem) => {
    expect(() => leafSha256(pem())).toThrow(/certificate/);
  });
});
