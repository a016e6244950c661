/**
 * Processor time by suite and by program, for the table at the end of `make test`. Each suite's processes are in a cgroup of the
 * suite, whose counter includes processes that have ended. Which program used the time is sampled from /proc, so short-lived
 * processes appear as `other`.
 */
import {existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

const sampleEveryMs = 2_000;
/** USER_HZ of Linux: /proc counts in hundredths of a second. */
const ticksPerSecond = 100;
/** cgroup v1 counts processor time in a hierarchy of its own, v2 in the only one. */
const hierarchy = ['/sys/fs/cgroup/cpuacct', '/sys/fs/cgroup'].find((path) => existsSync(join(path, 'cgroup.procs')));

/** Programs whose processes are named differently from the program. */
const programs: readonly [RegExp, string][] = [
  [/^(node|MainThread|jest)/, 'node'],
  [/^(chrom|ThreadPoolForeg)/, 'chromium'],
  [/^cert-manager|^controller$|^webhook$|^cainjector$/, 'cert-manager'],
];
const programOf = (comm: string): string => programs.find(([pattern]) => pattern.test(comm))?.[1] ?? comm;

/** The result of a read, or undefined if its process or cgroup has ended. Processes and cgroups end at any time during a sample. */
function ifThere<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const read = (path: string): string | undefined => ifThere(() => readFileSync(path, 'utf8'));

/** Lists folders below a folder, at any depth. Returns none if the folder does not exist. */
export const subfolders = (path: string): string[] =>
  (ifThere(() => readdirSync(path, {withFileTypes: true})) ?? [])
    .filter((entry) => entry.isDirectory())
    .flatMap(({name}) => [join(path, name), ...subfolders(join(path, name))]);

/** Seconds that a cgroup has used so far. */
function secondsOf(path: string): number {
  const nanoseconds = read(join(path, 'cpuacct.usage'));
  if (nanoseconds !== undefined) return Number(nanoseconds) / 1e9;
  return Number(/usage_usec (\d+)/.exec(read(join(path, 'cpu.stat')) ?? '')?.[1] ?? 0) / 1e6;
}

interface Group {
  name: string;
  path: string;
  /** Seconds that a cluster which was up already had used before this run. */
  before: number;
  /** Seconds since then, as sampled last. */
  seconds: number;
}

export class Usage {
  readonly #top = hierarchy && join(hierarchy, `doorplate-test-${process.pid}`);
  readonly #groups: Group[] = [];
  /** Seconds by group and process id, as sampled last. */
  readonly #sampled = new Map<string, {group: string; program: string; seconds: number}>();
  #timer: NodeJS.Timeout | undefined;
  #works = false;

  constructor() {
    if (!this.#top) return;
    try {
      mkdirSync(this.#top);
      this.#works = true;
      this.#timer = setInterval(() => this.#sample(), sampleEveryMs).unref();
    } catch {
      // Without the right to make cgroups there is no table.
    }
  }

  /** A command line that runs another one in the cgroup of a suite. */
  within(suite: string, line: readonly [string, ...string[]]): [string, ...string[]] {
    const group = this.#works && this.#groupOf(suite);
    return group
      ? ['/bin/sh', '-c', 'echo $$ >"$0" && exec "$@"', join(group.path, 'cgroup.procs'), ...line]
      : [...line];
  }

  /** Moves processes that this one has started into the cgroup of a suite. */
  adopt(suite: string, pids: readonly number[]): void {
    const group = this.#works && this.#groupOf(suite);
    if (group) for (const pid of pids) ifThere(() => writeFileSync(join(group.path, 'cgroup.procs'), String(pid)));
  }

  /** Counts the cgroup of another program, in the same hierarchy. */
  watch(name: string, folder: string): void {
    const path = hierarchy && join(hierarchy, folder);
    if (!this.#works || !path || !existsSync(path)) return;
    this.#groups.push({name, path, before: secondsOf(path), seconds: 0});
    this.#sample();
  }

  /** The table: for each suite its seconds of processor time, and the programs that used most of it. */
  table(): string[] {
    this.#sample();
    const rows = this.#groups.map(({name, seconds}) => {
      const byProgram = new Map<string, number>();
      for (const {group, program, seconds: used} of this.#sampled.values())
        if (group === name) byProgram.set(program, (byProgram.get(program) ?? 0) + used);
      const known = [...byProgram].filter(([, used]) => used >= 1).toSorted(([, a], [, b]) => b - a);
      const other = seconds - known.reduce((sum, [, used]) => sum + used, 0);
      return {name, seconds, programs: [...known, ...(other >= 1 ? [['other', other] as const] : [])]};
    });
    const sum = rows.reduce((total, {seconds}) => total + seconds, 0);
    return [
      'processor time, seconds',
      ...rows
        .toSorted((a, b) => b.seconds - a.seconds)
        .map(
          ({name, seconds, programs: of}) =>
            `${name.padEnd(14)} ${seconds.toFixed(0).padStart(5)}  ${of.map(([program, used]) => `${program} ${used.toFixed(0)}`).join(', ')}`,
        ),
      `${'all'.padEnd(14)} ${sum.toFixed(0).padStart(5)}`,
    ];
  }

  /** Removes its cgroups. */
  stop(): void {
    clearInterval(this.#timer);
    if (!this.#works) return;
    for (const path of [...this.#groups.map((group) => group.path), this.#top!])
      try {
        if (path.startsWith(this.#top!)) rmdirSync(path);
      } catch {
        // A process that a test has left behind still uses it.
      }
  }

  #groupOf(name: string): Group {
    const known = this.#groups.find((group) => group.name === name);
    if (known) return known;
    const path = join(this.#top!, name);
    mkdirSync(path);
    const group = {name, path, before: 0, seconds: 0};
    this.#groups.push(group);
    return group;
  }

  #sample(): void {
    for (const group of this.#groups) {
      if (!existsSync(group.path)) continue;
      group.seconds = secondsOf(group.path) - group.before;
      const folders = [group.path, ...subfolders(group.path)];
      for (const pid of folders.flatMap((path) => read(join(path, 'cgroup.procs'))?.trim().split('\n') ?? [])) {
        // PID (COMM) STATE ..., with utime and stime as fields 14 and 15: proc(5).
        const [, comm = '', rest = ''] = /^\d+ \((.*)\) (.*)/s.exec(read(`/proc/${pid}/stat`) ?? '') ?? [];
        const fields = rest.split(' ');
        const seconds = (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
        if (comm !== '')
          this.#sampled.set(`${group.name} ${pid}`, {group: group.name, program: programOf(comm), seconds});
      }
    }
  }
}
