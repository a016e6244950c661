/** The default hostname of a Project: its name, its routes, and the order of its certificate. */

import {issuerOf, isOrderOf} from '../certificates/choose-issuer.ts';
import type {HostStatus} from '../../api/custom-domain.ts';
import type {Certificate, CustomDomain, DomainClaim, Project} from '../../api/foreign.ts';
import type {ProjectStatus} from '../../api/project.ts';
import {isSameIssuer, makeCertificate} from '../certificates/certificate.ts';
import {belongsTo, defaultHostClaim, identityOf} from '../claims/claim.ts';
import type {Routing} from '../routes/hand-over.ts';
import {handOver, none} from '../routes/hand-over.ts';
import type {Hostname} from '../hostnames/hostname.ts';
import {formerProjectHost, objectNameOf, projectHost} from '../hostnames/hostname.ts';
import type {IssuanceStep, OrderRequest} from '../certificates/issuance.ts';
import {beforeOrder} from '../certificates/issuance.ts';
import type {ProjectWorld} from './world.ts';
import type {Route, Use} from '../routes/routes.ts';
import {homeOf, otherUse, routesOf} from '../routes/routes.ts';
import type {Tenant} from '../tenant.ts';
import {tenantKey} from '../tenant.ts';
import {timestamp} from '../times.ts';
import type {Policy} from '../world.ts';

/** Status with which the default hostname redirects to the primary. It is temporary, because a customer may remove the domain again. */
export const defaultHostRedirectStatus = 307;

/**
 * Chooses the default hostname: the published one, or one that a claim has kept for the tenant from a Project of this name. Otherwise the
 * first candidate that no other tenant owns.
 */
export function defaultHostOf(
  project: Project,
  tenant: Tenant,
  {installation, zone}: Pick<Policy, 'installation' | 'zone'>,
  claimOf: (host: Hostname) => DomainClaim | undefined,
): {host: Hostname; claim: DomainClaim | undefined} {
  const {namespace = '', name} = project.metadata;
  const parts = {installation, zone, namespace, name};
  const had = project.status?.host;
  const isAvailable = (host: Hostname) => defaultHostClaim(host, project, tenant, claimOf(host)) !== undefined;
  if (had !== undefined && isAvailable(had)) return {host: had, claim: claimOf(had)};
  for (const host of hostsByClaim(parts, tenant, claimOf)) {
    const claim = claimOf(host);
    if (claim && belongsTo(claim, tenant)) return {host, claim};
  }
  for (let counter = 0; ; counter++) {
    const host = projectHost({...parts, tenant: identityOf(tenant), counter});
    if (isAvailable(host)) return {host, claim: claimOf(host)};
  }
}

/** Candidates that only a claim ties to the tenant of a Project of this name, also from the time before the tenant had an Account. */
export function* hostsByClaim(
  parts: {installation: string; zone: Hostname; namespace: string; name: string},
  {account, namespaceUID}: Tenant,
  claimOf: (host: Hostname) => DomainClaim | undefined,
): Generator<Hostname> {
  if (account !== undefined) yield projectHost({...parts, tenant: {namespaceUID}});
  for (let counter = 0; ; counter++) {
    const host = formerProjectHost({...parts, counter});
    yield host;
    if (!claimOf(host)) return;
  }
}

/**
 * Certificate and order of a default hostname. The order takes its position in the queue, within the budgets, like the order of any other
 * hostname.
 */
interface Ordering {
  certificates: Certificate[];
  /** The step that delays the order. */
  step?: IssuanceStep;
  orderRequest?: OrderRequest;
}

function orderingOf(
  {now, tenant, policy, host, orders, facts}: ProjectWorld,
  use: Use,
  {namespace, name}: {namespace: string; name: string},
): Ordering {
  const {certificate: stands, grant} = facts[use];
  const issuer = issuerOf(policy, facts[use]);
  const from = stands?.issuerRef;
  const moves = from !== undefined && !isSameIssuer(from, issuer.issuerRef);
  const step =
    stands && !moves
      ? undefined
      : beforeOrder({
          now,
          hostname: host,
          tenant: tenantKey(tenant),
          policy: {budgets: issuer.budgets, issuanceStalledAfterMs: policy.issuanceStalledAfterMs},
          orders: orders.filter((o) => isOrderOf(o, issuer, policy)),
          ...(grant && {grant}),
          wasLive: false,
          asked: false,
          checked: {proven: true, verifies: true},
        });
  const state =
    stands && !moves ? (stands.request || stands.ready ? undefined : 'Ordered') : step ? step.orderRequest : 'Wanted';
  return {
    certificates:
      step && !stands
        ? []
        : [makeCertificate({name, namespace, hostname: host, issuerRef: step && moves ? from : issuer.issuerRef})],
    ...(step && {step}),
    ...(state && {
      orderRequest: {
        hostname: host,
        certificate: `${namespace}/${name}`,
        issuer: issuer.issuerRef.name,
        state,
        // Sorted like a customer's hostname that moves to another issuer: by the end of its current certificate.
        since: Date.parse(
          (state === 'Ordered' ? stands?.createdAt : moves ? stands?.notAfter : undefined) ?? timestamp(now),
        ),
      },
    }),
  };
}

/**
 * All routes of the default hostname in one use. The routes name a certificate only if platform.tls is PerProject. `certificate`: name of
 * the Certificate, if it differs from the routes' name.
 */
export function routesOfDefaultHost(
  project: Project,
  host: Hostname,
  use: Use,
  policy: Policy,
  certificate?: string,
): Route[] {
  const {namespace = '', uid = ''} = project.metadata;
  const name = objectNameOf(uid, host);
  const secretName = policy.tls === 'PerProject' ? (certificate ?? name) : undefined;
  return routesOf(use, {name, namespace, host, secretName, service: project.spec.serviceRef}, policy.redirector);
}

/**
 * Everything that the default hostname needs in one use. `certified`: the certificate is ready, or the edge's wildcard certificate is
 * used.
 */
interface Needed extends Routing, Ordering {
  certified: boolean;
}

function neededFor(world: ProjectWorld, use: Use): Needed {
  const {project, policy, host, facts} = world;
  const {namespace = '', uid = ''} = project.metadata;
  const {standing, certificate, certificateName} = facts[use];
  const name = certificateName ?? objectNameOf(uid, host);
  const isOrdered = policy.tls === 'PerProject';
  const home = homeOf(use, namespace, policy.redirector);
  return {
    ...(isOrdered ? orderingOf(world, use, {namespace: home, name}) : {certificates: []}),
    routes: routesOfDefaultHost(project, host, use, policy, name),
    routed: standing?.isWhole ?? false,
    certified: !isOrdered || (certificate?.ready ?? false),
  };
}

/** The decision about the default hostname. */
export interface DefaultHost extends Omit<Routing, 'routed'>, Omit<Ordering, 'certificates'> {
  redirect: ProjectStatus['redirect'];
  /** Its routes exist, and no routes of its former use. */
  routed: boolean;
  certified: boolean;
  /** When the edge has surely applied a change of its use, ms since the epoch. */
  settlesAt?: number;
}

/** The primary to which the default host redirects. */
function livePrimary(domains: readonly CustomDomain[]): HostStatus | undefined {
  const live = domains.flatMap((d) => d.status?.hosts ?? []).filter((h) => h.phase === 'Live');
  // While another hostname becomes the primary, the last primary continues to serve.
  return live.find((h) => h.role === 'Primary') ?? live.find((h) => h.redirect === undefined);
}

/** The routes of the default hostname, if it is deployed and not disabled. While its use changes, the routes of both uses. */
export function decideDefaultHost(world: ProjectWorld, isRoutable: boolean): DefaultHost {
  const {project, facts, now} = world;
  const primary = project.spec.defaultHost === 'RedirectToPrimary' ? livePrimary(world.domains) : undefined;
  const wanted = primary && {to: primary.hostname, status: defaultHostRedirectStatus};
  if (!isRoutable) return {...none, routed: true, certified: true, redirect: wanted};
  const use = wanted ? 'redirects' : 'serves';
  const next = neededFor(world, use);
  // The old routes stay until the new ones can be written. The redirector reads status, so status announces the redirect first.
  const changing = facts[otherUse(use)].standing !== undefined;
  const published = project.status?.redirect;
  if (!changing) return {...next, redirect: wanted};
  const ready = next.certified && (!wanted || published !== undefined);
  const {wakeAt, ...both} = handOver(neededFor(world, otherUse(use)), next, {
    ready,
    standing: facts[use].standing,
    now,
  });
  return {
    ...next,
    ...both,
    routed: false,
    redirect: wanted ?? published,
    ...(wakeAt !== undefined && {settlesAt: wakeAt}),
  };
}
