/** ApiKey: says in status whether it is accepted and when it was last used; lifts its ban when the platform asks for it. */
import {cut} from '../api/rules.ts';
import {liftBanAnnotation} from '../api/api-key.ts';
import type {ApiKey} from '../api/foreign.ts';
import type {KeyFacts} from '../domain/api-key.ts';
import {decideApiKey, nextChange} from '../domain/api-key.ts';
import type {Cache} from '../kube/cache.ts';
import type {Client} from '../kube/client.ts';
import type {Result} from '../kube/controller.ts';
import type {EventRecorder} from '../kube/events.ts';
import type {Key} from '../kube/objects.ts';
import {writeStatus} from '../kube/status.ts';
import {longestLift} from './kept.ts';
import {apiKeys} from './resources.ts';
import {eventOfCondition} from './status-events.ts';

export interface ApiKeyDeps {
  client: Client;
  apiKeys: Cache<ApiKey, ApiKey>;
  /** By the SHA-256 of a token, hex. Whoever makes the controller enqueues the keys of a hash when its ban changes. */
  bans: {until: (hash: string) => number | undefined; lift: (hash: string) => void};
  /** When the key of this UID was last used, ms since the epoch. A use in another hour than status says must enqueue it. */
  lastUsed: (uid: string) => number | undefined;
  events: EventRecorder;
  now?: () => number;
}

/** Under what an ApiKey is found again: each of its tokens' hashes. */
export const apiKeysByHash = {hash: (key: ApiKey) => key.spec.hashes.map((h) => h.sha256)};

export class ApiKeyReconciler {
  readonly #deps: ApiKeyDeps;

  constructor(deps: ApiKeyDeps) {
    this.#deps = deps;
  }

  /** Brings the status of one ApiKey up to date. Throws what the API server throws; the queue tries again. */
  async reconcile(key: Key): Promise<Result> {
    const {client, apiKeys: cache, bans, lastUsed, events, now: clock = Date.now} = this.#deps;
    const apiKey = cache.get(key);
    if (!apiKey || apiKey.metadata.deletionTimestamp) return 'awaitChange';
    const {metadata, spec} = apiKey;
    // Each value lifts once: which it was stands in status, so that a restart lifts nothing anew.
    const lift = metadata.annotations?.[liftBanAnnotation];
    const liftedBan = lift === undefined ? undefined : cut(lift, longestLift);
    if (liftedBan !== undefined && liftedBan !== apiKey.status?.lastHandledLiftBan) {
      for (const {sha256} of spec.hashes) bans.lift(sha256);
    }

    const now = clock();
    const facts: KeyFacts = {
      bannedUntil: (hash) => bans.until(hash),
      lastUsedMs: lastUsed(metadata.uid ?? ''),
      ...(liftedBan !== undefined && {liftedBan}),
    };
    const status = decideApiKey(apiKey, facts, now);
    const written = await writeStatus(client, apiKeys, apiKey, status);
    if (written) {
      cache.observe(written);
      const event = eventOfCondition(apiKey.status?.conditions, status.conditions);
      if (event) events.record({regarding: apiKey, ...event});
    }
    const next = nextChange(spec, facts, now);
    return next === undefined ? 'awaitChange' : {requeueAfterMs: next - now};
  }
}
