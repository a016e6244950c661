import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import type * as packet from 'dns-packet';
import * as fc from 'fast-check';
import {DnsClient} from '../../../../operator/dns/client.ts';
import type {CaaRecord, CaaSeen} from '../../../../operator/domain/certificates/caa.ts';
import {judgeCaa} from '../../../../operator/domain/certificates/caa.ts';
import {decide} from '../../../../operator/domain/lifecycle.ts';
import {withIssuer, policy, t0, world} from '../../../support/world.ts';
import {fakeServer, reply, soa} from '../../dns/fake-servers.ts';
import type {FakeServer} from '../../dns/fake-servers.ts';
import {cases, rdata} from '../caa-cases.ts';
import type {CaaText} from '../caa-cases.ts';

const account = 'https://ca1.example.net/acct/1';
const ca = {identities: ['ca1.example.net'], zone: 'apps.platform.test', accountUri: account};
const decoded = (record: CaaText): CaaRecord => {
  const [flags = 0, length = 0, ...rest] = rdata(record);
  return {
    flags,
    tag: Buffer.from(rest.slice(0, length)).toString().toLowerCase(),
    value: Buffer.from(rest.slice(length)).toString(),
  };
};
const seenAt = (of: string, records: CaaText[], foundAt = of): CaaSeen => ({
  of,
  foundAt,
  records: records.map(decoded),
});
const judge = (...records: CaaText[]) => judgeCaa('docs.example.com', seenAt('example.com', records), ca);

describe('CAA records, sent by a resolver and decoded', () => {
  let resolver: FakeServer;
  let dns: DnsClient;
  const named = new Map(cases.map((c, i) => [`case-${i}.example.com`, c]));
  beforeAll(async () => {
    resolver = await fakeServer((asked) => {
      const answers = (named.get(asked.name)?.records ?? []).map((r): packet.Answer => ({
        name: asked.name,
        type: 'UNKNOWN_257' as 'NULL',
        ttl: 60,
        data: rdata(r),
      }));
      const whole = reply(asked, {aa: false, answers, authorities: [soa('example.com', 60, 60)]});
      return [whole.length > 1232 && !asked.overTcp ? reply(asked, {aa: false, truncated: true}) : whole];
    });
    dns = new DnsClient({
      recursive: [resolver],
      allowPrivateAddresses: true,
      tryTimeoutMs: 30_000,
      totalTimeoutMs: 60_000,
    });
  });
  afterAll(() => resolver.close());

  test.each([...named].map(([hostname, c]) => ({...c, hostname})))('$name: $verdict', async ({hostname, verdict}) => {
    const before = process.cpuUsage();
    expect(judgeCaa(hostname, await dns.askCaa(hostname), ca).kind).toBe(verdict);
    // Not by the clock: a busy machine keeps everybody waiting.
    const {user, system} = process.cpuUsage(before);
    expect((user + system) / 1e6).toBeLessThan(1);
  });
});

describe('An issue property, written by the grammar of RFC 8659', () => {
  const blank = fc.string({unit: fc.constantFrom(' ', '\t'), maxLength: 3});
  const letters = fc
    .string({unit: fc.constantFrom(...'abcXYZ019'), minLength: 1, maxLength: 6})
    .map((tag) => `p${tag}`);
  const characters = fc.string({
    unit: fc
      .integer({min: 0x21, max: 0x7e})
      .map((c) => String.fromCharCode(c))
      .filter((c) => c !== ';'),
    maxLength: 12,
  });
  const parameter = fc
    .tuple(blank, letters, blank, blank, characters, blank)
    .map(([a, tag, b, c, value, d]) => `${a}${tag}${b}=${c}${value}${d}`);
  const written = fc
    .tuple(blank, blank, fc.array(parameter, {maxLength: 4}))
    .map(([a, b, all]) => `${a}ca1.example.net${b}${all.map((one) => `;${one}`).join('')}`);
  const strange = fc
    .oneof(
      fc.integer({min: 0, max: 0x1f}).filter((c) => c !== 9),
      fc.integer({min: 0x7f, max: 0xd7ff}),
      fc.constantFrom(0xa0, 0x2003, 0x3000, 0xfeff),
    )
    .map((c) => String.fromCodePoint(c));

  test('for our CA lets it issue, whatever unknown parameters and blanks it has', () => {
    fc.assert(
      fc.property(written, (value) => {
        expect(judge(`0 issue "${value}"`).kind).toBe('Allowed');
      }),
      {numRuns: 2000},
    );
  });

  test('for our CA lets nobody issue, wherever a character stands that the grammar does not have', () => {
    fc.assert(
      fc.property(written, strange, fc.nat(), (value, character, position) => {
        const at = position % (value.length + 1);
        expect(judge(`0 issue "${value.slice(0, at)}${character}${value.slice(at)}"`).kind).toBe('Blocked');
      }),
      {numRuns: 2000},
    );
  });

  test('of several is told the same in whatever order they come; a critical property that is unknown always blocks', () => {
    const some = fc.array(
      fc.constantFrom(
        ...cases.filter(({verdict}) => verdict !== 'Unknown').flatMap(({records}) => records.slice(0, 2)),
      ),
      {minLength: 1, maxLength: 8},
    );
    fc.assert(
      fc.property(
        some.chain((records) =>
          fc.tuple(fc.constant(records), fc.shuffledSubarray(records, {minLength: records.length})),
        ),
        ([records, shuffled]) => {
          expect(judge(...shuffled)).toEqual(judge(...records));
          expect(judge(...records, '128 tbs "Unknown"').kind).toBe('Blocked');
        },
      ),
      {numRuns: 500},
    );
  });
});

describe('A block by CAA records', () => {
  const ended = ' No certificate is ordered for docs.example.com.';
  test.each<[string, CaaText[], string]>([
    [
      'for another CA names the record to add',
      ['0 issue "ca2.example.org"'],
      `example.com has CAA 0 issue "ca2.example.org", which does not allow the platform's certificate authority.${ended} Add CAA 0 issue "ca1.example.net" at example.com.`,
    ],
    [
      'for several CAs shows three',
      ['0 issue "d.example"', '0 issue "c.example"', '0 issue "b.example"', '0 issue "a.example"'],
      `example.com has CAA 0 issue "a.example", CAA 0 issue "b.example", CAA 0 issue "c.example", which does not allow the platform's certificate authority.${ended} Add CAA 0 issue "ca1.example.net" at example.com.`,
    ],
    [
      'for our CA in capitals says that letters count',
      ['0 issue "CA1.example.net"', '0 issue "ca2.example.org"'],
      `example.com has CAA 0 issue "CA1.example.net", which must name the platform's certificate authority in lower case.${ended} Add CAA 0 issue "ca1.example.net" at example.com.`,
    ],
    [
      'for our CA with a semicolon at the end says that it is malformed',
      ['0 issue "ca1.example.net; policy=ev;"', '0 issue "ca2.example.org"'],
      `example.com has CAA 0 issue "ca1.example.net; policy=ev;", which has a malformed or repeated parameter, so it allows no certificate authority.${ended} Add CAA 0 issue "ca1.example.net" at example.com.`,
    ],
    [
      'for another method keeps methods restricted',
      ['0 issue "ca1.example.net; validationmethods=dns-01"', '0 issue "ca2.example.org"'],
      `example.com has CAA 0 issue "ca1.example.net; validationmethods=dns-01", which does not allow the validation method http-01.${ended} Add CAA 0 issue "ca1.example.net; validationmethods=http-01" at example.com.`,
    ],
    [
      'for another account keeps accounts restricted',
      ['0 issue "ca1.example.net; accounturi=https://ca1.example.net/acct/2"'],
      `example.com has CAA 0 issue "ca1.example.net; accounturi=https://ca1.example.net/acct/2", which allows only other accounts of the platform's certificate authority.${ended} Add CAA 0 issue "ca1.example.net; accounturi=${account}" at example.com.`,
    ],
    [
      'by a critical property asks for that record to go, and for none to be added',
      ['128 tbs "Unknown"', '0 issue "ca1.example.net"'],
      `example.com has CAA 128 tbs "Unknown", a critical property that no certificate authority may ignore.${ended} Remove that record, or its critical flag.`,
    ],
  ])('%s', (_name, records, message) => {
    expect(judge(...records)).toMatchObject({kind: 'Blocked', by: 'Customer', message});
  });

  const other = '0 issue "ca2.example.org"';
  const [allows, forbids] = [
    "which does not allow the platform's certificate authority",
    'a critical property that no certificate authority may ignore',
  ];
  test.each<[string, string, CaaSeen, 'Customer' | 'Platform', string]>([
    [
      'at a public suffix names the record to add below it',
      'shop.example.co.uk',
      seenAt('co.uk', [other]),
      'Customer',
      `co.uk has CAA ${other}, ${allows}. No certificate is ordered for shop.example.co.uk. The owner of co.uk controls that record; a CAA record at example.co.uk takes precedence. Add CAA 0 issue "ca1.example.net" at example.co.uk.`,
    ],
    [
      'at a public suffix by a critical property does so, too',
      'shop.example.co.uk',
      seenAt('uk', ['128 tbs "x"']),
      'Customer',
      `uk has CAA 128 tbs "x", ${forbids}. No certificate is ordered for shop.example.co.uk. The owner of uk controls that record; a CAA record at example.co.uk takes precedence. Add CAA 0 issue "ca1.example.net" at example.co.uk.`,
    ],
    [
      'at a private suffix does so, too',
      'docs.acme.github.io',
      seenAt('github.io', [other]),
      'Customer',
      `github.io has CAA ${other}, ${allows}. No certificate is ordered for docs.acme.github.io. The owner of github.io controls that record; a CAA record at acme.github.io takes precedence. Add CAA 0 issue "ca1.example.net" at acme.github.io.`,
    ],
    [
      'at the end of a CNAME names that, which may be ended',
      'docs.www.example.com',
      seenAt('www.example.com', [other], 'cdn.example.net'),
      'Customer',
      `cdn.example.net, to which the CNAME of www.example.com leads, has CAA ${other}, ${allows}. No certificate is ordered for docs.www.example.com. Add CAA 0 issue "ca1.example.net" at cdn.example.net, or remove the CNAME of www.example.com.`,
    ],
    [
      'at the platform’s host is for the platform to mend',
      'docs.example.com',
      seenAt('docs.example.com', ['0 issue ";"'], 'docs-x.apps.platform.test'),
      'Platform',
      `docs-x.apps.platform.test, to which the CNAME of docs.example.com leads, has CAA 0 issue ";", ${allows}. No certificate is ordered for docs.example.com. The platform must add CAA 0 issue "ca1.example.net" at docs-x.apps.platform.test.`,
    ],
    [
      'behind the platform’s host is for the platform to mend',
      'docs.example.com',
      seenAt('docs.example.com', ['128 tbs "x"'], 'edge.example.net'),
      'Platform',
      `edge.example.net, to which the CNAME of docs.example.com leads, has CAA 128 tbs "x", ${forbids}. No certificate is ordered for docs.example.com. The platform must remove that record, or its critical flag.`,
    ],
  ])('%s', (_name, hostname, seen, by, message) => {
    expect(judgeCaa(hostname, seen, ca)).toMatchObject({kind: 'Blocked', by, message});
  });

  test("for another account is the CA's to find where ours is not known, unless the URI is none", () => {
    const {accountUri: _, ...unregistered} = ca;
    const verdict = (uri: string) =>
      judgeCaa(
        'docs.example.com',
        seenAt('example.com', [`0 issue "ca1.example.net; accounturi=${uri}"`]),
        unregistered,
      ).kind;
    expect(['https://ca1.example.net/acct/2', '', '2', `${account}; accounturi=${account}`].map(verdict)).toEqual([
      'Allowed',
      'Blocked',
      'Blocked',
      'Blocked',
    ]);
  });

  test.each([
    [
      "that nobody could read ask for the zone's servers to be mended",
      'ServerFailure',
      'The name servers of that zone must answer CAA queries.',
    ],
    [
      'behind a broken DNSSEC chain ask for the DS record to be mended',
      'BrokenDnssec',
      'At the registrar, correct the DS record of that zone, or remove it to switch DNSSEC off; or ask the DNS provider to sign the zone again.',
    ],
    [
      'that are more than are read ask for fewer',
      'TooLarge',
      'Delete records until no more than that number are left.',
    ],
  ])('records %s', (_name, failure, remedy) => {
    expect(judgeCaa('docs.example.com', {failure: {name: 'example.com', failure, detail: 'DETAIL'}}, ca)).toMatchObject(
      {
        kind: 'Unknown',
        message: `The CAA records of example.com could not be read (DETAIL). The certificate authority would refuse, so no certificate is ordered for docs.example.com. ${remedy}`,
      },
    );
  });

  test('records that could not be read are Unknown, and hostile ones are written so that they harm no terminal', () => {
    expect(
      judgeCaa(
        'docs.example.com',
        {failure: {name: 'example.com', failure: 'ServerFailure', detail: 'answered SERVFAIL'}},
        ca,
      ),
    ).toMatchObject({kind: 'Unknown'});
    const evil = judge('0 issue "\u001b[2J\n\u202e"', '0 issue "'.concat('x'.repeat(60_000), '"'));
    expect(evil).toMatchObject({kind: 'Blocked', message: expect.stringMatching(/^[\x20-\x7e]{1,2000}$/) as unknown});
  });
});

describe('before an order', () => {
  const gated = {...policy, ...withIssuer({caaIdentities: ['ca1.example.net']})};
  const proven = (caa?: ReturnType<typeof judgeCaa>) =>
    decide(
      world({
        policy: gated,
        facts: {
          'docs.example.com': {
            verdict: {kind: 'Proven', by: 'CNAME', apex: false, ...(caa && {caa})},
            checkedAt: 0,
            grant: {kind: 'Granted'},
          },
        },
      }),
    );

  test('a proven name whose CAA records block the CA is Verified, has no certificate and no route, and is looked at again', () => {
    const d = proven({kind: 'Blocked', by: 'Customer', miss: 'Issuer', message: 'example.com has CAA.'});
    expect(d.status.hosts?.[0]).toMatchObject({
      phase: 'Verified',
      reason: 'CAABlocksIssuer',
      waitingFor: 'Customer',
      message: 'example.com has CAA.',
    });
    expect([d.certificates, d.routes]).toEqual([[], []]);
    expect(d.looks).toEqual([expect.objectContaining({what: 'dns', caa: true})]);
    expect(d.status.conditions?.find((c) => c.type === 'Stalled')).toMatchObject({
      status: 'True',
      reason: 'CAABlocksIssuer',
    });
  });

  test('records that could not be read, or were not yet, hold the order back too', () => {
    expect(proven({kind: 'Unknown', message: 'SERVFAIL'})).toMatchObject({
      certificates: [],
      routes: [],
      status: {hosts: [{phase: 'Verified', reason: 'CAALookupFailed'}]},
    });
    expect(proven()).toMatchObject({certificates: [], routes: [], looks: [{caa: true}]});
  });

  test('records that the last check did not ask for are read at once: a Certificate that was deleted is back within a second', () => {
    const facts = {
      'docs.example.com': {
        verdict: {kind: 'Proven', by: 'CNAME', apex: false} as const,
        checkedAt: t0 - 1000,
        grant: {kind: 'Granted'} as const,
      },
    };
    expect(decide(world({policy: gated, facts})).looks).toEqual([
      expect.objectContaining({what: 'dns', caa: true, at: t0}),
    ]);
    const unread = {
      'docs.example.com': {
        ...facts['docs.example.com'],
        verdict: {...facts['docs.example.com'].verdict, caa: {kind: 'Unknown', message: 'SERVFAIL'} as const},
      },
    };
    expect(decide(world({policy: gated, facts: unread})).looks).toEqual([expect.objectContaining({at: t0 + 14_000})]);
  });

  test('records that allow the CA let the order through, and where CAA is not configured nothing is held back', () => {
    expect(proven({kind: 'Allowed'}).certificates).toHaveLength(1);
    expect(
      decide(
        world({
          facts: {
            'docs.example.com': {
              verdict: {kind: 'Proven', by: 'CNAME', apex: false},
              checkedAt: 0,
              grant: {kind: 'Granted'},
            },
          },
        }),
      ).certificates,
    ).toHaveLength(1);
  });
});
