/**
 * Another CA on the cluster: a Pebble, behind a proxy that can be told to answer every request, or every order, with a server error, or to
 * refuse every order. The proxy is a fake: it simulates an outage of the CA.
 */
import {execFile} from 'node:child_process';
import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {promisify} from 'node:util';
import {apply, env, kubectl, root, sh, eventually} from '../../cluster/cluster.ts';
import {readFileSync} from 'node:fs';

const namespace = 'pebble';
const [acmePort, pebblePort, managementPort, controlPort] = [14000, 14001, 15000, 15001];

const proxy = `
import {createServer, request} from 'node:https';
import {createServer as createControl} from 'node:http';
import {readFileSync} from 'node:fs';
const tls = {key: readFileSync('/tls/tls.key'), cert: readFileSync('/tls/tls.crt')};
let mode = '/works';
const refusal = JSON.stringify({type: 'urn:ietf:params:acme:error:rateLimited', detail: 'an outage', status: 429});
createServer(tls, (req, res) => {
  if (mode === '/fails' || (mode === '/stalls' && req.url === '/order-plz')) return res.writeHead(503).end('an outage');
  if (mode === '/refuses' && req.url === '/order-plz')
    return res.writeHead(429, {'content-type': 'application/problem+json'}).end(refusal);
  const {method, url: path, headers} = req;
  const up = request({host: '127.0.0.1', port: ${pebblePort}, method, path, headers, rejectUnauthorized: false}, (said) => {
    res.writeHead(said.statusCode, said.headers);
    said.pipe(res);
  });
  up.on('error', () => res.writeHead(502).end());
  req.pipe(up);
}).listen(${acmePort});
createControl((req, res) => {
  mode = req.url;
  res.end();
}).listen(${controlPort});
`;

export class FailingCa {
  readonly name: string;
  /** PEM: the root of its certificates. */
  readonly rootCertificate: string;
  readonly #address: string;

  private constructor(name: string, address: string, rootCertificate: string) {
    [this.name, this.#address, this.rootCertificate] = [name, address, rootCertificate];
  }

  /** Starts the CA, with an issuer of the same name. `validitySeconds`: the life of its certificates. */
  static async start(name: string, {validitySeconds = 7_776_000} = {}): Promise<FailingCa> {
    const config = {
      pebble: {
        listenAddress: `0.0.0.0:${pebblePort}`,
        managementListenAddress: `0.0.0.0:${managementPort}`,
        certificate: '/tls/tls.crt',
        privateKey: '/tls/tls.key',
        httpPort: 80,
        tlsPort: 443,
        ocspResponderURL: '',
        retryAfter: {authz: 1, order: 1},
        keyAlgorithm: 'ecdsa',
        profiles: {default: {description: name, validityPeriod: validitySeconds}},
      },
    };
    const {key, cert} = await keyPairOf(`${name}.${namespace}.svc`);
    const labels = {app: name};
    const metadata = {name, namespace};
    const mounts = [
      {name: 'config', mountPath: '/config'},
      {name: 'tls', mountPath: '/tls'},
    ];
    const tag = readFileSync(`${root}dist/image.tag`, 'utf8').trim();
    await apply([
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata,
        data: {'config.json': JSON.stringify(config), 'proxy.mjs': proxy},
      },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'kubernetes.io/tls',
        metadata,
        stringData: {'tls.crt': cert, 'tls.key': key},
      },
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata,
        spec: {
          selector: {matchLabels: labels},
          template: {
            metadata: {labels},
            spec: {
              containers: [
                {
                  name: 'pebble',
                  image: 'localhost/pebble:v2.10.1',
                  args: ['-config', '/config/config.json', '-dnsserver', `${env().dnsIp}:53`],
                  env: Object.entries({
                    PEBBLE_VA_NOSLEEP: '1',
                    PEBBLE_WFE_NONCEREJECT: '0',
                    PEBBLE_AUTHZREUSE: '0',
                  }).map(([variable, value]) => ({name: variable, value})),
                  volumeMounts: mounts,
                },
                {
                  name: 'proxy',
                  image: `localhost/doorplate:${tag}`,
                  command: ['/usr/local/bin/node', '/config/proxy.mjs'],
                  readinessProbe: {httpGet: {scheme: 'HTTPS', path: '/dir', port: acmePort}, periodSeconds: 1},
                  volumeMounts: mounts,
                },
              ],
              volumes: [
                {name: 'config', configMap: {name}},
                {name: 'tls', secret: {secretName: name}},
              ],
            },
          },
        },
      },
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata,
        // An outage of the CA is no lack of endpoints.
        spec: {
          selector: labels,
          publishNotReadyAddresses: true,
          ports: [acmePort, managementPort, controlPort].map((port) => ({name: `p${port}`, port})),
        },
      },
    ]);
    await kubectl(['rollout', 'status', `deploy/${name}`, '-n', namespace, '--timeout=120s']);
    const address = (
      await kubectl(['get', 'service', name, '-n', namespace, '-o', 'jsonpath={.spec.clusterIP}'])
    ).trim();
    const caBundle = (await readFile(env().pebbleCa)).toString('base64');
    const acme = {
      server: `https://${name}.${namespace}.svc:${acmePort}/dir`,
      caBundle,
      privateKeySecretRef: {name: `${name}-account`},
      solvers: [{http01: {ingress: {ingressClassName: 'traefik'}}}],
    };
    await apply([{apiVersion: 'cert-manager.io/v1', kind: 'ClusterIssuer', metadata: {name}, spec: {acme}}]);
    await kubectl(['wait', `clusterissuer/${name}`, '--for=condition=Ready', '--timeout=120s']);
    const certificate = await eventually('the CA answers', () =>
      inside(`https://${address}:${managementPort}/roots/0`).catch(() => undefined),
    );
    return new FailingCa(name, address, certificate);
  }

  /** From now on every request gets a server error. */
  fail(): Promise<void> {
    return this.#be('fails');
  }

  /** From now on every order gets a server error, and the directory answers. */
  stall(): Promise<void> {
    return this.#be('stalls');
  }

  /** From now on no order is taken. */
  refuse(): Promise<void> {
    return this.#be('refuses');
  }

  recover(): Promise<void> {
    return this.#be('works');
  }

  async #be(mode: string): Promise<void> {
    await inside(`http://${this.#address}:${controlPort}/${mode}`);
  }

  async remove(): Promise<void> {
    await kubectl(['delete', 'clusterissuer', this.name, '--ignore-not-found']);
    await kubectl(['delete', 'deploy,service,configmap,secret', this.name, '-n', namespace, '--ignore-not-found']);
  }
}

/** The answer to a GET from inside the cluster. */
async function inside(url: string): Promise<string> {
  const script = `process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'; process.stdout.write(await (await fetch('${url}')).text())`;
  const {stdout} = await promisify(execFile)(
    join(root, 'cluster/enter.sh'),
    [process.execPath, '--no-warnings', '--input-type=module', '-e', script],
    {cwd: root},
  );
  return stdout;
}

/** A key pair for a name, signed by the CA that the cluster's Pebble has for its own HTTPS. PEM. */
async function keyPairOf(name: string): Promise<{key: string; cert: string}> {
  const dir = await mkdtemp(join(tmpdir(), 'doorplate-failing-ca-'));
  const pki = dirname(env().pebbleCa);
  try {
    const [key, request, cert, extensions] = ['key', 'csr', 'crt', 'ext'].map((file) => join(dir, file)) as [
      string,
      string,
      string,
      string,
    ];
    await writeFile(extensions, `subjectAltName=DNS:${name}`);
    await sh('openssl', [
      'req',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-subj',
      `/CN=${name}`,
      '-keyout',
      key,
      '-out',
      request,
    ]);
    await sh('openssl', [
      'x509',
      '-req',
      '-in',
      request,
      '-CA',
      join(pki, 'pebble-ca.crt'),
      '-CAkey',
      join(pki, 'pebble-ca.key'),
      '-days',
      '2',
      '-extfile',
      extensions,
      '-out',
      cert,
    ]);
    return {key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8')};
  } finally {
    await rm(dir, {recursive: true});
  }
}
