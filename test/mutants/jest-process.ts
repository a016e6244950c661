import {type ChildProcess, fork} from 'node:child_process';
import {once} from 'node:events';
import {fileURLToPath} from 'node:url';

/** What became of a test, and, where it failed, what jest says of it. */
export interface Verdict {
  status: string;
  failures: readonly string[];
}

/** By title, behind the titles of its describes. */
export type Verdicts = ReadonlyMap<string, Verdict>;

/** What the child is asked: tests of a file of a copy of the checkout, with jest's cache in a folder. */
export interface Asked {
  root: string;
  cache: string;
  test: string;
  titles: readonly string[];
  /** Whether to observe which files are read. */
  traced: boolean;
}

/** What the child answers. */
export interface Answer {
  verdicts: [string, Verdict][];
  /** Files and folders of the copy that were read, where it was asked for (inputs.ts). */
  read: string[];
}

/** Where tests run. */
export interface Place {
  /** A copy of the checkout, of nobody else meanwhile. */
  root: string;
  /** jest's cache: a folder, others' too. */
  cache: string;
  /** For the tests' environment. */
  env?: Readonly<Record<string, string>>;
  /** Gets what tests have read, by test file. Without it that is not observed. */
  reads?: Map<string, Set<string>>;
}

interface Child {
  process: ChildProcess;
  ended: Promise<undefined>;
  runs: number;
}

const script = fileURLToPath(new URL('./jest-child.ts', import.meta.url));
const limitMs = 2_700_000;
/** After so many runs it holds some 600 MB: what vm has loaded as a module it never lets go. */
const mostRuns = 40;

/** A jest that stays from one run to the next (jest-child.ts). One that has ended is followed by another. */
export class JestProcess {
  readonly place: Place;
  #child: Child | undefined;

  constructor(place: Place) {
    this.place = place;
  }

  #start(): Child {
    const child = fork(script, {
      cwd: this.place.root,
      env: {...process.env, ...this.place.env},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    return {process: child, ended: once(child, 'exit').then(() => undefined), runs: 0};
  }

  /**
   * What became of the tests with these titles of a file. Empty where the file does not load, the process ends, or 45 minutes
   * do not suffice.
   */
  async run(test: string, titles: readonly string[]): Promise<Verdicts> {
    const child = (this.#child ??= this.#start());
    child.runs++;
    const limit = setTimeout(() => child.process.kill('SIGKILL'), limitMs);
    const {root, cache, reads} = this.place;
    child.process.send({root, cache, test, titles, traced: reads !== undefined} satisfies Asked);
    const answered = once(child.process, 'message') as Promise<[Answer]>;
    const answer = (await Promise.race([answered, child.ended]))?.[0];
    clearTimeout(limit);
    if (answer === undefined) this.#child = undefined;
    for (const path of answer?.read ?? []) reads?.set(test, (reads.get(test) ?? new Set()).add(path));
    return new Map(answer?.verdicts);
  }

  /** For what must run in one process: ends the one that has run too often to be kept. */
  async renew(): Promise<void> {
    if ((this.#child?.runs ?? 0) >= mostRuns) await this.stop();
  }

  async stop(): Promise<void> {
    this.#child?.process.kill('SIGKILL');
    await this.#child?.ended;
    this.#child = undefined;
  }
}
