/** Names that have addresses in place of a CNAME: an apex, a flattened name, a wildcard; and the TXT that proves them. */
import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import {isApexByName, shown} from '../../../../operator/domain/hostnames/hostname.ts';
import {messageAt, sameBesidesTime} from '../../../../operator/domain/verification/message.ts';
import type {
  Finding,
  Observation,
  Refuted,
  VerificationRules,
  Verdict,
} from '../../../../operator/domain/verification/method.ts';
import {denies} from '../../../../operator/domain/verification/method.ts';
import {isOutdated} from '../../../../operator/domain/verification/addresses.ts';
import {instruction, recordsFor} from '../../../../operator/domain/verification/methods.ts';
import {
  judgeAuthoritative,
  judgeBoth,
  judgeRecursive,
  needsChallenge,
} from '../../../../operator/domain/verification/verdict.ts';
import {areAlike, mayBeWildcard} from '../../../../operator/domain/verification/surroundings.ts';
import type {Question} from '../../../../operator/domain/verification/records.ts';
import {canVerifyByTxt, challengeName} from '../../../../operator/domain/verification/records.ts';

const target = 'docs-acme-p0emfyp6ay01j.apps.platform.test';
const token = 'k3v9x2m4q7w1zk3v9x2m4q7w1z';
const subdomain: Question = {hostname: 'docs.example.com', target, token};
const apex: Question = {hostname: 'example.com', target, token};
const rules: VerificationRules = {edgeAddresses: ['192.0.2.1', '2001:db8::1'], addressOnly: false, cdns: []};
const second = {server: {address: '198.51.100.2', name: 'ns2.example.net'}};
const needed = `ALIAS or ANAME @ -> ${target} (or A 192.0.2.1, AAAA 2001:db8::1) and TXT _doorplate-challenge -> ${token} (TTL 3600) in the zone example.com`;

const finding = (change: Partial<Finding> = {}): Finding => ({
  server: {address: '198.51.100.1', port: 53},
  cname: [],
  a: [],
  aaaa: [],
  chain: [],
  ...change,
});
const resolver = (i: number, change: Partial<Finding> = {}) =>
  finding({server: {address: `10.0.0.${i}`, port: 53}, ...change});
const flat = finding({a: ['192.0.2.1']});
const seen = (findings: Finding[], txt?: Finding[], zone = 'example.com'): Observation => ({
  zone,
  findings,
  ...(txt && {challenge: {zone, findings: txt}}),
});
const values = (...txt: string[]) => finding({txt});
const reasonOf = (verdict: Verdict) => (verdict.kind === 'Proven' ? `by ${verdict.by}` : verdict.reason);

describe('An apex', () => {
  const rows: [
    string,
    Observation,
    Partial<Refuted> | {kind: 'Proven'; by: string} | {kind: 'Unknown'; reason: string},
  ][] = [
    [
      "is proven by the edge's addresses and the TXT",
      seen([finding({a: ['192.0.2.1'], aaaa: ['2001:db8::1']})], [values(token)]),
      {kind: 'Proven', by: 'TXT'},
    ],
    [
      'is proven by IPv6 alone and the TXT',
      seen([finding({aaaa: ['2001:db8::1']})], [values(token)]),
      {kind: 'Proven', by: 'TXT'},
    ],
    [
      "is proven by the TXT among others' values",
      seen([flat], [values('google-site-verification=x', token)]),
      {kind: 'Proven', by: 'TXT'},
    ],
    [
      'has no address',
      seen([finding({negativeTtlSeconds: 300})]),
      {
        reason: 'RecordMissing',
        state: 'Missing',
        observed: [],
        oldAnswerSeconds: 300,
        message: `example.com has no address. Create ${needed}.`,
      },
    ],
    [
      "has an address that is not the edge's",
      seen([finding({a: ['192.0.2.1', '203.0.113.7']})]),
      {
        reason: 'ConflictingA',
        state: 'Conflicting',
        observed: ['A 192.0.2.1', 'A 203.0.113.7'],
        message: `example.com has A 203.0.113.7, which is not the edge's. Delete it. Required: ${needed}; visitors then reach this platform instead of A 203.0.113.7.`,
      },
    ],
    [
      "has two IPv6 addresses that are not the edge's",
      seen([finding({a: ['192.0.2.1'], aaaa: ['2001:db8::7', '2001:db8::8']})], [values(token)]),
      {
        reason: 'ConflictingAAAA',
        state: 'Conflicting',
        observed: ['A 192.0.2.1', 'AAAA 2001:db8::7', 'AAAA 2001:db8::8'],
        message: `example.com has AAAA 2001:db8::7, AAAA 2001:db8::8, which are not the edge's. Delete them. Required: ${needed}; visitors then reach this platform instead of AAAA 2001:db8::7, AAAA 2001:db8::8.`,
      },
    ],
    ['has an IPv4 address in IPv6 clothes', seen([finding({aaaa: ['::ffff:192.0.2.1']})]), {reason: 'ConflictingAAAA'}],
    [
      'has no TXT',
      seen([flat], [values()]),
      {
        reason: 'TXTMissing',
        state: 'Found',
        txt: {state: 'Missing', observed: []},
        message: `example.com has the edge's addresses, which do not verify it. There is no TXT at _doorplate-challenge.example.com. Create TXT _doorplate-challenge -> ${token} (TTL 3600) in the zone example.com.`,
      },
    ],
    [
      "has another tenant's token",
      seen([flat], [values('other')]),
      {
        reason: 'TXTMismatch',
        state: 'Found',
        txt: {state: 'Wrong', observed: ['TXT other']},
        message: `example.com has the edge's addresses, but _doorplate-challenge.example.com has TXT other. Required: TXT _doorplate-challenge -> ${token} (TTL 3600) in the zone example.com.`,
      },
    ],
    [
      'has the token in other letters: it counts exactly',
      seen([flat], [values(token.toUpperCase())]),
      {reason: 'TXTMismatch'},
    ],
    [
      'has the token in quotes of its own: the form made them part of it',
      seen([flat], [values(`"${token}"`)]),
      {
        reason: 'TXTMismatch',
        txt: {state: 'Wrong', observed: [`TXT "${token}"`]},
        message: `example.com has the edge's addresses, but the TXT at _doorplate-challenge.example.com has quotes or spaces around its value (TXT "${token}"): remove them. Required: TXT _doorplate-challenge -> ${token} (TTL 3600) in the zone example.com.`,
      },
    ],
    ['has the token and a blank', seen([flat], [values(`${token} `)]), {reason: 'TXTMismatch'}],
    [
      'has the token at the end of a CNAME, which its owner need not have set',
      seen([flat], [finding({cname: ['elsewhere.example.net'], txt: [token]})]),
      {reason: 'TXTMismatch', txt: {state: 'Wrong', observed: ['CNAME elsewhere.example.net', `TXT ${token}`]}},
    ],
    [
      'has the TXT on one of two servers',
      seen([flat, {...flat, ...second}], [values(token), {...values(), ...second}]),
      {reason: 'NameServersDisagree'},
    ],
    [
      'has the TXT on one server, and not on another that was not heard about the name',
      seen([flat], [values(token), {...values(), ...second}]),
      {reason: 'TXTMissing'},
    ],
    [
      'has the TXT on the server that answers',
      seen([flat], [values(token), finding({failure: 'Timeout'})]),
      {kind: 'Proven', by: 'TXT'},
    ],
    [
      'has a TXT that could not be asked for',
      seen([flat], [finding({failure: 'ServerFailure'})]),
      {kind: 'Unknown', reason: 'AuthoritativeFailure'},
    ],
    [
      'has a TXT behind servers that do not answer',
      seen([flat], [finding({failure: 'Timeout'})]),
      {kind: 'Unknown', reason: 'AuthoritativeUnreachable'},
    ],
    [
      'has another address and a TXT that could not be asked for: a "no" is one',
      seen([flat, finding({a: ['203.0.113.7']})], [finding({failure: 'Timeout'})]),
      {reason: 'ConflictingA'},
    ],
    [
      'is a CNAME to the host, against the rules of DNS, and proven by it',
      seen([finding({cname: [target]})]),
      {kind: 'Proven', by: 'CNAME'},
    ],
    [
      'is a CNAME to something else',
      seen([finding({cname: ['x.example.net']})]),
      {
        reason: 'TargetMismatch',
        message: `example.com is a CNAME to x.example.net. Change it to ${needed}; visitors then reach this platform instead of x.example.net.`,
      },
    ],
  ];
  test.each(rows)('%s', (_, observation, expected) => {
    expect(judgeAuthoritative(apex, rules, observation)).toMatchObject({apex: true, ...expected});
  });

  test("is proven by the edge's addresses alone where the platform has one tenant, and by no others", () => {
    const only = {...rules, addressOnly: true};
    expect(judgeAuthoritative(apex, only, seen([flat]))).toEqual({kind: 'Proven', by: 'Addresses', apex: true});
    expect(reasonOf(judgeAuthoritative(apex, only, seen([finding({a: ['203.0.113.7']})])))).toBe('ConflictingA');
    expect(reasonOf(judgeAuthoritative(subdomain, only, seen([flat])))).toBe('ProxiedOrFlattened');
  });

  test("is not proven by the edge's addresses without a token: they prove no tenant", () => {
    expect(
      reasonOf(judgeAuthoritative({hostname: 'example.com', target}, rules, seen([flat], [values('undefined')]))),
    ).toBe('TXTMissing');
  });

  test('is one by a zone cut too: the zone is its own then', () => {
    const shop: Question = {hostname: 'shop.example.com', target, token};
    const verdict = judgeAuthoritative(shop, rules, seen([finding()], undefined, 'shop.example.com'));
    expect(verdict).toMatchObject({reason: 'RecordMissing', apex: true});
    expect((verdict as Refuted).message).toMatch(
      /TXT _doorplate-challenge -> .* \(TTL 3600\) in the zone shop\.example\.com\.$/,
    );
    expect(judgeAuthoritative(shop, rules, seen([finding()]))).toMatchObject({
      reason: 'RecordMissing',
      apex: false,
      message: `shop.example.com has no record. Create CNAME shop -> ${target} (TTL 3600) in the zone example.com.`,
    });
  });
});

describe("The edge's addresses", () => {
  const networks: VerificationRules = {
    edgeAddresses: ['192.0.2.0/28', '2001:db8:5::/48', '198.51.100.7'],
    addressOnly: true,
    cdns: [],
  };
  test.each([
    ['192.0.2.15', true],
    ['192.0.2.16', false],
    ['198.51.100.7', true],
    ['198.51.100.8', false],
    ['2001:db8:5:ffff::1', true],
    ['2001:db8:6::1', false],
    ['::ffff:192.0.2.1', false],
    ['not an address', false],
  ])('may be networks, because an ALIAS rotates: %s is one of them: %s', (address, expected) => {
    expect(judgeAuthoritative(apex, networks, seen([finding({a: [address]})])).kind).toBe(
      expected ? 'Proven' : 'Refuted',
    );
  });

  test('of an ALIAS may differ from server to server, and from resolver to resolver', () => {
    const each = ['192.0.2.1', '192.0.2.9', '198.51.100.7'].map((a, i) => resolver(i, {a: [a]}));
    expect(judgeBoth(apex, networks, seen(each), seen(each)).kind).toBe('Proven');
  });
});

describe("While nobody knows the edge's addresses", () => {
  const unknown: VerificationRules = {edgeAddresses: [], addressOnly: false, cdns: []};
  const resolvers = [1, 2].map((i) => resolver(i, {a: ['192.0.2.1']}));

  test('those of a name say nothing, whoever is asked', () => {
    for (const question of [apex, subdomain]) {
      expect(judgeAuthoritative(question, unknown, seen([flat], [values(token)]))).toMatchObject({
        kind: 'Unknown',
        reason: 'NoEdgeAddress',
      });
      expect(judgeRecursive(question, unknown, seen(resolvers))).toMatchObject({
        kind: 'Unknown',
        reason: 'NoEdgeAddress',
      });
    }
  });

  test('a verdict is outdated as soon as they are known; one that refuses addresses, as soon as these are its own', () => {
    const verdict = judgeAuthoritative(apex, unknown, seen([flat]));
    expect([unknown, rules].map((edge) => isOutdated(verdict, edge))).toEqual([false, true]);
    const refusal = judgeAuthoritative(apex, rules, seen([finding({a: ['192.0.2.7', '192.0.2.8']})]));
    const edges = [['192.0.2.7'], ['192.0.2.7', '192.0.2.8'], ['192.0.2.0/28']];
    expect([rules.edgeAddresses, ...edges].map((edgeAddresses) => isOutdated(refusal, {edgeAddresses}))).toEqual([
      false,
      false,
      true,
      true,
    ]);
    const beside = (a: string[]) =>
      judgeAuthoritative(subdomain, rules, {...seen([finding({a, exists: true})]), types: ['MX']});
    expect([isOutdated(beside(['192.0.2.7']), {edgeAddresses: ['192.0.2.7']}), isOutdated(beside([]), rules)]).toEqual([
      true,
      false,
    ]);
    const lacksTxt = judgeAuthoritative(apex, rules, seen([flat], [values()]));
    const many = Array.from({length: 17}, (_, i) => `198.51.100.${i}`);
    const cut = judgeAuthoritative(apex, rules, seen([finding({a: many})]));
    expect([isOutdated(lacksTxt, rules), isOutdated(cut, {edgeAddresses: ['198.51.100.0/24']})]).toEqual([
      false,
      false,
    ]);
  });

  test('the message names the platform, and the records that are needed', () => {
    expect(judgeAuthoritative(apex, unknown, seen([flat]))).toMatchObject({
      message:
        "example.com has addresses, but Doorplate does not know the edge's addresses yet. The platform " +
        `must give its edge an address. Required: ALIAS or ANAME @ -> ${target} and TXT _doorplate-challenge -> ${token} ` +
        '(TTL 3600) in the zone example.com.',
    });
  });

  test('a CNAME proves all the same, and a name without a record lacks it', () => {
    const proof = [finding({cname: [target]})];
    expect(judgeBoth(subdomain, unknown, seen(proof), seen(proof))).toMatchObject({kind: 'Proven', by: 'CNAME'});
    expect(reasonOf(judgeAuthoritative(apex, unknown, seen([finding()])))).toBe('RecordMissing');
  });
});

describe('A flattened or proxied subdomain', () => {
  const create = `CNAME docs -> ${target} (TTL 3600) in the zone example.com`;
  test('is told both ways out', () => {
    expect(judgeAuthoritative(subdomain, rules, seen([flat], [values()]))).toEqual({
      kind: 'Refuted',
      reason: 'ProxiedOrFlattened',
      state: 'Conflicting',
      observed: ['A 192.0.2.1'],
      txt: {state: 'Missing', observed: []},
      apex: false,
      message: `docs.example.com has the edge's address (A 192.0.2.1) and no CNAME: a proxy or a flattened record hides it. Switch that off, so that visitors bypass it, and create ${create}; or keep it and create TXT _doorplate-challenge.docs -> ${token} (TTL 3600) in the zone example.com.`,
    });
  });
  test('is proven by the TXT, and so is a name below a private suffix', () => {
    expect(judgeAuthoritative(subdomain, rules, seen([flat], [values(token)]))).toEqual({
      kind: 'Proven',
      by: 'TXT',
      apex: false,
    });
    expect(
      judgeAuthoritative(
        {hostname: 'docs.github.io', target, token},
        rules,
        seen([flat], [values(token)], 'github.io'),
      ),
    ).toMatchObject({kind: 'Proven', by: 'TXT'});
  });
  test('has a TXT that is wrong', () => {
    expect(reasonOf(judgeAuthoritative(subdomain, rules, seen([flat], [values('x')])))).toBe('TXTMismatch');
  });
  test('with addresses of others is not proven by any TXT: the traffic would go there', () => {
    expect(reasonOf(judgeAuthoritative(subdomain, rules, seen([finding({a: ['203.0.113.7']})], [values(token)])))).toBe(
      'ConflictingRecord',
    );
  });
});

const wild = (change: Partial<Finding>, txt?: Finding[]): Observation => ({
  ...seen([finding(change)], txt),
  wildcard: 'example.com',
});

describe('A wildcard', () => {
  const create = `CNAME docs -> ${target} (TTL 3600) in the zone example.com`;
  test.each([
    [
      'addresses',
      wild({a: ['203.0.113.7']}),
      'ConflictingRecord',
      `docs.example.com has A 203.0.113.7 by the wildcard record *.example.com and no CNAME. Create ${create}; the wildcard record then no longer answers for docs.example.com and the names below it; visitors then reach this platform instead of A 203.0.113.7.`,
    ],
    [
      'a CNAME',
      wild({cname: ['www.example.net']}),
      'TargetMismatch',
      `docs.example.com is a CNAME to www.example.net by the wildcard record *.example.com. Create ${create}; the wildcard record then no longer answers for docs.example.com and the names below it; visitors then reach this platform instead of www.example.net.`,
    ],
    [
      'a detour',
      wild({cname: ['www.example.net'], chain: [target]}),
      'IndirectCNAME',
      `docs.example.com is a CNAME to www.example.net by the wildcard record *.example.com, which leads on to the default hostname. Point it there directly: create ${create}; the wildcard record then no longer answers for docs.example.com and the names below it.`,
    ],
    [
      "the edge's addresses",
      wild({a: ['192.0.2.1']}, [values()]),
      'ProxiedOrFlattened',
      `docs.example.com has the edge's address (A 192.0.2.1) by the wildcard record *.example.com and no CNAME. Create ${create}; the wildcard record then no longer answers for docs.example.com and the names below it.`,
    ],
  ])('gives %s: nothing has to be deleted', (_, observation, reason, message) => {
    expect(judgeAuthoritative(subdomain, rules, observation)).toMatchObject({reason, message});
  });
  test("whose CNAME is exactly the host proves: the zone is its owner's", () => {
    expect(judgeAuthoritative(subdomain, rules, wild({cname: [target]}))).toMatchObject({kind: 'Proven', by: 'CNAME'});
  });
  test('is looked for where it could be behind, and seen by what a name beside has too', () => {
    expect(mayBeWildcard(judgeAuthoritative(subdomain, rules, seen([finding({a: ['203.0.113.7']})])))).toBe(true);
    expect(mayBeWildcard(judgeAuthoritative(subdomain, rules, seen([finding()])))).toBe(false);
    expect(mayBeWildcard(judgeAuthoritative(apex, rules, seen([finding({cname: ['x.example.net']})])))).toBe(false);
    expect(
      areAlike(seen([finding({a: ['203.0.113.7', '203.0.113.8']})]), seen([finding({a: ['203.0.113.8']})]), rules),
    ).toBe(true);
    expect(areAlike(seen([finding({a: ['203.0.113.7']})]), seen([finding({a: ['203.0.113.9']})]), rules)).toBe(false);
    expect(areAlike(seen([finding({cname: ['x.example.net']})]), seen([finding()]), rules)).toBe(false);
  });
});

describe('The TXT is asked for', () => {
  test.each<[string, Question, VerificationRules, Finding, boolean]>([
    ["where an apex has the edge's addresses", apex, rules, flat, true],
    ["where a subdomain has the edge's addresses", subdomain, rules, flat, true],
    ['not where there is a CNAME', subdomain, rules, finding({cname: [target]}), false],
    ['not where there is nothing: resolvers would remember', subdomain, rules, finding(), false],
    ['not beside addresses of others', subdomain, rules, finding({a: ['203.0.113.7']}), false],
    ['not where there is no token', {hostname: 'docs.example.com', target}, rules, flat, false],
    ['not where addresses are enough', apex, {...rules, addressOnly: true}, flat, false],
    ['but of a subdomain also there', subdomain, {...rules, addressOnly: true}, flat, true],
    ['not of a server that failed', apex, rules, finding({failure: 'Timeout', a: ['192.0.2.1']}), false],
  ])('%s', (_, question, by, found, expected) => {
    expect(needsChallenge(question, by, seen([found]))).toBe(expected);
  });
  test('never below a name that leaves no room for it', () => {
    const hostname = `${`${'a'.repeat(60)}.`.repeat(4)}example`;
    expect(canVerifyByTxt({hostname, target, token})).toBe(false);
    expect(challengeName(hostname).length).toBeGreaterThan(253);
  });
});

describe('Resolvers', () => {
  const right = seen([flat], [values(token)]);
  const votes = (...of: [Finding, string[] | string][]) => {
    const findings = of.map(([found], i) => ({...found, server: {address: `10.0.0.${i}`, port: 53}}));
    const challenge = of.map(([, txt], i) => resolver(i, typeof txt === 'string' ? {failure: txt} : {txt}));
    return seen(findings, challenge);
  };
  test.each<[string, Observation, string]>([
    ['that see addresses and TXT agree', votes([flat, [token]], [flat, [token]]), 'by TXT'],
    [
      'agree over verdicts, not over records: one sees an older CNAME to the host',
      votes([finding({cname: [target]}), []], [flat, [token]]),
      'by TXT',
    ],
    ['that see the TXT by most suffice', votes([flat, [token]], [flat, [token]], [flat, []]), 'by TXT'],
    ['of which half see the TXT do not', votes([flat, [token]], [flat, []]), 'PropagationPending'],
    ['whose TXT fails do not vote', votes([flat, [token]], [flat, 'Timeout'], [flat, 'ServerFailure']), 'by TXT'],
    ['none of which could ask for the TXT leave it unknown', votes([flat, 'Timeout']), 'ResolverFailure'],
    [
      'with addresses of others do not agree, whatever the TXT',
      votes([finding({a: ['203.0.113.7']}), [token]]),
      'PropagationPending',
    ],
    [
      'that all find the chain broken',
      votes([finding({failure: 'BrokenDnssec'}), []], [finding({failure: 'BrokenDnssec'}), []]),
      'DNSSECBroken',
    ],
    [
      'of which half find the chain broken',
      votes([finding({failure: 'BrokenDnssec'}), []], [flat, [token]]),
      'DNSSECBroken',
    ],
    [
      'of which one in three finds the chain broken are most',
      votes([finding({failure: 'BrokenDnssec'}), []], [flat, [token]], [flat, [token]]),
      'by TXT',
    ],
    ['that find the chain of the TXT broken', votes([flat, 'BrokenDnssec'], [flat, 'BrokenDnssec']), 'DNSSECBroken'],
    [
      'that find the chain broken, and others that see nothing yet',
      votes([finding({failure: 'BrokenDnssec'}), []], [finding(), []], [finding(), []]),
      'PropagationPending',
    ],
  ])('%s', (_, recursive, expected) => {
    expect(reasonOf(judgeBoth(apex, rules, right, recursive))).toBe(expected);
  });

  test('that find a broken chain are named with the remedy, and it is no "no"', () => {
    const verdict = judgeBoth(apex, rules, right, votes([finding({failure: 'BrokenDnssec'}), []]));
    expect(verdict).toEqual({
      kind: 'Unknown',
      reason: 'DNSSECBroken',
      apex: true,
      message:
        'example.com has the right record at its own servers, but validating resolvers refuse it (10.0.0.0): the DNSSEC chain of example.com is broken. The certificate authority would refuse it, ' +
        'too. At the registrar, correct the DS record of example.com, or remove it to switch DNSSEC off; or ask the DNS provider to sign the zone again.',
    });
    expect(denies(verdict)).toBe(false);
  });

  test('that repeat an old "there is none" do so for the time of the zone\'s SOA; of an old record nobody knows', () => {
    const missing = judgeBoth(
      apex,
      rules,
      {...right, negativeTtlSeconds: 900},
      seen([resolver(1, {negativeTtlSeconds: 17})]),
    );
    expect(missing).toMatchObject({reason: 'PropagationPending', state: 'Found', oldAnswerSeconds: 900});
    const old = judgeBoth(
      apex,
      rules,
      {...right, negativeTtlSeconds: 900},
      seen([resolver(1, {a: ['203.0.113.7'], ttlSeconds: 17})]),
    );
    expect(old).toEqual({
      kind: 'Refuted',
      reason: 'PropagationPending',
      state: 'Found',
      observed: [],
      apex: true,
      message:
        'example.com has the right record at its own servers; most resolvers still give older answers. No action is needed.',
    });
    expect([denies(missing), denies(old)]).toEqual([false, false]);
  });
});

describe('Resolvers alone (RecursiveOnly)', () => {
  const cname = {cname: [target]};
  test.each<[string, Finding[], string]>([
    ['prove it by two', [resolver(1, cname), resolver(2, cname)], 'by CNAME'],
    ['prove it by two of three', [resolver(1, cname), resolver(2, cname), resolver(3)], 'by CNAME'],
    [
      'prove it by two where the third cannot be asked',
      [resolver(1, cname), resolver(2, cname), resolver(3, {failure: 'Timeout'})],
      'by CNAME',
    ],
    ['do not prove it by one', [resolver(1, cname)], 'ResolverFailure'],
    [
      'do not prove it by one where the other cannot be asked',
      [resolver(1, cname), resolver(2, {failure: 'Timeout'})],
      'ResolverFailure',
    ],
    ['do not prove it by half', [resolver(1, cname), resolver(2)], 'PropagationPending'],
    ['refute it by two', [resolver(1), resolver(2)], 'RecordMissing'],
    ['do not refute it by one', [resolver(1), resolver(2, {failure: 'Timeout'})], 'ResolverFailure'],
    ['cannot be asked', [resolver(1, {failure: 'Timeout'}), resolver(2, {failure: 'Timeout'})], 'ResolverFailure'],
    [
      'find the chain broken',
      [resolver(1, {failure: 'BrokenDnssec'}), resolver(2, {failure: 'BrokenDnssec'})],
      'DNSSECBroken',
    ],
    [
      'find the chain broken by one',
      [resolver(1, {failure: 'BrokenDnssec'}), resolver(2, {failure: 'Timeout'})],
      'ResolverFailure',
    ],
    ['find the chain broken, or not', [resolver(1, {failure: 'BrokenDnssec'}), resolver(2, cname)], 'DNSSECBroken'],
  ])('%s', (_, findings, expected) => {
    expect(reasonOf(judgeRecursive(subdomain, rules, seen(findings)))).toBe(expected);
  });
  test('say nothing that ticks', () => {
    expect(
      judgeRecursive(
        subdomain,
        rules,
        seen([resolver(1, {negativeTtlSeconds: 300}), resolver(2, {negativeTtlSeconds: 299})]),
      ),
    ).toEqual({
      kind: 'Refuted',
      reason: 'RecordMissing',
      state: 'Missing',
      observed: [],
      apex: false,
      message: `docs.example.com has no record. Create CNAME docs -> ${target} (TTL 3600) in the zone example.com.`,
    });
  });
  test('prove an apex by addresses and TXT', () => {
    expect(
      judgeRecursive(
        apex,
        rules,
        seen(
          [1, 2].map((i) => resolver(i, {a: ['192.0.2.1']})),
          [1, 2].map((i) => resolver(i, {txt: [token]})),
        ),
      ),
    ).toEqual({kind: 'Proven', by: 'TXT', apex: true});
  });
});

describe('Until when', () => {
  const at = Date.parse('2026-03-01T13:32:10Z');
  const missing: Refuted = {
    kind: 'Refuted',
    reason: 'RecordMissing',
    message: 'x has no record.',
    state: 'Missing',
    observed: [],
    apex: false,
  };
  const after = (oldAnswerSeconds: number) => messageAt({...missing, oldAnswerSeconds}, at);
  test.each([
    [3600, 'x has no record. Resolvers may repeat the old answer until 14:33 UTC.'],
    [3590, 'x has no record. Resolvers may repeat the old answer until 14:32 UTC.'],
    [60, 'x has no record. Resolvers may repeat the old answer until 13:34 UTC.'],
    [59, 'x has no record.'],
    [86_400, 'x has no record. Resolvers may repeat the old answer until 2026-03-02 13:33 UTC.'],
    [2 ** 31 - 1, 'x has no record. Resolvers may repeat the old answer until 2026-03-08 13:33 UTC.'],
  ])('resolvers may repeat an answer of %i s', (seconds, expected) => {
    expect(after(seconds)).toBe(expected);
  });

  test('is fixed when it is first told: the same again is told in the same words', () => {
    const first = {reason: 'RecordMissing', message: after(3600)};
    expect(messageAt({...missing, oldAnswerSeconds: 1800}, at + 120_000, first)).toBe(first.message);
    expect(messageAt(missing, at + 120_000, first)).toBe(first.message);
    expect(messageAt({...missing, oldAnswerSeconds: 1800}, at, {...first, reason: 'TargetMismatch'})).not.toBe(
      first.message,
    );
    expect(messageAt({...missing, message: 'x has another.', oldAnswerSeconds: 1800}, at, first)).toBe(
      'x has another. Resolvers may repeat the old answer until 14:03 UTC.',
    );
    expect(sameBesidesTime(first, missing)).toBe(true);
    expect(sameBesidesTime(first, {...missing, message: 'y has no record.'})).toBe(false);
  });

  test('is told once whatever ticks', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(200_000), fc.nat(100_000_000)), {minLength: 2, maxLength: 10}), (checks) => {
        const messages = checks.reduce<string[]>(
          (all, [oldAnswerSeconds, passedMs]) => [
            ...all,
            messageAt(
              {...missing, oldAnswerSeconds},
              at + passedMs,
              all.length > 0 ? {reason: missing.reason, message: all.at(-1)!} : undefined,
            ),
          ],
          [],
        );
        expect(new Set(messages).size).toBe(1);
      }),
    );
  });
});

const ofApex = (zone: string) => [
  {type: 'ALIAS', name: '@', zone, value: target, ttl: 3600, alternatives: ['A 192.0.2.1', 'AAAA 2001:db8::1']},
  {type: 'TXT', name: '_doorplate-challenge', zone, value: token, ttl: 3600},
];

describe('The records to create', () => {
  const edge = rules;
  test('are a CNAME for a subdomain', () => {
    expect(recordsFor(subdomain, {apex: false}, edge)).toEqual([
      {type: 'CNAME', name: 'docs', zone: 'example.com', value: target, ttl: 3600},
    ]);
  });
  test('are an ALIAS and the TXT for an apex, in its own zone', () => {
    expect(recordsFor(apex, {apex: true}, edge)).toEqual(ofApex('example.com'));
    expect(recordsFor({...apex, hostname: 'shop.example.com'}, {apex: true}, edge)).toEqual(ofApex('shop.example.com'));
  });
  test('are those by which it was proven', () => {
    expect(recordsFor(subdomain, {apex: false}, edge, 'TXT').map(({type, name, zone}) => [type, name, zone])).toEqual([
      ['CNAME', 'docs', 'example.com'],
      ['TXT', '_doorplate-challenge.docs', 'example.com'],
    ]);
    expect(recordsFor(apex, {apex: true}, edge, 'Addresses').map(({type}) => type)).toEqual(['ALIAS']);
    expect(recordsFor(apex, {apex: true}, edge, 'CNAME')).toEqual([
      {type: 'CNAME', name: '@', zone: 'example.com', value: target, ttl: 3600},
    ]);
  });
  test('name no addresses where those are networks, or too many', () => {
    expect(instruction(apex, {apex: true}, {edgeAddresses: ['192.0.2.0/24']})).toBe(
      `ALIAS or ANAME @ -> ${target} and TXT _doorplate-challenge -> ${token} (TTL 3600) in the zone example.com`,
    );
    expect(
      recordsFor(
        apex,
        {apex: true},
        {
          edgeAddresses: ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5'],
        },
      )[0],
    ).not.toHaveProperty('alternatives');
  });
  test('hold no TXT without a token', () => {
    expect(recordsFor({hostname: 'example.com', target}, {apex: true}, edge).map(({type}) => type)).toEqual(['ALIAS']);
  });
});

describe('Names for people', () => {
  test.each([
    ['docs.example.com', 'docs.example.com'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example (bücher.example)'],
    ['xn--r8jz45g.xn--zckzah', 'xn--r8jz45g.xn--zckzah (例え.テスト)'],
    ['xn--4dbrk0ce.example', 'xn--4dbrk0ce.example'],
    ['xn--mgbh0fb.example', 'xn--mgbh0fb.example'],
  ])('%s is shown as %s', (name, expected) => {
    expect(shown(name)).toBe(expected);
  });

  test('stand in messages so, and in records as they are asked for', () => {
    expect(
      judgeAuthoritative(
        {hostname: 'docs.xn--bcher-kva.example', target},
        rules,
        seen([finding()], undefined, 'xn--bcher-kva.example'),
      ),
    ).toMatchObject({
      message: `docs.xn--bcher-kva.example (docs.bücher.example) has no record. Create CNAME docs -> ${target} (TTL 3600) in the zone xn--bcher-kva.example.`,
    });
  });

  test.each([
    ['example.com', true],
    ['docs.example.com', false],
    ['example.co.uk', true],
    ['www.example.co.uk', false],
    ['github.io', true],
    ['docs.github.io', true],
    ['www.docs.github.io', false],
    ['example.uk.com', true],
    ['example.test', true],
  ])('%s is an apex by its name: %s', (name, expected) => {
    expect(isApexByName(name)).toBe(expected);
  });
});
