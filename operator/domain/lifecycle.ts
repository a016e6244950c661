/**
 * The lifecycle of the hostnames of one CustomDomain, decided whole and at once from what was gathered.
 *
 *            add                     DNS proves it              certificate issued, seen on the edge
 *   (none) -------> AwaitingVerification ----------> Verified -----------------------------------> Live
 *                      |   ^ check fails: stays,        | queued, stalled, budgets:                | DNS moves away:
 *                      +---+ says why                   | issuance.ts                              | DNSDrifted, served on
 *
 *   not acceptable: NotAccepted, nothing is asked, nothing is routed; heals itself.
 *   downgraded:     Accepted is False, what was Live is served on until `servedUntil`, then NotAccepted.
 *   deleted:        routes first, then certificates, then the finalizer (controllers/custom-domain.ts).
 *
 * docs/rules.md lists where each rule is kept. host/steps.ts decides one hostname.
 */

import type {CustomDomainStatus, HostStatus, Party} from '../api/custom-domain.ts';
import {makeConditions} from './conditions.ts';
import {fit} from './fit.ts';
import {decideHost} from './host/steps.ts';
import type {WantedHost} from './hosts.ts';
import {wanted} from './hosts.ts';
import type {ReasonName} from './reasons.ts';
import {reasons} from './reasons.ts';
import {returningOf} from './resting.ts';
import {timestamp} from './times.ts';
import type {Decision, World} from './world.ts';

/** Decides everything: desired objects, status and the next looks. Pure; equal worlds give equal decisions. */
export function decide(world: World): Decision {
  const {domain, project} = world;
  const [first, ...others] = wanted(world) as [WantedHost, ...WantedHost[]];
  const primary = decideHost(world, first, {hostname: first.hostname, live: false});
  const live = {hostname: first.hostname, live: primary.entry.phase === 'Live'};
  const decisions = [
    primary,
    ...others.flatMap((w) => {
      const decision = decideHost(world, w, live);
      // A write error does not keep a former primary: it ends with its verification, or when the new primary serves.
      const over = live.live || decision.entry.verifiedAt === undefined;
      return w.role === 'FormerPrimary' && over ? [] : decision;
    }),
  ];

  const hosts = decisions.map((d) => d.entry);
  const attached = hosts.filter((h) => h.role !== 'FormerPrimary');
  const conditions = makeConditions(world, hosts, primary, domain.status?.conditions ?? []);
  const target = project?.status?.host;
  const answered = world.request !== undefined && !decisions.some((d) => d.asked);
  const handled = answered ? world.request?.value : domain.status?.lastHandledReconcileAt;
  const status: CustomDomainStatus = {
    observedGeneration: domain.metadata.generation ?? 0,
    phase: primary.entry.phase,
    hostsLive: `${attached.filter((h) => h.phase === 'Live').length}/${attached.length}`,
    ...(target !== undefined && {
      // Records of a former primary are included: they show by which method it was verified.
      dnsRecords: decisions.flatMap((d) => (d.entry.phase === 'NotAccepted' ? [] : d.records)),
    }),
    hosts,
    ...(handled !== undefined && {lastHandledReconcileAt: handled}),
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
    forfeited: hosts.filter(isForfeited).map((h) => h.hostname),
    routes: decisions.flatMap((d) => d.routes),
    freshAttempts: decisions.flatMap((d) => d.freshAttempt ?? []),
    wishes: decisions.flatMap((d) => d.wish ?? []),
    looks: decisions.flatMap((d) => d.looks),
    ...(wakes.length > 0 && {wakeAt: Math.min(...wakes)}),
  };
}

/** A Project that is gone may come back, or be made anew and not be deployed yet. */
const comesBack: ReadonlySet<string> = new Set<ReasonName>(['ProjectNotFound', 'NoSuccessfulDeploy']);
const isForfeited = ({phase, reason}: HostStatus): boolean =>
  phase === 'AwaitingVerification' || (phase === 'NotAccepted' && !comesBack.has(reason));

/** The status of what is being removed, when its routes and certificates are gone. */
export function removing(before: CustomDomainStatus, now: number): CustomDomainStatus {
  const gone = {
    reason: 'Removing' satisfies ReasonName,
    message: 'Routes and certificates are gone; something else holds this object up: see metadata.finalizers.',
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
  return {...before, phase: 'Removing', hostsLive: `0/${hosts.length}`, dnsRecords: [], hosts, conditions};
}
