/** The published status of a CustomDomain, by hostname. */
import type {CustomDomainStatus, DnsRecordStatus, HostStatus} from '../../api/custom-domain.ts';
import {pastTime, timestamp} from '../times.ts';
import type {Hostname} from './hostname.ts';

/** The published status of one hostname. */
export interface PublishedHost {
  entry?: HostStatus;
  records: readonly DnsRecordStatus[];
}

export type PublishedHosts = ReadonlyMap<Hostname, PublishedHost>;

const pastTimes = ['since', 'addedAt', 'verifiedAt', 'liveAt'] as const;

/** A status entry with possible times of past events ({@link pastTime}). The decision publishes the corrections. */
function withPastTimes(entry: HostStatus, now: number): HostStatus {
  const ahead = pastTimes.filter((name) => pastTime(entry[name], now) !== entry[name]);
  return ahead.length === 0 ? entry : {...entry, ...Object.fromEntries(ahead.map((name) => [name, timestamp(now)]))};
}

/**
 * The hostnames of a published status. A decision reads the entry of each several times, so it makes this index once. `now`: corrects times
 * that lie in the future; by default they are as stored.
 */
export function publishedHosts(
  {hosts = [], dnsRecords = []}: Partial<CustomDomainStatus> = {},
  now = Infinity,
): PublishedHosts {
  const records = Map.groupBy(dnsRecords, ({hostname}) => hostname);
  const entries = new Map(hosts.map((entry) => [entry.hostname, withPastTimes(entry, now)]));
  return new Map(
    [...new Set([...entries.keys(), ...records.keys()])].map((hostname) => {
      const entry = entries.get(hostname);
      return [hostname, {...(entry && {entry}), records: records.get(hostname) ?? []}];
    }),
  );
}
