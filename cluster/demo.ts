/**
 * `make demo`: a customer's hostname goes Live on the cluster that runs. It shows every step and asserts what it shows; any
 * difference ends it with a message and exit code 1. What it made stays, to be looked at.
 */
import {readFileSync} from 'node:fs';
import {customDomains} from '../operator/resources/resources.ts';
import {Cache} from '../operator/kube/cache/cache.ts';
import type {CustomDomain} from '../operator/api/foreign.ts';
import {addDomain, apiHost, driveOverLimit, showApi, showPage} from './demo-api.ts';
import {
  acmeRoot,
  adminClient,
  apply,
  env,
  eventually,
  fetchEdge,
  install,
  issuedLeaf,
  kubectl,
  presented,
  root,
  setZone,
} from './cluster.ts';

const t0 = Date.now();
const color = process.stdout.isTTY
  ? (code: number, s: string) => `\x1b[${code}m${s}\x1b[0m`
  : (_: number, s: string) => s;
const seconds = () => `[${((Date.now() - t0) / 1000).toFixed(1).padStart(6)}s]`;
const step = (text: string) => console.log(`\n${seconds()} ${color(1, text)}`);
const show = (text: string) =>
  console.log(
    text
      .trimEnd()
      .split('\n')
      .map((l) => `          ${l}`)
      .join('\n'),
  );

function assert(holds: boolean, what: string): void {
  if (!holds) throw new Error(`check failed: ${what}`);
  console.log(`${seconds()} ${color(32, 'ok')} ${what}`);
}

const [namespace, name] = ['acme', 'docs'];
const [primary, source, apex] = ['docs.customer.test', 'old.customer.test', 'customer.test'];

async function demo(): Promise<void> {
  step('Helm installs Doorplate from its charts');
  await install();
  show(await kubectl(['get', 'pods', '-n', 'doorplate-system']));

  step(
    'The platform has a new customer: an Account on the plan pro, and a namespace that belongs to it (examples/demo/platform.yaml)',
  );
  await apply(readFileSync(`${root}examples/demo/platform.yaml`, 'utf8'));
  await kubectl(['wait', 'account/acme', '--for=condition=Ready', '--timeout=30s']);
  show(await kubectl(['get', 'plans']));
  show(await kubectl(['get', 'accounts']));
  const shipped = (await kubectl(['get', 'plans', '-o', 'jsonpath={.items[*].metadata.name}'])).trim().split(' ');
  assert(
    ['free', 'pro', 'business', 'enterprise'].every((p) => shipped.includes(p)),
    'the chart ships the plans free, pro, business and enterprise',
  );

  step('The API answers, and an account on the plan free uses up its minute');
  const servedAgain = await driveOverLimit({show, assert});

  step('A customer publishes a project: a Service and a Project of that name (examples/demo/project.yaml)');
  await kubectl(['delete', 'customdomain', '-n', namespace, name, '--ignore-not-found', '--timeout=60s']);
  await setZone('customer.test', []);
  await apply(readFileSync(`${root}examples/demo/project.yaml`, 'utf8'));
  await kubectl(['wait', 'project', '-n', namespace, name, '--for=condition=Ready', '--timeout=120s'], {
    timeoutMs: 130_000,
  });
  show(await kubectl(['get', 'project', '-n', namespace, name]));
  const target = (await kubectl(['get', 'project', '-n', namespace, name, '-o', 'jsonpath={.status.host}'])).trim();
  const ca = await acmeRoot();
  const home = await eventually('the default hostname answers', async () => {
    const r = await fetchEdge(`https://${target}/`, {ca});
    return r.status === 200 && r;
  });
  assert(home.body.includes('hello'), `https://${target}/ answers 200 with its own certificate: the default hostname`);

  step('The customer attaches two hostnames (examples/demo/custom-domain.yaml); the DNS records are still missing');
  const phases = new Map<string, string[]>();
  const watching = new AbortController();
  const cache = new Cache<CustomDomain, CustomDomain>(adminClient(), customDomains, {namespace});
  cache.onChange((now) => {
    for (const host of now?.metadata.name === name ? (now.status?.hosts ?? []) : []) {
      const seen = phases.get(host.hostname) ?? [];
      if (seen.at(-1) === host.phase) continue;
      phases.set(host.hostname, [...seen, host.phase]);
      console.log(`${seconds()} ${host.hostname.padEnd(20)} ${color(36, host.phase)} (${host.reason})`);
    }
  });
  cache.start(watching.signal);
  await cache.synced;
  await apply(readFileSync(`${root}examples/demo/custom-domain.yaml`, 'utf8'));
  const missing = await eventually('the missing record is reported', async () => {
    const hosts = cache.get(`${namespace}/${name}`)?.status?.hosts;
    return hosts?.every((h) => h.reason === 'RecordMissing') && hosts;
  });
  show(await kubectl(['get', 'customdomains', '-n', namespace]));
  show(missing.map((h) => h.message).join('\n'));
  assert(
    missing.every((h) => h.phase === 'AwaitingVerification' && h.message.includes(target)),
    'awaiting verification; the message names the record to create',
  );
  const early = JSON.parse(await kubectl(['get', 'certificates', '-A', '-o', 'json'])) as {
    items: {spec: {dnsNames: string[]}}[];
  };
  assert(
    !early.items.some((c) => c.spec.dnsNames.includes(primary)),
    'no certificate is ordered before the record exists',
  );

  step('The customer creates the records at their DNS provider');
  const records = ['docs', 'old'].map((label) => `${label} IN CNAME ${target}.`);
  await setZone('customer.test', records);
  show(records.join('\n'));
  await kubectl(['wait', 'customdomain', '-n', namespace, name, '--for=condition=Ready', '--timeout=180s'], {
    timeoutMs: 190_000,
  });
  await eventually('the watch reports the last phases', async () =>
    [primary, source].every((h) => phases.get(h)?.at(-1) === 'Live'),
  );
  for (const host of [primary, source]) {
    assert(
      phases.get(host)?.join(' -> ') === 'AwaitingVerification -> Verified -> Live',
      `${host} went ${phases.get(host)?.join(' -> ')}`,
    );
  }
  watching.abort();
  show(await kubectl(['get', 'customdomains', '-n', namespace]));

  step('Live is verified: the edge presents the issued certificates and answers');
  const domain = cache.get(`${namespace}/${name}`)!;
  for (const [host, where] of [
    [primary, namespace],
    [source, 'doorplate-system'],
  ] as const) {
    const certificate = domain.status?.hosts?.find((h) => h.hostname === host)?.certificate?.name ?? '';
    const {trusted, sha256} = await presented(host, ca);
    assert(
      trusted && sha256 === (await issuedLeaf(where, certificate)),
      `${host}: the certificate is the one in the CertificateRequest, and chains to the CA's root`,
    );
  }
  const page = await fetchEdge(`https://${primary}/`, {ca});
  assert(page.status === 200, `GET https://${primary}/ -> ${page.status} ${JSON.stringify(page.body.trim())}`);
  for (const method of ['GET', 'HEAD', 'POST']) {
    const r = await fetchEdge(`https://${source}/a/b?c=d&e=%2F`, {method, ca});
    assert(
      r.status === 301 && r.location === `https://${primary}/a/b?c=d&e=%2F`,
      `${method.padEnd(4)} https://${source}/a/b?c=d&e=%2F -> ${r.status} ${r.location}`,
    );
  }
  const plain = await fetchEdge(`http://${primary}/x?y=z`, {method: 'POST'});
  assert(
    plain.status === 308 && plain.location === `https://${primary}/x?y=z`,
    `POST http://${primary}/x?y=z -> ${plain.status} ${plain.location}`,
  );
  const straight = await fetchEdge(`http://${source}/x?y=z`);
  assert(
    straight.status === 301 && straight.location === `https://${primary}/x?y=z`,
    `GET  http://${source}/x?y=z -> ${straight.status} ${straight.location}`,
  );

  step(
    `The customer adds the apex ${apex} as another redirect (examples/demo/apex.yaml); the customer's CAA record names another CA`,
  );
  await apply(readFileSync(`${root}examples/demo/apex.yaml`, 'utf8'));
  const shown = await eventually('the records of the apex are shown', async () => {
    const found = JSON.parse(
      await kubectl(['get', 'customdomain', '-n', namespace, name, '-o', 'json']),
    ) as CustomDomain;
    const wanted = (found.status?.dnsRecords ?? []).filter((r) => r.hostname === apex);
    return wanted.length === 2 && wanted;
  });
  show(
    shown
      .map((r) => `${r.type.padEnd(5)} ${r.name.padEnd(20)} ${r.value}   in the zone ${r.zone}: ${r.state}`)
      .join('\n'),
  );
  assert(
    shown.map((r) => r.type).join() === 'ALIAS,TXT',
    'an apex cannot have a CNAME: it needs an ALIAS to the edge, and a TXT record, because addresses do not verify a tenant',
  );
  const token = shown.find((r) => r.type === 'TXT')?.value ?? '';
  const atApex = (ca_: string) => [
    ...records,
    '@ IN A 10.244.0.1',
    `_doorplate-challenge IN TXT "${token}"`,
    `@ IN CAA 0 issue "${ca_}"`,
  ];
  await setZone('customer.test', atApex('other-ca.example'));
  const entry = async (reason: string) =>
    eventually(
      `${apex} is ${reason}`,
      async () => {
        const found = JSON.parse(
          await kubectl(['get', 'customdomain', '-n', namespace, name, '-o', 'json']),
        ) as CustomDomain;
        const host = found.status?.hosts?.find((h) => h.hostname === apex);
        return host?.reason === reason && host;
      },
      90_000,
    );
  const blocked = await entry('CAABlocksIssuer');
  show(blocked.message);
  const ordered = JSON.parse(await kubectl(['get', 'certificates', '-A', '-o', 'json'])) as {
    items: {spec: {dnsNames: string[]}}[];
  };
  assert(
    blocked.phase === 'Verified' && !ordered.items.some((c) => c.spec.dnsNames.includes(apex)),
    'it is verified, but no certificate is ordered: the CA would refuse',
  );
  await setZone('customer.test', atApex('pebble.letsencrypt.org'));
  await kubectl([
    'annotate',
    'customdomain',
    '-n',
    namespace,
    name,
    '--overwrite',
    `doorplate.dev/requestedAt=${new Date().toISOString()}`,
  ]);
  await entry('Redirecting');
  const bare = await eventually('the apex redirects', async () => {
    const r = await fetchEdge(`https://${apex}/a?b`, {ca});
    return r.status === 301 && r;
  });
  assert(bare.location === `https://${primary}/a?b`, `GET  https://${apex}/a?b -> ${bare.status} ${bare.location}`);

  step(`Another tenant, with its own account and project, claims ${primary}, too (examples/demo/stranger.yaml)`);
  await kubectl(['delete', 'customdomain', '-n', 'mallory', 'theirs', '--ignore-not-found', '--timeout=60s']);
  await apply(readFileSync(`${root}examples/demo/stranger.yaml`, 'utf8'));
  const version = () =>
    kubectl(['get', 'customdomain', '-n', namespace, name, '-o', 'jsonpath={.metadata.resourceVersion}']);
  const untouched = await version();
  const refused = await eventually('the other tenant sees what is missing', async () => {
    const {
      items: [theirs],
    } = JSON.parse(await kubectl(['get', 'customdomains', '-n', 'mallory', '-o', 'json'])) as {items: CustomDomain[]};
    const [host] = theirs?.status?.hosts ?? [];
    return host?.reason === 'TargetMismatch' && host;
  });
  show(await kubectl(['get', 'customdomains', '-n', 'mallory']));
  show(refused.message);
  assert(
    refused.phase === 'AwaitingVerification' && !JSON.stringify(refused).includes('acme/'),
    'it awaits verification like any hostname, and does not show the owner',
  );
  const route = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {name: 'theirs', namespace: 'mallory'},
    spec: {
      ingressClassName: 'traefik',
      rules: [
        {
          host: primary,
          http: {paths: [{path: '/', pathType: 'Prefix', backend: {service: {name: 'shop', port: {number: 80}}}}]},
        },
      ],
    },
  };
  const denied = await kubectl(['create', '--as=mallory', '-f', '-'], {input: JSON.stringify(route)}).then(
    () => 'created',
    (e: Error) => e.message,
  );
  show(denied.replace(/^.*denied request: /s, ''));
  assert(
    denied.includes('only Doorplate writes Ingress'),
    'the role admin in the namespace of the other tenant cannot write an Ingress for it: the admission policy refuses',
  );
  show(await kubectl(['get', 'domainclaims', primary, source]));
  const still = await fetchEdge(`https://${primary}/`, {ca});
  assert(
    still.status === 200 && still.body.includes('acme') && (await version()) === untouched,
    `${primary} is served as before, and its CustomDomain was not written`,
  );

  step(`The customer's programs use the API, https://${apiHost}, with a key`);
  await servedAgain();
  const key = await showApi({show, assert}, namespace, name, primary);

  step('The customer adds a domain to a second project through the API (examples/demo/shop.yaml)');
  await apply(readFileSync(`${root}examples/demo/shop.yaml`, 'utf8'));
  await kubectl(['wait', 'project', '-n', namespace, 'shop', '--for=condition=Ready', '--timeout=120s'], {
    timeoutMs: 130_000,
  });
  await addDomain({show, assert}, key, 'shop', 'shop.customer.test');

  step(`The customer opens the Domains page, https://${apiHost}, through a link from the platform's backend`);
  const link = await showPage({show, assert}, namespace, 'shop');

  const {edgeHttps, edgeHttp} = env();
  step('Try these commands:');
  show(`. .cluster/env                                    # kubectl, helm and the address of the cluster
kubectl get doorplate -A
kubectl describe customdomain -n ${namespace} ${name}
kubectl get customdomain -n ${namespace} ${name} -o yaml
kubectl logs -n doorplate-system deploy/doorplate-operator
kubectl delete customdomain -n ${namespace} ${name}    # traffic stops immediately
cluster/dns.sh show customer.test                 # the customer's DNS; change it with \`set\`
curl -k --connect-to ::${edgeHttps} https://${primary}/
curl -k --connect-to ::${edgeHttps} -i 'https://${source}/a/b?c=d'
curl --connect-to ::${edgeHttp} -i http://${primary}/
curl -k --connect-to ::${edgeHttps} -i https://${apiHost}/v1/projects/${name}/domains -H 'Authorization: Bearer ${key}'
curl -k --connect-to ::${edgeHttps} https://${apiHost}/docs        # the API's reference; /openapi.json for programs
chromium --ignore-certificate-errors --user-data-dir=/tmp/doorplate-page --host-resolver-rules='MAP * ${edgeHttps}' '${link}'
                                                  # the page; the link works once, within five minutes. The key above works, too
make cluster-down                                 # remove the cluster`);
  console.log(`\n${seconds()} ${color(32, 'the demo holds')}`);
}

try {
  await demo();
  process.exit(0);
} catch (error) {
  console.error(`\n${seconds()} ${color(31, 'the demo failed')}: ${(error as Error).message}`);
  try {
    show(await kubectl(['get', 'customdomains,certificates,orders,challenges', '-A', '-o', 'wide']));
  } catch {
    /* no cluster */
  }
  console.error('To find the cause: kubectl logs -n doorplate-system deploy/doorplate-operator; cluster/README.md');
  process.exit(1);
}
