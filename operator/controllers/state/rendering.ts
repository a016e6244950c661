/**
 * Renders routes as the objects that the platform's edge reads. No other file of the controllers knows their kinds. `domain/rendering/`
 * writes each kind.
 */
import type {Ingress, IngressClass} from '../../api/foreign.ts';
import {entryPointsAnnotation, hostsOfIngress, ingressesOf, whatIngressSays} from '../../domain/routes/ingress.ts';
import type {Route} from '../../domain/routes/routes.ts';
import type {Policy} from '../../domain/world.ts';
import type {Cache} from '../../kube/cache/cache.ts';
import {hashOf} from '../../kube/equality.ts';
import type {HasMeta} from '../../kube/objects.ts';
import {bareOwnedObject} from '../../resources/projections.ts';
import {forAnnotation, intentAnnotation, managedBy, ownerLabel} from '../../resources/labels.ts';

/** An object that routes a hostname. */
export type RouteObject = Ingress;

/** The hostnames that such an object routes. */
export const hostsOf = (object: RouteObject): string[] => hostsOfIngress(object);

/** The cached part of a route: its owner, its hostnames, and a hash that shows changes of what Doorplate sets. */
export interface CachedRoute extends HasMeta {
  hosts: string[];
  says: string;
}

export function cachedRoute(object: RouteObject): CachedRoute {
  const {metadata} = bareOwnedObject({metadata: object.metadata});
  const {labels, annotations, ownerReferences} = metadata;
  const owner = labels?.[ownerLabel];
  // The label names the owner. A foreign controller reference is kept, too.
  const controllers = ownerReferences?.filter((o) => o.controller === true && o.uid !== owner) ?? [];
  return {
    metadata: {
      ...metadata,
      labels: member(labels, ownerLabel),
      annotations: {...member(annotations, intentAnnotation), ...member(annotations, entryPointsAnnotation)},
      ownerReferences: controllers.length > 0 ? controllers : undefined,
    },
    hosts: hostsOf(object),
    says: hashOf([
      whatIngressSays(object),
      member(labels, managedByLabel),
      annotations?.[forAnnotation],
      ownerReferences,
    ]),
  };
}

const member = (of: Readonly<Record<string, string>> | undefined, name: string): Record<string, string> =>
  of?.[name] === undefined ? {} : {[name]: of[name]};

export const cachedHostnames = ({hosts}: CachedRoute): string[] => hosts;

/** Sources that know the kind of the edge. */
export interface EdgeSources {
  policy: Pick<Policy, 'ingressClassName'>;
  ingressClasses: Pick<Cache<IngressClass, IngressClass>, 'get'>;
  /** Whether a hostname has a route of its own for plain HTTP: {@link ../writers/plain-http.ts}. */
  plainHttp: {isOfItsOwn(route: {namespace: string; name: string}): boolean};
}

const [managedByLabel] = Object.keys(managedBy) as [string];

/** Only Traefik can bind an Ingress to a listener. */
const traefik = 'traefik.io/ingress-controller';

export const isTraefik = ({policy, ingressClasses}: Pick<EdgeSources, 'policy' | 'ingressClasses'>): boolean =>
  ingressClasses.get(policy.ingressClassName)?.spec?.controller === traefik;

/**
 * Whether one Ingress without a host leads plain HTTP of all hostnames to the redirector. With another controller than Traefik, such an
 * Ingress takes requests for unknown hostnames from the whole cluster.
 */
export const sharesPlainHttp = (sources: PlainHttpSources): boolean => sources.setting !== false && isTraefik(sources);

/** `setting`: the setting `plainHttp.shared`. */
export interface PlainHttpSources extends Pick<EdgeSources, 'policy' | 'ingressClasses'> {
  setting: 'auto' | boolean;
}

export const render = (routes: readonly Route[], sources: EdgeSources): RouteObject[] =>
  ingressesOf(
    routes.filter((route) => route.listen !== 'http' || sources.plainHttp.isOfItsOwn(route)),
    {ingressClassName: sources.policy.ingressClassName, traefik: isTraefik(sources)},
  );
