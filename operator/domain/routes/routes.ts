import type {HostStatus} from '../../api/custom-domain.ts';
import type {RedirectStatus} from '../../api/custom-domain-spec.ts';
import type {CustomDomain, Project} from '../../api/foreign.ts';
import type {Hostname} from '../hostnames/hostname.ts';
import {objectNameOf} from '../hostnames/hostname.ts';

/**
 * A route in Doorplate's own model: `ingress.ts` renders it as an Ingress, and a rendering for Gateway API will follow. Each
 * route serves one hostname. It contains no user input except names that the schema has checked.
 */
export interface Route {
  /** Name of the object and, if it has a certificate, of its Secret. */
  name: string;
  namespace: string;
  host: Hostname;
  /** The edge's listeners for which the route applies. */
  listen: 'https' | 'http' | 'both';
  /** Secret with the certificate in the same namespace; absent if the edge's own wildcard certificate is used. */
  secretName?: string;
  to: {service: string; port: number | string};
}

/** A redirect in effect: everything that the redirector knows about a hostname. */
export interface Redirect {
  host: Hostname;
  to: Hostname;
  status: RedirectStatus;
}

/** The target of routes that Doorplate itself answers. */
export interface RedirectorService {
  namespace: string;
  service: string;
  port: number;
}

/** The use of a hostname: it serves a Service of the tenant, or it redirects. */
export type Use = 'serves' | 'redirects';

export const useOf = (role: HostStatus['role']): Use => (role === 'RedirectSource' ? 'redirects' : 'serves');
export const otherUse = (use: Use): Use => (use === 'serves' ? 'redirects' : 'serves');

/** State of a hostname's routes in the cluster, for one use. */
export interface ExistingRoutes {
  /** Time of the write, ms since the epoch. */
  since: number;
  /** All routes exist, exactly as desired. */
  isWhole: boolean;
}

/** The namespace of a hostname's Certificate and main route: the tenant's if it serves, Doorplate's if it redirects. */
export const homeOf = (use: Use, tenants: string, redirector: Pick<RedirectorService, 'namespace'>): string =>
  use === 'redirects' ? redirector.namespace : tenants;

const plainHttpName = (name: string): string => `${name}-http`;
/** Names of the objects that a hostname may have. The first is the name of its Certificate and main route. */
export const objectNames = (name: string): string[] => [name, plainHttpName(name)];

/** A hostname to route; `secretName` as in {@link Route}. */
export interface Routed {
  name: string;
  /** The tenant's namespace. */
  namespace: string;
  host: Hostname;
  secretName?: string;
  service: {name: string; port: number | string};
}

/** All routes of a hostname in one use. */
export function routesOf(
  use: Use,
  {name, namespace, host, secretName, service}: Routed,
  redirector: RedirectorService,
): Route[] {
  const own = {namespace: redirector.namespace, host, to: {service: redirector.service, port: redirector.port}};
  // A hostname that redirects: both listeners lead to the redirector, with the certificate in its namespace.
  if (use === 'redirects') return [{...own, name, listen: 'both', secretName}];
  return [
    // HTTPS to the Service, in the tenant's namespace.
    {name, namespace, host, listen: 'https', secretName, to: {service: service.name, port: service.port}},
    // Plain HTTP to the redirector, which answers 308 to HTTPS. A route reaches only Services of its own namespace.
    {...own, name: plainHttpName(name), listen: 'http'},
  ];
}

/**
 * All routes of a CustomDomain's hostname in one use. `certificate`: the name of its Certificate, if it differs from the routes' name.
 */
export function routesOfHost(
  domain: CustomDomain,
  project: Project,
  host: Hostname,
  use: Use,
  redirector: RedirectorService,
  certificate?: string,
): Route[] {
  const {uid = '', namespace = ''} = domain.metadata;
  const name = objectNameOf(uid, host);
  const secretName = certificate ?? name;
  return routesOf(use, {name, namespace, host, secretName, service: project.spec.serviceRef}, redirector);
}
