import {afterEach, describe, expect, test} from '@jest/globals';
import type * as packet from 'dns-packet';
import {DnsClient} from '../../../operator/dns/client.ts';
import {Inquiry} from '../../../operator/dns/inquiry.ts';
import type {DnsClientOptions, DnsFinding} from '../../../operator/dns/client.ts';
import {fakeServer, record, reply, soa, txt, without} from './fake-servers.ts';
import type {Asked, Behaviour, FakeServer, Parts} from './fake-servers.ts';

const running: FakeServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

/** What a fake knows: `name type` -> the parts of its reply; undefined for silence. All else is REFUSED. */
type Zone = Record<string, Parts | undefined>;

function zone(records: Zone): Behaviour {
  return (asked) => {
    const key = `${asked.name.toLowerCase()} ${asked.type}`;
    if (!(key in records)) return [reply(asked, {rcode: 5})];
    const parts = records[key];
    return parts ? [reply(asked, parts)] : [];
  };
}

/** For what is answered: on a shared machine a fake may be slow. */
const patient = {tryTimeoutMs: 30_000, totalTimeoutMs: 60_000};
/** For what is not. */
const brief = {tryTimeoutMs: 500, totalTimeoutMs: 10_000};

/** A world of fakes: a resolver, and authoritative servers on loopback addresses that share one port. */
async function world(
  parts: {resolver: Zone; authoritative?: Record<string, Zone>},
  opts: Partial<DnsClientOptions> = {},
) {
  const resolver = await fakeServer(zone({...parts.resolver}));
  running.push(resolver);
  const authoritative: Record<string, FakeServer> = {};
  for (const [address, records] of Object.entries(parts.authoritative ?? {})) {
    const server = await fakeServer(zone(records), {address, port: resolver.port});
    running.push(server);
    authoritative[address] = server;
  }
  const silent = [parts.resolver, ...Object.values(parts.authoritative ?? {})].some((records) =>
    Object.values(records).includes(undefined),
  );
  const client = new DnsClient({
    recursive: [resolver],
    allowPrivateAddresses: true,
    port: resolver.port,
    ...(silent ? brief : patient),
    ...opts,
  });
  return {client, resolver, authoritative};
}

/** A zone whose server refers to a child, whose server (the same one) refers to a child, and so on. */
async function endless(name: string): Promise<DnsClient> {
  let depth = 2;
  const upwards = name.split('.');
  const {client} = await world({resolver: {'example.com NS': EXAMPLE_NS}});
  const server = await fakeServer(
    (asked) => {
      depth++;
      const owner = upwards.slice(-depth).join('.');
      return [
        reply(asked, {
          aa: false,
          authorities: [record(owner, 'NS', `ns.${owner}`)],
          additionals: [record(`ns.${owner}`, 'A', '127.0.0.11')],
        }),
      ];
    },
    {address: '127.0.0.11', port: running.at(-1)!.port},
  );
  running.push(server);
  return client;
}

const EXAMPLE_NS: Parts = {
  aa: false,
  answers: [record('example.com', 'NS', 'ns1.example.com')],
  additionals: [record('ns1.example.com', 'A', '127.0.0.11')],
};
const NODATA: Parts = {authorities: [soa('example.com', 300, 60)]};
const NXDOMAIN: Parts = {rcode: 3, authorities: [soa('example.com', 30, 60)]};

function finding(over: Partial<DnsFinding>): Partial<DnsFinding> {
  return {exists: true, cname: [], a: [], aaaa: [], chain: [], ...over};
}

/** Findings without their servers, and without what is undefined. */
function seen(findings: DnsFinding[]): Partial<DnsFinding>[] {
  return findings.map((found) =>
    Object.fromEntries(
      Object.entries(without(found, 'server')).filter(([key, value]) => value !== undefined || key === 'exists'),
    ),
  );
}

describe('What an authoritative server says', () => {
  const rows: [string, Zone, Partial<DnsFinding>][] = [
    [
      'a CNAME',
      {'docs.example.com CNAME': {answers: [record('docs.example.com', 'CNAME', 'Host.Platform.Test', 77)]}},
      finding({cname: ['host.platform.test'], ttlSeconds: 77}),
    ],
    [
      'a CNAME to a name of the same zone, with the chain behind it',
      {
        'docs.example.com CNAME': {answers: [record('docs.example.com', 'CNAME', 'alias.example.com')]},
        'docs.example.com A': {
          answers: [
            record('alias.example.com', 'CNAME', 'host.platform.test'),
            record('docs.example.com', 'CNAME', 'alias.example.com'),
            record('host.platform.test', 'A', '192.0.2.1'),
          ],
        },
      },
      finding({cname: ['alias.example.com'], chain: ['host.platform.test'], ttlSeconds: 300}),
    ],
    [
      'a CNAME whose chain can not be asked for',
      {
        'docs.example.com CNAME': {answers: [record('docs.example.com', 'CNAME', 'alias.example.com')]},
        'docs.example.com A': {rcode: 2},
      },
      finding({cname: ['alias.example.com'], ttlSeconds: 300}),
    ],
    [
      'addresses of both families',
      {
        'docs.example.com CNAME': NODATA,
        'docs.example.com A': {
          answers: [
            record('docs.example.com', 'A', '203.0.113.9', 50),
            record('docs.example.com', 'A', '203.0.113.7', 50),
          ],
        },
        'docs.example.com AAAA': {answers: [record('docs.example.com', 'AAAA', '2001:DB8::7', 40)]},
      },
      finding({a: ['203.0.113.7', '203.0.113.9'], aaaa: ['2001:db8::7'], ttlSeconds: 40, negativeTtlSeconds: 60}),
    ],
    [
      'nothing at a name that exists',
      {'docs.example.com CNAME': NODATA, 'docs.example.com A': NODATA, 'docs.example.com AAAA': NODATA},
      finding({negativeTtlSeconds: 60}),
    ],
    ['NXDOMAIN', {'docs.example.com CNAME': NXDOMAIN}, finding({exists: false, negativeTtlSeconds: 30})],
    [
      'an address, while the question for the other family fails',
      {
        'docs.example.com CNAME': NODATA,
        'docs.example.com AAAA': {rcode: 2},
        'docs.example.com A': {answers: [record('docs.example.com', 'A', '203.0.113.7')]},
      },
      finding({a: ['203.0.113.7'], ttlSeconds: 300, negativeTtlSeconds: 60}),
    ],
    [
      'no address, while the question for the other family fails',
      {
        'docs.example.com CNAME': NODATA,
        'docs.example.com AAAA': {rcode: 2},
        'docs.example.com A': NODATA,
      },
      finding({exists: undefined, failure: 'ServerFailure', detail: 'answered SERVFAIL'}),
    ],
    [
      'records of other names',
      {
        'docs.example.com CNAME': {
          answers: [record('other.example.com', 'CNAME', 'host.platform.test')],
          authorities: [soa('example.com', 300, 60)],
        },
        'docs.example.com A': {answers: [record('host.platform.test', 'A', '192.0.2.1')]},
        'docs.example.com AAAA': NODATA,
      },
      finding({negativeTtlSeconds: 60}),
    ],
    [
      'a SOA of a zone beside it',
      {'docs.example.com CNAME': {rcode: 3, authorities: [soa('example.net', 300, 60)]}},
      finding({exists: false}),
    ],
    [
      'two CNAMEs',
      {
        'docs.example.com CNAME': {
          answers: [record('docs.example.com', 'CNAME', 'b.test'), record('docs.example.com', 'CNAME', 'a.test')],
        },
      },
      finding({cname: ['a.test', 'b.test'], ttlSeconds: 300}),
    ],
    [
      'a CNAME to itself',
      {
        'docs.example.com CNAME': {answers: [record('docs.example.com', 'CNAME', 'docs.example.com')]},
        'docs.example.com A': {rcode: 2},
      },
      finding({cname: ['docs.example.com'], ttlSeconds: 300}),
    ],
    [
      'a loop of CNAMEs',
      {
        'docs.example.com CNAME': {answers: [record('docs.example.com', 'CNAME', 'b.example.com')]},
        'docs.example.com A': {
          answers: [
            record('docs.example.com', 'CNAME', 'b.example.com'),
            record('b.example.com', 'CNAME', 'c.example.com'),
            record('c.example.com', 'CNAME', 'b.example.com'),
          ],
        },
      },
      finding({cname: ['b.example.com'], chain: ['c.example.com'], ttlSeconds: 300}),
    ],
    [
      'twenty hops, of which eight count',
      {
        'docs.example.com CNAME': {answers: [record('docs.example.com', 'CNAME', 'h0.example.com')]},
        'docs.example.com A': {
          answers: [
            record('docs.example.com', 'CNAME', 'h0.example.com'),
            ...Array.from({length: 20}, (_, hop) => record(`h${hop}.example.com`, 'CNAME', `h${hop + 1}.example.com`)),
          ],
        },
      },
      finding({
        cname: ['h0.example.com'],
        chain: Array.from({length: 8}, (_, hop) => `h${hop + 1}.example.com`),
        ttlSeconds: 300,
      }),
    ],
    [
      'an answer without authority',
      {'docs.example.com CNAME': {aa: false, answers: [record('docs.example.com', 'CNAME', 'host.platform.test')]}},
      finding({exists: undefined, failure: 'NotAuthoritative', detail: 'does not answer with authority for the name'}),
    ],
    [
      'a referral to the root',
      {'docs.example.com CNAME': {aa: false, authorities: [record('.', 'NS', 'a.root-servers.net')]}},
      finding({exists: undefined, failure: 'NotAuthoritative', detail: 'does not answer with authority for the name'}),
    ],
    [
      'a referral to its own zone',
      {'docs.example.com CNAME': {aa: false, authorities: [record('example.com', 'NS', 'ns1.example.com')]}},
      finding({exists: undefined, failure: 'NotAuthoritative', detail: 'does not answer with authority for the name'}),
    ],
    [
      'a referral aside',
      {'docs.example.com CNAME': {aa: false, authorities: [record('other.example.com', 'NS', 'ns1.example.com')]}},
      finding({exists: undefined, failure: 'NotAuthoritative', detail: 'does not answer with authority for the name'}),
    ],
    ['REFUSED', {}, finding({exists: undefined, failure: 'Refused', detail: 'answered REFUSED'})],
    [
      'nothing at all',
      {'docs.example.com CNAME': undefined},
      finding({exists: undefined, failure: 'Timeout', detail: 'no answer within 500 ms'}),
    ],
  ];

  test.each(rows)('is found: %s', async (_, records, expected) => {
    const {client} = await world({resolver: {'example.com NS': EXAMPLE_NS}, authoritative: {'127.0.0.11': records}});
    const observed = await client.askAuthoritative('Docs.Example.com.', 'Host');
    expect(observed).toMatchObject({name: 'docs.example.com', zone: 'example.com'});
    expect(seen(observed.findings)).toEqual([expected]);
    expect(observed.failure === undefined).toBe(expected.failure === undefined);
  });

  test('is asked without recursion, and one question settles a CNAME out of the zone', async () => {
    const {client, authoritative} = await world({
      resolver: {'example.com NS': EXAMPLE_NS},
      authoritative: {
        '127.0.0.11': {
          'docs.example.com CNAME': {answers: [record('docs.example.com', 'CNAME', 'host.platform.test')]},
        },
      },
    });
    await client.askAuthoritative('docs.example.com', 'Host');
    expect(
      authoritative['127.0.0.11']!.asked.map(({name, type, recursionDesired}) => [name, type, recursionDesired]),
    ).toEqual([['docs.example.com', 'CNAME', false]]);
  });

  test('that drops questions with EDNS is asked again without', async () => {
    const {client, resolver} = await world({resolver: {'example.com NS': EXAMPLE_NS}}, brief);
    const known = zone({
      'docs.example.com CNAME': {answers: [record('docs.example.com', 'CNAME', 'host.platform.test')]},
    });
    const behindFirewall = await fakeServer((asked) => (asked.edns ? [] : known(asked)), {
      address: '127.0.0.11',
      port: resolver.port,
    });
    running.push(behindFirewall);
    const {findings} = await client.askAuthoritative('docs.example.com', 'Host');
    expect(findings.flatMap(({cname}) => cname)).toEqual(['host.platform.test']);
  });

  test('stands beside what the others say; a silent one is asked twice, a refusing one once', async () => {
    const {client, authoritative} = await world({
      resolver: {
        'example.com NS': {
          answers: ['ns1', 'ns2', 'ns3'].map((ns) => record('example.com', 'NS', `${ns}.example.com`)),
          additionals: [11, 12, 13].map((host, index) => record(`ns${index + 1}.example.com`, 'A', `127.0.0.${host}`)),
        },
      },
      authoritative: {
        '127.0.0.11': {'docs.example.com CNAME': undefined},
        '127.0.0.12': {
          'docs.example.com CNAME': {answers: [record('docs.example.com', 'CNAME', 'host.platform.test')]},
        },
        '127.0.0.13': {},
      },
    });
    const observed = await client.askAuthoritative('docs.example.com', 'Host');
    expect(observed.failure).toBeUndefined();
    expect(observed.findings.map(({server, failure, cname}) => [server.name, failure ?? cname[0]])).toEqual([
      ['ns1.example.com', 'Timeout'],
      ['ns2.example.com', 'host.platform.test'],
      ['ns3.example.com', 'Refused'],
    ]);
    expect(Object.values(authoritative).map(({asked}) => asked.length)).toEqual([2, 1, 1]);
  });

  test('is summed up as a failure when none answers', async () => {
    const {client} = await world({
      resolver: {
        'example.com NS': {
          answers: [record('example.com', 'NS', 'ns1.example.com'), record('example.com', 'NS', 'ns2.example.com')],
          additionals: [record('ns1.example.com', 'A', '127.0.0.21'), record('ns2.example.com', 'A', '127.0.0.22')],
        },
      },
    });
    expect(await client.askAuthoritative('docs.example.com', 'Host')).toMatchObject({
      zone: 'example.com',
      findings: [{failure: 'Unreachable'}, {failure: 'Unreachable'}],
      failure: {
        failure: 'Unreachable',
        detail:
          "ns1.example.com (127.0.0.21): can't be reached (ECONNREFUSED); ns2.example.com (127.0.0.22): can't be reached (ECONNREFUSED)",
      },
    });
  });
});

describe('The TXT of a name', () => {
  const challenge = '_doorplate-challenge.docs.example.com';
  const asked = async (parts: Parts | undefined) => {
    const {client, authoritative} = await world({
      resolver: {'example.com NS': EXAMPLE_NS},
      authoritative: {'127.0.0.11': {[`${challenge} TXT`]: parts}},
    });
    const [found] = (await client.askAuthoritative(challenge, 'TXT')).findings;
    return {found, questions: authoritative['127.0.0.11']!.asked.map(({type}) => type)};
  };
  const many = Array.from({length: 250}, (_, i) => txt(challenge, 'x'.repeat(200), `${i}`));
  const rows: [string, Parts, Partial<DnsFinding>][] = [
    ['of one value', {answers: [txt(challenge, 'token')]}, {exists: true, txt: ['token'], ttlSeconds: 300}],
    [
      'of several values, and of several strings',
      {answers: [txt(challenge, 'to', 'ken'), txt(challenge, 'another')]},
      {exists: true, txt: ['another', 'token']},
    ],
    [
      'that another name has',
      {answers: [txt('docs.example.com', 'token')], authorities: [soa('example.com', 300, 60)]},
      {exists: true, txt: [], negativeTtlSeconds: 60},
    ],
    [
      'at the end of a CNAME',
      {answers: [record(challenge, 'CNAME', 'x.example.net'), txt('x.example.net', 'token')]},
      {exists: true, cname: ['x.example.net'], txt: []},
    ],
    ['that is not there', NXDOMAIN, {exists: false, txt: [], negativeTtlSeconds: 30}],
    ['that is refused', {rcode: 5}, {exists: undefined, failure: 'Refused'}],
    [
      'without authority',
      {aa: false, answers: [txt(challenge, 'token')]},
      {exists: undefined, failure: 'NotAuthoritative'},
    ],
    ['in capitals (0x20)', {answers: [txt(challenge.toUpperCase(), 'token')]}, {exists: true, txt: ['token']}],
    ['with NUL octets', {answers: [txt(challenge, '\0token\0')]}, {exists: true, txt: ['\0token\0']}],
  ];
  test.each(rows)('%s is found, by one question', async (_, parts, expected) => {
    const {found, questions} = await asked(parts);
    expect(found).toMatchObject(expected);
    expect(questions).toEqual(['TXT']);
  });

  test('of 64 KB comes over TCP, and a hundred records of it count', async () => {
    const server = await fakeServer((query) => [reply(query, query.overTcp ? {answers: many} : {truncated: true})], {
      address: '127.0.0.11',
    });
    running.push(server);
    const resolver = await fakeServer(zone({'example.com NS': EXAMPLE_NS}), {port: server.port});
    running.push(resolver);
    const client = new DnsClient({recursive: [resolver], allowPrivateAddresses: true, port: server.port});
    const [found] = (await client.askAuthoritative(challenge, 'TXT')).findings;
    expect(found?.txt).toHaveLength(100);
    expect(found?.txt?.join('').length).toBeLessThan(65_536);
  });

  test('of one record of 64 KB is one value', async () => {
    const strings = Array.from({length: 255}, () => 'y'.repeat(255));
    const server = await fakeServer(
      (query) => [reply(query, query.overTcp ? {answers: [txt(challenge, ...strings)]} : {truncated: true})],
      {address: '127.0.0.11'},
    );
    running.push(server);
    const resolver = await fakeServer(zone({'example.com NS': EXAMPLE_NS}), {port: server.port});
    running.push(resolver);
    const client = new DnsClient({recursive: [resolver], allowPrivateAddresses: true, port: server.port});
    expect((await client.askAuthoritative(challenge, 'TXT')).findings[0]?.txt?.map(({length}) => length)).toEqual([
      65_025,
    ]);
  });
});

test('For how long "there is none" may be repeated is what the zone\'s own SOA says, and of several servers the longest', async () => {
  const servers = {
    answers: [
      record('example.com', 'NS', 'ns1.example.com'),
      record('example.com', 'NS', 'ns2.example.com'),
      record('example.com', 'NS', 'ns3.example.com'),
    ],
    additionals: [11, 12, 13].map((host, i) => record(`ns${i + 1}.example.com`, 'A', `127.0.0.${host}`)),
  };
  const {client} = await world({
    resolver: {'example.com NS': servers},
    authoritative: {
      '127.0.0.11': {'example.com SOA': {answers: [soa('example.com', 900, 600)]}},
      '127.0.0.12': {'example.com SOA': {answers: [soa('example.com', 300, 600)]}},
      '127.0.0.13': {'example.com SOA': {aa: false, answers: [soa('example.com', 9000, 9000)]}},
    },
  });
  expect(await client.askNegativeTtl('example.com')).toBe(600);
  const none = await world({resolver: {'example.com NS': EXAMPLE_NS}});
  expect(await none.client.askNegativeTtl('example.com')).toBeUndefined();
});

describe('The servers of a zone', () => {
  const POSITIVE: Zone = {
    'docs.shop.example.com CNAME': {answers: [record('docs.shop.example.com', 'CNAME', 'host.platform.test')]},
  };
  const REFERRAL: Parts = {
    aa: false,
    authorities: [record('shop.example.com', 'NS', 'ns.shop.example.com')],
    additionals: [record('ns.shop.example.com', 'A', '127.0.0.12')],
  };

  test('are found through a referral, and the resolvers are not asked about the name itself', async () => {
    const {client, resolver} = await world({
      resolver: {'example.com NS': EXAMPLE_NS},
      authoritative: {'127.0.0.11': {'docs.shop.example.com CNAME': REFERRAL}, '127.0.0.12': POSITIVE},
    });
    expect(await client.askAuthoritative('docs.shop.example.com', 'Host')).toMatchObject({
      zone: 'shop.example.com',
      nameServers: ['ns.shop.example.com'],
      findings: [{server: {address: '127.0.0.12', name: 'ns.shop.example.com'}, cname: ['host.platform.test']}],
    });
    expect(resolver.asked.map(({name, type, recursionDesired}) => [name, type, recursionDesired])).toEqual([
      ['example.com', 'NS', true],
    ]);
  });

  test('are found where the resolver gives referrals itself, and refuses what stands above', async () => {
    const {client} = await world({
      resolver: {'shop.example.com NS': REFERRAL},
      authoritative: {'127.0.0.12': POSITIVE},
    });
    expect(await client.askAuthoritative('docs.shop.example.com', 'Host')).toMatchObject({
      zone: 'shop.example.com',
      findings: [{cname: ['host.platform.test']}],
    });
  });

  test("are the zone's own, all of them, where one holds its parent too and doesn't refer to them", async () => {
    const own: Parts = {
      answers: [
        record('shop.example.com', 'NS', 'ns1.example.com'),
        record('shop.example.com', 'NS', 'ns.shop.example.com'),
      ],
      additionals: [record('ns1.example.com', 'A', '127.0.0.11'), record('ns.shop.example.com', 'A', '127.0.0.12')],
    };
    const {client} = await world({
      resolver: {'example.com NS': EXAMPLE_NS},
      authoritative: {
        '127.0.0.11': {
          'docs.shop.example.com CNAME': {
            ...POSITIVE['docs.shop.example.com CNAME'],
            authorities: [record('shop.example.com', 'NS', 'ns1.example.com')],
          },
          'shop.example.com NS': own,
        },
        '127.0.0.12': {'docs.shop.example.com CNAME': {rcode: 3, authorities: [soa('shop.example.com', 60, 60)]}},
      },
    });
    expect(await client.askAuthoritative('docs.shop.example.com', 'Host')).toMatchObject({
      zone: 'shop.example.com',
      nameServers: ['ns.shop.example.com', 'ns1.example.com'],
      findings: [
        {server: {address: '127.0.0.12'}, exists: false},
        {server: {address: '127.0.0.11'}, cname: ['host.platform.test']},
      ],
    });
  });

  test('are told by name, sorted and the first eight of more, those without an address too', async () => {
    const names = Array.from({length: 12}, (_, i) => `NS${i + 10}.example.com`);
    const {client} = await world({
      resolver: {
        'example.com NS': {
          answers: names.toReversed().map((name) => record('example.com', 'NS', name)),
          additionals: [record('ns17.example.com', 'A', '127.0.0.11')],
        },
      },
      authoritative: {
        '127.0.0.11': {
          'docs.example.com CNAME': {answers: [record('docs.example.com', 'CNAME', 'host.platform.test')]},
        },
      },
    });
    expect((await client.askAuthoritative('docs.example.com', 'Host')).nameServers).toEqual(
      [10, 11, 12, 13, 14, 15, 16, 17].map((i) => `ns${i}.example.com`),
    );
  });

  test('are those of the zone that a denial names', async () => {
    const {client} = await world({
      resolver: {
        'example.com NS': {rcode: 3, authorities: [soa('com', 300, 60)]},
        'com NS': {answers: [record('com', 'NS', 'ns.com')], additionals: [record('ns.com', 'A', '127.0.0.11')]},
      },
      authoritative: {'127.0.0.11': {'docs.example.com CNAME': {rcode: 3, authorities: [soa('com', 300, 90)]}}},
    });
    expect(await client.askAuthoritative('docs.example.com', 'Host')).toMatchObject({
      zone: 'com',
      findings: [{exists: false, negativeTtlSeconds: 90}],
    });
  });

  test('are found through the top-level domain where resolvers fail on a dead delegation', async () => {
    const {client} = await world({
      resolver: {
        'example.com NS': {rcode: 2},
        'com NS': {answers: [record('com', 'NS', 'ns.com')], additionals: [record('ns.com', 'A', '127.0.0.11')]},
      },
      authoritative: {
        '127.0.0.11': {
          'docs.example.com CNAME': {
            aa: false,
            authorities: [record('example.com', 'NS', 'ns1.example.com')],
            additionals: [record('ns1.example.com', 'A', '127.0.0.21')],
          },
        },
      },
    });
    expect(await client.askAuthoritative('docs.example.com', 'Host')).toMatchObject({
      zone: 'example.com',
      findings: [{server: {name: 'ns1.example.com'}, failure: 'Unreachable'}],
      failure: {failure: 'Unreachable'},
    });
  });

  test('are looked up by name without glue, and glue for names that the parent does not hold is not believed', async () => {
    const {client, resolver} = await world({
      resolver: {
        'example.com NS': {answers: [record('example.com', 'NS', 'ns.provider.net')]},
        'ns.provider.net A': {answers: [record('ns.provider.net', 'A', '127.0.0.11')]},
        'ns.provider.net AAAA': {authorities: [soa('provider.net', 5, 5)]},
        'ns.victim.net A': {answers: [record('ns.victim.net', 'A', '127.0.0.12')]},
        'ns.victim.net AAAA': {authorities: [soa('victim.net', 5, 5)]},
      },
      authoritative: {
        '127.0.0.11': {
          'docs.shop.example.com CNAME': {
            aa: false,
            authorities: [record('shop.example.com', 'NS', 'ns.victim.net')],
            additionals: [record('ns.victim.net', 'A', '127.0.0.13')],
          },
        },
        '127.0.0.12': POSITIVE,
        '127.0.0.13': {
          'docs.shop.example.com CNAME': {answers: [record('docs.shop.example.com', 'CNAME', 'forged.test')]},
        },
      },
    });
    expect(await client.askAuthoritative('docs.shop.example.com', 'Host')).toMatchObject({
      findings: [{server: {address: '127.0.0.12'}, cname: ['host.platform.test']}],
    });
    expect(resolver.asked.map(({name, type}) => `${name} ${type}`)).toEqual([
      'example.com NS',
      'ns.provider.net A',
      'ns.provider.net AAAA',
      'ns.victim.net A',
      'ns.victim.net AAAA',
    ]);
  });

  test('at private addresses are not asked unless that is allowed', async () => {
    const {client, authoritative} = await world(
      {resolver: {'example.com NS': EXAMPLE_NS}, authoritative: {'127.0.0.11': {}}},
      {allowPrivateAddresses: false},
    );
    expect(await client.askAuthoritative('docs.example.com', 'Host')).toEqual({
      name: 'docs.example.com',
      findings: [],
      failure: {
        failure: 'NotPublic',
        detail: 'the name servers of example.com have no public address: ns1.example.com (127.0.0.11)',
      },
    });
    expect(authoritative['127.0.0.11']!.asked).toEqual([]);
  });

  test('are at most four, one address of each name before the second of any', async () => {
    const names = ['a', 'b', 'c'].map((ns) => `${ns}.ns.test`);
    const {client} = await world({
      resolver: {
        'example.com NS': {
          answers: names.map((ns) => record('example.com', 'NS', ns)),
          additionals: names.flatMap((ns, index) =>
            [31, 41, 51].map((host) => record(ns, 'A', `127.0.0.${host + index}`)),
          ),
        },
      },
    });
    const observed = await client.askAuthoritative('docs.example.com', 'Host');
    expect(observed.findings.map(({server}) => server.address)).toEqual([
      '127.0.0.31',
      '127.0.0.32',
      '127.0.0.33',
      '127.0.0.41',
    ]);
  });

  describe('that have addresses of both families, more of IPv4 than are asked,', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'].map((ns) => `${ns}.ns.test`);
    /** Nothing listens at 127.0.0.61 and those that follow; `::ffff:127.0.0.71` is IPv6 as all that is asked there. */
    const both: Parts = {
      answers: names.map((ns) => record('example.com', 'NS', ns)),
      additionals: names.flatMap((ns, index) => [
        record(ns, 'A', `127.0.0.${61 + index}`),
        record(ns, 'AAAA', index === 0 ? '::1' : `::ffff:127.0.0.${71 + index}`),
      ]),
    };

    test('are asked at four of IPv6 where none of four of IPv4 can be reached', async () => {
      const {client} = await world({
        resolver: {'example.com NS': both},
        authoritative: {'::1': {...POSITIVE, 'example.com SOA': {answers: [soa('example.com', 300, 60)]}}},
      });
      const observed = await client.askAuthoritative('docs.shop.example.com', 'Host');
      expect(observed.findings.map(({server, cname, failure}) => [server.name, failure ?? cname[0]])).toEqual([
        ['e.ns.test', 'Unreachable'],
        ['f.ns.test', 'Unreachable'],
        ['a.ns.test', 'host.platform.test'],
        ['b.ns.test', 'Unreachable'],
        ['c.ns.test', 'Unreachable'],
        ['d.ns.test', 'Unreachable'],
      ]);
      expect(observed.failure).toBeUndefined();
      expect(await client.askNegativeTtl('example.com')).toBe(60);
    });

    test.each(['silent', 'refusing'])(
      'are asked at the fifth and the sixth where the first four are %s',
      async (how) => {
        const first = how === 'silent' ? undefined : {rcode: 5};
        const {client} = await world({
          resolver: {'example.com NS': both},
          authoritative: Object.fromEntries(
            [61, 62, 63, 64, 65, 66].map((host) => [
              `127.0.0.${host}`,
              host < 65 ? {'docs.shop.example.com CNAME': first as Parts} : POSITIVE,
            ]),
          ),
        });
        const {findings} = await client.askAuthoritative('docs.shop.example.com', 'Host');
        expect(findings.flatMap(({server, cname}) => cname.map((to) => [server.name, to]))).toEqual([
          ['e.ns.test', 'host.platform.test'],
          ['f.ns.test', 'host.platform.test'],
        ]);
      },
    );

    test('are told by IPv4 where none can be reached', async () => {
      const {client} = await world({resolver: {'example.com NS': both}});
      const {findings, failure} = await client.askAuthoritative('docs.shop.example.com', 'Host');
      expect(findings.map(({server}) => server.address)).toEqual([61, 62, 63, 64].map((host) => `127.0.0.${host}`));
      expect(failure?.failure).toBe('Unreachable');
    });
  });

  test('are remembered for the TTL of their records, and forgotten when none answers', async () => {
    const answering = {
      'docs.example.com CNAME': NXDOMAIN,
      'www.example.com CNAME': NXDOMAIN,
      'dead.example.com CNAME': undefined,
    };
    const {client, resolver} = await world({
      resolver: {'example.com NS': EXAMPLE_NS},
      authoritative: {'127.0.0.11': answering},
    });
    await client.askAuthoritative('docs.example.com', 'Host');
    await client.askAuthoritative('www.example.com', 'Host');
    expect(resolver.asked).toHaveLength(1);
    await client.askAuthoritative('dead.example.com', 'Host');
    await client.askAuthoritative('www.example.com', 'Host');
    expect(resolver.asked).toHaveLength(2);

    const briefly: Parts = {...EXAMPLE_NS, answers: [record('example.com', 'NS', 'ns1.example.com', 0)]};
    const second = await world({resolver: {'example.com NS': briefly}, authoritative: {'127.0.0.11': answering}});
    await second.client.askAuthoritative('docs.example.com', 'Host');
    await second.client.askAuthoritative('docs.example.com', 'Host');
    expect(second.resolver.asked).toHaveLength(2);
  });

  test('are not followed for ever: each refers to the next, one label further down', async () => {
    const labels = Array.from({length: 15}, (_, index) => `l${index}`);
    const name = `${labels.join('.')}.example.com`;
    const client = await endless(name);
    expect(await client.askAuthoritative(name, 'Host')).toEqual({
      name,
      findings: [],
      failure: {failure: 'Other', detail: 'more than 8 delegations above the name'},
    });
  });

  test.each<[string, Zone, string]>([
    ['refuse', {}, 'Refused'],
    ['fail', {'example.com NS': {rcode: 2}, 'com NS': {rcode: 2}}, 'ServerFailure'],
    ['are silent', {'example.com NS': undefined, 'com NS': undefined}, 'Timeout'],
    ['name none', {'example.com NS': {}, 'docs.example.com NS': {}, 'com NS': {}}, 'Other'],
    [
      'name some without an address',
      {'example.com NS': {answers: [record('example.com', 'NS', 'ns.gone.test')]}},
      'Unreachable',
    ],
  ])('can not be found where the resolvers %s', async (_, resolver, failure) => {
    const {client} = await world({resolver});
    expect(await client.askAuthoritative('docs.example.com', 'Host')).toMatchObject({findings: [], failure: {failure}});
  });
});

describe('Every call', () => {
  test('ends within its total time, with each silent server told', async () => {
    const {client} = await world(
      {resolver: {'example.com NS': EXAMPLE_NS}, authoritative: {'127.0.0.11': {'docs.example.com CNAME': undefined}}},
      {tryTimeoutMs: 60_000, totalTimeoutMs: 200},
    );
    const began = performance.now();
    expect(await client.askAuthoritative('docs.example.com', 'Host')).toMatchObject({
      findings: [{failure: 'Timeout'}],
      failure: {failure: 'Timeout'},
    });
    expect(performance.now() - began).toBeLessThan(15_000);
  });

  test('ends when its signal does', async () => {
    const {client} = await world(
      {resolver: {'example.com NS': undefined, 'docs.example.com CNAME': undefined}},
      {tryTimeoutMs: 60_000, totalTimeoutMs: 60_000},
    );
    const began = performance.now();
    const controller = new AbortController();
    const both = Promise.all([
      client.askAuthoritative('docs.example.com', 'Host', new Inquiry({signal: controller.signal})),
      client.askRecursive('docs.example.com', 'Host', new Inquiry({signal: controller.signal})),
    ]);
    setTimeout(() => controller.abort(), 50);
    expect((await both).map(({failure}) => failure?.failure)).toEqual(['Other', 'Other']);
    expect(
      (await client.askRecursive('docs.example.com', 'Host', new Inquiry({signal: controller.signal}))).failure
        ?.failure,
    ).toBe('Other');
    expect(performance.now() - began).toBeLessThan(15_000);
  });

  test.each(['', '.', 'a..b', `${'a'.repeat(64)}.com`, 'bücher.example'])(
    'about %j, which is no name, asks nobody',
    async (name) => {
      const {client, resolver} = await world({resolver: {}});
      expect(await client.askAuthoritative(name, 'Host')).toMatchObject({
        findings: [],
        failure: {failure: 'Other', detail: 'not a DNS name'},
      });
      expect(await client.askRecursive(name, 'Host')).toMatchObject({findings: [], failure: {failure: 'Other'}});
      expect(resolver.asked).toEqual([]);
    },
  );
});

const caaSeenBy = (...recursive: FakeServer[]) =>
  new DnsClient({recursive, allowPrivateAddresses: true, ...patient}).askCaa('example.com');

describe('Recursive resolvers', () => {
  test('are all asked, with recursion, and each is told as it answered', async () => {
    const CNAME: packet.Answer = record('docs.example.com', 'CNAME', 'other.example.net');
    const first = await fakeServer(
      zone({
        'docs.example.com CNAME': {aa: false, answers: [CNAME]},
        'docs.example.com A': {
          aa: false,
          answers: [
            CNAME,
            record('other.example.net', 'CNAME', 'host.platform.test'),
            record('host.platform.test', 'A', '192.0.2.1'),
          ],
        },
      }),
    );
    const second = await fakeServer(zone({'docs.example.com CNAME': {aa: false, ...NXDOMAIN}}));
    const third = await fakeServer(zone({'docs.example.com CNAME': {rcode: 2}}));
    const referring = await fakeServer(
      zone({'docs.example.com CNAME': {aa: false, authorities: [record('example.com', 'NS', 'ns1.example.com')]}}),
    );
    running.push(first, second, third, referring);
    const client = new DnsClient({
      recursive: [first, second, third, referring],
      allowPrivateAddresses: true,
      ...patient,
    });
    const observed = await client.askRecursive('docs.example.com', 'Host');
    expect(observed.failure).toBeUndefined();
    expect(seen(observed.findings)).toEqual([
      finding({cname: ['other.example.net'], chain: ['host.platform.test'], ttlSeconds: 300}),
      finding({exists: false, negativeTtlSeconds: 30}),
      finding({exists: undefined, failure: 'ServerFailure', detail: 'answered SERVFAIL'}),
      finding({
        exists: undefined,
        failure: 'Other',
        detail: 'answered with a referral, because it does not resolve names recursively',
      }),
    ]);
    expect(first.asked.every(({recursionDesired}) => recursionDesired)).toBe(true);
  });

  test('that fail where validation fails, and answer where they are not to validate, have found a broken DNSSEC chain (RFC 4035, 5.5)', async () => {
    const known = zone({
      'docs.example.com CNAME': {aa: false, answers: [record('docs.example.com', 'CNAME', 'host.platform.test')]},
      'gone.example.com CNAME': {aa: false, ...NXDOMAIN},
      'example.com CAA': {aa: false, authorities: [soa('example.com', 300, 60)]},
    });
    const validating = await fakeServer((query: Asked) =>
      query.checkingDisabled ? known(query) : [reply(query, {rcode: 2})],
    );
    const failing = await fakeServer((query) => [reply(query, {rcode: 2})]);
    running.push(validating, failing);
    const client = new DnsClient({recursive: [validating, failing], allowPrivateAddresses: true, ...patient});
    for (const name of ['docs.example.com', 'gone.example.com']) {
      expect((await client.askRecursive(name, 'Host')).findings.map(({failure}) => failure)).toEqual([
        'BrokenDnssec',
        'ServerFailure',
      ]);
    }
    expect(await client.askCaa('example.com')).toMatchObject({
      failure: {
        name: 'example.com',
        failure: 'BrokenDnssec',
        detail: expect.stringContaining('the DNSSEC chain is broken') as unknown,
      },
    });
  });

  test('that fail once in passing, as they may before they have all that a chain takes, are told by what they answer then', async () => {
    const answers: Parts = {aa: false, answers: [record('docs.example.com', 'CNAME', 'host.platform.test')]};
    const known = zone({
      'docs.example.com CNAME': answers,
      'docs.example.com A': answers,
      'docs.example.com AAAA': answers,
    });
    const failed = new Set<string>();
    const passing = await fakeServer((asked) => {
      if (asked.checkingDisabled || failed.has(asked.type)) return known(asked);
      failed.add(asked.type);
      return [reply(asked, {rcode: 2})];
    });
    running.push(passing);
    const client = new DnsClient({recursive: [passing], allowPrivateAddresses: true, ...patient});
    expect(seen((await client.askRecursive('docs.example.com', 'Host')).findings)).toEqual([
      finding({cname: ['host.platform.test'], ttlSeconds: 300}),
    ]);
  });

  test('that fail, and then do not answer at all, have found no broken DNSSEC chain', async () => {
    const asked: boolean[] = [];
    const refusing = await fakeServer((query) => {
      asked.push(query.checkingDisabled);
      return [reply(query, asked.length === 1 ? {rcode: 2} : query.checkingDisabled ? {aa: false} : {rcode: 5})];
    });
    running.push(refusing);
    const client = new DnsClient({recursive: [refusing], allowPrivateAddresses: true, ...patient});
    expect((await client.askRecursive('docs.example.com', 'TXT')).findings).toMatchObject([{failure: 'Refused'}]);
    expect(asked).toEqual([false, true, false]);
  });

  test('are believed about CAA records in this order: who has validated, who found a broken chain, any answer, any failure', async () => {
    const known = (value: string, over: Parts = {}) =>
      zone({
        'example.com CAA': {
          aa: false,
          answers: [{name: 'example.com', type: 'CAA', data: {flags: 0, tag: 'issue', value}}],
          ...over,
        },
      });
    const plain = await fakeServer(known('plain.example'));
    const validating = await fakeServer((asked) => known('validated.example', {ad: asked.authenticity})(asked));
    const bogus = await fakeServer((asked) =>
      asked.checkingDisabled ? known('bogus.example')(asked) : [reply(asked, {rcode: 2})],
    );
    const failing = await fakeServer((asked) => [reply(asked, {rcode: 2})]);
    const referring = await fakeServer(
      zone({'example.com CAA': {aa: false, authorities: [record('com', 'NS', 'ns.com')]}}),
    );
    running.push(plain, validating, bogus, failing, referring);
    expect(await caaSeenBy(bogus, plain, validating)).toMatchObject({
      records: [{value: 'validated.example'}],
      validated: true,
    });
    expect(await caaSeenBy(plain, failing, bogus)).toMatchObject({failure: {failure: 'BrokenDnssec'}});
    expect(await caaSeenBy(failing, referring, plain)).toMatchObject({records: [{value: 'plain.example'}]});
    expect(await caaSeenBy(failing, referring)).toMatchObject({failure: {failure: 'ServerFailure'}});
    expect(await caaSeenBy(referring)).toMatchObject({
      failure: {failure: 'Other', detail: expect.stringContaining('referral') as unknown},
    });
  });

  test('that stay silent about CAA records cost their time once, however high the others climb', async () => {
    const silent = await fakeServer(() => []);
    const negative = {aa: false, authorities: [soa('com', 60, 60)]};
    const client = await world({
      resolver: {
        'c.b.a.example.com CAA': negative,
        'b.a.example.com CAA': negative,
        'a.example.com CAA': negative,
        'example.com CAA': negative,
        'com CAA': negative,
      },
    });
    running.push(silent);
    const both = new DnsClient({
      recursive: [silent, client.resolver],
      allowPrivateAddresses: true,
      tryTimeoutMs: 1000,
      tries: 1,
      totalTimeoutMs: 30_000,
    });
    expect(await both.askCaa('c.b.a.example.com')).toEqual({});
    expect(silent.asked).toHaveLength(1);
  });

  test('that find a CNAME to itself have found no "there are no CAA records"', async () => {
    const {client} = await world({
      resolver: {'example.com CAA': {aa: false, answers: [record('example.com', 'CNAME', 'example.com')]}},
    });
    expect(await client.askCaa('example.com')).toEqual({
      failure: {name: 'example.com', failure: 'Other', detail: 'more than 8 CNAMEs'},
    });
  });

  test('that have kept old addresses of one family give those, whatever they say of the new CNAME', async () => {
    const CNAME = record('docs.example.com', 'CNAME', 'host.platform.test');
    const fresh = {aa: false, answers: [CNAME]};
    const old = (over: Zone) =>
      zone({'docs.example.com CNAME': fresh, 'docs.example.com A': fresh, 'docs.example.com AAAA': fresh, ...over});
    const four = await fakeServer(
      old({'docs.example.com A': {aa: false, answers: [record('docs.example.com', 'A', '203.0.113.7')]}}),
    );
    const six = await fakeServer(
      old({'docs.example.com AAAA': {aa: false, answers: [record('docs.example.com', 'AAAA', '2001:db8::7')]}}),
    );
    const nothing = await fakeServer(old({'docs.example.com CNAME': {aa: false, ...NODATA}}));
    running.push(four, six, nothing);
    const client = new DnsClient({recursive: [four, six, nothing], allowPrivateAddresses: true, ...patient});
    expect(
      (await client.askRecursive('docs.example.com', 'Host')).findings.map(({cname, a, aaaa}) => [cname, a, aaaa]),
    ).toEqual([
      [[], ['203.0.113.7'], []],
      [[], [], ['2001:db8::7']],
      [['host.platform.test'], [], []],
    ]);
  });

  test('that make an AAAA of each A for a network of IPv6 alone (DNS64) are told without those', async () => {
    const made = zone({
      'docs.example.com CNAME': {aa: false, ...NODATA},
      'docs.example.com A': {aa: false, answers: [record('docs.example.com', 'A', '203.0.113.7')]},
      'docs.example.com AAAA': {
        aa: false,
        answers: ['64:ff9b::cb00:7107', '64:ff9b::cb00:7108', '2001:db8::7'].map((address) =>
          record('docs.example.com', 'AAAA', address),
        ),
      },
    });
    const resolver = await fakeServer(made);
    running.push(resolver);
    const client = new DnsClient({recursive: [resolver], allowPrivateAddresses: true, ...patient});
    // One that none of its A makes stands in the zone itself.
    expect((await client.askRecursive('docs.example.com', 'Host')).findings).toMatchObject([
      {a: ['203.0.113.7'], aaaa: ['2001:db8::7', '64:ff9b::cb00:7108']},
    ]);
  });

  test('tell the zone by the SOA of what is not there', async () => {
    const cut = await fakeServer(
      zone({
        'shop.example.com CNAME': {aa: false, authorities: [soa('shop.example.com', 300, 60)]},
        'shop.example.com A': {aa: false, answers: [record('shop.example.com', 'A', '192.0.2.1')]},
        'shop.example.com AAAA': {aa: false},
      }),
    );
    running.push(cut);
    const client = new DnsClient({recursive: [cut], allowPrivateAddresses: true, ...patient});
    expect(await client.askRecursive('shop.example.com', 'Host')).toMatchObject({
      zone: 'shop.example.com',
      findings: [{a: ['192.0.2.1']}],
    });
  });

  test('fall in for one another when servers of a zone are looked for', async () => {
    const refusing = await fakeServer(zone({}));
    running.push(refusing);
    const {client, resolver} = await world({
      resolver: {'example.com NS': EXAMPLE_NS},
      authoritative: {'127.0.0.11': {'docs.example.com CNAME': NXDOMAIN}},
    });
    const both = new DnsClient({
      recursive: [refusing, {address: '127.0.0.1', port: resolver.port}],
      allowPrivateAddresses: true,
      port: resolver.port,
      ...patient,
    });
    expect(await both.askAuthoritative('docs.example.com', 'Host')).toMatchObject({findings: [{exists: false}]});
    expect(await client.askAuthoritative('docs.example.com', 'Host')).toMatchObject({findings: [{exists: false}]});
  });
});
