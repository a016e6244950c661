/** What /openapi.json says, against what the server does: schemathesis sends what the description allows, and what it does not. */
import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {apiKeys} from '../../operator/resources/resources.ts';
import {ApiWorld} from '../support/api-role.ts';
import {buildPage} from '../support/page-world.ts';
import {fromPyPI} from '../support/pypi.ts';

let world: ApiWorld;
let program: string;
/** It writes what it found into the folder where it runs. */
const cwd = mkdtempSync(join(tmpdir(), 'schemathesis-'));
// Its own list of how bad input may be refused lacks that it is too much.
const settings = (plan: string): string =>
  // Made-up namespaces are 404 for a key, which reaches its own only.
  `[parameters]\n"header.doorplate-namespace" = "${plan}"\n` +
  '[checks.negative_data_rejection]\nexpected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429]\n';
beforeAll(async () => {
  buildPage();
  [world, program] = await Promise.all([
    ApiWorld.start({page: {enabled: true, linksByKeys: true}, withoutKey: {requestsPerMinute: 1_000_000}}),
    fromPyPI('schemathesis', '4.32.5', 'schemathesis'),
  ]);
});
afterAll(async () => {
  await world?.stop();
  rmSync(cwd, {recursive: true, force: true});
});

/** Its exit code, and what it printed. */
function schemathesis(key: string, ...args: string[]): Promise<{code: number | null; text: string}> {
  return new Promise((resolve, reject) => {
    let text = '';
    const child = spawn(
      program,
      [
        'run',
        `http://127.0.0.1:${world.port}/openapi.json`,
        '--header',
        `Authorization: Bearer ${key}`,
        '--no-color',
        // A hostname's rules say more than a JSON schema can: what it allows is refused here and there.
        '--checks',
        'all',
        '--exclude-checks',
        'positive_data_acceptance',
        '--seed',
        '20261122',
        '--generation-database',
        'none',
        '--request-timeout',
        '30',
        '--suppress-health-check',
        'all',
        ...args,
      ],
      {cwd},
    );
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
    child.on('error', reject).on('close', (code) => resolve({code, text}));
  });
}

/** Examples for each operation of the description. `make openapi` takes more. */
const examples = Number(process.env.EXAMPLES ?? 6);

test.each([
  ['huge', examples],
  ['free', Math.ceil(examples / 3)],
])('every answer to an account on the plan %s is one that the OpenAPI description has', async (plan, most) => {
  await world.tenant(plan, plan);
  await world.project(plan, 'docs');
  // With the shortest scope that the description allows, so that a key can be made by an example that was made up.
  const key = await world.key(plan, 'ci', {
    scopes: ['domains:read', 'domains:write', 'keys:write', 'audit:read', 'usage:read', 'a:a'],
  });
  // Or it rotates the key that it uses, and is shut out: what Git owns stays.
  const {spec} = (await world.client.get(apiKeys, `${plan}/ci`))!;
  await world.client.applyPatch(
    apiKeys,
    {apiVersion: 'doorplate.dev/v1alpha1', kind: 'ApiKey', metadata: {namespace: plan, name: 'ci'}, spec},
    {fieldManager: 'flux', force: true},
  );
  // Streams do not end; the key must not revoke itself.
  writeFileSync(join(cwd, 'schemathesis.toml'), settings(plan));
  const {code, text} = await schemathesis(
    key,
    '--max-examples',
    String(most),
    '--exclude-path',
    '/v1/projects/{project}/events',
    '--exclude-path',
    '/v1/events',
    '--exclude-method',
    'DELETE',
  );
  expect(code === 0 ? '' : text).toBe('');
  console.log(text.split('\n').slice(-14).join('\n'));
  expect(text).not.toContain('Authentication failed');
});
