/** The ingress controllers that `make controllers` tests. */

/** A controller, and the answers in which controllers differ. */
export interface Controller {
  /** Its folder here, unless it is Traefik, which the local cluster has anyway. */
  name: string;
  ingressClassName: string;
  /** Page with the values and objects that a platform needs. The test installs them. */
  page?: string;
  /** Status of `http://HOST/` for a Live hostname that serves. */
  plainHttp: 200 | 301 | 308;
  /** HTTPS for a hostname that no CustomDomain has: an HTTP status, or `refused` if the TLS handshake fails. */
  unknownHttps: 404 | 'refused';
  /** Ingresses without a host that Doorplate creates. Only Traefik can bind one to plain HTTP. */
  hostless: 0 | 1;
}

export const controllers: readonly Controller[] = [
  {
    name: 'traefik',
    ingressClassName: 'traefik',
    plainHttp: 308,
    unknownHttps: 404,
    hostless: 1,
  },
  {
    name: 'contour',
    ingressClassName: 'contour',
    page: 'docs/how-to/controllers/contour.md',
    plainHttp: 301,
    unknownHttps: 'refused',
    hostless: 0,
  },
];

/** Throws if the variable CONTROLLER names none of them. */
export function controllerUnderTest(): Controller {
  const {CONTROLLER: name} = process.env;
  const found = controllers.find((each) => each.name === name);
  if (!found)
    throw new Error(`CONTROLLER is ${JSON.stringify(name)}; make controllers sets one of ${namesOf(controllers)}`);
  return found;
}

export const namesOf = (list: readonly Controller[]): string => list.map(({name}) => name).join(', ');
