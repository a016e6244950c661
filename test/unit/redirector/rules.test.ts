import {describe, expect, test} from '@jest/globals';
import type {HostStatus} from '../../../operator/api/custom-domain.ts';
import type {CustomDomain, Project} from '../../../operator/api/foreign.ts';
import type {ProjectStatus} from '../../../operator/api/project.ts';
import {decide} from '../../../operator/domain/lifecycle.ts';
import {rulesOfDomain, rulesOfProject, Table} from '../../../operator/redirector/rules.ts';
import {answer} from '../../../operator/redirector/table.ts';
import {domain, proven, refuted, served, settled, target, project as projectOf, world} from '../../support/world.ts';

const host = (hostname: string, change: Partial<HostStatus>): HostStatus => ({
  hostname,
  role: 'RedirectSource',
  phase: 'Live',
  reason: 'Redirecting',
  message: '',
  since: '',
  waitingFor: 'Nobody',
  ...change,
});
const domainWith = (...hosts: HostStatus[]): CustomDomain => ({...domain(), status: {observedGeneration: 1, hosts}});
const going = <T extends CustomDomain | Project>(o: T): T => ({
  ...o,
  metadata: {...o.metadata, deletionTimestamp: '2026-03-01T12:00:00Z'},
});

const decided = (input: Parameters<typeof world>[0]) =>
  rulesOfDomain({...domain(), status: decide(settled(world(input))).status});

describe('A CustomDomain tells the redirector', () => {
  const to = 'docs.example.com';
  const rows: [string, CustomDomain, object[]][] = [
    ['nothing without a status', domain(), []],
    ['that a Live primary goes to HTTPS, 308', domainWith(host(to, {role: 'Primary'})), [{host: to, to, status: 308}]],
    ...(['EdgePending', 'EdgeNotServing', 'EdgeUnreachable', 'RoutesPending'] as const).map(
      (reason): [string, CustomDomain, object[]] => [
        `the same of one that is verified and has its routes: ${reason}`,
        domainWith(host(to, {role: 'Primary', phase: 'Verified', reason})),
        [{host: to, to, status: 308}],
      ],
    ),
    [
      'the same of one that was Live before',
      domainWith(
        host(to, {role: 'Primary', phase: 'Verified', reason: 'WriteRefused', liveAt: '2026-03-01T12:00:00Z'}),
      ),
      [{host: to, to, status: 308}],
    ],
    ...(['Issuing', 'IssuanceQueued', 'CAABlocksIssuer', 'IssuanceStalled', 'NameTaken'] as const).map(
      (reason): [string, CustomDomain, object[]] => [
        `nothing of what is verified and has no routes yet: ${reason}`,
        domainWith(
          host(to, {role: 'Primary', phase: 'Verified', reason}),
          host('old.example.com', {phase: 'Verified', reason, redirect: {to, status: 301}}),
        ),
        [],
      ],
    ),
    [
      'nothing of a host that is not proven',
      domainWith(
        host(to, {role: 'Primary', phase: 'AwaitingVerification'}),
        host('old.example.com', {phase: 'AwaitingVerification', redirect: {to, status: 301}}),
      ),
      [],
    ],
    [
      'nothing of a host that is refused or going',
      domainWith(
        host(to, {role: 'Primary', phase: 'NotAccepted'}),
        host('old.example.com', {phase: 'Removing', redirect: {to, status: 301}}),
      ),
      [],
    ],
    [
      'nothing of a source whose redirect is not in effect',
      domainWith(host('old.example.com', {phase: 'Verified'})),
      [],
    ],
    ['nothing while it is being deleted', going(domainWith(host(to, {role: 'Primary'}))), []],
    ...[301, 302, 307, 308].map((status): [string, CustomDomain, object[]] => [
      `a source with its own status ${status}`,
      domainWith(host('old.example.com', {redirect: {to, status}})),
      [{host: 'old.example.com', to, status}],
    ]),
    [
      '301 where the status is none of those',
      domainWith(host('old.example.com', {redirect: {to, status: 200}})),
      [{host: 'old.example.com', to, status: 301}],
    ],
  ];
  test.each(rows)('%s', (_, of, expected) => {
    expect(rulesOfDomain(of)).toEqual(expected);
  });

  test('just what was decided', () => {
    const redirects = [{from: 'old.example.com', status: 302 as const}];
    expect(decided({redirects, facts: {'docs.example.com': served(), 'old.example.com': served()}})).toEqual([
      {host: 'docs.example.com', to: 'docs.example.com', status: 308},
      {host: 'old.example.com', to: 'docs.example.com', status: 302},
    ]);
    expect(decided({redirects, facts: {'docs.example.com': proven(), 'old.example.com': served()}})).toEqual([]);
    expect(decided({redirects, facts: {'docs.example.com': refuted(), 'old.example.com': refuted()}})).toEqual([]);
  });
});

/** A Project whose RoutesReady says this. */
const routed = (reason: string, status: Partial<ProjectStatus> = {}): Project =>
  projectOf({
    ...status,
    conditions: [
      {type: 'Deployed', status: 'True', reason: 'Deployed', message: '', lastTransitionTime: '2026-03-01T12:00:00Z'},
      {type: 'RoutesReady', status: 'True', reason, message: '', lastTransitionTime: '2026-03-01T12:00:00Z'},
    ],
  });

test.each<[string, Project, object[]]>([
  ['nothing before it has a host', routed('Routed', {host: undefined}), []],
  ['nothing before it has conditions', projectOf({conditions: undefined}), []],
  ...['Routed', 'RoutesPending', 'WriteRefused', 'WriteFailed'].map((reason): [string, Project, object[]] => [
    `that its default host goes to HTTPS, 308, while its routes stand: ${reason}`,
    routed(reason),
    [{host: target, to: target, status: 308}],
  ]),
  ...['DefaultHostDisabled', 'NoReadyEndpoint', 'ServiceNotFound', 'ProjectLimitReached', 'NameTaken'].map(
    (reason): [string, Project, object[]] => [
      `nothing while it has no routes: ${reason}`,
      routed(reason, {redirect: {to: 'docs.example.com', status: 307}}),
      [],
    ],
  ),
  [
    'the redirect in effect',
    routed('Routed', {redirect: {to: 'docs.example.com', status: 307}}),
    [{host: target, to: 'docs.example.com', status: 307}],
  ],
  ['nothing while it is being deleted', going(routed('Routed')), []],
])('A Project tells the redirector %s', (_, of, expected) => {
  expect(rulesOfProject(of)).toEqual(expected);
});

const told = (table: Table) => [...table.rules.keys()].toSorted();

describe('The table', () => {
  const [one, two] = [
    {host: 'a.example', to: 'x.example', status: 301 as const},
    {host: 'b.example', to: 'x.example', status: 301 as const},
  ];

  test("holds an owner's newest word and none of its older ones", () => {
    const table = new Table();
    table.set('o', [one, two]);
    expect(told(table)).toEqual(['a.example', 'b.example']);
    table.set('o', [two]);
    expect(told(table)).toEqual(['b.example']);
    table.set('o', []);
    expect(told(table)).toEqual([]);
  });

  test('keeps what others tell', () => {
    const table = new Table();
    table.set('o', [one]);
    table.set('p', [two]);
    table.set('o', []);
    expect(told(table)).toEqual(['b.example']);
    table.set('q', []);
    expect(told(table)).toEqual(['b.example']);
  });

  test('does not lose a hostname that has changed hands when its old owner goes', () => {
    const table = new Table();
    table.set('o', [one]);
    table.set('p', [{...one, to: 'y.example'}]);
    table.set('o', []);
    expect(table.rules.get('a.example')).toMatchObject({to: 'y.example'});
  });

  test('never has a challenge of ACME redirected (rule 7), whatever it is told', () => {
    const table = new Table();
    table.set(
      'o',
      rulesOfDomain(
        domainWith(
          host('docs.example.com', {role: 'Primary'}),
          host('old.example.com', {redirect: {to: 'docs.example.com', status: 301}}),
        ),
      ),
    );
    const answered = ['docs.example.com', 'old.example.com'].map((name) =>
      ['/.well-known/acme-challenge/token', '/x']
        .map((url) => answer(table.rules, {host: name, url, forwardedProto: 'http'}))
        .map((r) => [r.status, r.headers['location']]),
    );
    expect(answered).toEqual([
      [
        [404, undefined],
        [308, 'https://docs.example.com/x'],
      ],
      [
        [404, undefined],
        [301, 'https://docs.example.com/x'],
      ],
    ]);
  });
});

test('of two owners that tell of one host the later counts, and when it goes, the other again', () => {
  const table = new Table();
  table.set('CustomDomain a/x', [{host: 'h.example.com', to: 'a.example.com', status: 301}]);
  table.set('CustomDomain b/x', [{host: 'h.example.com', to: 'b.example.com', status: 302}]);
  expect(table.rules.get('h.example.com')).toEqual({host: 'h.example.com', to: 'b.example.com', status: 302});
  table.set('CustomDomain b/x', []);
  expect(table.rules.get('h.example.com')).toEqual({host: 'h.example.com', to: 'a.example.com', status: 301});
  table.set('CustomDomain a/x', []);
  expect([...table.rules]).toEqual([]);
});
