/** What `why` says of every reason, and how it ends. */
import {describe, expect, test} from '@jest/globals';
import type {Party} from '../../../../operator/api/custom-domain.ts';
import {exitCodeOfAll, type ExitCode} from '../../../../operator/cli/exit-code.ts';
import {explainCondition, explainHost, sayExplanation} from '../../../../operator/cli/domains/explain.ts';
import {type ReasonName, reasons} from '../../../../operator/domain/reasons/reasons.ts';
import type {HostView} from '../../../../operator/http/views.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const target = 'docs-acme-k3v9x2m4q7w1z.apps.platform.test';

const record = (change: Partial<HostView['records'][number]> = {}): HostView['records'][number] => ({
  type: 'CNAME',
  name: 'docs',
  zone: 'example.com',
  value: target,
  ttl: 3600,
  state: 'Found',
  observed: [],
  ...change,
});

const hostWith = (reason: string, change: Partial<HostView> = {}) => ({
  namespace: 'acme',
  customDomain: 'docs',
  host: {
    hostname: 'docs.example.com',
    role: 'Primary',
    phase: 'AwaitingVerification',
    reason,
    message: 'in its own words',
    since: '2026-03-01T11:30:00Z',
    addedAt: '2026-03-01T11:00:00Z',
    waitingFor: reasons[reason as ReasonName]?.waitingFor ?? 'Nobody',
    records: [],
    ...change,
  } satisfies HostView as HostView,
});

const [done, waiting, customer, platform] = [0, 3, 4, 5] as const;
const again = 'kubectl doorplate verify docs -n acme';

/** What each reason ends with, and words of what has to be done. A reason that is added to the table is missed here. */
const expected: Record<ReasonName, [code: ExitCode, needed: string]> = {
  ProjectNotFound: [customer, 'Create the Project'],
  ProjectHasDomains: [customer, 'into the older CustomDomain'],
  ProjectLimitReached: [customer, 'Delete a project'],
  HostnameNotAllowed: [customer, 'Choose another hostname'],
  DuplicateHostname: [customer, 'Remove one of the two'],
  PlanUpgradeRequired: [customer, 'Upgrade the plan'],
  PlanNotFound: [platform, 'must create the Account or Plan'],
  NoSuccessfulDeploy: [customer, 'Deploy the project'],
  HostnameLimitReached: [customer, 'Remove a hostname, or upgrade the plan'],
  TooManyWaiting: [customer, 'Verify or remove hostnames that wait'],
  CheckPending: [waiting, 'Nothing. Doorplate checks the DNS at once'],
  RecordMissing: [customer, 'Create the records'],
  TargetMismatch: [customer, 'Correct the value'],
  IndirectCNAME: [customer, 'Point the CNAME record directly'],
  ConflictingRecord: [customer, 'Delete the address records'],
  CNAMENotPossible: [customer, 'Keep these records'],
  SynthesizedCNAME: [customer, 'Replace the DNAME record'],
  NameServersDisagree: [customer, 'Ask the DNS provider'],
  ProxiedOrFlattened: [customer, 'Switch the proxy or the flattening off'],
  BehindCDN: [customer, 'Create the TXT record'],
  ConflictingA: [customer, 'Delete that A record'],
  ConflictingAAAA: [customer, 'Delete that AAAA record'],
  TXTMissing: [customer, 'Create the TXT record'],
  TXTMismatch: [customer, 'Correct the value'],
  PropagationPending: [waiting, 'Nothing. Old answers expire'],
  AuthoritativeUnreachable: [platform, 'allow outbound port 53'],
  AuthoritativeFailure: [customer, 'Correct the zone at the DNS provider'],
  DNSSECBroken: [customer, 'DS record at the registrar'],
  ResolverFailure: [platform, 'dns.recursive'],
  NoEdgeAddress: [platform, 'the Service in edge.service'],
  HostnameClaimed: [customer, 'Remove the records that point to the other place'],
  VerificationExpired: [customer, `request a check (${again})`],
  CAABlocksIssuer: [customer, 'Add the CAA record'],
  CAALookupFailed: [customer, 'must answer queries for CAA records'],
  Issuing: [waiting, 'Nothing, unless'],
  IssuanceQueued: [waiting, 'Nothing. The message shows'],
  IssuanceBudgetExhausted: [waiting, 'correct the cause'],
  IssuanceStalled: [platform, `request a fresh attempt (${again})`],
  NameTaken: [platform, 'Delete or rename that object'],
  WriteRefused: [platform, 'Correct the cause'],
  WriteFailed: [platform, 'correct the cause'],
  EdgeUnreachable: [platform, 'bring the edge back'],
  EdgeNotServing: [platform, 'must check the ingress controller'],
  EdgePending: [waiting, 'Nothing.'],
  WaitingForPrimary: [waiting, 'Check the primary'],
  StatusTooLarge: [customer, 'Make the object smaller'],
  Serving: [done, 'Nothing.'],
  Redirecting: [done, 'Nothing.'],
  RenewalOverdue: [platform, `request a fresh attempt (${again})`],
  CertificateLost: [platform, `request a fresh attempt (${again})`],
  CertificateExpired: [platform, `request a fresh attempt (${again})`],
  ServedUntilReplaced: [done, 'Check the primary'],
  ServedBehindCDN: [done, 'Create the TXT record'],
  HTTPSRecordElsewhere: [done, 'Delete or correct the HTTPS record'],
  DNSDrifted: [customer, 'Restore the record'],
  Removing: [waiting, 'Nothing.'],
  Accepted: [done, 'Nothing.'],
  Proven: [done, 'Nothing.'],
  Issued: [done, 'Nothing.'],
  Routed: [done, 'Nothing.'],
  RoutesPending: [waiting, 'Nothing.'],
  PlanFound: [done, 'Nothing.'],
  KeyUsable: [done, 'Nothing.'],
  KeyExpired: [customer, 'Set a later expireTime'],
  KeyBanned: [customer, 'Change the client so that it waits'],
  ServiceNotFound: [customer, 'correct serviceRef'],
  ServicePortNotFound: [customer, 'Correct serviceRef.port'],
  NoReadyEndpoint: [customer, 'Deploy the project'],
  Deployed: [done, 'Nothing.'],
  DefaultHostDisabled: [done, 'Nothing.'],
};

const parties: Record<number, string> = {
  3: '  Who      (no one: Doorplate continues automatically|the certificate authority)\n',
  4: '  Who      the customer\n',
  5: '  Who      the platform\n',
};

describe('why', () => {
  test.each(Object.entries(expected))('of a hostname that is %s ends with %j', (reason, [code, needed]) => {
    const why = explainHost(hostWith(reason));
    expect([why.needed, exitCodeOfAll([why])]).toEqual([expect.stringContaining(needed), code]);
    const said = sayExplanation(why, {now, colours: false});
    expect(said).toContain(`docs.example.com (CustomDomain docs): ${reason} (AwaitingVerification, for 30m)\n`);
    // What is done, and could be better, is told as well.
    const isTold = code !== done || why.waitingFor !== 'Nobody';
    expect(said.includes('Needed')).toBe(isTold);
    expect(said).toMatch(new RegExp(parties[code] ?? '$'));
    expect(said.includes('in its own words')).toBe(isTold);
  });

  test('of a reason of a newer Doorplate has its message', () => {
    const why = explainHost(hostWith('Unheard', {waitingFor: 'Platform'}));
    expect([why.seen, exitCodeOfAll([why])]).toEqual(['in its own words', platform]);
  });

  test('says what was seen and which records are missing, those that were found left out', () => {
    const records = [
      record({state: 'Conflicting', observed: ['A 203.0.113.7']}),
      record({type: 'TXT', name: '_doorplate-challenge.docs', value: 'token', state: 'Missing'}),
      record({type: 'A', value: '192.0.2.1', state: 'Found'}),
    ];
    const zone = {name: 'example.com', nameServers: ['ns.example.com'], provider: 'Cloudflare'};
    const why = explainHost(hostWith('ConflictingRecord', {records, zone}));
    expect(why.seen).toContain('Found: A 203.0.113.7.');
    expect(why.records).toEqual([
      `CNAME docs -> ${target} (TTL 3600) in the zone example.com at Cloudflare`,
      'TXT _doorplate-challenge.docs -> token (TTL 3600) in the zone example.com at Cloudflare',
    ]);
  });

  test.each<[string, string, Partial<HostView>, string | undefined]>([
    ['awaits its record', 'RecordMissing', {}, '2026-03-08 11:00 UTC: automatic checks end then'],
    ['is not checked any more', 'VerificationExpired', {}, undefined],
    [
      'is served for the grace time',
      'DNSDrifted',
      {phase: 'Live', servedUntil: '2026-03-05T10:00:30Z'},
      '2026-03-05 10:00 UTC: it is served until then',
    ],
    [
      'is late with its renewal',
      'RenewalOverdue',
      {phase: 'Live', certificateExpires: '2026-04-01T00:00:00Z'},
      '2026-04-01 00:00 UTC: its certificate expires then',
    ],
  ])('of one that %s says until when', (_, reason, change, until) => {
    const said = sayExplanation(explainHost(hostWith(reason, change), 7 * 86_400_000), {now, colours: false});
    expect(/^ {2}Until {4}(.*)$/m.exec(said)?.[1]).toEqual(until);
  });

  test('has who must act as status has it, whatever is usual for the reason', () => {
    const codes = (['Customer', 'CertificateAuthority'] as Party[]).map((waitingFor) =>
      exitCodeOfAll([explainHost(hostWith('IssuanceStalled', {waitingFor}))]),
    );
    expect(codes).toEqual([customer, waiting]);
  });

  test('of a Project says what its condition says', () => {
    const ready = {reason: 'ServiceNotFound', message: 'There is no Service web in this namespace.'};
    const why = explainCondition({kind: 'Project', metadata: {name: 'web', namespace: 'acme'}}, ready);
    expect(sayExplanation(why, {now, colours: false})).toBe(`Project web: ServiceNotFound
  Found    The Service that serviceRef names does not exist.
  Needed   Create the Service, or correct serviceRef.
  Who      the customer
  Message  There is no Service web in this namespace.
`);
  });
});

const ends = (...names: ReasonName[]) => exitCodeOfAll(names.map((reason) => ({reason, ...reasons[reason]})));

describe('Of several', () => {
  test('what the customer has to do counts before what the platform has to, and that before a wait', () => {
    expect(ends('Serving', 'Issuing', 'IssuanceStalled', 'RecordMissing')).toBe(customer);
    expect(ends('Serving', 'Issuing', 'IssuanceStalled')).toBe(platform);
    expect(ends('Serving', 'Issuing')).toBe(waiting);
    expect(ends('Serving', 'Redirecting')).toBe(done);
    expect(ends()).toBe(done);
  });
});
