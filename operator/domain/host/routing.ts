/** The objects of a proven hostname, and what is said until they stand. */

import {issuerOf} from '../certificates/choose-issuer.ts';
import type {Phase} from '../../api/custom-domain.ts';
import type {IssuerRef} from '../../api/foreign.ts';
import type {CertificateFacts} from '../certificates/certificate.ts';
import {makeCertificate} from '../certificates/certificate.ts';
import type {Routing} from '../routes/hand-over.ts';
import {handOver, none} from '../routes/hand-over.ts';
import {edgeSettlesMs} from '../routes/edge.ts';
import type {EdgeFault, EdgeWatch} from '../routes/edge-watch.ts';
import {isEdgeFault, watchEdge} from '../routes/edge-watch.ts';
import type {Outcome} from './outcome.ts';
import {say} from './outcome.ts';
import type {PlannedHost, Proven} from './stages.ts';
import {objectNameOf} from '../hostnames/hostname.ts';
import type {HostFacts} from '../world.ts';
import type {Use} from '../routes/routes.ts';
import {homeOf, otherUse, routesOfHost, useOf} from '../routes/routes.ts';

/** The Certificate and the routes of a hostname: in the tenant's namespace where it serves, in Doorplate's where it redirects. */
export function objectsOf(
  {world, project, hostname, role, facts}: Proven,
  {use = useOf(role), issuerRef = issuerOf(world.policy, facts).issuerRef}: {use?: Use; issuerRef?: IssuerRef} = {},
): Routing {
  const {domain, policy} = world;
  const {uid = '', namespace: tenants = ''} = domain.metadata;
  const name = facts.certificateNames?.[use] ?? objectNameOf(uid, hostname);
  const namespace = homeOf(use, tenants, policy.redirector);
  return {
    certificates: [makeCertificate({name, namespace, hostname, issuerRef, privateKey: facts.privateKeys?.[use]})],
    routes: routesOfHost(domain, project, hostname, use, policy.redirector, name),
    routed: facts.standing?.[use]?.isWhole ?? false,
  };
}

/** The objects that a verified hostname needs; during a change of role, in addition to its present objects. */
export function plan(host: Proven): PlannedHost {
  const {facts, role, before, changing, move} = host;
  const next = objectsOf(host, {issuerRef: move?.from});
  const former = changing ? objectsOf(host, {use: otherUse(useOf(role))}) : none;
  const {wakeAt: settlesAt, ...routing} = changing ? changeOver(host, former, next) : {...next, wakeAt: undefined};
  const servesStill = changing && role === 'RedirectSource' && !routing.routed && before?.phase === 'Live';
  const edge = edgeWatchOf(host, servesStill ? facts.formerCertificate : facts.certificate);
  return {
    ...host,
    // The routes of its former owner go first.
    routing:
      (isOccupied(facts, useOf(role)) && !servesStill) || isAnsweredElsewhere(host)
        ? {...routing, routes: [], routed: false}
        : routing,
    former,
    ...(settlesAt !== undefined && {settlesAt}),
    servesStill,
    ...(edge && {edge}),
  };
}

/**
 * Whether the routes of another owner must go first. Those of the same tenant stay until the routes here exist, which need their
 * certificate. Routes that exist here stay. Doorplate created them after the deletion of other routes, or beside routes of the same
 * tenant. The caches report the end of a former owner and the end of its routes in any order.
 */
const isOccupied = ({occupied, succeeds, certificate, standing}: HostFacts, use: Use): boolean =>
  occupied === true && standing?.[use] === undefined && !(succeeds && certificate?.ready);

/** `certificate`: the expected certificate at the edge. */
function edgeWatchOf(
  {world, hostname, role, facts, before, wasLive}: Proven,
  certificate: CertificateFacts | undefined,
): EdgeWatch | undefined {
  if (!wasLive || !certificate) return undefined;
  const {edge: findings, edgeLookedAt: at, edgeEarlier = []} = facts;
  const probes = findings && at !== undefined ? [...edgeEarlier, {findings, at}] : edgeEarlier;
  // A drift or a downgrade takes the place of the fault in the entry, but not in the conditions of the primary.
  const said = role === 'Primary' ? world.domain.status?.conditions?.find((c) => c.type === 'Live') : undefined;
  const published = [before, said].find((s) => s !== undefined && isEdgeFault(s.reason));
  return watchEdge({world, hostname, certificate, probes, published: published as EdgeFault | undefined});
}

/**
 * Time by which the redirector has surely read its redirects from status, ms since the epoch: it reads status through its own watch, like
 * the edge. While another tenant or the former role serves a hostname, its redirect is not probed before.
 */
export function redirectReadAt({world, primary, before, changing}: Proven): number {
  if (!before?.redirect) return Infinity;
  // During a change of role, the redirect is published when the primary goes Live. Otherwise it was published with its own entry.
  const published = changing ? world.published.get(primary.hostname)?.entry : before;
  return Date.parse(published?.since ?? before.since) + edgeSettlesMs;
}

/** Whether an adopted hostname (operator/cli/platform/adopt) is still served by its previous routes. */
export const isAnsweredElsewhere = (host: Proven): boolean =>
  host.role === 'RedirectSource' &&
  host.facts.certificate?.privateKey !== undefined &&
  !host.changing &&
  host.facts.standing?.redirects === undefined &&
  host.world.now < redirectReadAt(host);

function changeOver(host: Proven, former: Routing, next: Routing): Routing & {wakeAt?: number} {
  const {role, primary, facts, world} = host;
  const redirects = role === 'RedirectSource';
  const readAt = redirects ? redirectReadAt(host) : 0;
  const isRead = (!redirects || primary.live) && world.now >= readAt;
  const ready = facts.certificate?.ready === true && isRead;
  const change = handOver(former, next, {ready, standing: facts.standing?.[useOf(role)], now: world.now});
  return {...change, ...(!isRead && readAt < Infinity && {wakeAt: readAt})};
}

/** Keeps the old objects beside the new ones until the edge has surely read the new ones. */
export const awaitHandOver = ({settlesAt}: PlannedHost): Outcome | undefined =>
  settlesAt === undefined ? undefined : {wakeAt: [settlesAt]};

/** The phase while its certificate and routes are on their way. */
export const phaseOf = ({servesStill}: PlannedHost): Phase => (servesStill ? 'Live' : 'Verified');

/**
 * Its routes take the place of those of its former role: another reason than what follows, so that the wait for the
 * edge begins when they are gone.
 */
export const replaceRoutes = ({hostname, changing}: PlannedHost): Outcome | undefined =>
  changing
    ? say('Verified', {
        reason: 'RoutesPending',
        message: `${hostname} has its certificate; its ingress rules replace the former ones.`,
      })
    : undefined;

export function writeRoutes({hostname, facts, routing}: PlannedHost): Outcome | undefined {
  if (routing.routed) return undefined;
  const when = facts.occupied ? 'are written when those of its former owner are deleted' : 'are being written';
  const message = `${hostname} has its certificate; its ingress rules ${when}.`;
  return {
    ...(!facts.occupied && {passing: true}),
    ...say('Verified', {reason: 'EdgePending', message}),
  };
}
