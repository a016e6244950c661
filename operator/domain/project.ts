import type {Certificate, CustomDomain, DomainClaim, EndpointSlice, Ingress, Project, Service} from '../api/foreign.ts';
import type {ProjectStatus} from '../api/project.ts';
import type {CertificateFacts} from './certificate.ts';
import {makeCertificate} from './certificate.ts';
import type {ClaimWrite} from './claim.ts';
import {defaultHostClaim} from './claim.ts';
import type {Claim} from './conditions.ts';
import {timestamp, withTimes} from './conditions.ts';
import type {Hostname} from './hostname.ts';
import {objectNameOf, projectHost} from './hostname.ts';
import type {Routing} from './ingress.ts';
import {handOver, makeIngress} from './ingress.ts';
import type {Policy} from './lifecycle.ts';
import type {ReasonName} from './reasons.ts';
import type {Tenant} from './tenant.ts';
import {httpToHttps, redirectFrom, serve} from './routes.ts';

/** Status with which the default host redirects to the primary: temporary, because a customer may take the domain away again. */
export const defaultHostRedirectStatus = 307;

/** Everything that a decision about a Project depends on. */
export interface ProjectWorld {
  now: number;
  project: Project;
  service: Service | undefined;
  /** The EndpointSlices of that Service. */
  slices: readonly Pick<EndpointSlice, 'endpoints'>[];
  /** The CustomDomains that name this Project. */
  domains: readonly CustomDomain[];
  tenant: Tenant;
  claimOf: (host: Hostname) => DomainClaim | undefined;
  /** By the namespace in which it stands; only with platform.tls: PerProject. */
  certificate: (namespace: string) => CertificateFacts | undefined;
  /** Since when routes of ours stand for the default host, ms since the epoch. */
  standsAs: {serves?: number; redirects?: number};
  /** Whether an Ingress stands in the cluster exactly as desired. */
  stands: (ingress: Ingress) => boolean;
  inTheWay?: string;
  policy: Policy;
  traefik: boolean;
}

/** `claims`: to be written before anything else, and then decided anew. */
export interface ProjectDecision {
  status: ProjectStatus;
  claims: ClaimWrite[];
  certificates: Certificate[];
  ingresses: Ingress[];
  wakeAt?: number;
}

/** Whether a Service of the Project has had a ready endpoint: a missing `ready` means ready (EndpointSlice v1). */
const hasReadyEndpoint = (slices: ProjectWorld['slices']) =>
  slices.some((s) => s.endpoints?.some((e) => e.conditions?.ready !== false) ?? false);

const claim = (type: string, holds: boolean, yes: [ReasonName, string], no: [ReasonName, string]): Claim => {
  const [reason, message] = holds ? yes : no;
  return {type, status: holds ? 'True' : 'False', reason, message};
};

/** The default host: the first that is no other tenant's; what it has had before, before any. */
function claimedHost({project, policy, tenant, claimOf}: ProjectWorld): {host: Hostname; claims: ClaimWrite[]} {
  const {namespace = '', name} = project.metadata;
  const at = (counter: number) =>
    projectHost({installation: policy.installation, zone: policy.zone, namespace, name, counter});
  const had = project.status?.host;
  for (let counter = had === undefined ? 0 : -1; ; counter++) {
    const host = counter < 0 && had !== undefined ? had : at(counter);
    const found = defaultHostClaim(host, project, tenant, claimOf(host));
    if (found !== undefined) return {host, claims: found === 'held' ? [] : [found]};
  }
}

/** Decides a Project: its default host, whether it has been deployed, and the routes of its default host. Pure. */
export function decideProject(world: ProjectWorld): ProjectDecision {
  const {project, policy, service, now} = world;
  const {namespace = '', uid = '', generation = 0} = project.metadata;
  const {serviceRef, defaultHost} = project.spec;
  const {host, claims: claimWrites} = claimedHost(world);
  const portFound = service?.spec.ports?.some((p) => p.port === serviceRef.port || p.name === serviceRef.port) ?? false;
  const firstDeployTime =
    project.status?.firstDeployTime ?? (portFound && hasReadyEndpoint(world.slices) ? timestamp(now) : undefined);

  const primary =
    world.domains.flatMap((d) => d.status?.hosts ?? []).find((h) => h.role === 'Primary' && h.phase === 'Live') ??
    // While another becomes the primary, the last one serves on.
    world.domains
      .flatMap((d) => d.status?.hosts ?? [])
      .find((h) => h.role !== 'Primary' && h.phase === 'Live' && h.redirect === undefined);
  const wanted =
    defaultHost === 'RedirectToPrimary' && primary
      ? {to: primary.hostname, status: defaultHostRedirectStatus}
      : undefined;

  const routedAs = (role: 'serves' | 'redirects'): Routing & {certified: boolean} => {
    const objects = objectNameOf(uid, host);
    const home = role === 'redirects' ? policy.redirector.namespace : namespace;
    const secretName = policy.tls === 'PerProject' ? objects : undefined;
    const routes =
      role === 'redirects'
        ? [redirectFrom({name: objects, host, secretName}, policy.redirector)]
        : [
            serve({name: objects, namespace, host, secretName, service: serviceRef}),
            httpToHttps({name: objects, host}, policy.redirector),
          ];
    const ingresses = routes.flatMap(
      (route) => makeIngress(route, {ingressClassName: policy.ingressClassName, traefik: world.traefik}) ?? [],
    );
    return {
      certificates:
        secretName === undefined
          ? []
          : [makeCertificate({name: secretName, namespace: home, hostname: host, issuerRef: policy.issuerRef})],
      ingresses,
      routed: ingresses.every(world.stands),
      certified: secretName === undefined || (world.certificate(home)?.ready ?? false),
    };
  };
  const [role, was] = wanted ? (['redirects', 'serves'] as const) : (['serves', 'redirects'] as const);
  const routable = firstDeployTime !== undefined && defaultHost !== 'Disabled';
  const next = routable ? routedAs(role) : {certificates: [], ingresses: [], routed: true, certified: true};
  const {certified} = next;
  // What it did stands until what it is to do can; the redirector reads status, so that is told of first.
  const changing = routable && world.standsAs[was] !== undefined;
  const redirect = changing && !wanted ? project.status?.redirect : wanted;
  const {certificates, ingresses, wakeAt} = changing
    ? handOver(routedAs(was), next, {
        ready: certified && (!wanted || project.status?.redirect !== undefined),
        since: world.standsAs[role],
        now,
      })
    : {...next, wakeAt: undefined};

  const serviceName = `Service ${serviceRef.name}`;
  const undeployed: [ReasonName, string] =
    service === undefined
      ? ['ServiceNotFound', `There is no ${serviceName} in this namespace. Create it, or correct spec.serviceRef.`]
      : !portFound
        ? ['ServicePortNotFound', `The ${serviceName} has no port ${serviceRef.port}. Correct spec.serviceRef.port.`]
        : ['NoReadyEndpoint', `The ${serviceName} has never had a ready endpoint. Deploy the project.`];
  const deployed = firstDeployTime !== undefined;
  const off = defaultHost === 'Disabled';
  const notRouted: [ReasonName, string] = !deployed
    ? undeployed
    : world.inTheWay
      ? [
          'NameTaken',
          `${world.inTheWay} is not Doorplate's and has the name of an object that must be created; it is left alone. Delete or rename it.`,
        ]
      : ['RoutesPending', 'The ingress rules of the default host are being written.'];
  const offReason: [ReasonName, string] = ['DefaultHostDisabled', 'The default host is switched off.'];
  const routed = deployed && next.routed && !changing;
  const claims = [
    claim('Deployed', deployed, ['Deployed', `The ${serviceName} has had a ready endpoint.`], undeployed),
    claim('RoutesReady', routed, off ? offReason : ['Routed', `The ingress rules of ${host} are written.`], notRouted),
    claim(
      'Ready',
      routed && certified,
      off
        ? offReason
        : redirect
          ? ['Redirecting', `${host} redirects to ${redirect.to}.`]
          : ['Serving', `The project is served at https://${host}.`],
      routed ? ['Issuing', `The certificate of ${host} is being issued.`] : notRouted,
    ),
  ];
  const ready = routed && certified;
  if (!ready) claims.push({...claims.at(-1)!, type: 'Reconciling', status: 'True'});
  return {
    status: {
      observedGeneration: generation,
      host,
      url: `https://${host}`,
      ...(firstDeployTime !== undefined && {firstDeployTime}),
      ...(redirect && {redirect}),
      conditions: withTimes(claims, project.status?.conditions ?? [], generation, now),
    },
    claims: claimWrites,
    certificates,
    ingresses,
    ...(wakeAt !== undefined && {wakeAt}),
  };
}
