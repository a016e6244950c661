/**
 * When the DNS of hostnames was asked, whatever has become of the objects that named them: to remove a hostname and add it again,
 * or to move it from object to object, wins no checks that the schedule would not have made. Bounded in time and number.
 */
import type {Hostname} from '../../domain/hostnames/hostname.ts';
import type {EarlierChecks} from '../../domain/world.ts';

/** After so long without a check a hostname is new again. */
const rememberedMs = 3_600_000;
const mostRemembered = 20_000;

const keyOf = (tenant: string, hostname: Hostname) => `${tenant} ${hostname}`;

export class CheckTimes {
  /** By tenant and hostname; the most recent check is last. */
  readonly #checks = new Map<string, EarlierChecks>();
  readonly #most: number;

  /** `most`: default 20,000. */
  constructor(most = mostRemembered) {
    this.#most = most;
  }

  /** Notes a check that begins at `at` (ms since the epoch). `isFirst`: the first check of an entry in the spec. */
  note(tenant: string, hostname: Hostname, at: number, isFirst: boolean): void {
    const key = keyOf(tenant, hostname);
    const before = this.of(tenant, hostname, at);
    this.#checks.delete(key);
    this.#checks.set(
      key,
      before ? {since: before.since, last: at, anew: before.anew + (isFirst ? 1 : 0)} : {since: at, last: at, anew: 0},
    );
    for (const [oldest, {last}] of this.#checks) {
      if (this.#checks.size <= this.#most && at - last < rememberedMs) return;
      this.#checks.delete(oldest);
    }
  }

  /** The checks of a hostname for a tenant of late; undefined where there was none. */
  of(tenant: string, hostname: Hostname, now: number): EarlierChecks | undefined {
    const found = this.#checks.get(keyOf(tenant, hostname));
    return found && now - found.last < rememberedMs ? found : undefined;
  }
}
