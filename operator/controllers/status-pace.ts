/** Debounces the status of a CustomDomain, so that hundreds of hostnames cause few writes. */
import type {CustomDomain} from '../api/foreign.ts';
import {isAboutEdge, isMomentary} from '../domain/status/publishing.ts';
import {Rate} from '../dns/rate.ts';
import type {Decision} from '../domain/world.ts';
import {isDeepEqual} from '../kube/equality.ts';
import {type Key, keyOf} from '../kube/objects.ts';

export interface Pace {
  /** A transient status is published only if it lasts this long, ms: a first DNS check, a first edge probe. */
  patienceMs: number;
  /**
   * Minimum time between two published statuses, ms for each hostname. DNS answers arrive one by one: without it, 501 hostnames cause 200
   * statuses of 300 KiB in half a minute.
   */
  retentionMs: number;
  /** Statuses a second of all objects together whose only news is about the edge. */
  edgePerSecond: number;
}

const usual: Pace = {patienceMs: 1000, retentionMs: 4, edgePerSecond: 10};

export class StatusPace {
  readonly #pace: Pace;
  /** Start of the transient status that is not published yet, by object, ms since the epoch. */
  readonly #momentary = new Map<Key, number>();
  /** End of the minimum time after a published status, by object, in the time of `performance.now()`. */
  readonly #resting = new Map<Key, number>();

  /** Turns of statuses whose only news is about the edge, by object, in the time of `performance.now()`. */
  readonly #turns = new Map<Key, number>();
  readonly #edgeRate: Rate;
  /** Time of the last turn that was used. */
  #lastTurn = -Infinity;

  constructor(pace: Partial<Pace> = {}) {
    this.#pace = {...usual, ...pace};
    this.#edgeRate = new Rate({perSecond: this.#pace.edgePerSecond, burst: 1});
  }

  /** Remaining time until a status is published, ms; 0: publish it now. `now`: ms since the epoch. */
  waits(domain: CustomDomain, plan: Pick<Decision, 'status' | 'passing'>, now: number): number {
    const key = keyOf(domain);
    if (isMomentary(domain, plan)) {
      const since = Math.min(this.#momentary.get(key) ?? now, now);
      this.#momentary.set(key, since);
      const waits = since + this.#pace.patienceMs - now;
      if (waits > 0) return waits;
    } else {
      const left = Math.ceil((this.#resting.get(key) ?? 0) - performance.now());
      if (left > 0 && !isDeepEqual(domain.status, plan.status)) return left;
    }
    this.#momentary.delete(key);
    return this.#untilTurn(key, domain, plan);
  }

  /** Remaining time until the turn of a status whose only news is about the edge, ms; 0 for all others. */
  #untilTurn(key: Key, domain: CustomDomain, plan: Pick<Decision, 'status' | 'passing'>): number {
    if (isDeepEqual(domain.status, plan.status) || !isAboutEdge(domain, plan)) {
      this.#turns.delete(key);
      return 0;
    }
    const now = performance.now();
    let turn = this.#turns.get(key) ?? this.#edgeRate.next('edge', now);
    // A process that was busy meets many turns at once: all but one get another turn.
    if (turn <= now && now < this.#lastTurn + 1000 / this.#pace.edgePerSecond) turn = this.#edgeRate.next('edge', now);
    this.#turns.set(key, turn);
    if (turn > now) return Math.ceil(turn - now);
    this.#lastTurn = now;
    return 0;
  }

  /** Notes that a status was published now. */
  published(domain: CustomDomain): void {
    this.#turns.delete(keyOf(domain));
    this.#resting.set(keyOf(domain), performance.now() + this.#pace.retentionMs * (domain.status?.hosts?.length ?? 0));
  }

  forget(key: Key): void {
    this.#momentary.delete(key);
    this.#resting.delete(key);
    this.#turns.delete(key);
  }
}
