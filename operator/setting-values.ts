/** How values are written in the settings, and what they become. */
import {isIP} from 'node:net';
import {z} from 'zod';
import {normalise} from './domain/hostnames/hostname.ts';
import {defaultWorkers} from './kube/client/workers.ts';

const units = {ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000} as const;

/** A time span as written in YAML, such as 15s, 30m, 6h or 7d; in milliseconds after parsing. */
export const span = (fallback: string) =>
  z
    .string()
    .regex(/^0*[1-9][0-9]*(ms|s|m|h|d)$/, 'must be a number above 0 and a unit: ms, s, m, h or d')
    .default(fallback)
    .transform((s) => Number.parseInt(s, 10) * units[/[a-z]+$/.exec(s)![0] as keyof typeof units]);
/** At most so many in any time span of that length. */
export const limits = (...fallback: {limit: number; per: string}[]) =>
  z
    .array(z.strictObject({limit: z.int().min(1), per: span('1h')}))
    .min(1)
    .prefault(fallback);

/**
 * Keys that each controller reconciles at the same time. At most 200, because kube-apiserver handles 200 writes at the same time unless
 * it is set otherwise (`--max-mutating-requests-inflight`). The chart's schema has the same bounds.
 */
export const workers = z.int().min(1).max(200).default(defaultWorkers);

export const hostname = z
  .string()
  .transform((h, ctx) => normalise(h) ?? (ctx.addIssue(`${JSON.stringify(h)} is no hostname`), z.NEVER));

/** Empty: none. */
export const hostnameOrNone = z
  .string()
  .default('')
  .transform((h, ctx) =>
    h === '' ? h : (normalise(h) ?? (ctx.addIssue(`${JSON.stringify(h)} is no hostname`), z.NEVER)),
  );

/** An IP address, or a network of them in CIDR notation. */
export const addresses = z.string().refine((text) => {
  const [address = '', prefix, ...more] = text.split('/');
  const bits = {0: -1, 4: 32, 6: 128}[isIP(address)] ?? -1;
  return (
    bits > 0 &&
    more.length === 0 &&
    (prefix === undefined || (/^(0|[1-9][0-9]{0,2})$/.test(prefix) && Number(prefix) <= bits))
  );
}, 'must be an IP address, or a network such as 192.0.2.0/24');

/**
 * A content delivery network (CDN), and the DNS data by which names behind it are recognized. Without networks and hosts it matches
 * nothing.
 */
export const cdn = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9. -]{0,39}$/, 'must be a name such as Example CDN'),
  networks: z.array(addresses.refine((a) => !a.endsWith('/0'), 'must not contain all addresses')).default([]),
  hosts: z.array(hostname).default([]),
});

/** `address` or `address:port`, `[address]:port` for IPv6. */
export const endpoint = (port: number) =>
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

/** A Service of Kubernetes, and which of its ports. */
export interface ServicePort {
  service: {namespace: string; name: string};
  port: number;
}

/** As {@link endpoint}; or `NAME.NAMESPACE.svc` of a Service, perhaps with a port. */
export const endpointOrService = (port: number) =>
  z.string().transform((text, ctx): ServicePort | {address: string; port: number} => {
    const [, name, namespace, p] = /^([a-z0-9-]+)\.([a-z0-9-]+)\.svc(?::([0-9]{1,5}))?$/.exec(text) ?? [];
    const number = p === undefined ? port : Number(p);
    if (name !== undefined && namespace !== undefined && number > 0 && number < 65_536)
      return {service: {namespace, name}, port: number};
    const parsed = endpoint(port).safeParse(text);
    if (parsed.success) return parsed.data;
    ctx.addIssue(`${parsed.error.issues[0]!.message}, or NAME.NAMESPACE.svc of a Service`);
    return z.NEVER;
  });

export const quota = ({requestsPerMinute, requestsPerDay}: {requestsPerMinute: number; requestsPerDay: number}) =>
  z
    .strictObject({
      requestsPerMinute: z.int().min(1).default(requestsPerMinute),
      requestsPerDay: z.int().min(1).default(requestsPerDay),
    })
    .refine((l) => l.requestsPerDay >= l.requestsPerMinute, {
      path: ['requestsPerDay'],
      message: 'must be at least requestsPerMinute',
    })
    .prefault({});

/** An origin in the form of Content-Security-Policy, so that nothing else gets into that header. */
export const origin = z
  .string()
  .regex(/^https?:\/\/(\*\.)?[a-z0-9.-]+(:[0-9]{1,5})?$/, 'must be an origin such as https://www.example.com');
/** An origin as `URL.origin` writes it. */
export const exactOrigin = z
  .string()
  .regex(/^https?:\/\/[a-z0-9.-]+(:[0-9]{1,5})?$/, 'must be an origin such as https://www.example.com')
  .transform((text, ctx) => URL.parse(text)?.origin ?? (ctx.addIssue(`${JSON.stringify(text)} is no origin`), z.NEVER));
export const link = z
  .string()
  .refine(
    (url) => url === '' || /^(https?|mailto):$/.test(URL.parse(url)?.protocol ?? ''),
    'must be a URL such as https://www.example.com/help',
  );
