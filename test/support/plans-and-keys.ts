import type {ApiKey, Plan} from '../../operator/api/foreign.ts';
import {hashToken} from '../../operator/domain/api-key.ts';

/** A Plan with these limits. */
export const planOf = (
  name: string,
  rateLimit: Plan['spec']['rateLimit'],
  customDomains: Plan['spec']['customDomains'] = {allowed: false, maxHostnamesPerProject: 0},
): Plan => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'Plan',
  metadata: {name},
  spec: {rateLimit, customDomains},
});

/** An ApiKey that recognises the token; its UID is NAMESPACE-NAME. */
export const apiKeyOf = (
  namespace: string,
  name: string,
  token: string,
  spec: Partial<ApiKey['spec']> = {},
): ApiKey => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'ApiKey',
  metadata: {namespace, name, uid: `${namespace}-${name}`},
  spec: {hashes: [{sha256: hashToken(token)}], scopes: ['domains:read'], ...spec},
});
