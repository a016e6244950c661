/**
 * Libraries that retry, with their own defaults, on a plan that is used up all the time: they get what the plan has, and none is banned.
 * Two and a half minutes; LONG=1: ten.
 */
import {execFile, type ExecFileException, spawn} from 'node:child_process';
import {cpSync, mkdtempSync, rmSync, symlinkSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as wait} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {ApiWorld} from '../support/api-role.ts';
import {fromNpm} from '../support/npm.ts';
import {fromPyPI} from '../support/pypi.ts';

const run = promisify(execFile);
const sources = fileURLToPath(new URL('clients/retries/', import.meta.url));
const work = mkdtempSync(join(tmpdir(), 'doorplate-retries-'));
const minutes = process.env.LONG ? 10 : 2.5;
const perMinute = 60;

type Program = readonly [program: string, ...args: string[]];
/** What runs each library, once it is installed. */
const libraries: Record<string, () => Promise<Program>> = {
  urllib3: async () => [await fromPyPI('urllib3', '2.8.0', 'python'), 'client.py', 'urllib3'],
  tenacity: async () => [await fromPyPI('tenacity', '9.2.1', 'python'), 'client.py', 'tenacity'],
  'go-retryablehttp': async () => {
    const env = {...process.env, GOFLAGS: '-buildvcs=false -mod=readonly'};
    await run('go', ['build', '-o', join(work, 'client'), '.'], {cwd: join(sources, 'go'), env});
    return [join(work, 'client')];
  },
  'axios-retry': () => byNode('axios-retry'),
  ky: () => byNode('ky'),
  'plugin-throttling': () => byNode('plugin-throttling'),
};
let installed: Promise<string> | undefined;
async function byNode(library: string): Promise<Program> {
  installed ??= fromNpm(join(sources, 'node')).then((modules) => {
    symlinkSync(modules, join(work, 'node_modules'));
    return join(work, 'client.ts');
  });
  return [process.execPath, await installed, library];
}

let world: ApiWorld;
beforeAll(async () => {
  for (const file of ['node/client.ts', 'python/client.py'])
    cpSync(join(sources, file), join(work, file.split('/')[1]!));
  world = await ApiWorld.start();
});
afterAll(async () => {
  await world?.stop();
  rmSync(work, {recursive: true, force: true});
});

/** Lets a program of a tenant of its own run. Resolves with its answers, and with its output if it ended early. */
async function drive(library: string, [program, ...args]: Program) {
  await world.tenant(library, 'huge', {requestsPerMinute: perMinute, requestsPerDay: 10_000});
  const key = await world.key(library, 'ci');
  const env = {...process.env, API: `http://127.0.0.1:${world.port}`, KEY: key};
  const child = spawn(program, args, {cwd: work, env, stdio: ['ignore', 'pipe', 'pipe']});
  const ended = new Promise<string>((resolve) => {
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (printed += String(text)));
    child.on('error', (error: ExecFileException) => resolve(error.message)).on('close', () => resolve(printed));
  });
  const early = await Promise.race([ended, wait(minutes * 60_000, undefined, {ref: false})]);
  child.kill('SIGKILL');
  await ended;
  const answers = world.log.map((line) => JSON.parse(line)).filter((line) => line.key === `${library}/ci`);
  const {status: own} = await world.ask('/v1/account', {key});
  return {library, early, own, statuses: Map.groupBy(answers, ({status}) => status)};
}

test('no library that retries is banned, whatever it does while the plan is used up', async () => {
  const programs = await Promise.all(
    Object.entries(libraries).map(async ([library, install]) => [library, await install()] as const),
  );
  const driven = await Promise.all(programs.map(([library, program]) => drive(library, program)));
  for (const {library, statuses} of driven) {
    const counts = [...statuses].map(([status, answers]) => `${answers.length} times ${status}`);
    console.log(`${library}: ${counts.join(', ')} in ${minutes} minutes`);
  }
  // A ban would answer to the question for the account, too.
  expect(driven.map(({library, early, own}) => [library, early, own])).toEqual(
    driven.map(({library}) => [library, undefined, 200]),
  );
  const states = driven.map(({statuses}) => [...statuses.keys()].toSorted());
  expect(states).toEqual(driven.map(() => [200, 429]));
  // Each has used more than one minute's plan, so it has come back after it was refused.
  for (const {statuses} of driven) expect(statuses.get(200)!.length).toBeGreaterThan(perMinute);
});
