/** The objects that a hostname needs to be routed, and whether its routes exist in the cluster. */

import type {Certificate} from '../api/foreign.ts';
import {edgeSettlesMs} from './edge.ts';
import type {Route, StandingRoutes} from './routes.ts';

export interface Routing {
  certificates: Certificate[];
  routes: Route[];
  routed: boolean;
}

export const none: Routing = {certificates: [], routes: [], routed: false};

/**
 * A hostname changes from serving to redirecting, or back: its old routes stay until the new ones work. The edge learns of a route, of its
 * Secret and of a deletion through separate watches, in any order. Old and new routes therefore exist side by side for a while. `ready`:
 * the next routes can work; `standing`: the existing objects of the next use. `now`: ms since the epoch. Returns `routed` when the change
 * is complete.
 */
export function handOver(
  old: Routing,
  next: Routing,
  {ready, standing, now}: {ready: boolean; standing?: StandingRoutes; now: number},
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
