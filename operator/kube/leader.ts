import {randomBytes} from 'node:crypto';
import type {Logger} from 'pino';
import {backoffMs} from './backoff.ts';
import type {Client} from './client.ts';
import {type Clock, sleep, systemClock} from './clock.ts';
import {isDeepEqual} from './equality.ts';
import {isAlreadyExists, isConflict, isNotFound, retryAfterMs} from './errors.ts';
import {type ElectionTimes, electionTimes, type Lease, leases} from './lease.ts';
import type {KitMetrics} from './metrics.ts';
import {microTime} from './objects.ts';

export interface ElectorOptions {
  /** With connections of its own, see `Client.apart`: a renewal never waits behind other requests. */
  client: Client;
  namespace: string;
  /** Of the Lease. */
  name: string;
  /** A single incarnation of a Pod, for example its name in a Deployment, or its UID. It contains no '_'. */
  instance: string;
  metrics: KitMetrics;
  log: Logger;
  times?: Partial<ElectionTimes>;
  clock?: Clock;
  /** Clock for the times in the lease that people read. It decides nothing. */
  now?: () => Date;
}

/** This process does not lead: it must not write. */
export class NotLeadingError extends Error {
  override readonly name = 'NotLeadingError';
}

/**
 * One of many processes leads: the one that holds a Lease. After client-go's `leaderelection.go`.
 *
 *                   the lease is free, or of this very Pod: written                released
 *   Candidate ------------------------------------------------------> Leading -----------------> Over
 *     ^   |                                                            ^   |                      ^
 *     +---+ looks after 1/4 to 1/2 of the retry period       renewed   +---+   not renewed within |
 *                                                  every retry period      |   the deadline, or   |
 *                                                                          |   somebody else's    |
 *                                                                          +------- lost ---------+
 *
 * Guarantees, as long as clocks run at about the same speed:
 * - Nobody's clock is compared with ours: a lease is free when *we* have not seen its record change for its duration, on a
 *   monotonic clock, or when it names no holder.
 * - A leader counts from the moment at which it *sent* its last successful renewal. No candidate can have begun to count
 *   earlier; the renew deadline is shorter than the duration; so whoever asks `assertLeading` before each write has stopped
 *   before the next leader starts, however long the process was stopped in between (SIGSTOP, a frozen node).
 * - Each write to the lease carries its resourceVersion: of two candidates one gets it.
 * - It never leads twice: once lost, the process must end.
 *
 * Caveats: a write that had begun before is not called back: resourceVersions and uids in writes catch it. A machine that is
 * suspended as a whole stops this clock too.
 *
 * The identity consists of the instance and random bytes. A lease of the same instance is taken at once, so that a container that was
 * killed and restarted in its Pod does not wait for itself. An instance must therefore never run twice at the same time; the kubelet
 * ensures that within a Pod.
 */
export class Elector {
  readonly identity: string;
  /** Resolves with the reason when leadership was lost; a release is no loss. */
  readonly lost: Promise<Error>;
  readonly #options: ElectorOptions;
  readonly #times: ElectionTimes;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #key: string;
  readonly #over = new AbortController();
  #loseWith: (reason: Error) => void = () => {};
  #phase: 'Candidate' | 'Leading' | 'Over' = 'Candidate';
  /** When the last request was sent that made or renewed our lease. */
  #provenAt = -Infinity;
  /** The lease as it was read or written last, and since when its record has looked so. */
  #seen: {lease: Lease; since: number} | undefined;
  /** Whose leadership was logged last. */
  #told: string | undefined;
  #renewals: Promise<void> = Promise.resolve();

  /** Throws RangeError when the times can't work: lease duration > renew deadline > 1.2 retry periods > 0. */
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

  /** Whether a write may go out now. */
  get isLeading(): boolean {
    return this.#phase === 'Leading' && this.#leftMs > 0;
  }

  /** Throws NotLeadingError unless this process leads at this moment. Costs nothing; ask before each write. */
  assertLeading(): void {
    if (this.isLeading) return;
    if (this.#phase === 'Leading') this.#lose('this process stood still past its renew deadline');
    throw new NotLeadingError(`${this.identity} does not lead (${this.#key})`);
  }

  /** Resolves with true when this process leads, and renews from then on; with false when the signal aborted before. Once only. */
  async campaign(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted && this.#phase === 'Candidate') {
      let waitMs = 0;
      try {
        if (await this.#within(this.#times.renewDeadlineMs / 2, (inTime) => this.#stand(inTime))) return this.#lead();
      } catch (error) {
        waitMs = retryAfterMs(error) ?? 0;
        this.#log.warn({err: error}, 'could not stand for election');
      }
      // Not later than the lease expires: whoever looks first after that leads.
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
   * Gives the lease back, so that another process leads within its retry period. Only after the last write: from now on none goes
   * out. When that fails, the others wait for the lease to expire. Never throws.
   */
  async release(): Promise<void> {
    const mayRelease = this.isLeading;
    this.#end();
    if (!mayRelease) return;
    // A renewal on its way would make our resourceVersion stale.
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
      this.#log.warn({err: error}, 'the lease could not be released: it has to expire');
    }
  }

  /** One look as a candidate: takes the lease when it is free. Whether we have it now. */
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

  /** Whether the write made the lease ours. Somebody who was faster is no error; an answer that comes too late is none at all. */
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

  /** Renews until it is over. */
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
        // Waits as long as the server asks for, but leaves time for one more attempt.
        waitMs = Math.max(this.#soon(), Math.min(retryAfterMs(error) ?? 0, this.#leftMs / 2));
        this.#log.warn({err: error, leftMs: Math.round(this.#leftMs)}, 'the lease was not renewed');
      }
    }
  }

  /** One renewal: one request, unless somebody wrote to the lease meanwhile. */
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
    throw new Error('the lease changes faster than it can be renewed');
  }

  /** The lease as it stands, when it is ours. */
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

  /** Throws a conflict when the lease is no longer the one given. */
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

  /** How long we may go on writing without another renewal. */
  get #leftMs(): number {
    return this.#provenAt + this.#times.renewDeadlineMs - this.#clock.now();
  }

  /** When the lease expires unless it changes, by the duration that its holder wrote. */
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

  /** 1/4 to 1/2 of the retry period: two who failed together do not come back together, and a crash is seen soon. */
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

  /** Gives the work a signal that aborts after `ms`. */
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

/** Somebody wrote, made or deleted the lease since we read it. */
function isChangedMeanwhile(error: unknown): boolean {
  return isConflict(error) || isAlreadyExists(error) || isNotFound(error);
}
