import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {parse, stringify} from 'yaml';
import {ConfigError, loadConfig, parseSettings, toPolicy, toRules} from '../../operator/config.ts';
import {knownCdns} from '../../operator/domain/verification/cdns.ts';

type Raw = Record<string, unknown>;

/** What has no default, and what the chart always adds. */
const needed = () => ({
  platform: {zone: 'apps.platform.test'} as Raw,
  edge: {addresses: ['192.0.2.1']} as Raw,
  issuerRef: {name: 'letsencrypt'} as Raw,
  ingressClassName: 'traefik',
  dns: {} as Raw,
  redirector: {service: 'doorplate-redirector'} as Raw,
});
const settings = (change: Raw = {}) => parseSettings(stringify({...needed(), ...change}));

/** Everything that is said when a configuration is refused. */
function refusal(yaml: string): string {
  try {
    parseSettings(yaml, 'config.yaml');
  } catch (e) {
    return e instanceof ConfigError ? e.message : `not a ConfigError: ${String(e)}`;
  }
  return 'accepted';
}

/** The keys of every part. */
const parts = (of: object) =>
  Object.fromEntries(
    Object.entries(of).map(([name, part]: [string, unknown]) => [
      name,
      typeof part === 'object' ? Object.keys(part ?? {}).toSorted() : [],
    ]),
  );

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const letsEncrypt = {
  account: [{limit: 300, perMs: 3 * hour}],
  registeredDomain: [{limit: 50, perMs: 7 * day}],
  certificates: [{limit: 5, perMs: 7 * day}],
  authorizations: [{limit: 5, perMs: hour}],
  failures: [
    {limit: 2, perMs: hour},
    {limit: 3, perMs: day},
  ],
  countRenewals: false,
};

describe('A good configuration', () => {
  test('needs four values, and has the defaults of the design for the others', () => {
    expect(settings()).toEqual({
      platform: {zone: 'apps.platform.test', tls: 'Wildcard'},
      edge: {
        addresses: ['192.0.2.1'],
        hostname: '',
        service: {namespace: '', name: ''},
        probe: [],
        proxyProtocol: 'None',
        faultConfirmations: [minute, 5 * minute, 15 * minute],
      },
      issuerRef: {name: 'letsencrypt', kind: 'ClusterIssuer', group: 'cert-manager.io'},
      issuers: [],
      issuerRecoveryTime: hour,
      ingressClassName: 'traefik',
      plainHttp: {shared: 'auto', probe: []},
      dns: {
        mode: 'Authoritative',
        recursive: [],
        allowPrivateAddresses: false,
        recheckInterval: 6 * hour,
        driftConfirmations: [minute, 5 * minute, 15 * minute, hour],
        cdns: [],
        takeoverConfirmations: [2 * second, 5 * second, 10 * second],
        waitSchedule: [
          {every: 15 * second, for: 5 * minute},
          {every: minute, for: 55 * minute},
          {every: 5 * minute, for: 23 * hour},
          {every: hour, for: 6 * day},
        ],
      },
      propagationTime: 48 * hour,
      verificationExpiresAfter: 7 * day,
      issuanceStalledAfter: 30 * minute,
      graceTime: 7 * day,
      quarantineTime: 30 * day,
      maxWaitingHostnames: 1000,
      apexOwnership: 'TXT',
      singleTenant: false,
      defaultPlan: 'free',
      budgets: {
        account: [{limit: 300, per: 3 * hour}],
        registeredDomain: [{limit: 50, per: 7 * day}],
        certificates: [{limit: 5, per: 7 * day}],
        authorizations: [{limit: 5, per: hour}],
        failures: [
          {limit: 2, per: hour},
          {limit: 3, per: day},
        ],
        countRenewals: false,
      },
      api: {
        enabled: false,
        host: '',
        trustedProxies: [],
        withoutKey: {requestsPerMinute: 60},
        audience: 'doorplate',
        perServiceAccount: {requestsPerMinute: 6000, requestsPerDay: 1_000_000},
        requireAccount: false,
        authorize: {enabled: false, acceptOutages: false},
        bans: {enabled: true, strikes: 3, refusedPerMinute: 2, firstBan: 900_000, longestBan: 86_400_000},
        audit: {retention: 7_776_000_000, recordsPerTenant: 10_000, megabytes: 200},
        replicas: 1,
        storage: {path: '/var/lib/doorplate'},
        page: {
          enabled: true,
          name: '',
          logo: '',
          colour: '',
          supportUrl: '',
          offeredPlans: ['free', 'pro', 'business', 'enterprise'],
          frameAncestors: [],
          returnOrigins: [],
          linksByKeys: false,
          sessionLifetime: 8 * hour,
          strictTransportSecurity: true,
        },
      },
      valkey: {url: ''},
      caaIdentities: [],
      deniedNames: [],
      redirector: {service: 'doorplate-redirector', port: 80},
      operator: {deployment: 'doorplate-operator', workers: 30},
      log: {level: 'info', format: 'json'},
      leaderElection: {
        enabled: true,
        lease: 'doorplate-operator',
        leaseDuration: 15 * second,
        renewDeadline: 10 * second,
        retryPeriod: 2 * second,
      },
      admissionPolicy: {enabled: true, mode: 'Deny', scope: 'Accounts'},
    });
  });

  test("has the same defaults as the chart's values", () => {
    const values = parse(
      readFileSync(new URL('../../charts/doorplate/values.yaml', import.meta.url), 'utf8'),
    ) as ReturnType<typeof needed> & {
      api: Raw;
      valkey: Raw;
      admissionPolicy: Raw;
      operator: Raw;
    } & Raw;
    const {
      image,
      imagePullSecrets,
      operator,
      redirector,
      plans,
      metrics,
      proxy,
      caBundle,
      networkPolicy,
      nameOverride,
      fullnameOverride,
      commonLabels,
      docsUrl,
      revisionHistoryLimit,
      podSecurityContext,
      securityContext,
      livenessProbe,
      readinessProbe,
      plainHttp,
      admissionPolicy: {certManager, exceptUsers, exceptGroups, furtherRoutes, ...admissionPolicy},
      api: charted,
      valkey: {url, passwordSecret},
      ...rest
    } = values;
    // What all Deployments have is for Kubernetes, except for the number of replicas.
    const ofPods = Object.keys(redirector as Raw).filter((name) => name !== 'replicas');
    const {ingress, storage, ...others} = charted;
    const api = Object.fromEntries(Object.entries(others).filter(([name]) => !ofPods.includes(name)));
    expect([
      image,
      imagePullSecrets,
      operator,
      redirector,
      plans,
      metrics,
      proxy,
      caBundle,
      networkPolicy,
      nameOverride,
      fullnameOverride,
      commonLabels,
      docsUrl,
      revisionHistoryLimit,
      podSecurityContext,
      securityContext,
      livenessProbe,
      readinessProbe,
      certManager,
      exceptUsers,
      exceptGroups,
      furtherRoutes,
      ingress,
      storage,
      passwordSecret,
    ]).not.toContain(undefined);
    const {installation, ...platform} = values.platform;
    expect(installation).toBe('');
    const given = needed();
    // The chart says itself where the volume is.
    const written = {
      ...rest,
      plainHttp,
      admissionPolicy,
      valkey: {url},
      api: {...api, storage: {path: '/var/lib/doorplate'}},
      platform: {...platform, ...given.platform},
      edge: {...values.edge, ...given.edge},
      issuerRef: {...values.issuerRef, ...given.issuerRef},
      ingressClassName: given.ingressClassName,
      redirector: given.redirector,
      operator: {deployment: 'doorplate-operator', workers: operator.workers},
    };
    expect(parseSettings(stringify(written))).toEqual(settings());
    // Each default stands there for the reader: none is left to the schema.
    expect(Object.keys(written).toSorted()).toEqual(Object.keys(settings()).toSorted());
    expect(parts(written)).toEqual(parts({...settings(), redirector: given.redirector}));
  });

  test('cannot be changed, at any depth', () => {
    const s = settings();
    for (const part of [s, s.platform, s.edge.addresses, s.dns.waitSchedule, s.dns.waitSchedule[0]])
      expect(Object.isFrozen(part)).toBe(true);
    expect(() => {
      (s.dns.waitSchedule as unknown[]).push({});
    }).toThrow(TypeError);
  });

  test.each([
    ['150ms', 150],
    ['15s', 15 * second],
    ['30m', 30 * minute],
    ['6h', 6 * hour],
    ['7d', 7 * day],
  ])('says %s for %i ms', (written, ms) => {
    expect(settings({issuanceStalledAfter: written}).issuanceStalledAfter).toBe(ms);
  });

  test.each([
    ['10.96.0.10', '10.96.0.10', 53],
    ['10.96.0.10:5353', '10.96.0.10', 5353],
    ['2001:db8::53', '2001:db8::53', 53],
    ['[2001:db8::53]', '2001:db8::53', 53],
    ['[2001:db8::53]:5353', '2001:db8::53', 5353],
    ['::1', '::1', 53],
  ])('takes the endpoint %s', (written, address, port) => {
    expect(settings({dns: {recursive: [written]}}).dns.recursive).toEqual([{address, port}]);
  });

  test('has port 80 for plain HTTP where none is said', () => {
    expect(settings({plainHttp: {probe: ['192.0.2.7', '192.0.2.8:8080']}}).plainHttp).toEqual({
      shared: 'auto',
      probe: [
        {address: '192.0.2.7', port: 80},
        {address: '192.0.2.8', port: 8080},
      ],
    });
  });

  test('has port 443 for the edge and 53 for DNS where none is said', () => {
    expect(settings({edge: {addresses: ['192.0.2.1'], probe: ['192.0.2.7']}}).edge.probe).toEqual([
      {address: '192.0.2.7', port: 443},
    ]);
  });

  test('may name a Service where to look at the edge, and the header with which it takes connections', () => {
    const probe = ['traefik.traefik.svc', 'edge.net-1.svc:8443', '[2001:db8::7]:443', '2001:db8::8'];
    expect(settings({edge: {addresses: ['192.0.2.1'], probe, proxyProtocol: 'V2'}}).edge).toMatchObject({
      probe: [
        {service: {namespace: 'traefik', name: 'traefik'}, port: 443},
        {service: {namespace: 'net-1', name: 'edge'}, port: 8443},
        {address: '2001:db8::7', port: 443},
        {address: '2001:db8::8', port: 443},
      ],
      proxyProtocol: 'V2',
    });
  });

  test('takes networks for the edge where it is told where to look', () => {
    const edge = {addresses: ['192.0.2.0/24', '2001:db8::/32', '192.0.2.1/32', '0.0.0.0/0'], probe: ['192.0.2.7']};
    expect(settings({edge}).edge).toMatchObject({
      addresses: edge.addresses,
      probe: [{address: '192.0.2.7', port: 443}],
    });
  });

  test.each<[string, Raw, object]>([
    ['a hostname, which customers may be told', {hostname: 'LB.example.com.'}, {edgeHostname: 'lb.example.com'}],
    ['a Service, of which nothing is known before it is read', {service: {namespace: 'traefik', name: 'traefik'}}, {}],
  ])('may know the edge by %s', (_, edge, known) => {
    const policy = toPolicy(settings({edge}), 'x');
    expect(policy.edgeAddresses).toEqual([]);
    expect(policy.edgeHostname === undefined ? {} : {edgeHostname: policy.edgeHostname}).toEqual(known);
  });

  test('has the rules of proofs: what addresses prove, and the CDNs, those of the platform among them', () => {
    const cdns = [{name: 'Our CDN', networks: ['198.51.100.0/24'], hosts: ['CDN.example.net.']}, {name: 'Fastly'}];
    const rules = toRules(settings({apexOwnership: 'AddressOnly', singleTenant: true, dns: {cdns}}));
    expect(rules.addressOnly).toBe(true);
    expect(rules.cdns).toContainEqual({...cdns[0], hosts: ['cdn.example.net']});
    expect(rules.cdns.filter(({name}) => name === 'Fastly')).toEqual([{name: 'Fastly', networks: [], hosts: []}]);
    expect(toRules(settings()).cdns).toEqual(knownCdns);
  });

  test('lets addresses prove an apex where there is one tenant, and resolvers decide alone where there are two', () => {
    expect(
      settings({
        apexOwnership: 'AddressOnly',
        singleTenant: true,
        dns: {mode: 'RecursiveOnly', recursive: ['192.0.2.53', '192.0.2.54']},
      }),
    ).toMatchObject({apexOwnership: 'AddressOnly', dns: {mode: 'RecursiveOnly'}});
  });

  test('exposes the API where it knows whose X-Forwarded-For to believe, and keeps customers off its hostname', () => {
    const api = {enabled: true, host: 'API.Platform.test.', trustedProxies: ['10.244.0.0/16', '2001:db8::1']};
    expect(settings({api}).api).toMatchObject({host: 'api.platform.test', trustedProxies: api.trustedProxies});
    expect(toPolicy(settings({api, deniedNames: ['www.platform.test']}), 'x').deniedNames).toEqual([
      'www.platform.test',
      'api.platform.test',
    ]);
  });

  test.each<[string, Raw]>([
    ['inside the cluster alone needs no proxies', {api: {enabled: true}}],
    [
      'with an authorizer of one replica, by who accepts its outages',
      {api: {enabled: true, authorize: {enabled: true, acceptOutages: true}}},
    ],
    ['that is off may be half written', {api: {host: 'api.platform.test', replicas: 2}}],
    [
      'of two replicas counts in Valkey',
      {api: {enabled: true, replicas: 2}, valkey: {url: 'rediss://doorplate@valkey.valkey:6379/1'}},
    ],
    [
      'may have a name that ends like the zone',
      {api: {enabled: true, host: 'my-apps.platform.test', trustedProxies: ['10.0.0.1']}},
    ],
  ])('has an API that %s', (_, change) => {
    expect(settings(change)).toMatchObject(change);
  });

  test('has its hostnames in normal form', () => {
    expect(settings({platform: {zone: 'Apps.Bücher.example.'}, deniedNames: ['BÜCHER.example']})).toMatchObject({
      platform: {zone: 'apps.xn--bcher-kva.example'},
      deniedNames: ['xn--bcher-kva.example'],
    });
  });

  test('becomes the policy of decisions: spans in ms, the installation named after the zone unless told', () => {
    const policy = toPolicy(
      settings({dns: {recheckInterval: '1h', waitSchedule: [{every: '2s', for: '10m'}]}}),
      'doorplate-system',
    );
    expect(policy).toEqual({
      installation: 'apps.platform.test',
      zone: 'apps.platform.test',
      tls: 'Wildcard',
      issuers: [
        {
          issuerRef: {name: 'letsencrypt', kind: 'ClusterIssuer', group: 'cert-manager.io'},
          caaIdentities: [],
          when: [],
          budgets: letsEncrypt,
        },
      ],
      ingressClassName: 'traefik',
      edgeAddresses: ['192.0.2.1'],
      redirector: {namespace: 'doorplate-system', service: 'doorplate-redirector', port: 80},
      deniedNames: [],
      waitSchedule: [{everyMs: 2 * second, forMs: 10 * minute}],
      recheckIntervalMs: hour,
      driftConfirmationsMs: [minute, 5 * minute, 15 * minute, hour],
      edgeConfirmationsMs: [minute, 5 * minute, 15 * minute],
      takeoverConfirmationsMs: [2 * second, 5 * second, 10 * second],
      quarantineTimeMs: 30 * day,
      addressOnly: false,
      propagationTimeMs: 48 * hour,
      verificationExpiresAfterMs: 7 * day,
      issuanceStalledAfterMs: 30 * minute,
      graceTimeMs: 7 * day,
      defaultPlan: 'free',
      orderMemoryMs: 14 * day,
    });
    expect(toPolicy(settings({platform: {zone: 'a.example', installation: 'once'}}), 'x').installation).toBe('once');
  });
});

const [first, other] = [{issuerRef: {name: 'letsencrypt'}, preset: 'LetsEncrypt'}, {issuerRef: {name: 'second'}}];
const several = (...issuers: object[]) => toPolicy(settings({issuerRef: undefined, issuers}), 'x');

describe('Several issuers', () => {
  test('have the limits and the names of their presets, and what is set beside them', () => {
    const budgets = {account: [{limit: 7, per: '1h'}]};
    const policy = several(first, {issuerRef: {name: 'google'}, preset: 'GoogleTrustServices', budgets}, other);
    expect(policy.issuers).toMatchObject([
      {issuerRef: {name: 'letsencrypt', kind: 'ClusterIssuer'}, caaIdentities: [], budgets: letsEncrypt},
      {
        issuerRef: {name: 'google'},
        caaIdentities: ['pki.goog'],
        budgets: {account: [{limit: 7, perMs: hour}], countRenewals: true},
      },
      {issuerRef: {name: 'second'}, caaIdentities: [], budgets: letsEncrypt},
    ]);
    expect(policy.issuers[2]!.when).toEqual(['CAAForbids', 'BudgetSpent', 'Unavailable']);
  });

  test('have half of a quota that is no token bucket, so that no hour has more orders than the quota', () => {
    const [google] = several({...other, preset: 'GoogleTrustServices'}).issuers;
    expect(google.budgets.account).toEqual([{limit: 50, perMs: hour}]);
  });

  test('have their orders remembered as long as the longest of their limits needs', () => {
    const budgets = {certificates: [{limit: 5, per: '30d'}]};
    expect(several(first, {...other, budgets}).orderMemoryMs).toBe(60 * day);
  });

  test.each<[string, Raw, string]>([
    ['beside issuerRef', {issuers: [first]}, 'issuerRef: or issuers must be set, and not both'],
    ['of none', {issuerRef: undefined}, 'issuerRef: or issuers must be set'],
    ['of one name', {issuerRef: undefined, issuers: [first, first]}, 'issuers: must have issuers of different names'],
    [
      'with names of a CA',
      {issuerRef: undefined, issuers: [first], caaIdentities: ['ca.example']},
      'caaIdentities: is for issuerRef',
    ],
    [
      'with budgets of a single issuer',
      {issuerRef: undefined, issuers: [first], budgets: {account: [{limit: 10, per: '1h'}]}},
      'budgets: is for issuerRef: with issuers, set issuers[].budgets',
    ],
    ['of an unknown preset', {issuerRef: undefined, issuers: [{...first, preset: 'Other'}]}, 'issuers.0.preset: '],
    ['for no case', {issuerRef: undefined, issuers: [first, {...other, when: []}]}, 'issuers.1.when: '],
    [
      'with a budget that is none',
      {issuerRef: undefined, issuers: [{...first, budgets: {account: [{limit: 0, per: '1h'}]}}]},
      'issuers.0.budgets.account.0.limit: ',
    ],
    [
      'with an unknown budget',
      {issuerRef: undefined, issuers: [{...first, budgets: {acount: []}}]},
      'issuers.0.budgets: ',
    ],
  ])('%s are refused', (_, change, message) => {
    expect(() => settings(change)).toThrow(message);
  });
});

describe('A bad value', () => {
  /** What is changed, and what the message must say of it. */
  const rows: [string, Raw, string][] = [
    ['no zone', {platform: {}}, 'platform.zone: '],
    ['a zone that is none', {platform: {zone: 'a_b.example'}}, 'platform.zone: "a_b.example" is no hostname'],
    ['a zone of one label', {platform: {zone: 'platform'}}, 'platform.zone: "platform" is no hostname'],
    ['a zone with a path', {platform: {zone: 'platform.test/x'}}, 'platform.zone: "platform.test/x" is no hostname'],
    ['an empty installation', {platform: {zone: 'a.example', installation: ''}}, 'platform.installation: '],
    ['another kind of tls', {platform: {zone: 'a.example', tls: 'None'}}, 'platform.tls: '],
    ['no edge', {edge: {addresses: []}}, 'edge: must set exactly one of addresses, hostname and service'],
    [
      'an edge that is known in two ways',
      {edge: {addresses: ['192.0.2.1'], hostname: 'lb.example.com'}},
      'edge: must set exactly one of addresses, hostname and service',
    ],
    [
      'a hostname and a Service of the edge',
      {edge: {hostname: 'lb.example.com', service: {namespace: 'traefik', name: 'traefik'}}},
      'edge: must set exactly one of addresses, hostname and service',
    ],
    ['half a Service of the edge', {edge: {service: {name: 'traefik'}}}, 'edge.service: must have both'],
    [
      'a hostname of the edge that is none',
      {edge: {hostname: 'lb example'}},
      'edge.hostname: "lb example" is no hostname',
    ],
    [
      'a name for an address',
      {edge: {addresses: ['192.0.2.1', 'edge.example.com']}},
      'edge.addresses.1: must be an IP address',
    ],
    [
      'a network with too long a prefix',
      {edge: {addresses: ['192.0.2.0/33'], probe: ['192.0.2.1']}},
      'edge.addresses.0: must be an IP address, or a network',
    ],
    [
      'a network without a prefix',
      {edge: {addresses: ['2001:db8::/'], probe: ['192.0.2.1']}},
      'edge.addresses.0: must be an IP address, or a network',
    ],
    [
      'a network, and nowhere to look',
      {edge: {addresses: ['192.0.2.1', '2001:db8::/64']}},
      'edge.probe: must name addresses, because edge.addresses contains a network',
    ],
    ['another mode of DNS', {dns: {mode: 'Recursive'}}, 'dns.mode: '],
    [
      'one resolver that decides alone',
      {dns: {mode: 'RecursiveOnly', recursive: ['192.0.2.53', '192.0.2.53:5353']}},
      'dns.recursive: must name at least two independent resolvers',
    ],
    [
      'addresses that prove a tenant among others',
      {apexOwnership: 'AddressOnly'},
      'apexOwnership: may be AddressOnly only if singleTenant is true',
    ],
    [
      'a port of a Service that is none',
      {edge: {addresses: ['192.0.2.1'], probe: ['traefik.traefik.svc:70000']}},
      'edge.probe.0: "traefik.traefik.svc:70000" must be ADDRESS',
    ],
    [
      'a version of the PROXY protocol that is none',
      {edge: {addresses: ['192.0.2.1'], proxyProtocol: 'v1'}},
      'edge.proxyProtocol: ',
    ],
    [
      'a probe by name',
      {edge: {addresses: ['192.0.2.1'], probe: ['edge.example.com:443']}},
      'edge.probe.0: "edge.example.com:443" must be ADDRESS or ADDRESS:PORT, with an IP address',
    ],
    ['no time at all', {dns: {recheckInterval: '0s'}}, 'dns.recheckInterval: must be a number above 0'],
    [
      'a port that is none',
      {dns: {recursive: ['10.0.0.1:99999']}},
      'dns.recursive.0: "10.0.0.1:99999" must have a port from 1 to 65535',
    ],
    [
      'a zone without room for a host',
      {platform: {zone: `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.example`}},
      'platform.zone: must have at most 189 characters',
    ],
    [
      'a port without a number',
      {dns: {recursive: ['10.0.0.1:dns']}},
      'dns.recursive.0: "10.0.0.1:dns" must be ADDRESS',
    ],
    [
      'an IPv6 address with a port and no brackets',
      {dns: {recursive: ['2001:db8::53:5353:1:2:3:4:5']}},
      'dns.recursive.0: ',
    ],
    ['no issuer', {issuerRef: {name: ''}}, 'issuerRef.name: '],
    ['no worker', {operator: {workers: 0}}, 'operator.workers: '],
    ['more workers than an API server has room for', {operator: {workers: 201}}, 'operator.workers: '],
    ['half a worker', {operator: {workers: 1.5}}, 'operator.workers: '],
    ['another kind of issuer', {issuerRef: {name: 'x', kind: 'Vault'}}, 'issuerRef.kind: '],
    ['no ingress class', {ingressClassName: ''}, 'ingressClassName: '],
    [
      'a span without a unit',
      {propagationTime: '48'},
      'propagationTime: must be a number above 0 and a unit: ms, s, m, h or d',
    ],
    ['a span that is a number', {propagationTime: 48}, 'propagationTime: '],
    [
      'a span of weeks',
      {verificationExpiresAfter: '1w'},
      'verificationExpiresAfter: must be a number above 0 and a unit',
    ],
    [
      'a span below nothing',
      {issuanceStalledAfter: '-30m'},
      'issuanceStalledAfter: must be a number above 0 and a unit',
    ],
    ['a budget of nothing', {budgets: {account: [{limit: 0, per: '1m'}]}}, 'budgets.account.0.limit: '],
    ['a budget without a limit', {budgets: {failures: []}}, 'budgets.failures: '],
    [
      'a budget for no time',
      {budgets: {registeredDomain: [{limit: 50, per: 'week'}]}},
      'budgets.registeredDomain.0.per: must be a number above 0 and a unit',
    ],
    ['no grace', {graceTime: 'none'}, 'graceTime: must be a number above 0 and a unit'],
    ['no default plan', {defaultPlan: ''}, 'defaultPlan: '],
    ['no schedule', {dns: {waitSchedule: []}}, 'dns.waitSchedule: '],
    ['a step without an end', {dns: {waitSchedule: [{every: '15s', for: 'ever'}]}}, 'dns.waitSchedule.0.for: '],
    [
      'a denied name that is none',
      {deniedNames: ['good.example', '*.example']},
      'deniedNames.1: "*.example" is no hostname',
    ],
    [
      'an API at the zone',
      {api: {host: 'Apps.platform.test'}},
      'api.host: must be neither platform.zone nor below it: the sites of projects are there and would be same-site',
    ],
    [
      'an API below the zone',
      {api: {host: 'api.apps.platform.test.'}},
      'api.host: must be neither platform.zone nor below it',
    ],
    [
      'a host that is none',
      {api: {host: 'https://api.platform.test'}},
      'api.host: "https://api.platform.test" is no hostname',
    ],
    [
      'an API that is exposed, and nobody to believe',
      {api: {enabled: true, host: 'api.platform.test'}},
      'api.trustedProxies: must name the addresses of the ingress controller',
    ],
    [
      'a proxy by name',
      {api: {trustedProxies: ['traefik']}},
      'api.trustedProxies.0: must be an IP address, or a network',
    ],
    [
      'everybody for a proxy',
      {api: {trustedProxies: ['10.0.0.1', '0.0.0.0/0']}},
      'api.trustedProxies.1: must not contain all addresses',
    ],
    [
      'everybody with IPv6 for a proxy',
      {api: {trustedProxies: ['::/0']}},
      'api.trustedProxies.0: must not contain all addresses',
    ],
    [
      'fewer in a day than in a minute',
      {api: {perServiceAccount: {requestsPerMinute: 60, requestsPerDay: 59}}},
      'api.perServiceAccount.requestsPerDay: must be at least requestsPerMinute',
    ],
    ['no request without a key', {api: {withoutKey: {requestsPerMinute: 0}}}, 'api.withoutKey.requestsPerMinute: '],
    [
      'a ban that grows beyond the longest',
      {api: {bans: {firstBan: '2h', longestBan: '1h'}}},
      'api.bans.longestBan: must be at least firstBan',
    ],
    [
      'a path that depends on where one stands',
      {api: {storage: {path: 'data'}}},
      'api.storage.path: must be an absolute path',
    ],
    ['no replica', {api: {replicas: 0}}, 'api.replicas: '],
    [
      'an authorizer whose outages nobody accepted',
      {api: {enabled: true, authorize: {enabled: true}}},
      'api.authorize: needs api.replicas of 2 or more',
    ],
    [
      'two replicas that count apart',
      {api: {enabled: true, replicas: 2}},
      'valkey.url: is required if api.replicas is above 1',
    ],
    [
      'another store',
      {valkey: {url: 'http://valkey:6379'}},
      'valkey.url: must be a URL such as redis://valkey.valkey:6379',
    ],
    [
      'a store without a scheme',
      {valkey: {url: 'valkey:6379'}},
      'valkey.url: must be a URL such as redis://valkey.valkey:6379',
    ],
    [
      'a password for all to read',
      {valkey: {url: 'redis://:secret@valkey:6379'}},
      'valkey.url: must not contain a password, because it is stored in a ConfigMap: name the Secret with the password in valkey.passwordSecret',
    ],
    ['a key that is not known', {platform: {zone: 'a.example', tsl: 'Wildcard'}}, 'platform: Unrecognized key: "tsl"'],
    ['another key that is not known', {dnss: {}}, '(file): Unrecognized key: "dnss"'],
    ['a colour that is none', {api: {page: {colour: 'red; background: url(//x)'}}}, 'api.page.colour: '],
    ['a logo without TLS', {api: {page: {logo: 'http://example.com/logo.svg'}}}, 'api.page.logo: '],
    ['support by a script', {api: {page: {supportUrl: 'javascript:alert(1)'}}}, 'api.page.supportUrl: '],
    [
      'a frame that adds to the policy',
      {api: {page: {frameAncestors: ['https://example.com; script-src *']}}},
      'api.page.frameAncestors.0: ',
    ],
    ['a URL as an origin', {api: {page: {returnOrigins: ['https://example.com/a']}}}, 'api.page.returnOrigins.0: '],
    [
      'a session of a minute',
      {api: {page: {sessionLifetime: '4m'}}},
      'api.page.sessionLifetime: must be between 5m and 7d',
    ],
    ['a session of a month', {api: {page: {sessionLifetime: '8d'}}}, 'api.page.sessionLifetime: '],
    ['any origin', {api: {page: {returnOrigins: ['https://*.example.com']}}}, 'api.page.returnOrigins.0: '],
    ['another format of log', {log: {format: 'xml'}}, 'log.format: '],
    ['another level of log', {log: {level: 'loud'}}, 'log.level: '],
  ];
  test.each(rows)('names itself: %s', (_, change, message) => {
    expect(refusal(stringify({...needed(), ...change}))).toContain(`config.yaml: ${message}`);
  });

  test('is told of together with all others', () => {
    expect(refusal(stringify({...needed(), propagationTime: 'x', log: {level: 'loud'}}))).toMatch(
      /^config\.yaml: propagationTime: .*; log\.level: /,
    );
  });

  test.each([
    ['no YAML', 'a: [', 'config.yaml: not YAML: '],
    ['nothing', '', 'config.yaml: (file): '],
    ['a list', '[]', 'config.yaml: (file): '],
  ])('may be the whole file: %s', (_, yaml, message) => {
    expect(refusal(yaml)).toContain(message);
  });
});

describe('What a Pod is started with', () => {
  let folder: string;
  let file: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'doorplate-config-'));
    file = join(folder, 'config.yaml');
    writeFileSync(file, stringify(needed()));
  });
  afterAll(() => rmSync(folder, {recursive: true}));

  test('is the file and its own name, frozen', () => {
    const config = loadConfig({DOORPLATE_CONFIG: file, POD_NAMESPACE: 'doorplate-system', POD_NAME: 'doorplate-0'});
    expect(config).toMatchObject({
      namespace: 'doorplate-system',
      pod: 'doorplate-0',
      policy: {redirector: {namespace: 'doorplate-system'}},
    });
    expect([Object.isFrozen(config), Object.isFrozen(config.policy.redirector)]).toEqual([true, true]);
  });

  test('is its own UID too, where that is told', () => {
    expect(loadConfig({DOORPLATE_CONFIG: file, POD_NAMESPACE: 'x', POD_NAME: 'x', POD_UID: 'u'}).podUid).toBe('u');
  });

  test('is the password of Valkey too, which is in no file', () => {
    expect(
      loadConfig({DOORPLATE_CONFIG: file, POD_NAMESPACE: 'x', POD_NAME: 'x', VALKEY_PASSWORD: 's'}).valkeyPassword,
    ).toBe('s');
  });

  test.each([
    ['POD_NAMESPACE', {POD_NAME: 'x'}],
    ['POD_NAME', {POD_NAMESPACE: 'x'}],
    ['POD_NAME', {POD_NAMESPACE: 'x', POD_NAME: ''}],
  ])('lacks %s: said so', (name, env) => {
    expect(() => loadConfig({DOORPLATE_CONFIG: file, ...env})).toThrow(
      new ConfigError(`the environment variable ${name} is not set`),
    );
  });

  test('is a file that is not there: its name is told', () => {
    expect(() => loadConfig({DOORPLATE_CONFIG: join(folder, 'none.yaml'), POD_NAMESPACE: 'x', POD_NAME: 'x'})).toThrow(
      /none\.yaml: ENOENT/,
    );
  });
});
