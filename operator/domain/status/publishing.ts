/** Decides when a planned status is published, by comparing it with the published status. */
import {phases, type CustomDomainStatus, type HostStatus} from '../../api/custom-domain.ts';
import type {CustomDomain} from '../../api/foreign.ts';
import {publishedHosts} from '../hostnames/published.ts';
import {isEdgeFault} from '../routes/edge-watch.ts';
import type {Decision} from '../world.ts';

type PlannedStatus = Pick<Decision, 'status' | 'passing'>;

function entries({status}: CustomDomain, {hosts = []}: CustomDomainStatus): {entry: HostStatus; before?: HostStatus}[] {
  const published = publishedHosts(status);
  return hosts.map((entry) => ({entry, before: published.get(entry.hostname)?.entry}));
}

/** Whether a hostname becomes Live. Its status is published before the routes that it replaces are removed. */
export const goesLive = (domain: CustomDomain, {status}: PlannedStatus): boolean =>
  entries(domain, status).some(({entry, before}) => entry.phase === 'Live' && before?.phase !== 'Live');

/**
 * Whether a hostname becomes verified. Its status is published before its Certificate is created: after a crash the next process knows the
 * verification from status alone, and removes Certificates of unverified hostnames.
 */
export const becomesVerified = (domain: CustomDomain, {status}: PlannedStatus): boolean =>
  entries(domain, status).some(({entry, before}) => entry.verifiedAt !== undefined && before?.verifiedAt === undefined);

/** Whether every change is transient, because the next state is expected soon. A transient status is published only if it lasts. */
export function isMomentary(domain: CustomDomain, {status, passing}: PlannedStatus): boolean {
  const published = domain.status;
  if (status.lastHandledReconcileAt !== published?.lastHandledReconcileAt) return false;
  const all = entries(domain, status);
  const names = new Set(all.map(({entry}) => entry.hostname));
  if ((published?.hosts ?? []).some(({hostname}) => !names.has(hostname))) return false;
  const news = all.filter(({entry, before}) => !saysTheSame(entry, before));
  return (
    news.length > 0 && news.every(({entry, before}) => passing.includes(entry.hostname) && !fallsBack(entry, before))
  );
}

/**
 * Whether every change of a status is about the edge: a fault of one address affects every hostname, so these statuses are written at a
 * limited rate.
 */
export function isAboutEdge(domain: CustomDomain, {status}: PlannedStatus): boolean {
  const published = domain.status;
  if (status.lastHandledReconcileAt !== published?.lastHandledReconcileAt) return false;
  if (status.observedGeneration !== published?.observedGeneration) return false;
  const all = entries(domain, status);
  if (all.length !== (published?.hosts ?? []).length) return false;
  const news = all.filter(({entry, before}) => !saysTheSame(entry, before));
  // Without news, a fault has lasted so long that the hostname is Stalled.
  const faulty = news.length > 0 ? news : all.filter(({entry}) => isEdgeFault(entry.reason));
  return (
    faulty.length > 0 &&
    faulty.every(
      ({entry, before}) =>
        entry.phase === 'Live' && before?.phase === 'Live' && (isEdgeFault(entry.reason) || isEdgeFault(before.reason)),
    )
  );
}

/** Members that people and the redirector act on. */
const acted = ['role', 'phase', 'reason', 'message', 'waitingFor', 'servedUntil'] as const;
const saysTheSame = (now: HostStatus, before: HostStatus | undefined): boolean =>
  before !== undefined &&
  acted.every((member) => now[member] === before[member]) &&
  now.redirect?.to === before.redirect?.to &&
  now.redirect?.status === before.redirect?.status;

/** Whether a hostname loses its phase: it was verified or Live before. */
const fallsBack = ({phase}: HostStatus, before: HostStatus | undefined): boolean =>
  before !== undefined && phases.indexOf(phase) < phases.indexOf(before.phase);
