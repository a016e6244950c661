/** The plugin as a process: what becomes of it when nobody reads what it says. */
import {execFile} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {root} from '../../support/pages.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'doorplate-cli-'));
});
afterAll(() => rmSync(folder, {recursive: true}));

test('a reader that stops early ends a command quietly: no stack trace, and its own exit code', async () => {
  // More than a pipe holds (64 KiB), so that the reader is gone while it is written.
  const lines = Array.from({length: 5000}, (_, i) => `host-${i}.example.com,acme`);
  writeFileSync(join(folder, 'hostnames.csv'), lines.join('\n'));
  const env = {...process.env, HOME: folder, PATH: `${join(root, 'operator/cli')}:${process.env.PATH}`};
  const script = 'kubectl-doorplate claims -f hostnames.csv | head -c 10';
  const ended = await new Promise((resolve) => {
    execFile('bash', ['--norc', '-o', 'pipefail', '-c', script], {cwd: folder, env}, (error, stdout, stderr) =>
      resolve({code: error ? error.code : 0, stdout, stderr}),
    );
  });
  expect(ended).toEqual({code: 0, stdout: 'apiVersion', stderr: ''});
});
