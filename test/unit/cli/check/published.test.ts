/** What `check` takes from status: the plan of a tenant that may not read it, and states that no check finds. */
import {describe, expect, test} from '@jest/globals';
import type {HostStatus} from '../../../../operator/api/custom-domain.ts';
import type {CustomDomain} from '../../../../operator/api/foreign.ts';
import {anyPlan, isClear, publishedPlan, withPublished} from '../../../../operator/cli/check/published.ts';
import {type ReasonName, reasons} from '../../../../operator/domain/reasons/reasons.ts';

const host = (reason: string, change: Partial<HostStatus> = {}): HostStatus => ({
  hostname: 'docs.example.com',
  role: 'Primary',
  phase: 'Live',
  reason,
  message: 'in its own words',
  since: '2026-03-01T11:30:00Z',
  waitingFor: reasons[reason as ReasonName]?.waitingFor ?? 'Nobody',
  ...change,
});
const serving = host('Serving');

type Finder = 'the check' | 'status' | 'status, unless claims are read' | 'nothing is wrong';
const [own, status, clear] = ['the check', 'status', 'nothing is wrong'] as const;

/** Where a check learns of each reason of a hostname. A reason that is added to the table is missed here. */
const finders: Record<ReasonName, Finder | 'not of a hostname'> = {
  ProjectNotFound: own,
  ProjectHasDomains: own,
  ProjectLimitReached: own,
  HostnameNotAllowed: own,
  DuplicateHostname: own,
  PlanUpgradeRequired: own,
  PlanNotFound: own,
  NoSuccessfulDeploy: own,
  HostnameLimitReached: own,
  TooManyWaiting: status,
  CheckPending: own,
  RecordMissing: own,
  TargetMismatch: own,
  IndirectCNAME: own,
  ConflictingRecord: own,
  CNAMENotPossible: own,
  SynthesizedCNAME: own,
  NameServersDisagree: own,
  ProxiedOrFlattened: own,
  BehindCDN: own,
  ConflictingA: own,
  ConflictingAAAA: own,
  TXTMissing: own,
  TXTMismatch: own,
  PropagationPending: own,
  AuthoritativeUnreachable: own,
  AuthoritativeFailure: own,
  DNSSECBroken: own,
  ResolverFailure: own,
  NoEdgeAddress: own,
  HostnameClaimed: 'status, unless claims are read',
  VerificationExpired: status,
  CAABlocksIssuer: own,
  CAALookupFailed: own,
  Issuing: own,
  IssuanceQueued: own,
  IssuanceBudgetExhausted: status,
  IssuanceStalled: status,
  NameTaken: status,
  WriteRefused: status,
  WriteFailed: status,
  EdgeUnreachable: status,
  EdgeNotServing: status,
  EdgePending: own,
  WaitingForPrimary: own,
  StatusTooLarge: own,
  Serving: clear,
  Redirecting: clear,
  RenewalOverdue: status,
  CertificateExpired: status,
  CertificateLost: status,
  ServedUntilReplaced: clear,
  ServedBehindCDN: clear,
  HTTPSRecordElsewhere: clear,
  DNSDrifted: own,
  Removing: own,
  RoutesPending: own,
  Accepted: 'not of a hostname',
  Proven: 'not of a hostname',
  Issued: 'not of a hostname',
  Routed: 'not of a hostname',
  PlanFound: 'not of a hostname',
  KeyUsable: 'not of a hostname',
  KeyExpired: 'not of a hostname',
  KeyBanned: 'not of a hostname',
  ServiceNotFound: 'not of a hostname',
  ServicePortNotFound: 'not of a hostname',
  NoReadyEndpoint: 'not of a hostname',
  Deployed: 'not of a hostname',
  DefaultHostDisabled: 'not of a hostname',
};
const rows = Object.entries(finders).filter(([, finder]) => finder !== 'not of a hostname');

describe('A published state, for which a check finds nothing wrong', () => {
  test.each(rows)('%s: %s finds it', (reason, finder) => {
    const was = host(reason);
    const reasonWith = (areClaimsRead: boolean) => withPublished([serving], [was], {areClaimsRead})[0]!.reason;
    const stays = (whether: boolean) => (whether ? reason : 'Serving');
    expect([isClear(was), reasonWith(true), reasonWith(false)]).toEqual([
      finder === clear,
      stays(finder === status),
      stays(finder === status || finder === 'status, unless claims are read'),
    ]);
  });

  test('stays if its reason is of a newer Doorplate', () => {
    const was = host('OfANewerDoorplate', {waitingFor: 'Customer'});
    expect(withPublished([serving], [was], {areClaimsRead: true})).toEqual([was]);
  });

  test('has the role that the hostname will have', () => {
    const [kept] = withPublished([{...serving, role: 'RedirectSource'}], [host('WriteRefused')], {areClaimsRead: true});
    expect(kept).toMatchObject({reason: 'WriteRefused', role: 'RedirectSource'});
  });
});

test('A plan that refuses hostnames by its limit does not allow those that its grace period spares', () => {
  const hosts = [serving, host('HostnameLimitReached'), host('WriteFailed', {refusedFrom: '2026-03-08T12:00:00Z'})];
  const {plan} = {plan: publishedPlan({account: 'acme'}, [{status: {hosts}} as CustomDomain])};
  expect(plan).toMatchObject({spec: {customDomains: {maxHostnamesPerProject: 1}}});
});

describe('A check', () => {
  test('says what it finds, whatever status says', () => {
    const found = host('RecordMissing', {phase: 'AwaitingVerification'});
    expect(withPublished([found], [host('EdgeUnreachable')], {areClaimsRead: true})).toEqual([found]);
  });

  test('says what becomes of a hostname that status does not name', () => {
    expect(withPublished([serving], [], {areClaimsRead: true})).toEqual([serving]);
  });

  test('has the end of a grace period from status', () => {
    const foreseen = host('DNSDrifted', {servedUntil: '2026-03-08T12:00:00Z'});
    const was = host('DNSDrifted', {servedUntil: '2026-03-03T12:00:00Z'});
    expect(withPublished([foreseen], [was], {areClaimsRead: false})).toEqual([was]);
  });

  test('begins a grace period for another reason', () => {
    const foreseen = host('PlanUpgradeRequired', {servedUntil: '2026-03-08T12:00:00Z'});
    const was = host('DNSDrifted', {servedUntil: '2026-03-03T12:00:00Z'});
    expect(withPublished([foreseen], [was], {areClaimsRead: false})).toEqual([foreseen]);
  });
});

describe('Clear is', () => {
  test.each<[boolean, ReasonName, Partial<HostStatus>]>([
    [true, 'Issuing', {phase: 'Verified'}],
    [true, 'WaitingForPrimary', {phase: 'Verified'}],
    [false, 'IssuanceBudgetExhausted', {phase: 'Verified'}],
    [false, 'CAABlocksIssuer', {phase: 'Verified'}],
    [false, 'PropagationPending', {phase: 'AwaitingVerification'}],
  ])('%s: %s', (whether, reason, change) => {
    expect(isClear(host(reason, change))).toBe(whether);
  });
});

const withHosts = (...hosts: HostStatus[]): CustomDomain => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'CustomDomain',
  metadata: {name: 'docs', namespace: 'acme'},
  spec: {projectRef: {name: 'docs'}, primary: 'docs.example.com'},
  status: {observedGeneration: 1, hosts},
});
const planBy = (...domains: CustomDomain[]) => publishedPlan({account: 'acme'}, domains);

describe('The plan of a tenant that may not read it', () => {
  test('allows everything while it refuses nothing', () => {
    expect(planBy(withHosts(serving), withHosts())).toBe(anyPlan);
  });

  test.each(['PlanUpgradeRequired', 'PlanNotFound'] as const)('is refused everywhere by one %s', (reason) => {
    const refused = host(reason, {phase: 'NotAccepted', message: 'Upgrade the plan.'});
    expect(planBy(withHosts(serving), withHosts(refused))).toEqual({missing: {reason, message: 'Upgrade the plan.'}});
  });

  test('is refused without the end of one grace period', () => {
    const message = 'Upgrade the plan. docs.example.com is served until 2026-03-03 12:00 UTC.';
    const refused = host('PlanUpgradeRequired', {message, servedUntil: '2026-03-03T12:00:00Z'});
    expect(planBy(withHosts(refused))).toEqual({
      missing: {reason: 'PlanUpgradeRequired', message: 'Upgrade the plan.'},
    });
  });

  test('allows as many hostnames a project as it accepts beside those that it refuses', () => {
    const beyond = ['NotAccepted', 'Live'].map((phase, i) =>
      host('HostnameLimitReached', {phase: phase as 'Live', hostname: `b${i}.example.com`}),
    );
    const uncounted = [
      host('HostnameNotAllowed', {phase: 'NotAccepted'}),
      {...serving, role: 'FormerPrimary'} as const,
    ];
    const full = withHosts(serving, host('RecordMissing', {hostname: 'a.example.com'}), ...beyond, ...uncounted);
    expect(planBy(withHosts(serving), full)).toMatchObject({
      metadata: {name: 'of the account acme'},
      spec: {customDomains: {allowed: true, maxHostnamesPerProject: 2}},
    });
    expect(publishedPlan({}, [full])).toMatchObject({metadata: {name: 'of this namespace'}});
  });
});
