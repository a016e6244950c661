import {timingSafeEqual} from 'node:crypto';
import type {ApiKey} from '../../api/foreign.ts';
import {hashToken, parseToken} from '../../domain/api-key.ts';
import {timestamp} from '../../domain/times.ts';
import type {KeyUser} from '../../limits/bans.ts';
import type {SessionCause} from '../causes.ts';
import type {ProblemName} from '../problems.ts';

/** A recognized key, and the hash that matched. */
export interface Recognised {
  key: ApiKey;
  /** SHA-256 of the token, 64 hex digits: bans go by it. */
  hash: string;
}

/** Until when a token of a key is accepted, RFC 3339: its own end or the key's. Undefined: without end. `hash`: of the token. */
export function tokenEnds({spec: {expireTime, hashes}}: ApiKey, hash: string): string | undefined {
  const ends = [expireTime, hashes.find(({sha256}) => sha256 === hash)?.expireTime].flatMap((time) =>
    time ? Date.parse(time) : [],
  );
  return ends.length > 0 ? timestamp(Math.min(...ends)) : undefined;
}

export interface NotRecognised {
  problem: Extract<
    ProblemName,
    'credentials-missing' | 'credentials-wrong' | 'key-expired' | 'session-ended' | 'account-missing'
  >;
  detail: string;
  /** Of `session-ended`. */
  cause?: SessionCause;
}

/** For a namespace without an Account if the platform requires one (`api.requireAccount`). */
export const accountMissing = (namespace: string): NotRecognised => ({
  problem: 'account-missing',
  detail: `The namespace ${namespace} belongs to no account. Ask the platform to assign it to one.`,
});

/** Whether a tenant is refused because it has no Account. */
export const lacksAccount = ({requireAccount}: {requireAccount?: boolean}, {account}: {account?: string}): boolean =>
  requireAccount === true && account === undefined;

const wrong: NotRecognised = {
  problem: 'credentials-wrong',
  detail:
    'The API key is not valid: misspelled, cut off, or revoked. Compare it with the token from its creation, or create a new key.',
};

/** As many comparisons are made whatever is found: a key has at most two hashes. */
const comparisons = 2;
const nothing = Buffer.alloc(32);

/**
 * Recognises the key of an `Authorization` header (RFC 6750). `find` looks a key up by `namespace/name`; `now` is in ms. The
 * token is hashed, and two hashes are compared in constant time, whether there is such a key or not: how long the answer takes
 * tells nobody which keys exist. `equal` compares two buffers of 32 bytes.
 */
export function recognise(
  header: string | undefined,
  find: (key: string) => ApiKey | undefined,
  now: number,
  equal: (a: Buffer, b: Buffer) => boolean = timingSafeEqual,
): Recognised | NotRecognised {
  if (header === undefined || header === '') {
    return {problem: 'credentials-missing', detail: 'Send an API key: Authorization: Bearer dp_...'};
  }
  const token = /^Bearer +(\S+)$/i.exec(header)?.[1] ?? '';
  const named = parseToken(token);
  if (!named) return wrong;
  const key = find(`${named.namespace}/${named.name}`);
  const hash = hashToken(token);
  const given = Buffer.from(hash, 'hex');
  const hashes = key?.spec.hashes ?? [];
  let found: (typeof hashes)[number] | undefined;
  for (let i = 0; i < comparisons; i++) {
    const kept = hashes[i];
    if (equal(given, kept ? Buffer.from(kept.sha256, 'hex') : nothing)) found = kept;
  }
  if (!key || !found) return wrong;
  const ended = [found.expireTime, key.spec.expireTime].find((time) => time && Date.parse(time) <= now);
  if (ended) {
    return {
      problem: 'key-expired',
      detail: `The API key expired at ${ended}. Use the newer token of this key, or create a new key.`,
    };
  }
  return {key, hash};
}

export const sessionEnded = (cause: SessionCause, detail: string): NotRecognised => ({
  problem: 'session-ended',
  detail,
  cause,
});

/** Why what this token of a key began, with these scopes of it, goes on no longer; undefined while it does. `now` is in ms. */
export function whyKeyEnded(
  {
    namespace,
    name,
    uid,
    hash,
    network,
    scopes,
  }: KeyUser & {namespace: string; name: string; uid: string; scopes: readonly string[]},
  {
    findKey,
    bannedUntil,
    now,
  }: {findKey: (key: string) => ApiKey | undefined; bannedUntil: (user: KeyUser) => number | undefined; now: number},
): NotRecognised | undefined {
  const key = findKey(`${namespace}/${name}`);
  const token = key?.metadata.uid === uid ? key.spec.hashes.find(({sha256}) => sha256 === hash) : undefined;
  if (!key || !token) return sessionEnded('KeyRevoked', 'The API key of your sign-in was revoked.');
  if ([token.expireTime, key.spec.expireTime].some((time) => time && Date.parse(time) <= now))
    return sessionEnded('KeyExpired', 'The API key of your sign-in has expired.');
  if (!scopes.every((scope) => key.spec.scopes.includes(scope)))
    return sessionEnded('KeyReduced', 'The API key of your sign-in has fewer permissions now.');
  const until = bannedUntil({hash, network});
  if (until === undefined) return undefined;
  return sessionEnded('KeyBanned', `The API key of your sign-in is banned until ${timestamp(until * 1000)}.`);
}
