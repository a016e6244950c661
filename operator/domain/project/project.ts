/** Decides a Project: its default hostname, whether it was deployed, and the routes of its default hostname. */

import {defaultHostClaim} from '../claims/claim.ts';
import {decideDefaultHost} from './default-hostname.ts';
import {writeErrorRetryMs} from '../status/write-error.ts';
import {placeOf} from './limit.ts';
import {conditionsOfProject, hasPort} from './conditions.ts';
import type {ProjectDecision, ProjectWorld} from './world.ts';
import {returningOf} from '../certificates/retained.ts';
import {timestamp, withTimes} from '../times.ts';

/** Whether a Service of the Project has a ready endpoint: a missing `ready` means ready (EndpointSlice v1). */
const hasReadyEndpoint = (slices: ProjectWorld['slices']) =>
  slices.some((s) => s.endpoints?.some((e) => e.conditions?.ready !== false) ?? false);

/** Decides a Project. Pure. */
export function decideProject(world: ProjectWorld): ProjectDecision {
  const {project, tenant, service, host, claim, now} = world;
  const {generation = 0} = project.metadata;
  const {serviceRef, defaultHost: asked} = project.spec;
  const place = placeOf(world);
  const claimed = place.hasHost ? defaultHostClaim(host, project, tenant, claim) : undefined;
  const portFound = service !== undefined && hasPort(service, serviceRef.port);
  const firstDeployTime =
    project.status?.firstDeployTime ??
    (place.isServed && portFound && hasReadyEndpoint(world.slices) ? timestamp(now) : undefined);
  const isRoutable = place.isServed && firstDeployTime !== undefined && asked !== 'Disabled';
  const defaultHost = decideDefaultHost(world, isRoutable);
  const {certificates, routes, redirect, orderRequest, step, settlesAt} = defaultHost;
  const conditions = conditionsOfProject(world, {place, deployed: firstDeployTime !== undefined, defaultHost});
  const ends = place.servedUntil !== undefined && place.isServed ? Date.parse(place.servedUntil) : undefined;
  const retry = world.writeError && now + writeErrorRetryMs;
  const {serves, redirects} = world.facts;
  const wakes = [settlesAt, step?.wakeAt, ends, retry, serves.issuerUntil, redirects.issuerUntil].filter(
    (at) => at !== undefined,
  );
  return {
    status: {
      observedGeneration: generation,
      ...(place.hasHost && {host, url: `https://${host}`}),
      ...(firstDeployTime !== undefined && {firstDeployTime}),
      ...(place.servedUntil !== undefined && {servedUntil: place.servedUntil}),
      ...(redirect && {redirect}),
      conditions: withTimes(conditions, project.status?.conditions ?? [], generation, now),
    },
    claims: claimed === undefined || claimed === 'held' ? [] : [claimed],
    certificates,
    returning: (['serves', 'redirects'] as const).flatMap((use) =>
      returningOf(certificates, () => world.facts[use].certificate),
    ),
    forfeited: place.isServed ? [] : [host],
    routes,
    orderRequests: orderRequest ? [orderRequest] : [],
    ...(wakes.length > 0 && {wakeAt: Math.min(...wakes)}),
  };
}
