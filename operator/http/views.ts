/** Objects as the API shows them. Pure. The words come from their status. */
import type {z} from 'zod';
import type {DnsRecordStatus, HostDetails, HostStatus} from '../api/custom-domain.ts';
import type {RedirectStatus} from '../api/custom-domain-spec.ts';
import type {ApiKey, CustomDomain, Plan, Project} from '../api/foreign.ts';
import type {Condition} from '../api/rules.ts';
import {previousTokenExpires} from '../domain/api-key.ts';
import type {Hostname} from '../domain/hostnames/hostname.ts';
import {normalise} from '../domain/hostnames/hostname.ts';
import {quotaOf} from '../domain/tenant.ts';
import type {CallerQuota} from '../limits/verdict.ts';
import {endIn, limitIn, perWindow, remainingIn, type WindowName} from '../api/windows.ts';
import type {Actor} from './gate/caller.ts';
import {versionOf} from './gate/preconditions.ts';
import type * as schemas from './schemas.ts';
import {platformConfiguration} from './store/managers.ts';

/** `details`: for the texts for customers (texts/customer-texts.ts). */
export type HostView = z.output<typeof schemas.host> & {details?: HostDetails | undefined};
export type DomainsView = z.output<typeof schemas.domains>;
export type ProjectView = z.output<typeof schemas.project>;
export type AccountView = z.output<typeof schemas.account>;
export type KeyView = z.output<typeof schemas.key>;

/** A hostname as it is compared and shown; one without such a form stays as it is written, and its status says so. */
export const nameOf = (written: string): Hostname => normalise(written) ?? written;

const recordView = ({
  type,
  name,
  zone,
  value,
  ttl,
  note,
  state,
  observed = [],
}: DnsRecordStatus): HostView['records'][number] => ({
  type,
  name,
  zone,
  value,
  ttl,
  ...(note !== undefined && {note}),
  state,
  observed: [...observed],
});

/** `records` are those of the hostname. */
function hostView(host: HostStatus, records: readonly DnsRecordStatus[]): HostView {
  const {certificate, redirect, ...rest} = host;
  return {
    ...rest,
    ...(certificate?.notAfter !== undefined && {certificateExpires: certificate.notAfter}),
    ...(redirect && {redirect}),
    records: records.map(recordView),
  };
}

/** A hostname of the spec of which the status says nothing yet. */
const unseen = (hostname: Hostname, role: HostView['role']): HostView => ({
  hostname,
  role,
  phase: 'AwaitingVerification',
  reason: 'CheckPending',
  message: `${hostname} was added just now. Its first check is next.`,
  waitingFor: 'Nobody',
  records: [],
});

/** The view of a hostname whose object has no room for its status: it repeats the object's condition. */
const unsaid = (hostname: Hostname, role: HostView['role'], {reason, message}: Condition): HostView => ({
  hostname,
  role,
  phase: 'NotAccepted',
  reason,
  message,
  waitingFor: 'Customer',
  records: [],
});

/** Every hostname of a CustomDomain: from its status, and further hostnames from its spec. */
export function hostsOf(domain: CustomDomain): HostView[] {
  const {spec, status} = domain;
  const records = Map.groupBy(status?.dnsRecords ?? [], (r) => r.hostname);
  const known = (status?.hosts ?? []).map((host) => hostView(host, records.get(host.hostname) ?? []));
  const names = new Set(known.map((h) => h.hostname));
  const missing = (name: string): boolean => !names.has(nameOf(name));
  const full = status?.conditions?.find((c) => c.type === 'Ready' && c.reason === 'StatusTooLarge');
  const told = (name: string, role: HostView['role']): HostView =>
    full ? unsaid(nameOf(name), role, full) : unseen(nameOf(name), role);
  return [
    ...(missing(spec.primary) ? [told(spec.primary, 'Primary')] : []),
    ...known,
    ...(spec.redirects ?? []).filter((r) => missing(r.from)).map((r) => told(r.from, 'RedirectSource')),
  ];
}

/** The domains of a project; `domain` is undefined while it has none. `managedBy`: the other field manager, which is not shown. */
export function domainsView(
  project: string,
  domain: CustomDomain | undefined,
  managedBy: string | undefined,
): DomainsView {
  const primary = domain ? nameOf(domain.spec.primary) : null;
  return {
    project,
    domains: {
      primary,
      redirects: (domain?.spec.redirects ?? []).map((r) => ({
        from: nameOf(r.from),
        to: primary!,
        status: r.status as RedirectStatus,
      })),
    },
    hosts: domain ? hostsOf(domain) : [],
    checkedFor: domain?.status?.lastHandledReconcileAt ?? null,
    reissuedFor: domain?.status?.lastHandledReissueAt ?? null,
    managedBy: managedBy === undefined ? null : platformConfiguration,
    version: versionOf(domain),
  };
}

export function projectView(project: Project, domain: CustomDomain | undefined): ProjectView {
  const {status} = project;
  const ready = status?.conditions?.find((c) => c.type === 'Ready');
  const hosts = domain ? hostsOf(domain) : [];
  return {
    name: project.metadata.name,
    host: status?.host ?? null,
    url: status?.url ?? null,
    deployed: status?.firstDeployTime !== undefined,
    ...(status?.firstDeployTime !== undefined && {firstDeployTime: status.firstDeployTime}),
    ready: ready?.status === 'True',
    reason: ready?.reason ?? 'Pending',
    message: ready?.message ?? 'The project was created just now. Its first check is next.',
    domains: {
      primary: domain ? nameOf(domain.spec.primary) : null,
      live: hosts.filter((h) => h.phase === 'Live').length,
      total: hosts.length,
    },
  };
}

/** The usage of a plan in one window; undefined if the plan has no limit for it. */
function usage(standing: CallerQuota, window: WindowName): AccountView['usage'][WindowName] | undefined {
  const [limit, remaining] = [limitIn(standing, window), remainingIn(standing, window)!];
  if (limit === undefined) return undefined;
  return {limit, used: limit - remaining, remaining, reset: endIn(standing, window)!};
}

const ownKeyView = ({metadata: {name}, spec: {scopes, expireTime}}: ApiKey): AccountView['key'] => ({
  name,
  scopes: [...scopes],
  expires: expireTime ?? null,
});

/** `standing` is that of the tenant's pool, `offered` the plans that the platform offers. */
export function accountView(caller: Actor, standing: CallerQuota, offered: readonly Plan[]): AccountView {
  const {namespace, tenant} = caller;
  const plan = 'missing' in tenant.plan ? undefined : tenant.plan;
  return {
    account: tenant.account ?? null,
    namespace,
    plan: plan?.metadata.name ?? null,
    rateLimit: {...quotaOf(tenant)},
    usage: perWindow(({name}) => usage(standing, name)) as AccountView['usage'],
    customDomains: plan?.spec.customDomains ?? {allowed: false, maxHostnamesPerProject: 0},
    key: caller.kind === 'key' ? ownKeyView(caller.key) : null,
    offeredPlans: offered.map(({metadata: {name}, spec: {rateLimit, customDomains}}) => ({
      name,
      rateLimit: {...rateLimit},
      customDomains: {...customDomains},
    })),
  };
}

/** `now`: ms since the epoch. */
export function keyView(key: ApiKey, now: number): KeyView {
  const ready = key.status?.conditions?.find((c) => c.type === 'Ready');
  return {
    name: key.metadata.name,
    scopes: [...key.spec.scopes],
    expires: key.spec.expireTime ?? null,
    rateLimit: key.spec.rateLimit ?? null,
    previousTokenExpires: previousTokenExpires(key, now) ?? null,
    madeBy: key.spec.madeBy?.by ?? null,
    lastUsed: key.status?.lastUsedTime ?? null,
    ready: ready?.status === 'True',
    reason: ready?.reason ?? 'Pending',
  };
}
