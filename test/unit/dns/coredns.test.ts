/** The client against a real CoreDNS: one process that serves parent and child zones on two loopback addresses. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {spawn} from 'node:child_process';
import type {ChildProcess} from 'node:child_process';
import {access, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {homedir, tmpdir} from 'node:os';
import {join} from 'node:path';
import {DnsClient} from '../../../operator/dns/client.ts';
import {ask} from '../../../operator/dns/wire.ts';
import {freePort} from '../../support/free-ports.ts';

const BINARY = join(process.env['DOORPLATE_CACHE'] ?? join(homedir(), '.cache', 'doorplate'), 'bin', 'coredns');
const PARENT = '127.0.0.41';
const CHILD = '127.0.0.42';
const DEAD = '127.0.0.43';
const HOST = 'docs-acme-k3v9x2m4q7w1z.apps.platform.test';

const CUSTOMER_ZONE = `$ORIGIN customer.test.
$TTL 120
@     IN SOA ns.customer.test. admin.customer.test. 1 60 60 600 30
@     IN NS ns
ns    IN A ${PARENT}
@     IN A 203.0.113.1
docs  IN CNAME ${HOST}.
UPPER IN CNAME ${HOST.toUpperCase()}.
alias IN CNAME docs
a     IN A 203.0.113.7
six   IN AAAA 2001:db8::7
txt   IN TXT "x"
@     IN CAA 0 issue "ca1.example.net; validationmethods=http-01"
@     IN CAA 128 iodef "mailto:security@example.net"
own   IN CAA 0 issue ";"
to-own IN CNAME own
deep.down IN A 203.0.113.8
*.wild IN CNAME ${HOST}.
child IN NS ns.child
ns.child IN A ${CHILD}
dead  IN NS ns.dead
ns.dead IN A ${DEAD}
half  IN NS ns1.half
half  IN NS ns2.half
ns1.half IN A ${CHILD}
ns2.half IN A ${DEAD}
`;

const childZone = (name: string) => `$ORIGIN ${name}.customer.test.
$TTL 50
@    IN SOA ns.child.customer.test. admin.customer.test. 1 60 60 600 20
@    IN NS ns.child.customer.test.
@    IN A 203.0.113.9
docs IN CNAME ${HOST}.
`;

let coredns: ChildProcess;
let folder: string;
let client: DnsClient;
let port: number;

beforeAll(async () => {
  await access(BINARY).catch(() => {
    throw new Error(`${BINARY} is missing: run \`make tools\``);
  });
  folder = await mkdtemp(join(tmpdir(), 'doorplate-coredns-'));
  port = await freePort();
  await Promise.all([
    writeFile(join(folder, 'db.customer'), CUSTOMER_ZONE),
    writeFile(join(folder, 'db.child'), childZone('child')),
    writeFile(join(folder, 'db.half'), childZone('half')),
    writeFile(
      join(folder, 'Corefile'),
      [
        `customer.test:${port} {\n bind ${PARENT}\n file ${join(folder, 'db.customer')}\n}`,
        `child.customer.test:${port} {\n bind ${CHILD}\n file ${join(folder, 'db.child')}\n}`,
        `half.customer.test:${port} {\n bind ${CHILD}\n file ${join(folder, 'db.half')}\n}`,
      ].join('\n'),
    ),
  ]);
  coredns = spawn(BINARY, ['-conf', join(folder, 'Corefile')], {stdio: 'ignore'});
  const resolver = {address: PARENT, port};
  await answers(resolver);
  await answers({address: CHILD, port});
  client = new DnsClient({
    recursive: [resolver],
    allowPrivateAddresses: true,
    port,
    tryTimeoutMs: 1000,
    totalTimeoutMs: 5000,
  });
});

afterAll(async () => {
  coredns?.kill();
  if (folder) await rm(folder, {recursive: true});
});

describe('Asked with authority, a real server', () => {
  test.each([
    ['docs.customer.test', {exists: true, cname: [HOST], a: [], aaaa: [], chain: [], ttlSeconds: 120}],
    ['UPPER.customer.test.', {exists: true, cname: [HOST], ttlSeconds: 120}],
    ['alias.customer.test', {exists: true, cname: ['docs.customer.test'], chain: [HOST], a: []}],
    ['a.customer.test', {exists: true, cname: [], a: ['203.0.113.7'], aaaa: [], ttlSeconds: 120}],
    ['six.customer.test', {exists: true, cname: [], a: [], aaaa: ['2001:db8::7']}],
    ['customer.test', {exists: true, cname: [], a: ['203.0.113.1']}],
    ['txt.customer.test', {exists: true, cname: [], a: [], aaaa: [], negativeTtlSeconds: 30}],
    ['down.customer.test', {exists: true, cname: [], a: [], aaaa: [], negativeTtlSeconds: 30}],
    ['anything.wild.customer.test', {exists: true, cname: [HOST]}],
    [
      'missing.customer.test',
      {exists: false, cname: [], a: [], aaaa: [], negativeTtlSeconds: 30, ttlSeconds: undefined},
    ],
  ])('says of %s what its zone holds', async (name, expected) => {
    const observed = await client.askAuthoritative(name, 'Host');
    expect(observed).toMatchObject({
      zone: 'customer.test',
      findings: [{server: {address: PARENT, port, name: 'ns.customer.test'}, ...expected}],
    });
    expect(observed.failure).toBeUndefined();
    expect(observed.findings[0]?.failure).toBeUndefined();
  });

  test('leads to the servers of the child zone, at its apex and below', async () => {
    expect(await client.askAuthoritative('docs.child.customer.test', 'Host')).toMatchObject({
      zone: 'child.customer.test',
      findings: [{server: {address: CHILD, name: 'ns.child.customer.test'}, cname: [HOST], ttlSeconds: 50}],
    });
    expect(await client.askAuthoritative('child.customer.test', 'Host')).toMatchObject({
      zone: 'child.customer.test',
      findings: [{cname: [], a: ['203.0.113.9']}],
    });
    expect(await client.askAuthoritative('no.child.customer.test', 'Host')).toMatchObject({
      zone: 'child.customer.test',
      findings: [{exists: false, negativeTtlSeconds: 20}],
    });
  });

  test('leads to a dead server, which is no negative answer', async () => {
    expect(await client.askAuthoritative('docs.dead.customer.test', 'Host')).toMatchObject({
      zone: 'dead.customer.test',
      findings: [{server: {address: DEAD}, exists: undefined, failure: 'Unreachable'}],
      failure: {failure: 'Unreachable', detail: `ns.dead.customer.test (${DEAD}): can't be reached (ECONNREFUSED)`},
    });
  });

  test('is enough beside a dead one', async () => {
    const observed = await client.askAuthoritative('docs.half.customer.test', 'Host');
    expect(observed.failure).toBeUndefined();
    expect(observed.findings.map(({server, failure, cname}) => [server.address, failure ?? cname[0]])).toEqual([
      [CHILD, HOST],
      [DEAD, 'Unreachable'],
    ]);
  });

  test('that does not serve the name refuses', async () => {
    expect(await client.askAuthoritative('docs.elsewhere.test', 'Host')).toMatchObject({
      findings: [],
      failure: {failure: 'Refused'},
    });
  });
});

test('Asked as a resolver, it follows the chain within its zones', async () => {
  expect(await client.askRecursive('alias.customer.test', 'Host')).toMatchObject({
    findings: [{cname: ['docs.customer.test'], chain: [HOST]}],
  });
  expect(await client.askRecursive('missing.customer.test', 'Host')).toMatchObject({
    findings: [{exists: false, negativeTtlSeconds: 30}],
  });
  expect(await client.askRecursive('docs.child.customer.test', 'Host')).toMatchObject({
    findings: [{failure: 'Other', detail: 'answered with a referral, because it does not resolve names recursively'}],
  });
});

async function answers(server: {address: string; port: number}): Promise<void> {
  const endsAt = performance.now() + 60_000;
  for (;;) {
    const reply = await ask(
      server,
      {name: 'child.customer.test', type: 'SOA'},
      {recursionDesired: false, timeoutMs: 500},
    );
    if (reply.kind === 'Answer') return;
    if (performance.now() > endsAt || coredns.exitCode !== null)
      throw new Error(`CoreDNS does not answer on ${server.address}: ${reply.detail}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/** A zone's records come in any order. */
async function sorted(name: string) {
  const seen = await client.askCaa(name);
  return {...seen, records: seen.records?.toSorted((a, b) => a.flags - b.flags)};
}

describe('CAA records', () => {
  const zone = [
    {flags: 0, tag: 'issue', value: 'ca1.example.net; validationmethods=http-01'},
    {flags: 128, tag: 'iodef', value: 'mailto:security@example.net'},
  ];
  test('are found by climbing from the name to its zone', async () => {
    expect(await sorted('deep.down.customer.test')).toEqual({
      of: 'customer.test',
      foundAt: 'customer.test',
      records: zone,
    });
    expect(await sorted('missing.customer.test')).toEqual({
      of: 'customer.test',
      foundAt: 'customer.test',
      records: zone,
    });
  });

  test('at the name itself count before those above it, also at the end of a CNAME', async () => {
    expect(await client.askCaa('own.customer.test')).toEqual({
      of: 'own.customer.test',
      foundAt: 'own.customer.test',
      records: [{flags: 0, tag: 'issue', value: ';'}],
    });
    expect(await client.askCaa('to-own.customer.test')).toEqual({
      of: 'to-own.customer.test',
      foundAt: 'own.customer.test',
      records: [{flags: 0, tag: 'issue', value: ';'}],
    });
  });

  test('that a server refuses to tell are a failure, never "there are none"', async () => {
    expect(await client.askCaa('docs.elsewhere.test')).toMatchObject({
      failure: {name: 'docs.elsewhere.test', failure: 'Refused'},
    });
  });
});
