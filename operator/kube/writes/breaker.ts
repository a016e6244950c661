import type {Clock} from '../clock.ts';
import {systemClock} from '../clock.ts';
import {ApiError, isOfAll, isOfOne} from '../errors.ts';
import type {Resource} from '../objects.ts';

/** A write that fails after this time counts as hanging. The API server waits 10 s for a webhook, or up to 30 s if configured. */
const hangsAfterMs = 5_000;

interface Open {
  failure: ApiError;
  /** A trial write is in progress, to test whether writes still hang. */
  tried: boolean;
}

/**
 * A circuit breaker for writes, by kind. While writes of a kind hang until they fail, one write at a time is tried. Other writes of
 * that kind fail at once with the last error. They hold no workers or connections that other kinds need, and a slow server gets
 * fewer requests. Any answer in time, even a refusal, closes the breaker.
 */
export class Breaker {
  readonly #clock: Clock;
  readonly #open = new Map<string, Open>();

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** Throws the write's own error, or an `ApiError` with the reason why the write was not tried. */
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
  new ApiError({status, body, request: `${kind}: not tried while another write of this kind waits for an answer`});
