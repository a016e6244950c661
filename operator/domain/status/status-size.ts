/**
 * Shortens a status so that it fits into its object. An object has at most 1.5 MiB (etcd, `--max-request-bytes`). The spec, the
 * managedFields and the owner's metadata share this space.
 */

import type {CustomDomainStatus, DnsRecordStatus, HostStatus} from '../../api/custom-domain.ts';
import type {ProjectStatus} from '../../api/project.ts';
import {cut} from '../../api/rules.ts';
import {shortDetails} from './details.ts';
import {notReady} from './health.ts';
import type {ReasonName} from '../reasons/reasons.ts';
import {reasons} from '../reasons/reasons.ts';
import {withTimes} from '../times.ts';

/** Bytes of a status. With this limit, 501 hostnames of the longest kind leave 128 KiB of the object for the owner's metadata. */
export const longestStatus = 672 * 1024;

/**
 * Characters of each message and each observed record, and the number of name servers. Longer details are dropped, and all of them without
 * name servers. The first entry that fits is used.
 */
const lengths = [
  {message: 2048, observed: 300, nameServers: 8},
  {message: 512, observed: 100, nameServers: 2},
  {message: 256, observed: 60, nameServers: 0},
  {message: 64, observed: 20, nameServers: 0},
] as const;

const sizeOf = (status: unknown): number => Buffer.byteLength(JSON.stringify(status));

/** So many hostnames always fit, each with five records of 16 observed values and a message of up to three bytes per character. */
const alwaysFits = 15;

/** Returns the status, with shorter texts if needed. If it is still too long, DNS records are dropped, those of Live hostnames first. */
export function fit(status: CustomDomainStatus): CustomDomainStatus {
  if ((status.hosts?.length ?? 0) <= alwaysFits) return status;
  for (const each of lengths) {
    const shorter = shorten(status, each);
    if (sizeOf(shorter) <= longestStatus) return shorter;
  }
  const shortest = shorten(status, lengths.at(-1)!);
  const {dnsRecords = [], ...rest} = shortest;
  const live = new Set(status.hosts?.filter((h) => h.phase === 'Live').map((h) => h.hostname));
  const kept = new Set<DnsRecordStatus>();
  let size = sizeOf({...rest, dnsRecords: []});
  for (const record of [
    ...dnsRecords.filter((r) => !live.has(r.hostname)),
    ...dnsRecords.filter((r) => live.has(r.hostname)),
  ]) {
    size += sizeOf(record) + 1;
    if (size > longestStatus) break;
    kept.add(record);
  }
  return {...shortest, dnsRecords: dnsRecords.filter((record) => kept.has(record))};
}

function shorten(
  status: CustomDomainStatus,
  {message, observed, nameServers}: (typeof lengths)[number],
): CustomDomainStatus {
  const hostOf = ({zone, details: all, ...host}: HostStatus): HostStatus => {
    const details = all && nameServers > 0 ? shortDetails(all, observed) : undefined;
    return {
      ...host,
      message: cut(host.message, message),
      ...(details && {details}),
      ...(zone && nameServers > 0 && {zone: {...zone, nameServers: zone.nameServers.slice(0, nameServers)}}),
    };
  };
  return {
    ...status,
    ...(status.hosts && {hosts: status.hosts.map(hostOf)}),
    ...(status.dnsRecords && {
      dnsRecords: status.dnsRecords.map((r) => ({
        ...r,
        ...(r.observed && {observed: r.observed.map((o) => cut(o, observed))}),
      })),
    }),
  };
}

/** Reported for an object whose status has no room, because its owner has filled the object. */
const tooLarge = {
  reason: 'StatusTooLarge' as const satisfies ReasonName,
  message:
    'This object is so large that its status does not fit. Reduce or shorten its labels, annotations, finalizers and redirects.',
};

/** kstatus treats a status without conditions as Current, unless its observedGeneration is behind the spec. */
const unobserved = {observedGeneration: -1};

/**
 * Statuses to write if an object has no room for the full status, longest first. None reports more about a hostname than the full status.
 * The last one is shorter than any other status, so that no outdated state remains.
 */
export function shorterStatuses(
  status: CustomDomainStatus,
  before: CustomDomainStatus | undefined,
  now: number,
): CustomDomainStatus[] {
  const {observedGeneration, phase, hostsLive, attachedHostnames, liveHostnames} = status;
  const claims = notReady(reasons[tooLarge.reason].health, tooLarge);
  const conditions = withTimes(claims, before?.conditions ?? [], observedGeneration, now);
  return [
    {...shorten(status, lengths.at(-1)!), dnsRecords: []},
    {
      observedGeneration,
      ...(phase && {phase}),
      ...(hostsLive !== undefined && {hostsLive}),
      ...(attachedHostnames !== undefined && {attachedHostnames, liveHostnames}),
      conditions,
    },
    unobserved,
  ];
}

/**
 * The same for a Project. All of them keep `servedUntil`, so that a tenant gains no time by filling the object. The hostname is kept if
 * possible.
 */
export function shorterProjectStatuses(status: ProjectStatus): ProjectStatus[] {
  const {host, url, firstDeployTime, servedUntil} = status;
  const ending = servedUntil === undefined ? {} : {servedUntil};
  return [
    {...unobserved, host, url, ...(firstDeployTime !== undefined && {firstDeployTime}), ...ending},
    {...unobserved, ...ending},
  ];
}
