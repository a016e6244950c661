/** The stage of a hostname after its verification. */

import {issuerOf, isOrderOf} from '../certificates/choose-issuer.ts';
import type {HostStatus} from '../../api/custom-domain.ts';
import {moveOf} from './ordering.ts';
import {reissueOf} from './reissuing.ts';
import type {Owned, Proven} from './stages.ts';
import {tenantKey} from '../tenant.ts';
import type {IssuanceWorld} from '../certificates/issuance.ts';
import {otherUse, useOf} from '../routes/routes.ts';
import {timestamp} from '../times.ts';

/** Returns the hostname if it is verified for this tenant. */
export function prove(host: Owned): Proven | undefined {
  if (!host.isVerified) return undefined;
  const {role, before, facts, liveAt} = host;
  const wasLive = before?.phase === 'Live' && !(role === 'Primary' && redirected(before));
  const onHold = host.spared !== undefined && liveAt === undefined;
  const issuance = issuanceOf(host, wasLive);
  const move = moveOf(host, issuance, onHold);
  const changing = facts.standing?.[otherUse(useOf(role))] !== undefined && !onHold;
  const reissue = move || changing ? undefined : reissueOf(host, issuance);
  return {
    ...host,
    verifiedAt: host.verifiedAt ?? verifiedAtOf(host),
    wasLive,
    onHold,
    changing,
    redirect: redirectOf(host, wasLive),
    issuance,
    ...(move && {move}),
    ...(reissue && {reissue}),
  };
}

/** The claim's time. A time from before the hostname was added here is of an earlier verification. */
function verifiedAtOf({world, addedAt, ownership}: Owned): string {
  const {verifiedAt} = ownership.verification;
  return verifiedAt !== undefined && verifiedAt >= addedAt ? verifiedAt : timestamp(world.now);
}

/** A source that was the primary serves until its own redirect exists. */
const redirected = ({role, redirect}: HostStatus): boolean => role === 'RedirectSource' && redirect !== undefined;

/**
 * Redirects take effect once the primary is Live; until then the last redirect stays. A hostname that becomes the primary redirects until
 * the edge serves it.
 */
function redirectOf({role, primary, want, before}: Owned, wasLive: boolean): HostStatus['redirect'] {
  if (role === 'RedirectSource') return primary.live ? {to: primary.hostname, status: want.status} : before?.redirect;
  return wasLive ? undefined : before?.redirect;
}

function issuanceOf(
  {world, hostname, before, facts, ownership, records, asked, upheld}: Owned,
  wasLive: boolean,
): IssuanceWorld {
  const {verdict, grant, diagnosis, certificate} = facts;
  const issuer = issuerOf(world.policy, facts);
  return {
    now: world.now,
    hostname,
    tenant: tenantKey(world.tenant),
    policy: {budgets: issuer.budgets, issuanceStalledAfterMs: world.policy.issuanceStalledAfterMs},
    before,
    wasLive,
    orders: ownership.orders.filter((o) => isOrderOf(o, issuer, world.policy)),
    ...(grant && {grant}),
    ...(diagnosis && {diagnosis}),
    checked: {
      proven: verdict?.kind === 'Proven',
      verifies: records.every((r) => r.state === 'Found'),
      ...(upheld?.caa && {caa: upheld.caa}),
    },
    asked: world.request !== undefined && !asked && !hasBegunSince(world.request.seenAt, certificate?.attemptAt),
  };
}

/**
 * Whether a fresh attempt has begun since it was requested: one attempt is enough, however long the request stays. Objects have times in
 * whole seconds. An attempt of the same second may be the one that failed before, so it does not count.
 */
const hasBegunSince = (seenAt: number, attemptAt: string | undefined): boolean =>
  attemptAt !== undefined && Date.parse(attemptAt) >= seenAt;
