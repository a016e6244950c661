/** An edge that takes connections with a header of the PROXY protocol alone: nginx, which reads it. */
import {type ChildProcess, execFileSync, spawn} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {connect} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {redirectorAnswers} from '../../operator/edge/plain-http.ts';
import {type EdgeAddress, probeEdge} from '../../operator/edge/probe.ts';
import {freePort} from '../support/free-ports.ts';
import {eventually} from '../support/kube-api.ts';

const folder = mkdtempSync(join(tmpdir(), 'doorplate-proxy-protocol-'));
const timeoutMs = 60_000;
let nginx: ChildProcess;
/** By TLS, of either family; and by plain HTTP. */
let edges: EdgeAddress[];
let plain: EdgeAddress;

const isOpen = ({address, port}: EdgeAddress): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, address, () => socket.destroy(undefined).once('close', () => resolve(true)));
    socket.on('error', () => resolve(false));
  });

beforeAll(async () => {
  execFileSync(fileURLToPath(new URL('../authorize/install.sh', import.meta.url)), {stdio: 'inherit'});
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=www.example.com', '-addext', 'subjectAltName=DNS:www.example.com'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', key, '-out', cert], {stdio: 'ignore'});
  const [tls, http] = [await freePort(), await freePort()];
  edges = ['127.0.0.1', '::1'].map((address) => ({address, port: tls}));
  plain = {address: '127.0.0.1', port: http};
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {}
    http {
      log_format ends '$proxy_protocol_addr $proxy_protocol_port is $remote_addr $remote_port, $proxy_protocol_server_port is $server_port';
      access_log ${folder}/access.log ends;
      client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
      uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
      server {
        listen 127.0.0.1:${tls} ssl proxy_protocol; listen [::1]:${tls} ssl proxy_protocol;
        listen 127.0.0.1:${http} proxy_protocol;
        ssl_certificate ${cert}; ssl_certificate_key ${key};
        location / { add_header doorplate redirector always; return 404; }
      }
    }`,
  );
  nginx = spawn('nginx', ['-c', file, '-e', join(folder, 'error.log')], {stdio: 'inherit'});
  await eventually(async () => (await Promise.all([...edges, plain].map(isOpen))).every(Boolean));
});
afterAll(async () => {
  const ended = new Promise((resolve) => nginx.once('exit', resolve));
  nginx.kill();
  await ended;
  rmSync(folder, {recursive: true});
});

describe.each(['V1', 'V2'] as const)('With a header of version %s', (proxyProtocol) => {
  test('the probe sees the certificate and who answers, by IPv4 and by IPv6, and the edge learns the real addresses', async () => {
    writeFileSync(join(folder, 'access.log'), '');
    const findings = await probeEdge('www.example.com', edges, {timeoutMs, proxyProtocol, whoAnswers: true});
    expect(findings).toMatchObject(
      edges.map((edge) => ({edge, subjectAltNames: 'DNS:www.example.com', redirector: true})),
    );
    const lines = await eventually(() => {
      const written = readFileSync(join(folder, 'access.log'), 'utf8').trimEnd().split('\n');
      if (written.length < 2) throw new Error('not all is written yet');
      return written;
    });
    const same = lines.map((line) => /^(\S+ \d+) is \1, (\d+) is \2$/.exec(line)?.[1]?.split(' ')[0]);
    expect(same.toSorted()).toEqual(['127.0.0.1', '::1']);
  });

  test('plain HTTP is seen to be answered', async () => {
    expect(await redirectorAnswers([plain], {timeoutMs, proxyProtocol})).toBe(true);
  });
});

test('Without a header such an edge is not reached', async () => {
  const findings = await probeEdge('www.example.com', edges, {timeoutMs});
  expect(findings).toEqual(edges.map((edge) => ({edge, unreachable: expect.any(String)})));
  expect(await redirectorAnswers([plain], {timeoutMs})).toBe(false);
});
