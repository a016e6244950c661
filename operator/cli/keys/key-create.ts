/** `kubectl doorplate key create`: an ApiKey of the user's own making, and its token, once. */
import {closeSync, openSync, unlinkSync, writeSync} from 'node:fs';
import type {Command} from 'commander';
import {stringify} from 'yaml';
import {apiKeyKind, type ApiKeySpec, longestKeyName, ownScopes} from '../../api/api-key.ts';
import {group, version} from '../../api/crd.ts';
import type {ApiKey} from '../../api/foreign.ts';
import {apiKeys} from '../../resources/resources.ts';
import {hashToken, makeToken} from '../../domain/api-key.ts';
import {timestamp} from '../../domain/times.ts';
import {type Act, type Call, describe, several} from '../command.ts';
import {CommandError, UsageError} from '../errors.ts';
import {fieldManager} from '../field-manager.ts';
import {connected} from '../surroundings.ts';

const units = {m: 60_000, h: 3_600_000, d: 86_400_000} as const;

interface KeyCreateOptions {
  scope?: string[];
  expires?: string;
  rateLimit?: string;
  tokenFile?: string;
  dryRun?: boolean;
}

export function addKeyCreate(key: Command, act: Act): void {
  const command = describe(key, 'create', {
    summary: 'create an API key and print its token once, alone, on stdout; Doorplate keeps only its hash',
    examples: [
      'kubectl doorplate key create ci --scope domains:read --scope domains:write --expires 90d',
      'kubectl doorplate key create ci -n acme --token-file ci.token',
      'kubectl doorplate key create ci -n acme --dry-run --token-file ci.token > apikey.yaml',
    ],
  })
    .argument('<name>')
    .option(
      '--scope <word:word>',
      `scope of the key; may be repeated. Default: domains:read. Doorplate's own scopes: ${ownScopes.join(', ')}`,
      several,
    )
    .option(
      '--expires <time>',
      'when the key expires: a time span from now (12h, 90d) or a time (2027-01-31T00:00:00Z). Default: never',
    )
    .option(
      '--rate-limit <n/m>',
      'a limit for this key alone: n requests a minute, m a day. Default: the limit of its tenant',
    )
    .option(
      '--token-file <file>',
      'write the token to this new file instead of stdout; only the owner of the file can read it',
    )
    .option('--dry-run', 'write nothing to the cluster, and print the ApiKey as YAML for Git. Needs --token-file');
  act<KeyCreateOptions>(command, createKey);
}

async function createKey(call: Call<KeyCreateOptions>): Promise<void> {
  const {operands, options, out, tell} = call;
  const [name = ''] = operands;
  const {tokenFile: file, dryRun = false} = options;
  if (dryRun && file === undefined) {
    throw new UsageError('--dry-run prints the ApiKey for Git: write its token to a file with --token-file FILE');
  }
  const asked = specOf(options, call.now());
  // A dry run with a namespace needs no cluster, not even a kubeconfig.
  const namespace = options.namespace ?? (await call.cluster(options)).namespace;
  const token = tokenFor(namespace, name);
  const spec = check({hashes: [{sha256: hashToken(token)}], ...asked});
  const key: ApiKey = {apiVersion: `${group}/${version}`, kind: apiKeyKind.kind, metadata: {name, namespace}, spec};

  // The file is opened first, so that no key is created that cannot be saved.
  const kept = file === undefined ? undefined : keep(file, `${token}\n`);
  try {
    if (dryRun) out(stringify(key));
    else await connected(options, call, ({client}) => client.create(apiKeys, key, {fieldManager}));
  } catch (error) {
    kept?.undo();
    throw error;
  }
  if (!kept) out(`${token}\n`);
  const done = dryRun
    ? 'Nothing was written to the cluster'
    : `ApiKey ${name} was created in the namespace ${namespace}`;
  const end = spec.expireTime ? `until ${spec.expireTime}` : 'without an expiry';
  const where = file === undefined ? 'is above' : `is in ${file}`;
  tell(`${done}: ${spec.scopes.join(', ')}, ${end}. Its token ${where}. It is not shown again.\n`);
}

function tokenFor(namespace: string, name: string): string {
  if (name.length > longestKeyName) {
    throw new UsageError(`the name ${name} has ${name.length} characters; at most ${longestKeyName} are allowed`);
  }
  try {
    return makeToken({namespace, name});
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UsageError(
      `${error.message}: use lower-case letters, digits and hyphens; the name of the key may also contain dots`,
    );
  }
}

/** A new file that only its owner reads, and what removes it again. Throws CommandError where there is one of its name. */
function keep(file: string, text: string): {undo: () => void} {
  try {
    const descriptor = openSync(file, 'wx', 0o600);
    try {
      writeSync(descriptor, text);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const {code, message} = error as NodeJS.ErrnoException;
    throw new CommandError(
      `${file}${code === 'EEXIST' ? ' exists already and is not overwritten: name a new file' : `: ${message}`}`,
    );
  }
  return {undo: () => unlinkSync(file)};
}

function specOf({scope, expires, rateLimit: rate}: KeyCreateOptions, now: number): Omit<ApiKeySpec, 'hashes'> {
  return {
    scopes: scope ?? ['domains:read'],
    ...(expires !== undefined && {expireTime: expireTimeOf(expires, now)}),
    ...(rate !== undefined && {rateLimit: rateLimitOf(rate)}),
  };
}

function expireTimeOf(text: string, now: number): string {
  const [, number, unit] = /^([1-9][0-9]{0,5})([mhd])$/.exec(text) ?? [];
  const time = number === undefined ? text : timestamp(now + Number(number) * units[unit as keyof typeof units]);
  if (Date.parse(time) <= now) throw new UsageError(`--expires ${text} is in the past`);
  return time;
}

function rateLimitOf(text: string): ApiKeySpec['rateLimit'] {
  const [, minute, day] = /^([0-9]+)\/([0-9]+)$/.exec(text) ?? [];
  if (minute === undefined) {
    throw new UsageError(`--rate-limit ${text} must be REQUESTS-A-MINUTE/REQUESTS-A-DAY, such as 60/1000`);
  }
  return {requestsPerMinute: Number(minute), requestsPerDay: Number(day)};
}

const options: Readonly<Record<string, string>> = {
  scopes: '--scope',
  expireTime: '--expires',
  rateLimit: '--rate-limit',
};

/** The spec, as the API server would take it. Throws UsageError with what it would say. */
function check(spec: ApiKeySpec): ApiKeySpec {
  const {error, data} = apiKeyKind.spec.safeParse(spec);
  if (data) return data;
  const complaints = error.issues.map(({path, message}) => `${options[String(path[0])] ?? path.join('.')}: ${message}`);
  throw new UsageError(complaints.join('; '));
}
