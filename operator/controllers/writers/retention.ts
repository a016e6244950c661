/** Which Certificates rest when their owner needs them no more (domain/certificates/retained.ts). */
import type {Hostname} from '../../domain/hostnames/hostname.ts';
import {hostnameOf, retentionOf} from '../../domain/certificates/retained.ts';
import type {Tenant} from '../../domain/tenant.ts';
import type {Policy} from '../../domain/world.ts';
import type {Leaving} from './owned-objects.ts';
import type {Claims} from './claims.ts';

/** Retains the Certificates of a tenant's hostnames, except forfeited hostnames. `tenant` undefined: retains none. */
export const leavingFor =
  (
    {claims, policy, now = Date.now}: {claims: Pick<Claims, 'of'>; policy: Policy; now?: () => number},
    tenant: Tenant | undefined,
    {forfeited}: {forfeited: readonly Hostname[]} = {forfeited: []},
  ): Leaving =>
  (certificate) => {
    const hostname = hostnameOf(certificate);
    if (!tenant || forfeited.includes(hostname)) return undefined;
    const {quarantineTimeMs} = policy;
    return retentionOf(certificate, {now: now(), tenant, claim: claims.of(hostname), quarantineTimeMs});
  };
