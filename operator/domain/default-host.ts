/** The default hostname of a Project: its name, its routes, and the order of its certificate. */

import type {HostStatus} from '../api/custom-domain.ts';
import type {Certificate, CustomDomain, DomainClaim, Project} from '../api/foreign.ts';
import type {ProjectStatus} from '../api/project.ts';
import {isSameIssuer, makeCertificate} from './certificate.ts';
import {belongsTo, defaultHostClaim, identityOf} from './claim.ts';
import type {Routing} from './hand-over.ts';
import {handOver, none} from './hand-over.ts';
import type {Hostname} from './hostname.ts';
import {formerProjectHost, objectNameOf, projectHost} from './hostname.ts';
import type {IssuanceStep, OrderWish} from './issuance.ts';
import {beforeOrder} from './issuance.ts';
import type {ProjectWorld} from './project-world.ts';
import type {Route, Use} from './routes.ts';
import {homeOf, otherUse, routesOf} from './routes.ts';
import type {Tenant} from './tenant.ts';
import {timestamp} from './times.ts';
import type {Policy} from './world.ts';

/** Status with which the default host redirects to the primary: temporary, because a customer may take the domain away again. */
export const defaultHostRedirectStatus = 307;

/**
 * The default hostname: the present one; or one that a Project of this name had, according to a claim that the tenant keeps; or else the
 * first name that belongs to no other tenant.
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

/**
 * Hostnames that a Project of this name may have had and that belong to its tenant through a claim alone, including names from before it
 * had an Account.
 */
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

/** The order that a default hostname's certificate needs. It waits in the queue for budget, like the order of any other hostname. */
interface Ordering {
  certificates: Certificate[];
  /** What holds its order back. */
  step?: IssuanceStep;
  wish?: OrderWish;
}

function orderingOf(
  {now, policy, host, orders, facts}: ProjectWorld,
  use: Use,
  {namespace, name}: {namespace: string; name: string},
): Ordering {
  const {certificate: stands, grant} = facts[use];
  const from = stands?.issuerRef;
  const moves = from !== undefined && !isSameIssuer(from, policy.issuerRef);
  const step =
    stands && !moves
      ? undefined
      : beforeOrder({
          now,
          hostname: host,
          policy,
          orders,
          ...(grant && {grant}),
          wasLive: false,
          asked: false,
          checked: {proven: true, verifies: true},
        });
  const state =
    stands && !moves ? (stands.request || stands.ready ? undefined : 'Ordered') : step ? step.wish : 'Wanted';
  return {
    certificates:
      step && !stands
        ? []
        : [makeCertificate({name, namespace, hostname: host, issuerRef: step && moves ? from : policy.issuerRef})],
    ...(step && {step}),
    ...(state && {
      wish: {
        hostname: host,
        certificate: `${namespace}/${name}`,
        state,
        // The same as for a customer's hostname that moves: by the end of the present certificate.
        since: Date.parse(
          (state === 'Ordered' ? stands?.createdAt : moves ? stands?.notAfter : undefined) ?? timestamp(now),
        ),
      },
    }),
  };
}

/**
 * All routes of the default hostname in one use. The default hostname has its own certificate only if platform.tls is PerProject.
 * `certificate`: the Certificate's name, if it differs from the routes' name.
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

/** The objects that the default hostname needs in one use. `certified`: its certificate exists or is not needed. */
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
  /** Its routes stand, and none of its former use. */
  routed: boolean;
  certified: boolean;
  /** When the edge has surely taken in a change of its use, ms since the epoch. */
  settlesAt?: number;
}

/** The primary to which the default host redirects. */
function livePrimary(domains: readonly CustomDomain[]): HostStatus | undefined {
  const live = domains.flatMap((d) => d.status?.hosts ?? []).filter((h) => h.phase === 'Live');
  // While another becomes the primary, the last one serves on.
  return live.find((h) => h.role === 'Primary') ?? live.find((h) => h.redirect === undefined);
}

/** The routes of the default host, where it is deployed and not switched off; while its use changes, beside those of the former one. */
export function decideDefaultHost(world: ProjectWorld, isRoutable: boolean): DefaultHost {
  const {project, facts, now} = world;
  const primary = project.spec.defaultHost === 'RedirectToPrimary' ? livePrimary(world.domains) : undefined;
  const wanted = primary && {to: primary.hostname, status: defaultHostRedirectStatus};
  if (!isRoutable) return {...none, routed: true, certified: true, redirect: wanted};
  const use = wanted ? 'redirects' : 'serves';
  const next = neededFor(world, use);
  // The old routes stay until the new ones work. The redirector reads status, so status is published first.
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
