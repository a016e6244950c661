/** The clients that docs/reference/api-limits.md shows: each runs against the API until its account has requests again. */
import {execFile} from 'node:child_process';
import {rmSync} from 'node:fs';
import {setTimeout as wait} from 'node:timers/promises';
import {promisify} from 'node:util';
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {ApiWorld} from '../support/api-role.ts';
import {withMinuteToCome} from '../support/fresh-minute.ts';
import {readPage} from '../support/pages.ts';
import {writePrograms} from '../support/programs.ts';

const run = promisify(execFile);
/** How long a program may take to send its first request: processors of CI are busy. */
const startsWithinSeconds = 10;
let world: ApiWorld;
let folder: string;
beforeAll(async () => {
  folder = await writePrograms(readPage('docs/reference/api-limits.md'));
  world = await ApiWorld.start();
});
afterAll(async () => {
  await world?.stop();
  rmSync(folder, {recursive: true, force: true});
});

/** Uses the plan up, in a minute that does not end before a program has started. */
async function useUp(key: string): Promise<void> {
  for (;;) {
    const {status, headers} = await world.ask('/v1/projects', {key});
    const leftSeconds = Number(headers['retry-after']);
    if (status === 429 && leftSeconds >= startsWithinSeconds) return;
    if (status === 429) await wait(leftSeconds * 1000);
  }
}

test.each([
  ['Python', 'python3', ['client.py']],
  ['Go', './client', []],
])('the sample in %s waits as it is told, and is refused once', async (language, program, args) => {
  const tenant = withMinuteToCome(language.toLowerCase(), {atLeast: 15, below: 20});
  await world.tenant(tenant, 'free', {requestsPerMinute: 3, requestsPerDay: 100});
  await world.project(tenant, 'docs');
  const [drain, key] = [await world.key(tenant, 'drain'), await world.key(tenant, 'sample')];
  await useUp(drain);
  world.log.length = 0;
  const ended = await run(program, args, {
    cwd: folder,
    env: {...process.env, API: `http://127.0.0.1:${world.port}`, KEY: key},
  }).catch((error: Error) => error);
  const answered = world.log.map((line) => JSON.parse(line)).filter((line) => line.key === `${tenant}/sample`);
  expect(answered.map(({status}) => status)).toEqual([429, 200]);
  expect(ended).toMatchObject({stdout: 'docs\n'});
});
