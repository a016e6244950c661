/**
 * The platform's settings: one file (the chart renders its values into a ConfigMap) and a few variables that only the
 * Pod knows, checked once, then frozen. A bad value stops the start, and the message names it.
 */
import {readFileSync} from 'node:fs';
import {isIP} from 'node:net';
import {parse} from 'yaml';
import {z} from 'zod';
import {normalise} from './domain/hostname.ts';
import type {Policy} from './domain/lifecycle.ts';

const units = {ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000} as const;

/** A time span as written in YAML, such as 15s, 30m, 6h or 7d; in milliseconds after parsing. */
const span = (fallback: string) =>
  z
    .string()
    .regex(/^0*[1-9][0-9]*(ms|s|m|h|d)$/, 'must be a number above 0 and a unit: ms, s, m, h or d')
    .default(fallback)
    .transform((s) => Number.parseInt(s, 10) * units[/[a-z]+$/.exec(s)![0] as keyof typeof units]);
/** At most so many in any time span of that length. */
const limits = (...fallback: {limit: number; per: string}[]) =>
  z
    .array(z.strictObject({limit: z.int().min(1), per: span('1h')}))
    .min(1)
    .prefault(fallback);
const hostname = z
  .string()
  .transform((h, ctx) => normalise(h) ?? (ctx.addIssue(`${JSON.stringify(h)} is no hostname`), z.NEVER));

/** An IP address, or a network of them in CIDR notation. */
const addresses = z.string().refine((text) => {
  const [address = '', prefix, ...more] = text.split('/');
  const bits = {0: -1, 4: 32, 6: 128}[isIP(address)] ?? -1;
  return (
    bits > 0 &&
    more.length === 0 &&
    (prefix === undefined || (/^(0|[1-9][0-9]{0,2})$/.test(prefix) && Number(prefix) <= bits))
  );
}, 'must be an IP address, or a network such as 192.0.2.0/24');

/** `address` or `address:port`, `[address]:port` for IPv6. */
const endpoint = (port: number) =>
  z.string().transform((text, ctx) => {
    const [, v6, v4, p] = /^(?:\[([^\]]+)\]|([^:]+))(?::([0-9]+))?$/.exec(text) ?? [];
    const address = v6 ?? v4 ?? text;
    if (isIP(address) === 0) {
      ctx.addIssue(`${JSON.stringify(text)} must be ADDRESS or ADDRESS:PORT, with an IP address`);
      return z.NEVER;
    }
    const number = p === undefined ? port : Number(p);
    if (number < 1 || number > 65_535) {
      ctx.addIssue(`${JSON.stringify(text)} must have a port from 1 to 65535`);
      return z.NEVER;
    }
    return {address, port: number};
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
        addresses: z.array(addresses).min(1, 'name at least one address of the edge'),
        probe: z.array(endpoint(443)).default([]),
      })
      .refine((edge) => edge.probe.length > 0 || !edge.addresses.some((a) => a.includes('/')), {
        path: ['probe'],
        message: 'must name addresses, since edge.addresses holds a network',
      }),
    issuerRef: z.strictObject({
      name: z.string().min(1),
      kind: z.enum(['ClusterIssuer', 'Issuer']).default('ClusterIssuer'),
      group: z.string().default('cert-manager.io'),
    }),
    ingressClassName: z.string().min(1),
    dns: z
      .strictObject({
        mode: z.enum(['Authoritative', 'RecursiveOnly']).default('Authoritative'),
        recursive: z.array(endpoint(53)).default([]),
        allowPrivateAddresses: z.boolean().default(false),
        recheckInterval: span('6h'),
        driftConfirmations: z.array(span('1m')).min(1).prefault(['1m', '5m', '15m', '60m']),
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
        message: 'must name two independent resolvers at least, since dns.mode is RecursiveOnly',
      }),
    apexOwnership: z.enum(['TXT', 'AddressOnly']).default('TXT'),
    singleTenant: z.boolean().default(false),
    propagationTime: span('48h'),
    verificationExpiresAfter: span('7d'),
    issuanceStalledAfter: span('30m'),
    // Let's Encrypt's published limits (letsencrypt.org/docs/rate-limits), those of a hostname tighter.
    budgets: z
      .strictObject({
        account: limits({limit: 300, per: '3h'}),
        registeredDomain: limits({limit: 50, per: '7d'}),
        certificates: limits({limit: 4, per: '7d'}),
        failures: limits({limit: 2, per: '1h'}, {limit: 3, per: '1d'}),
      })
      .prefault({}),
    graceTime: span('7d'),
    quarantineTime: span('30d'),
    defaultPlan: z.string().min(1).max(253).default('free'),
    caaIdentities: z.array(hostname).default([]),
    deniedNames: z.array(hostname).default([]),
    redirector: z.strictObject({service: z.string().min(1), port: z.int().default(80)}),
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
    log: z.strictObject({level: z.enum(['trace', 'debug', 'info', 'warn', 'error']).default('info')}).prefault({}),
  })
  .refine((s) => s.apexOwnership !== 'AddressOnly' || s.singleTenant, {
    path: ['apexOwnership'],
    message: 'may be AddressOnly only where singleTenant is true: addresses prove no tenant',
  });

export type Settings = Readonly<z.output<typeof schema>>;

/** Everything a role needs to start. */
export interface Config {
  settings: Settings;
  policy: Policy;
  /** Doorplate's own namespace, and this Pod. */
  namespace: string;
  pod: string;
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

/** Reads the file that DOORPLATE_CONFIG names, and POD_NAMESPACE and POD_NAME. */
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
  return freeze({settings, namespace, pod: need('POD_NAME'), policy: toPolicy(settings, namespace)});
}

const toLimits = (written: readonly {limit: number; per: number}[]) =>
  written.map(({limit, per}) => ({limit, perMs: per}));

/** The settings as far as decisions need them. */
export function toPolicy(s: Settings, namespace: string): Policy {
  return {
    installation: s.platform.installation ?? s.platform.zone,
    zone: s.platform.zone,
    tls: s.platform.tls,
    issuerRef: s.issuerRef,
    ingressClassName: s.ingressClassName,
    edgeAddresses: s.edge.addresses,
    redirector: {namespace, ...s.redirector},
    caaIdentities: s.caaIdentities,
    deniedNames: s.deniedNames,
    waitSchedule: s.dns.waitSchedule.map((step) => ({everyMs: step.every, forMs: step.for})),
    recheckIntervalMs: s.dns.recheckInterval,
    driftConfirmationsMs: s.dns.driftConfirmations,
    takeoverConfirmationsMs: s.dns.takeoverConfirmations,
    propagationTimeMs: s.propagationTime,
    verificationExpiresAfterMs: s.verificationExpiresAfter,
    issuanceStalledAfterMs: s.issuanceStalledAfter,
    budgets: {
      account: toLimits(s.budgets.account),
      registeredDomain: toLimits(s.budgets.registeredDomain),
      certificates: toLimits(s.budgets.certificates),
      failures: toLimits(s.budgets.failures),
    },
    graceTimeMs: s.graceTime,
    quarantineTimeMs: s.quarantineTime,
    defaultPlan: s.defaultPlan,
  };
}
