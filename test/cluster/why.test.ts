/** `kubectl doorplate why` on the whole cluster: the commonest reasons, each with what was seen, what is needed and who has to act. */
import {execFile} from 'node:child_process';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {env, eventually, kubectl, root} from '../../cluster/cluster.ts';
import {Tenant} from '../support/tenant.ts';

let tenant: Tenant;
let undeployed: Tenant;
const done = 0;
const customer = 4;

/** By label in the tenant's zone, `@` for the zone itself: its records, and what comes of them. */
interface Situation {
  hostname: string;
  records: Record<string, string>;
  reason: string;
  /** What `why` says beside the reason. */
  says: string[];
  code: number;
}

const situations: Situation[] = [
  {hostname: 'served', records: {served: 'PROOF'}, reason: 'Serving', says: [], code: done},
  {hostname: 'redirects', records: {redirects: 'PROOF'}, reason: 'Redirecting', says: [], code: done},
  {
    hostname: 'missing',
    records: {},
    reason: 'RecordMissing',
    says: ['Record   CNAME missing -> TARGET (TTL 3600) in the zone ZONE', 'Create the records'],
    code: customer,
  },
  {
    hostname: 'elsewhere',
    records: {elsewhere: 'IN CNAME somewhere.else.test.'},
    reason: 'TargetMismatch',
    says: ['Found: CNAME somewhere.else.test.', 'Correct the value'],
    code: customer,
  },
  {
    hostname: 'detour',
    records: {detour: 'IN CNAME cdn.ZONE.', cdn: 'PROOF'},
    reason: 'IndirectCNAME',
    says: ['Found: CNAME cdn.ZONE', 'Point the CNAME record directly to the default hostname'],
    code: customer,
  },
  {
    hostname: 'address',
    records: {address: 'IN A 203.0.113.7'},
    reason: 'ConflictingRecord',
    says: ['Found: A 203.0.113.7.', 'Delete the address records and create the CNAME'],
    code: customer,
  },
  {
    hostname: 'proxied',
    records: {proxied: 'IN A 10.244.0.1'},
    reason: 'ProxiedOrFlattened',
    says: ['Switch the proxy or the flattening off'],
    code: customer,
  },
  {
    hostname: '@',
    records: {'@': 'IN A 10.244.0.1'},
    reason: 'TXTMissing',
    says: ['Record   TXT _doorplate-challenge -> '],
    code: customer,
  },
  {
    hostname: 'www.blocked',
    records: {'www.blocked': 'PROOF', blocked: 'IN CAA 0 issue "other-ca.example"'},
    reason: 'CAABlocksIssuer',
    says: ['Add the CAA record that the message names', 'CAA 0 issue "pebble.letsencrypt.org"'],
    code: customer,
  },
  {
    hostname: 'mine.apps.platform.test.',
    records: {},
    reason: 'HostnameNotAllowed',
    says: ['Choose another hostname'],
    code: customer,
  },
];

const filled = (text: string): string =>
  text.replaceAll('PROOF', tenant.proof).replaceAll('TARGET', tenant.target).replaceAll('ZONE', tenant.zone);
const hostnameOf = ({hostname}: Situation): string => {
  if (hostname === '@') return tenant.zone;
  return hostname.endsWith('.') ? hostname.slice(0, -1) : tenant.host(hostname);
};

/** As a user runs it. */
const plugin = (...args: string[]): Promise<{code: number; stdout: string}> =>
  new Promise((resolve) => {
    const {bin, kubeconfig} = env();
    const path = `${root}operator/cli:${bin}:${process.env.PATH}`;
    execFile(
      'kubectl',
      ['doorplate', ...args],
      {env: {...process.env, PATH: path, KUBECONFIG: kubeconfig}},
      (error, stdout) => resolve({code: error ? Number(error.code) : 0, stdout}),
    );
  });

beforeAll(async () => {
  [tenant, undeployed] = await Promise.all([Tenant.create('why'), Tenant.create('whynot')]);
  const records = situations.flatMap((situation) => Object.entries(situation.records));
  await tenant.records(Object.fromEntries(records.map(([label, record]) => [label, filled(record)])));
  const [primary, ...sources] = situations.map(hostnameOf);
  await tenant.attach(
    'web',
    primary!,
    sources.map((from) => ({from})),
  );
  await undeployed.onPlan('free');
  await undeployed.attach('web', undeployed.host('www'));
});
afterAll(async () => {
  await Promise.all([tenant?.remove(), undeployed?.remove()]);
});

describe('why', () => {
  test.each(situations)('of what is $reason says so', async (situation) => {
    const hostname = hostnameOf(situation);
    await eventually(`${hostname} is ${situation.reason}`, async () => {
      const host = (await tenant.get('web'))?.status?.hosts?.find((h) => h.hostname === hostname);
      if (host?.reason !== situation.reason) throw new Error(`${host?.reason}: ${host?.message}`);
      return true;
    });
    const {code, stdout} = await plugin('why', hostname, '-n', tenant.namespace);
    expect([code, stdout]).toEqual([
      situation.code,
      expect.stringContaining(`${hostname} (CustomDomain web): ${situation.reason} (`),
    ]);
    for (const said of situation.says) expect(stdout).toContain(filled(said));
  });

  test('of a plan without custom domains says that it must be upgraded', async () => {
    const www = undeployed.host('www');
    await eventually(
      'it is refused',
      async () => (await undeployed.get('web'))?.status?.hosts?.[0]?.reason === 'PlanUpgradeRequired',
    );
    const {code, stdout} = await plugin('why', www, '-n', undeployed.namespace);
    expect([code, stdout]).toEqual([customer, expect.stringContaining('Needed   Upgrade the plan.')]);
  });
});

/** Whether somebody who has only logged in may read a ConfigMap of the platform's. */
const mayRead = (name: string): Promise<string> => {
  const question = ['auth', 'can-i', 'get', `configmap/${name}`, '-n', 'doorplate-system'];
  return kubectl([...question, '--as=somebody', '--as-group=system:authenticated']).catch(
    (error: Error) => error.message,
  );
};

test('whoever has an account in the cluster may read what the chart publishes, and not the rest of the settings', async () => {
  expect(await mayRead('doorplate-public')).toBe('yes\n');
  expect(await mayRead('doorplate-config')).toContain('no');
});
