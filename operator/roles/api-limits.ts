/** The API's limits from the settings. */
import {join} from 'node:path';
import type {Config} from '../config.ts';
import type {BanRules} from '../limits/bans.ts';
import type {LimitsOptions, LimitsStore} from '../limits/limits.ts';
import type {AuthorizerSettings} from './authorizer-worker.ts';

/** Quota and bans outlive the process: Valkey keeps them, or a volume if there is no Valkey. */
function storeOf({
  settings: {
    api: {storage, replicas},
    valkey,
  },
  policy,
  valkeyPassword,
}: Config): LimitsStore {
  if (valkey.url === '') return {kind: 'Ledger', path: join(storage.path, 'ledger.sqlite')};
  const url = new URL(valkey.url);
  if (valkeyPassword !== undefined) url.password = encodeURIComponent(valkeyPassword);
  return {kind: 'Valkey', url: url.href, replicas, prefix: `doorplate:${policy.installation}`};
}

const banRules = ({
  enabled,
  strikes,
  refusedPerMinute,
  firstBan,
  longestBan,
}: Config['settings']['api']['bans']): Partial<BanRules> => ({
  enabled,
  strikes,
  refusedPerMinute,
  firstBanMs: firstBan,
  longestBanMs: longestBan,
});

/** Plain data. */
export function limitsOf(config: Config): Required<Pick<LimitsOptions, 'store' | 'bans' | 'journal'>> {
  const {bans, audit} = config.settings.api;
  return {
    store: storeOf(config),
    bans: banRules(bans),
    journal: {
      retentionMs: audit.retention,
      recordsPerTenant: audit.recordsPerTenant,
      bytes: audit.megabytes * 1_000_000,
    },
  };
}

/** The settings of the authorizer's thread. */
export function authorizerSettings(config: Config, ports: AuthorizerSettings['ports']): AuthorizerSettings {
  const {trustedProxies, withoutKey, perServiceAccount, requireAccount, audience} = config.settings.api;
  return {
    ports,
    trustedProxies,
    withoutKey,
    perServiceAccount,
    requireAccount,
    audience,
    logLevel: config.settings.log.level,
    logFormat: config.settings.log.format,
    limits: limitsOf(config),
    defaultPlan: config.policy.defaultPlan,
  };
}
