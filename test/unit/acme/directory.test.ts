import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import type {IncomingMessage, Server, ServerResponse} from 'node:http';
import {createServer} from 'node:https';
import type {AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {caaIdentities} from '../../../operator/acme/directory.ts';

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
const ask = (timeoutMs = 2000) => caaIdentities(url, {caBundle, timeoutMs});

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

  test('are not waited for longer than told', async () => {
    answer = () => {};
    await expect(ask(100)).rejects.toThrow(/abort|timeout/i);
  });

  test('are asked for over HTTPS alone, of a server that is trusted', async () => {
    says({meta: {caaIdentities: ['letsencrypt.org']}});
    await expect(caaIdentities(url.replace('https:', 'http:'), {caBundle})).rejects.toThrow('over HTTPS');
    await expect(caaIdentities(url)).rejects.toThrow(/self-signed certificate/);
  });
});
