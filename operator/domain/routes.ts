import type {HostStatus, RedirectStatus} from '../api/custom-domain.ts';
import type {CustomDomain, Project} from '../api/foreign.ts';
import type {Hostname} from './hostname.ts';
import {objectNameOf} from './hostname.ts';

/**
 * A route in Doorplate's own model. `rendering/ingress.ts` is one rendering of it; Gateway API will be another. Each route answers for one
 * hostname. It contains no user input except names that the schema has checked.
 */
export interface Route {
  /** Name of the object and, where it has a certificate, of its Secret. */
  name: string;
  namespace: string;
  host: Hostname;
  /** The edge's listener that uses the route. */
  listen: 'https' | 'http' | 'both';
  /** Secret with the certificate in the same namespace; absent where the edge's own wildcard certificate serves. */
  secretName?: string;
  to: {service: string; port: number | string};
}

/** A redirect in effect: the redirector's whole knowledge of a hostname. */
export interface Redirect {
  host: Hostname;
  to: Hostname;
  status: RedirectStatus;
}

/** The Service of the redirector. */
export interface RedirectorService {
  namespace: string;
  service: string;
  port: number;
}

/** The use of a hostname: it serves a tenant's Service, or it redirects. */
export type Use = 'serves' | 'redirects';

export const useOf = (role: HostStatus['role']): Use => (role === 'RedirectSource' ? 'redirects' : 'serves');
export const otherUse = (use: Use): Use => (use === 'serves' ? 'redirects' : 'serves');

/** The existing routes of a hostname in one use. */
export interface StandingRoutes {
  /** When it was written, ms since the epoch. */
  since: number;
  /** Whether all routes exist exactly as desired. */
  isWhole: boolean;
}

/** The namespace of a hostname's Certificate and of its main route: the tenant's where it serves, Doorplate's where it redirects. */
export const homeOf = (use: Use, tenants: string, redirector: Pick<RedirectorService, 'namespace'>): string =>
  use === 'redirects' ? redirector.namespace : tenants;

const plainHttpName = (name: string): string => `${name}-http`;
/** The names that a hostname's objects may have. The name of its Certificate and route comes first. */
export const objectNames = (name: string): string[] => [name, plainHttpName(name)];

/** A hostname with its desired routes. `secretName`: see {@link Route}. */
export interface Routed {
  name: string;
  /** The tenant's. */
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
  // A hostname that redirects: both listeners to the redirector, its certificate beside it.
  if (use === 'redirects') return [{...own, name, listen: 'both', secretName}];
  return [
    // HTTPS to the Service, in the tenant's namespace.
    {name, namespace, host, listen: 'https', secretName, to: {service: service.name, port: service.port}},
    // Plain HTTP to the redirector, which answers 308 to HTTPS: a route reaches only Services of its own namespace.
    {...own, name: plainHttpName(name), listen: 'http'},
  ];
}

/** All routes of a CustomDomain's hostname in one use. `certificate`: the name of its Certificate, if it differs from the routes' name. */
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
