import {randomBytes} from 'node:crypto';
import type {Logger} from 'pino';
import {backoffMs} from '../backoff.ts';
import type {Client} from '../client/client.ts';
import {type Clock, sleep, systemClock} from '../clock.ts';
import {isDeepEqual} from '../equality.ts';
import {isAlreadyExists, isConflict, isNotFound, retryAfterMs} from '../errors.ts';
import {type ElectionTimes, electionTimes, type Lease, leases} from './lease.ts';
import type {KitMetrics} from '../metrics.ts';
import {microTime} from '../objects.ts';

export interface ElectorOptions {
  /** A client with its own connections, see `Client.apart`: a renewal never waits behind other requests. */
  client: Client;
  namespace: string;
  /** Name of the Lease. */
  name: string;
  /** Identifies one incarnation of a Pod, such as its name in a Deployment, or its UID. Must not contain '_'. */
  instance: string;
  metrics: KitMetrics;
  log: Logger;
  times?: Partial<ElectionTimes>;
  clock?: Clock;
  /** Wall-clock time to write into the lease for people. No decision depends on it. */
  now?: () => Date;
}

/** This process is not the leader: writes are forbidden. */
export class NotLeadingError extends Error {
  override readonly name = 'NotLeadingError';
}

/**
 * Leader election: exactly one of several processes leads, the holder of a Lease. After client-go's `leaderelection.go`.
 *
 *                   the lease is free, or of this very Pod: written                released
 *   Candidate ------------------------------------------------------> Leading -----------------> Over
 *     ^   |                                                            ^   |                      ^
 *     +---+ reads after 1/4 to 1/2 of the retry period       renewed   +---+   not renewed within |
 *                                                  every retry period      |   the deadline, or   |
 *                                                                          |   held by another    |
 *                                                                          +------- lost ---------+
 *
 * Guarantees, as long as clocks run at about the same speed:
 * - Clocks of other machines are never compared with ours. A lease is free when it names no holder, or when *we* have not seen its
 *   record change for its duration, on a monotonic clock.
 * - A leader's time counts from the moment it *sent* its last successful renewal. No candidate can start counting earlier, and the
 *   renew deadline is shorter than the lease duration. A process that calls `assertLeading` before each write therefore stops
 *   before the next leader starts. This holds for any pause of the process (SIGSTOP, a frozen node).
 * - Each write to the lease carries its resourceVersion: of two candidates only one succeeds.
 * - A process never leads twice: after losing leadership it must end.
 *
 * Caveats: a write that began earlier is not cancelled; resourceVersions and uids in writes catch it. If a whole machine is
 * suspended, its monotonic clock stops too.
 *
 * The identity is the instance plus random bytes. A lease of the same instance is taken at once, so a container restarted in its
 * Pod does not wait for its own old lease. Therefore an instance must never run twice at the same time. Within a Pod, the kubelet
 * ensures that.
 */
export class Elector {
  readonly identity: string;
  /** Resolves with the reason when leadership is lost. A release does not count as a loss. */
  readonly lost: Promise<Error>;
  readonly #options: ElectorOptions;
  readonly #times: ElectionTimes;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #key: string;
  readonly #over = new AbortController();
  #loseWith: (reason: Error) => void = () => {};
  #phase: 'Candidate' | 'Leading' | 'Over' = 'Candidate';
  /** Send time of the last request that created or renewed our lease. */
  #provenAt = -Infinity;
  /** The lease as last read or written, and the time since which its record is unchanged. */
  #seen: {lease: Lease; since: number} | undefined;
  /** The leader that was logged last. */
  #told: string | undefined;
  #renewals: Promise<void> = Promise.resolve();

  /** Throws RangeError for inconsistent times. Required: lease duration > renew deadline > 1.2 retry periods > 0. */
  constructor(options: ElectorOptions) {
    const {instance, namespace, name, times, metrics, clock = systemClock, log} = options;
    this.#times = {...electionTimes, ...times};
    const {leaseDurationMs, renewDeadlineMs, retryPeriodMs} = this.#times;
    if (!(leaseDurationMs > renewDeadlineMs && renewDeadlineMs > 1.2 * retryPeriodMs && retryPeriodMs > 0)) {
      throw new RangeError(
        `election times: ${leaseDurationMs} > ${renewDeadlineMs} > 1.2 × ${retryPeriodMs} > 0 does not hold (ms)`,
      );
    }
    if (instance === '' || instance.includes('_')) throw new RangeError(`'${instance}' can't begin an identity`);
    this.#options = options;
    this.identity = `${instance}_${randomBytes(8).toString('hex')}`;
    this.#clock = clock;
    this.#key = `${namespace}/${name}`;
    this.#log = log.child({lease: this.#key, identity: this.identity});
    this.lost = new Promise((resolve) => (this.#loseWith = resolve));
    metrics.leaderElectionStatus.set({name}, 0);
  }

  /** Whether a write may be sent now. */
  get isLeading(): boolean {
    return this.#phase === 'Leading' && this.#leftMs > 0;
  }

  /** Throws NotLeadingError unless this process leads now. Sends no request; call it before each write. */
  assertLeading(): void {
    if (this.isLeading) return;
    if (this.#phase === 'Leading') this.#lose('this process was paused past its renew deadline');
    throw new NotLeadingError(`${this.identity} does not lead (${this.#key})`);
  }

  /**
   * Resolves with true when this process leads, and then renews the lease. Resolves with false if the signal aborted before. Call
   * once only.
   */
  async campaign(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted && this.#phase === 'Candidate') {
      let waitMs = 0;
      try {
        if (await this.#within(this.#times.renewDeadlineMs / 2, (inTime) => this.#stand(inTime))) return this.#lead();
      } catch (error) {
        waitMs = retryAfterMs(error) ?? 0;
        this.#log.warn({err: error}, 'could not take part in the election');
      }
      // Wait no longer than the lease is valid: the first candidate to read it after that leads.
      const freeInMs = this.#freeInMs;
      await sleep(
        Math.max(waitMs, freeInMs > 0 ? Math.min(Math.ceil(freeInMs), this.#soon()) : this.#soon()),
        signal,
        this.#clock,
      );
    }
    return false;
  }

  /**
   * Releases the lease, so that another process leads within its retry period. Call it only after the last write: no write is sent
   * from now on. If the release fails, the other processes wait until the lease expires. Never throws.
   */
  async release(): Promise<void> {
    const mayRelease = this.isLeading;
    this.#end();
    if (!mayRelease) return;
    // A renewal in progress would make our resourceVersion stale.
    await this.#renewals;
    try {
      await this.#within(this.#times.renewDeadlineMs / 2, async (inTime) => {
        const lease = await this.#ours(inTime);
        if (!lease) return;
        const spec = {...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: this.#now()};
        await this.#write(lease, spec, inTime);
        this.#log.info('leadership released');
      });
    } catch (error) {
      this.#log.warn({err: error}, 'the lease could not be released: it expires after its duration');
    }
  }

  /** One attempt as a candidate: takes the lease if it is free. Returns whether we hold it now. */
  async #stand(inTime: AbortSignal): Promise<boolean> {
    const lease = await this.#read(inTime);
    if (!lease) return this.#won(() => this.#create(inTime));
    const holder = lease.spec?.holderIdentity ?? '';
    const ofThisPod = holder.startsWith(`${this.#options.instance}_`);
    if (holder !== '' && !ofThisPod && this.#freeInMs > 0) {
      if (holder !== this.#told) this.#log.info({holder, freeInMs: Math.round(this.#freeInMs)}, 'somebody else leads');
      this.#told = holder;
      return false;
    }
    const leaseTransitions = (lease.spec?.leaseTransitions ?? 0) + 1;
    return this.#won(() => this.#write(lease, {...this.#record(), acquireTime: this.#now(), leaseTransitions}, inTime));
  }

  /**
   * Returns whether the write gave us the lease. If another process was faster, the result is false, not an error. An answer after
   * the renew deadline counts as no lease.
   */
  async #won(write: () => Promise<void>): Promise<boolean> {
    const sentAt = this.#clock.now();
    try {
      await write();
    } catch (error) {
      if (isChangedMeanwhile(error)) return false;
      throw error;
    }
    this.#provenAt = sentAt;
    return this.#leftMs > 0;
  }

  #lead(): boolean {
    if (this.#phase !== 'Candidate') return false;
    this.#phase = 'Leading';
    this.#options.metrics.leaderElectionStatus.set({name: this.#options.name}, 1);
    this.#log.info('leading');
    this.#renewals = this.#keep();
    return true;
  }

  /** Renews the lease until leadership ends. */
  async #keep(): Promise<void> {
    let waitMs = this.#times.retryPeriodMs;
    for (;;) {
      await sleep(Math.min(waitMs, this.#leftMs), this.#over.signal, this.#clock);
      if (this.#phase !== 'Leading') return;
      const leftMs = this.#leftMs;
      if (leftMs <= 0) return this.#lose('the lease was not renewed within the deadline');
      try {
        await this.#within(Math.min(leftMs, this.#times.renewDeadlineMs / 2), (inTime) => this.#renew(inTime));
        waitMs = this.#times.retryPeriodMs;
      } catch (error) {
        // Honor the server's requested wait, but keep time for one more attempt.
        waitMs = Math.max(this.#soon(), Math.min(retryAfterMs(error) ?? 0, this.#leftMs / 2));
        this.#log.warn({err: error, leftMs: Math.round(this.#leftMs)}, 'the lease was not renewed');
      }
    }
  }

  /** One renewal. It takes one request, unless another process has changed the lease. */
  async #renew(inTime: AbortSignal): Promise<void> {
    let lease: Lease | undefined = this.#seen!.lease;
    for (let attempt = 0; attempt < 3; attempt++) {
      if (this.#phase !== 'Leading') return;
      const sentAt = this.#clock.now();
      try {
        if (lease) await this.#write(lease, {...lease.spec, ...this.#record()}, inTime);
        else await this.#create(inTime);
        this.#provenAt = sentAt;
        return;
      } catch (error) {
        if (!isChangedMeanwhile(error)) throw error;
      }
      lease = await this.#read(inTime);
      const holder = lease?.spec?.holderIdentity ?? '';
      if (holder !== '' && holder !== this.identity) return this.#lose(`${holder} holds the lease`);
    }
    throw new Error('the lease changes faster than this process can renew it');
  }

  /** The current lease, if we hold it. */
  async #ours(inTime: AbortSignal): Promise<Lease | undefined> {
    const lease = await this.#read(inTime);
    return lease?.spec?.holderIdentity === this.identity ? lease : undefined;
  }

  async #read(inTime: AbortSignal): Promise<Lease | undefined> {
    const lease = await this.#options.client.get(leases, this.#key, {signal: inTime});
    if (lease) this.#note(lease);
    else this.#seen = undefined;
    return lease;
  }

  async #create(inTime: AbortSignal): Promise<void> {
    const {client, namespace, name} = this.#options;
    const spec = {...this.#record(), acquireTime: this.#now(), leaseTransitions: 0};
    const lease: Lease = {apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: {name, namespace}, spec};
    this.#note(await client.create(leases, lease, {signal: inTime}));
  }

  /** Throws a conflict when the lease has changed since it was read. */
  async #write({metadata: {uid, resourceVersion}}: Lease, spec: Lease['spec'], inTime: AbortSignal): Promise<void> {
    const patch = {metadata: {uid, resourceVersion}, spec};
    this.#note(await this.#options.client.patch(leases, this.#key, patch, {type: 'merge', signal: inTime}));
  }

  #note(lease: Lease): void {
    const same = this.#seen !== undefined && isDeepEqual(this.#seen.lease.spec, lease.spec);
    this.#seen = {lease, since: same ? this.#seen!.since : this.#clock.now()};
  }

  #record() {
    const leaseDurationSeconds = Math.ceil(this.#times.leaseDurationMs / 1000);
    return {holderIdentity: this.identity, leaseDurationSeconds, renewTime: this.#now()};
  }

  #now(): string {
    return microTime(this.#options.now?.() ?? new Date());
  }

  /** Time in ms for which we may still write without another renewal. */
  get #leftMs(): number {
    return this.#provenAt + this.#times.renewDeadlineMs - this.#clock.now();
  }

  /** Time in ms until the lease expires if it stays unchanged, according to its holder's duration. */
  get #freeInMs(): number {
    if (!this.#seen) return 0;
    const {
      lease: {spec},
      since,
    } = this.#seen;
    const durationMs =
      spec?.leaseDurationSeconds === undefined ? this.#times.leaseDurationMs : spec.leaseDurationSeconds * 1000;
    return since + durationMs - this.#clock.now();
  }

  /**
   * 1/4 to 1/2 of the retry period, in ms. Processes that failed together retry at different times, and a crash is noticed soon.
   */
  #soon(): number {
    const ms = this.#times.retryPeriodMs / 2;
    return backoffMs(1, {baseMs: ms, capMs: ms});
  }

  #lose(because: string): void {
    if (this.#phase !== 'Leading') return;
    this.#end();
    this.#log.error({because}, 'leadership lost');
    this.#loseWith(new NotLeadingError(`leadership lost: ${because} (${this.#key})`));
  }

  #end(): void {
    this.#phase = 'Over';
    this.#over.abort();
    this.#options.metrics.leaderElectionStatus.set({name: this.#options.name}, 0);
  }

  /** Runs the work with a signal that aborts after `ms`. */
  async #within<T>(ms: number, work: (inTime: AbortSignal) => Promise<T>): Promise<T> {
    const late = new AbortController();
    const timer = this.#clock.setTimeout(
      () => late.abort(new Error(`${this.#key}: no answer within ${Math.round(ms)} ms`)),
      ms,
    );
    try {
      return await work(late.signal);
    } finally {
      this.#clock.clearTimeout(timer);
    }
  }
}

/** The lease was changed, created or deleted since we read it. */
function isChangedMeanwhile(error: unknown): boolean {
  return isConflict(error) || isAlreadyExists(error) || isNotFound(error);
}
