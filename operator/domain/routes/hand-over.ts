/** The objects that a hostname needs to be routed, and whether its routes exist in the cluster. */

import type {Certificate} from '../../api/foreign.ts';
import {edgeSettlesMs} from './edge.ts';
import type {Route, ExistingRoutes} from './routes.ts';

export interface Routing {
  certificates: Certificate[];
  routes: Route[];
  routed: boolean;
}

export const none: Routing = {certificates: [], routes: [], routed: false};

/**
 * Moves a hostname from serving to redirecting, or the other way. The old routes stay until the new ones work. The edge learns of a
 * route, its Secret and deleted objects through separate watches, in any order. So both sets of routes coexist for a while. `ready`: the
 * new routes can work. `standing`: the new routes that exist. `now`: ms since the epoch. `routed` is true when the change is complete.
 */
export function handOver(
  old: Routing,
  next: Routing,
  {ready, standing, now}: {ready: boolean; standing?: ExistingRoutes; now: number},
): Routing & {wakeAt?: number} {
  const written = ready && next.routed;
  const settled = (standing?.since ?? Infinity) + edgeSettlesMs;
  const over = written && now >= settled;
  return {
    certificates: [...next.certificates, ...(over ? [] : old.certificates)],
    routes: [...(ready ? next.routes : []), ...(over ? [] : old.routes)],
    routed: over,
    ...(written && now < settled && settled < Infinity && {wakeAt: settled}),
  };
}
