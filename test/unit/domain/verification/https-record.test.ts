/** HTTPS records that lead browsers elsewhere, and how long a Live hostname is told so. test/dns asks real servers. */
import {describe, expect, test} from '@jest/globals';
import {withHttps} from '../../../../operator/domain/verification/https-record.ts';
import type {Finding, ProvenBy} from '../../../../operator/domain/verification/method.ts';
import {decide} from '../../../../operator/domain/lifecycle.ts';
import type {HostFacts} from '../../../../operator/domain/world.ts';
import {conditionLines, entryOf, hostLines, later, minutes, served, settled, world} from '../../../support/world.ts';

const apex = 'example.com';
const question = {hostname: apex, target: 'docs-acme.apps.platform.test', token: 'k3v9x2m4q7w1z'};
const cdns = [{name: 'Example CDN', networks: ['198.51.100.128/25'], hosts: []}];
const rules = {edgeAddresses: ['192.0.2.0/28'], edgeHostname: 'edge.platform.test', addressOnly: false, cdns};
const proven: ProvenBy = {kind: 'Proven', by: 'TXT', apex: true};
const finding = (change: Partial<Finding>): Finding => ({
  server: {address: '198.51.100.1', port: 53},
  cname: [],
  a: [],
  aaaa: [],
  chain: [],
  ...change,
});
type Https = NonNullable<Finding['https']>;
const browsersGo = (https: Https, a: string[]): readonly string[] => {
  const [seen, asked] = [{findings: [finding({a})]}, {findings: [finding({https})]}];
  return withHttps(proven, question, rules, {seen, asked}).browsersGoTo ?? [];
};

describe('Browsers go', () => {
  test.each<[string, string[], Https, string[]]>([
    ['here without a record', [], [], ['192.0.2.1']],
    ['here by a record for the name itself', [], [{to: '', hints: []}], ['192.0.2.1']],
    ['here by a record with its own name', [], [{to: apex, hints: []}], ['192.0.2.1']],
    ["here by a record to the project's host", [], [{to: question.target, hints: []}], ['192.0.2.1']],
    ["here by a record to the edge's name", [], [{to: 'edge.platform.test', hints: []}], ['192.0.2.1']],
    ['here by hints of the edge', [], [{to: '', hints: ['192.0.2.9']}], ['192.0.2.1']],
    ['here by hints of the addresses at the name', [], [{to: '', hints: ['203.0.113.9']}], ['203.0.113.9']],
    ['here by hints of the CDN in front', [], [{to: '', hints: ['198.51.100.201']}], ['198.51.100.200']],
    [
      'elsewhere by hints of a CDN that is not in front',
      ['198.51.100.201'],
      [{to: '', hints: ['198.51.100.201']}],
      ['192.0.2.1'],
    ],
    ['elsewhere by another name', ['old.example.net'], [{to: 'old.example.net', hints: []}], ['192.0.2.1']],
    [
      'elsewhere by one of two hints',
      ['198.51.100.7'],
      [{to: '', hints: ['192.0.2.1', '198.51.100.7']}],
      ['192.0.2.1'],
    ],
    [
      'elsewhere by several records: two are named, sorted',
      ['2001:db8::7', 'a.example.net'],
      [
        {to: 'b.example.net', hints: ['2001:db8::7']},
        {to: 'a.example.net', hints: []},
      ],
      ['192.0.2.1'],
    ],
  ])('%s', (_, expected, https, a) => {
    expect(browsersGo(https, a)).toEqual(expected);
    expect(browsersGo(https.toReversed(), a)).toEqual(expected);
  });

  test('nobody knows where while no server could be asked', () => {
    const [seen, asked] = [{findings: [finding({a: ['192.0.2.1']})]}, {findings: [finding({failure: 'Timeout'})]}];
    expect(withHttps(proven, question, rules, {seen, asked})).toEqual({...proven, isHttpsUnknown: true});
  });
});

describe('A Live hostname whose HTTPS record leads elsewhere', () => {
  const elsewhere: ProvenBy = {...proven, browsersGoTo: ['198.51.100.7']};
  const start = settled(world({primary: apex, facts: {[apex]: served({verdict: proven})}}));
  const after = (from: typeof start, facts: Partial<HostFacts>) => {
    const now = from.now + 10 * minutes;
    return later(from, {now, facts: {[apex]: served({checkedAt: now, ...facts})}});
  };
  const told = (at: typeof start) => hostLines(decide(at))[0];

  test('stays Live and is told so, until the record is gone', () => {
    const first = after(start, {verdict: elsewhere});
    expect(told(first)).toBe(`${apex} Live HTTPSRecordElsewhere Nobody`);
    expect(entryOf(decide(first), apex)?.message).toBe(
      `${apex} is served over TLS. Its HTTPS record leads browsers to 198.51.100.7 instead. Delete the HTTPS record; these browsers then reach this platform.`,
    );
    expect(conditionLines(decide(first)).map((line) => line.split('/')[0])).toEqual(
      conditionLines(decide(start)).map((line) => line.split('/')[0]),
    );
    expect(told(after(first, {verdict: proven}))).toBe(`${apex} Live Serving Nobody`);
  });

  test.each<[string, Partial<HostFacts>]>([
    ['the record cannot be asked for', {verdict: {...proven, isHttpsUnknown: true}}],
    ['no server answers', {verdict: {kind: 'Unknown', reason: 'AuthoritativeFailure', message: 'x', apex: true}}],
  ])('is told the same while %s', (_, facts) => {
    const first = after(start, {verdict: elsewhere});
    expect(decide(after(first, facts)).status.hosts).toEqual(decide(first).status.hosts);
    expect(told(after(start, facts))).toBe(`${apex} Live Serving Nobody`);
  });
});
