import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import type {ProjectDecision} from '../../../../operator/domain/project/world.ts';
import {decide} from '../../../../operator/domain/lifecycle.ts';
import {decideProject} from '../../../../operator/domain/project/project.ts';
import type {Use} from '../../../../operator/domain/routes/routes.ts';
import {timestamp} from '../../../../operator/domain/times.ts';
import type {CustomDomain} from '../../../../operator/api/foreign.ts';
import {projectConditions} from '../../../../operator/api/project.ts';
import {
  certificate,
  domain,
  hours,
  minutes,
  objectLines,
  policy,
  seconds,
  served,
  settled,
  t0,
  world,
} from '../../../support/world.ts';
import type {Input} from '../../../support/project-world.ts';
import {host, primaryLive, primaryVerified, projectWorld, ready, web} from '../../../support/project-world.ts';

const waitsInLine: Input = {tls: 'PerProject', grant: {kind: 'Queued', since: t0, place: 3, expectedAt: t0 + hours}};
const wishLines = (d: ProjectDecision) =>
  d.orderRequests.map((w) => `${w.certificate.split('/')[0]} ${w.hostname} ${w.state}`);
const names = (input: Input) => {
  const d = decideProject(projectWorld({tls: 'PerProject', ...input}));
  return [...d.certificates.map((c) => c.metadata.name), ...d.routes.map((r) => r.name)];
};
/** As many as a hostname may have in a week. */
const manyOrders = [1, 2, 3, 4].map((ago) => ({
  at: timestamp(t0 - ago * hours),
  outcome: 'Issued' as const,
  endedAt: timestamp(t0 - ago * hours),
}));
const ofAnotherIssuer = () => ({...certificate(), issuerRef: {name: 'before', kind: 'ClusterIssuer'}});
const issuerWith = (input: Input) =>
  decideProject(projectWorld({certificate: ofAnotherIssuer(), ...input})).certificates[0]!.spec.issuerRef.name;
const wishesWith = (change: object) =>
  wishLines(decideProject(projectWorld({tls: 'PerProject', certificate: certificate({ready: false, ...change})})));

const certificateRefused = {kind: 'WriteRefused', object: 'Certificate acme/x', says: 'no'} as const;

const lines = (d: ProjectDecision) => d.status.conditions!.map((c) => `${c.type}=${c.status}/${c.reason}`);
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
      {routed: false},
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
      {routed: false, writeError: {kind: 'NameTaken', object: 'Ingress acme/x'}},
      ['Deployed=True/Deployed', 'RoutesReady=False/NameTaken', 'Ready=False/NameTaken', 'Stalled=True/NameTaken'],
      serving,
    ],
    [
      'says why its certificate can not be written, while its routes stand',
      {tls: 'PerProject', writeError: certificateRefused},
      ['Deployed=True/Deployed', 'RoutesReady=True/Routed', 'Ready=False/WriteRefused', 'Stalled=True/WriteRefused'],
      [`acme Certificate ${host}`, ...serving],
    ],
    [
      'is ready while its certificate is good, although a change of it is refused',
      {tls: 'PerProject', certified: ['serves'], writeError: certificateRefused},
      good,
      [`acme Certificate ${host}`, ...serving],
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
      {tls: 'PerProject', certified: ['serves']},
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
      {defaultHost: 'RedirectToPrimary', tls: 'PerProject', domains: [primaryVerified], certified: ['serves']},
      good,
      [`acme Certificate ${host}`, ...serving],
    ],
    [
      'RedirectToPrimary, PerProject: its certificate stands beside the redirector',
      {defaultHost: 'RedirectToPrimary', tls: 'PerProject', domains: [primaryLive], certified: ['redirects']},
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

  test('tries a minute later what could not be written, although nothing has happened', () => {
    const writeErrors: Input[] = [
      {routed: false, writeError: {kind: 'NameTaken', object: 'Ingress acme/x'}},
      {tls: 'PerProject', writeError: certificateRefused},
    ];
    const wakes = writeErrors.map((input) => decideProject(projectWorld(input)).wakeAt);
    expect(wakes).toEqual([t0 + minutes, t0 + minutes]);
    expect(decideProject(projectWorld()).wakeAt).toBeUndefined();
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

  test('stays deployed and served as it is while its Pods are down', () => {
    const first = decideProject(projectWorld()).status;
    expect(first.firstDeployTime).toBe(timestamp(t0));
    const out = decideProject(projectWorld({now: t0 + hours, status: first, slices: []}));
    expect(out.status).toEqual(first);
    expect(objectLines(out)).toEqual(serving);
  });

  test.each<[string, Input, string]>([
    ['is gone', {service: undefined}, 'ServiceNotFound'],
    ['has lost the port', {service: {...web, spec: {ports: [{port: 8080}]}}}, 'ServicePortNotFound'],
    ['has become an alias', {service: {...web, spec: {...web.spec, type: 'ExternalName'}}}, 'NoReadyEndpoint'],
  ])('stays deployed and routed, and is not Ready, when its Service %s', (_, input, reason) => {
    const first = decideProject(projectWorld()).status;
    const out = decideProject(projectWorld({now: t0 + hours, status: first, slices: [], ...input}));
    expect(lines(out)).toEqual([
      'Deployed=True/Deployed',
      'RoutesReady=True/Routed',
      `Ready=False/${reason}`,
      `Reconciling=True/${reason}`,
    ]);
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
    const [certificateName, route, http] = names({});
    expect([route, http]).toEqual([certificateName, `${certificateName}-http`]);
    expect(names({defaultHost: 'RedirectToPrimary', domains: [primaryLive]})).toEqual([
      certificateName,
      certificateName,
    ]);
    const d = decideProject(projectWorld({tls: 'PerProject'}));
    expect(d.routes[0]!.secretName).toBe(certificateName);
    expect(decideProject(projectWorld()).routes[0]!.secretName).toBeUndefined();
  });

  test('says of a Service of type ExternalName that it never has endpoints', () => {
    const d = decideProject(projectWorld({slices: [], service: {...web, spec: {...web.spec, type: 'ExternalName'}}}));
    expect(d.status.conditions![0]).toMatchObject({
      reason: 'NoReadyEndpoint',
      message: expect.stringContaining('is of type ExternalName, which has no endpoints'),
    });
  });

  describe('with a certificate of its own for each Project', () => {
    test('waits in line for its order, is routed meanwhile, and says so', () => {
      const d = decideProject(projectWorld(waitsInLine));
      expect([lines(d), objectLines(d), wishLines(d), d.wakeAt]).toEqual([
        [
          'Deployed=True/Deployed',
          'RoutesReady=True/Routed',
          'Ready=False/IssuanceQueued',
          'Reconciling=True/IssuanceQueued',
        ],
        serving,
        [`acme ${host} Wanted`],
        t0 + hours,
      ]);
      expect(d.status.conditions![2]!.message).toContain('at position 3');
    });

    test('asks for nothing while the budget of its host is spent: who changes defaultHost again and again gains no order', () => {
      const d = decideProject(
        projectWorld({
          tls: 'PerProject',
          certified: ['serves'],
          standing: {serves: t0 - hours},
          defaultHost: 'RedirectToPrimary',
          domains: [primaryLive],
          orders: manyOrders,
        }),
      );
      expect([d.orderRequests, objectLines(d).filter((l) => l.includes('Certificate'))]).toEqual([
        [],
        [`acme Certificate ${host}`],
      ]);
    });

    test('stays with its issuer until another one may be asked', () => {
      expect([issuerWith(waitsInLine), issuerWith({tls: 'PerProject'})]).toEqual([
        'before',
        policy.issuers[0].issuerRef.name,
      ]);
      // Behind all who have no certificate; whose ends first is the first.
      const {orderRequests} = decideProject(projectWorld({...waitsInLine, certificate: ofAnotherIssuer()}));
      expect(orderRequests).toMatchObject([{state: 'Wanted', since: Date.parse(ofAnotherIssuer().notAfter!)}]);
    });

    test('has its wish until cert-manager has asked', () => {
      const request = {namespace: 'acme', name: 'r', uid: 'u'};
      expect([{}, {request}, {ready: true}].map(wishesWith)).toEqual([[`acme ${host} Ordered`], [], []]);
    });
  });

  test('always has its conditions, Reconciling exactly while it is not Ready, and its status is decided again the same', () => {
    const input = fc.record<Input>({
      defaultHost: fc.constantFrom('Serve', 'RedirectToPrimary', 'Disabled'),
      tls: fc.constantFrom('Wildcard', 'PerProject'),
      port: fc.constantFrom<(number | string)[]>(80, 81, 'http'),
      service: fc.option(fc.constant(web), {nil: undefined}),
      slices: fc.constantFrom(ready, []),
      domains: fc.constantFrom<CustomDomain[][]>([], [primaryLive], [primaryVerified]),
      certified: fc.subarray<Use>(['serves', 'redirects']),
      routed: fc.boolean(),
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
