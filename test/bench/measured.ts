/** What the rows of a long bench have come to, kept in its folder: one that was ended goes on with the rows that are left. */
import {existsSync} from 'node:fs';
import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {dirname} from 'node:path';

export interface Outcome {
  reached: boolean;
  /** All that it printed. */
  said: string[];
}

export class Measured {
  readonly #file: string;
  readonly #rows: Record<string, Outcome>;

  private constructor(file: string, rows: Record<string, Outcome>) {
    this.#file = file;
    this.#rows = rows;
  }

  static async in(file: string): Promise<Measured> {
    return new Measured(file, existsSync(file) ? JSON.parse(await readFile(file, 'utf8')) : {});
  }

  get(row: string): Outcome | undefined {
    return this.#rows[row];
  }

  async keep(row: string, outcome: Outcome): Promise<void> {
    this.#rows[row] = outcome;
    await mkdir(dirname(this.#file), {recursive: true});
    await writeFile(this.#file, JSON.stringify(this.#rows, undefined, 2));
  }
}

/** Does a row's work, and hears what it prints meanwhile. */
export async function heard(work: () => Promise<boolean>): Promise<Outcome> {
  const said: string[] = [];
  const {log} = console;
  console.log = (text = '') => {
    said.push(String(text));
    log(text);
  };
  try {
    return {reached: await work(), said};
  } finally {
    console.log = log;
  }
}
