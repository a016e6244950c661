/** What a hostname needs to be routed, and whether its routes stand in the cluster. */

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
 * A hostname that serves and is to redirect, or the other way round: what it was stands until what it becomes does. The edge
 * learns of a route, of its Secret and of what goes by watches of their own, in any order: so the two stand side by side for a
 * while. `ready`: the next can do its work; `standing`: what stands of it. `now`: ms since the epoch. `routed` when the change is over.
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
