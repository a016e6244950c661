/** What is said and done before any cluster is asked; test/crds/cli.test.ts has the rest, by the real binary. */
import {mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {parse} from 'yaml';
import type {ApiKey} from '../../../operator/api/foreign.ts';
import {explain} from '../../../operator/cli/errors.ts';
import {run} from '../../../operator/cli/program.ts';
import {hashToken, parseToken} from '../../../operator/domain/api-key.ts';
import {ApiError, NoAnswerError} from '../../../operator/kube/errors.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'doorplate-cli-'));
});
afterAll(() => rmSync(folder, {recursive: true}));
const file = (name: string) => join(folder, name);

/** A command line, with a cluster that must not be asked unless a namespace of its context is said. */
async function cli(line: string, {namespace}: {namespace?: string} = {}) {
  let [out, told] = ['', ''];
  const argv = line.split(' ').filter((word) => word !== '');
  const code = await run(argv, {
    out: (text) => {
      out += text;
    },
    tell: (text) => {
      told += text;
    },
    colours: false,
    read: async () => '',
    cluster: async () => {
      if (namespace === undefined) throw new Error('no cluster was to be asked for');
      return {
        namespace,
        client: () => {
          throw new Error('no cluster was to be asked');
        },
      };
    },
    now: () => now,
    wait: async () => {},
  });
  return {code, out, told};
}

describe('kubectl doorplate', () => {
  test.each(['', '--help', '-h'])('with %j lists its commands', async (line) => {
    const {code, out, told} = await cli(line);
    expect([code, told]).toEqual([0, '']);
    const commands = [...out.matchAll(/^ {2}([a-z]+) .*$/gm)].map(([, name]) => name);
    expect(commands).toEqual([
      'status',
      'records',
      'verify',
      'reissue',
      'why',
      'check',
      'key',
      'version',
      'preflight',
      'policy',
      'adopt',
      'claims',
      'release',
      'usage',
    ]);
    expect(out).not.toContain('Exit codes');
  });

  test('takes options before the command and behind it', async () => {
    const before = await cli(`-n acme key create ci --dry-run --token-file ${file('before')}`);
    const behind = await cli(`key create ci --dry-run --token-file ${file('behind')} -n acme`);
    expect([before.code, behind.code]).toEqual([0, 0]);
    expect(parse(before.out).metadata).toEqual(parse(behind.out).metadata);
  });

  test.each([
    ['key create', ['--scope', '--expires', '--rate-limit', '--token-file', '--dry-run']],
    ['key list', ['--all-namespaces', '--selector', '--output']],
    ['version', ['--client', '--settings', '--output']],
    ['preflight', ['--operator']],
    ['status', ['--all-namespaces', '--selector', '--waiting', '--output']],
    ['records', ['--all-namespaces', '--selector', '--output']],
    ['verify', ['--wait', '--timeout']],
    ['why', ['--all-namespaces', '--selector', '--output']],
    ['check', ['--filename', '--project', '--resolver', '--settings', '--output']],
    ['release', ['--filename', '--dry-run']],
    ['policy check', ['--all-namespaces', '--selector', '--output']],
    ['policy audit', ['--output']],
  ])('says of %s how it is used, with examples', async (command, flags) => {
    const {code, out} = await cli(`${command} --help`);
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`^Usage: kubectl doorplate ${command} `));
    expect(out).toContain(`Examples:\n  kubectl doorplate ${command}`);
    for (const flag of [...flags, '--namespace', '--context', '--kubeconfig', '--as', '--as-group', '--help'])
      expect(out).toContain(flag);
  });
});

describe('Exit codes beside 0, 1 and 2', () => {
  test.each([
    ['why', 'Exit codes:', [3, 4, 5]],
    ['check', 'Exit codes:', [3, 4, 5]],
    ['verify', 'Exit codes with --wait:', [3, 4, 5]],
    ['reissue', 'Exit codes with --wait:', [3]],
    ['adopt', 'Exit codes:', [5]],
    ['policy check', 'Exit codes:', [5]],
    ['policy audit', 'Exit codes:', [5]],
    ['preflight', 'Exit codes:', [5]],
  ])('are in the help of %s', async (command, title, expected) => {
    const [, text = ''] = (await cli(`${command} --help`)).out.split(`${title}\n`);
    expect([...text.matchAll(/^ {2}(\d)/gm)].map(([, code]) => Number(code))).toEqual([0, 1, 2, ...expected]);
  });

  test.each(['status', 'records', 'key list', 'key create', 'key revoke', 'claims', 'release', 'usage', 'version'])(
    'are not in the help of %s, which has none',
    async (command) => {
      expect((await cli(`${command} --help`)).out).not.toContain('Exit codes');
    },
  );
});

describe('A wrong command line ends with 2, says what is wrong, and prints nothing', () => {
  test.each<[string, string, string]>([
    ['another command', 'stats', "unknown command 'stats'\n(Did you mean status?)"],
    ['another command of a group', 'key mint', "unknown command 'mint'"],
    ['an option that is not there', 'key create ci --scop a:b', "unknown option '--scop'\n(Did you mean --scope?)"],
    ['no name', 'key create -n acme', "missing required argument 'name'"],
    ['two names', 'key create a b -n acme', "too many arguments for 'create'"],
    ['a form that is not there', 'status -o xml', 'Allowed choices are table, json, yaml, name.'],
    ['a name and a selector', 'why docs -l a=b', 'use a name, or --all-namespaces and --selector'],
    ['a name and all namespaces', 'records docs -A', 'use a name, or --all-namespaces and --selector'],
    ['one namespace and all', 'policy check -n acme -A', '--namespace, or --all-namespaces'],
    ['an operator without a namespace', 'preflight --operator x', '--operator x must be NAMESPACE/NAME'],
    ['nothing to check', 'check', 'name a hostname, or a file (-f)'],
    ['nothing to hand back', 'release', 'name objects to return, or a file (-f)'],
    ['names and a file', 'release docs -f x.json', 'name objects to return, or a file (-f)'],
    ['hostnames and files', 'check docs.example.com -f x.yaml', 'hostnames, or files (-f)'],
    [
      'a resolver by its name',
      'check docs.example.com --resolver dns.google',
      '--resolver "dns.google" must be ADDRESS or ADDRESS:PORT, with an IP address',
    ],
    [
      'a time-out without a unit',
      'verify docs --timeout 10',
      '--timeout 10 must be a number and a unit, such as 90s, 30m or 2h',
    ],
    [
      'a name in capitals',
      'key create Ci -n acme --dry-run --token-file x',
      'no ApiKey can have the name "Ci" in the namespace "acme"',
    ],
    [
      'a name that is too long',
      `key create ${'a'.repeat(64)} -n acme --dry-run --token-file x`,
      `the name ${'a'.repeat(64)} has 64 characters; at most 63 are allowed`,
    ],
    [
      'a scope of one word',
      'key create ci -n acme --scope domains --dry-run --token-file x',
      '--scope: must be two words with a colon between them',
    ],
    [
      'a scope twice',
      'key create ci -n acme --scope a:b --scope a:b --dry-run --token-file x',
      '--scope: a scope is listed twice',
    ],
    [
      'a rate of one number',
      'key create ci -n acme --rate-limit 60 --dry-run --token-file x',
      '--rate-limit 60 must be REQUESTS-A-MINUTE/REQUESTS-A-DAY',
    ],
    [
      'fewer in a day than in a minute',
      'key create ci -n acme --rate-limit 60/59 --dry-run --token-file x',
      '--rate-limit: requestsPerDay must be at least requestsPerMinute',
    ],
    [
      'an end that is over',
      'key create ci -n acme --expires 2020-01-01T00:00:00Z',
      '--expires 2020-01-01T00:00:00Z is in the past',
    ],
    [
      'an end in words',
      'key create ci -n acme --expires soon --dry-run --token-file x',
      '--expires: must be a time in whole seconds with its zone',
    ],
    [
      'a dry run whose token has no place',
      'key create ci -n acme --dry-run',
      '--dry-run prints the ApiKey for Git: write its token to a file with --token-file FILE',
    ],
  ])('%s', async (_, line, said) => {
    const {code, out, told} = await cli(line, {namespace: 'acme'});
    expect([code, out]).toEqual([2, '']);
    expect(told).toMatch(/^error: /);
    expect(told).toContain(said);
    expect(told).toMatch(/\nSee: kubectl doorplate .*--help\n$/);
  });

  test('half a command says what there is', async () => {
    expect(await cli('key')).toEqual({code: 2, out: '', told: expect.stringContaining('create [options] <name>')});
  });
});

describe('A dry run', () => {
  test('with a namespace asks nobody: the ApiKey is on stdout, the token in its file alone', async () => {
    const {code, out, told} = await cli(
      `key create ci -n acme --scope domains:write --scope keys:write --expires 90d --rate-limit 5/100 --dry-run --token-file ${file('a')}`,
    );
    expect(code).toBe(0);
    const token = readFileSync(file('a'), 'utf8').trimEnd();
    expect(parseToken(token)).toEqual({namespace: 'acme', name: 'ci'});
    expect(parse(out) as ApiKey).toEqual({
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'ApiKey',
      metadata: {name: 'ci', namespace: 'acme'},
      spec: {
        hashes: [{sha256: hashToken(token)}],
        scopes: ['domains:write', 'keys:write'],
        expireTime: '2026-05-30T12:00:00Z',
        rateLimit: {requestsPerMinute: 5, requestsPerDay: 100},
      },
    });
    expect([out, told].filter((text) => text.includes(token.slice(-49)))).toEqual([]);
    expect(statSync(file('a')).mode & 0o777).toBe(0o600);
  });

  test('takes the namespace of the context, and domains:read where no scope is said', async () => {
    const {out} = await cli(`key create ci --dry-run --token-file ${file('b')}`, {namespace: 'of-the-context'});
    expect(parse(out)).toMatchObject({metadata: {namespace: 'of-the-context'}, spec: {scopes: ['domains:read']}});
    expect((parse(out) as ApiKey).spec).not.toHaveProperty('expireTime');
  });

  test('writes over no file', async () => {
    writeFileSync(file('c'), 'mine');
    expect(await cli(`key create ci -n acme --dry-run --token-file ${file('c')}`)).toEqual({
      code: 1,
      out: '',
      told: expect.stringContaining('exists already and is not overwritten'),
    });
    expect(readFileSync(file('c'), 'utf8')).toBe('mine');
    expect(await cli(`key create ci -n acme --dry-run --token-file ${file('none/d')}`)).toMatchObject({
      code: 1,
      out: '',
      told: expect.stringContaining('ENOENT'),
    });
  });

  test.each([
    ['12h', '2026-03-02T00:00:00Z'],
    ['30m', '2026-03-01T12:30:00Z'],
    ['2027-01-31T00:00:00+01:00', '2027-01-31T00:00:00+01:00'],
  ])('with --expires %s ends at %s', async (written, expireTime) => {
    const {out} = await cli(
      `key create ci -n acme --expires ${written} --dry-run --token-file ${file(`until-${written}`)}`,
    );
    expect(parse(out)).toMatchObject({spec: {expireTime}});
  });
});

const status = (code: number, reason: string, message: string, details: object = {}) =>
  new ApiError({status: code, body: JSON.stringify({kind: 'Status', reason, message, details})});

describe('What the API server says is told with what to do', () => {
  test.each<[string, unknown, string]>([
    [
      'no right',
      status(
        403,
        'Forbidden',
        'apikeys.doorplate.dev is forbidden: User "x" cannot create resource "apikeys" in API group "doorplate.dev" in the namespace "acme"',
      ),
      'you may not create apikeys in the namespace acme. Ask for the role edit there. To check your rights: kubectl auth can-i create apikeys.doorplate.dev -n acme',
    ],
    [
      'no right in the whole cluster',
      status(
        403,
        'Forbidden',
        'accounts.doorplate.dev "acme" is forbidden: User "x" cannot get resource "accounts" in API group "doorplate.dev" at the cluster scope',
      ),
      'you may not get accounts. Ask for the role view there. To check your rights: kubectl auth can-i get accounts.doorplate.dev',
    ],
    [
      'a policy',
      status(403, 'Forbidden', "ValidatingAdmissionPolicy 'x' denied request: only the platform"),
      "refused: ValidatingAdmissionPolicy 'x' denied request: only the platform",
    ],
    ['nobody', status(401, 'Unauthorized', 'Unauthorized'), 'log in again'],
    [
      'a name that is taken',
      status(409, 'AlreadyExists', 'apikeys.doorplate.dev "ci" already exists', {name: 'ci', kind: 'apikeys'}),
      'apikeys.doorplate.dev "ci" already exists. Choose another name, or delete that one first: kubectl delete apikeys ci',
    ],
    [
      'no namespace',
      status(404, 'NotFound', 'namespaces "acme" not found', {name: 'acme', kind: 'namespaces'}),
      'there is no namespace acme',
    ],
    [
      'no such kind',
      new ApiError({status: 404, body: '404 page not found\n'}),
      'Check that the chart doorplate-crds is installed',
    ],
    [
      'a refusal of another sort',
      status(422, 'Invalid', 'ApiKey "ci" is invalid: spec.x: y'),
      'refused: ApiKey "ci" is invalid: spec.x: y',
    ],
    [
      'silence',
      new NoAnswerError('POST /apis', new Error('connect ECONNREFUSED 127.0.0.1:1')),
      'does not answer (POST /apis: no answer: connect ECONNREFUSED 127.0.0.1:1). Check that the cluster runs',
    ],
    [
      'a credential plugin that fails',
      new Error('exec: aws not found'),
      'the request to the API server failed: Error: exec: aws not found',
    ],
  ])('%s', (_, error, said) => {
    expect(explain(error).message).toContain(said);
  });
});
