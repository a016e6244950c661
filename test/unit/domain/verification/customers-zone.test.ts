/** Effects of instructions on a customer's zone, and servers of a zone that differ. test/dns tries the same on real servers. */
import {describe, expect, test} from '@jest/globals';
import {check} from '../../../../operator/controllers/probes/dns-check.ts';
import {driftOf} from '../../../../operator/domain/claims/drift.ts';
import {timestamp} from '../../../../operator/domain/times.ts';
import {decide} from '../../../../operator/domain/lifecycle.ts';
import type {Finding, Observation, Refuted, Verdict} from '../../../../operator/domain/verification/method.ts';
import {denies} from '../../../../operator/domain/verification/method.ts';
import {entryOf, heldClaim, later, minutes, served, settled, t0, world} from '../../../support/world.ts';

const docs = 'docs.example.com';
const question = {hostname: docs, target: 'docs-acme.apps.platform.test', token: 'k3v9x2m4q7w1z'};
const rules = {edgeAddresses: ['192.0.2.1'], addressOnly: false, cdns: []};
const finding = (host: number, change: Partial<Finding> = {}): Finding => ({
  server: {address: `198.51.100.${host}`, port: 53},
  cname: [],
  a: [],
  aaaa: [],
  chain: [],
  ...change,
});
const has = (host: number) => finding(host, {cname: [question.target]});

const seen = (findings: Finding[]): Observation => ({zone: 'example.com', findings});

/** A check against name servers and resolvers that answer so. */
async function checked(
  nameServers: Finding[],
  resolvers: Finding[],
  owned = true,
): Promise<{verdict: Verdict; resolversAsked: number}> {
  let resolversAsked = 0;
  const dns = {
    askAuthoritative: () => Promise.resolve(seen(nameServers)),
    askRecursive: () => {
      resolversAsked++;
      return Promise.resolve(seen(resolvers));
    },
    askNegativeTtl: () => Promise.resolve(undefined),
    askCaa: () => Promise.resolve({}),
  } as unknown as Parameters<typeof check>[0]['dns'];
  const options = {dns, rules, mode: 'Authoritative' as const, cas: () => []};
  const verdict = await check(options, {...question, ...(owned && {owned: true as const})}, false);
  return {verdict, resolversAsked};
}

const split = (isMinority: boolean): Refuted => ({
  kind: 'Refuted',
  reason: 'NameServersDisagree',
  message: 'They differ.',
  state: 'Found',
  observed: [],
  apex: false,
  ...(isMinority && {isMinority: true as const}),
});

describe('Servers of a zone that differ about a hostname', () => {
  const [one, two, three] = [finding(1), finding(2), finding(3)];
  test.each<[string, Finding[], Finding[], boolean]>([
    ['one of two lacks it, and most resolvers have it', [has(1), two], [has(11), has(12), finding(13)], false],
    ['one of two lacks it, and half of the resolvers have it', [has(1), two], [has(11), finding(12)], true],
    ['two of three lack it', [has(1), two, three], [has(11), has(12)], true],
    ['no resolver answers', [has(1), two], [finding(11, {failure: 'Timeout'})], true],
  ])('of its owner: %s', async (_, nameServers, resolvers, isNegative) => {
    const {verdict} = await checked(nameServers, resolvers);
    expect(verdict).toMatchObject({kind: 'Refuted', reason: 'NameServersDisagree'});
    expect(denies(verdict)).toBe(isNegative);
  });

  test('of another tenant: no resolver is asked, which would remember that there is none', async () => {
    const {verdict, resolversAsked} = await checked([has(1), two], [has(11)], false);
    expect([verdict.kind, denies(verdict), resolversAsked]).toEqual(['Refuted', true, 0]);
  });

  test('of its owner: all lack it', async () => {
    expect((await checked([one, two], [has(11)])).verdict).toMatchObject({reason: 'RecordMissing'});
  });

  test('begin no drift while most resolvers have it', () => {
    const drift = (isMinority: boolean) => driftOf(heldClaim(docs), split(isMinority), t0, [minutes]);
    expect(drift(true)).toEqual({confirmed: false});
    expect(drift(false).write?.status).toMatchObject({negativeSince: timestamp(t0), negatives: 0});
    const live = settled(world({facts: {[docs]: served()}}));
    const d = decide(later(live, {facts: {[docs]: served({verdict: split(true)})}}));
    expect(entryOf(d, docs)).toMatchObject({phase: 'Live', reason: 'Serving'});
  });
});

const behindCdn: Verdict = {
  kind: 'Refuted',
  reason: 'BehindCDN',
  behind: 'Cloudflare',
  message: 'BehindCDN was seen.',
  state: 'Unknown',
  observed: [],
  apex: false,
};

const listOf = (verdict: Verdict, before = world({facts: {}})) => {
  const d = decide(later(before, {facts: {[docs]: {verdict, checkedAt: t0}}}));
  return d.status.dnsRecords?.map(({type, name}) => `${type} ${name}`);
};

describe('The list of records', () => {
  const beside: Verdict = {
    kind: 'Refuted',
    reason: 'CNAMENotPossible',
    message: 'MX was seen.',
    state: 'Missing',
    observed: ['MX'],
    apex: false,
    noCname: true,
  };

  test('has no TXT that would end a wildcard', () => {
    expect(listOf(behindCdn)).toEqual(['CNAME docs', 'TXT _doorplate-challenge.docs']);
    expect(listOf({...behindCdn, wildcard: 'example.com'})).toEqual(['CNAME docs']);
  });

  test('has addresses and the TXT beside other types, also when they have verified the hostname', () => {
    const wanted = ['A docs', 'TXT _doorplate-challenge.docs'];
    const first = world({policy: {edgeAddresses: ['192.0.2.1']}});
    expect(listOf(beside, first)).toEqual(wanted);
    const listed = settled(later(first, {facts: {[docs]: {verdict: beside, checkedAt: t0}}}));
    expect(listOf({kind: 'Proven', by: 'TXT', apex: false}, listed)).toEqual(wanted);
  });
});

test('A Live hostname that a wildcard puts behind a CDN is told to get a record of its own before the TXT', () => {
  const live = settled(world({facts: {[docs]: served()}}));
  const verdict = {...behindCdn, wildcard: 'example.com'};
  const d = decide(later(live, {facts: {[docs]: served({verdict})}}));
  expect(entryOf(d, docs)).toMatchObject({
    reason: 'ServedBehindCDN',
    message: expect.stringContaining(
      'A wildcard record leads there: first give docs.example.com and *.docs.example.com its value, then create TXT _doorplate-challenge.docs -> ',
    ),
  });
});
