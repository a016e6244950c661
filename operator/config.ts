/**
 * The platform's settings: one file (the chart renders its values into a ConfigMap) and a few variables that only the
 * Pod knows, checked once, then frozen. A bad value stops the start, and the message names it.
 */
import {readFileSync} from 'node:fs';
import {parse} from 'yaml';
import {z} from 'zod';
import {cdnsWith} from './domain/verification/cdns.ts';
import {api} from './api-settings.ts';
import {budgets, issuerRef, issuers, issuersOf} from './issuer-settings.ts';
import {memoryMs} from './domain/certificates/budget.ts';
import type {Edge, VerificationRules} from './domain/verification/method.ts';
import type {Policy} from './domain/world.ts';
import {
  addresses,
  cdn,
  endpoint,
  endpointOrService,
  hostname,
  hostnameOrNone,
  span,
  workers,
} from './setting-values.ts';

const valkey = z.strictObject({
  url: z
    .string()
    .default('')
    .refine(
      (url) => url === '' || /^rediss?:$/.test(URL.parse(url)?.protocol ?? ''),
      'must be a URL such as redis://valkey.valkey:6379, or rediss:// for TLS; a Sentinel or a cluster is not supported',
    )
    .refine(
      (url) => !URL.parse(url)?.password,
      'must not contain a password, because it is stored in a ConfigMap: name the Secret with the password in valkey.passwordSecret',
    ),
});

const schema = z
  .strictObject({
    platform: z.strictObject({
      // A default host is a label of up to 63 octets below it, and 253 in all (RFC 1035).
      zone: hostname.refine((name) => name.length <= 189, 'must have at most 189 characters'),
      installation: z.string().min(1).optional(),
      tls: z.enum(['Wildcard', 'PerProject']).default('Wildcard'),
    }),
    edge: z
      .strictObject({
        addresses: z.array(addresses).default([]),
        // Empty: it is known by something else.
        hostname: hostnameOrNone,
        service: z.strictObject({namespace: z.string().default(''), name: z.string().default('')}).prefault({}),
        probe: z.array(endpointOrService(443)).default([]),
        // The header by which each address takes connections, those of plainHttp.probe too.
        proxyProtocol: z.enum(['None', 'V1', 'V2']).default('None'),
        // Times after the first failed probe of a Live hostname.
        faultConfirmations: z.array(span('1m')).min(1).prefault(['1m', '5m', '15m']),
      })
      .refine(
        ({addresses: listed, hostname: name, service}) =>
          [listed.length > 0, name !== '', service.namespace + service.name !== ''].filter(Boolean).length === 1,
        'must set exactly one of addresses, hostname and service',
      )
      .refine(({service: {namespace, name}}) => (namespace === '') === (name === ''), {
        path: ['service'],
        message: 'must have both a namespace and a name',
      })
      .refine((edge) => edge.probe.length > 0 || !edge.addresses.some((a) => a.includes('/')), {
        path: ['probe'],
        message: 'must name addresses, because edge.addresses contains a network',
      }),
    issuerRef: issuerRef.optional(),
    issuers,
    ingressClassName: z.string().min(1),
    // Shared: the operator creates one Ingress for plain HTTP of all hostnames. `probe`: endpoints that show whether that Ingress serves.
    plainHttp: z
      .strictObject({
        shared: z.union([z.literal('auto'), z.boolean()], 'must be auto, true or false').default('auto'),
        probe: z.array(endpoint(80)).default([]),
      })
      .prefault({}),
    dns: z
      .strictObject({
        mode: z.enum(['Authoritative', 'RecursiveOnly']).default('Authoritative'),
        recursive: z.array(endpoint(53)).default([]),
        allowPrivateAddresses: z.boolean().default(false),
        recheckInterval: span('6h'),
        driftConfirmations: z.array(span('1m')).min(1).prefault(['1m', '5m', '15m', '60m']),
        // Beside those that Doorplate knows; one of the same name takes its place.
        cdns: z.array(cdn).default([]),
        takeoverConfirmations: z.array(span('2s')).min(1).prefault(['2s', '5s', '10s']),
        waitSchedule: z
          .array(z.strictObject({every: span('15s'), for: span('5m')}))
          .min(1)
          .prefault([
            {every: '15s', for: '5m'},
            {every: '60s', for: '55m'},
            {every: '5m', for: '23h'},
            {every: '1h', for: '6d'},
          ]),
      })
      .refine((dns) => dns.mode !== 'RecursiveOnly' || new Set(dns.recursive.map((r) => r.address)).size >= 2, {
        path: ['recursive'],
        message: 'must name at least two independent resolvers, because dns.mode is RecursiveOnly',
      }),
    apexOwnership: z.enum(['TXT', 'AddressOnly']).default('TXT'),
    singleTenant: z.boolean().default(false),
    propagationTime: span('48h'),
    verificationExpiresAfter: span('7d'),
    issuanceStalledAfter: span('30m'),
    budgets: budgets.optional(),
    // An issuer that did not answer is used again when it has answered for this time.
    issuerRecoveryTime: span('1h'),
    graceTime: span('7d'),
    quarantineTime: span('30d'),
    // Of a tenant. Its other new hostnames are refused until hostnames that wait are verified or removed.
    maxWaitingHostnames: z.int().min(1).max(1_000_000).default(1000),
    defaultPlan: z.string().min(1).max(253).default('free'),
    caaIdentities: z.array(hostname).default([]),
    deniedNames: z.array(hostname).default([]),
    api: api.prefault({}),
    valkey: valkey.prefault({}),
    redirector: z.strictObject({service: z.string().min(1), port: z.int().default(80)}),
    // Its Deployment: the uninstall Job acts only after its deletion.
    operator: z.strictObject({deployment: z.string().min(1).default('doorplate-operator'), workers}).prefault({}),
    // The chart makes it; the operator says what it leaves open.
    admissionPolicy: z
      .strictObject({
        enabled: z.boolean().default(true),
        mode: z.enum(['Audit', 'Warn', 'Deny']).default('Deny'),
        scope: z.enum(['Accounts', 'All']).default('Accounts'),
      })
      .prefault({}),
    leaderElection: z
      .strictObject({
        enabled: z.boolean().default(true),
        lease: z.string().min(1).default('doorplate-operator'),
        leaseDuration: span('15s'),
        renewDeadline: span('10s'),
        retryPeriod: span('2s'),
      })
      .refine(
        (e) => e.leaseDuration > e.renewDeadline && e.renewDeadline > 1.2 * e.retryPeriod && e.retryPeriod > 0,
        'must be leaseDuration > renewDeadline > 1.2 × retryPeriod > 0',
      )
      .prefault({}),
    log: z
      .strictObject({
        level: z.enum(['trace', 'debug', 'info', 'warn', 'error']).default('info'),
        format: z.enum(['json', 'text']).default('json'),
      })
      .prefault({}),
  })
  .refine((s) => (s.issuerRef === undefined) === s.issuers.length > 0, {
    path: ['issuerRef'],
    message: 'or issuers must be set, and not both: issuerRef is the short form of a single issuer',
  })
  .refine((s) => s.issuers.length === 0 || s.caaIdentities.length === 0, {
    path: ['caaIdentities'],
    message: 'is for issuerRef: with issuers, set issuers[].caaIdentities',
  })
  .refine((s) => s.issuers.length === 0 || s.budgets === undefined, {
    path: ['budgets'],
    message: 'is for issuerRef: with issuers, set issuers[].budgets',
  })
  .refine((s) => s.apexOwnership !== 'AddressOnly' || s.singleTenant, {
    path: ['apexOwnership'],
    message: 'may be AddressOnly only if singleTenant is true, because addresses do not verify a tenant',
  })
  .refine((s) => `.${s.api.host}`.endsWith(`.${s.platform.zone}`) === false, {
    path: ['api', 'host'],
    message:
      "must be neither platform.zone nor below it: the sites of projects are there and would be same-site with the API's pages",
  })
  .refine(
    ({api: {enabled, authorize, replicas}}) =>
      !enabled || !authorize.enabled || authorize.acceptOutages || replicas > 1,
    {
      path: ['api', 'authorize'],
      message:
        "needs api.replicas of 2 or more: with one replica, the platform's own APIs fail or have no " +
        'limits during each restart. To accept that, set acceptOutages: true',
    },
  )
  .refine((s) => !s.api.enabled || s.api.replicas === 1 || s.valkey.url !== '', {
    path: ['valkey', 'url'],
    message: 'is required if api.replicas is above 1, because the replicas share their counts there',
  })
  // The default comes after the rules: one of them refuses budgets beside `issuers`.
  .transform((s) => ({...s, budgets: s.budgets ?? budgets.parse({})}));

export type Settings = Readonly<z.output<typeof schema>>;

/** Everything a role needs to start. */
export interface Config {
  settings: Settings;
  policy: Policy;
  /** Doorplate's own namespace, and this Pod. */
  namespace: string;
  pod: string;
  /** Of this Pod; `kubectl describe` finds its Events by it. */
  podUid?: string;
  /** Of Valkey; never in the file. */
  valkeyPassword?: string;
}

/** The configuration does not hold; the message lists what to change. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

function freeze<T>(value: T): T {
  if (value !== null && typeof value === 'object') {
    Object.values(value).forEach(freeze);
    Object.freeze(value);
  }
  return value;
}

/** Parses and checks settings written as YAML. Throws {@link ConfigError} naming every bad value. */
export function parseSettings(yaml: string, where = 'configuration'): Settings {
  let raw: unknown;
  try {
    raw = parse(yaml);
  } catch (e) {
    throw new ConfigError(`${where}: not YAML: ${(e as Error).message}`, {cause: e});
  }
  const result = schema.safeParse(raw);
  if (!result.success) {
    throw new ConfigError(
      `${where}: ${result.error.issues.map((i) => `${i.path.join('.') || '(file)'}: ${i.message}`).join('; ')}`,
    );
  }
  return freeze(result.data);
}

/** Reads the file that DOORPLATE_CONFIG names, POD_NAMESPACE, POD_NAME, and, where they are there, POD_UID and VALKEY_PASSWORD. */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const need = (name: string) =>
    env[name] ||
    (() => {
      throw new ConfigError(`the environment variable ${name} is not set`);
    })();
  const file = env.DOORPLATE_CONFIG ?? '/etc/doorplate/config.yaml';
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (e) {
    throw new ConfigError(`${file}: ${(e as Error).message}`, {cause: e});
  }
  const settings = parseSettings(text, file);
  const namespace = need('POD_NAMESPACE');
  const {POD_UID: podUid, VALKEY_PASSWORD: valkeyPassword} = env;
  return freeze({
    settings,
    namespace,
    pod: need('POD_NAME'),
    policy: toPolicy(settings, namespace),
    ...(podUid !== undefined && {podUid}),
    ...(valkeyPassword !== undefined && {valkeyPassword}),
  });
}

/** The settings as far as decisions need them. */
export function toPolicy(s: Settings, namespace: string): Policy {
  return {
    installation: s.platform.installation ?? s.platform.zone,
    zone: s.platform.zone,
    tls: s.platform.tls,
    issuers: issuersOf(s),
    ingressClassName: s.ingressClassName,
    // controllers/state/edge-addresses.ts adds addresses that are known by other means later.
    edgeAddresses: s.edge.addresses,
    ...(s.edge.hostname !== '' && {edgeHostname: s.edge.hostname}),
    redirector: {namespace, ...s.redirector},
    // A hostname of the platform's own, like the zone.
    deniedNames: s.api.host === '' ? s.deniedNames : [...s.deniedNames, s.api.host],
    waitSchedule: s.dns.waitSchedule.map((step) => ({everyMs: step.every, forMs: step.for})),
    recheckIntervalMs: s.dns.recheckInterval,
    driftConfirmationsMs: s.dns.driftConfirmations,
    edgeConfirmationsMs: s.edge.faultConfirmations,
    takeoverConfirmationsMs: s.dns.takeoverConfirmations,
    propagationTimeMs: s.propagationTime,
    verificationExpiresAfterMs: s.verificationExpiresAfter,
    issuanceStalledAfterMs: s.issuanceStalledAfter,
    orderMemoryMs: Math.max(...issuersOf(s).map((i) => memoryMs(i.budgets))),
    graceTimeMs: s.graceTime,
    quarantineTimeMs: s.quarantineTime,
    addressOnly: s.apexOwnership === 'AddressOnly',
    defaultPlan: s.defaultPlan,
  };
}

/** The settings as far as the proof of a hostname needs them, but for the edge: that may change. */
export const toRules = ({apexOwnership, dns}: Settings): Omit<VerificationRules, keyof Edge> => ({
  addressOnly: apexOwnership === 'AddressOnly',
  cdns: cdnsWith(dns.cdns),
});
