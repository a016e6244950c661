import type {Client} from '../../operator/kube/client/client.ts';
import type {Clock} from '../../operator/kube/clock.ts';
import {ApiError, NoAnswerError} from '../../operator/kube/errors.ts';
import type {Lease} from '../../operator/kube/leader/lease.ts';
import type {VirtualClock} from './kube-clock.ts';

interface Timer {
  handle: unknown;
  cancelled: boolean;
}

/** The clock of a process that can be stopped and continued, as SIGSTOP and SIGCONT do: time goes on, its timers ring late. */
export class ProcessClock implements Clock {
  readonly #world: VirtualClock;
  #stopped = false;
  #late: {timer: Timer; run: () => void}[] = [];

  constructor(world: VirtualClock) {
    this.#world = world;
  }

  now(): number {
    return this.#world.now();
  }

  setTimeout(run: () => void, ms: number): Timer {
    const timer: Timer = {handle: undefined, cancelled: false};
    timer.handle = this.#world.setTimeout(
      () => (this.#stopped ? this.#late.push({timer, run}) : run()),
      Math.max(ms, 0),
    );
    return timer;
  }

  clearTimeout(timer: unknown): void {
    if (timer === undefined) return;
    (timer as Timer).cancelled = true;
    this.#world.clearTimeout((timer as Timer).handle);
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  stop(): void {
    this.#stopped = true;
  }

  continue(): void {
    this.#stopped = false;
    for (const {timer, run} of this.#late.splice(0)) if (!timer.cancelled) run();
  }
}

/** One Lease, served as the API server does it, on virtual time. */
export class LeaseServer {
  lease: Lease | undefined;
  /** 'down' answers nobody at once; 'mute' never answers, though a write is done. */
  mood: 'well' | 'down' | 'mute' = 'well';
  /** One way, in ms. */
  latency: () => number = () => 5;
  readonly requests: string[] = [];
  readonly #world: VirtualClock;
  #resourceVersion = 1;

  constructor(world: VirtualClock) {
    this.#world = world;
  }

  /** What somebody else writes, past all electors. */
  set(change: (lease: Lease) => void): void {
    const lease = structuredClone(this.lease!);
    change(lease);
    this.#store(lease);
  }

  /** As an elector of a process of that clock has it. */
  clientOf(clock: Clock): Client {
    const call = <T>(verb: string, signal: AbortSignal | undefined, work: () => T): Promise<T> =>
      this.#call(clock, verb, signal, work);
    return {
      get: (_: unknown, __: unknown, {signal}: {signal?: AbortSignal} = {}) =>
        call('get', signal, () => structuredClone(this.lease)),
      create: (_: unknown, lease: Lease, {signal}: {signal?: AbortSignal} = {}) =>
        call('create', signal, () => {
          if (this.lease) throw refusal(409, 'AlreadyExists');
          return this.#store({...lease, metadata: {...lease.metadata, uid: `uid-${this.#resourceVersion}`}});
        }),
      patch: (
        _: unknown,
        __: unknown,
        patch: Pick<Lease, 'metadata' | 'spec'>,
        {signal}: {signal?: AbortSignal} = {},
      ) =>
        call('patch', signal, () => {
          if (!this.lease) throw refusal(404, 'NotFound');
          const {uid, resourceVersion} = this.lease.metadata;
          if (patch.metadata.uid !== uid || patch.metadata.resourceVersion !== resourceVersion)
            throw refusal(409, 'Conflict');
          return this.#store({...this.lease, spec: {...this.lease.spec, ...patch.spec}});
        }),
    } as unknown as Client;
  }

  #store(lease: Lease): Lease {
    this.lease = structuredClone({
      ...lease,
      metadata: {...lease.metadata, resourceVersion: String(++this.#resourceVersion)},
    });
    return structuredClone(this.lease);
  }

  #call<T>(clock: Clock, verb: string, signal: AbortSignal | undefined, work: () => T): Promise<T> {
    this.requests.push(verb);
    return new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error), {once: true});
      this.#world.setTimeout(() => {
        const {mood} = this;
        const answer =
          mood === 'down'
            ? () => reject(new NoAnswerError(verb, new Error('refused')))
            : attempt(work, resolve, reject);
        // The answer meets a process that may be stopped.
        if (mood !== 'mute') clock.setTimeout(answer, this.latency());
      }, this.latency());
    });
  }
}

function attempt<T>(work: () => T, resolve: (value: T) => void, reject: (error: Error) => void): () => void {
  try {
    const value = work();
    return () => resolve(value);
  } catch (error) {
    return () => reject(error as Error);
  }
}

function refusal(status: number, reason: string): ApiError {
  return new ApiError({status, body: JSON.stringify({kind: 'Status', reason})});
}
