/** Hostnames behind a content delivery network: what proves them, and what becomes of a proof that one hides. */
import {isIP} from 'node:net';
import {describe, expect, test} from '@jest/globals';
import {cdnAt, cdnsWith, knownCdns} from '../../../../operator/domain/verification/cdns.ts';
import {claimStateOf} from '../../../../operator/domain/claims/claim.ts';
import {driftOf, isHidden} from '../../../../operator/domain/claims/drift.ts';
import {decide} from '../../../../operator/domain/lifecycle.ts';
import type {
  Finding,
  Observation,
  VerificationRules,
  Verdict,
} from '../../../../operator/domain/verification/method.ts';
import {denies, mayBeVerified} from '../../../../operator/domain/verification/method.ts';
import {
  judgeAuthoritative,
  judgeBoth,
  judgeRecursive,
  needsChallenge,
} from '../../../../operator/domain/verification/verdict.ts';
import {areAlike, mayBeWildcard} from '../../../../operator/domain/verification/surroundings.ts';
import type {Question} from '../../../../operator/domain/verification/records.ts';
import {timestamp} from '../../../../operator/domain/times.ts';
import type {Decision, HostFacts, World} from '../../../../operator/domain/world.ts';
import {
  withIssuer,
  claimsBy,
  conditionLines,
  days,
  domain,
  enterprise,
  entryOf,
  heldClaim,
  hostLines,
  later,
  minutes,
  objectLines,
  policy,
  refuted,
  seconds,
  served,
  settled,
  t0,
  unknown,
  world,
} from '../../../support/world.ts';

const target = 'docs-acme-p0emfyp6ay01j.apps.platform.test';
const token = 'k3v9x2m4q7w1zk3v9x2m4q7w1z';
const subdomain: Question = {hostname: 'docs.example.com', target, token};
const apex: Question = {hostname: 'example.com', target, token};
const rules: VerificationRules = {edgeAddresses: ['192.0.2.1'], addressOnly: false, cdns: cdnsWith([])};
const [atCloudflare, atFastly] = ['104.16.132.229', '151.101.1.6'];

const finding = (change: Partial<Finding> = {}): Finding => ({
  server: {address: '198.51.100.1', port: 53},
  cname: [],
  a: [],
  aaaa: [],
  chain: [],
  ...change,
});
const proxied = finding({a: [atCloudflare], ttlSeconds: 300});
const resolver = (i: number) => ({address: `10.0.0.${i}`, port: 53});
const seen = (found: Finding, txt?: string[]): Observation => ({
  zone: 'example.com',
  findings: [found],
  ...(txt && {challenge: {zone: 'example.com', findings: [finding({txt})]}}),
});
const said = (verdict: Verdict) => (verdict.kind === 'Proven' ? `by ${verdict.by}` : verdict.reason);
const messageOf = (verdict: Verdict) => (verdict.kind === 'Proven' ? '' : verdict.message);

const cname = `CNAME docs -> ${target} (TTL 3600) in the zone example.com`;
const txt = `TXT _doorplate-challenge.docs -> ${token} (TTL 3600) in the zone example.com`;

describe('The CDNs that are known', () => {
  test.each(knownCdns.map((cdn) => [cdn.name, cdn] as const))('are written as they are compared: %s', (_, cdn) => {
    const {networks, hosts, source} = cdn;
    expect([source.length > 0, networks.length + hosts.length > 0]).toEqual([true, true]);
    expect(hosts.filter((host) => !/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(host))).toEqual([]);
    expect([[...networks].length, [...hosts].length]).toEqual([new Set(networks).size, new Set(hosts).size]);
    for (const network of networks) {
      const [address = '', prefix] = network.split('/');
      // Wider ones are no CDN's alone.
      expect([network, isIP(address) > 0 && Number(prefix) >= 13 && Number(prefix) <= 48]).toEqual([network, true]);
    }
  });

  test.each<[string, Partial<Finding>, string | undefined]>([
    ['an address of one', {a: [atCloudflare]}, 'Cloudflare'],
    [
      'addresses of both families of one',
      {a: [atCloudflare, '172.67.1.1'], aaaa: ['2606:4700::6810:84e5']},
      'Cloudflare',
    ],
    ['an IPv6 address alone', {aaaa: ['2a04:4e42::773']}, 'Fastly'],
    ['an address of one and one of somebody else', {a: [atCloudflare, '203.0.113.7']}, undefined],
    ['an address of one and an IPv6 address of somebody else', {a: [atCloudflare], aaaa: ['2001:db8::7']}, undefined],
    ['addresses of two', {a: [atCloudflare, atFastly]}, undefined],
    ['an IPv4 address in IPv6 clothes', {aaaa: [`::ffff:${atCloudflare}`]}, undefined],
    ['a CNAME to a name of one', {cname: ['d111111abcdef8.cloudfront.net']}, 'CloudFront'],
    ['a CNAME to a name that only ends alike', {cname: ['d1.notcloudfront.net']}, undefined],
    ['a CNAME to a name above which one stands', {cname: ['cloudfront.net.evil.test']}, undefined],
    ['two CNAMEs', {cname: ['d1.cloudfront.net', 'd2.cloudfront.net']}, undefined],
    ['nothing', {}, undefined],
  ])('are seen by what stands at the name: %s', (_, found, expected) => {
    expect(cdnAt(finding(found), rules.cdns)?.name).toBe(expected);
  });

  test("have the platform's own beside them, one of the same name in their place, or left out", () => {
    const own = [
      {name: 'Ours', networks: ['198.51.100.0/24'], hosts: ['cdn.ours.test']},
      {name: 'Cloudflare', networks: ['203.0.113.0/24'], hosts: []},
      {name: 'Fastly', networks: [], hosts: []},
    ];
    const named = (found: Partial<Finding>) => cdnAt(finding(found), cdnsWith(own))?.name;
    expect([
      named({a: ['198.51.100.9']}),
      named({cname: ['a.cdn.ours.test']}),
      named({a: ['203.0.113.9']}),
      named({a: [atCloudflare]}),
      named({a: [atFastly]}),
      named({cname: ['d1.cloudfront.net']}),
    ]).toEqual(['Ours', 'Ours', 'Cloudflare', undefined, undefined, 'CloudFront']);
  });
});

const overHttps = (it: string) =>
  `${it} must connect to its origin over HTTPS (Cloudflare: Full (strict), not Flexible); otherwise visitors get an endless redirect.`;

describe('A hostname behind a CDN', () => {
  test('is told both ways out: the TXT, or no CDN', () => {
    expect(judgeAuthoritative(subdomain, rules, seen(proxied, []))).toEqual({
      kind: 'Refuted',
      reason: 'BehindCDN',
      behind: 'Cloudflare',
      state: 'Unknown',
      observed: ['A of Cloudflare'],
      txt: {state: 'Missing', observed: []},
      oldAnswerSeconds: 300,
      apex: false,
      message: `docs.example.com is behind Cloudflare, which hides the record that would verify it. Create ${txt}, and set ${target} as the origin at Cloudflare; or switch Cloudflare off for this name and create ${cname}, so that visitors reach this platform directly. ${overHttps('If you keep Cloudflare, it')}`,
    });
  });

  test('by a CNAME is told so, with where that leads', () => {
    const verdict = judgeAuthoritative(subdomain, rules, seen(finding({cname: ['d1.cloudfront.net']}), []));
    expect(verdict).toMatchObject({reason: 'BehindCDN', observed: ['CNAME d1.cloudfront.net'], state: 'Unknown'});
    expect(messageOf(verdict)).toContain(
      'docs.example.com is behind CloudFront (CNAME d1.cloudfront.net), which hides the record that would verify it. Create TXT',
    );
  });

  test('by a wildcard has nothing to switch off: a record of its own counts before that', () => {
    const wildcard = {...seen(proxied, []), wildcard: 'example.com'};
    expect(mayBeWildcard(judgeAuthoritative(subdomain, rules, seen(proxied, [])))).toBe(true);
    expect(areAlike(seen(proxied), seen(proxied), rules)).toBe(true);
    expect(messageOf(judgeAuthoritative(subdomain, rules, wildcard))).toBe(
      `docs.example.com is behind Cloudflare by the wildcard record *.example.com, which hides the record that would verify it. First give docs.example.com and *.docs.example.com the addresses of the wildcard, because the TXT ends the wildcard for them. Then create ${txt}, and set ${target} as the origin at Cloudflare; or create ${cname}; the wildcard record then no longer answers for docs.example.com and the names below it; visitors then reach this platform instead of Cloudflare. ${overHttps('If you keep Cloudflare, it')}`,
    );
  });

  test('that no TXT can prove has one way out', () => {
    expect(judgeAuthoritative({hostname: 'docs.example.com', target}, rules, seen(proxied))).toMatchObject({
      reason: 'BehindCDN',
      message: `docs.example.com is behind Cloudflare, which hides the record that would verify it. Switch Cloudflare off for this name and create ${cname}, so that visitors reach this platform directly.`,
    });
  });

  test('gives the same verdict whichever of its addresses are seen', () => {
    const each = [['104.16.132.229'], ['172.67.1.1', '104.21.3.4'], ['104.16.1.1', '104.16.1.2', '104.16.1.3']];
    const verdicts = each.map((a) => JSON.stringify(judgeAuthoritative(subdomain, rules, seen(finding({a}), []))));
    expect(new Set(verdicts).size).toBe(1);
  });

  test.each<[string, Question, VerificationRules, Finding, string[], string]>([
    ['a TXT of another', subdomain, rules, proxied, ['theirs'], 'TXTMismatch'],
    ['a TXT of another, and a CNAME', subdomain, rules, finding({cname: ['x.fastly.net']}), ['theirs'], 'TXTMismatch'],
    ['no TXT, at an apex', apex, rules, proxied, [], 'BehindCDN'],
    ['no TXT, where addresses prove an apex', apex, {...rules, addressOnly: true}, proxied, [], 'BehindCDN'],
    ['the token', subdomain, rules, proxied, [token], 'by TXT'],
    ['the token among others', subdomain, rules, proxied, ['theirs', token], 'by TXT'],
    ['the token, and a CNAME', subdomain, rules, finding({cname: ['x.fastly.net']}), [token], 'by TXT'],
    ['the token, at an apex', apex, rules, proxied, [token], 'by TXT'],
    ['the token, where addresses prove an apex', apex, {...rules, addressOnly: true}, proxied, [token], 'by TXT'],
    [
      'the token, where only one address is the CDN’s',
      subdomain,
      rules,
      finding({a: [atCloudflare, '203.0.113.7']}),
      [token],
      'ConflictingRecord',
    ],
    [
      'the token, and a CNAME to nobody known',
      subdomain,
      rules,
      finding({cname: ['x.example.net']}),
      [token],
      'TargetMismatch',
    ],
  ])('is proven by nothing but the TXT with the own token: %s', (_, question, by, found, values, expected) => {
    expect(said(judgeAuthoritative(question, by, seen(found, values)))).toBe(expected);
  });

  test('has a TXT that is wrong: it is told what stands there', () => {
    expect(judgeAuthoritative(subdomain, rules, seen(proxied, ['theirs']))).toMatchObject({
      behind: 'Cloudflare',
      txt: {state: 'Wrong', observed: ['TXT theirs']},
      message: `docs.example.com is behind Cloudflare, but _doorplate-challenge.docs.example.com has TXT theirs. Required: ${txt}.`,
    });
  });

  test('that has addresses of the edge is at the edge, in whatever network that stands', () => {
    const inside = {...rules, edgeAddresses: [atCloudflare]};
    expect(said(judgeAuthoritative(subdomain, inside, seen(proxied, [])))).toBe('ProxiedOrFlattened');
    expect(said(judgeAuthoritative(apex, {...inside, addressOnly: true}, seen(proxied)))).toBe('by Addresses');
  });

  test('has its TXT asked for, by all that ask', () => {
    expect(needsChallenge(subdomain, rules, seen(proxied))).toBe(true);
    expect(needsChallenge(subdomain, rules, seen(finding({cname: ['d1.cloudfront.net']})))).toBe(true);
    expect(needsChallenge(apex, {...rules, addressOnly: true}, seen(proxied))).toBe(true);
    expect(needsChallenge({hostname: 'docs.example.com', target}, rules, seen(proxied))).toBe(false);
  });

  test('needs most of the resolvers to see the TXT too, or resolvers alone to agree', () => {
    const votes = (...of: string[][]): Observation => ({
      findings: of.map((_, i) => ({...proxied, server: resolver(i)})),
      challenge: {findings: of.map((values, i) => finding({server: resolver(i), txt: values}))},
    });
    const right = seen(proxied, [token]);
    expect(said(judgeBoth(subdomain, rules, right, votes([token], [token], [])))).toBe('by TXT');
    expect(said(judgeBoth(subdomain, rules, right, votes([token], [])))).toBe('PropagationPending');
    expect(said(judgeRecursive(subdomain, rules, votes([token], [token])))).toBe('by TXT');
    expect(said(judgeRecursive(subdomain, rules, votes([], [])))).toBe('BehindCDN');
  });

  test('may be proven, and counts as a "no" all the same', () => {
    const verdict = judgeAuthoritative(subdomain, rules, seen(proxied, []));
    expect([mayBeVerified(verdict), denies(verdict)]).toEqual([true, true]);
    expect(mayBeVerified(judgeAuthoritative(subdomain, rules, seen(finding())))).toBe(false);
  });
});

const docs = 'docs.example.com';
const old = 'old.example.com';
const behind: Verdict = {
  kind: 'Refuted',
  reason: 'BehindCDN',
  behind: 'Cloudflare',
  message: 'BehindCDN was seen.',
  state: 'Unknown',
  observed: ['A of Cloudflare'],
  txt: {state: 'Missing', observed: []},
  apex: false,
};
const hidden = (checkedAt: number, change: Partial<HostFacts> = {}): HostFacts =>
  served({verdict: behind, checkedAt, ...change});
const provenBy = (by: 'CNAME' | 'TXT'): HostFacts => served({verdict: {kind: 'Proven', by, apex: false}});
const liveBy = (by: 'CNAME' | 'TXT') =>
  settled(world({redirects: [{from: old}], facts: {[docs]: provenBy(by), [old]: served()}}));

/** Some time later, with these facts of docs.example.com. */
const at = (before: World, ms: number, facts: (now: number) => HostFacts, change: Partial<World> = {}): World => {
  const now = before.now + ms;
  const others = served({checkedAt: now});
  return later(before, {...change, now, facts: {[docs]: facts(now), [old]: others}});
};
const told = (d: Decision) => hostLines(d)[0];
const token32 = /\b[0-9a-f]{32}\b/;

/** Its Certificate is gone. */
const uncertified = (verdict: Verdict): HostFacts => ({verdict, checkedAt: t0, grant: {kind: 'Granted'}});

describe('A hostname that is Live and is put behind a CDN', () => {
  test('is served on without an end, and is told which TXT to create', () => {
    const live = liveBy('CNAME');
    const first = at(live, minutes, hidden);
    const d = decide(first);
    expect(told(d)).toBe(`${docs} Live ServedBehindCDN Nobody`);
    expect(entryOf(d, docs)?.message.replace(token32, 'TOKEN')).toBe(
      `${docs} is served over TLS. It is now behind a CDN, which hides the record that verified it. Create TXT _doorplate-challenge.docs -> TOKEN (TTL 3600) in the zone example.com, so that Doorplate can verify the hostname again. ${overHttps('The CDN')}`,
    );
    expect(entryOf(d, docs)).not.toHaveProperty('servedUntil');
    expect(conditionLines(d)).toEqual(conditionLines(decide(live)));
    expect(objectLines(d)).toEqual(objectLines(decide(live)));
    let last = first;
    for (const ms of [minutes, 5 * minutes, 60 * minutes, days, 8 * days, 40 * days]) last = at(last, ms, hidden);
    const muchLater = decide(last);
    expect([muchLater.claims, objectLines(muchLater)]).toEqual([[], objectLines(d)]);
    expect(muchLater.status.hosts).toEqual(d.status.hosts);
    expect(muchLater.status.dnsRecords).toEqual(d.status.dnsRecords);
  });

  test('is served on without an end when another is made the primary, too, and when it is the primary again', () => {
    const before = settled(at(liveBy('CNAME'), minutes, hidden));
    const {spec} = before.domain;
    const moved = {...before.domain, spec: {...spec, primary: 'new.example.com'}};
    let last = later(before, {domain: moved});
    for (const ms of [minutes, 5 * minutes, 15 * minutes, 60 * minutes, days, 8 * days]) {
      last = at(last, ms, hidden);
      expect(hostLines(decide(last))).toContain(`${docs} Live ServedUntilReplaced Nobody`);
      expect(decide(last).claims.filter(({hostname}) => hostname === docs)).toEqual([]);
    }
    const back = decide(at(later(last, {domain: {...last.domain, spec}}), minutes, hidden));
    expect(told(back)).toBe(`${docs} Live ServedBehindCDN Nobody`);
    expect(entryOf(back, docs)).not.toHaveProperty('servedUntil');
  });

  test('is told so where it redirects', () => {
    const live = liveBy('CNAME');
    const now = live.now + minutes;
    const d = decide(later(live, {now, facts: {[docs]: served({checkedAt: now}), [old]: hidden(now)}}));
    expect(hostLines(d)[1]).toBe(`${old} Live ServedBehindCDN Nobody`);
    expect(entryOf(d, old)?.message).toContain(`${old} redirects to ${docs}. It is now behind a CDN`);
    expect(entryOf(d, old)?.redirect).toEqual({to: docs, status: 301});
  });

  test('is told the same after a restart, while nobody can be asked, and while a negative is not confirmed', () => {
    const first = at(liveBy('CNAME'), minutes, hidden);
    const {hosts} = decide(first).status;
    for (const facts of [
      () => served({verdict: undefined, checkedAt: undefined}),
      (now: number) => served(unknown('AuthoritativeUnreachable', now)),
      (now: number) => served(refuted('RecordMissing', 'Missing', [], now)),
    ])
      expect(decide(at(first, 5 * minutes, facts)).status.hosts).toEqual(hosts);
  });

  test('is Serving again as soon as it is proven, by either record', () => {
    const first = at(liveBy('CNAME'), minutes, hidden);
    for (const by of ['CNAME', 'TXT'] as const) {
      const d = decide(at(first, minutes, (now) => ({...provenBy(by), checkedAt: now})));
      expect(told(d)).toBe(`${docs} Live Serving Nobody`);
      expect(d.status.dnsRecords?.filter((r) => r.hostname === docs).map((r) => `${r.type} ${r.state}`)).toEqual(
        by === 'CNAME' ? ['CNAME Found'] : ['CNAME Found', 'TXT Found'],
      );
    }
  });

  test('ends a doubt that was not confirmed', () => {
    const doubted = heldClaim(docs, 'uid-domain', {
      negativeSince: timestamp(t0),
      negativeAt: timestamp(t0 + 15 * minutes),
      negatives: 3,
    });
    expect(driftOf(doubted, behind, t0 + 16 * minutes, policy.driftConfirmationsMs, true)).toMatchObject({
      confirmed: false,
      write: {status: {generation: 0, holder: doubted.status?.holder}},
    });
    expect(driftOf(doubted, behind, t0 + 60 * minutes, policy.driftConfirmationsMs, false).confirmed).toBe(true);
  });

  test('and was proven by the TXT drifts when that goes: no CDN hides it', () => {
    expect([isHidden(behind, 'CNAME'), isHidden(behind, 'Addresses'), isHidden(behind, 'TXT')]).toEqual([
      true,
      true,
      false,
    ]);
    expect([isHidden(behind, undefined), isHidden(undefined, 'CNAME')]).toEqual([true, false]);
    const first = at(liveBy('TXT'), minutes, hidden);
    expect(told(decide(first))).toBe(`${docs} Live Serving Nobody`);
    expect(decide(first).claims).toMatchObject([{hostname: docs, status: {negatives: 0}}]);
  });

  const confirmed = heldClaim(docs, 'uid-domain', {
    negativeSince: timestamp(t0),
    negativeAt: timestamp(t0 + 60 * minutes),
    negatives: 4,
  });
  test('does not come back by a CDN once it has drifted', () => {
    const gone = at(liveBy('CNAME'), 61 * minutes, (now) => served(refuted('RecordMissing', 'Missing', [], now)), {
      claims: claimsBy((hostname) => (hostname === docs ? confirmed : heldClaim(hostname))),
    });
    const moved = at(gone, minutes, hidden);
    expect([told(decide(gone)), told(decide(moved))]).toEqual([
      `${docs} Live DNSDrifted Customer`,
      `${docs} Live DNSDrifted Customer`,
    ]);
    const over = decide(at(moved, 8 * days, hidden));
    expect(told(over)).toBe(`${docs} AwaitingVerification BehindCDN Customer`);
    expect(objectLines(over).filter((line) => line.endsWith(docs))).toEqual([]);
  });

  test('and has an order before it, for another issuer for one, needs its CAA records, which come with the check', () => {
    const policyOf = {...policy, ...withIssuer({caaIdentities: ['ca.example']})};
    const allowed = {kind: 'Allowed'} as const;
    const proved: World = settled(
      world({
        policy: policyOf,
        facts: {[docs]: served({verdict: {kind: 'Proven', by: 'CNAME', apex: false, caa: allowed}})},
      }),
    );
    const lost = (by: Verdict) => decide(later(proved, {facts: {[docs]: uncertified(by)}}));
    expect(objectLines(lost({...behind, caa: allowed}))).toContain(`acme Certificate ${docs}`);
    expect(objectLines(lost(behind))).not.toContain(`acme Certificate ${docs}`);
    expect(lost(behind).looks).toMatchObject([{what: 'dns', caa: true}]);
    expect(
      objectLines(lost({...behind, caa: {kind: 'Blocked', by: 'Customer', miss: 'Issuer', message: 'no'}})),
    ).not.toContain(`acme Certificate ${docs}`);
  });
});

const look = (verdict: Verdict, ms: number) => ({verdict, at: t0 - ms});
const proof: Verdict = {kind: 'Proven', by: 'TXT', apex: false};
/** How another tenant's claim stands to one with this verdict, after these looks at the holder's right. */
const contest = (verdict: Verdict, rival: readonly {verdict: Verdict; at: number}[]) =>
  claimStateOf({
    now: t0,
    installation: 'i',
    hostname: docs,
    holder: domain({uid: 'uid-contender'}),
    tenant: {account: 'umbrella', namespaceUID: 'uid-umbrella', plan: enterprise},
    claim: heldClaim(docs, 'uid-holder'),
    verdict,
    checkedAt: t0,
    verified: false,
    rival,
    takeoverConfirmationsMs: policy.takeoverConfirmationsMs,
  }).kind;
const confirmations = [11, 8, 5, 1].map((s) => look(behind, s * seconds));

describe('A claim', () => {
  test('is taken over by who proves it, although a CDN hides what the holder has', () => {
    expect(contest(proof, confirmations)).toBe('Winning');
    expect(contest({kind: 'Proven', by: 'CNAME', apex: false}, confirmations)).toBe('Winning');
    // As ever not before its confirmations, nor against a proof that stands.
    expect(contest(proof, confirmations.slice(2))).toBe('Claimed');
    expect(contest(proof, [...confirmations.slice(0, 3), look(proof, seconds)])).toBe('Claimed');
  });

  test('is not won by a CDN, nor told of', () => {
    expect(contest(behind, confirmations)).toBe('Unproven');
    const d = decide(world({claims: {}, facts: {[docs]: hidden(t0)}}));
    expect([told(d), d.claims, objectLines(d)]).toEqual([`${docs} AwaitingVerification BehindCDN Customer`, [], []]);
    expect(d.status.dnsRecords?.map((r) => `${r.type} ${r.name} ${r.state}`)).toEqual([
      'CNAME docs Unknown',
      'TXT _doorplate-challenge.docs Missing',
    ]);
  });
});
