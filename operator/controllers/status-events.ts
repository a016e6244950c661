/**
 * Decides which Event a new status causes, at most one. Pure. Only transitions cause Events; another wording of the same fact causes none.
 * A user who changes 500 hostnames at once must not make the API server keep 500 Events.
 */
import type {CustomDomainStatus, HostStatus} from '../api/custom-domain.ts';
import type {ProjectStatus} from '../api/project.ts';
import type {Condition} from '../api/rules.ts';
import {cut} from '../api/rules.ts';
import type {ReasonName} from '../domain/reasons/reasons.ts';
import {reasons} from '../domain/reasons/reasons.ts';
import type {EventRecord} from '../kube/writes/events.ts';

export type StatusEvent = Omit<EventRecord, 'regarding'>;

type Hosts = Pick<CustomDomainStatus, 'hosts'>;
type Conditions = Pick<ProjectStatus, 'conditions'>;

const event = (type: StatusEvent['type'], reason: string, note: string): StatusEvent => ({
  type,
  reason,
  action: 'Reconcile',
  note,
});

/** Said where not even the shortest status has room in the object. */
export const statusTooLarge = event('Warning', 'StatusTooLarge' satisfies ReasonName, reasons.StatusTooLarge.means);

const isStalled = ({reason}: HostStatus): boolean => reasons[reason as ReasonName].health === 'stalled';

/** Whether a host has a new phase, a new reason to act, or its first answer after the first check. */
function isNews(now: HostStatus, before: HostStatus | undefined): boolean {
  if (now.reason === 'CheckPending') return false;
  if (before?.phase !== now.phase || before.servedUntil !== now.servedUntil) return true;
  return before.reason !== now.reason && (isStalled(now) || before.reason === 'CheckPending');
}

/** Describes one host in an Event. */
const tale = (now: HostStatus): StatusEvent =>
  isStalled(now)
    ? event('Warning', now.reason, now.message)
    : event('Normal', now.phase === 'Live' || now.phase === 'Verified' ? now.phase : now.reason, now.message);

/** Limits for the hosts after the first one in an Event: characters of a message, and hosts named for each reason. */
const [longestFirst, mostNamed] = [500, 3];

/**
 * The Event for all changed hosts of a CustomDomain; undefined if no host has changed. The first host that needs an action is described in
 * its own words, and the others by their reason.
 */
export function eventOfDomain(before: Hosts | undefined, {hosts = []}: Hosts): StatusEvent | undefined {
  const known = new Map(before?.hosts?.map((h) => [h.hostname, h]));
  const news = hosts.filter((now) => isNews(now, known.get(now.hostname)));
  const first = news.find(isStalled) ?? news[0];
  if (!first || news.length === 1) return first && tale(first);
  const byReason = Map.groupBy(
    news.filter((h) => h !== first),
    (h) => tale(h).reason,
  );
  const others = [...byReason].map(([reason, of]) => {
    const names = of.slice(0, mostNamed).map((h) => h.hostname);
    return `${of.length} ${reason} (${[...names, ...(of.length > mostNamed ? ['...'] : [])].join(', ')})`;
  });
  return {...tale(first), note: `${cut(first.message, longestFirst)} Of other hostnames: ${others.join('; ')}.`};
}

const isRefusal = (c: Condition): boolean => c.type === 'Accepted' && c.status === 'False';

/**
 * The Event for a Project: that it is refused, or which of its conditions have become True, by the name of the last one; undefined if
 * nothing of that is new. A Stalled condition causes a Warning with its reason.
 */
export function eventOfProject(before: Conditions | undefined, {conditions = []}: Conditions): StatusEvent | undefined {
  const ending = conditions.find(isRefusal);
  if (ending && !before?.conditions?.some(isRefusal)) return event('Warning', ending.reason, ending.message);
  const news = conditions
    .filter(({type, status}) => type !== 'Reconciling' && status === 'True')
    .filter(({type}) => before?.conditions?.find((c) => c.type === type)?.status !== 'True');
  const note = news.map((c) => c.message).join(' ');
  const stalled = news.find((c) => c.type === 'Stalled');
  if (stalled) return event('Warning', stalled.reason, note);
  const last = news.at(-1);
  return last && event('Normal', last.type, note);
}

/** The Event for the condition of an Account or an ApiKey that is False with a new message. */
export function eventOfCondition(
  before: readonly Condition[] = [],
  [now]: readonly Condition[] = [],
): StatusEvent | undefined {
  return now?.status === 'False' && before[0]?.message !== now.message
    ? event('Warning', now.reason, now.message)
    : undefined;
}
