/**
 * Whole checks against real servers: NSD for the zones (coredns.test.ts: CoreDNS), three unbounds as the recursive resolvers, two of
 * which validate. A fake replaces only a server that lies, and is named as one.
 */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import type {CheckOptions} from '../../operator/controllers/probes/dns-check.ts';
import {check as checkName} from '../../operator/controllers/probes/dns-check.ts';
import {DnsClient} from '../../operator/dns/client.ts';
import {ask} from '../../operator/dns/wire.ts';
import {judgeCaa} from '../../operator/domain/certificates/caa.ts';
import {decide} from '../../operator/domain/lifecycle.ts';
import {messageAt} from '../../operator/domain/verification/message.ts';
import {denies} from '../../operator/domain/verification/method.ts';
import type {Verdict} from '../../operator/domain/verification/method.ts';
import type {Question} from '../../operator/domain/verification/records.ts';
import {withIssuer, later, served, settled, t0, world} from '../support/world.ts';
import {fakeServer, record, reply, soa} from '../unit/dns/fake-servers.ts';
import type {FakeServer} from '../unit/dns/fake-servers.ts';
import {type ResolverInput, Servers} from './servers.ts';

const [first, second, six, nobody] = ['127.0.0.51', '127.0.0.52', '::1', '127.0.0.59'];
const resolvers = [
  {address: '127.0.0.61', validates: true},
  {address: '127.0.0.62', validates: true},
  {address: '127.0.0.63', validates: false},
];
const authoritative = process.env['DOORPLATE_TEST_DNS'] === 'CoreDNS' ? 'CoreDNS' : 'NSD';
const target = 'docs-acme-k3v9x2m4q7w1z.apps.platform.test';
const token = 'k3v9x2m4q7w1zk3v9x2m4q7w1z';
const cdn = {name: 'Example CDN', networks: ['198.51.100.128/25', '2001:db8:cd::/48'], hosts: ['cdn.example']};
const cname = `docs IN CNAME ${target}.`;
const ns1 = '@ IN NS ns1.test.';
const ns2 = '@ IN NS ns2.test.';

/** RFC 8659, 4: who may issue for the name itself and for what is below it; `*`: anybody. */
const examples: Record<string, {records: string[]; for: string[]}> = {
  certs: {
    records: ['0 issue "ca1.example.net"', '0 issue "ca2.example.org"'],
    for: ['ca1.example.net', 'ca2.example.org'],
  },
  nocerts: {records: ['0 issue ";"'], for: []},
  both: {records: ['0 issue ";"', '0 issue "ca1.example.net"'], for: ['ca1.example.net']},
  malformed: {records: ['0 issue "%%%%%"'], for: []},
  account: {records: ['0 issue "ca1.example.net; account=230123"'], for: ['ca1.example.net']},
  wild: {records: ['0 issue "ca1.example.net"', '0 issuewild "ca2.example.org"'], for: ['ca1.example.net']},
  wild2: {records: ['0 issue "ca1.example.net"'], for: ['ca1.example.net']},
  wild3: {records: ['0 issuewild "ca2.example.org"', '0 issue ";"'], for: []},
  wild4: {records: ['0 issuewild "ca2.example.org"'], for: ['ca1.example.net', 'ca2.example.org', 'ca3.example.com']},
  report: {
    records: [
      '0 issue "ca1.example.net"',
      '0 iodef "mailto:security@example.com"',
      '0 iodef "https://iodef.example.com/"',
    ],
    for: ['ca1.example.net'],
  },
  new: {records: ['0 issue "ca1.example.net"', '128 tbs "Unknown"'], for: []},
};

const zones = {
  test: {
    at: [first],
    signed: 'Well' as const,
    records: [
      ns1,
      `ns1 IN A ${first}`,
      `ns2 IN A ${second}`,
      `ns6 IN AAAA ${six}`,
      `nobody IN A ${nobody}`,
      ...[
        'customer',
        'shop.customer',
        'apex',
        'apex4',
        'apex6',
        'notxt',
        'attheapex',
        'othertxt',
        'formerhttps',
        'ourhttps',
        'aliashttps',
        'wwwhttps',
        'xn--bcher-kva',
        'platform',
        'signed',
        'broken',
        'expired',
        'brief',
        'caa',
        'blocked',
        'split',
        'rfc8659',
        'climb',
        'white',
        'black',
      ].map((zone) => `${zone} IN NS ns1`),
      'split IN NS ns2',
      'six IN NS ns6',
      'lame IN NS ns2',
      'recursor IN A 127.0.0.61',
      'resolved IN NS recursor',
      'dead IN NS nobody',
      'half IN NS nobody',
      'half IN NS ns1',
      'lying IN NS ns1',
      'lying IN NS ns3',
      'ns3 IN A 127.0.0.53',
    ],
  },
  'platform.test': {at: [first], records: [ns1, '*.apps IN A 203.0.113.1', '*.apps IN AAAA 2001:db8::1']},
  'customer.test': {
    at: [first],
    records: [
      ns1,
      cname,
      'elsewhere IN CNAME www.example.net.',
      `appended IN CNAME ${target}`,
      `twice.customer.test IN CNAME ${target}.`,
      'strange.customer.test IN CNAME www.example.net.',
      'flattwice IN A 203.0.113.2',
      `_doorplate-challenge.flattwice.customer.test IN TXT "${token}"`,
      'flatquoted IN A 203.0.113.2',
      `_doorplate-challenge.flatquoted IN TXT "\\"${token}\\""`,
      `detour IN CNAME docs`,
      'old IN A 198.51.100.7',
      'old6 IN AAAA 2001:db8:bad::7',
      'flat IN A 203.0.113.1',
      'flat IN AAAA 2001:db8::5',
      'flatproven IN A 203.0.113.2',
      `_doorplate-challenge.flatproven IN TXT "${token}"`,
      'flatwrong IN A 203.0.113.2',
      '_doorplate-challenge.flatwrong IN TXT "something" "else"',
      '*.wild IN A 198.51.100.9',
      'own.wild IN A 198.51.100.9',
      'above IN A 198.51.100.9',
      '*.above IN A 198.51.100.9',
      '*.wildcname IN CNAME www.example.net.',
      `*.wildours IN CNAME ${target}.`,
      '*.wildedge IN A 203.0.113.1',
      'cdn IN A 198.51.100.129',
      'cdn IN AAAA 2001:db8:cd::1',
      'cdncname IN CNAME customer.cdn.example.',
      'cdnproven IN A 198.51.100.130',
      `_doorplate-challenge.cdnproven IN TXT "${token}"`,
      'cdncnameproven IN CNAME customer.cdn.example.',
      `_doorplate-challenge.cdncnameproven IN TXT "${token}"`,
      'cdnwrong IN A 198.51.100.129',
      '_doorplate-challenge.cdnwrong IN TXT "theirs"',
      '*.wildcdn IN A 198.51.100.129',
      '*.wildspf IN A 203.0.113.1',
      '*.wildspf IN TXT "v=spf1 -all"',
      'mail IN MX 10 mx.example.net.',
      'mail IN TXT "v=spf1 -all"',
      'mailold IN MX 10 mx.example.net.',
      'mailold IN A 198.51.100.7',
      'mailours IN MX 10 mx.example.net.',
      'mailours IN A 203.0.113.2',
      'mailproven IN MX 10 mx.example.net.',
      'mailproven IN A 203.0.113.2',
      `_doorplate-challenge.mailproven IN TXT "${token}"`,
      '*.wildmail IN MX 10 mx.example.net.',
      'https IN TYPE65 \\# 3 000100',
      'below.empty IN A 198.51.100.9',
      'tree IN DNAME elsewhere.example.',
      'tree IN A 203.0.113.2',
      'mixed IN A 203.0.113.1',
      'mixed IN A 198.51.100.7',
      'loop IN CNAME loop2',
      'loop2 IN CNAME loop',
      'shop IN NS ns1.test.',
      ...Array.from({length: 20}, (_, i) => `hop${i} IN CNAME hop${i + 1}`),
      `hop20 IN CNAME ${target}.`,
    ],
  },
  // Names below lead to the platform, or elsewhere.
  'white.test': {at: [first], records: [ns1, '@ IN DNAME apps.platform.test.']},
  'black.test': {at: [first], records: [ns1, '@ IN DNAME example.net.']},
  'shop.customer.test': {at: [first], records: [ns1, '@ IN A 203.0.113.3', `_doorplate-challenge IN TXT "${token}"`]},
  'apex.test': {
    at: [first],
    records: [
      ns1,
      '@ IN A 203.0.113.4',
      '@ IN A 203.0.113.5',
      '@ IN AAAA 2001:db8::7',
      '_doorplate-challenge IN TXT "unrelated"',
      `_doorplate-challenge IN TXT "${token.slice(0, 9)}" "${token.slice(9)}"`,
    ],
  },
  'apex4.test': {at: [first], records: [ns1, '@ IN A 198.51.100.7', `_doorplate-challenge IN TXT "${token}"`]},
  'apex6.test': {
    at: [first],
    records: [ns1, '@ IN A 203.0.113.4', '@ IN AAAA 2001:db8:bad::1', `_doorplate-challenge IN TXT "${token}"`],
  },
  'notxt.test': {at: [first], records: [ns1, '@ IN A 203.0.113.4', 'empty IN A 203.0.113.4']},
  'attheapex.test': {at: [first], records: [ns1, '@ IN A 203.0.113.4', `@ IN TXT "${token}"`]},
  // 1 . ipv4hint=198.51.100.7
  'formerhttps.test': {
    at: [first],
    records: [
      ns1,
      '@ IN A 203.0.113.4',
      '@ IN TYPE65 \\# 11 0001 00 0004 0004 C6336407',
      `_doorplate-challenge IN TXT "${token}"`,
    ],
  },
  // 1 . alpn=h2 ipv4hint=203.0.113.4; a server of the platform's address.
  'ourhttps.test': {
    at: [first],
    records: [
      ns1,
      '@ IN A 203.0.113.4',
      '@ IN TYPE65 \\# 18 0001 00 0001 0003 026832 0004 0004 CB007104',
      `_doorplate-challenge IN TXT "${token}"`,
    ],
  },
  // 0 old.customer.test, which has the address of another host
  'aliashttps.test': {
    at: [first],
    records: [
      ns1,
      '@ IN A 203.0.113.4',
      '@ IN TYPE65 \\# 21 0000 036F6C64 08637573746F6D6572 0474657374 00',
      `_doorplate-challenge IN TXT "${token}"`,
    ],
  },
  // 0 www.wwwhttps.test, a CNAME to the project's host
  'wwwhttps.test': {
    at: [first],
    records: [
      ns1,
      '@ IN A 203.0.113.4',
      `www IN CNAME ${target}.`,
      '@ IN TYPE65 \\# 21 0000 03777777 087777776874747073 0474657374 00',
      `_doorplate-challenge IN TXT "${token}"`,
    ],
  },
  'othertxt.test': {at: [first], records: [ns1, '@ IN A 203.0.113.4', '_doorplate-challenge IN TXT "zzz"']},
  'xn--bcher-kva.test': {at: [first], records: [ns1, cname]},
  'split.test@127.0.0.51': {at: [first], records: [ns1, ns2, cname]},
  'split.test@127.0.0.52': {at: [second], records: [ns1, ns2, 'else IN A 192.0.2.1']},
  'resolved.test': {at: [first], records: ['@ IN NS recursor.test.', cname]},
  'six.test': {
    at: [six],
    records: ['@ IN NS ns6.test.', cname, 'only IN AAAA 2001:db8::9', `_doorplate-challenge.only IN TXT "${token}"`],
  },
  'half.test': {at: [first], records: ['@ IN NS nobody.test.', ns1, cname]},
  'signed.test': {at: [first], signed: 'Well' as const, records: [ns1, cname, '@ IN CAA 0 issue "ca1.example.net"']},
  'broken.test': {
    at: [first],
    signed: 'BrokenDs' as const,
    records: [ns1, cname, '@ IN A 203.0.113.4', `_doorplate-challenge IN TXT "${token}"`],
  },
  'expired.test': {at: [first], signed: 'Expired' as const, records: [ns1, cname]},
  'brief.test': {at: [first], ttlSeconds: 6, records: [ns1, 'docs IN A 198.51.100.7']},
  'caa.test': {at: [first], records: [ns1, cname, '@ IN CAA 0 issue "ca1.example.net"']},
  'blocked.test': {at: [first], records: [ns1, cname, '@ IN CAA 0 issue "ca2.example.org"']},
  // The examples of RFC 8659, 4.2 to 4.5, and of 3: each name's records, and a name below it without any.
  'rfc8659.test': {
    at: [first],
    records: [
      ns1,
      ...Object.entries(examples).flatMap(([name, {records}]) => records.map((caa) => `${name} IN CAA ${caa}`)),
      ...Object.keys(examples).map((name) => `sub.${name} IN A 192.0.2.1`),
    ],
  },
  // 3: the CNAME of X is followed for X alone; the climb goes on from X, not from where it leads.
  'climb.test': {
    at: [first],
    records: [
      ns1,
      '@ IN CAA 0 issue "ca1.example.net"',
      'x IN CNAME a.target',
      'target IN CAA 0 issue "ca2.example.org"',
      'a.target IN A 192.0.2.1',
      'y IN CNAME own',
      'own IN CAA 0 issue "ca2.example.org"',
      'twice IN CNAME y',
      'tree IN DNAME planted',
      'leaf.planted IN CAA 0 issue "ca2.example.org"',
    ],
  },
  'lying.test': {at: [first], records: [ns1, '@ IN NS ns3.test.', cname]},
};

let servers: Servers;
let options: CheckOptions;
const fakes: FakeServer[] = [];

beforeAll(async () => {
  servers = await Servers.start(zones, 'test', resolvers, authoritative);
  options = {
    dns: client(resolvers.map(({address}) => address)),
    rules: {edgeAddresses: ['203.0.113.0/28', '2001:db8::/64'], addressOnly: false, cdns: [cdn]},
    mode: 'Authoritative',
    cas: () => [{issuer: 'acme', identities: ['ca1.example.net'], zone: 'platform.test'}],
  };
}); // The packages may have to be installed first.
afterAll(async () => {
  await servers?.stop();
  await Promise.all(fakes.map((fake) => fake.close()));
});

const client = (recursive: string[], opts: {totalTimeoutMs?: number} = {}) =>
  new DnsClient({
    recursive: recursive.map((address) => servers.at(address)),
    allowPrivateAddresses: true,
    port: servers.port,
    tryTimeoutMs: 800,
    tries: 2,
    totalTimeoutMs: 5000,
    ...opts,
  });
/** What checks have come to in this file. */
const given = new Set<string>();
async function check(...args: Parameters<typeof checkName>): Promise<Verdict> {
  const verdict = await checkName(...args);
  given.add(ends(verdict));
  return verdict;
}
const asked = (address: string, name: string, type: 'A' | 'CNAME' = 'CNAME') =>
  ask(servers.at(address), {name, type}, {recursionDesired: true, timeoutMs: 2000});
const about = (hostname: string): Question => ({hostname, target, token});
const ends = (verdict: Verdict) => (verdict.kind === 'Proven' ? `by ${verdict.by}` : verdict.reason);
const messageOf = (verdict: Verdict) => (verdict.kind === 'Proven' ? '' : verdict.message);
const create = (name: string, zone = 'customer.test') => `CNAME ${name} -> ${target} (TTL 3600) in the zone ${zone}`;

/** A CNAME for every name below made.test. */
const made = ({name, type}: {name: string; type: string}) =>
  type === 'CNAME' && name.endsWith('.made.test')
    ? [record(name, 'CNAME', `${name.split('.')[0]}.apps.platform.test`)]
    : [];

describe('A check of', () => {
  test.each<[string, string, object]>([
    ['a CNAME to the host', 'docs.customer.test', {kind: 'Proven', by: 'CNAME', apex: false}],
    ['a CNAME to the host, by a wildcard', 'any.wildours.customer.test', {kind: 'Proven', by: 'CNAME'}],
    ['a CNAME to the host, in an internationalised zone', 'docs.xn--bcher-kva.test', {kind: 'Proven', by: 'CNAME'}],
    [
      'a CNAME to the host, in a zone whose name servers have IPv6 only',
      'docs.six.test',
      {kind: 'Proven', by: 'CNAME'},
    ],
    ['a CNAME to the host, in a zone that is signed well', 'docs.signed.test', {kind: 'Proven', by: 'CNAME'}],
    ['a CNAME to the host, where one of two servers is dead', 'docs.half.test', {kind: 'Proven', by: 'CNAME'}],
    ['a flattened name with the TXT', 'flatproven.customer.test', {kind: 'Proven', by: 'TXT', apex: false}],
    ['an IPv6-only name with the TXT', 'only.six.test', {kind: 'Proven', by: 'TXT', apex: false}],
    [
      'an apex with rotating addresses and the TXT among others, in two strings',
      'apex.test',
      {kind: 'Proven', by: 'TXT', apex: true},
    ],
    ['an apex by a zone cut below the registrable name', 'shop.customer.test', {kind: 'Proven', by: 'TXT', apex: true}],
    [
      'nothing',
      'missing.customer.test',
      {
        reason: 'RecordMissing',
        state: 'Missing',
        oldAnswerSeconds: 900,
        message: `missing.customer.test has no record. Create ${create('missing')}.`,
      },
    ],
    [
      'nothing, in an internationalised zone',
      'a.xn--bcher-kva.test',
      {
        reason: 'RecordMissing',
        message: `a.xn--bcher-kva.test (a.bücher.test) has no record. Create ${create('a', 'xn--bcher-kva.test')}.`,
      },
    ],
    [
      'nothing, below a zone cut below the registrable name',
      'docs.shop.customer.test',
      {
        reason: 'RecordMissing',
        zone: {name: 'shop.customer.test', nameServers: ['ns1.test']},
        message: `docs.shop.customer.test has no record. Create ${create('docs', 'shop.customer.test')}.`,
      },
    ],
    [
      'nothing, in a zone that nobody has',
      'docs.unregistered.test',
      {
        reason: 'RecordMissing',
        message: `docs.unregistered.test has no record. Create ${create('docs', 'unregistered.test')}.`,
      },
    ],
    ['another target', 'elsewhere.customer.test', {reason: 'TargetMismatch', observed: ['CNAME www.example.net']}],
    ['a detour', 'detour.customer.test', {reason: 'IndirectCNAME', observed: ['CNAME docs.customer.test']}],
    [
      'the target without the dot at its end, so that the zone is behind it',
      'appended.customer.test',
      {
        reason: 'TargetMismatch',
        message: `appended.customer.test is a CNAME to ${target}.customer.test: the DNS provider has appended the zone to the value. End the value with a dot, ${target}., so that the record is: ${create('appended')}.`,
      },
    ],
    [
      'a flattened name with its TXT in quotes of its own',
      'flatquoted.customer.test',
      {reason: 'TXTMismatch', txt: {state: 'Wrong', observed: [`TXT "${token}"`]}},
    ],
    ['a loop', 'loop.customer.test', {reason: 'TargetMismatch', observed: ['CNAME loop2.customer.test']}],
    ['twenty hops', 'hop0.customer.test', {reason: 'TargetMismatch', observed: ['CNAME hop1.customer.test']}],
    [
      'an address',
      'old.customer.test',
      {
        reason: 'ConflictingRecord',
        state: 'Conflicting',
        observed: ['A 198.51.100.7'],
        oldAnswerSeconds: 900,
        message: `old.customer.test has A 198.51.100.7 and no CNAME. Delete it and create ${create('old')}; visitors then reach this platform instead of A 198.51.100.7.`,
      },
    ],
    ['an IPv6 address alone', 'old6.customer.test', {reason: 'ConflictingRecord', observed: ['AAAA 2001:db8:bad::7']}],
    ["the edge's address beside another's", 'mixed.customer.test', {reason: 'ConflictingRecord'}],
    [
      'a wildcard of addresses',
      'any.wild.customer.test',
      {
        reason: 'ConflictingRecord',
        message: `any.wild.customer.test has A 198.51.100.9 by the wildcard record *.wild.customer.test and no CNAME. Create ${create('any.wild')}; the wildcard record then no longer answers for any.wild.customer.test and the names below it; visitors then reach this platform instead of A 198.51.100.9.`,
      },
    ],
    [
      'an address of its own, beside a wildcard of the same address',
      'own.wild.customer.test',
      {
        reason: 'ConflictingRecord',
        message: `own.wild.customer.test has A 198.51.100.9 and no CNAME. Delete it and create ${create('own.wild')}; visitors then reach this platform instead of A 198.51.100.9.`,
      },
    ],
    [
      'an address of its own, above a wildcard of the same address',
      'above.customer.test',
      {
        reason: 'ConflictingRecord',
        message: `above.customer.test has A 198.51.100.9 and no CNAME. Delete it and create ${create('above')}; visitors then reach this platform instead of A 198.51.100.9.`,
      },
    ],
    [
      'a wildcard of another target',
      'any.wildcname.customer.test',
      {
        reason: 'TargetMismatch',
        message: `any.wildcname.customer.test is a CNAME to www.example.net by the wildcard record *.wildcname.customer.test. Create ${create('any.wildcname')}; the wildcard record then no longer answers for any.wildcname.customer.test and the names below it; visitors then reach this platform instead of www.example.net.`,
      },
    ],
    [
      "a wildcard of the edge's addresses",
      'any.wildedge.customer.test',
      {reason: 'ProxiedOrFlattened', txt: {state: 'Missing', observed: []}},
    ],
    [
      "a wildcard of the edge's addresses, and a TXT by it",
      'any.wildspf.customer.test',
      {reason: 'ProxiedOrFlattened', txt: {state: 'Missing', observed: []}},
    ],
    [
      'a flattened name',
      'flat.customer.test',
      {reason: 'ProxiedOrFlattened', state: 'Conflicting', observed: ['A 203.0.113.1', 'AAAA 2001:db8::5']},
    ],
    [
      'a flattened name with another TXT',
      'flatwrong.customer.test',
      {reason: 'TXTMismatch', txt: {state: 'Wrong', observed: ['TXT somethingelse']}},
    ],
    [
      "an apex with another's address",
      'apex4.test',
      {reason: 'ConflictingA', apex: true, observed: ['A 198.51.100.7']},
    ],
    ["an apex with another's IPv6 address", 'apex6.test', {reason: 'ConflictingAAAA', apex: true}],
    [
      'an apex without the TXT',
      'notxt.test',
      {reason: 'TXTMissing', state: 'Found', apex: true, txt: {state: 'Missing', observed: []}},
    ],
    ['an apex with another TXT', 'othertxt.test', {reason: 'TXTMismatch', apex: true}],
    ['a CDN with the TXT', 'cdnproven.customer.test', {kind: 'Proven', by: 'TXT', apex: false}],
    ['a CNAME to a CDN with the TXT', 'cdncnameproven.customer.test', {kind: 'Proven', by: 'TXT', apex: false}],
    [
      'a CDN',
      'cdn.customer.test',
      {
        reason: 'BehindCDN',
        behind: cdn.name,
        observed: ['A of Example CDN', 'AAAA of Example CDN'],
        txt: {state: 'Missing', observed: []},
      },
    ],
    [
      'a CNAME to a CDN',
      'cdncname.customer.test',
      {reason: 'BehindCDN', behind: cdn.name, observed: ['CNAME customer.cdn.example']},
    ],
    [
      'a CDN with another TXT',
      'cdnwrong.customer.test',
      {reason: 'TXTMismatch', behind: cdn.name, txt: {state: 'Wrong', observed: ['TXT theirs']}},
    ],
    [
      'a wildcard of a CDN',
      'any.wildcdn.customer.test',
      {
        reason: 'BehindCDN',
        message: expect.stringContaining(
          ' is behind Example CDN by the wildcard record *.wildcdn.customer.test, which hides the record that would verify it. First give any.wildcdn.customer.test and *.any.wildcdn.customer.test the addresses of the wildcard, because the TXT ends the wildcard for them. Then create TXT ',
        ),
      },
    ],
    [
      'the CNAME with the zone twice in its name',
      'twice.customer.test',
      {
        reason: 'RecordMissing',
        message: `twice.customer.test has no record. Create ${create('twice')}. The CNAME is at twice.customer.test.customer.test instead. Move it: enter only twice as its name.`,
      },
    ],
    [
      'another CNAME with the zone twice in its name',
      'strange.customer.test',
      {reason: 'RecordMissing', message: `strange.customer.test has no record. Create ${create('strange')}.`},
    ],
    [
      'a flattened name whose TXT has the zone twice in its name',
      'flattwice.customer.test',
      {
        reason: 'ProxiedOrFlattened',
        message: expect.stringMatching(
          / The TXT is at _doorplate-challenge\.flattwice\.customer\.test\.customer\.test instead. Move it: enter only _doorplate-challenge\.flattwice as its name.$/,
        ),
      },
    ],
    [
      'an apex with the TXT at itself',
      'attheapex.test',
      {
        reason: 'TXTMissing',
        message: expect.stringMatching(
          / The TXT is at attheapex\.test instead. Move it: enter only _doorplate-challenge as its name.$/,
        ),
      },
    ],
    ['an apex without an address', 'signed.test', {reason: 'RecordMissing', apex: true}],
    [
      'a zone whose servers disagree: any may be asked next',
      'docs.split.test',
      {
        reason: 'NameServersDisagree',
        message: expect.stringContaining(
          'docs.split.test has the right record at ns1.test (127.0.0.51), but not at ns2.test (127.0.0.52): the name servers of split.test have different versions',
        ),
      },
    ],
    [
      'an address by a wildcard two labels above',
      'any.deep.wild.customer.test',
      {
        reason: 'ConflictingRecord',
        message: expect.stringContaining('*.wild.customer.test and no CNAME. Create CNAME any.deep.wild -> '),
      },
    ],
    [
      'mail, and no address',
      'mail.customer.test',
      {
        reason: 'CNAMENotPossible',
        noCname: true,
        observed: ['MX', 'TXT'],
        message: `mail.customer.test has no address. It also has MX and TXT records, so it cannot have a CNAME. Keep the MX and TXT records, and create ALIAS or ANAME mail -> ${target} and TXT _doorplate-challenge.mail -> ${token} (TTL 3600) in the zone customer.test.`,
      },
    ],
    [
      'mail, and an address of another',
      'mailold.customer.test',
      {reason: 'CNAMENotPossible', state: 'Conflicting', observed: ['A 198.51.100.7']},
    ],
    [
      "mail, and the edge's address",
      'mailours.customer.test',
      {reason: 'CNAMENotPossible', txt: {state: 'Missing', observed: []}},
    ],
    ["mail, the edge's address and the TXT", 'mailproven.customer.test', {kind: 'Proven', by: 'TXT', apex: false}],
    [
      'mail, by a wildcard',
      'any.wildmail.customer.test',
      {
        reason: 'RecordMissing',
        message: expect.stringContaining(
          'has no CNAME and no address; the wildcard record *.wildmail.customer.test gives it MX records. Create CNAME any.wildmail -> ',
        ),
      },
    ],
    ['HTTPS alone', 'https.customer.test', {reason: 'CNAMENotPossible', observed: ['HTTPS']}],
    ['nothing, above a name that exists', 'empty.customer.test', {reason: 'RecordMissing', observed: []}],
    [
      'a DNAME above that leads to the platform',
      'docs-acme-k3v9x2m4q7w1z.white.test',
      {
        reason: 'SynthesizedCNAME',
        message: expect.stringContaining(
          `is a CNAME to ${target} that the DNAME record at white.test creates for every name below it`,
        ),
      },
    ],
    ['a DNAME above that leads elsewhere', 'any.black.test', {reason: 'SynthesizedCNAME'}],
    [
      'a TXT below a DNAME',
      'tree.customer.test',
      {
        reason: 'SynthesizedCNAME',
        message: expect.stringContaining(
          '_doorplate-challenge.tree.customer.test is below the DNAME record at tree.customer.test',
        ),
      },
    ],
    ['a zone whose server refuses', 'docs.lame.test', {kind: 'Unknown', reason: 'AuthoritativeFailure'}],
    [
      'a zone whose name server is a resolver, which answers without AA',
      'docs.resolved.test',
      {
        kind: 'Unknown',
        reason: 'AuthoritativeFailure',
        message:
          'docs.resolved.test could not be checked: the name servers of resolved.test, recursor.test (127.0.0.61), answered without ' +
          'authority (no AA flag), so they do not serve this zone. At the registrar, enter the name servers of the DNS provider ' +
          'that has the zone. Or ask the provider to add the zone to these servers. Required: CNAME docs -> ' +
          `${target} (TTL 3600) in the zone resolved.test.`,
      },
    ],
    ['a zone whose server is dead', 'docs.dead.test', {kind: 'Unknown', reason: 'AuthoritativeUnreachable'}],
    [
      'a signed zone whose parent vouches for another key',
      'docs.broken.test',
      {kind: 'Unknown', reason: 'DNSSECBroken', apex: false},
    ],
    [
      'an apex in a signed zone whose parent vouches for another key',
      'broken.test',
      {kind: 'Unknown', reason: 'DNSSECBroken', apex: true},
    ],
    ['a signed zone whose signatures are over', 'docs.expired.test', {kind: 'Unknown', reason: 'DNSSECBroken'}],
  ])('%s: %s', async (_, hostname, expected) => {
    expect(await check(options, about(hostname), false)).toMatchObject(expected);
  });

  test("a zone asks the zone's own servers, although its parent's server holds it too and gives no referral", async () => {
    const dns = client(resolvers.map(({address}) => address));
    expect(await dns.askAuthoritative('docs.unregistered.test', 'Host')).toMatchObject({zone: 'test'});
    const seen = await dns.askAuthoritative('docs.split.test', 'Host');
    expect(seen.zone).toBe('split.test');
    expect(seen.findings.map(({server, exists}) => [server.address, exists])).toEqual([
      [first, true],
      [second, false],
    ]);
  });

  test('a zone returns its name and its name servers in sorted order, and nothing where there is no such zone', async () => {
    expect((await check(options, about('docs.split.test'), false)).zone).toEqual({
      name: 'split.test',
      nameServers: ['ns1.test', 'ns2.test'],
    });
    expect((await check(options, about('docs.unregistered.test'), false)).zone).toBeUndefined();
    expect((await check({...options, mode: 'RecursiveOnly'}, about('docs.customer.test'), false)).zone).toBeUndefined();
  });

  test('a zone whose servers disagree about a hostname of this tenant is a negative unless most resolvers confirm it', async () => {
    const names = Array.from({length: 40}, (_, i) => `copy${i}`);
    const records = zones['split.test@127.0.0.51'].records;
    await servers.change('split.test@127.0.0.51', [...records, ...names.map((name) => `${name} IN CNAME ${target}.`)]);
    const [{address}] = resolvers as [ResolverInput];
    const dns = client([address]);
    const said = new Map<boolean, boolean>();
    for (const name of names) {
      // The resolver asks either server, and keeps its answer.
      const answer = await asked(address, `${name}.split.test`);
      const verdict = await check({...options, dns}, {...about(`${name}.split.test`), owned: true}, false);
      expect(verdict).toMatchObject({reason: 'NameServersDisagree'});
      said.set(answer.kind === 'Answer' && answer.rcode === 'NOERROR', denies(verdict));
      if (said.size === 2) break;
    }
    expect([said.get(true), said.get(false)]).toEqual([false, true]);
    await servers.change('split.test@127.0.0.51', records);
  });

  test('a server that makes CNAMEs up proves nothing (a fake)', async () => {
    fakes.push(
      await fakeServer((query) => [reply(query, {answers: made(query)})], {address: '127.0.0.54', port: servers.port}),
    );
    await servers.change('test', [...zones.test.records, 'made IN NS ns4', 'ns4 IN A 127.0.0.54']);
    expect(await check(options, about(`${target.split('.')[0]}.made.test`), false)).toMatchObject({
      kind: 'Refuted',
      reason: 'SynthesizedCNAME',
      message: expect.stringContaining('that the server of made.test creates for every name below it'),
    });
    await servers.change('test', zones.test.records);
  });

  test("another tenant's token is no proof", async () => {
    expect(ends(await check(options, {...about('apex.test'), token: 'other'}, false))).toBe('TXTMismatch');
    expect(ends(await check(options, {...about('flatproven.customer.test'), token: 'other'}, false))).toBe(
      'TXTMismatch',
    );
  });

  test('an apex is proven by addresses alone where the platform has one tenant', async () => {
    const single = {...options, rules: {...options.rules, addressOnly: true}};
    expect(ends(await check(single, about('notxt.test'), false))).toBe('by Addresses');
    expect(ends(await check(single, about('empty.notxt.test'), false))).toBe('ProxiedOrFlattened');
  });

  test("an apex is neither proven nor refused while nobody knows the edge's addresses", async () => {
    const unknown = {...options, rules: {...options.rules, edgeAddresses: []}};
    expect(ends(await check(unknown, about('apex.test'), false))).toBe('NoEdgeAddress');
    expect(ends(await check(unknown, about('docs.customer.test'), false))).toBe('by CNAME');
  });
});

describe('A broken DNSSEC chain', () => {
  test('is reported with the resolvers that refuse it and the remedy', async () => {
    expect(messageOf(await check(options, about('docs.broken.test'), false))).toBe(
      'docs.broken.test has the right record at its own servers, but validating resolvers refuse it (127.0.0.61, 127.0.0.62): the DNSSEC chain of broken.test is broken. The certificate authority would refuse it, ' +
        'too. At the registrar, correct the DS record of broken.test, or remove it to switch DNSSEC off; or ask the DNS provider to sign the zone again.',
    );
  });
  test('is not seen by a resolver that does not validate', async () => {
    expect(
      ends(await check({...options, dns: client([resolvers[2]!.address])}, about('docs.broken.test'), false)),
    ).toBe('by CNAME');
  });
});

describe('Negative caching', () => {
  test("of a name that was looked up too early delays a correct record for the time in the zone's SOA, and the message says until when, once", async () => {
    await Promise.all(resolvers.map(({address}) => asked(address, 'early.customer.test')));
    await servers.change('customer.test', [...zones['customer.test'].records, `early IN CNAME ${target}.`]);
    const verdict = await check(options, about('early.customer.test'), false);
    expect(verdict).toEqual({
      kind: 'Refuted',
      reason: 'PropagationPending',
      state: 'Found',
      observed: [],
      apex: false,
      zone: {name: 'customer.test', nameServers: ['ns1.test']},
      oldAnswerSeconds: 900,
      message:
        'early.customer.test has the right record at its own servers; most resolvers still give older answers. No action is needed.',
    });
    const at = Date.parse('2026-03-01T14:17:00Z');
    const message = messageAt(verdict as Exclude<Verdict, {kind: 'Proven'}>, at);
    expect(message).toMatch(/ Resolvers may repeat the old answer until 14:32 UTC\.$/);
    const again = await check(options, about('early.customer.test'), false);
    expect(
      messageAt(again as Exclude<Verdict, {kind: 'Proven'}>, at + 60_000, {reason: 'PropagationPending', message}),
    ).toBe(message);
  });

  test('is not caused by our own checks: a record that is created between two of them is seen at once', async () => {
    for (const [hostname, line] of [
      ['fresh.customer.test', `fresh IN CNAME ${target}.`],
      ['new.fresh2.customer.test', `new.fresh2 IN CNAME ${target}.`],
    ] as const) {
      expect(ends(await check(options, about(hostname), false))).toBe('RecordMissing');
      await servers.change('customer.test', [...zones['customer.test'].records, line]);
      expect(ends(await check(options, about(hostname), false))).toBe('by CNAME');
    }
  });

  test('of the TXT is not caused by them either', async () => {
    expect(ends(await check(options, about('notxt.test'), false))).toBe('TXTMissing');
    await servers.change('notxt.test', [...zones['notxt.test'].records, `_doorplate-challenge IN TXT "${token}"`]);
    expect(ends(await check(options, about('notxt.test'), false))).toBe('by TXT');
    await servers.change('notxt.test', zones['notxt.test'].records);
  });

  test('and old records end: resolvers see the new record when the TTL of the old one is over', async () => {
    await Promise.all(resolvers.map(({address}) => asked(address, 'docs.brief.test', 'A')));
    await servers.change('brief.test', [ns1, cname]);
    const came: string[] = [];
    const end = performance.now() + 20_000;
    while (came.at(-1) !== 'by CNAME' && performance.now() < end) {
      came.push(ends(await check(options, about('docs.brief.test'), false)));
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    expect([...new Set(came)]).toEqual(['PropagationPending', 'by CNAME']);
  });

  test('of most resolvers counts, that of one does not', async () => {
    await asked(resolvers[0]!.address, 'one.customer.test');
    await asked(resolvers[1]!.address, 'two.customer.test');
    await asked(resolvers[0]!.address, 'two.customer.test');
    await servers.change('customer.test', [
      ...zones['customer.test'].records,
      `one IN CNAME ${target}.`,
      `two IN CNAME ${target}.`,
    ]);
    expect(ends(await check(options, about('one.customer.test'), false))).toBe('by CNAME');
    expect(ends(await check(options, about('two.customer.test'), false))).toBe('PropagationPending');
  });
});

describe('Resolvers alone (RecursiveOnly)', () => {
  test.each([
    ['docs.customer.test', 'by CNAME'],
    ['flatproven.customer.test', 'by TXT'],
    ['apex.test', 'by TXT'],
    ['shop.customer.test', 'by TXT'],
    ['never.customer.test', 'RecordMissing'],
    ['old.customer.test', 'ConflictingRecord'],
    ['elsewhere.customer.test', 'TargetMismatch'],
    ['apex4.test', 'ConflictingA'],
    ['docs.broken.test', 'DNSSECBroken'],
    ['docs.dead.test', 'ResolverFailure'],
    ['docs.lame.test', 'ResolverFailure'],
  ])('judge %s: %s', async (hostname, expected) => {
    expect(ends(await check({...options, mode: 'RecursiveOnly'}, about(hostname), false))).toBe(expected);
  });
  test('say so where the answer comes from a wildcard', async () => {
    expect(
      messageOf(await check({...options, mode: 'RecursiveOnly'}, about('any.wild.customer.test'), false)),
    ).toContain('by the wildcard record *.wild.customer.test');
  });
  test('are not enough when only one of them answers', async () => {
    expect(
      ends(
        await check(
          {...options, mode: 'RecursiveOnly', dns: client([resolvers[0]!.address, nobody])},
          about('docs.customer.test'),
          false,
        ),
      ),
    ).toBe('ResolverFailure');
  });
});

describe('Resolvers that cannot be asked', () => {
  test('leave the verdict unknown when it is all of them', async () => {
    const cached = client([resolvers[0]!.address]);
    expect(ends(await check({...options, dns: cached}, about('docs.customer.test'), false))).toBe('by CNAME');
    expect(
      ends(
        await check(
          {
            ...options,
            dns: {
              ...fromZone(cached),
              askRecursive: (name, wanted, signal) => client([nobody]).askRecursive(name, wanted, signal),
            },
          },
          about('docs.customer.test'),
          false,
        ),
      ),
    ).toBe('ResolverFailure');
  });
});

/** The same questions to the zone's own servers. */
const fromZone = (dns: DnsClient): CheckOptions['dns'] => ({
  askAuthoritative: (...args) => dns.askAuthoritative(...args),
  askRecursive: (...args) => dns.askRecursive(...args),
  askNegativeTtl: (...args) => dns.askNegativeTtl(...args),
  askCaa: (...args) => dns.askCaa(...args),
});

describe('A server that lies (a fake)', () => {
  test('among the resolvers is outvoted', async () => {
    const liar = await fakeServer(
      (query) => [
        reply(query, {aa: false, answers: query.type === 'CNAME' ? [record(query.name, 'CNAME', target)] : []}),
      ],
      {address: '127.0.0.71', port: servers.port},
    );
    fakes.push(liar);
    const dns = client(['127.0.0.71', ...resolvers.slice(0, 2).map(({address}) => address)]);
    await Promise.all(resolvers.slice(0, 2).map(({address}) => asked(address, 'lied.customer.test')));
    await servers.change('customer.test', [...zones['customer.test'].records, `lied IN CNAME ${target}.`]);
    expect(ends(await check({...options, dns}, about('lied.customer.test'), false))).toBe('PropagationPending');
    expect(ends(await check({...options, dns}, about('nothing.customer.test'), false))).toBe('RecordMissing');
  });

  test('among the servers of a zone proves nothing while an honest one denies', async () => {
    fakes.push(
      await fakeServer(
        (query) => [reply(query, {answers: query.type === 'CNAME' ? [record(query.name, 'CNAME', target)] : []})],
        {address: '127.0.0.53', port: servers.port},
      ),
    );
    expect(await check(options, about('forged.lying.test'), false)).toMatchObject({
      kind: 'Refuted',
      reason: 'NameServersDisagree',
    });
    expect(await check(options, about('docs.lying.test'), false)).toMatchObject({kind: 'Proven'});
  });

  test('is not believed about names outside its zone: neither its referral nor its additional records', async () => {
    const liar = await fakeServer(
      (query) => [
        reply(query, {
          answers: [record('docs.customer.test', 'CNAME', target)],
          authorities: [record('customer.test', 'NS', 'ns.liar.test'), soa('liar.test', 60, 60)],
          additionals: [record('ns1.test', 'A', '127.0.0.72')],
        }),
      ],
      {address: '127.0.0.72', port: servers.port},
    );
    fakes.push(liar);
    await servers.change('test', [...zones.test.records, 'liar IN NS ns.liar', 'ns.liar IN A 127.0.0.72']);
    expect(ends(await check(options, about('www.liar.test'), false))).toBe('RecordMissing');
    expect(ends(await check(options, about('old.customer.test'), false))).toBe('ConflictingRecord');
  });
});

/** Which of three CAs may issue. */
async function allowed(hostname: string): Promise<string[]> {
  const seen = await options.dns.askCaa(hostname);
  return ['ca1.example.net', 'ca2.example.org', 'ca3.example.com'].filter(
    (ca) => judgeCaa(hostname, seen, {identities: [ca], zone: 'platform.test'}).kind === 'Allowed',
  );
}

describe('CAA before an order, by the resolvers', () => {
  test.each([
    ['no record up to the root', 'docs.customer.test', {kind: 'Allowed'}],
    ['our CA', 'docs.caa.test', {kind: 'Allowed'}],
    ['another CA', 'docs.blocked.test', {kind: 'Blocked', by: 'Customer'}],
  ])('%s', async (_, hostname, caa) => {
    expect(await check(options, about(hostname), true)).toMatchObject({kind: 'Proven', caa});
  });
  test.each(Object.entries(examples))('RFC 8659 of %s and of what is below it', async (name, {for: cas}) => {
    expect(await allowed(`${name}.rfc8659.test`)).toEqual(cas);
    expect(await allowed(`sub.${name}.rfc8659.test`)).toEqual(cas);
  });
  test.each([
    ['x.climb.test', 'ca1.example.net'],
    ['y.climb.test', 'ca2.example.org'],
    ['twice.climb.test', 'ca2.example.org'],
    ['deep.below.climb.test', 'ca1.example.net'],
    ['a.target.climb.test', 'ca2.example.org'],
    ['leaf.tree.climb.test', 'ca2.example.org'],
    ['tree.climb.test', 'ca1.example.net'],
    ['missing.tree.climb.test', 'ca1.example.net'],
  ])('climbs from the name, through its CNAME or a DNAME and no further (RFC 8659, 3): %s', async (name, ca) => {
    expect(await allowed(name)).toEqual([ca]);
  });
  test('that fail validation, or that no server answers for, do not count as absent', async () => {
    expect(await options.dns.askCaa('docs.dead.test')).toMatchObject({failure: {name: 'docs.dead.test'}});
    // Two of the three validate. The third, which would answer, is not believed before them.
    expect(await client(resolvers.toReversed().map(({address}) => address)).askCaa('docs.expired.test')).toMatchObject({
      failure: {failure: 'BrokenDnssec'},
    });
    expect(await client([resolvers[2]!.address]).askCaa('docs.expired.test')).toEqual({});
    // Nothing is ordered then, and whoever owns the zone is told.
    const [hostname, identities] = ['docs.dead.test', ['ca1.example.net']];
    const caa = judgeCaa(hostname, await options.dns.askCaa(hostname), {identities, zone: 'platform.test'});
    const d = decide(
      world({
        primary: hostname,
        policy: withIssuer({caaIdentities: identities}),
        facts: {[hostname]: {verdict: {kind: 'Proven', by: 'CNAME', apex: false, caa}, checkedAt: t0}},
      }),
    );
    given.add(d.status.hosts?.[0]?.reason ?? '');
    expect([d.status.hosts?.[0], d.certificates]).toMatchObject([
      {phase: 'Verified', reason: 'CAALookupFailed', waitingFor: 'Customer'},
      [],
    ]);
  });
  test('that a resolver has validated are preferred to those of one that does not validate', async () => {
    const seen = await client(resolvers.toReversed().map(({address}) => address)).askCaa('docs.signed.test');
    expect(seen).toEqual({
      of: 'signed.test',
      foundAt: 'signed.test',
      records: [{flags: 0, tag: 'issue', value: 'ca1.example.net'}],
      validated: true,
    });
    expect(await client([resolvers[2]!.address]).askCaa('docs.signed.test')).not.toHaveProperty('validated');
  });
  test('is not looked up for a hostname that is not proven', async () => {
    expect(await check(options, about('never.customer.test'), true)).not.toHaveProperty('caa');
  });
});

test('A hostname that is Live and is put behind a CDN is served on, and told so', async () => {
  const hostname = 'cdn.customer.test';
  const live = settled(world({primary: hostname, facts: {[hostname]: served()}}));
  const verdict = await check(options, about(hostname), true);
  const d = decide(later(live, {facts: {[hostname]: served({verdict})}}));
  given.add(d.status.hosts?.[0]?.reason ?? '');
  expect(d.status.hosts?.[0]).toMatchObject({phase: 'Live', reason: 'ServedBehindCDN'});
  // An order that may follow needs them.
  expect(verdict).toMatchObject({caa: {kind: 'Allowed'}});
});

/** Status of a Live hostname after a check. */
const statusAt = async (hostname: string, mode?: 'RecursiveOnly') => {
  const live = settled(world({primary: hostname, facts: {[hostname]: served()}}));
  const verdict = await check({...options, ...(mode && {mode})}, {...about(hostname), owned: true}, false);
  return decide(later(live, {facts: {[hostname]: served({verdict})}})).status.hosts?.[0];
};

describe('An HTTPS record at an apex', () => {
  test.each([undefined, 'RecursiveOnly'] as const)(
    'of a former host is reported by a Live hostname (%s)',
    async (mode) => {
      const host = await statusAt('formerhttps.test', mode);
      given.add(host?.reason ?? '');
      expect(host).toMatchObject({
        phase: 'Live',
        reason: 'HTTPSRecordElsewhere',
        message:
          'formerhttps.test is served over TLS. Its HTTPS record leads browsers elsewhere. ' +
          'Delete that record; these browsers then reach this platform.',
      });
    },
  );
  test('that leads to a name elsewhere is reported', async () => {
    expect(await statusAt('aliashttps.test')).toMatchObject({phase: 'Live', reason: 'HTTPSRecordElsewhere'});
  });
  test.each([
    ['to an address', 'ourhttps.test'],
    ['by a name', 'wwwhttps.test'],
  ])('that leads here %s is not', async (_, hostname) => {
    expect(await statusAt(hostname)).toMatchObject({phase: 'Live', reason: 'Serving'});
  });
  test('is not asked for before the hostname is of a tenant', async () => {
    expect(await check(options, about('formerhttps.test'), false)).not.toHaveProperty('browsersGo');
  });
});

// Last: test/reasons.ts takes these titles, where they have passed, for the reasons that come up here.
describe('The verdicts of DNS', () => {
  const said = [
    'AuthoritativeFailure',
    'AuthoritativeUnreachable',
    'BehindCDN',
    'CAALookupFailed',
    'ConflictingA',
    'ConflictingAAAA',
    'CNAMENotPossible',
    'ConflictingRecord',
    'DNSSECBroken',
    'HTTPSRecordElsewhere',
    'IndirectCNAME',
    'NameServersDisagree',
    'NoEdgeAddress',
    'PropagationPending',
    'ProxiedOrFlattened',
    'RecordMissing',
    'ResolverFailure',
    'ServedBehindCDN',
    'SynthesizedCNAME',
    'TXTMismatch',
    'TXTMissing',
    'TargetMismatch',
    'by Addresses',
    'by CNAME',
    'by TXT',
  ];
  test.each(said)('%s has come from real servers', (reason) => {
    expect(given).toContain(reason);
  });
  test('are no others', () => {
    expect([...given].filter((reason) => !said.includes(reason))).toEqual([]);
  });
});
