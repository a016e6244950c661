import {describe, expect, test} from '@jest/globals';
import {acceptHostname} from '../../../../operator/domain/hostnames/acceptance.ts';
import {decide} from '../../../../operator/domain/lifecycle.ts';
import {timestamp} from '../../../../operator/domain/times.ts';
import type {WorldInput} from '../../../support/world.ts';
import {days, domain, free, hostLines, policy, project, t0, world} from '../../../support/world.ts';

const reasonBeside = (other: Parameters<typeof domain>[0]) =>
  decide(world({name: 'm', others: [domain({uid: 'other', ...other})]})).status.hosts![0]!.reason;

describe('A CustomDomain is refused', () => {
  const older = domain({name: 'older', uid: 'older', createdAt: timestamp(t0 - 2 * days)});
  const undeployed = project({firstDeployTime: undefined});
  /** In the order in which they count: each row has every fault of those below it. */
  const rows: [string, WorldInput, string][] = [
    [
      'ProjectNotFound',
      {primary: 'co.uk', project: null, others: [older], plan: free},
      'The namespace has no Project docs. Create it.',
    ],
    [
      'ProjectHasDomains',
      {primary: 'co.uk', project: undeployed, others: [older], plan: free},
      'The Project docs already has its domains in the CustomDomain older. Add these hostnames there, or delete that CustomDomain.',
    ],
    [
      'HostnameNotAllowed',
      {primary: 'co.uk', project: undeployed, plan: free},
      '"co.uk" cannot be attached: it is a public suffix, under which anyone can register names. Choose another hostname.',
    ],
    [
      'PlanUpgradeRequired',
      {project: undeployed, plan: free},
      'The account acme is on the plan free, which does not allow custom domains. Upgrade the plan.',
    ],
    [
      'PlanNotFound',
      {project: undeployed, plan: null},
      'The Account acme is on the Plan lost, which does not exist. The platform must create it, or correct the Account.',
    ],
    [
      'NoSuccessfulDeploy',
      {project: undeployed},
      'The Project docs has had no successful deploy: its Service has never had a ready endpoint. Deploy it.',
    ],
    ['ProjectNotFound', {project: project({host: undefined})}, 'The Project docs has no default hostname yet.'],
  ];
  test.each(rows)('as %s', (reason, input, message) => {
    expect(decide(world(input)).status.hosts![0]).toMatchObject({phase: 'NotAccepted', reason, message});
  });

  test('no more as soon as the cause is gone', () => {
    expect(hostLines(decide(world()))).toEqual(['docs.example.com AwaitingVerification CheckPending Nobody']);
  });

  test('but the oldest of a Project is not, and of two of one second the first by name is not', () => {
    expect(reasonBeside({name: 'a', createdAt: timestamp(t0)})).toBe('CheckPending');
    expect(reasonBeside({name: 'z', createdAt: timestamp(t0 - 2 * days)})).toBe('ProjectHasDomains');
    expect(reasonBeside({name: 'z'})).toBe('CheckPending');
    expect(reasonBeside({name: 'a'})).toBe('ProjectHasDomains');
  });

  test('hostname by hostname, where only one is at fault', () => {
    const d = decide(world({redirects: [{from: 'b.denied.example'}, {from: 'a.example.com'}]}));
    expect(hostLines(d)).toEqual([
      'docs.example.com AwaitingVerification CheckPending Nobody',
      'a.example.com AwaitingVerification CheckPending Nobody',
      'b.denied.example NotAccepted HostnameNotAllowed Customer',
    ]);
    expect(d.status.dnsRecords?.map((r) => r.hostname)).toEqual(['docs.example.com', 'a.example.com']);
    expect(d.looks.map((l) => l.hostname)).toEqual(['docs.example.com', 'a.example.com']);
  });
});

describe('A hostname', () => {
  test.each([
    ['xn--999999999.example', 'it is not a valid internationalized domain name (UTS #46)'],
    [`${'ü'.repeat(60)}.example`, 'it is not a valid internationalized domain name (UTS #46)'],
    ['１.２.３.４', 'it is not a valid internationalized domain name (UTS #46)'],
    ['CO.UK.', 'it is a public suffix, under which anyone can register names'],
    ['foo.ck', 'it is a public suffix, under which anyone can register names'],
    ['apps.platform.test', "it belongs to the platform's own zone apps.platform.test"],
    ['docs.Apps.Platform.test.', "it belongs to the platform's own zone apps.platform.test"],
    ['denied.example', 'the platform does not allow names under denied.example'],
    ['a.b.denied.example', 'the platform does not allow names under denied.example'],
    ['docs.ｌｏｃａｌ', 'it is docs.local, a reserved name that can have no public certificate (RFC 6761, 6762, 7686)'],
    [
      'docs.ｌocalhost',
      'it is docs.localhost, a reserved name that can have no public certificate (RFC 6761, 6762, 7686)',
    ],
  ])('%s is not allowed: %s', (written, why) => {
    expect(acceptHostname(written, policy)).toMatchObject({
      reason: 'HostnameNotAllowed',
      message: `${JSON.stringify(written)} cannot be attached: ${why}. Choose another hostname.`,
    });
  });

  test.each([
    'docs.example.com',
    'example.com',
    'bücher.example',
    'platform.test',
    'xapps.platform.test',
    'notdenied.example',
    'me.github.io',
    'github.io',
    'localhost.example.com',
  ])('%s is allowed', (written) => {
    expect(acceptHostname(written, policy)).toBeUndefined();
  });

  const twins: [string, string, string[], string[]][] = [
    [
      'two redirect sources',
      'docs.example.com',
      ['bücher.example', 'xn--bcher-kva.example'],
      ['docs.example.com CheckPending', 'xn--bcher-kva.example CheckPending', 'bücher.example DuplicateHostname'],
    ],
    [
      'the primary and a source in A-labels',
      'bücher.example',
      ['xn--bcher-kva.example'],
      ['xn--bcher-kva.example CheckPending', 'bücher.example DuplicateHostname'],
    ],
    [
      'the primary in A-labels and a source',
      'xn--bcher-kva.example',
      ['bücher.example'],
      ['xn--bcher-kva.example CheckPending', 'bücher.example DuplicateHostname'],
    ],
    [
      'three, of which one is told of after the other is gone',
      'docs.example.com',
      ['BÜCHER.example', 'bücher.example', 'xn--bcher-kva.example'],
      ['docs.example.com CheckPending', 'xn--bcher-kva.example CheckPending', 'bücher.example DuplicateHostname'],
    ],
    [
      'decomposed and composed',
      'docs.example.com',
      ['b\u00fccher.example', 'bu\u0308cher.example'],
      ['docs.example.com CheckPending', 'xn--bcher-kva.example CheckPending', 'b\u00fccher.example DuplicateHostname'],
    ],
  ];
  test.each(twins)('given twice is DuplicateHostname, and the first works on: %s', (_, primary, sources, expected) => {
    for (const order of [sources, sources.toReversed()]) {
      const d = decide(world({primary, redirects: order.map((from) => ({from}))}));
      expect(d.status.hosts!.map((h) => `${h.hostname} ${h.reason}`)).toEqual(expected);
      expect(new Set(d.status.hosts!.map((h) => h.hostname)).size).toBe(expected.length);
      expect(d.status.hosts!.find((h) => h.reason === 'DuplicateHostname')!.message).toMatch(
        /^".+" is another spelling of the hostname ".+"\. Remove one of the two spellings\.$/,
      );
    }
  });

  test('that has no normal form stands in its entry as it is compared: folded, without its dot', () => {
    const written = `XN--999999999.${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(47)}.`;
    expect(written).toHaveLength(254);
    expect(decide(world({primary: written})).status.hosts![0]).toMatchObject({
      hostname: written.slice(0, -1).toLowerCase(),
      reason: 'HostnameNotAllowed',
    });
  });
});
