/** The states of the design, each as it comes about: what the tools must say of it, and the testdata of the checks of Argo CD. */
import type {HealthRow} from '../../operator/domain/status/health.ts';
import {timestamp} from '../../operator/domain/times.ts';
import type {HostFacts} from '../../operator/domain/world.ts';
import {
  withIssuer,
  domain,
  edgeAt,
  free,
  heldClaim,
  later,
  minutes,
  project,
  proven,
  refuted,
  served,
  settled,
  t0,
  tenantOn,
  unknown,
  world,
} from '../support/world.ts';
import {web} from '../support/project-world.ts';
import type {Situation} from './situations.ts';
import {
  beyondLimit,
  decidedAccount,
  decidedDomain,
  decidedKey,
  decidedProject,
  longWait,
  removed,
  unobserved,
} from './situations.ts';

const docs = 'docs.example.com';
const unreachable = settled(
  world({facts: {[docs]: served({edge: [edgeAt('192.0.2.1', {unreachable: 'timed out'})]})}}),
);
const live = settled(world({facts: {[docs]: served()}}));
const [waiting, , waitedLong, expired] = longWait() as [Situation, Situation, Situation, Situation];
const issuing = decidedDomain(world({facts: {[docs]: proven()}}));

const caa = {
  kind: 'Blocked',
  by: 'Customer',
  miss: 'Issuer',
  message: 'CAA of example.com allows another authority only.',
} as const;
const blocked: HostFacts = {...proven(), verdict: {kind: 'Proven', by: 'CNAME', apex: false, caa}};

export interface Row extends Pick<HealthRow, 'kstatus' | 'argoCD' | 'flux'> {
  /** What is so, in words. */
  state: string;
  situation: Situation;
}

type Verdicts = [HealthRow['kstatus'], HealthRow['argoCD'], HealthRow['flux']];
const pending: Verdicts = ['InProgress', 'Progressing', 'InProgress'];
const awaited: Verdicts = ['InProgress', 'Suspended', 'InProgress'];
const failed: Verdicts = ['Failed', 'Degraded', 'Failed'];
const ending: Verdicts = ['Current', 'Degraded', 'Failed'];
const done: Verdicts = ['Current', 'Healthy', 'Current'];

const rows: [string, Situation, Verdicts][] = [
  ['CustomDomain, not looked at yet', unobserved(issuing)[0]!, pending],
  ['CustomDomain, changed since it was looked at', unobserved(decidedDomain(live))[1]!, pending],
  ['CustomDomain, ProjectNotFound', decidedDomain(world({project: null})), pending],
  ['CustomDomain, NoSuccessfulDeploy', decidedDomain(world({project: project({firstDeployTime: undefined})})), pending],
  ['CustomDomain, Issuing', issuing, pending],
  [
    'CustomDomain, IssuanceQueued',
    decidedDomain(
      world({facts: {[docs]: {...proven(), grant: {kind: 'Queued', since: t0, place: 3, expectedAt: t0 + minutes}}}}),
    ),
    pending,
  ],
  ['CustomDomain, EdgeUnreachable', decidedDomain(unreachable), pending],
  [
    'CustomDomain, EdgeUnreachable for 2 minutes',
    decidedDomain({...later(unreachable), now: unreachable.now + 3 * minutes}),
    failed,
  ],
  ['CustomDomain, RecordMissing', waiting, awaited],
  ['CustomDomain, RecordMissing for 48 hours', waitedLong, failed],
  ['CustomDomain, VerificationExpired', expired, failed],
  [
    'CustomDomain, RecordMissing of a redirect source while the primary is Live',
    decidedDomain(
      settled(world({redirects: [{from: 'old.example.com'}], facts: {[docs]: served(), 'old.example.com': refuted()}})),
    ),
    awaited,
  ],
  [
    'CustomDomain, AuthoritativeUnreachable',
    decidedDomain(world({facts: {[docs]: unknown('AuthoritativeUnreachable')}})),
    failed,
  ],
  ['CustomDomain, HostnameNotAllowed', decidedDomain(world({primary: 'co.uk'})), failed],
  [
    'CustomDomain, DuplicateHostname',
    decidedDomain(world({primary: 'xn--bcher-kva.example', redirects: [{from: 'bücher.example'}]})),
    failed,
  ],
  ['CustomDomain, PlanUpgradeRequired', decidedDomain(world({plan: free})), failed],
  [
    'CustomDomain, ProjectHasDomains',
    decidedDomain(world({others: [domain({name: 'older', uid: 'uid-older', createdAt: timestamp(0)})]})),
    failed,
  ],
  [
    'CustomDomain, HostnameClaimed',
    decidedDomain(
      world({
        claims: {[docs]: heldClaim(docs, 'uid-of-another')},
        facts: {[docs]: served({checkedAt: t0 - minutes})},
      }),
    ),
    failed,
  ],
  [
    'CustomDomain, CAABlocksIssuer',
    decidedDomain(world({policy: withIssuer({caaIdentities: ['ca.example']}), facts: {[docs]: blocked}})),
    failed,
  ],
  ['CustomDomain, served on after a downgrade', decidedDomain(later(live, {tenant: tenantOn(free)})), ending],
  ['CustomDomain, Live', decidedDomain(live), done],
  ['CustomDomain, Removing', removed(), ['Terminating', 'Progressing', 'InProgress']],
  ['Project, not looked at yet', unobserved(decidedProject({}))[0]!, pending],
  ['Project, ServiceNotFound', decidedProject({service: undefined}), pending],
  ['Project, NoReadyEndpoint', decidedProject({slices: []}), pending],
  ['Project, ServicePortNotFound', decidedProject({service: web, port: 81}), pending],
  [
    'Project, NameTaken',
    decidedProject({routed: false, writeError: {kind: 'NameTaken', object: 'Ingress acme/docs'}}),
    failed,
  ],
  ['Project, ProjectLimitReached', decidedProject(beyondLimit()), failed],
  ['Project, served on after a downgrade', decidedProject(beyondLimit(timestamp(t0))), ending],
  ['Project, Serving', decidedProject({}), done],
  ['Project, DefaultHostDisabled', decidedProject({defaultHost: 'Disabled'}), done],
  ['Account, not looked at yet', unobserved(decidedAccount(true))[0]!, pending],
  ['Account, PlanNotFound', decidedAccount(false), failed],
  ['Account, PlanFound', decidedAccount(true), done],
  ['ApiKey, not looked at yet', unobserved(decidedKey('done'))[0]!, pending],
  ['ApiKey, KeyExpired', decidedKey('stalled', {expireTime: timestamp(t0)}), failed],
  ['ApiKey, KeyBanned', decidedKey('stalled', {}, true), failed],
  ['ApiKey, KeyUsable', decidedKey('done'), done],
];

export const table: Row[] = rows.map(([state, situation, [kstatus, argoCD, flux]]) => ({
  state,
  situation,
  kstatus,
  argoCD,
  flux,
}));
