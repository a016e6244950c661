import type {Ingress, Service} from '../../api/foreign.ts';
import type {Route} from './routes.ts';

/** Annotation by which Traefik binds an Ingress to its listeners. */
export const entryPointsAnnotation = 'traefik.ingress.kubernetes.io/router.entrypoints';

/** The entry points of Traefik by our listeners; constants, never a user's text. */
const entryPoints = {https: 'websecure', http: 'web', both: 'web,websecure'} as const;

/**
 * A route as networking.k8s.io/v1 Ingress. Only Traefik can bind an Ingress to one listener, by an annotation; for any
 * other class an `http` route is not rendered (undefined), its own HTTPS switch does that: docs/how-to/ingress-classes.md.
 */
export function makeIngress(route: Route, edge: IngressEdge): Ingress | undefined {
  if (route.listen === 'http' && !edge.traefik) return undefined;
  const {service, port} = route.to;
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {
      name: route.name,
      namespace: route.namespace,
      ...(edge.traefik && {
        annotations: {[entryPointsAnnotation]: entryPoints[route.listen]},
      }),
    },
    spec: {
      ingressClassName: edge.ingressClassName,
      ...(route.secretName !== undefined && {tls: [{hosts: [route.host], secretName: route.secretName}]}),
      rules: [
        {
          host: route.host,
          http: {
            paths: [
              {
                path: '/',
                pathType: 'Prefix',
                backend: {service: {name: service, port: typeof port === 'number' ? {number: port} : {name: port}}},
              },
            ],
          },
        },
      ],
    },
  };
}

/** What reads the Ingresses. `traefik`: it is Traefik. */
export interface IngressEdge {
  ingressClassName: string;
  traefik: boolean;
}

/**
 * The members of a spec that {@link makeIngress} sets. Other managers may have added further members; a list belongs to one manager as a
 * whole (KEP-555).
 */
export const whatIngressSays = ({spec: {ingressClassName, tls, rules}}: Ingress): object => ({
  ingressClassName,
  tls,
  rules,
});

/** The hostnames that an Ingress routes. */
export const hostsOfIngress = ({spec: {rules = []}}: Ingress): string[] => rules.flatMap((r) => r.host ?? []);

export const ingressesOf = (routes: readonly Route[], edge: IngressEdge): Ingress[] =>
  routes.flatMap((route) => makeIngress(route, edge) ?? []);

/*
 * The shared Ingress for plain HTTP of all hostnames, and other Ingresses that may answer in its place.
 */

/** Traefik serves the route of the greatest priority. By default it is the length of the route's rule. */
const priorityAnnotation = 'traefik.ingress.kubernetes.io/router.priority';

/** A release of an earlier chart contains the Ingress. Helm never deletes it with that release. */
const keptByHelm = {'helm.sh/resource-policy': 'keep'} as const;

/** Labels by which Doorplate recognizes the shared Ingress, including an Ingress that an earlier chart created. */
const sharedLabels = {'app.kubernetes.io/part-of': 'doorplate', 'app.kubernetes.io/component': 'redirector'} as const;

/** Whether an Ingress with the name of the shared Ingress is Doorplate's. */
export const isSharedIngress = ({metadata: {labels}}: Pick<Ingress, 'metadata'>): boolean =>
  Object.entries(sharedLabels).every(([name, value]) => labels?.[name] === value);

/**
 * The shared Ingress, for Traefik only: it has no host, and is bound to plain HTTP. Every other route has a greater priority, among them
 * the solvers of cert-manager and other teams' Ingresses without a host. The redirector's Service owns it.
 */
export function makeSharedIngress({metadata}: Pick<Service, 'metadata'>, ingressClassName: string): Ingress {
  const {namespace, name, uid = ''} = metadata;
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {
      name,
      namespace,
      labels: {...sharedLabels},
      annotations: {[entryPointsAnnotation]: entryPoints.http, [priorityAnnotation]: '1', ...keptByHelm},
      ownerReferences: [{apiVersion: 'v1', kind: 'Service', name, uid}],
    },
    spec: {
      ingressClassName,
      rules: [{http: {paths: [{path: '/', pathType: 'Prefix', backend: {service: {name, port: {name: 'http'}}}}]}}],
    },
  };
}

/** The older way to name a class. */
const classAnnotation = 'kubernetes.io/ingress.class';

/** Whether Traefik answers plain HTTP of every hostname through an Ingress, unless a route with that host exists. */
export function answersEveryHost({metadata: {annotations = {}}, spec}: Ingress, ingressClassName: string): boolean {
  const ofClass = (spec.ingressClassName ?? annotations[classAnnotation]) === ingressClassName;
  // Without the annotation it is for every entry point.
  const points = annotations[entryPointsAnnotation]?.split(',').map((name) => name.trim());
  return ofClass && (points?.includes('web') ?? true) && (spec.rules ?? []).some((rule) => !rule.host);
}

/** Whether an Ingress of Doorplate's is for plain HTTP of one hostname alone. */
export const isForPlainHttp = ({metadata: {annotations}}: Pick<Ingress, 'metadata'>): boolean =>
  annotations?.[entryPointsAnnotation] === entryPoints.http;

/** Whether an Ingress of Doorplate's is for HTTPS alone, so that plain HTTP of its hostname needs another one. */
export const isOnlyForHttps = ({metadata: {annotations}}: Pick<Ingress, 'metadata'>): boolean =>
  annotations?.[entryPointsAnnotation] === entryPoints.https;
