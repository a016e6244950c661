/** HTTPS records that lead browsers elsewhere, and the status of a Live hostname with such a record. test/dns asks real servers. */
import {describe, expect, test} from '@jest/globals';
import {httpsTargets, withHttps} from '../../../../operator/domain/verification/https-record.ts';
import type {Finding, ProvenBy} from '../../../../operator/domain/verification/method.ts';
import {decide} from '../../../../operator/domain/lifecycle.ts';
import type {HostFacts} from '../../../../operator/domain/world.ts';
import {conditionLines, entryOf, hostLines, later, minutes, served, settled, world} from '../../../support/world.ts';

const apex = 'example.com';
const question = {hostname: apex, target: 'docs-acme.apps.platform.test', token: 'k3v9x2m4q7w1z'};
const cdns = [{name: 'Example CDN', networks: ['198.51.100.128/25'], hosts: []}];
const rules = {edgeAddresses: ['192.0.2.0/28'], addressOnly: false, cdns};
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
const silent = finding({failure: 'Timeout'});
/** What other names lead to, by the resolvers. */
const names: Record<string, Finding[]> = {
  'www.example.com': [finding({cname: [question.target]})],
  'shop.example.com': [finding({cname: ['shop-acme.apps.platform.test']})],
  'edge.platform.test': [finding({a: ['192.0.2.1']})],
  'old.example.net': [finding({a: ['198.51.100.7']})],
  'gone.example.net': [finding({exists: false})],
  'silent.example.net': [silent],
};
/** Servers answer with these records; undefined: one that cannot be read. */
function browsersGo(servers: (Https | undefined)[], a = ['192.0.2.1']): ProvenBy['browsersGo'] {
  const asked = {findings: servers.map((https) => finding(https ? {https} : {}))};
  const targets = new Map(httpsTargets(question, asked).map((name) => [name, {findings: names[name]!}]));
  return withHttps(proven, question, rules, {seen: {findings: [finding({a})]}, asked, targets}).browsersGo;
}
const to = (name: string): Https => [{to: name, hints: []}];
const hints = (...addresses: string[]): Https => [{to: '', hints: addresses}];

describe('An HTTPS record leads browsers', () => {
  const here = undefined;
  test.each<[string, Https, ProvenBy['browsersGo']]>([
    ['here, where there is none', [], here],
    ['here, for the name itself', to(''), here],
    ['here, with its own name', to(apex), here],
    ['here, by a name with a CNAME to the project', to('www.example.com'), here],
    ['here, by a name with a CNAME to another project', to('shop.example.com'), here],
    ["here, by a name with the edge's address", to('edge.platform.test'), here],
    ['here, with hints of the edge', hints('192.0.2.9'), here],
    ['here, with the usual port', [{to: '', port: 443, hints: []}], here],
    ['elsewhere, by a name with another address', to('old.example.net'), 'Elsewhere'],
    ['elsewhere, by a name that does not exist', to('gone.example.net'), 'Elsewhere'],
    ['elsewhere, with one of two hints', hints('192.0.2.1', '198.51.100.7'), 'Elsewhere'],
    ['elsewhere, with another port', [{to: '', port: 8443, hints: []}], 'Elsewhere'],
    ['elsewhere, with hints of a CDN that is not in front', hints('198.51.100.201'), 'Elsewhere'],
    ['nobody knows where, while the name cannot be asked for', to('silent.example.net'), 'Unknown'],
  ])('%s', (_, https, expected) => {
    expect(browsersGo([https])).toBe(expected);
  });

  test('here, with hints of the addresses at the name, and of the CDN in front', () => {
    expect(browsersGo([hints('203.0.113.9')], ['203.0.113.9'])).toBeUndefined();
    expect(browsersGo([hints('198.51.100.201')], ['198.51.100.200'])).toBeUndefined();
  });

  test('elsewhere, where one of two servers says so, and nobody knows where, where one gives no answer', () => {
    expect(browsersGo([[], hints('198.51.100.7')])).toBe('Elsewhere');
    expect(browsersGo([undefined, hints('198.51.100.7')])).toBe('Elsewhere');
    expect(browsersGo([[], undefined])).toBe('Unknown');
    expect(browsersGo([undefined])).toBe('Unknown');
    expect(browsersGo([])).toBe('Unknown');
  });

  test('by two names at most, so that a zone causes no more questions', () => {
    const many = ['d', 'c', 'b', 'a'].map((name) => ({to: `${name}.example.net`, hints: []}));
    expect(httpsTargets(question, {findings: [finding({https: many})]})).toEqual(['a.example.net', 'b.example.net']);
  });
});

describe('A Live hostname whose HTTPS record leads elsewhere', () => {
  const elsewhere: ProvenBy = {...proven, browsersGo: 'Elsewhere'};
  const start = settled(world({primary: apex, facts: {[apex]: served({verdict: proven})}}));
  const after = (from: typeof start, facts: Partial<HostFacts>) => {
    const now = from.now + 10 * minutes;
    return later(from, {now, facts: {[apex]: served({checkedAt: now, ...facts})}});
  };
  const told = (at: typeof start) => hostLines(decide(at))[0];
  const statuses = (at: typeof start) => conditionLines(decide(at)).map((line) => line.split('/')[0]);

  test('stays Live and reports it, until the record is gone', () => {
    const first = after(start, {verdict: elsewhere});
    expect(told(first)).toBe(`${apex} Live HTTPSRecordElsewhere Nobody`);
    expect(entryOf(decide(first), apex)?.message).toBe(
      `${apex} is served over TLS. Its HTTPS record leads browsers elsewhere. Delete that record; these browsers then reach this platform.`,
    );
    expect(statuses(first)).toEqual(statuses(start));
    expect(told(after(first, {verdict: proven}))).toBe(`${apex} Live Serving Nobody`);
  });

  const unknown: HostFacts['verdict'] = {kind: 'Unknown', reason: 'AuthoritativeFailure', message: 'x', apex: true};
  test.each<[string, HostFacts['verdict']]>([
    ['the record cannot be asked for', {...proven, browsersGo: 'Unknown'}],
    ['no server answers', unknown],
  ])('keeps the report while %s', (_, verdict) => {
    const first = after(start, {verdict: elsewhere});
    expect(decide(after(first, {verdict})).status.hosts).toEqual(decide(first).status.hosts);
    expect(told(after(start, {verdict}))).toBe(`${apex} Live Serving Nobody`);
  });
});
