/**
 * Recorded verdicts, in verdicts.json: which mutants were seen to turn their tests red, with which inputs (inputs.ts). `make mutants`
 * records them; `make test` runs the mutants whose inputs have changed since.
 */
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {Inputs} from './inputs.ts';
import type {Mutant} from './mutant.ts';

const file = fileURLToPath(new URL('./verdicts.json', import.meta.url));

interface Recorded {
  /** By test file: what it reads besides the modules that it imports. A folder whose names it reads ends with `//`. */
  read: Record<string, string[]>;
  /** By mutant: the digest of its inputs when it was red. */
  red: Record<string, string>;
}

/** The entries with these names, sorted by name. */
const pick = <T>(from: Record<string, T>, names: ReadonlySet<string>): Record<string, T> =>
  Object.fromEntries(
    Object.entries(from)
      .filter(([name]) => names.has(name))
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );

export class Verdicts {
  readonly #root: string;
  readonly #recorded: Recorded;
  #inputs: Inputs;

  /** `root`: the checkout. `recorded`: in place of those in the repository. */
  constructor(root: string, recorded?: Recorded) {
    this.#root = root;
    this.#inputs = new Inputs(root);
    this.#recorded =
      recorded ?? (existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Recorded) : {read: {}, red: {}});
  }

  /** Whether a mutant was red with the inputs that it has now. */
  isCurrent(mutant: Mutant): boolean {
    const {read, red} = this.#recorded;
    return (
      red[mutant.name] !== undefined && red[mutant.name] === this.#inputs.digestOf(mutant, read[mutant.test] ?? [])
    );
  }

  /** Notes what tests have read in a run, by test file. */
  noteRead(reads: ReadonlyMap<string, ReadonlySet<string>>, {whole}: {whole: boolean}): void {
    const {read} = this.#recorded;
    if (whole) for (const test of Object.keys(read)) delete read[test];
    for (const [test, paths] of reads) {
      const modules = new Set(this.#inputs.modulesOf(test));
      const own = [...paths].filter((path) => !modules.has(path) && !path.startsWith('test/jest/'));
      read[test] = [...new Set([...(read[test] ?? []), ...own])].toSorted();
    }
  }

  /** Notes that mutants were red, or not, with the inputs that they have now. Call {@link noteRead} before. */
  noteRed(mutants: readonly Mutant[], isRed: (mutant: Mutant) => boolean): void {
    this.#inputs = new Inputs(this.#root);
    const {read, red} = this.#recorded;
    for (const mutant of mutants)
      if (isRed(mutant)) red[mutant.name] = this.#inputs.digestOf(mutant, read[mutant.test] ?? []);
      else delete red[mutant.name];
  }

  /** Writes them into the repository, without those of mutants that exist no more. */
  save(mutants: readonly Mutant[]): void {
    const [names, tests] = [new Set(mutants.map(({name}) => name)), new Set(mutants.map(({test}) => test))];
    const {read, red} = this.#recorded;
    writeFileSync(file, `${JSON.stringify({read: pick(read, tests), red: pick(red, names)}, null, 1)}\n`);
  }
}
