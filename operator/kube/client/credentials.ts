import type {RequestOptions} from 'node:https';
import {existsSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import type {ConnectionOptions} from 'node:tls';
import {join} from 'node:path';
import type {KubeConfig} from '@kubernetes/client-node';
import {proxyFor, proxyUrl} from './proxy.ts';

/** Current TLS options and headers for connections and requests. Certificates and tokens rotate. */
export interface Secrets {
  tls: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized' | 'servername'>;
  /** A header with several values is sent once for each. */
  headers: Record<string, string | string[]>;
}

/** The user in whose name requests are sent (https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/). */
export interface Impersonation {
  user: string;
  groups: readonly string[];
}

export interface Credentials {
  /** The API server's URL, a path prefix allowed. */
  server: string;
  /** Proxy in front of the server; a direct connection by default. */
  proxy?: URL;
  /** Reads files again, and runs a credential plugin when its last result has expired. With `refused`, the plugin always runs. */
  read(refused?: 'refused'): Promise<Secrets>;
}

/** The credentials with the headers that ask the API server to decide as if `user` had sent the requests. */
export const impersonating = (credentials: Credentials, {user, groups}: Impersonation): Credentials => ({
  ...credentials,
  async read(refused) {
    const {tls, headers} = await credentials.read(refused);
    const asked = {'impersonate-user': user, ...(groups.length > 0 && {'impersonate-group': [...groups]})};
    return {tls, headers: {...headers, ...asked}};
  },
});

const serviceAccount = '/var/run/secrets/kubernetes.io/serviceaccount';

/** A Pod's own ServiceAccount. Each read loads the token and the CA again. Undefined when this process does not run in a Pod. */
export function inCluster(root = serviceAccount, env: NodeJS.ProcessEnv = process.env): Credentials | undefined {
  const {KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443'} = env;
  const tokenFile = join(root, 'token');
  if (host === undefined || host === '' || !existsSync(tokenFile)) return undefined;
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    server,
    proxy: proxyFor(server, env),
    async read() {
      const [token, ca] = await Promise.all([readFile(tokenFile, 'utf8'), readFile(join(root, 'ca.crt'))]);
      return {tls: {ca}, headers: {authorization: `Bearer ${token.trim()}`}};
    },
  };
}

/**
 * Credentials of a kubeconfig's current context: client certificates, tokens, token files and exec plugins. The proxy is the
 * cluster's proxy-url, or else the environment's. Throws when the context names no cluster.
 */
export function fromKubeConfig(config: KubeConfig, env: NodeJS.ProcessEnv = process.env): Credentials {
  const cluster = config.getCurrentCluster();
  if (!cluster) throw new Error(`kubeconfig: no cluster in context '${config.getCurrentContext()}'`);
  const {server, proxyUrl: own} = cluster;
  let current = config;
  return {
    server,
    proxy: own === undefined ? proxyFor(server, env) : proxyUrl(own, 'kubeconfig: proxy-url'),
    async read(refused) {
      if (refused) current = forgetful(current);
      const options: RequestOptions = {};
      await current.applyToHTTPSOptions(options);
      const {ca, cert, key, rejectUnauthorized, servername} = options;
      const headers: Record<string, string> = {};
      for (const [name, value] of Object.entries(options.headers ?? {})) headers[name.toLowerCase()] = String(value);
      if (typeof options.auth === 'string')
        headers.authorization = `Basic ${Buffer.from(options.auth).toString('base64')}`;
      const tokenFile: unknown = current.getCurrentUser()?.authProvider?.config?.tokenFile;
      if (typeof tokenFile === 'string') headers.authorization = `Bearer ${(await readFile(tokenFile, 'utf8')).trim()}`;
      return {tls: {ca, cert, key, rejectUnauthorized, servername}, headers};
    },
  };
}

/**
 * A copy of the config without remembered plugin results. A KubeConfig caches a plugin's result, permanently if it has no expiry.
 */
function forgetful(config: KubeConfig): KubeConfig {
  const {clusters, users, contexts, currentContext} = config;
  const fresh = new (config.constructor as new () => KubeConfig)();
  fresh.loadFromOptions({clusters, users, contexts, currentContext});
  return fresh;
}
