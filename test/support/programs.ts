/** The programs that pages show: blocks with the name of a file, such as `go client.go`. */
import {execFile} from 'node:child_process';
import {mkdtempSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';
import type {Page} from './pages.ts';

const run = promisify(execFile);
const program = /^(?<name>[\w-]+)\.(?<language>py|go|ts)$/;

/** Writes the programs of a page into a new folder, and builds the program in Go: `client.go` becomes `client`. Returns the folder. */
export async function writePrograms({blocks}: Page): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'doorplate-programs-'));
  for (const {info, text} of blocks) {
    const {name, language} = program.exec(info[1] ?? '')?.groups ?? {};
    if (name === undefined) continue;
    writeFileSync(join(folder, info[1]!), `${text}\n`);
    if (language === 'go')
      await run('go', ['build', '-o', name, info[1]!], {cwd: folder, env: {...process.env, GO111MODULE: 'off'}});
  }
  return folder;
}
