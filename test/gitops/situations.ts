/**
 * Statuses to judge, each made by the code that the operator runs, with what is expected of the tools: a row of the table in
 * operator/domain/status/health.ts, which is told apart here by the hostnames' entries, not by the conditions that the tools read.
 */
import * as fc from 'fast-check';
import type {ApiKeySpec} from '../../operator/api/api-key.ts';
import type {CustomDomainStatus, HostStatus} from '../../operator/api/custom-domain.ts';
import type {Account, ApiKey, CustomDomain, Project} from '../../operator/api/foreign.ts';
import {decideApiKey} from '../../operator/domain/api-key.ts';
import {edgeGraceMs} from '../../operator/domain/routes/edge.ts';
import {shorterProjectStatuses, shorterStatuses} from '../../operator/domain/status/status-size.ts';
import type {HealthName} from '../../operator/domain/status/health.ts';
import {decide, removing} from '../../operator/domain/lifecycle.ts';
import {decideProject} from '../../operator/domain/project/project.ts';
import type {ReasonName} from '../../operator/domain/reasons/reasons.ts';
import {reasons} from '../../operator/domain/reasons/reasons.ts';
import {decideAccount} from '../../operator/domain/tenant.ts';
import {timestamp} from '../../operator/domain/times.ts';
import type {World} from '../../operator/domain/world.ts';
import type {KubeObject} from '../../operator/kube/objects.ts';
import {historyArbitrary, live} from '../support/histories.ts';
import type {Input} from '../support/project-world.ts';
import {projectWorld, web} from '../support/project-world.ts';
import {
  days,
  enterprise,
  free,
  hours,
  policy,
  refuted,
  served,
  settled,
  t0,
  tenantOn,
  unknown,
  world,
} from '../support/world.ts';

export interface Situation {
  object: KubeObject;
  expected: HealthName;
}

/** How a hostname is to be taken by itself, at a time in ms since the epoch. */
function healthOfHost({reason, addedAt, since}: HostStatus, now: number): HealthName {
  const {health, stalledAfter} = reasons[reason as ReasonName];
  const lasted = (from: string, ms: number): boolean => now - Date.parse(from) >= ms;
  if (health === 'awaited' && lasted(addedAt ?? since, policy.propagationTimeMs)) return 'stalled';
  return stalledAfter === 'edgeGrace' && lasted(since, edgeGraceMs) ? 'stalled' : health;
}

/** Reasons of Live hostnames that do not work now. */
const stops = new Set<string>(['EdgeNotServing', 'EdgeUnreachable', 'CertificateLost'] satisfies ReasonName[]);

/** Reasons of Live hostnames that work if their certificate is valid. */
const writeErrors = new Set<string>(['NameTaken', 'WriteRefused', 'WriteFailed'] satisfies ReasonName[]);

/** The health of a CustomDomain: of its worst hostname that does not work, or else of a hostname whose service ends. */
function healthOfHosts({hosts = [], conditions = []}: CustomDomainStatus, {now, facts}: World): HealthName {
  const isLost = ({hostname, reason}: HostStatus): boolean =>
    writeErrors.has(reason) && facts.get(hostname)?.certificate?.ready !== true;
  const waiting = hosts
    .filter((h) => h.phase !== 'Live' || stops.has(h.reason) || isLost(h))
    .map((h) => healthOfHost(h, now));
  // The reason of a drift or a downgrade can hide a fault of the edge from the entry. Ready shows it.
  const isHidden = conditions.some((c) => c.type === 'Ready' && stops.has(c.reason));
  if (waiting.length === 0 && isHidden) return conditions.some((c) => c.type === 'Stalled') ? 'stalled' : 'pending';
  if (waiting.length === 0)
    return hosts.some((h) => reasons[h.reason as ReasonName].health === 'stalled') ? 'ending' : 'done';
  return waiting.includes('stalled') ? 'stalled' : waiting[0]!;
}

const domainOf = (domain: CustomDomain, status: CustomDomainStatus): CustomDomain => ({...domain, status});

export function decidedDomain(at: World): Situation {
  const {status} = decide(at);
  return {object: domainOf(at.domain, status), expected: healthOfHosts(status, at)};
}

export function decidedProject(input: Input): Situation {
  const {project, ...at} = projectWorld(input);
  const {status} = decideProject({...at, project});
  const ready = status.conditions!.find((c) => c.type === 'Ready')!;
  const {health} = reasons[ready.reason as ReasonName];
  const expected = health === 'stalled' && ready.status === 'True' ? 'ending' : health;
  return {object: {...project, status} as Project, expected};
}

export function decidedAccount(found: boolean): Situation {
  const account: Account = {
    apiVersion: 'doorplate.dev/v1alpha1',
    kind: 'Account',
    metadata: {name: 'acme', generation: 1},
    spec: {planRef: {name: 'free'}},
  };
  const status = decideAccount(account, found ? free : undefined, t0);
  return {object: {...account, status} as Account, expected: found ? 'done' : 'stalled'};
}

const hash = 'a'.repeat(64);
export function decidedKey(expected: 'done' | 'stalled', spec: Partial<ApiKeySpec> = {}, banned = false): Situation {
  const key: ApiKey = {
    apiVersion: 'doorplate.dev/v1alpha1',
    kind: 'ApiKey',
    metadata: {name: 'ci', namespace: 'acme', generation: 1},
    spec: {hashes: [{sha256: hash}], scopes: ['domains:read'], ...spec},
  };
  const status = decideApiKey(
    key,
    {bansOf: () => (banned ? [{network: '192.0.2.1', untilSeconds: (t0 + hours) / 1000}] : [])},
    t0,
  );
  return {object: {...key, status} as ApiKey, expected};
}

/** What is there before Doorplate has looked at a spec: the default of the schema, or the status of the spec before. */
export const unobserved = ({object}: Situation): Situation[] => [
  {object: {...object, status: {observedGeneration: -1}} as KubeObject, expected: 'pending'},
  {
    object: {...object, metadata: {...object.metadata, generation: (object.metadata.generation ?? 0) + 1}},
    expected: 'pending',
  },
];

/** What is written of objects without room for their status: the last words are none. */
export function tooLarge(): Situation[] {
  const own = settled(world({facts: {'docs.example.com': served()}}));
  const [short, told, ...wordless] = shorterStatuses(decide(own).status, undefined, t0);
  const {object} = decidedProject({});
  return [
    {object: domainOf(own.domain, short!), expected: 'done'},
    {object: domainOf(own.domain, told!), expected: 'stalled'},
    ...wordless.map((status): Situation => ({object: domainOf(own.domain, status), expected: 'pending'})),
    ...shorterProjectStatuses((object as Project).status!).map((status): Situation => ({
      object: {...object, status} as Project,
      expected: 'pending',
    })),
  ];
}

/** What is deleted, and is still there. */
export function removed(): Situation {
  const own = settled(world({facts: {'docs.example.com': served()}}));
  const metadata = {...own.domain.metadata, deletionTimestamp: timestamp(t0), deletionGracePeriodSeconds: 0};
  return {
    object: {...own.domain, metadata, status: removing(decide(own).status, t0)} as CustomDomain,
    expected: 'removing',
  };
}

/** A wait for a record: its beginning, the moment before it is too long, that moment, and when no more checks are made. */
export const longWait = (): Situation[] => {
  const waits = world({facts: {'docs.example.com': refuted()}});
  const entered = {...waits, domain: domainOf(waits.domain, decide(waits).status)};
  return [0, 2 * days - 1, 2 * days, 7 * days].map((ms) => decidedDomain({...entered, now: t0 + ms}));
};

/** Each reason for which the DNS is still awaited: what was found, or that nothing could be. */
const awaited = (): Situation[] =>
  (Object.keys(reasons) as ReasonName[])
    .filter((name) => reasons[name].health === 'awaited')
    .map((name) => (reasons[name].conditions?.Verified === 'Unknown' ? unknown(name) : refuted(name)))
    .map((facts) => decidedDomain(world({facts: {'docs.example.com': facts}})));

/** A Project beyond what the plan allows: never deployed, or served on for a while. */
export const beyondLimit = (firstDeployTime?: string): Input => ({
  tenant: tenantOn({...enterprise, spec: {...enterprise.spec, maxProjects: 1}}),
  ahead: 1,
  ...(firstDeployTime !== undefined && {status: {observedGeneration: 3, firstDeployTime}}),
});

const projectInputs: Input[] = [
  beyondLimit(),
  beyondLimit(timestamp(t0)),
  {},
  {defaultHost: 'Disabled'},
  {service: undefined},
  {port: 81},
  {slices: []},
  {service: {...web, spec: {...web.spec, type: 'ExternalName'}}},
  {routed: false},
  {routed: false, writeError: {kind: 'NameTaken', object: 'Ingress acme/x'}},
  {routed: false, writeError: {kind: 'WriteRefused', object: 'Ingress acme/x', says: 'no'}},
  {tls: 'PerProject'},
  {tls: 'PerProject', grant: {kind: 'Queued', since: t0, place: 3, expectedAt: t0 + hours}},
  {tls: 'PerProject', certified: ['serves']},
];

/** What tells a status apart for a tool: its conditions, and phase and reason of each hostname. */
export function keyOf({kind, status}: KubeObject & {status?: Partial<CustomDomainStatus>}): string {
  const {conditions = [], hosts = []} = status ?? {};
  return JSON.stringify([
    kind,
    conditions.map((c) => [c.type, c.status, c.reason]),
    hosts.map((h) => [h.phase, h.reason]),
  ]);
}

/** So many random histories of a CustomDomain, the same in each run. */
const histories = {numRuns: 500, seed: 1};

/** Every distinct status that comes of random histories, and of all else that is decided. */
export function allSituations(): Situation[] {
  const found = new Map<string, Situation>();
  const add = (situation: Situation): void =>
    void found.set(`${keyOf(situation.object)} ${situation.expected}`, situation);
  for (const history of fc.sample(historyArbitrary, histories))
    for (const {at} of live(history)) {
      add(decidedDomain(at));
      add(decidedDomain({...at, domain: domainOf(at.domain, decide(at).status), now: at.now + 2 * days}));
    }
  const others = [
    ...projectInputs.map(decidedProject),
    ...[true, false].map(decidedAccount),
    decidedKey('done'),
    decidedKey('stalled', {expireTime: timestamp(t0)}),
    decidedKey('stalled', {}, true),
    ...longWait(),
    ...awaited(),
  ];
  const all = [...found.values(), ...others];
  return [...all, ...tooLarge(), removed(), ...others.flatMap(unobserved)];
}
