import {execFile, execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {createServer as createProxy, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import {createServer} from 'node:https';
import {type AddressInfo, connect} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {rootCertificates} from 'node:tls';
import {promisify} from 'node:util';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {answers, caaIdentities} from '../../../operator/acme/directory.ts';

let server: Server;
let url: string;
let caBundle: string;
let answer: (req: IncomingMessage, res: ServerResponse) => void;
const dir = mkdtempSync(join(tmpdir(), 'doorplate-acme-'));

beforeAll(async () => {
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '1',
      '-subj',
      '/CN=localhost',
      '-addext',
      'subjectAltName=DNS:localhost',
      '-keyout',
      join(dir, 'key.pem'),
      '-out',
      join(dir, 'cert.pem'),
    ],
    {stdio: 'ignore'},
  );
  caBundle = readFileSync(join(dir, 'cert.pem'), 'latin1');
  server = createServer({key: readFileSync(join(dir, 'key.pem')), cert: caBundle}, (req, res) => answer(req, res));
  await new Promise<void>((resolve) => {
    server.listen(0, 'localhost', resolve);
  });
  url = `https://localhost:${(server.address() as AddressInfo).port}/dir`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(dir, {recursive: true});
});

const says = (body: unknown, status = 200, headers = {}) => {
  answer = (_, res) => {
    res.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  };
};
const ask = (timeoutMs = 60_000) => caaIdentities(url, {caBundle, timeoutMs});

describe("The names of the CA in its ACME server's directory", () => {
  test('are those of meta.caaIdentities, in normal form, sorted', async () => {
    says({newOrder: 'x', meta: {caaIdentities: ['PKI.Goog', 'letsencrypt.org', 'letsencrypt.org', 'not a name', 7]}});
    expect(await ask()).toEqual(['letsencrypt.org', 'pki.goog']);
  });

  test.each([
    ['no meta', {newOrder: 'x'}],
    ['no identities', {meta: {}}],
    ['none of them', {meta: {caaIdentities: []}}],
    ['nothing', 'null'],
  ])('are none where it has %s', async (_, body) => {
    says(body);
    expect(await ask()).toEqual([]);
  });

  const failures: [string, () => void, RegExp][] = [
    ['is no JSON', () => says('<html>'), /JSON/],
    ['names them in no list', () => says({meta: {caaIdentities: 'letsencrypt.org'}}), /no list/],
    ['is an error', () => says('busy', 503), /answered 503/],
    [
      'is somewhere else: no redirect is followed',
      () => says('', 302, {location: 'https://other.example/'}),
      /answered 302/,
    ],
    [
      'has no end',
      () => {
        answer = (_, res) => {
          res.writeHead(200);
          const more = () => {
            if (!res.destroyed) res.write('x'.repeat(65_536), more);
          };
          more();
        };
      },
      /more than 65536 bytes/,
    ],
    [
      'is cut',
      () => {
        answer = (_, res) => {
          res.writeHead(200, {'content-length': 100});
          res.write('{');
          setTimeout(() => res.destroy(), 10);
        };
      },
      /aborted|cut/,
    ],
  ];
  test.each(failures)('are not known where it %s', async (_, set, message) => {
    set();
    await expect(ask()).rejects.toThrow(message);
  });

  test.each<[string, () => void, boolean]>([
    ['a directory', () => says({newOrder: 'x'}), true],
    ['something else', () => says('<html>'), true],
    ['a refusal', () => says('forbidden', 403), true],
    ['too many requests', () => says('slow down', 429), true],
    ['a server error', () => says('busy', 503), false],
    [
      'nothing in time',
      () => {
        answer = () => {};
      },
      false,
    ],
    ['a closed connection', () => (answer = (_, res) => void res.destroy()), false],
  ])('show whether it works: %s', async (_, set, works) => {
    set();
    expect(await answers(url, {caBundle, timeoutMs: 500})).toBe(works);
  });

  test('are not waited for longer than told', async () => {
    answer = () => {};
    await expect(ask(100)).rejects.toThrow(/abort|timeout/i);
  });

  test('are asked for through the proxy, where there is one, which sees no more than the name', async () => {
    says({meta: {caaIdentities: ['letsencrypt.org']}});
    const connected: (string | undefined)[] = [];
    const proxy = createProxy().on('connect', ({url: target}, client) => {
      connected.push(target);
      const {port} = server.address() as AddressInfo;
      const onward = connect(port, 'localhost', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n');
        onward.pipe(client).pipe(onward);
      });
      for (const [one, other] of [
        [onward, client],
        [client, onward],
      ])
        one!.on('error', () => other!.destroy());
    });
    await new Promise<void>((resolve) => {
      proxy.listen(0, '127.0.0.1', resolve);
    });
    try {
      const through = new URL(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
      expect(await caaIdentities(url, {caBundle, proxy: through})).toEqual(['letsencrypt.org']);
      expect(connected).toEqual([new URL(url).host]);
    } finally {
      proxy.closeAllConnections();
      proxy.close();
    }
  });

  test.each([
    ['no bundle of its own', undefined],
    ['a bundle of its own, too', rootCertificates[0]],
  ])('are asked for of a server that NODE_EXTRA_CA_CERTS makes trusted, with %s', async (_, own) => {
    says({meta: {caaIdentities: ['letsencrypt.org']}});
    const file = new URL('../../../operator/acme/directory.ts', import.meta.url);
    const script = `const {caaIdentities} = await import('${file.href}');
      console.log(String(await caaIdentities('${url}', {caBundle: ${JSON.stringify(own)}})));`;
    const env = {...process.env, NODE_EXTRA_CA_CERTS: join(dir, 'cert.pem')};
    const node = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {env});
    const {stdout, stderr} = await node.catch((error: {stdout: string; stderr: string}) => error);
    expect(stdout === '' ? stderr : stdout.trim()).toBe('letsencrypt.org');
  });

  test('are asked for over HTTPS alone, of a server that is trusted', async () => {
    says({meta: {caaIdentities: ['letsencrypt.org']}});
    await expect(caaIdentities(url.replace('https:', 'http:'), {caBundle})).rejects.toThrow('over HTTPS');
    await expect(caaIdentities(url)).rejects.toThrow(/self-signed certificate/);
  });
});
