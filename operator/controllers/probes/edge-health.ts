/**
 * The health of the edge's addresses, established by a sample of Live hostnames: a fault of one address affects every hostname, so it is
 * reported once, and no hostname has to confirm it (domain/routes/edge-watch.ts).
 *
 *   Serving --three Live hostnames fail in a row--> Failing --confirmed by later samples--> Faulty
 *      ^                                               |                                       |
 *      +------------ one probe succeeds ---------------+          three hostnames are served --+
 *
 * Every minute, a sample of three Live hostnames is probed. If all Live hostnames must be probed again, a sweep begins: after a start, and
 * when an address is added, becomes Faulty or serves again.
 */
import {at as placeOf, presentsIssued, type ExpectedLeaf} from '../../domain/routes/edge.ts';
import {edgeSweepMs} from '../../domain/routes/edge-watch.ts';
import {confirmationsIn, isConfirmed} from '../../domain/confirmations.ts';
import type {EdgeFinding, EdgeState} from '../../domain/world.ts';

/** Number of hostnames that establish a fault or its end. With fewer Live hostnames, all of them. */
const sampleSize = 3;
/** Longest time between two samples, ms. */
const longestPauseMs = 60_000;
/** Time in which all hostnames are probed after an address became Faulty or serves again, ms. */
const quickSweepMs = 600_000;

/** An address that has become Faulty, or serves again. */
export interface EdgeNews {
  /** As `address:port`. */
  edge: string;
  isFaulty: boolean;
  /** A short reason, such as `connection refused`. */
  why: string;
}

interface AddressHealth {
  /** Probes that failed since the last success, oldest first. Bounded: only the samples of a series count. */
  failed: {at: number}[];
  /** Hostnames that failed since the last success, and hostnames that were served since the last failure. */
  failing: Set<string>;
  serving: Set<string>;
  isFaulty: boolean;
  why: string;
}

export interface EdgeHealthOptions {
  /** The current addresses, as `address:port`. */
  addresses: () => readonly string[];
  /** Probes this number of Live hostnames now, chosen at random. Returns the number of Live hostnames. */
  sample: (count: number) => number;
  /** {@link Policy.edgeConfirmationsMs}. */
  confirmationsMs: readonly number[];
  report: (news: EdgeNews) => void;
  now?: () => number;
}

export class EdgeHealth {
  readonly #options: EdgeHealthOptions;
  readonly #addresses = new Map<string, AddressHealth>();
  readonly #handlers: (() => void)[] = [];
  #state: EdgeState = {sweep: {since: 0, withinMs: 0}, faulty: new Set()};
  #isBegun = false;
  /** Number of Live hostnames at the last sample. */
  #live = Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: EdgeHealthOptions) {
    this.#options = options;
  }

  /** The state for decisions; the same object until it changes. Undefined before {@link begin}. */
  get state(): EdgeState | undefined {
    return this.#isBegun ? this.#state : undefined;
  }

  /** Calls the handler when a sweep begins. */
  onChange(handler: () => void): void {
    this.#handlers.push(handler);
  }

  /** Whether each current address serves the sampled hostnames. */
  *serving(): Iterable<[edge: string, serves: boolean]> {
    for (const [edge, health] of this.#addresses) yield [edge, !this.#isFailing(health) && !health.isFaulty];
  }

  begin(): void {
    this.#isBegun = true;
    for (const edge of this.#options.addresses()) this.#addresses.set(edge, newHealth());
    this.#sweep(edgeSweepMs);
    const [first = longestPauseMs] = this.#options.confirmationsMs;
    this.#timer = setInterval(() => this.check(), Math.min(first, longestPauseMs));
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Follows the addresses, and probes a sample. */
  check(): void {
    const current = new Set(this.#options.addresses());
    const removed = [...this.#addresses.keys()].filter((edge) => !current.has(edge));
    const added = [...current].filter((edge) => !this.#addresses.has(edge));
    for (const edge of removed) this.#addresses.delete(edge);
    for (const edge of added) this.#addresses.set(edge, newHealth());
    if (removed.some((edge) => this.#state.faulty.has(edge))) this.#sweep(this.#quickSweepMs);
    // The addresses of a load balancer may change all the time: one sweep is enough.
    const {since, withinMs} = this.#state.sweep;
    if (added.length > 0 && this.#now() >= since + withinMs) this.#sweep(edgeSweepMs);
    this.#live = this.#options.sample(sampleSize);
    if (this.#live === 0) this.#forget();
  }

  /** Notes an edge probe of a Live hostname. `at`: its start, ms since the epoch. */
  note(leaf: ExpectedLeaf, findings: readonly EdgeFinding[], at: number): void {
    for (const finding of findings) {
      const health = this.#addresses.get(placeOf(finding));
      if (!health) continue;
      if (presentsIssued(finding, leaf)) this.#served(placeOf(finding), health, leaf.hostname);
      else this.#failed(health, leaf.hostname, finding, at);
    }
  }

  #served(edge: string, health: AddressHealth, hostname: string): void {
    [health.failed, health.failing] = [[], new Set()];
    if (!health.isFaulty) return;
    health.serving.add(hostname);
    if (health.serving.size < this.#needed()) return;
    health.isFaulty = false;
    this.#become(edge, health);
  }

  #failed(health: AddressHealth, hostname: string, finding: EdgeFinding, at: number): void {
    health.serving.clear();
    if (!this.#isFailing(health)) health.failing.add(hostname);
    health.why = finding.unreachable ?? 'presents another certificate';
    // One failure says nothing about an address: its hostname may be the cause.
    if (health.isFaulty || !this.#isFailing(health)) return;
    const {confirmationsMs} = this.#options;
    const counted = confirmationsIn(health.failed, confirmationsMs);
    const due = counted ? counted.since + (confirmationsMs[counted.confirmed] ?? 0) : -Infinity;
    if (at >= due) health.failed.push({at});
    if (!isConfirmed(confirmationsIn(health.failed, confirmationsMs)!, confirmationsMs)) return;
    health.isFaulty = true;
    this.#become(placeOf(finding), health);
  }

  /** Without a Live hostname, nothing is known about the addresses. */
  #forget(): void {
    for (const edge of this.#addresses.keys()) this.#addresses.set(edge, newHealth());
    this.#state = {...this.#state, faulty: new Set()};
  }

  #become(edge: string, {isFaulty, why}: AddressHealth): void {
    this.#sweep(this.#quickSweepMs);
    this.#options.report({edge, isFaulty, why});
  }

  #sweep(withinMs: number): void {
    this.#state = {sweep: {since: this.#now(), withinMs}, faulty: new Set(this.#faulty())};
    for (const handler of this.#handlers) handler();
  }

  #faulty(): string[] {
    return [...this.#addresses].flatMap(([edge, {isFaulty}]) => (isFaulty ? edge : []));
  }

  get #quickSweepMs(): number {
    return Math.min(quickSweepMs, this.#options.confirmationsMs.at(-1)!);
  }

  #needed(): number {
    return Math.max(1, Math.min(sampleSize, this.#live));
  }

  #isFailing({failing}: AddressHealth): boolean {
    return failing.size >= this.#needed();
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}

const newHealth = (): AddressHealth => ({
  failed: [],
  failing: new Set(),
  serving: new Set(),
  isFaulty: false,
  why: '',
});
