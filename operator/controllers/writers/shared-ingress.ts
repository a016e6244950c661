/**
 * Writes the shared Ingress for plain HTTP of all hostnames (`plainHttp.shared`), which has no host.
 *
 * Promises:
 * - With another controller than Traefik, Doorplate has no Ingress without a host, whatever the setting is.
 * - When the setting becomes false, the shared Ingress stays until the edge has applied the Ingress of each hostname.
 * - An Ingress of another owner with that name is never changed.
 *
 * The redirector's Service owns the Ingress, so Kubernetes deletes the Ingress with the Service.
 */
import type {Service} from '../../api/foreign.ts';
import {edgeSettlesMs} from '../../domain/routes/edge.ts';
import {isForPlainHttp, isOnlyForHttps, isSharedIngress, makeSharedIngress} from '../../domain/routes/ingress.ts';
import type {Cache} from '../../kube/cache/cache.ts';
import type {Result} from '../../kube/controller/controller.ts';
import {itself, on, type Wake} from '../../kube/controller/wake.ts';
import {type HasMeta, type Key} from '../../kube/objects.ts';
import type {Applier} from '../../kube/writes/apply.ts';
import {ingresses} from '../../resources/resources.ts';
import {
  type CachedRoute,
  isTraefik,
  type PlainHttpSources,
  type RouteObject,
  sharesPlainHttp,
} from '../state/rendering.ts';
import type {OtherIngress} from './plain-http.ts';

/** Why the shared Ingress does not exist although the setting asks for it. */
export type NotShared = 'NotTraefik' | 'NameTaken';

export interface SharedIngressDeps extends PlainHttpSources {
  applier: Pick<Applier, 'apply' | 'remove'>;
  others: Cache<OtherIngress, RouteObject>;
  services: Cache<Service, Service>;
  routes: Pick<Cache<CachedRoute, RouteObject>, 'list' | 'onChange'>;
  ingressClasses: PlainHttpSources['ingressClasses'] & Pick<Cache, 'onChange'>;
  /** Key of the shared Ingress and of the redirector's Service. */
  shared: Key;
  report: (why: NotShared) => void;
  now?: () => number;
}

/** The changes that wake the reconciler. Its only key is the shared Ingress. */
export function wakeSharedIngress({
  others,
  services,
  routes,
  ingressClasses,
  shared,
  setting,
}: SharedIngressDeps): Wake[] {
  const ifShared = (now?: HasMeta, before?: HasMeta) => itself(now, before).filter((key) => key === shared);
  return [
    on(others, ifShared),
    on(services, ifShared),
    on(ingressClasses, () => [shared]),
    on(routes, () => (setting === false && others.get(shared) ? [shared] : [])),
  ];
}

export class SharedIngressReconciler {
  readonly #deps: SharedIngressDeps;
  #reported: NotShared | undefined;

  constructor(deps: SharedIngressDeps) {
    this.#deps = deps;
  }

  /** Throws what the API server throws. */
  async reconcile(key: Key): Promise<Result> {
    const {applier, others, services, policy} = this.#deps;
    const existing = others.get(key);
    const isTaken = existing !== undefined && !isSharedIngress(existing);
    this.#report(isTaken);
    if (isTaken) return 'awaitChange';
    if (sharesPlainHttp(this.#deps)) {
      const service = services.get(key);
      if (!service) return 'awaitChange';
      const intent = makeSharedIngress(service, policy.ingressClassName);
      await applier.apply(ingresses, intent, {existing, isOurs: isSharedIngress, cache: others});
      return 'awaitChange';
    }
    if (!existing) return 'awaitChange';
    const waitMs = this.#msUntilReplaced();
    if (waitMs === Infinity) return 'awaitChange';
    if (waitMs > 0) return {requeueAfterMs: waitMs};
    await applier.remove(ingresses, existing, {isOurs: isSharedIngress});
    return 'awaitChange';
  }

  /** Reports a transition, and nothing that has been reported. */
  #report(isTaken: boolean): void {
    const {setting, ingressClasses, policy, report} = this.#deps;
    const isOfAnother = ingressClasses.get(policy.ingressClassName) !== undefined && !isTraefik(this.#deps);
    const why =
      setting === true && isOfAnother ? 'NotTraefik' : isTaken && sharesPlainHttp(this.#deps) ? 'NameTaken' : undefined;
    if (why && why !== this.#reported) report(why);
    this.#reported = why;
  }

  /**
   * Time until the edge has applied an Ingress for plain HTTP of each hostname that serves. Infinity while one is missing. With another
   * controller than Traefik there are none to wait for: that controller's own switch redirects.
   */
  #msUntilReplaced(): number {
    const {routes, now = Date.now} = this.#deps;
    if (!isTraefik(this.#deps)) return 0;
    const all = routes.list();
    const ofPlainHttp = new Map(
      all.filter(isForPlainHttp).flatMap((route) => route.hosts.map((host) => [host, route])),
    );
    const needed = all.filter(isOnlyForHttps).flatMap(({hosts}) => hosts.map((host) => ofPlainHttp.get(host)));
    const writtenAt = needed.map((route) => Date.parse(route?.metadata.creationTimestamp ?? '') || Infinity);
    return writtenAt.reduce((last, at) => Math.max(last, at + edgeSettlesMs), 0) - now();
  }
}
