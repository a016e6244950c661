/** Two nodes with IPv4 and IPv6: drains under a constant client, and customers with IPv6 only. */
import {writeFileSync} from 'node:fs';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {acmeRoot, env, kubectl, sh} from '../../cluster/cluster.ts';
import {apiHost, makeKey} from '../../cluster/demo-api.ts';
import {Tenant} from '../support/tenant.ts';
import {everyMs} from './client.ts';
import {
  drainNode,
  edge,
  edgeRecords,
  makePlatform,
  mustHaveTwoNodes,
  nodes,
  placement,
  siteTwice,
  startClient,
} from './platform.ts';

let tenant: Tenant;
let ca: string;
const caFile = () => `${env().zones}/../tmp/acme-root.crt`;
let end: (() => Promise<void>) | undefined;
/** Hostnames that redirect to www. */
const sources: string[] = [];

const attach = async (hostname: string): Promise<void> => {
  sources.push(hostname);
  const redirects = sources.map((from) => ({from}));
  await tenant.attach('site', tenant.host('www'), redirects);
};
const isLive = (hostname: string) => tenant.hostReads('site', hostname, 'Live Redirecting');

/** Adds a hostname that redirects, by a CNAME. Resolves when it is Live. */
async function addRedirect(label: string): Promise<void> {
  await tenant.record(label, tenant.proof);
  await attach(tenant.host(label));
  await isLive(tenant.host(label));
}

beforeAll(async () => {
  mustHaveTwoNodes();
  end = await makePlatform();
  ca = await acmeRoot();
  writeFileSync(caFile(), ca);
  tenant = await Tenant.create('nodes', {});
  await siteTwice(tenant);
  await tenant.record('www', tenant.proof);
  await addRedirect('old');
});
afterAll(async () => {
  await tenant?.remove();
  await end?.();
});

test('nodes are drained one after the other: no request fails, and a domain that is added during a drain becomes Live', async () => {
  const [www, old] = [tenant.host('www'), tenant.host('old')];
  const key = await makeKey(tenant.namespace, 'nodes', 'domains:read');
  const client = startClient({
    addresses: [edge.v4, edge.v6],
    ca,
    targets: [
      {url: `https://${www}/`, status: 200},
      {url: `https://${old}/page`, status: 301, location: `https://${www}/page`},
      {url: `http://${www}/`, status: 308, location: `https://${www}/`},
      {url: `https://${apiHost}/v1/projects`, status: 200, headers: {authorization: `Bearer ${key}`}},
    ],
  });
  const began = Date.now();
  const steps: string[] = [];
  const step = (what: string) => steps.push(`${((Date.now() - began) / 1000).toFixed(1)} s: ${what}`);
  for (const [i, node] of nodes.entries()) {
    const runs = (await placement())[node]!;
    step(`drain ${node}, which runs ${runs.join(', ')}`);
    expect(runs).toEqual(expect.arrayContaining(['operator', 'api', 'redirector'].map((role) => `doorplate-${role}`)));
    await drainNode(node, async () => {
      await addRedirect(`added-${i}`);
      step('the domain that was added is Live');
    });
    step(`all is ready without ${node}`);
    expect((await placement())[node]).toEqual([]);
  }
  const report = await client.stop();
  const tookMs = Date.now() - began;
  console.log(
    [
      ...steps,
      `${report.requests} requests, ${report.failed.length} failed, ${report.repeated} repeated, slowest ${report.slowestMs} ms`,
    ].join('\n'),
  );
  expect(report.failed.map(({what, atMs}) => `${((atMs - began) / 1000).toFixed(1)} s: ${what}`)).toEqual([]);
  // The client was never held up, and a kept connection was seldom closed under a request.
  expect(report.requests).toBeGreaterThan((0.8 * tookMs) / everyMs);
  expect(report.slowestMs).toBeLessThan(3000);
  expect(report.repeated).toBeLessThan(report.requests / 100);
});

describe('a customer without IPv4', () => {
  afterAll(async () => {
    await edgeRecords('A', 'AAAA');
  });

  test("an apex with the edge's IPv6 address alone becomes Live", async () => {
    const apex = tenant.zone;
    await tenant.records({'@': `IN AAAA ${edge.v6}`, '_doorplate-challenge': `IN TXT "${tenant.token(apex)}"`});
    await attach(apex);
    await isLive(apex);
    expect(await asked6(apex)).toBe('301');
  });

  test('a CNAME to a default hostname without IPv4 becomes Live', async () => {
    await edgeRecords('AAAA');
    await addRedirect('v6');
    expect(await asked6(tenant.host('v6'))).toBe('301');
  });
});

test('every role answers on the IPv6 address of its Pods', async () => {
  const template =
    '{range .items[*]}{.metadata.labels.app\\.kubernetes\\.io/component} {.status.podIPs[1].ip}{"\\n"}{end}';
  const selector = ['-n', 'doorplate-system', '-l', 'app.kubernetes.io/name=doorplate'];
  const lines = (await kubectl(['get', 'pods', ...selector, '-o', `jsonpath=${template}`])).trim().split('\n');
  const answers = await Promise.all(
    lines.map(async (line) => {
      const [role, address] = line.split(' ');
      return `${role} ${await curl(`http://[${address}]:8081/metrics`)}`;
    }),
  );
  expect(answers.toSorted()).toEqual(
    ['api', 'api', 'operator', 'operator', 'redirector', 'redirector'].map((r) => `${r} 200`),
  );
});

/** The status of an answer inside the cluster. */
const curl = (url: string, ...options: string[]): Promise<string> =>
  sh('cluster/enter.sh', ['curl', '-s', '-o', '/dev/null', '-w', '%{http_code}', ...options, url]);
/** Status of a hostname over IPv6; curl also checks the certificate's name. */
const asked6 = (hostname: string): Promise<string> =>
  curl(`https://${hostname}/`, '--cacert', caFile(), '--resolve', `${hostname}:443:[${edge.v6}]`);
