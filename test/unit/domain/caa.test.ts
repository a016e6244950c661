import {describe, expect, test} from '@jest/globals';
import {judgeCaa} from '../../../operator/domain/caa.ts';
import {decide} from '../../../operator/domain/lifecycle.ts';
import {policy, t0, world} from '../../support/world.ts';

const ca = {identities: ['ca1.example.net'], zone: 'apps.platform.test'};
const record = (text: string) => {
  const [, flags, tag, value] = /^(\d+) (\S+) "(.*)"$/.exec(text)!;
  return {flags: Number(flags), tag: tag!, value: value!};
};
const judge = (...records: string[]) =>
  judgeCaa('docs.example.com', {foundAt: 'example.com', records: records.map(record)}, ca).kind;

describe('CAA records, by RFC 8659 and RFC 8657', () => {
  test.each<[string, string[], 'Allowed' | 'Blocked']>([
    ['our CA alone (RFC 8659, 4.2)', ['0 issue "ca1.example.net"'], 'Allowed'],
    ['our CA among others', ['0 issue "ca2.example.org"', '0 issue "ca1.example.net"'], 'Allowed'],
    ['another CA', ['0 issue "ca2.example.org"'], 'Blocked'],
    ['nobody: an empty issuer', ['0 issue ";"'], 'Blocked'],
    ['nobody, and our CA: the more permissive counts', ['0 issue ";"', '0 issue "ca1.example.net"'], 'Allowed'],
    ['our CA with a parameter (RFC 8659, 4.2)', ['0 issue "ca1.example.net; account=230123"'], 'Allowed'],
    ['a malformed parameter allows nobody (RFC 8659, 4.2)', ['0 issue "ca1.example.net; %%%%%"'], 'Blocked'],
    ['our CA in capitals', ['0 issue "CA1.Example.NET"'], 'Allowed'],
    ['a name that only begins like ours', ['0 issue "ca1.example.net.evil.example"'], 'Blocked'],
    ['no issue property: iodef only', ['0 iodef "mailto:security@example.com"'], 'Allowed'],
    ['issuewild does not concern a name without a wildcard (RFC 8659, 4.3)', ['0 issuewild ";"'], 'Allowed'],
    [
      'issuewild for us does not open what issue closes',
      ['0 issuewild "ca1.example.net"', '0 issue "ca2.example.org"'],
      'Blocked',
    ],
    ['an unknown critical property (RFC 8659, 4.5)', ['128 tbs "Unknown"', '0 issue "ca1.example.net"'], 'Blocked'],
    ['an unknown property that is not critical', ['0 tbs "Unknown"'], 'Allowed'],
    ['a critical property that is known', ['128 issue "ca1.example.net"'], 'Allowed'],
    [
      'our method among those allowed (RFC 8657, 4)',
      ['0 issue "ca1.example.net; validationmethods=dns-01,http-01"'],
      'Allowed',
    ],
    ['other methods only (RFC 8657, 4)', ['0 issue "ca1.example.net; validationmethods=dns-01"'], 'Blocked'],
    ['no records at all', [], 'Allowed'],
  ])('%s', (_name, records, verdict) => {
    expect(judge(...records)).toBe(verdict);
  });

  const uri = 'https://ca1.example.net/acct/230123';
  test.each<[string, string[], 'Allowed' | 'Blocked']>([
    ['our account (RFC 8657, 3)', [`0 issue "ca1.example.net; accounturi=${uri}"`], 'Allowed'],
    ['another account', ['0 issue "ca1.example.net; accounturi=https://ca1.example.net/acct/1"'], 'Blocked'],
    [
      'another account, and any',
      ['0 issue "ca1.example.net; accounturi=https://ca1.example.net/acct/1"', '0 issue "ca1.example.net"'],
      'Allowed',
    ],
    [
      'our account in other letters: it counts exactly',
      [`0 issue "ca1.example.net; accounturi=${uri.toUpperCase()}"`],
      'Blocked',
    ],
    [
      'our account twice, which is malformed',
      [`0 issue "ca1.example.net; accounturi=${uri}; accounturi=${uri}"`],
      'Blocked',
    ],
    [
      'our account by another method, another by ours',
      [
        `0 issue "ca1.example.net; accounturi=${uri}; validationmethods=dns-01"`,
        '0 issue "ca1.example.net; accounturi=x; validationmethods=http-01"',
      ],
      'Blocked',
    ],
  ])('%s, where the account is known', (_name, records, verdict) => {
    expect(
      judgeCaa('docs.example.com', {foundAt: 'example.com', records: records.map(record)}, {...ca, accountUri: uri})
        .kind,
    ).toBe(verdict);
  });

  test("another account is the CA's to refuse where ours is not known, and is told as such where it is", () => {
    const records = [record('0 issue "ca1.example.net; accounturi=https://ca1.example.net/acct/1"')];
    expect(judgeCaa('docs.example.com', {foundAt: 'example.com', records}, ca).kind).toBe('Allowed');
    expect(judgeCaa('docs.example.com', {foundAt: 'example.com', records}, {...ca, accountUri: uri})).toMatchObject({
      kind: 'Blocked',
      by: 'Customer',
      message: expect.stringContaining(
        "which allows other accounts of the platform's certificate authority only",
      ) as unknown,
    });
  });

  test('a block names the record, where it stands and the one to add, and whose it is', () => {
    expect(
      judgeCaa('docs.example.com', {foundAt: 'example.com', records: [record('0 issue "ca2.example.org"')]}, ca),
    ).toEqual({
      kind: 'Blocked',
      by: 'Customer',
      message:
        'example.com has CAA 0 issue "ca2.example.org", which does not allow the platform\'s certificate authority. Nothing is ordered for docs.example.com. Add CAA 0 issue "ca1.example.net" at example.com.',
    });
    expect(
      judgeCaa('docs.example.com', {foundAt: 'docs-x.apps.platform.test', records: [record('0 issue ";"')]}, ca),
    ).toMatchObject({kind: 'Blocked', by: 'Platform'});
  });

  test('records that could not be read are Unknown, and hostile ones are written so that they harm no terminal', () => {
    expect(
      judgeCaa(
        'docs.example.com',
        {failure: {name: 'example.com', failure: 'ServerFailure', detail: 'answered SERVFAIL'}},
        ca,
      ),
    ).toMatchObject({kind: 'Unknown'});
    const evil = judgeCaa(
      'docs.example.com',
      {foundAt: 'example.com', records: [{flags: 0, tag: 'issue', value: '\u001b[2J\n"x'}]},
      ca,
    );
    expect(evil).toMatchObject({kind: 'Blocked'});
    expect(JSON.stringify(evil)).not.toMatch(/\\u001b|\\n/);
  });
});

describe('before an order', () => {
  const gated = {...policy, caaIdentities: ['ca1.example.net']};
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
    const d = proven({kind: 'Blocked', by: 'Customer', message: 'example.com has CAA.'});
    expect(d.status.hosts?.[0]).toMatchObject({
      phase: 'Verified',
      reason: 'CAABlocksIssuer',
      waitingFor: 'Customer',
      message: 'example.com has CAA.',
    });
    expect([d.certificates, d.ingresses]).toEqual([[], []]);
    expect(d.looks).toEqual([expect.objectContaining({what: 'dns', caa: true})]);
    expect(d.status.conditions?.find((c) => c.type === 'Stalled')).toMatchObject({
      status: 'True',
      reason: 'CAABlocksIssuer',
    });
  });

  test('records that could not be read, or were not yet, hold the order back too', () => {
    expect(proven({kind: 'Unknown', message: 'SERVFAIL'})).toMatchObject({
      certificates: [],
      ingresses: [],
      status: {hosts: [{phase: 'Verified', reason: 'CAALookupFailed'}]},
    });
    expect(proven()).toMatchObject({certificates: [], ingresses: [], looks: [{caa: true}]});
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
