/** What CustomDomains look at outside: DNS, the edge, and what cert-manager says of an attempt that is stuck. */
import type {CustomDomain} from '../../api/foreign.ts';
import type {Diagnosis} from '../../domain/certificates/diagnosis.ts';
import type {Hostname} from '../../domain/hostnames/hostname.ts';
import type {Verdict} from '../../domain/verification/method.ts';
import type {CheckedQuestion, Question} from '../../domain/verification/records.ts';
import type {EdgeFinding, Look, WatchedLeaf} from '../../domain/world.ts';
import {type Key, keyOf} from '../../kube/objects.ts';
import type {IssuanceQuestion} from './issuance-reader.ts';
import type {Observer} from './observer.ts';

/** Whether a hostname is proven. `caa`: with the CAA records, before an order. */
export interface DnsQuestion extends CheckedQuestion {
  caa: boolean;
  /** The check concerns another tenant that owns the hostname. Its result counts only after a second check with the same result. */
  rival?: true;
}

/** The certificate that the edge presents for a hostname, and, if requested, the server that answers. */
export interface EdgeQuestion {
  hostname: Hostname;
  whoAnswers: boolean;
  /** Set for a Live hostname: the leaf that the edge must present. */
  watches?: WatchedLeaf;
}

/** Key for the results of a check. The kind keeps the keys of DNS checks, edge probes and reads apart. */
type LookKey<Kind extends string> = string & {readonly kind: Kind};
type DnsKey = LookKey<'dns'>;
type EdgeKey = LookKey<'edge'>;
type IssuanceKey = LookKey<'issuance'>;

export const dnsKey = ({hostname, target, token}: Question): DnsKey => `${hostname} ${target} ${token}` as DnsKey;
export const edgeKey = (hostname: Hostname): EdgeKey => hostname as EdgeKey;
/** `attempt`: as `attemptOf` names it. */
export const issuanceKey = (hostname: Hostname, attempt: string): IssuanceKey =>
  `${hostname} ${attempt}` as IssuanceKey;

export interface Observations {
  dns: Observer<DnsQuestion, Verdict, DnsKey>;
  edge: Observer<EdgeQuestion, EdgeFinding[], EdgeKey>;
  issuance: Observer<IssuanceQuestion, Diagnosis, IssuanceKey>;
}

/** Sees to it that these looks of a tenant's CustomDomain are made in time, and forgets what is known by any other. */
export function schedule(
  {dns, edge, issuance}: Observations,
  domain: CustomDomain,
  tenant: string,
  looks: readonly Look[],
): void {
  const owner = {key: keyOf(domain), tenant};
  const kept = {dns: new Set<DnsKey>(), edge: new Set<EdgeKey>(), issuance: new Set<IssuanceKey>()};
  for (const look of looks) {
    // The results of a check that will not be repeated are kept, too.
    const isDue = look.at !== Infinity;
    if (look.what === 'dns') {
      const key = dnsKey(look.question);
      kept.dns.add(key);
      const {question, caa = false, rival, owned} = look;
      if (isDue) dns.due(owner, key, {...question, caa, ...(rival && {rival}), ...(owned && {owned})}, look.at);
      else dns.keep(owner.key, key);
    } else if (look.what === 'edge') {
      const key = edgeKey(look.hostname);
      kept.edge.add(key);
      const {hostname, whoAnswers, watches} = look;
      if (isDue) edge.due(owner, key, {hostname, whoAnswers, ...(watches && {watches})}, look.at);
      else edge.keep(owner.key, key);
    } else {
      const key = issuanceKey(look.hostname, look.attempt.id);
      kept.issuance.add(key);
      if (isDue) issuance.due(owner, key, {...look.attempt, owner: domain.metadata.uid ?? ''}, look.at);
      else issuance.keep(owner.key, key);
    }
  }
  dns.forget(owner.key, kept.dns);
  edge.forget(owner.key, kept.edge);
  issuance.forget(owner.key, kept.issuance);
}

/** Forgets all that was seen for a CustomDomain. */
export function forget({dns, edge, issuance}: Observations, owner: Key): void {
  for (const observer of [dns, edge, issuance]) observer.forget(owner);
}
