/**
 * "Live" stays true (rule 6): what happens to the edge and to the certificate of a hostname that is Live. The confirmations take seconds here,
 * and 15 minutes by default.
 */
import {spawn} from 'node:child_process';
import {afterAll, afterEach, beforeAll, expect, test} from '@jest/globals';
import {
  acmeRoot,
  api,
  apply,
  env,
  eventually,
  fetchEdge,
  issuedLeaf,
  kubectl,
  presented,
  root,
  sh,
} from '../../cluster/cluster.ts';
import type {CustomDomain} from '../../operator/api/foreign.ts';
import {certificates, ingresses, services} from '../../operator/resources/resources.ts';
import {withEdgeByService} from '../support/edges.ts';
import {renew} from '../support/issuances.ts';
import {operatorMetrics} from '../support/release.ts';
import {Tenant} from '../support/tenant.ts';

/** Where nothing listens, and where the fake edge does. */
const [deadAddress, staleAddress] = ['10.96.0.19', '10.96.0.18'];
/** "Each reported within 2 minutes with shortened times." */
const soonMs = 120_000;

const loadBalancer = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {namespace: 'traefik', name: 'edge'},
  spec: {type: 'LoadBalancer', selector: {app: 'traefik'}, ports: [{name: 'https', port: 443}]},
};

/** The addresses of the edge, as the cloud's controller writes them. kube-proxy leaves them alone (ipMode, KEP-1860). */
const give = (...ips: string[]): Promise<unknown> =>
  api().patch(
    services,
    'traefik/edge',
    {status: {loadBalancer: {ingress: ips.map((ip) => ({ip, ipMode: 'Proxy'}))}}},
    {type: 'merge', subresource: 'status'},
  );

let tenant: Tenant;
let www: string;
let ca: string;
/** The Certificate of `www`, as `namespace/name`. */
let certificate: [namespace: string, name: string];

beforeAll(async () => {
  await withEdgeByService();
  await apply([loadBalancer]);
  await give(env().nodeIp);
  [tenant, ca] = [await Tenant.create('drift'), await acmeRoot()];
  www = tenant.host('www');
  await tenant.record('www', tenant.proof);
  await tenant.attach('site', www);
  const {metadata} = await tenant.hosts('site', [`${www} Live Serving`]);
  const [key = ''] = await tenant.children(metadata.uid ?? '', certificates);
  certificate = key.split('/') as typeof certificate;
});
afterEach(async () => {
  await give(env().nodeIp);
  await isServing();
});
afterAll(async () => {
  await tenant?.remove();
  await kubectl(['delete', 'service', 'edge', '-n', 'traefik', '--ignore-not-found']);
});

const isServing = () => tenant.hosts('site', [`${www} Live Serving`], soonMs);
const lines = ({status}: CustomDomain) => [
  ...(status?.hosts ?? []).map((h) => `${h.phase} ${h.reason} ${h.waitingFor}`),
  ...(status?.conditions ?? []).map((c) => `${c.type}=${c.status}/${c.reason}`),
];

/** Does something, and waits until status has a reason; then prints the status and the time that it took. */
async function reports(reason: string, cause: () => Promise<unknown>): Promise<CustomDomain> {
  const routes = await tenant.children((await tenant.get('site'))?.metadata.uid ?? '', ingresses);
  const began = Date.now();
  await cause();
  const domain = await tenant.reason('site', reason, soonMs);
  const took = Date.now() - began;
  console.log(
    `${reason} after ${(took / 1000).toFixed(1)} s\n${lines(domain).join('\n')}\n${domain.status?.hosts?.[0]?.message}`,
  );
  expect(took).toBeLessThan(soonMs);
  expect([domain.status?.phase, domain.status?.hostsLive]).toEqual(['Live', '1/1']);
  expect(await tenant.children(domain.metadata.uid ?? '', ingresses)).toEqual(routes);
  return domain;
}

/** Waits for the original status, and prints the time until then. */
async function heals(cause: () => Promise<unknown>): Promise<void> {
  const began = Date.now();
  await cause();
  const domain = await isServing();
  console.log(`healed after ${((Date.now() - began) / 1000).toFixed(1)} s`);
  expect(Date.now() - began).toBeLessThan(soonMs);
  expect(lines(domain).slice(1)).toEqual(allTrue);
}

const allTrue = [
  'Accepted=True/Accepted',
  'Verified=True/Proven',
  'CertificateReady=True/Issued',
  'RoutesReady=True/Routed',
  'Live=True/Serving',
  'Ready=True/Serving',
];
const metric = async (line: RegExp): Promise<string | undefined> => line.exec(await operatorMetrics())?.[1];

/** Events about the edge on the Pods of the operator since a time, by reason, oldest first. */
async function eventsSince(began: Date): Promise<string[]> {
  const {items} = JSON.parse(
    await kubectl(['get', 'events.events.k8s.io', '-n', 'doorplate-system', '-o', 'json']),
  ) as {
    items: {reason: string; eventTime: string}[];
  };
  return items
    .filter(({reason, eventTime}) => reason.startsWith('EdgeAddress') && new Date(eventTime) >= began)
    .toSorted((a, b) => a.eventTime.localeCompare(b.eventTime))
    .map(({reason}) => reason);
}

async function scale(replicas: number): Promise<void> {
  await kubectl(['scale', 'deployment/traefik', '-n', 'traefik', `--replicas=${replicas}`]);
  if (replicas > 0) await kubectl(['rollout', 'status', 'deployment/traefik', '-n', 'traefik']);
}

test('an edge that is stopped is reported on every hostname and once for its address, and all heals by itself', async () => {
  const began = new Date();
  const domain = await reports('EdgeUnreachable', () => scale(0));
  expect(lines(domain)).toEqual([
    'Live EdgeUnreachable Platform',
    ...allTrue.slice(0, 4),
    'Live=False/EdgeUnreachable',
    'Ready=False/EdgeUnreachable',
    'Reconciling=True/EdgeUnreachable',
  ]);
  await eventually('the address is reported', async () => (await eventsSince(began)).includes('EdgeAddressFaulty'));
  expect(await metric(/^doorplate_edge_address_serving\{.*\} (\d)$/m)).toBe('0');
  expect(Number(await metric(/^doorplate_hostnames_degraded\{.*EdgeUnreachable.*\} (\d+)$/m))).toBeGreaterThan(0);
  await heals(() => scale(1));
  await eventually('its return is reported', async () => (await eventsSince(began)).includes('EdgeAddressServing'));
  expect(await eventsSince(began)).toEqual(['EdgeAddressFaulty', 'EdgeAddressServing']);
  expect((await fetchEdge(`https://${www}/`, {ca})).status).toBe(200);
});

test('a Secret that an administrator deletes is reported as a lost certificate, and the next certificate is served', async () => {
  const before = await issuedLeaf(...certificate);
  const [namespace, name] = certificate;
  const domain = await reports('CertificateLost', () => kubectl(['delete', 'secret', '-n', namespace, name]));
  expect(lines(domain)).toContain('CertificateReady=False/CertificateLost');
  await heals(async () => {});
  const after = await issuedLeaf(...certificate);
  expect([after === before, (await presented(www, ca)).sha256]).toEqual([false, after]);
});

test('an edge that presents an old leaf after a renewal is reported (a fake edge)', async () => {
  const [namespace, name] = certificate;
  const secret = JSON.parse(await kubectl(['get', 'secret', '-n', namespace, name, '-o', 'json'])) as {
    data: Record<string, string>;
  };
  const pem = (member: string) => Buffer.from(secret.data[member] ?? '', 'base64').toString();
  const end = await staleEdge({cert: pem('tls.crt'), key: pem('tls.key')});
  try {
    // It is the address of an edge like any other while its leaf is the issued one.
    await give(env().nodeIp, staleAddress);
    await tenant.verify('site');
    await isServing();
    const before = await issuedLeaf(namespace, name);
    const domain = await reports('EdgeNotServing', () => renew(certificate.join('/')));
    expect(await issuedLeaf(namespace, name)).not.toBe(before);
    expect(domain.status?.hosts?.[0]?.message).toContain(
      `The edge at ${staleAddress}:443 presents another certificate for ${www}`,
    );
    expect(lines(domain)).toContain('CertificateReady=True/Issued');
    await heals(() => give(env().nodeIp));
  } finally {
    await end();
  }
});

test('an address without a server that the edge gains is reported', async () => {
  const domain = await reports('EdgeUnreachable', () => give(env().nodeIp, deadAddress));
  expect(domain.status?.hosts?.[0]?.message).toContain(`The edge at ${deadAddress}:443 does not answer for ${www}`);
  await heals(() => give(env().nodeIp));
});

/** Brings up the fake edge inside the cluster; resolves with what ends it. */
async function staleEdge(leaf: {cert: string; key: string}): Promise<() => Promise<void>> {
  await sh('cluster/enter.sh', ['ip', 'address', 'replace', `${staleAddress}/32`, 'dev', 'lo']);
  const server = spawn('cluster/enter.sh', [process.execPath, 'test/support/stale-edge.ts', staleAddress], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const listens = new Promise<void>((resolve, reject) => {
    server.stdout.once('data', () => resolve());
    server.once('exit', (code) => reject(new Error(`the fake ended: ${code}`)));
  });
  server.stdin.write(`${JSON.stringify(leaf)}\n`);
  await listens;
  return () =>
    new Promise((resolve) => {
      server.once('exit', () => resolve());
      server.stdin.end();
    });
}
