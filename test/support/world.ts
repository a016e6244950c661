/**
 * A world to decide on, whole, with as little to write as a test needs: `world({primary: ..., facts: {...}})`. What is not
 * said is as it is when all is well: the Project is there and deployed, nothing has been looked at yet.
 */
import {older} from '../../operator/domain/hostnames/acceptance.ts';
import type {CertificateFacts} from '../../operator/domain/certificates/certificate.ts';
import {named} from '../../operator/domain/hostnames/hosts.ts';
import {decide} from '../../operator/domain/lifecycle.ts';
import type {RecordState} from '../../operator/domain/verification/method.ts';
import type {ReasonName} from '../../operator/domain/reasons/reasons.ts';
import {ingressesOf} from '../../operator/domain/routes/ingress.ts';
import type {Route} from '../../operator/domain/routes/routes.ts';
import {useOf} from '../../operator/domain/routes/routes.ts';
import type {Tenant} from '../../operator/domain/tenant.ts';
import {tenantOf} from '../../operator/domain/tenant.ts';
import {nextRecheck} from '../../operator/domain/schedule.ts';
import {timestamp} from '../../operator/domain/times.ts';
import type {IssuerPolicy} from '../../operator/domain/certificates/choose-issuer.ts';
import type {Decision, EdgeFinding, HostFacts, Policy, World} from '../../operator/domain/world.ts';
import type {CustomDomainStatus, HostStatus} from '../../operator/api/custom-domain.ts';
import type {RedirectStatus} from '../../operator/api/custom-domain-spec.ts';
import type {Certificate, CustomDomain, DomainClaim, Plan, Project} from '../../operator/api/foreign.ts';
import type {Condition} from '../../operator/api/rules.ts';

export const t0 = Date.parse('2026-03-01T12:00:00Z');
export const seconds = 1000;
export const minutes = 60 * seconds;
export const hours = 60 * minutes;
export const days = 24 * hours;

export const target = 'docs-acme-k3v9x2m4q7w1z.apps.platform.test';

export const policy: Policy = {
  installation: 'apps.platform.test',
  zone: 'apps.platform.test',
  tls: 'Wildcard',
  issuers: [
    {
      issuerRef: {name: 'letsencrypt', kind: 'ClusterIssuer', group: 'cert-manager.io'},
      caaIdentities: [],
      when: [],
      budgets: {
        account: [{limit: 300, perMs: 3 * hours}],
        registeredDomain: [{limit: 50, perMs: 7 * days}],
        certificates: [{limit: 5, perMs: 7 * days}],
        authorizations: [{limit: 5, perMs: hours}],
        countRenewals: false,
        failures: [
          {limit: 2, perMs: hours},
          {limit: 3, perMs: days},
        ],
      },
    },
  ],
  ingressClassName: 'traefik',
  edgeAddresses: ['192.0.2.1'],
  redirector: {namespace: 'doorplate-system', service: 'doorplate-redirector', port: 80},
  deniedNames: ['denied.example'],
  waitSchedule: [
    {everyMs: 15 * seconds, forMs: 5 * minutes},
    {everyMs: minutes, forMs: 55 * minutes},
    {everyMs: 5 * minutes, forMs: 23 * hours},
    {everyMs: hours, forMs: 6 * days},
  ],
  recheckIntervalMs: 6 * hours,
  driftConfirmationsMs: [minutes, 5 * minutes, 15 * minutes, 60 * minutes],
  edgeConfirmationsMs: [minutes, 5 * minutes, 15 * minutes],
  takeoverConfirmationsMs: [2 * seconds, 5 * seconds, 10 * seconds],
  quarantineTimeMs: 30 * days,
  addressOnly: false,
  propagationTimeMs: 48 * hours,
  verificationExpiresAfterMs: 7 * days,
  issuanceStalledAfterMs: 30 * minutes,
  orderMemoryMs: 14 * days,
  graceTimeMs: 7 * days,
  defaultPlan: 'free',
};

/** A policy with one issuer, which differs from the usual one by this. */
export const withIssuer = (change: Partial<IssuerPolicy>): Pick<Policy, 'issuers'> => ({
  issuers: [{...policy.issuers[0], ...change}],
});

/** A plan of so many hostnames a project; 0: no custom domains. */
export const plan = (name: string, maxHostnamesPerProject: number): Plan => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'Plan',
  metadata: {name, uid: `uid-plan-${name}`, generation: 1},
  spec: {
    rateLimit: {requestsPerMinute: 60, requestsPerDay: 1000},
    customDomains: {allowed: maxHostnamesPerProject > 0, maxHostnamesPerProject},
  },
});

/** A tenant on this plan (null: on one that does not exist): the Account acme, or (undefined) a namespace on its own. */
export const tenantOn = (on: Plan | null, of: {account?: string | undefined} = {account: 'acme'}): Tenant =>
  tenantOf({...of, uid: 'uid-namespace'}, policy.defaultPlan, {
    account: (name) => ({
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'Account',
      metadata: {name},
      spec: {planRef: {name: on?.metadata.name ?? 'lost'}},
    }),
    plan: () => on ?? undefined,
  });

export const [free, enterprise] = [plan('free', 0), plan('enterprise', 500)];

export function project(status: Partial<Project['status']> = {}): Project {
  return {
    apiVersion: 'doorplate.dev/v1alpha1',
    kind: 'Project',
    metadata: {name: 'docs', namespace: 'acme', uid: 'uid-project', generation: 1},
    spec: {serviceRef: {name: 'web', port: 80}, defaultHost: 'Serve'},
    status: {
      observedGeneration: 1,
      host: target,
      url: `https://${target}`,
      firstDeployTime: timestamp(t0 - hours),
      ...status,
    },
  };
}

export interface DomainInput {
  name?: string;
  uid?: string;
  createdAt?: string;
  primary?: string;
  redirects?: {from: string; to?: string; status?: RedirectStatus}[];
  generation?: number;
  status?: CustomDomainStatus;
}

export function domain({
  name = 'docs',
  uid = 'uid-domain',
  createdAt = timestamp(t0 - days),
  primary = 'docs.example.com',
  redirects,
  generation = 1,
  status,
}: DomainInput = {}): CustomDomain {
  return {
    apiVersion: 'doorplate.dev/v1alpha1',
    kind: 'CustomDomain',
    metadata: {name, namespace: 'acme', uid, generation, creationTimestamp: createdAt},
    spec: {
      projectRef: {name: 'docs'},
      primary,
      ...(redirects && {redirects: redirects.map((r) => ({status: 301 as const, ...r}))}),
    },
    ...(status && {status}),
  };
}

/** Verification fields for a claim: the method of the facts' verdict, or CNAME without one. */
const verifiedAs = ({verdict}: HostFacts = {}): Partial<DomainClaim['status']> => ({
  verifiedBy: verdict?.kind === 'Proven' ? verdict.by : 'CNAME',
  verifiedAt: timestamp(t0 - days),
});

/** The claim of a hostname, held by a CustomDomain (or whatever has the uid) of the Account acme. */
export const heldClaim = (
  hostname: string,
  uid = 'uid-domain',
  change: Partial<DomainClaim['status']> = {},
): DomainClaim => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'DomainClaim',
  metadata: {name: hostname, uid: `uid-claim-${hostname}`, resourceVersion: '7'},
  spec: {tenant: {account: 'acme'}, proof: 'DNS'},
  status: {
    holder: {kind: 'CustomDomain', namespace: 'acme', name: 'docs', uid},
    generation: 0,
    ...verifiedAs(),
    ...change,
  },
});

export interface WorldInput extends DomainInput {
  now?: number;
  /** null: there is none. */
  project?: Project | null;
  /** Other CustomDomains of the same Project. */
  others?: CustomDomain[];
  /** The plan of the tenant, of 500 hostnames a project unless told; null: there is none. */
  plan?: Plan | null;
  policy?: Partial<Policy>;
  facts?: Record<string, HostFacts>;
  /** The claims by hostname; all its own unless told. */
  claims?: Record<string, DomainClaim | undefined>;
  /** Whether all routes that it may need stand in the cluster as they should: they do unless told. */
  routed?: boolean;
  startedAt?: number;
  request?: World['request'];
}

/** Claims by what a function says of each hostname, whichever is asked for. */
export const claimsBy = (claimOf: (hostname: string) => DomainClaim | undefined): World['claims'] =>
  new (class extends Map<string, DomainClaim> {
    override get = claimOf;
  })();

/** Seconds from a check at `t0` until the next regular check of a verified hostname. */
export const recheckAfter = (hostname: string): number => (nextRecheck(world(), hostname, t0) - t0) / seconds;

/** Since when routes stand of which a test says nothing. */
const longAgo = t0 - 9 * days;

const isTold = ({standing}: HostFacts) => {
  const stands = Object.values(standing ?? {});
  return standing !== undefined && (stands.length === 0 || stands.some(({since}) => since !== longAgo));
};

/** Facts in which the routes of each hostname stand as it needs them now, where nothing else is said of them. */
function withRoutes(own: CustomDomain, facts: World['facts'], isWhole = true): World['facts'] {
  const hosts = [...named(own, policy), ...(own.status?.hosts ?? [])];
  const uses = new Map(hosts.toReversed().map(({hostname, role}) => [hostname, useOf(role)]));
  return new Map(
    [...new Set([...uses.keys(), ...facts.keys()])].map((hostname) => {
      const f = facts.get(hostname) ?? {};
      const use = uses.get(hostname);
      return [hostname, use === undefined || isTold(f) ? f : {...f, standing: {[use]: {since: longAgo, isWhole}}}];
    }),
  );
}

export function world(input: WorldInput = {}): World {
  const own = domain(input);
  return {
    now: input.now ?? t0,
    domain: own,
    project: input.project === null ? undefined : (input.project ?? project()),
    first: [own, ...(input.others ?? [])].toSorted(older)[0]!,
    tenant: tenantOn(input.plan === undefined ? enterprise : input.plan),
    policy: {...policy, ...input.policy},
    facts: withRoutes(own, new Map(Object.entries(input.facts ?? {})), input.routed),
    claims: claimsBy((hostname) =>
      input.claims && hostname in input.claims
        ? input.claims[hostname]
        : heldClaim(hostname, own.metadata.uid, verifiedAs(input.facts?.[hostname])),
    ),
    startedAt: input.startedAt ?? t0 - minutes,
    request: input.request,
  };
}

/** The same world later: what was decided has been written, and what is given has changed. */
export function later(
  before: World,
  change: Partial<Omit<World, 'facts'>> & {facts?: Record<string, HostFacts>} = {},
): World {
  const own = {...before.domain, ...change.domain, status: decide(before).status};
  return {
    ...before,
    ...change,
    domain: own,
    first: before.first.metadata.uid === own.metadata.uid ? own : before.first,
    facts: withRoutes(own, change.facts ? new Map(Object.entries(change.facts)) : before.facts),
  };
}

/** What a world comes to after a while in which nothing else happens: the edge's delay is over, everything is written. */
export function settled(start: World): World {
  let at = later(start);
  for (let i = 0; i < 6; i++) at = later(at, {now: at.now + seconds});
  return at;
}

// --- facts

export const leaf = 'aa'.repeat(32);
export const otherLeaf = 'bb'.repeat(32);

/** With leave to order: the budgets have room. */
export const proven = (checkedAt = t0): HostFacts => ({
  verdict: {kind: 'Proven', by: 'CNAME', apex: false},
  checkedAt,
  grant: {kind: 'Granted'},
});
export const refuted = (
  reason: ReasonName = 'RecordMissing',
  state: RecordState = 'Missing',
  observed: string[] = [],
  checkedAt = t0,
): HostFacts => ({
  verdict: {kind: 'Refuted', reason, message: `${reason} was seen.`, state, observed, apex: false},
  checkedAt,
});
export const unknown = (reason: ReasonName = 'AuthoritativeFailure', checkedAt = t0): HostFacts => ({
  verdict: {kind: 'Unknown', reason, message: `${reason} came of it.`, apex: false},
  checkedAt,
});

export const certificate = (change: Partial<CertificateFacts> = {}): CertificateFacts => ({
  name: 'certificate',
  ready: true,
  issuing: false,
  createdAt: timestamp(t0),
  notAfter: timestamp(t0 + 90 * days),
  leafSha256: leaf,
  ...change,
});

export const edgeAt = (address: string, seen: Partial<EdgeFinding>): EdgeFinding => ({
  edge: {address, port: 443},
  ...seen,
});

/** Proven, issued and seen on the edge. */
export const served = (change: Partial<HostFacts> = {}): HostFacts => ({
  ...proven(),
  certificate: certificate(),
  edge: [edgeAt('192.0.2.1', {leafSha256: leaf})],
  edgeLookedAt: t0,
  ...change,
});

// --- what came of it, in few words

export const entryOf = (d: Decision, hostname: string): HostStatus | undefined =>
  d.status.hosts?.find((h) => h.hostname === hostname);

/** `docs.example.com Verified Issuing CertificateAuthority`, a line a host. */
export const hostLines = (d: Decision): string[] =>
  (d.status.hosts ?? []).map((h) => `${h.hostname} ${h.phase} ${h.reason} ${h.waitingFor}`);

/** `Accepted=True/Accepted`, one a condition. */
export const conditionLines = (d: Decision): string[] =>
  (d.status.conditions ?? []).map((c) => `${c.type}=${c.status}/${c.reason}`);

export const condition = (d: Decision, type: string): Condition | undefined =>
  d.status.conditions?.find((c) => c.type === type);

/** `acme Certificate docs.example.com`, `doorplate-system Ingress old.example.com web,websecure -> doorplate-redirector:80`. */
export const objectLines = (
  d: {certificates: readonly Certificate[]; routes: readonly Route[]},
  {traefik = true} = {},
): string[] => [
  ...d.certificates.map((c) => `${c.metadata.namespace} Certificate ${c.spec.dnsNames.join(',')}`),
  ...ingressesOf(d.routes, {ingressClassName: 'any', traefik}).map((i) => {
    const {host, http} = i.spec.rules![0]!;
    const {name, port} = http!.paths[0]!.backend.service!;
    const entryPoints = i.metadata.annotations?.['traefik.ingress.kubernetes.io/router.entrypoints'] ?? 'any';
    return `${i.metadata.namespace} Ingress ${host} ${entryPoints} -> ${name}:${port!.number ?? port!.name}`;
  }),
];
