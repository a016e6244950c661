/**
 * Bounds on changes of keys. A key makes, rotates and revokes only keys with a subset of its scopes, that expire no later, and that are
 * under its own cap. Otherwise a thief with a weak key could make a strong one.
 */
import {mostMakers} from '../../api/api-key.ts';
import type {ApiKeySpec} from '../../api/api-key.ts';
import type {ApiKey} from '../../api/foreign.ts';
import {endOf, lineOf} from '../../domain/api-key.ts';
import {timestamp} from '../../domain/times.ts';
import type {RateLimit} from '../../api/plan.ts';
import {type Actor, refuseMore} from '../gate/caller.ts';
import {Problem} from '../problems.ts';

/** A key, and the token of it that was sent (SHA-256, in hex). */
interface UsedKey {
  key: ApiKey;
  hash: string;
}

/** The key that sent the request or opened its session; undefined for service accounts, and for sessions from their links. */
function keyBehind(caller: Actor, find: (name: string) => ApiKey): UsedKey | undefined {
  if (caller.kind === 'key') return caller;
  const {key} = caller.kind === 'session' ? caller.session : {};
  return key && {key: find(key.name), hash: key.hash};
}

/** When a token of a key is refused, ms since the epoch; Infinity: never. */
const tokenEnd = ({key: {spec}, hash}: UsedKey): number =>
  Math.min(endOf(spec.expireTime), endOf(spec.hashes.find(({sha256}) => sha256 === hash)?.expireTime));

/** Whether a key comes from the one of that UID. */
export const comesFrom = ({spec: {madeBy}}: ApiKey, uid: string | undefined): boolean =>
  madeBy?.keys?.some((maker) => maker.uid === uid) ?? false;

/** The caller's name in `madeBy`. */
export const nameOf = (caller: Actor): string => {
  if (caller.kind === 'key') return `ApiKey ${caller.key.metadata.name}`;
  if (caller.kind === 'session') return 'Page';
  const [, , namespace, name] = caller.account.username.split(':');
  return `ServiceAccount ${namespace}/${name}`;
};

/** What the request asks for. `expiresMs`: Unix ms; undefined: not specified. */
interface RequestedKey {
  scopes: string[];
  expiresMs: number | undefined;
  rateLimit: RateLimit | undefined;
}

/**
 * The spec of a new key. By default it expires together with the key that creates it. Throws `scope-missing` or `exceeds-caller` if it
 * exceeds that key.
 */
export function bounded(
  caller: Actor,
  {scopes, expiresMs, rateLimit}: RequestedKey,
  find: (name: string) => ApiKey,
): Omit<ApiKeySpec, 'hashes'> {
  refuseMore(caller, scopes);
  const used = keyBehind(caller, find);
  const keys = used ? lineOf(used.key) : [];
  if (keys.length > mostMakers)
    throw new Problem(
      'exceeds-caller',
      `This key is the last of a line of ${mostMakers} makers, so it creates no keys. Create the new key with one of the makers.`,
    );
  const latest = used ? tokenEnd(used) : Infinity;
  const ends = expiresMs ?? latest;
  if (ends > latest)
    throw new Problem(
      'exceeds-caller',
      `A new key ends no later than its maker, which ends at ${timestamp(latest)}. Send an earlier \`expires\`, or none.`,
    );
  return {
    scopes,
    ...(ends !== Infinity && {expireTime: timestamp(ends)}),
    ...(rateLimit && {rateLimit}),
    madeBy: {by: nameOf(caller), ...(keys.length > 0 && {keys})},
  };
}

const cappedBy = (key: ApiKey): string[] => lineOf(key).flatMap(({uid, rateLimit}) => (rateLimit ? [uid] : []));

/** Throws `scope-missing` or `exceeds-caller` if the key exceeds the caller. */
function refuseStronger(caller: Actor, key: ApiKey, used: UsedKey | undefined): void {
  refuseMore(caller, key.spec.scopes);
  if (!used) return;
  const {name} = key.metadata;
  if (endOf(key.spec.expireTime) > tokenEnd(used))
    throw new Problem(
      'exceeds-caller',
      `The key ${name} expires later than the calling key. Use a key with a later end.`,
    );
  const caps = cappedBy(key);
  if (!cappedBy(used.key).every((uid) => caps.includes(uid)))
    throw new Problem(
      'exceeds-caller',
      `The calling key has a cap, and ${name} is not under it. Use a key without a cap.`,
    );
}

/** Throws if the caller may not rotate this key. */
export function refuseToRotate(caller: Actor, key: ApiKey, find: (name: string) => ApiKey): void {
  const used = keyBehind(caller, find);
  if (used?.key.metadata.uid !== key.metadata.uid) return refuseStronger(caller, key, used);
  if (used?.hash !== key.spec.hashes[0]?.sha256)
    throw new Problem(
      'exceeds-caller',
      'This is the previous token of the key. Only the newest token rotates the key: use that token.',
    );
}

/** Throws if the caller may not revoke this key. A key may always revoke itself and its descendants. */
export function refuseToRevoke(caller: Actor, key: ApiKey, find: (name: string) => ApiKey): void {
  const used = keyBehind(caller, find);
  const {uid} = used?.key.metadata ?? {};
  if (uid !== undefined && (uid === key.metadata.uid || comesFrom(key, uid))) return;
  refuseStronger(caller, key, used);
}
