/**
 * Clients in three languages, generated from docs/reference/openapi.json: each compiles, and each adds, verifies and removes a hostname. No operator
 * runs here. The test writes status instead: DNS records after Add, phase Live after Verify.
 */
import {execFile} from 'node:child_process';
import {cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import type {CustomDomain} from '../../operator/api/foreign.ts';
import {customDomains} from '../../operator/resources/resources.ts';
import {eventually} from '../../cluster/cluster.ts';
import {ApiWorld} from '../support/api-role.ts';
import {fromNpm} from '../support/npm.ts';
import {fromPyPI} from '../support/pypi.ts';

const run = promisify(execFile);
const description = fileURLToPath(new URL('../../docs/reference/openapi.json', import.meta.url));
const sources = fileURLToPath(new URL('clients/', import.meta.url));
const work = mkdtempSync(join(tmpdir(), 'doorplate-clients-'));

let world: ApiWorld;
/** All clients work at a time: each waits for its next minute. What fails is shown by the test of its language. */
const found = new Map<string, Promise<unknown>>();
beforeAll(async () => {
  const page = {enabled: false, name: 'Acme'};
  world = await ApiWorld.start({host: 'api.platform.test', trustedProxies: ['127.0.0.1'], page});
  for (const language of Object.keys(clients))
    found.set(
      language,
      drive(language).catch((error: Error & {stderr?: string}) => `${error.message}\n${error.stderr ?? ''}`),
    );
});
afterAll(async () => {
  await world?.stop();
  rmSync(work, {recursive: true, force: true});
});

/** A copy of the scenario in a language, into which its client is generated. */
function copyOf(language: string): string {
  const folder = join(work, language);
  cpSync(join(sources, language), folder, {recursive: true});
  return folder;
}

type Command = readonly [program: string, ...args: string[]];

/** What generates and compiles each client; returns what runs the scenario. */
const clients: Record<string, () => Promise<Command>> = {
  async typescript() {
    const [folder, modules] = [copyOf('typescript'), await fromNpm(join(sources, 'typescript'))];
    symlinkSync(modules, join(folder, 'node_modules'));
    const bin = join(modules, '.bin');
    await run(join(bin, 'openapi-typescript'), [description, '--output', join(folder, 'api.d.ts')]);
    const types = fileURLToPath(new URL('../../node_modules/@types', import.meta.url));
    const options = ['--strict', '--noEmit', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2024'];
    const nodeTypes = ['--typeRoots', types, '--types', 'node', '--allowImportingTsExtensions'];
    await run(join(bin, 'tsc'), [...options, ...nodeTypes, 'scenario.ts'], {cwd: folder});
    return [process.execPath, join(folder, 'scenario.ts')];
  },
  async python() {
    const folder = copyOf('python');
    const [generator, python] = await Promise.all(
      ['openapi-python-client', 'python'].map((of) => fromPyPI('openapi-python-client', '0.29.1', of)),
    );
    const to = ['--output-path', join(folder, 'doorplate'), '--meta', 'none'];
    await run(generator!, ['generate', '--path', description, ...to]);
    await run(python!, ['-m', 'compileall', '-q', folder]);
    return [python!, join(folder, 'scenario.py')];
  },
  async go() {
    const folder = copyOf('go');
    mkdirSync(join(folder, 'doorplate'));
    const go = {cwd: folder, env: {...process.env, GOFLAGS: '-buildvcs=false -mod=readonly'}};
    const made = ['-package', 'doorplate', '-o', 'doorplate/client.go'];
    await run('go', ['tool', 'oapi-codegen', '-generate', 'types,client', ...made, description], go);
    await run('go', ['build', '-o', 'client', '.'], go);
    return [join(folder, 'client')];
  },
};

/** Says what the operator would, until it is stopped. */
async function sayForOperator(namespace: string, hostname: string, isOver: () => boolean): Promise<void> {
  let said = '';
  await eventually(
    `the client of ${namespace} has ended`,
    async () => {
      const domain = await world.client.get(customDomains, `${namespace}/docs`);
      if (!domain) return isOver();
      const {generation = 0, annotations = {}} = domain.metadata;
      const isLive = 'doorplate.dev/requestedAt' in annotations;
      const status: CustomDomain['status'] = {
        observedGeneration: generation,
        dnsRecords: [
          {
            hostname,
            type: 'CNAME',
            name: namespace,
            zone: 'example.com',
            value: 'docs.apps.platform.test',
            ttl: 300,
            state: isLive ? 'Found' : 'Missing',
          },
        ],
        hosts: [
          {
            hostname,
            role: 'Primary',
            phase: isLive ? 'Live' : 'AwaitingVerification',
            reason: isLive ? 'Live' : 'RecordMissing',
            message: 'Create the record below.',
            since: '2026-11-22T00:00:00Z',
            waitingFor: isLive ? 'Nobody' : 'Customer',
          },
        ],
      };
      const text = JSON.stringify(status);
      if (text !== said)
        await world.client.patch(customDomains, `${namespace}/docs`, {status}, {type: 'merge', subresource: 'status'});
      said = text;
      return isOver();
    },
    240_000,
    200,
  );
}

/** Runs the scenario with a client, and returns what it found. */
async function drive(language: string): Promise<unknown> {
  const [program, ...args] = await clients[language]!();
  const hostname = `${language}.example.com`;
  await world.tenant(language, 'pro', {requestsPerMinute: 100, requestsPerDay: 10_000});
  await world.project(language, 'docs', {
    observedGeneration: 1,
    host: 'docs.apps.platform.test',
    url: 'https://docs.apps.platform.test',
    firstDeployTime: '2026-11-01T00:00:00Z',
  });
  const key = await world.key(language, 'ci');
  let isOver = false;
  const env = {...process.env, API: `http://127.0.0.1:${world.port}`, KEY: key, HOSTNAME: hostname};
  const [{stdout}] = await Promise.all([
    run(program, args, {env, timeout: 240_000}).finally(() => {
      isOver = true;
    }),
    sayForOperator(language, hostname, () => isOver),
  ]);
  return JSON.parse(stdout);
}

test.each(Object.keys(clients))(
  'a generated client compiles, adds, verifies, waits and rotates: %s',
  async (language) => {
    expect(await found.get(language)).toEqual({
      record: `CNAME ${language} docs.apps.platform.test`,
      phase: 'Live',
      refused: '429 https://doorplate.dev/problems/rate-limited',
      projects: ['docs'],
      account: 'ci 100',
    });
  },
);

test("the description has the platform's name and address, and an error links to a page there", async () => {
  expect((await world.ask('/openapi.json')).body).toMatchObject({
    info: {title: 'Acme Domains API'},
    servers: [{url: 'https://api.platform.test'}],
  });
  expect((await world.ask('/nowhere')).body.help).toBe('https://api.platform.test/problems/not-found');
});
