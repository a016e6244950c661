import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import type {CustomDomain, Ingress, Project, Service} from '../../../operator/api/foreign.ts';
import {projectConditions} from '../../../operator/api/project.ts';
import {timestamp} from '../../../operator/domain/conditions.ts';
import {decide} from '../../../operator/domain/lifecycle.ts';
import {projectHost} from '../../../operator/domain/hostname.ts';
import type {ProjectDecision, ProjectWorld} from '../../../operator/domain/project.ts';
import {decideProject} from '../../../operator/domain/project.ts';
import {
  certificate,
  domain,
  enterprise,
  heldClaim,
  hours,
  objectLines,
  policy,
  proven,
  seconds,
  served,
  settled,
  t0,
  tenantOn,
  world,
} from '../../support/world.ts';

const host = projectHost({installation: policy.installation, zone: policy.zone, namespace: 'acme', name: 'docs'});
const web: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {name: 'web', namespace: 'acme'},
  spec: {
    ports: [
      {name: 'http', port: 80},
      {name: 'admin', port: 9000},
    ],
  },
};
const ready = [{endpoints: [{conditions: {ready: true}}]}];

interface Input extends Partial<Omit<ProjectWorld, 'project' | 'policy' | 'certificate'>> {
  defaultHost?: Project['spec']['defaultHost'];
  port?: number | string;
  status?: Project['status'];
  tls?: 'Wildcard' | 'PerProject';
  certified?: string[];
}

function projectWorld({
  defaultHost = 'Serve',
  port = 80,
  status,
  tls = 'Wildcard',
  certified = [],
  ...rest
}: Input = {}): ProjectWorld {
  return {
    now: t0,
    project: {
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'Project',
      metadata: {name: 'docs', namespace: 'acme', uid: 'uid-project', generation: 3},
      spec: {serviceRef: {name: 'web', port}, defaultHost},
      ...(status && {status}),
    },
    service: web,
    slices: ready,
    domains: [],
    certificate: (namespace) => (certified.includes(namespace) ? certificate() : undefined),
    tenant: tenantOn(enterprise),
    claimOf: (h) => ({
      ...heldClaim(h, 'uid-project'),
      status: {holder: {kind: 'Project', namespace: 'acme', name: 'docs', uid: 'uid-project'}, generation: 0},
    }),
    standsAs: {},
    stands: () => true,
    policy: {...policy, tls},
    traefik: true,
    ...rest,
  };
}

const lines = (d: ProjectDecision) => d.status.conditions!.map((c) => `${c.type}=${c.status}/${c.reason}`);
const withStatus = (hosts: Record<string, ReturnType<typeof served>>): CustomDomain => ({
  ...domain(),
  status: decide(settled(world({facts: hosts}))).status,
});
const primaryLive = withStatus({'docs.example.com': served()});
const primaryVerified = withStatus({'docs.example.com': proven()});

const serving = [
  `acme Ingress ${host} websecure -> web:80`,
  `doorplate-system Ingress ${host} web -> doorplate-redirector:80`,
];
const redirecting = [`doorplate-system Ingress ${host} web,websecure -> doorplate-redirector:80`];
const good = ['Deployed=True/Deployed', 'RoutesReady=True/Routed', 'Ready=True/Serving'];

describe('A Project', () => {
  /** Each row: what is there, and all that is said and wanted then. */
  const rows: [string, Input, string[], string[]][] = [
    ['serves its default host once its Service has a ready endpoint', {}, good, serving],
    ['serves by the name of a port', {port: 'http'}, good, [`acme Ingress ${host} websecure -> web:http`, serving[1]!]],
    [
      'takes an endpoint that says nothing for ready',
      {slices: [{}, {endpoints: []}, {endpoints: [{}]}]},
      good,
      serving,
    ],
    [
      'waits for its Service',
      {service: undefined},
      [
        'Deployed=False/ServiceNotFound',
        'RoutesReady=False/ServiceNotFound',
        'Ready=False/ServiceNotFound',
        'Reconciling=True/ServiceNotFound',
      ],
      [],
    ],
    [
      'waits for the port',
      {port: 8080},
      [
        'Deployed=False/ServicePortNotFound',
        'RoutesReady=False/ServicePortNotFound',
        'Ready=False/ServicePortNotFound',
        'Reconciling=True/ServicePortNotFound',
      ],
      [],
    ],
    [
      'waits for the port of that name',
      {port: 'https'},
      [
        'Deployed=False/ServicePortNotFound',
        'RoutesReady=False/ServicePortNotFound',
        'Ready=False/ServicePortNotFound',
        'Reconciling=True/ServicePortNotFound',
      ],
      [],
    ],
    [
      'waits for a first ready endpoint',
      {slices: [{endpoints: [{conditions: {ready: false}}]}]},
      [
        'Deployed=False/NoReadyEndpoint',
        'RoutesReady=False/NoReadyEndpoint',
        'Ready=False/NoReadyEndpoint',
        'Reconciling=True/NoReadyEndpoint',
      ],
      [],
    ],
    [
      'says so while its routes are being written',
      {stands: () => false},
      [
        'Deployed=True/Deployed',
        'RoutesReady=False/RoutesPending',
        'Ready=False/RoutesPending',
        'Reconciling=True/RoutesPending',
      ],
      serving,
    ],
    [
      "leaves somebody else's object alone",
      {stands: () => false, inTheWay: 'Ingress acme/x'},
      ['Deployed=True/Deployed', 'RoutesReady=False/NameTaken', 'Ready=False/NameTaken', 'Reconciling=True/NameTaken'],
      serving,
    ],
    [
      'of an ingress class without listeners gets one route',
      {traefik: false},
      good,
      [`acme Ingress ${host} any -> web:80`],
    ],
    // defaultHost by platform.tls
    [
      'Serve, PerProject: needs its own certificate',
      {tls: 'PerProject'},
      ['Deployed=True/Deployed', 'RoutesReady=True/Routed', 'Ready=False/Issuing', 'Reconciling=True/Issuing'],
      [`acme Certificate ${host}`, ...serving],
    ],
    [
      'Serve, PerProject: is ready with it',
      {tls: 'PerProject', certified: ['acme']},
      good,
      [`acme Certificate ${host}`, ...serving],
    ],
    [
      'RedirectToPrimary, Wildcard: serves while there is no primary',
      {defaultHost: 'RedirectToPrimary'},
      good,
      serving,
    ],
    [
      'RedirectToPrimary, Wildcard: serves while the primary is not Live',
      {defaultHost: 'RedirectToPrimary', domains: [primaryVerified]},
      good,
      serving,
    ],
    [
      'RedirectToPrimary, Wildcard: redirects once the primary is Live',
      {defaultHost: 'RedirectToPrimary', domains: [primaryLive]},
      ['Deployed=True/Deployed', 'RoutesReady=True/Routed', 'Ready=True/Redirecting'],
      redirecting,
    ],
    [
      'RedirectToPrimary, PerProject: serves with its certificate while the primary is not Live',
      {defaultHost: 'RedirectToPrimary', tls: 'PerProject', domains: [primaryVerified], certified: ['acme']},
      good,
      [`acme Certificate ${host}`, ...serving],
    ],
    [
      'RedirectToPrimary, PerProject: its certificate stands beside the redirector',
      {defaultHost: 'RedirectToPrimary', tls: 'PerProject', domains: [primaryLive], certified: ['doorplate-system']},
      ['Deployed=True/Deployed', 'RoutesReady=True/Routed', 'Ready=True/Redirecting'],
      [`doorplate-system Certificate ${host}`, ...redirecting],
    ],
    [
      'Disabled, Wildcard: is ready, and nothing is routed',
      {defaultHost: 'Disabled'},
      ['Deployed=True/Deployed', 'RoutesReady=True/DefaultHostDisabled', 'Ready=True/DefaultHostDisabled'],
      [],
    ],
    [
      'Disabled, PerProject: needs no certificate',
      {defaultHost: 'Disabled', tls: 'PerProject'},
      ['Deployed=True/Deployed', 'RoutesReady=True/DefaultHostDisabled', 'Ready=True/DefaultHostDisabled'],
      [],
    ],
    [
      'Disabled still waits for the first deploy',
      {defaultHost: 'Disabled', service: undefined},
      [
        'Deployed=False/ServiceNotFound',
        'RoutesReady=False/ServiceNotFound',
        'Ready=False/ServiceNotFound',
        'Reconciling=True/ServiceNotFound',
      ],
      [],
    ],
    ['Serve redirects nowhere, Live primary or not', {domains: [primaryLive]}, good, serving],
  ];
  test.each(rows)('%s', (_, input, conditions, objects) => {
    const d = decideProject(projectWorld(input));
    expect({conditions: lines(d), objects: objectLines(d)}).toEqual({conditions, objects});
  });

  test('has its host and its URL before anything else is there, and even when it is Disabled', () => {
    for (const input of [{}, {service: undefined, slices: []}, {defaultHost: 'Disabled'}] satisfies Input[]) {
      expect(decideProject(projectWorld(input)).status).toMatchObject({
        host,
        url: `https://${host}`,
        observedGeneration: 3,
      });
    }
  });

  test('is deployed for ever: a later outage does not take it back', () => {
    const first = decideProject(projectWorld()).status;
    expect(first.firstDeployTime).toBe(timestamp(t0));
    const out = decideProject(projectWorld({now: t0 + hours, status: first, service: undefined, slices: []}));
    expect(out.status).toEqual(first);
    expect(objectLines(out)).toEqual(serving);
  });

  test('publishes the redirect in effect, temporary, because a domain may be taken away again', () => {
    expect(
      decideProject(projectWorld({defaultHost: 'RedirectToPrimary', domains: [primaryLive]})).status.redirect,
    ).toEqual({to: 'docs.example.com', status: 307});
    expect(
      decideProject(projectWorld({defaultHost: 'RedirectToPrimary', domains: [primaryVerified]})).status,
    ).not.toHaveProperty('redirect');
  });

  test('redirects to no redirect source, Live as it may be', () => {
    const {status} = decide(
      settled(
        world({
          redirects: [{from: 'old.example.com'}],
          facts: {'docs.example.com': served(), 'old.example.com': served()},
        }),
      ),
    );
    const lost = {
      ...domain(),
      status: {
        ...status,
        hosts: status.hosts!.map((h) => (h.role === 'Primary' ? {...h, phase: 'Verified' as const} : h)),
      },
    };
    expect(decideProject(projectWorld({defaultHost: 'RedirectToPrimary', domains: [lost]})).status).not.toHaveProperty(
      'redirect',
    );
  });

  test('names its certificate and its routes after itself, in both namespaces alike', () => {
    const names = (input: Input) => {
      const d = decideProject(projectWorld({tls: 'PerProject', ...input}));
      return [...d.certificates, ...d.ingresses].map((o) => o.metadata.name);
    };
    const [certificateName, route, http] = names({});
    expect([route, http]).toEqual([certificateName, `${certificateName}-http`]);
    expect(names({defaultHost: 'RedirectToPrimary', domains: [primaryLive]})).toEqual([
      certificateName,
      certificateName,
    ]);
    const d = decideProject(projectWorld({tls: 'PerProject'}));
    expect(d.ingresses[0]!.spec.tls).toEqual([{hosts: [host], secretName: certificateName}]);
    expect(decideProject(projectWorld()).ingresses[0]!.spec).not.toHaveProperty('tls');
  });

  test('counts every one of its routes as standing or not', () => {
    for (const namespace of ['acme', 'doorplate-system']) {
      const stands = (ingress: Ingress) => ingress.metadata.namespace === namespace;
      expect(lines(decideProject(projectWorld({stands})))[1]).toBe('RoutesReady=False/RoutesPending');
    }
  });

  test('always has its conditions, Reconciling exactly while it is not Ready, and its status is decided again the same', () => {
    const input = fc.record<Input>({
      defaultHost: fc.constantFrom('Serve', 'RedirectToPrimary', 'Disabled'),
      tls: fc.constantFrom('Wildcard', 'PerProject'),
      port: fc.constantFrom<(number | string)[]>(80, 81, 'http'),
      service: fc.option(fc.constant(web), {nil: undefined}),
      slices: fc.constantFrom(ready, []),
      domains: fc.constantFrom<CustomDomain[][]>([], [primaryLive], [primaryVerified]),
      certified: fc.subarray(['acme', 'doorplate-system']),
      stands: fc.constantFrom(
        () => true,
        () => false,
      ),
    });
    fc.assert(
      fc.property(input, fc.integer({min: 1, max: 1e9}), (given, ms) => {
        const {status} = decideProject(projectWorld(given));
        const types = status.conditions!.map((c) => c.type);
        expect(types.slice(0, 3)).toEqual([...projectConditions]);
        expect(types.slice(3)).toEqual(status.conditions![2]!.status === 'True' ? [] : ['Reconciling']);
        expect(decideProject(projectWorld({...given, status, now: t0 + ms})).status).toEqual(status);
      }),
      {numRuns: 300},
    );
  });

  test('moves lastTransitionTime only with the status', () => {
    const {status} = decideProject(projectWorld({service: undefined}));
    const next = decideProject(projectWorld({port: 81, status, now: t0 + 5 * seconds})).status;
    expect(next.conditions!.map((c) => [c.reason, c.lastTransitionTime])).toEqual(
      Array.from({length: 4}, () => ['ServicePortNotFound', timestamp(t0)]),
    );
    const deployed = decideProject(projectWorld({status, now: t0 + 9 * seconds})).status;
    expect(deployed.conditions!.map((c) => c.lastTransitionTime)).toEqual(
      Array.from({length: 3}, () => timestamp(t0 + 9 * seconds)),
    );
  });
});
