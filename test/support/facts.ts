/** Random facts about one hostname: what DNS, the CA, cert-manager, the budgets and the edge may say of it. */
import type {OrderGrant, Order} from '../../operator/domain/certificates/budget.ts';
import type {CaaVerdict} from '../../operator/domain/certificates/caa.ts';
import type {CertificateFacts} from '../../operator/domain/certificates/certificate.ts';
import {registrableName} from '../../operator/domain/hostnames/hostname.ts';
import type {Diagnosis} from '../../operator/domain/certificates/diagnosis.ts';
import type {WriteError} from '../../operator/domain/status/write-error.ts';
import type {RecordState, Verdict} from '../../operator/domain/verification/method.ts';
import {mayBeVerified} from '../../operator/domain/verification/method.ts';
import {providerOf} from '../../operator/domain/verification/providers.ts';
import type {ReasonName} from '../../operator/domain/reasons/reasons.ts';
import type {Proof} from '../../operator/domain/verification/records.ts';
import {timestamp} from '../../operator/domain/times.ts';
import type {EdgeFinding, HostFacts} from '../../operator/domain/world.ts';
import * as fc from 'fast-check';
import {days, edgeAt, hours, leaf, minutes, otherLeaf, policy, seconds, t0} from './world.ts';

/** One of these, or now and then one of those. */
const mostly = <const T>(weight: number, usual: readonly T[], rare: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof({weight, arbitrary: fc.constantFrom(...usual)}, {weight: 1, arbitrary: fc.constantFrom(...rare)});

const refusals: [ReasonName, RecordState, string[]?][] = [
  ['RecordMissing', 'Missing'],
  ['TargetMismatch', 'Wrong', ['CNAME elsewhere.example']],
  ['TargetMismatch', 'Wrong', ['CNAME other.apps.platform.test']],
  ['IndirectCNAME', 'Wrong', ['CNAME detour.example']],
  ['ConflictingRecord', 'Conflicting', ['A 203.0.113.7']],
  ['ProxiedOrFlattened', 'Conflicting', ['A 192.0.2.1']],
  ['BehindCDN', 'Unknown', ['A of Cloudflare']],
  ['BehindCDN', 'Unknown', ['CNAME d1.cloudfront.net']],
  ['ConflictingA', 'Conflicting', ['A 203.0.113.7']],
  ['ConflictingAAAA', 'Conflicting', ['AAAA 2001:db8::7']],
  ['TXTMissing', 'Found', ['A 192.0.2.1']],
  ['TXTMismatch', 'Found', ['A 192.0.2.1']],
  ['PropagationPending', 'Found'],
  ['CNAMENotPossible', 'Missing', ['MX']],
  ['SynthesizedCNAME', 'Wrong', ['CNAME docs.platform.test']],
  ['NameServersDisagree', 'Found'],
];
const ofApex: ReadonlySet<ReasonName> = new Set<ReasonName>([
  'ConflictingA',
  'ConflictingAAAA',
  'TXTMissing',
  'TXTMismatch',
]);
/** `oldAnswerSeconds`: for how long resolvers may repeat what was there before; 0: the zone does not say. */
const refuted = ([reason, state, observed = []]: (typeof refusals)[number], oldAnswerSeconds: number): Verdict => ({
  kind: 'Refuted',
  reason,
  message: `${reason} was seen.`,
  state,
  observed,
  apex: ofApex.has(reason),
  ...(oldAnswerSeconds > 0 && {oldAnswerSeconds}),
  ...((reason === 'TXTMissing' || reason === 'BehindCDN') && {txt: {state: 'Missing', observed: []}}),
  ...(reason === 'BehindCDN' && {behind: 'Cloudflare'}),
  ...(reason === 'TXTMismatch' && {txt: {state: 'Wrong', observed: ['TXT another']}}),
});

/** Who serves the zone: unknown, somebody nobody knows, two answers to that, a provider (of each kind of record at an apex). */
const nameServers = mostly<string[]>(
  2,
  [
    ['ns1.example.net', 'ns2.example.net'],
    ['ada.ns.cloudflare.com', 'bob.ns.cloudflare.com'],
  ],
  [
    [],
    ['ns2.example.net', 'ns3.example.net'],
    ['ns51.domaincontrol.com', 'ns52.domaincontrol.com'],
    ['ns-1.awsdns-01.com', 'ns-2.awsdns-02.net'],
    ['curitiba.ns.porkbun.com', 'fortaleza.ns.porkbun.com'],
  ],
);

/** The same verdict, with the zone as it was found. */
function placed(found: Verdict, servers: readonly string[], hostname: string): Verdict {
  if (servers.length === 0) return found;
  const name = found.apex ? hostname : registrableName(hostname);
  const provider = providerOf(servers);
  return {
    ...found,
    apex: name === hostname,
    zone: {name, nameServers: [...servers], ...(provider !== undefined && {provider})},
  };
}

const caa: fc.Arbitrary<CaaVerdict | undefined> = mostly<CaaVerdict | undefined>(
  1,
  [{kind: 'Allowed'}],
  [
    undefined,
    {kind: 'Blocked', by: 'Customer', miss: 'Issuer', message: 'CAA blocks it.'},
    {kind: 'Blocked', by: 'Platform', miss: 'Issuer', message: "The platform's CAA blocks it."},
    {kind: 'Unknown', message: 'CAA could not be read.'},
    {kind: 'Unknown', message: 'CAA could not be read.'},
  ],
);

const verdict: fc.Arbitrary<Verdict> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc
      .record({
        by: mostly<Proof>(3, ['CNAME'], ['TXT', 'TXT', 'Addresses']),
        caa,
        browsersGo: mostly(2, [undefined], ['Elsewhere', 'Unknown']),
      })
      .map(({by, caa: said, browsersGo}): Verdict => ({
        kind: 'Proven',
        by,
        apex: by === 'Addresses',
        ...(said && {caa: said}),
        ...(by !== 'CNAME' && browsersGo && {browsersGo}),
      })),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom(...refusals), mostly(3, [0], [5 * 60, 20 * 60 * 60]), caa)
      .map(([refusal, oldAnswerSeconds, said]) => {
        const found = refuted(refusal, oldAnswerSeconds);
        return said && mayBeVerified(found) ? {...found, caa: said} : found;
      }),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom<ReasonName>(
        'AuthoritativeFailure',
        'AuthoritativeUnreachable',
        'DNSSECBroken',
        'ResolverFailure',
        'NoEdgeAddress',
      )
      .map((reason): Verdict => ({kind: 'Unknown', reason, message: `${reason} came of it.`, apex: false})),
  },
);

const words = [
  'it failed',
  '400 urn:ietf:params:acme:error:dns: no such host',
  '429 urn:ietf:params:acme:error:rateLimited',
  'connection refused',
];

/** What Challenge and Order say, or why nobody could read them. */
const saying = (reason: string, state = 'invalid'): Diagnosis => ({
  said: [{kind: 'Challenge', name: 'certificate-1', state, reason}],
});
const diagnoses: Diagnosis[] = [
  ...words.map((reason) => saying(reason)),
  saying('', ''),
  saying(`the solver says: «${'no '.repeat(200)}»`),
  {said: [], unreadable: 'customresourcedefinitions "orders" not found'},
];

/** How far the certificate is: see {@link certificateAt}. */
const issuance = fc.record({
  state: mostly(2, ['Issued'], [
    'None',
    'None',
    'None',
    'None',
    'Ordered',
    'Pending',
    'Silent',
    'Failed',
    'Retried',
    'Kept',
    'Overdue',
    'Ending',
    'Expired',
  ] as const),
  ageMs: fc.constantFrom(0, minutes, 40 * minutes, 3 * days),
  says: fc.constantFrom<string>(...words),
  stuck: fc.boolean(),
  /** Whose it is: a Certificate that says nothing is of the platform's issuer. */
  issuer: mostly(4, ['Unsaid'], ['Ours', 'Before', 'Moved', 'Bare', 'OfAnotherGroup'] as const),
});
type Issuance = typeof issuance extends fc.Arbitrary<infer T> ? T : never;

const times = (notAfter: number, renewalTime: number) => ({
  notAfter: timestamp(notAfter),
  renewalTime: timestamp(renewalTime),
});

const beforeOurs = {name: 'before', kind: 'ClusterIssuer'};
/** Without kind and group: cert-manager takes it for an Issuer of its own group. */
const bare = {name: policy.issuers[0].issuerRef.name};
const ofAnotherGroup = {...policy.issuers[0].issuerRef, group: 'issuers.example'};
/** By whom it is to be issued, and whom cert-manager has asked. */
const issuers = {
  Unsaid: {},
  Ours: {issuerRef: policy.issuers[0].issuerRef, askedOf: policy.issuers[0].issuerRef},
  Before: {issuerRef: beforeOurs, askedOf: beforeOurs},
  Moved: {issuerRef: policy.issuers[0].issuerRef, askedOf: beforeOurs},
  Bare: {issuerRef: bare, askedOf: bare},
  OfAnotherGroup: {issuerRef: ofAnotherGroup, askedOf: ofAnotherGroup},
};

function certificateAt({state, ageMs, says, stuck, issuer}: Issuance, now: number): CertificateFacts | undefined {
  if (state === 'None') return undefined;
  const at = timestamp(now - ageMs);
  const base = {name: 'certificate', ready: false, issuing: false, createdAt: at, ...issuers[issuer]};
  const attempt = {attemptAt: at, request: {namespace: 'acme', name: 'certificate-1', uid: `request-${at}`}};
  const ended = {...attempt, endedAt: at};
  switch (state) {
    case 'Ordered':
      return {...base, issuing: true};
    case 'Pending':
      return {...base, ...attempt, issuing: true, waiting: says};
    case 'Silent':
      return {...base, ...attempt, issuing: true};
    case 'Failed':
      return {...base, ...ended, failure: says};
    case 'Retried':
      return {...base, ...ended, issuing: true, failure: says};
    case 'Issued':
      return {...base, ...ended, ready: true, leafSha256: leaf, ...times(now + 90 * days, now + 60 * days)};
    // cert-manager found the Secret: no request tells the leaf.
    case 'Kept':
      return stuck
        ? {...base, ready: true, notAfter: timestamp(now + 90 * days)}
        : {...base, ready: true, ...times(now + 90 * days, now + 60 * days)};
    case 'Overdue':
      return {
        ...base,
        ...ended,
        ready: true,
        leafSha256: leaf,
        ...times(now + 5 * days, now - 25 * days),
        ...(stuck && {failure: says}),
      };
    // It ends before its DNS is looked at again.
    case 'Ending':
      return {...base, ...ended, ready: true, leafSha256: leaf, ...times(now + hours, now - 30 * days)};
    case 'Expired':
      return {
        ...base,
        ...ended,
        leafSha256: leaf,
        ...times(now - hours, now - 30 * days),
        ...(stuck && {waiting: says, issuing: true}),
      };
  }
}

/** What the addresses of the edge present, each for itself. */
const edge = fc.array(
  mostly(2, ['Right'], ['Another', 'OfAnotherName', 'None', 'Dead', 'Dead', 'Dead', 'Redirects'] as const),
  {maxLength: 2},
);
type Edge = typeof edge extends fc.Arbitrary<infer T> ? T : never;

function edgeSeen(states: Edge, hostname: string, certificate: CertificateFacts | undefined): EdgeFinding[] {
  const right = {
    leafSha256: certificate?.leafSha256 ?? otherLeaf,
    subjectAltNames: `DNS:${hostname}`,
    notAfter: certificate?.notAfter,
  };
  const seen = {
    Right: right,
    Another: {...right, leafSha256: 'cc'.repeat(32), notAfter: timestamp(t0)},
    OfAnotherName: {leafSha256: otherLeaf, subjectAltNames: 'DNS:other.example', notAfter: certificate?.notAfter},
    None: {},
    Dead: {unreachable: 'timed out'},
    Redirects: {...right, redirector: true},
  };
  return states.map((state, i) => edgeAt(`192.0.2.${i + 1}`, seen[state]));
}

/** Orders of before, which count against the budgets of the hostname. */
const past = mostly(8, ['None'], ['Failures', 'Certificates', 'OneFailure', 'Unended', 'Overdrawn'] as const);
type Past = typeof past extends fc.Arbitrary<infer T> ? T : never;
const ordersAt = (kind: Past, now: number): Order[] => {
  const failed = (ageMs: number): Order => ({
    at: timestamp(now - ageMs),
    outcome: 'Failed',
    endedAt: timestamp(now - ageMs + 30 * seconds),
    message: words[1],
  });
  const issued = (ageMs: number): Order => ({
    at: timestamp(now - ageMs),
    outcome: 'Issued',
    endedAt: timestamp(now - ageMs + 30 * seconds),
  });
  const made = {
    None: [],
    Failures: [failed(25 * minutes), failed(12 * minutes)],
    Certificates: [5, 4, 2, 1].map((n) => issued(n * days)),
    OneFailure: [failed(12 * minutes)],
    // Nobody knows any more when they ended.
    Unended: [
      {at: timestamp(now - 30 * minutes), outcome: 'Failed', message: words[0]} satisfies Order,
      {at: timestamp(now - 20 * minutes), outcome: 'Pending'} satisfies Order,
    ],
    // More than the budget has: somebody makes cert-manager ask again and again.
    Overdrawn: [7, 6, 5, 4, 3, 2, 1].map((n) => issued(n * hours)),
  };
  return made[kind];
};

const grantAt = (kind: 'Granted' | 'Queued' | 'Exhausted' | 'None', now: number): OrderGrant | undefined =>
  ({
    Granted: {kind: 'Granted'} as const,
    Queued: {kind: 'Queued', since: now, place: 7, expectedAt: now + days} as const,
    Exhausted: {kind: 'Exhausted', since: now, until: now + days} as const,
    None: undefined,
  })[kind];

const any = fc.record({
  verdict: fc.option(verdict, {nil: undefined, freq: 8}),
  nameServers,
  checkedAgoMs: mostly(3, [0], [seconds, 5 * seconds, 2 * minutes]),
  issuance,
  past,
  edge: fc.option(edge, {nil: undefined}),
  grant: mostly(2, ['Granted'], ['Queued', 'Exhausted', 'None'] as const),
  diagnosis: mostly<Diagnosis | undefined>(1, [undefined], diagnoses),
  writeError: mostly<WriteError['kind'] | undefined>(20, [undefined], ['NameTaken', 'WriteRefused', 'WriteFailed']),
  occupied: mostly(20, [false], [true]),
});
/** What is chosen about one hostname; {@link factsAt} makes facts of it. */
export type Choices = typeof any extends fc.Arbitrary<infer T> ? T : never;

/** Proven, issued and seen on the edge. */
const well: Choices = {
  verdict: {kind: 'Proven', by: 'CNAME', apex: false, caa: {kind: 'Allowed'}},
  nameServers: ['ns1.example.net', 'ns2.example.net'],
  checkedAgoMs: 0,
  issuance: {state: 'Issued', ageMs: 0, says: '', stuck: false, issuer: 'Unsaid'},
  past: 'None',
  edge: ['Right'],
  grant: 'Granted',
  diagnosis: undefined,
  writeError: undefined,
  occupied: false,
};
/** Half of the time all is well, so that much has been Live before something happens to it. */
export const choices: fc.Arbitrary<Choices> = fc.oneof(fc.constant(well), any);

/** The facts as they are found at a time, ms since the epoch. `readsCaa`: the platform knows its CA's names. */
export function factsAt(c: Choices, hostname: string, now: number, readsCaa: boolean): HostFacts {
  const certificate = certificateAt(c.issuance, now);
  const found = c.verdict && mayBeVerified(c.verdict) && !readsCaa ? {...c.verdict, caa: undefined} : c.verdict;
  return {
    ...(found && {verdict: placed(found, c.nameServers, hostname), checkedAt: now - c.checkedAgoMs}),
    ...(certificate && {certificate}),
    ...(c.past !== 'None' && {orders: ordersAt(c.past, now)}),
    grant: grantAt(c.grant, now),
    ...(c.diagnosis && certificate?.request && {diagnosis: c.diagnosis}),
    ...(c.writeError !== undefined && {writeError: {kind: c.writeError, object: 'Ingress acme/docs', says: 'no'}}),
    ...(c.occupied && {occupied: true}),
    ...(c.edge && {edge: edgeSeen(c.edge, hostname, certificate), edgeLookedAt: now}),
  };
}

/** Any facts about docs.example.com; looked at at {@link t0}. */
export const factsArbitrary: fc.Arbitrary<HostFacts> = fc
  .tuple(choices, fc.boolean())
  .map(([c, readsCaa]) => factsAt(c, 'docs.example.com', t0, readsCaa));
