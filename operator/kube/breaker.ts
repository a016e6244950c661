import type {Clock} from './clock.ts';
import {systemClock} from './clock.ts';
import {ApiError, isOfAll, isOfOne} from './errors.ts';
import type {Resource} from './objects.ts';

/** A write that fails after so long has hung. The API server waits 10 s for a webhook, 30 s where it is told to. */
const hangsAfterMs = 5_000;

interface Open {
  failure: ApiError;
  /** A write is under way by which it shows whether they hang still. */
  tried: boolean;
}

/**
 * A circuit breaker for writes, by kind. While those of a kind hang until they fail, one is tried at a time, and what would have
 * waited beside it fails at once with what the last one heard: so they hold neither workers nor connections that others need, and
 * what answers slowly is not asked by everybody. Any answer that comes in time, a refusal too, lets all go on.
 */
export class Breaker {
  readonly #clock: Clock;
  readonly #open = new Map<string, Open>();

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** Throws what the write throws, or an `ApiError` that says why it was not tried. */
  async run<T>({kind, group}: Resource, write: () => Promise<T>): Promise<T> {
    const name = `${kind}.${group}`;
    const open = this.#open.get(name);
    if (open?.tried) throw notTried(kind, open.failure);
    if (open) open.tried = true;
    const began = this.#clock.now();
    try {
      const written = await write();
      this.#open.delete(name);
      return written;
    } catch (error) {
      if (isOfOne(error) && this.#clock.now() - began >= hangsAfterMs) {
        const another = this.#open.get(name);
        this.#open.set(name, {failure: error, tried: open === undefined && another?.tried === true});
      } else if (!isOfAll(error)) this.#open.delete(name);
      else if (open) open.tried = false;
      throw error;
    }
  }
}

const notTried = (kind: string, {status, body}: ApiError): ApiError =>
  new ApiError({status, body, request: `${kind}: not tried while another write of one hangs`});
