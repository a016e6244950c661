/** The hostnames of a CustomDomain, in the order of its status. */
import {domainToUnicode} from 'node:url';
import type {HostStatus} from '../../api/custom-domain.ts';
import type {RedirectStatus} from '../../api/custom-domain-spec.ts';
import type {CustomDomain} from '../../api/foreign.ts';
import {fold} from '../../api/hostname-rules.ts';
import {acceptHostname, acceptRest, acceptWhole, strikeNewest} from './acceptance.ts';
import type {Hostname} from './hostname.ts';
import {normalise} from './hostname.ts';
import {isStopped} from './stop.ts';
import {strikeWaiting} from './waiting.ts';
import type {Refusal} from '../reasons/reasons.ts';
import {byText} from '../text.ts';
import type {DecisionWorld, Policy} from '../world.ts';

export interface NamedHost {
  hostname: Hostname;
  written: string;
  role: HostStatus['role'];
  status: RedirectStatus;
  refusal?: Refusal;
}

export interface WantedHost extends NamedHost {
  /** All refusals of the hostname; the first one counts. */
  refusals: Refusal[];
  /** Why it may not wait for verification, if it is not verified. */
  waitingRefusal?: Refusal | undefined;
}

/**
 * The hostnames of the spec: the primary first, the others by name, each with its refusal, if any. `status.hosts` is a map by hostname. A
 * second spelling of a hostname uses its written form as the key (CEL has ensured that no spelling occurs twice), or its Unicode form.
 */
export function named(domain: CustomDomain, policy: Policy): NamedHost[] {
  const entry = (written: string, role: HostStatus['role'], status: RedirectStatus): NamedHost => ({
    hostname: normalise(written) ?? fold(written),
    written,
    role,
    status,
    refusal: acceptHostname(written, policy),
  });
  const primary = entry(domain.spec.primary, 'Primary', 301);
  const out = new Map([[primary.hostname, primary]]);
  const sources = (domain.spec.redirects ?? [])
    .map((r) => entry(r.from, 'RedirectSource', r.status))
    .toSorted((a, b) =>
      a.hostname === b.hostname ? byText(fold(a.written), fold(b.written)) : byText(a.hostname, b.hostname),
    );
  for (const source of sources) {
    const twin = out.get(source.hostname);
    if (!twin) {
      out.set(source.hostname, source);
      continue;
    }
    const key = [fold(source.written), domainToUnicode(source.hostname)].find((k) => !out.has(k));
    if (key === undefined) continue;
    out.set(key, {
      ...source,
      hostname: key,
      refusal: {
        reason: 'DuplicateHostname',
        message:
          `${JSON.stringify(source.written)} is another spelling of the hostname ${JSON.stringify(twin.written)}. ` +
          'Remove one of the two spellings.',
      },
    });
  }
  return [...out.values()];
}

/** Whether a published hostname is served as a primary. The redirect of a source is published when the new primary is Live. */
const servesAsPrimary = ({role, phase, liveAt, redirect}: HostStatus): boolean =>
  liveAt !== undefined && redirect === undefined && (role !== 'RedirectSource' || phase === 'Live');

/**
 * The former primary: the hostname that was served last as primary, whatever its role is now, if the spec no longer names it. It is served
 * until the new primary is Live, unless the annotation `doorplate.dev/stop` names it. A hostname that still redirects was never the
 * primary. Without `metadata`, the annotation does not count.
 */
export function formerPrimary({
  metadata,
  spec,
  status,
}: {
  metadata?: CustomDomain['metadata'];
  spec: Pick<CustomDomain['spec'], 'primary' | 'redirects'>;
  status?: CustomDomain['status'];
}): Hostname | undefined {
  const served = status?.hosts?.filter(servesAsPrimary) ?? [];
  if (served.length === 0) return undefined;
  const names = new Set([spec.primary, ...(spec.redirects ?? []).map((r) => r.from)].map(normalise));
  const former = served.find(({hostname}) => !names.has(hostname))?.hostname;
  return former !== undefined && metadata && isStopped({metadata}, former) ? undefined : former;
}

/** The hostnames of the spec and the former primary, with all their refusals in order of precedence. */
export function wanted(world: Omit<DecisionWorld, 'now' | 'facts' | 'claims' | 'startedAt'>): WantedHost[] {
  const {domain, project, first, tenant, policy, published, waiting} = world;
  const input = {domain, project, first, tenant};
  const [whole, rest] = [acceptWhole(input), acceptRest(input)];
  const names = named(domain, policy);
  const counted = names
    .filter((n) => !n.refusal)
    .map(({hostname, role}) => ({hostname, role, before: published.get(hostname)?.entry}));
  const struck = strikeNewest(counted, tenant);
  const accepted = whole.length + rest.length > 0 ? [] : counted.filter(({hostname}) => !struck.has(hostname));
  const beyond = waiting && strikeWaiting(accepted, tenant, waiting);
  const former = formerPrimary(domain);
  return [
    ...names.map((n) => ({
      ...n,
      refusals: [...whole, n.refusal ?? [], rest, struck.get(n.hostname) ?? []].flat(),
      waitingRefusal: beyond?.get(n.hostname),
    })),
    ...(former === undefined
      ? []
      : [
          {
            hostname: former,
            written: former,
            role: 'FormerPrimary' as const,
            status: 301 as const,
            refusals: [...whole, rest].flat(),
          },
        ]),
  ];
}
