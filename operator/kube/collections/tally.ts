/** Counts objects by group and time. The counts follow each change, so no reader has to walk over all objects. */
export class Tally {
  readonly #groups = new Map<string, {size: number; times: Map<number, number>}>();

  /** `groups`: names that `sizes` lists even before an object is added. */
  constructor(groups: Iterable<string> = []) {
    for (const group of groups) this.#group(group);
  }

  /** Counts an added (`by` 1) or removed (`by` -1) object of a group. `time`: ms since the epoch. */
  change(group: string, by: 1 | -1, time = 0): void {
    const all = this.#group(group);
    all.size += by;
    const left = (all.times.get(time) ?? 0) + by;
    if (left === 0) all.times.delete(time);
    else all.times.set(time, left);
  }

  /** Each group that has ever had an object, with its current size. */
  *sizes(): Iterable<[group: string, size: number]> {
    for (const [group, {size}] of this.#groups) yield [group, size];
  }

  size(group: string): number {
    return this.#group(group).size;
  }

  /** The earliest time in a group; Infinity if it is empty. Takes one step for each different time. */
  earliest(group: string): number {
    let earliest = Infinity;
    for (const time of this.#group(group).times.keys()) if (time < earliest) earliest = time;
    return earliest;
  }

  /** The number of objects in a group whose time is not after `now`. Takes one step for each different time. */
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
