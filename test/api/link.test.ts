/** docs/tutorials/link-from-your-backend.md: its manifest, its token and its three programs, against an API on a real API server with roles. */
import {execFile, spawn} from 'node:child_process';
import {rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {eventually} from '../../cluster/cluster.ts';
import {ApiWorld} from '../support/api-role.ts';
import {freePort} from '../support/free-ports.ts';
import {ask} from '../support/http-client.ts';
import {bin} from '../support/kube-server.ts';
import {wrongOutput, writeOutputs} from '../support/outputs.ts';
import {buildPage} from '../support/page-world.ts';
import {filesOf, readPage, root} from '../support/pages.ts';
import {patience} from '../support/patience.ts';
import {writePrograms} from '../support/programs.ts';

const page = readPage('docs/tutorials/link-from-your-backend.md');
const [apply, create, start] = page.blocks.filter(({info}) => info[0] === 'sh');
const settings = {page: {enabled: true, returnOrigins: ['https://www.example.com']}};
let world: ApiWorld;
let api: string;
let folder: string;
let token: string;
beforeAll(async () => {
  buildPage();
  folder = await writePrograms(page);
  for (const [name, text] of filesOf(page)) writeFileSync(join(folder, name), text);
  world = await ApiWorld.start(settings, {rbac: true});
  api = `http://127.0.0.1:${world.port}`;
  await world.tenant('acme');
  await world.project('acme', 'docs');
  const [cert, key] = ['admin.crt', 'admin.key'].map((name) => join(world.server.dir, name));
  writeFileSync(join(folder, 'kubeconfig'), world.server.kubeconfig({'client-certificate': cert, 'client-key': key}));
  expect(wrongOutput(page, apply!, await run(apply!.text))).toBeUndefined();
  token = (await run(`${create!.text.split('\n')[0]}; echo "$TOKEN"`)).trim();
});
afterAll(async () => {
  await world?.stop();
  rmSync(folder, {recursive: true, force: true});
  writeOutputs(readPage);
});

/** Runs commands of the page, and ends the program that they leave in the background. */
async function run(script: string, env: Record<string, string> = {}): Promise<string> {
  const {stdout} = await promisify(execFile)(
    'bash',
    ['-euo', 'pipefail', '-c', `trap '[ -z "\${!-}" ] || kill $!' EXIT\n${script}`],
    {
      cwd: folder,
      env: {
        ...process.env,
        KUBECONFIG: join(folder, 'kubeconfig'),
        PATH: `${bin}:${join(root, 'node_modules/.bin')}:${process.env.PATH}`,
        ...env,
      },
      timeout: patience(120_000),
    },
  );
  return stdout;
}

test('the commands of the page start a program that answers with a link', async () => {
  const port = String(await freePort());
  const script = start!.text.replace('https://api.example.net', api).replace('localhost:8080', `127.0.0.1:${port}`);
  const output = await run(script, {TOKEN: token, PORT: port});
  expect(wrongOutput(page, start!, output.replace(api, 'https://api.example.net'))).toBeUndefined();
});

test('the program in TypeScript passes the type check', async () => {
  const types = ['--typeRoots', join(root, 'node_modules/@types'), '--types', 'node', '--skipLibCheck'];
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', ...types];
  expect(await run(`tsc ${options.join(' ')} link.ts || true`)).toBe('');
});

const failure = 'The Domains page cannot be opened now. Try again in a minute.';

test.each([
  ['TypeScript', [process.execPath, 'link.ts']],
  ['Python', ['python3', 'link.py']],
  ['Go', ['./link']],
])(
  'the program in %s answers with a link that works once, or with one sentence for the customer',
  async (_, command) => {
    const [port, file] = [await freePort(), join(folder, 'token-file')];
    writeFileSync(file, `${token}\n`);
    const env = {...process.env, API: api, TOKEN_FILE: file, PORT: String(port)};
    const program = spawn('setpriv', ['--pdeathsig', 'KILL', '--', ...command], {cwd: folder, env, stdio: 'ignore'});
    try {
      const other = await eventually('the program listens', () => ask(port, '/other'), patience(60_000), 50);
      expect(other.status).toBe(404);

      const answer = await ask(port, '/domains');
      expect(answer).toMatchObject({
        status: 303,
        headers: {'cache-control': 'no-store', location: expect.stringMatching(/\/sign-in#[\w-]{43}$/)},
      });
      const link = new URL(answer.headers.location!);
      expect(link.origin).toBe(api);
      const signIn = {
        method: 'POST',
        headers: {origin: api},
        body: {link: link.hash.slice(1), referrer: 'https://www.example.com/acme'},
      };
      expect(await world.ask('/session', signIn)).toMatchObject({
        status: 200,
        body: {
          namespace: 'acme',
          subject: 'ann@acme.example',
          project: 'docs',
          returnUrl: 'https://www.example.com/acme',
          scopes: ['domains:read', 'domains:write'],
        },
      });
      expect((await world.ask('/session', signIn)).status).toBe(401);

      writeFileSync(file, 'wrong\n');
      const refused = await world.ask('/v1/sessions', {method: 'POST', key: 'wrong', body: {}});
      expect(refused).toMatchObject({status: 401, body: {detail: expect.stringMatching(/./)}});
      const withWrongToken = await ask(port, '/domains');
      expect(withWrongToken).toMatchObject({status: 502, body: expect.stringContaining(failure)});
      expect(withWrongToken.body).not.toContain(refused.body.detail);

      const {port: former} = world;
      await world.stopRole();
      const withoutApi = await ask(port, '/domains');
      await world.startRole(settings, {port: former});
      expect(withoutApi).toMatchObject({status: 502, body: expect.stringContaining(failure)});
      expect(withoutApi.body).not.toMatch(/refused|fetch failed|127\.0\.0\.1/);
    } finally {
      program.kill();
    }
  },
);
