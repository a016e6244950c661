import {describe, expect, test} from '@jest/globals';
import {strict as assert} from 'node:assert';
import * as fc from 'fast-check';
import type {Finding, Observation, VerificationRules} from '../../../operator/domain/verification/method.ts';
import {instruction} from '../../../operator/domain/verification/methods.ts';
import {judgeAuthoritative, judgeBoth} from '../../../operator/domain/verification/verdict.ts';
import {reasons} from '../../../operator/domain/reasons/reasons.ts';
import {printable} from '../../../operator/domain/text.ts';

const name = 'docs.example.com';
const target = 'docs-acme-p0emfyp6ay01j.apps.platform.test';
const question = {hostname: name, target};
const rules: VerificationRules = {edgeAddresses: ['192.0.2.1', '2001:db8::1'], addressOnly: false, cdns: []};
const proven = {kind: 'Proven', by: 'CNAME', apex: false};
const create = `CNAME docs -> ${target} (TTL 3600) in the zone example.com`;

const finding = (change: Partial<Finding> = {}): Finding => ({
  server: {address: '198.51.100.1', name: 'ns1.example.net'},
  cname: [],
  a: [],
  aaaa: [],
  chain: [],
  ...change,
});
const second = {server: {address: '198.51.100.2', name: 'ns2.example.net'}};
const right = finding({cname: [target], ttlSeconds: 3600});
const dead = (failure = 'Timeout', change: Partial<Finding> = {}) => finding({failure, ...change});
const seen = (...findings: Finding[]): Observation => ({zone: 'example.com', findings});
const verdictOf = (...findings: Finding[]) => judgeAuthoritative(question, rules, seen(...findings));

const both = (authoritative: Finding[], recursive: Finding[]) =>
  judgeBoth(question, rules, seen(...authoritative), seen(...recursive));

describe("The zone's own servers", () => {
  const rows: [string, Finding[], object][] = [
    ['prove it by a CNAME to exactly the host', [right], proven],
    ['prove it where some cannot be asked', [right, dead('Timeout', second), dead('ServFail')], proven],
    [
      'have no record',
      [finding()],
      {
        kind: 'Refuted',
        reason: 'RecordMissing',
        state: 'Missing',
        observed: [],
        message: `${name} has no record. Create ${create}.`,
      },
    ],
    [
      'have no record, and resolvers will keep that for a while',
      [finding({negativeTtlSeconds: 3600})],
      {
        kind: 'Refuted',
        reason: 'RecordMissing',
        state: 'Missing',
        observed: [],
        oldAnswerSeconds: 3600,
        message: `${name} has no record. Create ${create}.`,
      },
    ],
    [
      'have another target',
      [finding({cname: ['other.example.net'], ttlSeconds: 30})],
      {
        kind: 'Refuted',
        oldAnswerSeconds: 30,
        reason: 'TargetMismatch',
        state: 'Wrong',
        observed: ['CNAME other.example.net'],
        message: `${name} is a CNAME to other.example.net. Change it to ${create}; visitors then reach this platform instead of other.example.net.`,
      },
    ],
    [
      'have another target for two days yet',
      [finding({cname: ['other.example.net'], ttlSeconds: 172_800})],
      {
        kind: 'Refuted',
        oldAnswerSeconds: 172_800,
        reason: 'TargetMismatch',
        state: 'Wrong',
        observed: ['CNAME other.example.net'],
        message: `${name} is a CNAME to other.example.net. Change it to ${create}; visitors then reach this platform instead of other.example.net.`,
      },
    ],
    [
      'have the target with the zone behind it',
      [finding({cname: [`${target}.example.com`]})],
      {
        kind: 'Refuted',
        reason: 'TargetMismatch',
        state: 'Wrong',
        observed: [`CNAME ${target}.example.com`],
        details: {cause: 'ZoneAppended'},
        message: `${name} is a CNAME to ${target}.example.com: the DNS provider has appended the zone to the value. End the value with a dot, ${target}., so that the record is: ${create}.`,
      },
    ],
    [
      'have the host of another Project',
      [finding({cname: [target.replace('docs-', 'shop-')]})],
      {
        kind: 'Refuted',
        reason: 'TargetMismatch',
        state: 'Wrong',
        observed: [`CNAME ${target.replace('docs-', 'shop-')}`],
        message: `${name} is a CNAME to ${target.replace('docs-', 'shop-')}. Change it to ${create}; visitors then reach this platform instead of ${target.replace('docs-', 'shop-')}.`,
      },
    ],
    [
      'reach the host by a detour, which proves nothing',
      [finding({cname: ['cdn.example.net'], chain: ['x.example.net', target]})],
      {
        kind: 'Refuted',
        reason: 'IndirectCNAME',
        state: 'Wrong',
        observed: ['CNAME cdn.example.net'],
        message: `${name} is a CNAME to cdn.example.net, which leads on to the default hostname. Point it there directly: change it to ${create}.`,
      },
    ],
    ['go on from the host to wherever it leads', [finding({cname: [target], chain: ['edge.platform.test']})], proven],
    [
      'have an address in place of the CNAME',
      [finding({a: ['203.0.113.7']})],
      {
        kind: 'Refuted',
        reason: 'ConflictingRecord',
        state: 'Conflicting',
        observed: ['A 203.0.113.7'],
        message: `${name} has A 203.0.113.7 and no CNAME. Delete it and create ${create}; visitors then reach this platform instead of A 203.0.113.7.`,
      },
    ],
    [
      'have an IPv6 address in its place',
      [finding({aaaa: ['2001:db8::7']})],
      {
        kind: 'Refuted',
        reason: 'ConflictingRecord',
        state: 'Conflicting',
        observed: ['AAAA 2001:db8::7'],
        message: `${name} has AAAA 2001:db8::7 and no CNAME. Delete it and create ${create}; visitors then reach this platform instead of AAAA 2001:db8::7.`,
      },
    ],
    [
      'have many addresses in its place',
      [
        finding({
          a: ['203.0.113.9', '203.0.113.7', '203.0.113.8'],
          aaaa: ['2001:db8::7', '2001:db8::8'],
          ttlSeconds: 120,
        }),
      ],
      {
        kind: 'Refuted',
        oldAnswerSeconds: 120,
        reason: 'ConflictingRecord',
        state: 'Conflicting',
        observed: ['A 203.0.113.7', 'A 203.0.113.8', 'A 203.0.113.9', 'AAAA 2001:db8::7', 'AAAA 2001:db8::8'],
        message: `${name} has A 203.0.113.7, A 203.0.113.8, A 203.0.113.9, AAAA 2001:db8::7 and 1 more and no CNAME. Delete them and create ${create}; visitors then reach this platform instead of A 203.0.113.7, A 203.0.113.8, A 203.0.113.9, AAAA 2001:db8::7 and 1 more.`,
      },
    ],
    [
      "have the edge's own addresses: flattened",
      [finding({a: ['192.0.2.1'], aaaa: ['2001:db8::1']})],
      {
        kind: 'Refuted',
        reason: 'ProxiedOrFlattened',
        state: 'Conflicting',
        observed: ['A 192.0.2.1', 'AAAA 2001:db8::1'],
        message: `${name} has the edge's address (A 192.0.2.1, AAAA 2001:db8::1) and no CNAME: a proxy or a flattened record hides it. Switch that off, so that visitors bypass it, and create ${create}.`,
      },
    ],
    [
      "have one of the edge's addresses and one of another's",
      [finding({a: ['192.0.2.1', '203.0.113.7']})],
      {
        kind: 'Refuted',
        reason: 'ConflictingRecord',
        state: 'Conflicting',
        observed: ['A 192.0.2.1', 'A 203.0.113.7'],
        message: `${name} has A 192.0.2.1, A 203.0.113.7 and no CNAME. Delete them and create ${create}; visitors then reach this platform instead of A 192.0.2.1, A 203.0.113.7.`,
      },
    ],
    [
      'have two CNAMEs, the right one among them: a broken zone proves nothing',
      [finding({cname: ['other.example.net', target]})],
      {
        kind: 'Refuted',
        reason: 'TargetMismatch',
        state: 'Wrong',
        observed: [`CNAME ${target}`, 'CNAME other.example.net'],
        message: `${name} is a CNAME to other.example.net. Change it to ${create}; visitors then reach this platform instead of other.example.net.`,
      },
    ],
    [
      'disagree: any of them may be asked next',
      [right, finding(second)],
      {
        kind: 'Refuted',
        reason: 'NameServersDisagree',
        state: 'Found',
        observed: [],
        details: {servers: 'ns2.example.net (198.51.100.2)'},
        message:
          `${name} has the right record at ns1.example.net (198.51.100.1), but not at ns2.example.net (198.51.100.2): ` +
          'the name servers of example.com have different versions of the zone. This usually ends within minutes. If it ' +
          'does not, ask the DNS provider to update all of them, or remove the name servers of a former provider at the registrar.',
      },
    ],
    [
      'do not answer, all of them',
      [dead(), dead('Unreachable', second)],
      {
        kind: 'Unknown',
        reason: 'AuthoritativeUnreachable',
        message:
          `${name} could not be checked: the name servers of example.com, ns1.example.net (198.51.100.1), ns2.example.net (198.51.100.2), did not answer (Timeout, Unreachable). ` +
          `Ask the DNS provider to repair them. If no name server of any zone answers, the platform must allow outgoing traffic to port 53. Required: ${create}.`,
      },
    ],
    [
      'fail, one by SERVFAIL',
      [dead(), dead('ServFail', second)],
      {
        kind: 'Unknown',
        reason: 'AuthoritativeFailure',
        message: `${name} could not be checked: the name servers of example.com, ns1.example.net (198.51.100.1), ns2.example.net (198.51.100.2), failed (ServFail, Timeout). Fix the zone at the DNS provider. Required: ${create}.`,
      },
    ],
    [
      'refuse',
      [dead('Refused')],
      {
        kind: 'Unknown',
        reason: 'AuthoritativeFailure',
        message: `${name} could not be checked: the name servers of example.com, ns1.example.net (198.51.100.1), failed (Refused). Fix the zone at the DNS provider. Required: ${create}.`,
      },
    ],
    [
      'answer without authority',
      [dead('NotAuthoritative')],
      {
        kind: 'Unknown',
        reason: 'AuthoritativeFailure',
        message: `${name} could not be checked: the name servers of example.com, ns1.example.net (198.51.100.1), answered without authority (no AA flag), so they do not serve this zone. At the registrar, enter the name servers of the DNS provider that has the zone. Or ask the provider to add the zone to these servers. Required: ${create}.`,
      },
    ],
    [
      'answer without authority, and fail',
      [dead('NotAuthoritative'), dead('Refused', second)],
      {
        kind: 'Unknown',
        reason: 'AuthoritativeFailure',
        message: `${name} could not be checked: the name servers of example.com, ns1.example.net (198.51.100.1), ns2.example.net (198.51.100.2), failed (NotAuthoritative, Refused). Fix the zone at the DNS provider. Required: ${create}.`,
      },
    ],
  ];
  test.each(rows)('%s', (_, findings, expected) => {
    expect(verdictOf(...findings)).toEqual({apex: false, ...expected});
    expect(verdictOf(...findings.toReversed())).toEqual({apex: false, ...expected});
  });

  test('that were not found are told by what went wrong', () => {
    expect(
      judgeAuthoritative(question, rules, {findings: [], failure: {failure: 'Timeout', detail: 'x'}}),
    ).toMatchObject({
      kind: 'Unknown',
      reason: 'AuthoritativeUnreachable',
      message: expect.stringContaining('the name servers of example.com did not answer (Timeout)'),
    });
    expect(
      judgeAuthoritative(question, rules, {findings: [], failure: {failure: 'ServFail', detail: 'x'}}),
    ).toMatchObject({kind: 'Unknown', reason: 'AuthoritativeFailure'});
    expect(judgeAuthoritative(question, rules, {findings: []})).toMatchObject({
      kind: 'Unknown',
      reason: 'AuthoritativeUnreachable',
      message: expect.stringContaining('(none found)'),
    });
  });

  test('of several ways to be wrong always have the same one told, whoever answers first', () => {
    const findings = [finding(), finding({...second, cname: ['other.example.net']}), finding({a: ['203.0.113.7']})];
    fc.assert(
      fc.property(fc.shuffledSubarray(findings, {minLength: 3}), (shuffled) => {
        expect(verdictOf(...shuffled)).toEqual(verdictOf(...findings));
      }),
    );
  });

  test('are told by at most four, sorted', () => {
    const all = Array.from({length: 6}, (_, i) => dead('Timeout', {server: {address: `198.51.100.${9 - i}`}}));
    expect((verdictOf(...all) as {message: string}).message).toContain(
      'the name servers of example.com, 198.51.100.4, 198.51.100.5, 198.51.100.6, 198.51.100.7, did not answer',
    );
  });
});

describe('The recursive resolvers', () => {
  const behind = {
    kind: 'Refuted',
    reason: 'PropagationPending',
    state: 'Found',
    observed: [],
    message: `${name} has the right record at its own servers; most resolvers still give older answers. No action is needed.`,
  };

  const rows: [string, Finding[], object][] = [
    ['agree', [right, right], proven],
    ['agree by most', [right, right, finding()], proven],
    ['agree by one alone', [right], proven],
    ['agree where the others cannot be asked', [right, dead('ServFail'), dead()], proven],
    ['do not see it, half of them', [right, finding()], behind],
    ['do not see it, most of them', [right, finding(), finding({a: ['203.0.113.7']})], behind],
    ['do not see it, none of them', [finding()], behind],
    [
      'cannot be asked',
      [dead('ServFail', {server: {address: '10.0.0.10'}})],
      {
        kind: 'Unknown',
        reason: 'ResolverFailure',
        message: `${name} has the right record at its own servers, but no recursive resolver answered (10.0.0.10). The platform must check dns.recursive.`,
      },
    ],
    [
      'are none',
      [],
      {
        kind: 'Unknown',
        reason: 'ResolverFailure',
        message: `${name} has the right record at its own servers, but no recursive resolver answered (). The platform must check dns.recursive.`,
      },
    ],
  ];
  test.each(rows)('%s', (_, recursive, expected) => {
    expect(both([right], recursive)).toEqual({apex: false, ...expected});
    expect(both([right], recursive.toReversed())).toEqual({apex: false, ...expected});
  });

  test('cannot outvote the zone itself', () => {
    expect(both([finding()], [right, right])).toMatchObject({kind: 'Refuted', reason: 'RecordMissing'});
    expect(both([dead()], [right, right])).toMatchObject({kind: 'Unknown', reason: 'AuthoritativeUnreachable'});
  });

  test('say nothing that ticks: their own TTLs are in no message', () => {
    const [one, other] = [299, 17].map((ttlSeconds) =>
      both([right], [finding({negativeTtlSeconds: ttlSeconds}), finding({cname: ['x.example'], ttlSeconds})]),
    );
    expect(one).toEqual(other);
  });
});

test.each([
  ['docs.example.com', `CNAME docs -> ${target} (TTL 3600) in the zone example.com`],
  ['a.b.example.co.uk', `CNAME a.b -> ${target} (TTL 3600) in the zone example.co.uk`],
])('The instruction for %s is what a form asks for', (hostname, expected) => {
  expect(instruction({hostname, target}, {apex: false}, rules)).toBe(expected);
});

describe('What others put into DNS', () => {
  test.each([
    ['docs.example.com', 'docs.example.com'],
    ['a b', 'a\\032b'],
    ['a\r\nb', 'a\\013\\010b'],
    ['\u001b[31m', '\\027[31m'],
    ['é', '\\195\\169'],
    ['\0', '\\000'],
    ['\x7f', '\\127'],
    ['', ''],
    ['a'.repeat(253), 'a'.repeat(253)],
    ['a'.repeat(254), `${'a'.repeat(250)}...`],
    ['\u202e'.repeat(100), `${'\\226\\128\\174'.repeat(100).slice(0, 250)}...`],
  ])('is printable: %j', (data, expected) => {
    expect(printable(data)).toBe(expected);
  });

  test('never gets into a verdict but as printable ASCII, bounded; every verdict has a reason of the table', () => {
    const text = fc.oneof(
      fc.string({unit: 'binary', maxLength: 40}),
      fc.string({minLength: 300, maxLength: 400}),
      fc.constant(target),
      fc.domain(),
    );
    const anyFinding = fc.record({
      server: fc.record({address: fc.ipV4(), name: text}),
      failure: fc.option(fc.constantFrom('Timeout', 'ServFail', 'Refused', 'Unreachable'), {nil: undefined, freq: 2}),
      cname: fc.array(text, {maxLength: 3}),
      a: fc.array(text, {maxLength: 30}),
      aaaa: fc.array(text, {maxLength: 30}),
      chain: fc.array(text, {maxLength: 8}),
      ttlSeconds: fc.option(fc.nat(), {nil: undefined}),
      negativeTtlSeconds: fc.option(fc.nat(), {nil: undefined}),
    });
    const observation = fc.record({
      zone: fc.option(text, {nil: undefined}),
      findings: fc.array(anyFinding, {maxLength: 5}),
    });
    fc.assert(
      fc.property(observation, observation, (authoritative, recursive) => {
        const verdict = judgeBoth(question, rules, authoritative, recursive);
        const answers = authoritative.findings.filter((f) => f.failure === undefined);
        if (verdict.kind === 'Proven') {
          assert(
            answers.length > 0 && answers.every((f) => f.cname.length === 1 && f.cname[0] === target),
            'proven by every server that answered',
          );
          return;
        }
        expect(Object.keys(reasons)).toContain(verdict.reason);
        expect(verdict.message).toMatch(/^[\x20-\x7e]+$/);
        expect(verdict.message).toContain(name);
        if (verdict.kind === 'Unknown') return;
        expect(verdict.observed.length).toBeLessThanOrEqual(16);
        expect(verdict.observed).toEqual(verdict.observed.toSorted());
        for (const record of verdict.observed) expect(record).toMatch(/^(CNAME|A|AAAA) [\x21-\x7e]{0,253}$/);
      }),
      {numRuns: 500},
    );
  });
});
