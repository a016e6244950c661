import type {HostStatus, RedirectStatus} from '../api/custom-domain.ts';
import type {Hostname} from './hostname.ts';

/**
 * What should be routed, in a model of its own: `ingress.ts` is one rendering of it, Gateway API will be another.
 * Every route answers for one hostname; none carries anything that a user wrote but names that the schema has checked.
 */
export interface Route {
  /** Name of the object and, where it has a certificate, of its Secret. */
  name: string;
  namespace: string;
  host: Hostname;
  /** Which of the edge's listeners it is for. */
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

/** Where routes lead that Doorplate answers itself. */
export interface Redirector {
  namespace: string;
  service: string;
  port: number;
}

/** The namespace of a hostname's Certificate and of the route that it belongs to: the tenant's for what serves, Doorplate's for what redirects. */
export const homeOf = (role: HostStatus['role'], tenants: string, redirector: Pick<Redirector, 'namespace'>): string =>
  role === 'RedirectSource' ? redirector.namespace : tenants;

/** A tenant's hostname that serves: HTTPS to the Service, in the tenant's namespace. */
export const serve = (r: {
  name: string;
  namespace: string;
  host: Hostname;
  secretName?: string;
  service: {name: string; port: number | string};
}): Route => ({
  name: r.name,
  namespace: r.namespace,
  host: r.host,
  listen: 'https',
  secretName: r.secretName,
  to: {service: r.service.name, port: r.service.port},
});

/** Its plain HTTP: to the redirector, which answers 308 to HTTPS. In Doorplate's namespace: a route reaches only Services of its own. */
export const httpToHttps = (r: {name: string; host: Hostname}, redirector: Redirector): Route => ({
  name: `${r.name}-http`,
  namespace: redirector.namespace,
  host: r.host,
  listen: 'http',
  to: {service: redirector.service, port: redirector.port},
});

/** A hostname that redirects: both listeners to the redirector, its certificate beside it. */
export const redirectFrom = (
  r: {name: string; host: Hostname; secretName?: string},
  redirector: Redirector,
): Route => ({
  name: r.name,
  namespace: redirector.namespace,
  host: r.host,
  listen: 'both',
  secretName: r.secretName,
  to: {service: redirector.service, port: redirector.port},
});
