/** Makes, rotates and revokes API keys. A token is made here, handed out once, and kept as a hash only. */
import type {ApiKeySpec} from '../../api/api-key.ts';
import type {ApiKey} from '../../api/foreign.ts';
import {apiKeys} from '../../resources/resources.ts';
import {hashToken, makeToken, previousTokenExpires} from '../../domain/api-key.ts';
import {timestamp} from '../../domain/times.ts';
import type {Cache} from '../../kube/cache/cache.ts';
import type {Client} from '../../kube/client/client.ts';
import {isAlreadyExists, isInvalid} from '../../kube/errors.ts';
import {isDeepEqual} from '../../kube/equality.ts';
import {keyOf} from '../../kube/objects.ts';
import {apiFieldManager, ManagedElsewhere} from './managers.ts';
import {Problem} from '../problems.ts';
import type {OwnedKey} from './store.ts';

export type NewKey = Pick<ApiKeySpec, 'scopes' | 'expireTime' | 'rateLimit' | 'madeBy'>;

export class KeyWriter {
  readonly #client: Client;
  readonly #cache: Cache<OwnedKey, ApiKey>;

  constructor(p: {client: Client; keys: Cache<OwnedKey, ApiKey>}) {
    this.#client = p.client;
    this.#cache = p.keys;
  }

  /** A new key and its token; without a token where the very same key is there already. Throws `key-exists` where another is. */
  async create(namespace: string, name: string, wanted: NewKey): Promise<{key: ApiKey; token?: string}> {
    const token = makeToken({namespace, name});
    const key: ApiKey = {
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'ApiKey',
      metadata: {namespace, name},
      spec: {hashes: [{sha256: hashToken(token)}], ...wanted},
    };
    try {
      const written = await this.#client.create(apiKeys, key, {fieldManager: apiFieldManager});
      this.#cache.observe(written);
      return {key: written, token};
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    const found = await this.#client.get(apiKeys, keyOf(key));
    const same = found && isDeepEqual({...found.spec, hashes: []}, {...key.spec, hashes: []});
    if (!same)
      throw new Problem(
        'key-exists',
        `A key ${name} with other properties exists already. Choose another name, rotate that key, or revoke it first.`,
      );
    return {key: found};
  }

  /**
   * Gives the key a new token, and accepts the current one for `overlapMs` more. Throws `rotation-under-way` while an older token is
   * accepted, unless `dropPrevious`: a retry would end the token that programs still use. Throws `changed-meanwhile` after a concurrent
   * rotation.
   */
  async rotate(
    key: OwnedKey,
    {overlapMs, dropPrevious}: {overlapMs: number; dropPrevious: boolean},
    now: number,
  ): Promise<{key: ApiKey; token: string}> {
    refuseForeign(key);
    const {namespace = '', name, uid} = key.metadata;
    const until = previousTokenExpires(key, now);
    if (until !== undefined && !dropPrevious)
      throw new Problem(
        'rotation-under-way',
        `The key ${name} was rotated, and its previous token is valid until ${until}. Wait until then, or send dropPrevious: true, ` +
          'which ends that token now.',
        {until},
      );
    const token = makeToken({namespace, name});
    const [before] = key.spec.hashes;
    const hashes = [{sha256: hashToken(token)}, {...before, expireTime: timestamp(now + overlapMs)}].slice(
      0,
      overlapMs > 0 ? 2 : 1,
    );
    // Not by resourceVersion: the status of a key that is in use changes under it.
    const patch = [
      {op: 'test', path: '/metadata/uid', value: uid},
      {op: 'test', path: '/spec/hashes/0/sha256', value: before!.sha256},
      {op: 'replace', path: '/spec/hashes', value: hashes},
    ];
    const written = await this.#client
      .patch(apiKeys, keyOf(key), patch, {type: 'json', fieldManager: apiFieldManager})
      .catch((error: unknown) => {
        if (!isInvalid(error)) throw error;
        throw new Problem(
          'changed-meanwhile',
          `Another request has changed the key ${name} at the same time. Read the key, and repeat your request if it still applies.`,
        );
      });
    this.#cache.observe(written);
    return {key: written, token};
  }

  /** Refused within a second, here and in every other replica. `revoked` is called with each key at once. */
  async revoke(keys: readonly OwnedKey[], revoked: (key: OwnedKey) => void): Promise<void> {
    for (const key of keys) refuseForeign(key);
    for (const key of keys) {
      await this.#client.delete(apiKeys, keyOf(key), {uid: key.metadata.uid});
      revoked(key);
    }
  }
}

function refuseForeign({managedBy, metadata: {name}}: OwnedKey): void {
  if (managedBy === undefined) return;
  throw new ManagedElsewhere(`The key ${name}`, managedBy);
}
