/** The gate of the API and of the authorizer, each with the limits of its own thread. */
import type {Tenants} from '../controllers/tenants.ts';
import {Gate, type GateDeps} from '../http/gate.ts';
import type {Limits} from '../limits/limits.ts';
import type {Quota} from '../limits/verdict.ts';

type Given = Pick<
  GateDeps,
  'findKey' | 'now' | 'used' | 'refused' | 'letThrough' | 'serviceAccounts' | 'sessions' | 'pageOrigin'
>;

interface Sources extends Given {
  limits: Pick<Limits, 'limiter' | 'addresses' | 'bans'>;
  tenants: Tenants;
  settings: {withoutKey: Quota; perServiceAccount: Quota; requireAccount: boolean};
}

export const makeGate = ({limits, tenants, settings, ...given}: Sources): Gate =>
  new Gate({
    ...given,
    limiter: limits.limiter,
    // Of this thread alone: a proxy names the addresses that it asks for, and these are not the ones that ask the API itself.
    local: limits.addresses,
    bans: limits.bans,
    tenantOf: (namespace) => tenants.of(namespace),
    addressQuota: settings.withoutKey,
    serviceAccountQuota: settings.perServiceAccount,
    requireAccount: settings.requireAccount,
  });
