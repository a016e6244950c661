/** The programs of docs/tutorials/first-hostname-by-api.md, against the API and an operator with simulated DNS, edge and cert-manager. */
import {execFile} from 'node:child_process';
import {rmSync} from 'node:fs';
import {promisify} from 'node:util';
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {eventually} from '../../cluster/cluster.ts';
import {ApiWorld} from '../support/api-role.ts';
import {Customer} from '../support/customer.ts';
import {RunningOperator} from '../support/operator.ts';
import {wrongOutput, writeOutputs} from '../support/outputs.ts';
import {readPage} from '../support/pages.ts';
import {patience} from '../support/patience.ts';
import {Platform} from '../support/platform.ts';
import {writePrograms} from '../support/programs.ts';

const page = readPage('docs/tutorials/first-hostname-by-api.md');
const [start, verify] = page.blocks.filter(({info, under}) => info[0] === 'sh' && under === 'Run the program');
let platform: Platform;
let operator: RunningOperator;
let api: ApiWorld;
let acme: Customer;
let key: string;
let folder: string;
beforeAll(async () => {
  folder = await writePrograms(page);
  platform = await Platform.start();
  operator = await RunningOperator.start(platform);
  api = await ApiWorld.over(platform.server);
  acme = await Customer.create(platform, 'pro', 'acme');
  await acme.deploy('docs');
  await eventually(
    'the project is deployed',
    async () => (await acme.project('docs'))?.status?.firstDeployTime !== undefined,
  );
  key = await api.key('acme', 'first');
});
afterAll(async () => {
  await api?.leave();
  await operator?.stop();
  await platform?.stop();
  rmSync(folder, {recursive: true, force: true});
  writeOutputs(readPage);
});

/** Runs a command of the page. A program that does not end in time is killed. */
const run = (script: string): Promise<{stdout: string}> =>
  promisify(execFile)('bash', ['-c', script.replaceAll('https://api.example.net', `http://127.0.0.1:${api.port}`)], {
    cwd: folder,
    env: {...process.env, KEY: key},
    timeout: patience(120_000),
  });
const inPython = start!.text;
const inGo = start!.text.replace('python3 hostname.py', './hostname');
/** Log lines of the PUT requests that succeeded. */
const answersToPut = (): unknown[] =>
  api.log.map((line) => JSON.parse(line)).filter(({method, status}) => method === 'PUT' && status < 300);

test('both programs print the record to create, and end when the hostname is Live', async () => {
  const programs = Promise.all([inPython, inGo].map(run));
  await Promise.race([programs, eventually('both programs have an answer', async () => answersToPut().length === 2)]);
  await acme.point(['docs.example.com'], 'docs');
  const [requested, ...outputs] = [await run(verify!.text), ...(await programs)].map(({stdout}) => stdout);
  expect(outputs.map((output) => wrongOutput(page, start!, output))).toEqual([undefined, undefined]);
  expect(wrongOutput(page, verify!, requested!)).toBeUndefined();
});

test.each([
  ['Python', inPython],
  ['Go', inGo],
])('the program in %s ends with exit code 1 and the reason when the API refuses the hostname', async (_, script) => {
  const refused = 'shop.apps.platform.test';
  const path = `/v1/projects/docs/domains/${refused}`;
  const {status, body} = await api.ask(path, {method: 'PUT', key, body: {}});
  expect(status).toBe(422);
  await expect(run(script.replace('docs.example.com', refused))).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining(body.detail as string),
  });
});
