/** The key pairs of TLS Secrets, for the stand-in edge: what an ingress controller reads, and the operator never. */
import {execFile} from 'node:child_process';
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {Cache} from '../../operator/kube/cache/cache.ts';
import type {Client} from '../../operator/kube/client/client.ts';
import {defineResource, type HasMeta, type KubeObject} from '../../operator/kube/objects.ts';
import type {KeyPair} from '../support/stand-in-cert-manager.ts';
import type {KeyPairs} from '../support/stand-in-edge.ts';

export type Secret = KubeObject & {type: string; data: Record<string, string>};
export const secrets = defineResource<Secret>({
  group: '',
  version: 'v1',
  plural: 'secrets',
  kind: 'Secret',
  namespaced: true,
});

interface Held extends HasMeta {
  pair?: KeyPair;
}

const decoded = (text = ''): string => Buffer.from(text, 'base64').toString();

/** A key pair and a certificate that it signs itself, written to `folder`. */
export async function selfSigned(folder: string, name: string, ...extensions: string[]): Promise<KeyPair> {
  const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)];
  const kind = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 365'.split(' ');
  const files = ['-subj', `/CN=${name}`, '-keyout', key, '-out', cert];
  const added = extensions.flatMap((extension) => ['-addext', extension]);
  await promisify(execFile)('openssl', ['req', '-x509', ...kind, ...files, ...added]);
  return {key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8')};
}

export class TlsSecrets implements KeyPairs {
  readonly #cache: Cache<Held, Secret>;
  readonly #folder: string;
  readonly #stop = new AbortController();

  private constructor(client: Client, folder: string) {
    this.#folder = folder;
    this.#cache = new Cache<Held, Secret>(client, secrets, {
      project: ({metadata: {namespace, name, uid, resourceVersion}, type, data}) => ({
        metadata: {namespace, name, uid, resourceVersion},
        ...(type === 'kubernetes.io/tls' && {pair: {key: decoded(data['tls.key']), cert: decoded(data['tls.crt'])}}),
      }),
    });
  }

  /** `folder`: where it writes what it makes. */
  static async start(client: Client, folder: string): Promise<TlsSecrets> {
    const secretsOf = new TlsSecrets(client, folder);
    secretsOf.#cache.start(secretsOf.#stop.signal);
    await secretsOf.#cache.synced;
    return secretsOf;
  }

  secret(key: string): KeyPair | undefined {
    return this.#cache.get(key)?.pair;
  }

  keyPair(hostname: string): Promise<KeyPair> {
    return selfSigned(this.#folder, hostname);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#cache.stopped();
  }
}
