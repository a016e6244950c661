/** Makes the gate. The API and the authorizer each make one, with the limits of their thread. */
import type {Tenants} from '../controllers/state/tenants.ts';
import {Gate, type GateDeps} from '../http/gate/gate.ts';
import type {Limits} from '../limits/limits.ts';
import type {Quota} from '../limits/verdict.ts';

type Given = Pick<
  GateDeps,
  'findKey' | 'now' | 'used' | 'refused' | 'letThrough' | 'serviceAccounts' | 'sessions' | 'pageOrigin'
>;

interface GateSources extends Given {
  limits: Pick<Limits, 'limiter' | 'addresses' | 'bans'>;
  tenants: Tenants;
  settings: {withoutKey: Quota; perServiceAccount: Quota; requireAccount: boolean};
}

export const makeGate = ({limits, tenants, settings, ...given}: GateSources): Gate =>
  new Gate({
    ...given,
    limiter: limits.limiter,
    // Each thread counts addresses separately: proxies name client addresses to the authorizer, and could use up the API's pools.
    local: limits.addresses,
    bans: limits.bans,
    tenantOf: (namespace) => tenants.of(namespace),
    addressQuota: settings.withoutKey,
    serviceAccountQuota: settings.perServiceAccount,
    requireAccount: settings.requireAccount,
  });
