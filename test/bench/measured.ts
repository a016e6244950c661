/** What the rows of a long bench have come to, kept in its folder: one that was ended goes on with the rows that are left. */
import {existsSync} from 'node:fs';
import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {dirname} from 'node:path';

export interface Outcome {
  reached: boolean;
  /** All that it printed. */
  said: string[];
}

/** A file: benches of other rows may write it meanwhile. */
export class Measured {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  async get(row: string): Promise<Outcome | undefined> {
    return (await this.#read())[row];
  }

  async keep(row: string, outcome: Outcome): Promise<void> {
    const rows = {...(await this.#read()), [row]: outcome};
    await mkdir(dirname(this.#file), {recursive: true});
    await writeFile(this.#file, JSON.stringify(rows, undefined, 2));
  }

  async #read(): Promise<Record<string, Outcome>> {
    return existsSync(this.#file) ? JSON.parse(await readFile(this.#file, 'utf8')) : {};
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
