import type {Certificate, Ingress} from '../api/foreign.ts';
import type {Route} from './routes.ts';

/** The entry points of Traefik by our listeners; constants, never a user's text. */
const entryPoints = {https: 'websecure', http: 'web', both: 'web,websecure'} as const;

/**
 * A route as networking.k8s.io/v1 Ingress. Only Traefik can bind an Ingress to one listener, by an annotation; for any
 * other class an `http` route is not rendered (undefined), its own HTTPS switch does that: docs/ingress-classes.md.
 */
export function makeIngress(route: Route, edge: {ingressClassName: string; traefik: boolean}): Ingress | undefined {
  if (route.listen === 'http' && !edge.traefik) return undefined;
  const {service, port} = route.to;
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {
      name: route.name,
      namespace: route.namespace,
      ...(edge.traefik && {
        annotations: {'traefik.ingress.kubernetes.io/router.entrypoints': entryPoints[route.listen]},
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

/** What a hostname needs to be routed, and whether its routes stand in the cluster. */
export interface Routing {
  certificates: Certificate[];
  ingresses: Ingress[];
  routed: boolean;
}

/** The edge's own delay, which is no news: nothing is said of a wrong answer before it, ms. */
export const edgeDelayMs = 3_000;
/** Until the edge has surely taken in what was written; times of objects are whole seconds. */
const edgeSettlesMs = edgeDelayMs + 1000;

/**
 * A hostname that serves and is to redirect, or the other way round: what it was stands until what it becomes does. The edge
 * learns of a route, of its Secret and of what goes by watches of their own, in any order: so the two stand side by side for a
 * while. `ready`: the next can do its work; `since`: when it was written, ms since the epoch. `routed` when the change is over.
 */
export function handOver(
  old: Routing,
  next: Routing,
  {ready, since = Infinity, now}: {ready: boolean; since?: number; now: number},
): Routing & {wakeAt?: number} {
  const written = ready && next.routed;
  const settled = since + edgeSettlesMs;
  const over = written && now >= settled;
  return {
    certificates: [...next.certificates, ...(over ? [] : old.certificates)],
    ingresses: [...(ready ? next.ingresses : []), ...(over ? [] : old.ingresses)],
    routed: over,
    ...(written && now < settled && settled < Infinity && {wakeAt: settled}),
  };
}
