/**
 * `kubectl doorplate check` says what the operator then decides: each situation is checked, then applied, and both must say the
 * same. The check has the platform's rights here; what a tenant's own rights let it say is in test/crds/cli.test.ts.
 */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import type {Answer} from 'dns-packet';
import {stringify} from 'yaml';
import type {HostStatus} from '../../operator/api/custom-domain.ts';
import {accounts, customDomains, domainClaims} from '../../operator/resources/resources.ts';
import {challengeName} from '../../operator/domain/verification/records.ts';
import {timestamp} from '../../operator/domain/times.ts';
import {record} from '../unit/dns/fake-servers.ts';
import {type Ended, kubectlDoorplate} from '../support/cli.ts';
import {Customer} from '../support/customer.ts';
import {configMaps, eventually} from '../support/kube-api.ts';
import {FaultProxy} from '../support/kube-proxy.ts';
import {RunningOperator, settingsFor} from '../support/operator.ts';
import {home, Platform, type PlanName, zone} from '../support/platform.ts';

let platform: Platform;
let operator: RunningOperator;
/** Between the plugin and the API server: it tells what was asked. */
let asked: FaultProxy;
beforeAll(async () => {
  platform = await Platform.start();
  operator = await RunningOperator.start(platform);
  asked = new FaultProxy(platform.server.credentials);
  await asked.listen();
  await platform.client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {name: 'doorplate-public', namespace: home},
    data: {'config.yaml': JSON.stringify(settingsFor(platform))},
  });
});
afterAll(async () => {
  await operator?.stop();
  await asked?.close();
  await platform?.stop();
});

interface Host {
  hostname: string;
  clear: boolean;
  phase: string;
  reason: string;
  waitingFor: string;
  servedUntil?: string;
  records: {type: string; value: string}[];
  next?: Host;
}

const cli = ({namespace}: Customer, argv: string[], stdin = '') =>
  kubectlDoorplate({credentials: asked.credentials, namespace}, argv, {read: async () => stdin});

const hostsIn = ({out, told}: Ended): Host[] => {
  if (out === '') throw new Error(told);
  return (JSON.parse(out) as {hosts: Host[]}).hosts;
};

/** What a pull request would have. */
const manifestOf = (
  customer: Customer,
  {name = 'web', project = 'web', hostnames: [primary = '', ...sources]}: Wanted,
) => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'CustomDomain',
  metadata: {name, namespace: customer.namespace},
  spec: {projectRef: {name: project}, primary, redirects: sources.map((from) => ({from, status: 301 as const}))},
});

const saying = (h: Host): string => (h.clear ? 'Live' : `${h.phase} ${h.reason}`);

const read = (hosts: readonly Host[]): Record<string, string> =>
  Object.fromEntries(hosts.map((h) => [h.hostname, saying(h)]));

/** What the operator says of the same hostnames. */
const decided = async (customer: Customer, name = 'web'): Promise<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(await customer.hosts(name)).map(([hostname, said]) => [
      hostname,
      said.startsWith('Live ') ? 'Live' : said,
    ]),
  );

const edge = (name: string, type: 'A' | 'AAAA' = 'A'): Answer =>
  record(name, type, type === 'A' ? '127.0.0.1' : '2001:db8::7');
const other = (name: string): Answer => record(name, 'A', '203.0.113.7');
const txt = (hostname: string, value: string): Answer => ({
  name: challengeName(hostname),
  type: 'TXT',
  ttl: 60,
  data: [value],
});

/** The TXT record that proves a hostname to be a customer's, as the check itself names it. */
async function token(customer: Customer, hostname: string): Promise<string> {
  const [host] = hostsIn(await cli(customer, ['check', hostname, '--project', 'web', '-o', 'json']));
  return host?.records.find(({type}) => type === 'TXT')?.value ?? '';
}

/** Gives an apex the edge's address and these TXT records. */
function setApex(hostname: string, ...tokens: string[]): void {
  platform.dns.set(hostname, edge(hostname));
  platform.dns.set(challengeName(hostname), ...tokens.map((value) => txt(hostname, value)));
}

const set = (hostname: string, ...records: Answer[]) => platform.dns.set(hostname, ...records);

interface Wanted {
  /** Of the CustomDomain. */
  name?: string;
  project?: string;
  /** The primary first. */
  hostnames: string[];
}

interface Situation {
  plan?: PlanName;
  /** The Project `web` has a Service and no endpoint yet. */
  undeployed?: true;
  /** What is there before the check; gives what is wanted. */
  arrange: (customer: Customer) => Promise<string[] | Wanted> | string[] | Wanted;
  /** What is said of each hostname, in their order. */
  says: string[];
  /** For so long the operator waits for an answer. */
  atLeastMs?: number;
}

/** One hostname of the customer's, and its records. */
const www = (arrange: (name: string, customer: Customer) => void | Promise<void>) => async (customer: Customer) => {
  await arrange(customer.host('www'), customer);
  return [customer.host('www')];
};
const apex = (arrange: (name: string, customer: Customer) => void | Promise<void>) => async (customer: Customer) => {
  await arrange(customer.zone, customer);
  return [customer.zone];
};

/** Another customer's hostname is attached and Live, by a TXT record at its apex. */
async function heldByAnother(): Promise<{holder: Customer; hostname: string; token: string}> {
  const holder = await Customer.deployed(platform);
  const hostname = holder.zone;
  const proof = await token(holder, hostname);
  setApex(hostname, proof);
  await holder.attach('web', hostname);
  await eventually(async () => (await decided(holder))[hostname] === 'Live');
  return {holder, hostname, token: proof};
}

const situations: Record<string, Situation> = {
  'its CNAME names the host': {arrange: www((name, c) => c.point([name])), says: ['Live']},
  'it redirects, and both have their CNAME': {
    arrange: async (c) => {
      await c.point([c.host('www'), c.host('old')]);
      return [c.host('www'), c.host('old')];
    },
    says: ['Live', 'Live'],
  },
  'it has no record': {arrange: www(() => {}), says: ['AwaitingVerification RecordMissing']},
  'one has its record and the other has none': {
    arrange: async (c) => {
      await c.point([c.host('www')]);
      return [c.host('www'), c.host('old')];
    },
    says: ['Live', 'AwaitingVerification RecordMissing'],
  },
  'its CNAME names something else': {
    arrange: www((name) => platform.dns.point(name, 'elsewhere.example')),
    says: ['AwaitingVerification TargetMismatch'],
  },
  'it has an address of somewhere else': {
    arrange: www((name) => set(name, other(name))),
    says: ['AwaitingVerification ConflictingRecord'],
  },
  "it has the edge's address": {
    arrange: www((name) => set(name, edge(name))),
    says: ['AwaitingVerification ProxiedOrFlattened'],
  },
  'it is behind a CDN': {
    arrange: www((name) => set(name, record(name, 'A', '104.16.132.229'))),
    says: ['AwaitingVerification BehindCDN'],
  },
  'an apex has nothing': {arrange: apex(() => {}), says: ['AwaitingVerification RecordMissing']},
  "an apex has the edge's address and no TXT": {
    arrange: apex((name) => setApex(name)),
    says: ['AwaitingVerification TXTMissing'],
  },
  'an apex has a TXT of another value': {
    arrange: apex((name) => setApex(name, 'of-yesterday')),
    says: ['AwaitingVerification TXTMismatch'],
  },
  'an apex has both as they were foreseen': {
    arrange: apex(async (name, c) => setApex(name, await token(c, name))),
    says: ['Live'],
  },
  'an apex has an A record of somewhere else': {
    arrange: apex((name) => set(name, edge(name), other(name))),
    says: ['AwaitingVerification ConflictingA'],
  },
  'an apex has an AAAA record of somewhere else': {
    arrange: apex((name) => set(name, edge(name), edge(name, 'AAAA'))),
    says: ['AwaitingVerification ConflictingAAAA'],
  },
  'resolvers do not see the record yet': {
    arrange: www(async (name, c) => {
      await c.point([name]);
      platform.dns.lag(name, true);
    }),
    says: ['AwaitingVerification PropagationPending'],
  },
  'CAA records allow another certificate authority': {
    arrange: www(async (name, c) => {
      await c.point([name]);
      platform.dns.forbid(name);
    }),
    says: ['Verified CAABlocksIssuer'],
  },
  'the plan has no custom domains': {
    plan: 'free',
    arrange: www((name, c) => c.point([name])),
    says: ['NotAccepted PlanUpgradeRequired'],
  },
  'the plan has room for one': {
    plan: 'single',
    arrange: async (c) => {
      await c.point([c.host('www'), c.host('old')]);
      return [c.host('www'), c.host('old')];
    },
    says: ['Live', 'NotAccepted HostnameLimitReached'],
  },
  'its Account is on a plan that is gone': {
    arrange: www(async (_, c) => {
      await platform.client.patch(accounts, c.namespace, {spec: {planRef: {name: 'gone'}}}, {type: 'merge'});
    }),
    says: ['NotAccepted PlanNotFound'],
  },
  "it stands in the platform's zone": {
    arrange: () => [`mine.${zone}`],
    says: ['NotAccepted HostnameNotAllowed'],
  },
  'it is a public suffix': {arrange: () => ['co.uk'], says: ['NotAccepted HostnameNotAllowed']},
  'one is the other in another spelling': {
    arrange: async (c) => {
      const twin = c.host('xn--bcher-kva');
      await c.point([twin]);
      return [twin, c.host('bücher')];
    },
    says: ['Live', 'NotAccepted DuplicateHostname'],
  },
  'its zone does not answer': {
    arrange: www((name) => platform.dns.silence(name, true)),
    says: ['AwaitingVerification AuthoritativeUnreachable'],
    atLeastMs: 20_000,
  },
  'its Project has never been deployed': {
    undeployed: true,
    arrange: www(() => {}),
    says: ['NotAccepted NoSuccessfulDeploy'],
  },
  'there is no such Project': {
    arrange: (c) => ({project: 'none', hostnames: [c.host('www')]}),
    says: ['NotAccepted ProjectNotFound'],
  },
  'its Project has another CustomDomain already': {
    arrange: async (c) => {
      await c.attach('first', c.host('first'));
      // Of two of one second the name decides.
      return {name: 'second', hostnames: [c.host('www')]};
    },
    says: ['NotAccepted ProjectHasDomains'],
  },
  'another CustomDomain of the account has another primary now': {
    arrange: async (c) => {
      setApex(c.zone, await token(c, c.zone));
      await c.attach('web', c.zone);
      await eventually(async () => (await decided(c))[c.zone] === 'Live');
      await c.deploy('other');
      await eventually(async () => (await c.project('other'))?.status?.firstDeployTime !== undefined);
      await c.change(customDomains, 'web', {spec: {primary: c.host('www')}});
      return {name: 'second', project: 'other', hostnames: [c.zone]};
    },
    says: ['Live'],
  },
  'another has it, and both are proven': {
    arrange: async (c) => {
      const {hostname, token: theirs} = await heldByAnother();
      setApex(hostname, theirs, await token(c, hostname));
      return [hostname];
    },
    says: ['AwaitingVerification HostnameClaimed'],
  },
  'another has it, and its records name this one now': {
    arrange: async (c) => {
      const {hostname} = await heldByAnother();
      setApex(hostname, await token(c, hostname));
      return [hostname];
    },
    says: ['Live'],
  },
  'another has it, and nothing is proven here': {
    arrange: async () => [(await heldByAnother()).hostname],
    says: ['AwaitingVerification TXTMismatch'],
  },
  'another has removed it, and it has a new token': {
    arrange: async (c) => {
      const {holder, hostname} = await heldByAnother();
      await holder.remove(customDomains, 'web');
      await eventually(async () => (await holder.holder(hostname)) === 'nobody');
      setApex(hostname, await token(c, hostname));
      return [hostname];
    },
    says: ['Live'],
  },
  'the platform has given it to another Account': {
    arrange: www(async (name, c) => {
      await c.point([name]);
      await platform.client.create(domainClaims, {
        apiVersion: 'doorplate.dev/v1alpha1',
        kind: 'DomainClaim',
        metadata: {name},
        spec: {tenant: {account: 'somebody'}, proof: 'Platform'},
      });
    }),
    says: ['AwaitingVerification HostnameClaimed'],
  },
};

async function customerOf({plan, undeployed}: Situation): Promise<Customer> {
  if (!undeployed) return Customer.deployed(platform, plan);
  const customer = await Customer.create(platform, plan);
  await customer.service('web');
  await customer.publish('web');
  await customer.target();
  return customer;
}

describe('What is foreseen is what the operator then decides, and nothing was written, where', () => {
  test.each(Object.entries(situations))('%s', async (_, situation) => {
    const customer = await customerOf(situation);
    const arranged = await situation.arrange(customer);
    const wanted = Array.isArray(arranged) ? {hostnames: arranged} : arranged;
    const manifest = manifestOf(customer, wanted);

    asked.seen.length = 0;
    const hosts = hostsIn(await cli(customer, ['check', '-f', '-', '-o', 'json'], stringify(manifest)));
    expect([...new Set(asked.seen.map(({method}) => method))]).toEqual(['GET']);
    expect(hosts.map(saying).toSorted()).toEqual(situation.says.toSorted());

    await platform.client.create(customDomains, manifest);
    const {atLeastMs} = situation;
    const then = await operator.comesTo(() => decided(customer, manifest.metadata.name), read(hosts), {atLeastMs});
    expect(then).toEqual(read(hosts));
  });
});

/** What is said of the hostname `www` when the CustomDomain that stands is checked, and what the command ends with. */
async function checkedAgain(customer: Customer) {
  const manifest = manifestOf(customer, {hostnames: [customer.host('www')]});
  const ended = await cli(customer, ['check', '-f', '-', '-o', 'json'], stringify(manifest));
  const [{clear, phase, reason, servedUntil} = {} as Partial<Host>] = hostsIn(ended);
  return {code: ended.code, clear, says: `${phase} ${reason}`, servedUntil};
}

/** What status says of `www`, when it says that. */
async function statusOf(customer: Customer, says: string): Promise<HostStatus> {
  return (await eventually(async () => {
    const [host] = (await customer.domain('web'))?.status?.hosts ?? [];
    return host && `${host.phase} ${host.reason}` === says && host;
  })) as HostStatus;
}

describe('Of what is Live a check says', () => {
  test('nothing, while nothing speaks against it', async () => {
    const customer = await Customer.served(platform);
    expect(await checkedAgain(customer)).toEqual({code: 0, clear: true, says: 'Live Serving', servedUntil: undefined});
  });

  test('that the plan has no custom domains any more, and until when it is served', async () => {
    const customer = await Customer.served(platform);
    await platform.client.patch(accounts, customer.namespace, {spec: {planRef: {name: 'free'}}}, {type: 'merge'});
    const says = 'Live PlanUpgradeRequired';
    const {servedUntil} = await statusOf(customer, says);
    expect(servedUntil).toBeDefined();
    expect(await checkedAgain(customer)).toEqual({code: 4, clear: false, says, servedUntil});
  });

  test('that its record is gone, before that is confirmed and after, and until when it is served', async () => {
    const customer = await Customer.served(platform);
    const hostname = customer.host('www');
    platform.dns.point(hostname, undefined);
    const says = 'Live DNSDrifted';
    expect(await checkedAgain(customer)).toMatchObject({code: 4, clear: false, says});

    await cli(customer, ['verify', 'web']);
    await eventually(
      async () => (await platform.client.get(domainClaims, hostname))?.status?.negativeSince !== undefined || false,
    );
    const [negativeSince, negativeAt] = [2, 1].map((hours) => timestamp(Date.now() - hours * 3_600_000));
    const status = {negativeSince, negativeAt, negatives: 1};
    await platform.client.patch(domainClaims, hostname, {status}, {type: 'merge'});
    const {servedUntil} = await statusOf(customer, says);
    expect(servedUntil).toBeDefined();
    expect(await checkedAgain(customer)).toEqual({code: 4, clear: false, says, servedUntil});
  });
});

describe('Before a Project is there', () => {
  const project = {
    apiVersion: 'doorplate.dev/v1alpha1',
    kind: 'Project',
    metadata: {name: 'web'},
    spec: {serviceRef: {name: 'web', port: 80}},
  };

  test('its records are foreseen, so that they can be made first', async () => {
    const customer = await Customer.create(platform);
    const manifest = manifestOf(customer, {hostnames: [customer.host('www')]});
    const files = [project, manifest].map((object) => stringify(object)).join('---\n');
    const {out} = await cli(customer, ['check', '-f', '-', '-o', 'json'], files);
    const {hosts, notChecked} = JSON.parse(out) as {hosts: Host[]; notChecked: string[]};
    expect([read(hosts), notChecked]).toEqual([
      {[customer.host('www')]: 'AwaitingVerification RecordMissing'},
      ['whether the Project web is deployed, because it does not exist yet'],
    ]);
    const [foreseenRecord] = hosts[0]!.records;

    await customer.deploy('web');
    await platform.client.create(customDomains, manifest);
    const {records} = (await eventually(async () => {
      const found = (await customer.domain('web'))?.status?.dnsRecords;
      return found?.length ? {records: found} : false;
    })) as {records: {type: string; value: string}[]};
    expect(records[0]).toMatchObject({type: foreseenRecord?.type, value: foreseenRecord?.value});
  });
});

describe('What refuses a hostname is told with what comes after it', () => {
  test('the plan first, then the record', async () => {
    const customer = await Customer.deployed(platform, 'free');
    const {code, out} = await cli(customer, ['check', customer.host('www')]);
    expect(code).toBe(4);
    expect(out).toMatch(/^HOSTNAME +ROLE +WOULD-BE +REASON +WAITING-FOR\n/);
    expect(out).toMatch(/PlanUpgradeRequired[^]*Upgrade the plan[^]*Then\n[^]*RecordMissing[^]*CNAME www -> web-/);
  });
});

describe('The exit code', () => {
  test.each<[string, number, (name: string, customer: Customer) => void | Promise<void>]>([
    ['is 0 where all would be Live', 0, (name, c) => c.point([name])],
    ['is 4 where the customer must act', 4, () => {}],
    [
      'is 3 where a wait is enough',
      3,
      async (name, c) => {
        await c.point([name]);
        platform.dns.lag(name, true);
      },
    ],
    [
      'is 5 where the platform must act',
      5,
      async (name, c) => {
        await c.point([name]);
        await platform.client.patch(accounts, c.namespace, {spec: {planRef: {name: 'gone'}}}, {type: 'merge'});
      },
    ],
  ])('%s', async (_, code, arrange) => {
    const customer = await Customer.deployed(platform);
    await arrange(customer.host('www'), customer);
    expect(await cli(customer, ['check', customer.host('www')])).toMatchObject({code});
  });
});
