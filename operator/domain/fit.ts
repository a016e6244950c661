/**
 * How much a status says, so that it fits into its object. An object has 1.5 MiB (etcd, `--max-request-bytes`), of which the spec, the
 * managedFields and what its owner writes into its metadata take their part.
 */

import type {CustomDomainStatus, DnsRecordStatus, HostStatus} from '../api/custom-domain.ts';
import type {ProjectStatus} from '../api/project.ts';
import {cut} from '../api/rules.ts';
import {notReady} from './health.ts';
import type {ReasonName} from './reasons.ts';
import {reasons} from './reasons.ts';
import {withTimes} from './times.ts';

/** Bytes of a status: with it, 501 hostnames of the longest kind leave 128 KiB of the object to whoever writes into its metadata. */
export const longestStatus = 672 * 1024;

/** Characters of each message and of each observed record, and how many name servers are named: the first that fits. */
const lengths = [
  {message: 2048, observed: 300, nameServers: 8},
  {message: 512, observed: 100, nameServers: 2},
  {message: 256, observed: 60, nameServers: 0},
  {message: 64, observed: 20, nameServers: 0},
] as const;

const sizeOf = (status: unknown): number => Buffer.byteLength(JSON.stringify(status));

/** So many hostnames fit, whatever is said of each: five records with 16 observed ones, a message of up to three bytes a character. */
const alwaysFits = 15;

/** A status as it is, or with shorter words, or with fewer DNS records where that is still too long: those of Live hostnames go first. */
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
  const hostOf = ({zone, ...host}: HostStatus): HostStatus => ({
    ...host,
    message: cut(host.message, message),
    ...(zone && nameServers > 0 && {zone: {...zone, nameServers: zone.nameServers.slice(0, nameServers)}}),
  });
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

/** The status of an object that has no room for its status, because of what its owner has written into it. */
const tooLarge = {
  reason: 'StatusTooLarge' as const satisfies ReasonName,
  message:
    'This object is so large that its status has no room. Make it smaller: fewer or shorter labels, annotations, finalizers and redirects.',
};

/** A status without conditions counts as Current to kstatus, unless it is behind the spec. */
const unobserved = {observedGeneration: -1};

/**
 * Shorter forms of a status, for an object without room for it, the longest first. No form reports more about a hostname than the whole
 * status does. The last form is shorter than any status, so that no outdated status remains.
 */
export function shorterStatuses(
  status: CustomDomainStatus,
  before: CustomDomainStatus | undefined,
  now: number,
): CustomDomainStatus[] {
  const {observedGeneration, phase, hostsLive} = status;
  const claims = notReady(reasons[tooLarge.reason].health, tooLarge);
  const conditions = withTimes(claims, before?.conditions ?? [], observedGeneration, now);
  return [
    {...shorten(status, lengths.at(-1)!), dnsRecords: []},
    {observedGeneration, ...(phase && {phase}), ...(hostsLive !== undefined && {hostsLive}), conditions},
    unobserved,
  ];
}

/** The same for a Project: its host is kept as long as anything is, and when it ends: who fills it gains no time. */
export function shorterProjectStatuses(status: ProjectStatus): ProjectStatus[] {
  const {host, url, firstDeployTime, servedUntil} = status;
  const ending = servedUntil === undefined ? {} : {servedUntil};
  return [
    {...unobserved, host, url, ...(firstDeployTime !== undefined && {firstDeployTime}), ...ending},
    {...unobserved, ...ending},
  ];
}
