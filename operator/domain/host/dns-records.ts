/** The DNS records of a hostname in status: the records that the customer must create, and their state. */

import type {DnsRecordStatus, ZoneStatus} from '../../api/custom-domain.ts';
import type {Hostname} from '../hostnames/hostname.ts';
import {isApexByName} from '../hostnames/hostname.ts';
import type {Verdict} from '../verification/method.ts';
import {mayBeVerified} from '../verification/method.ts';
import {recordsFor} from '../verification/methods.ts';
import type {DnsRecord, RecordPlace, Proof, Question} from '../verification/records.ts';
import type {DecisionWorld} from '../world.ts';

/**
 * The records that the customer must create, each with its observed state: from the newest verdict, or else from status. `verifiedBy`: the
 * method that verified the hostname. Without a verdict its records are needed.
 */
export function recordsOf(
  world: DecisionWorld,
  question: Question,
  verdict: Verdict | undefined,
  verifiedBy: Proof | undefined,
): DnsRecordStatus[] {
  const {hostname} = question;
  const prior = priorRecords(world, hostname);
  const place = placeOf(world, hostname, verdict);
  const recordsBy = (method?: Proof) => recordsFor(question, place, world.policy, method);
  return recordsBy(verdict ? provableBy(verdict) : (verifiedBy ?? listedBefore(prior, recordsBy))).map(
    ({type, name, zone, value, ttl, note}): DnsRecordStatus => {
      const before =
        prior.find((r) => r.type === type && r.value === value) ??
        prior.find((r) => (r.type === 'TXT') === (type === 'TXT'));
      const seen =
        verdict?.kind === 'Proven'
          ? {state: 'Found' as const, observed: []}
          : verdict?.kind === 'Refuted'
            ? type === 'TXT'
              ? (verdict.txt ?? {state: 'Unknown' as const, observed: []})
              : verdict
            : verdict
              ? {state: 'Unknown' as const, observed: []}
              : // Before the first check, and where what is known stands.
                {state: before?.state ?? 'Unknown', observed: before?.observed ?? []};
      return {
        hostname,
        type,
        name,
        zone,
        value,
        ttl,
        ...(note !== undefined && {note}),
        state: seen.state,
        ...(seen.observed.length > 0 && {observed: seen.observed}),
      };
    },
  );
}

/** The method that verifies the hostname, or may verify it; undefined: the usual method for its place. */
function provableBy(verdict: Verdict): Proof | undefined {
  if (verdict.kind === 'Proven') return verdict.by;
  // A TXT below a name that a wildcard answers for would end the wildcard: first the name's own record.
  return mayBeVerified(verdict) && verdict.wildcard === undefined ? 'TXT' : undefined;
}

/**
 * The method whose records status lists already; undefined: none. The list of an unverified hostname stays until a check changes it. The
 * list does not show which method verified a hostname.
 */
function listedBefore(
  prior: readonly DnsRecordStatus[],
  recordsBy: (method: Proof) => readonly DnsRecord[],
): Proof | undefined {
  if (prior.some((r) => r.type === 'TXT')) return 'TXT';
  const [listed] = prior;
  return (['CNAME', 'Addresses'] as const).find((method) => {
    const [record] = recordsBy(method);
    return record?.type === listed?.type && record?.note === listed?.note;
  });
}

/** The place at which a hostname's records are created: from the newest verdict, from earlier records, or from the name. */
export function placeOf(world: DecisionWorld, hostname: Hostname, verdict: Verdict | undefined): RecordPlace {
  const zone = zoneOf(world.published.get(hostname)?.entry?.zone, verdict);
  const prior = priorRecords(world, hostname);
  const apex = zone ? zone.name === hostname : (verdict?.apex ?? wasApex(prior) ?? isApexByName(hostname));
  const noCname = !apex && (verdict?.kind === 'Refuted' ? verdict.noCname : hadNoCname(prior));
  return {apex, ...(noCname && {noCname}), ...(zone && {zone})};
}

/** Whether the listed records are those of a subdomain that cannot have a CNAME. After verification the list stays the same. */
const hadNoCname = (records: readonly DnsRecordStatus[]): true | undefined =>
  records.some(({type, name}) => type !== 'TXT' && type !== 'CNAME' && name !== '@') || undefined;

/** Whether records are those of an apex; undefined: they do not tell. A CNAME alone may be either's. */
function wasApex(records: readonly DnsRecordStatus[]): boolean | undefined {
  const inPlaceOfCname = records.find((r) => r.type !== 'TXT' && r.type !== 'CNAME');
  if (inPlaceOfCname) return inPlaceOfCname.name === '@';
  return records.length > 1 ? false : undefined;
}

/** The zone as it was found, or as it was told before while nobody knows. */
export const zoneOf = (before: ZoneStatus | undefined, verdict: Verdict | undefined): ZoneStatus | undefined =>
  verdict === undefined || verdict.kind === 'Unknown' ? (verdict?.zone ?? before) : verdict.zone;

/**
 * Whether two findings describe the same zone: one name, one provider, and a common server. Status changes only if they differ. If the
 * parent and the zone list different servers, the servers that are found depend on the server that was asked.
 */
export const isAlike = (one: ZoneStatus, other: ZoneStatus) =>
  one.name === other.name &&
  one.provider === other.provider &&
  one.nameServers.some((server) => other.nameServers.includes(server));

const priorRecords = ({published}: DecisionWorld, hostname: Hostname) => published.get(hostname)?.records ?? [];
