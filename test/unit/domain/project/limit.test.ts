/** Projects beyond the limit of a plan. */
import {describe, expect, test} from '@jest/globals';
import type {DomainClaim, Plan, Project} from '../../../../operator/api/foreign.ts';
import type {ProjectStatus} from '../../../../operator/api/project.ts';
import {shorterProjectStatuses} from '../../../../operator/domain/status/status-size.ts';
import {decide} from '../../../../operator/domain/lifecycle.ts';
import {byAge} from '../../../../operator/domain/project/limit.ts';
import {decideProject} from '../../../../operator/domain/project/project.ts';
import type {ProjectWorld} from '../../../../operator/domain/project/world.ts';
import {timestamp} from '../../../../operator/domain/times.ts';
import {projectView} from '../../../../operator/http/views.ts';
import {
  days,
  heldClaim,
  hostLines,
  hours,
  later,
  objectLines,
  plan,
  policy,
  project,
  served,
  t0,
  target,
  tenantOn,
  world,
} from '../../../support/world.ts';

const limitedTo = (maxProjects: number): Plan => {
  const pro = plan('pro', 10);
  return {...pro, spec: {...pro.spec, maxProjects}};
};
const own: DomainClaim = {
  ...heldClaim(target),
  status: {holder: {kind: 'Project', namespace: 'acme', name: 'docs', uid: 'uid-project'}, generation: 0},
};
const made: Project = {...project(), status: {observedGeneration: -1}};
const standing = {since: t0 - days, isWhole: true};

/** A Project of a tenant that may have one, whose Service is ready, and that is not the oldest, unless told. */
const worldOf = (change: Partial<ProjectWorld> = {}): ProjectWorld => ({
  now: t0,
  project: made,
  service: {apiVersion: 'v1', kind: 'Service', metadata: {name: 'web'}, spec: {ports: [{port: 80}]}},
  slices: [{endpoints: [{}]}],
  domains: [],
  tenant: tenantOn(limitedTo(1)),
  ahead: 1,
  host: target,
  claim: undefined,
  orders: [],
  facts: {serves: {standing}, redirects: {}},
  policy,
  ...change,
});
const deployed = (status: Partial<ProjectStatus> = {}): Partial<ProjectWorld> => ({
  project: project(status),
  claim: own,
});
const lines = (w: ProjectWorld) => decideProject(w).status.conditions!.map((c) => `${c.type}=${c.status}/${c.reason}`);

describe('A Project beyond the limit of its plan', () => {
  test.each([
    ['Wildcard', 'Serve'],
    ['PerProject', 'Serve'],
    ['PerProject', 'Disabled'],
  ] as const)('gets no default host, claim, route or order: %s, %s', (tls, defaultHost) => {
    const asked = {...made, spec: {...made.spec, defaultHost}};
    const d = decideProject(worldOf({project: asked, policy: {...policy, tls}}));
    expect([d.claims, objectLines(d), d.orderRequests, d.status.host, d.status.url]).toEqual([
      [],
      [],
      [],
      undefined,
      undefined,
    ]);
    expect(d.status).not.toHaveProperty('firstDeployTime');
  });

  test('says why and what to do, in status and in the API', () => {
    expect(lines(worldOf())).toEqual(
      ['Deployed=False', 'RoutesReady=False', 'Ready=False', 'Stalled=True', 'Accepted=False'].map(
        (condition) => `${condition}/ProjectLimitReached`,
      ),
    );
    const message = 'The plan pro allows 1 project, and older projects use it. Delete a project, or upgrade the plan.';
    const {status} = decideProject(worldOf());
    expect(projectView({...made, status}, undefined)).toMatchObject({
      ready: false,
      reason: 'ProjectLimitReached',
      message,
      host: null,
    });
  });

  test.each([
    ['it is among the oldest', {ahead: 0}],
    ['the plan has no limit', {tenant: tenantOn(plan('pro', 10))}],
    ['nobody knows the plan', {tenant: tenantOn(null)}],
  ])('is as any other when %s', (_, change) => {
    const before = decideProject(worldOf()).status;
    const d = decideProject(worldOf({project: {...made, status: before}, ...change}));
    expect(d.claims).toHaveLength(1);
    expect(d.status).toMatchObject({host: target, firstDeployTime: timestamp(t0)});
    expect(d.status.conditions!.map((c) => c.type)).toEqual(['Deployed', 'RoutesReady', 'Ready']);
  });
});

describe('A Project that has been deployed and is then beyond the limit', () => {
  const atFirst = decideProject(worldOf(deployed())).status;

  test('is served on for the grace time, and says until when', () => {
    const d = decideProject(worldOf(deployed()));
    expect(objectLines(d).length).toBeGreaterThan(0);
    expect([d.status.servedUntil, d.wakeAt]).toEqual([timestamp(t0 + 7 * days), t0 + 7 * days]);
    expect(lines(worldOf(deployed()))).toEqual([
      'Deployed=True/Deployed',
      'RoutesReady=True/Routed',
      'Ready=True/ProjectLimitReached',
      'Accepted=False/ProjectLimitReached',
    ]);
    expect(d.status.conditions![2]!.message).toMatch(/It is served until 2026-03-08 12:00 UTC\.$/);
  });

  test('then loses its routes, not its host; neither time nor an object without room for its status gains any more', () => {
    const over = {now: t0 + 7 * days};
    const d = decideProject(worldOf({...deployed(atFirst), ...over}));
    expect([objectLines(d), d.claims, d.status.host, d.status.servedUntil]).toEqual([
      [],
      [],
      target,
      timestamp(t0 + 7 * days),
    ]);
    for (const shorter of shorterProjectStatuses(atFirst)) {
      const after = decideProject(worldOf({project: {...project(), status: shorter}, claim: own, ...over}));
      expect(objectLines(after)).toEqual([]);
      expect(shorter.servedUntil).toBe(timestamp(t0 + 7 * days));
    }
  });

  test('is served as before when it has a place again', () => {
    const d = decideProject(worldOf({...deployed(atFirst), ahead: 0, now: t0 + 9 * days}));
    expect(objectLines(d).length).toBeGreaterThan(0);
    expect(d.status).not.toHaveProperty('servedUntil');
  });
});

describe('The hostnames of a Project beyond the limit', () => {
  const docs = 'docs.example.com';
  const refused = decideProject(worldOf()).status;
  const ending = decideProject(worldOf(deployed())).status;

  test('are refused before anything is asked or ordered', () => {
    const d = decide(world({project: {...project(), status: refused}}));
    expect([hostLines(d), objectLines(d), d.looks]).toEqual([
      [`${docs} NotAccepted ProjectLimitReached Customer`],
      [],
      [],
    ]);
  });

  test.each([
    ['says so', ending],
    ['has room for little more than until when', shorterProjectStatuses(ending)[0]!],
  ])('are served on for the grace time where they were Live, while its status %s', (_, status) => {
    const live = later(later(world({facts: {[docs]: served()}})));
    const spared = later(live, {project: {...project(), status}});
    expect(hostLines(decide(spared))).toEqual([`${docs} Live ProjectLimitReached Customer`]);
    const over = later(spared, {now: t0 + 7 * days + hours});
    expect([hostLines(decide(over)), objectLines(decide(over))]).toEqual([
      [`${docs} NotAccepted ProjectLimitReached Customer`],
      [],
    ]);
  });
});

const at = (creationTimestamp: string, namespace: string, name: string): Project => ({
  ...made,
  metadata: {name, namespace, creationTimestamp},
});

test('Projects have their places by age, and of one second by namespace and name, whatever the order in which they are seen', () => {
  const sorted = [
    at('2026-03-01T12:00:00Z', 'b', 'z'),
    at('2026-03-01T12:00:01Z', 'a', 'b'),
    at('2026-03-01T12:00:01Z', 'a', 'c'),
    at('2026-03-01T12:00:01Z', 'b', 'a'),
  ];
  expect(sorted.toReversed().toSorted(byAge)).toEqual(sorted);
});
