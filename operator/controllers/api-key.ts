/** ApiKey: says in status whether it is accepted and when it was last used; lifts its ban when the platform asks for it. */
import {type Condition, cut} from '../api/rules.ts';
import {type ApiKeyStatus, liftBanAnnotation} from '../api/api-key.ts';
import type {ApiKey} from '../api/foreign.ts';
import type {KeyFacts} from '../domain/api-key.ts';
import {decideApiKey, nextChange} from '../domain/api-key.ts';
import type {Cache} from '../kube/cache/cache.ts';
import type {Client} from '../kube/client/client.ts';
import type {Result} from '../kube/controller/controller.ts';
import type {EventRecorder} from '../kube/writes/events.ts';
import type {Key} from '../kube/objects.ts';
import {writeStatus} from '../kube/writes/status.ts';
import {longestLift} from '../resources/projections.ts';
import {apiKeys} from '../resources/resources.ts';
import {eventOfCondition} from './status-events.ts';

export interface ApiKeyDeps {
  client: Client;
  apiKeys: Cache<ApiKey, ApiKey>;
  /** Bans by the SHA-256 of a token, in hex. The creator of the controller enqueues the keys of a hash when its ban changes. */
  bans: {of: KeyFacts['bansOf']; lift: (hash: string) => void};
  /** When the key of this UID was last used, ms since the epoch. A use in another hour than status says must enqueue it. */
  lastUsed: (uid: string) => number | undefined;
  events: EventRecorder;
  now?: () => number;
}

/** Index of ApiKeys by the hash of each of their tokens. */
export const apiKeysByHash = {hash: (key: ApiKey) => key.spec.hashes.map((h) => h.sha256)};

/** The status of an ApiKey that this process wrote last, and the lift that it has acted on. */
interface PublishedKey {
  uid: string | undefined;
  verdict?: string;
  lift: string | undefined;
}

/**
 * Several replicas of the API write the same statuses. Each replica learns of the others' bans a little later, or not at all while their
 * store is unavailable. A replica writes a key's status only when its own knowledge of the key has changed. Otherwise replicas would
 * overwrite each other for as long as they differ. The first look at a key that was created since the start of this process is no change
 * either, unless this replica knows of a ban: another replica may have been faster to see the key and its ban.
 */
export class ApiKeyReconciler {
  readonly #deps: ApiKeyDeps;
  readonly #told = new Map<Key, PublishedKey>();
  readonly #startedAt: number;

  constructor(deps: ApiKeyDeps) {
    this.#deps = deps;
    this.#startedAt = (deps.now ?? Date.now)();
  }

  /** Brings the status of one ApiKey up to date. Throws what the API server throws; the queue tries again. */
  async reconcile(key: Key): Promise<Result> {
    const {client, apiKeys: cache, bans, lastUsed, events, now: clock = Date.now} = this.#deps;
    const apiKey = cache.get(key);
    if (!apiKey || apiKey.metadata.deletionTimestamp) {
      this.#told.delete(key);
      return 'awaitChange';
    }
    const {metadata, spec} = apiKey;
    const told = this.#toldOf(key, apiKey);
    const lift = metadata.annotations?.[liftBanAnnotation];
    const liftedBan = lift === undefined ? undefined : cut(lift, longestLift);
    if (liftedBan !== undefined && liftedBan !== told.lift) {
      told.lift = liftedBan;
      for (const {sha256} of spec.hashes) bans.lift(sha256);
    }

    const now = clock();
    const facts: KeyFacts = {
      bansOf: (hash) => bans.of(hash),
      lastUsedMs: lastUsed(metadata.uid ?? ''),
      ...(liftedBan !== undefined && {liftedBan}),
    };
    const own = decideApiKey(apiKey, facts, now);
    const verdict = verdictOf(own);
    const isNew = told.verdict === undefined && Date.parse(metadata.creationTimestamp ?? '') >= this.#startedAt;
    const isUnchanged = verdict === told.verdict || (isNew && readyOf(own)?.reason === 'KeyUsable');
    const status = isUnchanged ? lettingStand(apiKey, own) : own;
    const written = await writeStatus(client, apiKeys, apiKey, status);
    if (written) {
      cache.observe(written);
      const event = eventOfCondition(apiKey.status?.conditions, status.conditions);
      if (event) events.record({regarding: apiKey, ...event});
    }
    told.verdict = verdict;
    const next = nextChange(spec, facts, now);
    return next === undefined ? 'awaitChange' : {requeueAfterMs: next - now};
  }

  /** Each value of the annotation lifts a ban once in each process. Status records the value, so that a restart lifts nothing again. */
  #toldOf(key: Key, {metadata: {uid}, status}: ApiKey): PublishedKey {
    const before = this.#told.get(key);
    if (before && before.uid === uid) return before;
    const told = {uid, lift: status?.lastHandledLiftBan};
    this.#told.set(key, told);
    return told;
  }
}

const readyOf = ({conditions}: ApiKeyStatus): Condition | undefined => conditions?.find((c) => c.type === 'Ready');

/** The part of a status that depends on the spec, as one string. */
const verdictOf = (status: ApiKeyStatus): string => {
  const {reason, message} = readyOf(status)!;
  return `${status.observedGeneration} ${reason} ${message}`;
};

/** The status, where another replica has said something else of bans, for the same spec: with that. */
function lettingStand({status}: ApiKey, own: ApiKeyStatus): ApiKeyStatus {
  const isOfSpec = status?.observedGeneration === own.observedGeneration;
  const isOfBans = ['KeyUsable', 'KeyBanned'].includes(readyOf(status ?? own)?.reason ?? '');
  return isOfSpec && isOfBans ? {...own, conditions: status.conditions} : own;
}
