/** How many there are of each group, and at which times: kept as they come and go, so that nobody has to walk over all of them. */
export class Tally {
  readonly #groups = new Map<string, {size: number; times: Map<number, number>}>();

  /** `groups`: those that are told of even while nobody is in them. */
  constructor(groups: Iterable<string> = []) {
    for (const group of groups) this.#group(group);
  }

  /** One more in a group (`by` 1), or one less (-1), of a time, ms since the epoch. */
  change(group: string, by: 1 | -1, time = 0): void {
    const all = this.#group(group);
    all.size += by;
    const left = (all.times.get(time) ?? 0) + by;
    if (left === 0) all.times.delete(time);
    else all.times.set(time, left);
  }

  /** Each group that anybody has ever been in, with how many are in it now. */
  *sizes(): Iterable<[group: string, size: number]> {
    for (const [group, {size}] of this.#groups) yield [group, size];
  }

  size(group: string): number {
    return this.#group(group).size;
  }

  /** The earliest time in a group; Infinity where nobody is in it. One step for each of its different times. */
  earliest(group: string): number {
    let earliest = Infinity;
    for (const time of this.#group(group).times.keys()) if (time < earliest) earliest = time;
    return earliest;
  }

  /** How many of a group have a time that has come by now. One step for each of its different times. */
  countUntil(group: string, now: number): number {
    let count = 0;
    for (const [time, size] of this.#group(group).times) if (time <= now) count += size;
    return count;
  }

  #group(name: string) {
    const known = this.#groups.get(name) ?? {size: 0, times: new Map<number, number>()};
    this.#groups.set(name, known);
    return known;
  }
}
