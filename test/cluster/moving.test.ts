/** A platform's own Ingress and certificate for a hostname, taken over while a client asks: docs/how-to/migrate.md. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {stringify} from 'yaml';
import {adminClient, api, apply, audit, acmeRoot, kubectl, presented} from '../../cluster/cluster.ts';
import {certificates} from '../../operator/resources/resources.ts';
import {run} from '../../operator/cli/program.ts';
import {issuanceIsOver} from '../support/issuances.ts';
import {succeeded} from '../support/requests.ts';
import {claimOf, Tenant} from '../support/tenant.ts';
import {constantClient, inShort, redirected, servedBy} from '../support/visitor.ts';

let tenant: Tenant;
let ca: string;
let began: Date;
beforeAll(async () => {
  began = new Date();
  tenant = await Tenant.create('moving');
  ca = await acmeRoot();
});
afterAll(async () => {
  await tenant?.remove();
});

/** As a platform has made it by hand: a Certificate with cert-manager's defaults (RSA), and an Ingress. */
const before = (name: string, hostname: string): object[] => [
  {
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata: {name, namespace: tenant.namespace},
    spec: {secretName: `${name}-tls`, dnsNames: [hostname], issuerRef: {name: 'pebble', kind: 'ClusterIssuer'}},
  },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {
      name,
      namespace: tenant.namespace,
      annotations: {'traefik.ingress.kubernetes.io/router.entrypoints': 'web,websecure'},
    },
    spec: {
      ingressClassName: 'traefik',
      tls: [{hosts: [hostname], secretName: `${name}-tls`}],
      rules: [
        {
          host: hostname,
          http: {paths: [{path: '/', pathType: 'Prefix', backend: {service: {name: 'web', port: {number: 80}}}}]},
        },
      ],
    },
  },
];

/** CertificateRequests and ACME Orders that were made for hostnames since a time. */
const ordersSince = async (since: Date): Promise<string[]> =>
  (
    await audit(
      since,
      (e) =>
        e.verb === 'create' &&
        ['orders', 'certificaterequests'].includes(e.objectRef?.resource ?? '') &&
        succeeded(e) &&
        // A redirect's stand in Doorplate's namespace, and have names that say which hostname they are of.
        (e.objectRef?.namespace === tenant.namespace || JSON.stringify(e).includes(tenant.zone.split('.')[0]!)),
    )
  ).map((e) => `${e.objectRef?.resource} ${JSON.stringify(e.objectRef)}`);

/** `kubectl doorplate adopt` with the platform's rights; `at`: when it is, ms since the epoch. */
async function adopt(file: string, at: () => number = Date.now): Promise<{code: number; said: string}> {
  let said = '';
  const write = (text: string) => {
    said += text;
  };
  const code = await run(['adopt', '-f', 'domains.yaml'], {
    out: write,
    tell: write,
    colours: false,
    read: async () => file,
    cluster: async () => ({namespace: tenant.namespace, client: adminClient}),
    now: at,
    wait: (ms) => new Promise((resolve) => void setTimeout(resolve, ms)),
  });
  return {code, said};
}

test('an Ingress and a certificate of before, for a hostname that serves and one that will redirect: no request fails, and nothing is ordered', async () => {
  const [www, old] = [tenant.host('www'), tenant.host('old')];
  // As customers had to point them at the platform of before: no proof of anything here.
  await tenant.records({www: 'IN A 10.244.0.1', old: 'IN A 10.244.0.1'});
  await apply([...before('www', www), ...before('old', old)]);
  await kubectl([
    'wait',
    'certificate',
    'www',
    'old',
    '-n',
    tenant.namespace,
    '--for=condition=Ready',
    '--timeout=300s',
  ]);
  await issuanceIsOver([www, old]);
  const visitor = await constantClient([www, old], ca);
  const leaves = await Promise.all([www, old].map(async (host) => (await presented(host, ca)).sha256));
  expect((await ordersSince(began)).length).toBeGreaterThanOrEqual(4);
  const since = new Date();
  const steps: [string, number][] = [];
  const done = (step: string) => void steps.push([step, Date.now()]);
  done('the first request');

  const domain = {
    apiVersion: 'doorplate.dev/v1alpha1',
    kind: 'CustomDomain',
    metadata: {name: 'site', namespace: tenant.namespace},
    spec: {projectRef: {name: 'web'}, primary: www, redirects: [{from: old}]},
  };
  // It waits already when its hostnames are taken over.
  await apply([domain]);
  await tenant.reason('site', 'ProxiedOrFlattened');
  done('the domain waits');
  const first = await adopt(stringify(domain));
  expect([first.code, first.said.match(/ Ready /g)?.length]).toEqual([0, 2]);
  await tenant.hosts('site', [`${www} Live Serving`, `${old} Live Redirecting`]);
  expect(await claimOf(www)).toMatchObject({spec: {proof: 'Platform', tenant: {account: tenant.namespace}}});

  done('both are Live');
  const again = await adopt(stringify(domain), () => Date.now() + 60_000);
  expect(again.said).toContain(`kubectl delete ingress -n ${tenant.namespace} www`);
  await kubectl(['delete', 'ingress', 'www', 'old', '-n', tenant.namespace]);
  done('the Ingresses of before are deleted');
  await servedBy(www, tenant, ca);
  await redirected(`https://${old}/`, 301, `https://${www}/`, ca);
  done('it is served without them');
  await kubectl(['delete', 'certificate', 'www', 'old', '-n', tenant.namespace]);
  await kubectl(['delete', 'secret', 'www-tls', 'old-tls', '-n', tenant.namespace, '--ignore-not-found']);
  // The edge has read that by then, too.
  await new Promise((resolve) => void setTimeout(resolve, 5000));
  const {requests, failed} = await visitor.stop();
  console.log(`taken over under ${requests} requests`);
  expect(inShort(failed, steps)).toEqual([]);
  expect(requests).toBeGreaterThan(50);
  expect(await ordersSince(since)).toEqual([]);
  expect(await Promise.all([www, old].map(async (host) => (await presented(host, ca)).sha256))).toEqual(leaves);
  const {items} = await api().list(certificates, {namespace: tenant.namespace});
  expect(items.map(({spec}) => [spec.dnsNames[0], spec.privateKey, spec.renewBefore])).toEqual([
    [www, {algorithm: 'RSA', size: 2048, rotationPolicy: 'Always'}, undefined],
  ]);
});
