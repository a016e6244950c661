/**
 * API keys: creates, parses and hashes tokens, and decides the status of a key. Pure except for the randomness of a new token.
 *
 *     dp_<namespace>.<name>_<secret><check>
 *
 * Kubernetes names contain no `_`, and namespace names no `.`, so a token names exactly one ApiKey. `secret` is 43 characters of base62
 * (256 bits). `check` is the CRC32 (IEEE) of all characters before it, in 6 characters of base62. It reveals mistyped tokens, and chance
 * matches of a secret scanner, without a lookup.
 */
import {createHash, randomInt} from 'node:crypto';
import {crc32} from 'node:zlib';
import type {ApiKeySpec, ApiKeyStatus} from '../api/api-key.ts';
import {liftBanAnnotation} from '../api/api-key.ts';
import type {ApiKey} from '../api/foreign.ts';
import {notReady} from './status/health.ts';
import type {ReasonName} from './reasons/reasons.ts';
import {reasons} from './reasons/reasons.ts';
import type {TimelessCondition} from './times.ts';
import {timestamp, withTimes} from './times.ts';

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const secretLength = 43;
const checkLength = 6;

/**
 * The shape of a token, published in docs/how-to/api-keys.md. It uses only syntax of RE2. It has no groups, because gitleaks would
 * take a group for the secret.
 */
export const tokenPattern =
  /^dp_[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?\.[a-z0-9](?:[-a-z0-9.]{0,61}[a-z0-9])?_[0-9A-Za-z]{49}$/;
/** Length of the longest token, in characters. */
export const longestToken = 3 + 63 + 1 + 63 + 1 + secretLength + checkLength;

/** The ApiKey that a token names. */
export interface KeyName {
  namespace: string;
  name: string;
}

/** A CRC32 as 6 characters of base62, the most significant first. */
function checkOf(text: string): string {
  let [rest, check] = [crc32(text), ''];
  for (let i = 0; i < checkLength; i++) {
    check = digits[rest % 62]! + check;
    rest = Math.floor(rest / 62);
  }
  return check;
}

/** A new token for the ApiKey. Throws a RangeError for names that no ApiKey can have. */
export function makeToken({namespace, name}: KeyName): string {
  // randomInt is uniform: it draws again instead of taking a remainder.
  const secret = Array.from({length: secretLength}, () => digits[randomInt(digits.length)]).join('');
  const body = `dp_${namespace}.${name}_${secret}`;
  const token = body + checkOf(body);
  if (!tokenPattern.test(token))
    throw new RangeError(
      `no ApiKey can have the name ${JSON.stringify(name)} in the namespace ${JSON.stringify(namespace)}`,
    );
  return token;
}

/**
 * Returns the ApiKey that a token names, if shape and checksum are correct. Only the hash shows whether the key has this token. Never
 * throws.
 */
export function parseToken(token: string): KeyName | undefined {
  if (token.length > longestToken || !tokenPattern.test(token)) return undefined;
  if (checkOf(token.slice(0, -checkLength)) !== token.slice(-checkLength)) return undefined;
  const [namespace = '', ...name] = token.slice('dp_'.length, token.lastIndexOf('_')).split('.');
  return {namespace, name: name.join('.')};
}

/** The stored form of a token: its SHA-256, in lower-case hex. A token has 256 random bits, so no slow hash is needed. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');

/** Facts about a key that its object does not contain. */
export interface KeyFacts {
  /** The bans of a token, by its hash: the banned network and the end of the ban (Unix seconds). Empty without bans. */
  bansOf: (hash: string) => readonly {network: string; untilSeconds: number}[];
  /** Last use of the key, ms since the epoch; undefined if this process has seen no use. */
  lastUsedMs?: number;
  /** Value of the annotation that lifts a ban, after it was applied. */
  liftedBan?: string;
}

interface KeyVerdict {
  reason: ReasonName;
  message: string;
}

const hourMs = 3_600_000;
/** A time of a spec in ms since the epoch; Infinity if the spec has none. */
export const endOf = (time: string | null | undefined): number => (time ? Date.parse(time) : Infinity);

/** Hashes of the tokens that the key's spec accepts at a time (ms since the epoch). */
export const liveHashes = ({hashes, expireTime}: ApiKeySpec, now: number): string[] =>
  endOf(expireTime) <= now ? [] : hashes.filter((h) => endOf(h.expireTime) > now).map((h) => h.sha256);

/** A key that created another key, as `spec.madeBy.keys` records it. */
type Maker = NonNullable<NonNullable<ApiKeySpec['madeBy']>['keys']>[number];

/** The key itself, then the keys that created it, nearest first. */
export const lineOf = ({metadata: {name, uid = ''}, spec: {rateLimit, madeBy}}: ApiKey): Maker[] => [
  {name, uid, ...(rateLimit && {rateLimit})},
  ...(madeBy?.keys ?? []),
];

/** End of the time in which the previous token is accepted; undefined if no previous token is accepted at `now` (ms since the epoch). */
export const previousTokenExpires = ({spec: {hashes, expireTime}}: ApiKey, now: number): string | undefined => {
  const end = Math.min(endOf(hashes[1]?.expireTime), endOf(expireTime));
  return hashes.length > 1 && end > now ? timestamp(end) : undefined;
};

/** Time at which the key expires or has expired, ms since the epoch; Infinity if it never expires. */
const expiryOf = ({hashes, expireTime}: ApiKeySpec): number =>
  Math.min(endOf(expireTime), Math.max(...hashes.map((h) => endOf(h.expireTime))));

function usable(key: ApiKey, live: readonly string[]): KeyVerdict {
  const expiry = expiryOf(key.spec);
  const until = expiry === Infinity ? '' : ` until ${timestamp(expiry)}`;
  const older = key.spec.hashes[1]?.expireTime;
  const tokens =
    live.length > 1 ? ` Its older token is accepted until ${timestamp(Math.min(endOf(older), expiry))}.` : '';
  return {reason: 'KeyUsable', message: `The key is accepted${until}.${tokens}`};
}

/** Number of networks that a message names. */
const mostNetworks = 3;

function banned(
  {metadata: {name, namespace}, spec}: ApiKey,
  bans: readonly {hash: string; network: string; untilMs: number}[],
): KeyVerdict {
  const hashes = new Set(bans.map((b) => b.hash));
  const which =
    spec.hashes.length === 1
      ? 'The key'
      : hashes.size > 1
        ? 'Both tokens of the key'
        : `The ${hashes.has(spec.hashes[0]!.sha256) ? 'newer' : 'older'} token`;
  const networks = [...new Set(bans.map((b) => b.network))].toSorted();
  const from = networks.length > mostNetworks ? `${networks.length} networks` : networks.join(', ');
  const until = timestamp(Math.max(...bans.map((b) => b.untilMs)));
  return {
    reason: 'KeyBanned',
    message:
      `${which} kept sending requests although all were refused. Banned from ${from} until ${until}. ` +
      'Make the client wait as Retry-After requires. To lift the ban, the platform ' +
      `runs: kubectl annotate apikey ${name} -n ${namespace} ${liftBanAnnotation}=$(date -u +%FT%TZ) --overwrite`,
  };
}

function explain(key: ApiKey, {bansOf}: KeyFacts, now: number): KeyVerdict {
  const live = liveHashes(key.spec, now);
  if (live.length === 0) {
    return {
      reason: 'KeyExpired',
      message:
        `The key expired at ${timestamp(expiryOf(key.spec))}: it is refused. ` +
        'Set a later expireTime, or create a new key and delete this one.',
    };
  }
  const bans = live
    .flatMap((hash) => bansOf(hash).map(({network, untilSeconds}) => ({hash, network, untilMs: untilSeconds * 1000})))
    .filter(({untilMs}) => untilMs > now);
  return bans.length > 0 ? banned(key, bans) : usable(key, live);
}

/** Decides the status of an ApiKey: whether the key is accepted, and when it was last used. Pure. */
export function decideApiKey(key: ApiKey, facts: KeyFacts, now: number): ApiKeyStatus {
  const {generation = 0} = key.metadata;
  const {lastUsedTime, lastHandledLiftBan, conditions = []} = key.status ?? {};
  const {reason, message} = explain(key, facts, now);
  const claims: TimelessCondition[] =
    reason === 'KeyUsable'
      ? [{type: 'Ready', status: 'True', reason, message}]
      : notReady(reasons[reason].health, {reason, message});
  // Another replica may have recorded a later use.
  const used = Math.max(facts.lastUsedMs ?? 0, lastUsedTime === undefined ? 0 : Date.parse(lastUsedTime));
  const lifted = facts.liftedBan ?? lastHandledLiftBan;
  return {
    observedGeneration: generation,
    ...(used > 0 && {lastUsedTime: timestamp(Math.floor(used / hourMs) * hourMs)}),
    ...(lifted !== undefined && {lastHandledLiftBan: lifted}),
    conditions: withTimes(claims, conditions, generation, now),
  };
}

/**
 * The next time at which {@link decideApiKey} changes its result without another event, ms since the epoch; undefined if there is none.
 */
export function nextChange({hashes, expireTime}: ApiKeySpec, {bansOf}: KeyFacts, now: number): number | undefined {
  const ends = [expireTime, ...hashes.map((h) => h.expireTime)].map((time) => endOf(time));
  const bans = hashes.flatMap((h) => bansOf(h.sha256).map(({untilSeconds}) => untilSeconds * 1000));
  const next = Math.min(...[...ends, ...bans].filter((t) => t > now));
  return next === Infinity ? undefined : next;
}
