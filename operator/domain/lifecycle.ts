/**
 * The lifecycle of the hostnames of one CustomDomain, decided completely and at once from the gathered facts.
 *
 *            add                     DNS verifies it            certificate issued, seen on the edge
 *   (none) -------> AwaitingVerification ----------> Verified -----------------------------------> Live
 *                      |   ^ check fails: stays,        | queued, stalled, budgets:                | DNS moves away:
 *                      +---+ reports the reason         | certificates/issuance.ts                              | DNSDrifted, still served
 *
 *   not acceptable: NotAccepted, no DNS check, no route; recovers by itself.
 *   downgraded:     Accepted is False, Live hostnames are served until `servedUntil`, then NotAccepted.
 *   deleted:        routes first, then certificates, then the finalizer (controllers/custom-domain.ts).
 *
 * docs/rules.md names the code that enforces each inviolable rule. host/steps.ts decides one hostname.
 */

import {reissueAnnotation, type CustomDomainStatus, type HostStatus, type Party} from '../api/custom-domain.ts';
import {countsOf} from './status/counts.ts';
import {makeConditions} from './status/conditions.ts';
import {fit} from './status/status-size.ts';
import {decideHost} from './host/steps.ts';
import type {WantedHost} from './hostnames/hosts.ts';
import {wanted} from './hostnames/hosts.ts';
import type {ReasonName} from './reasons/reasons.ts';
import {reasons} from './reasons/reasons.ts';
import {returningOf} from './certificates/retained.ts';
import {timestamp} from './times.ts';
import {publishedHosts} from './hostnames/published.ts';
import type {Decision, World} from './world.ts';

/** Decides everything: desired objects, status, and the next DNS checks and edge probes. Pure; equal worlds give equal decisions. */
export function decide(gathered: World): Decision {
  const world = {...gathered, published: publishedHosts(gathered.domain.status, gathered.now)};
  const {domain, project} = world;
  const [first, ...others] = wanted(world) as [WantedHost, ...WantedHost[]];
  const primary = decideHost(world, first, {hostname: first.hostname, live: false});
  const live = {hostname: first.hostname, live: primary.entry.phase === 'Live'};
  const decisions = [
    primary,
    ...others.flatMap((w) => {
      const decision = decideHost(world, w, live);
      // A former primary is dropped when its verification ends, or the new primary is Live and no other CustomDomain is to take the former
      // one over. A write error is no reason to drop it.
      const isTakenOver = world.facts.get(w.hostname)?.isAwaited || decision.succession === 'UnderWay';
      const over = (live.live && !isTakenOver) || decision.entry.verifiedAt === undefined;
      return w.role === 'FormerPrimary' && over ? [] : decision;
    }),
  ];

  const hosts = decisions.map((d) => d.entry);
  const conditions = makeConditions(world, decisions, domain.status?.conditions ?? []);
  const target = project?.status?.host;
  const answered = world.request !== undefined && !decisions.some((d) => d.asked);
  const handled = answered ? world.request?.value : domain.status?.lastHandledReconcileAt;
  const reissued = handledReissue(world, decisions);
  const status: CustomDomainStatus = {
    observedGeneration: domain.metadata.generation ?? 0,
    phase: primary.entry.phase,
    ...countsOf(hosts.filter((h) => h.role !== 'FormerPrimary')),
    ...(target !== undefined && {
      // Includes the records of a former primary: they must stay until the new primary is Live.
      dnsRecords: decisions.flatMap((d) => (d.entry.phase === 'NotAccepted' ? [] : d.records)),
    }),
    hosts,
    ...(handled !== undefined && {lastHandledReconcileAt: handled}),
    ...(reissued !== undefined && {lastHandledReissueAt: reissued}),
    conditions,
  };
  const wakes = decisions.flatMap((d) => d.wakeAt ?? []);
  const certificates = decisions.flatMap((d) => d.certificates);
  return {
    status: fit(status),
    passing: decisions.flatMap((d) => (d.passing ? d.entry.hostname : [])),
    claims: decisions.flatMap((d) => d.claims),
    certificates,
    returning: returningOf(certificates, (hostname) => world.facts.get(hostname)?.certificate),
    // A successor of the tenant, or its predecessor when it comes back, uses the certificate again.
    forfeited: decisions.flatMap(({entry, succession}) => (isForfeited(entry) && !succession ? entry.hostname : [])),
    handingOver: decisions.flatMap(({entry, succession}) => (succession === 'UnderWay' ? entry.hostname : [])),
    routes: decisions.flatMap((d) => d.routes),
    freshAttempts: decisions.flatMap((d) => d.freshAttempt ?? []),
    orderRequests: decisions.flatMap((d) => d.orderRequest ?? []),
    looks: decisions.flatMap((d) => d.looks),
    ...(wakes.length > 0 && {wakeAt: Math.min(...wakes)}),
  };
}

/** The requested reissue if all hostnames have their new certificates; otherwise the published value. */
const handledReissue = ({domain}: World, decisions: readonly {reissuing: boolean}[]): string | undefined =>
  (decisions.some((d) => d.reissuing) ? undefined : domain.metadata.annotations?.[reissueAnnotation]) ??
  domain.status?.lastHandledReissueAt;

/** A deleted Project may return, or be created again without a deploy so far. */
const comesBack: ReadonlySet<string> = new Set<ReasonName>(['ProjectNotFound', 'NoSuccessfulDeploy']);
const isForfeited = ({phase, reason}: HostStatus): boolean =>
  phase === 'AwaitingVerification' || (phase === 'NotAccepted' && !comesBack.has(reason));

/** The status of a CustomDomain that is being removed, after its routes and certificates are deleted. */
export function removing(before: CustomDomainStatus, now: number): CustomDomainStatus {
  const gone = {
    reason: 'Removing' satisfies ReasonName,
    message:
      'Routes and certificates are deleted. Another finalizer delays the deletion of this object: see metadata.finalizers.',
  };
  const hosts = (before.hosts ?? []).map(({hostname, role, addedAt}): HostStatus => ({
    hostname,
    role,
    phase: 'Removing',
    ...gone,
    since: timestamp(now),
    ...(addedAt !== undefined && {addedAt}),
    waitingFor: reasons.Removing.waitingFor as Party,
  }));
  const conditions = (before.conditions ?? []).flatMap((c) =>
    c.type === 'Reconciling' || c.type === 'Stalled'
      ? []
      : {
          ...c,
          status: 'False' as const,
          ...gone,
          lastTransitionTime: c.status === 'False' ? c.lastTransitionTime : timestamp(now),
        },
  );
  const counts = countsOf(hosts.filter(({role}) => role !== 'FormerPrimary'));
  return {...before, phase: 'Removing', ...counts, dnsRecords: [], hosts, conditions};
}
