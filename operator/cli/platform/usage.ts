/** `kubectl doorplate usage`: how many requests keys made, as the API tells the platform (operator/http/routes/usage.ts). */
import type {Command} from 'commander';
import {Option} from 'commander';
import {csv} from '../../domain/csv.ts';
import type {Client} from '../../kube/client/client.ts';
import {isNotFound} from '../../kube/errors.ts';
import {splitKey} from '../../kube/objects.ts';
import {requestToken} from '../../kube/client/service-account-token.ts';
import {type Act, type Call, describe} from '../command.ts';
import {CommandError, isForbidden} from '../errors.ts';
import {forPrograms, outputOption, type OutputOptions, table} from '../output.ts';
import {defaultPlace, publishedSettings} from '../settings.ts';
import {connected} from '../surroundings.ts';

interface UsageOptions extends OutputOptions {
  allNamespaces?: boolean;
  since?: string;
  until?: string;
  url?: string;
  serviceAccount: string;
  settings: string;
}

/** A row of an answer: with the day for one namespace; with the namespace and its Account for all namespaces. */
interface UsageRow {
  day?: string;
  namespace?: string;
  account?: string | null;
  key: string;
  scope: string;
  requests: number;
}

const columns = {
  one: ['day', 'key', 'scope', 'requests'],
  all: ['account', 'namespace', 'key', 'scope', 'requests'],
} as const satisfies Record<string, readonly (keyof UsageRow)[]>;

export function addUsage(program: Command, act: Act): void {
  const command = describe(program, 'usage', {
    summary: 'show the number of requests of API keys: per day for a namespace, or totals for all namespaces',
    examples: [
      'kubectl doorplate usage -n acme --since 2026-03-01 --until 2026-03-31',
      'kubectl doorplate usage -A --since 2026-03-01 --until 2026-03-31 -o csv > march.csv',
      'kubectl -n doorplate-system port-forward svc/doorplate-api 8080:80 & kubectl doorplate usage -A --url http://127.0.0.1:8080',
    ],
  })
    .option('-A, --all-namespaces', 'totals of all namespaces, for invoices')
    .option('--since <day>', 'the first day, YYYY-MM-DD (UTC); default: 29 days before the last day')
    .option('--until <day>', 'the last day; default: today. At most 31 days')
    .option('--url <url>', "URL of the API; default: https:// and the host in the platform's settings")
    .option(
      '--service-account <namespace/name>',
      'ServiceAccount whose token is used; you must be allowed to create its tokens, and it must be allowed to list apikeys.doorplate.dev',
      'doorplate-system/doorplate-api',
    )
    .addOption(
      new Option('--settings <namespace/name>', 'ConfigMap with the settings of the platform').default(defaultPlace),
    )
    .addOption(outputOption(['table', 'csv']));
  act<UsageOptions>(command, printUsage);
}

async function printUsage(call: Call<UsageOptions>): Promise<void> {
  const {options, out, colours} = call;
  const rows = await connected(options, call, async ({client, namespace}) => {
    const {api} = (await publishedSettings(client, options.settings)) ?? {};
    const url = options.url ?? (api?.host ? `https://${api.host}` : undefined);
    if (url === undefined)
      throw new CommandError(
        "the platform's settings name no host of the API: set its address with --url, such as a port-forward to its Service",
      );
    const token = await tokenOf(client, options.serviceAccount, api?.audience ?? 'doorplate');
    return options.allNamespaces
      ? readAll(url, token, options)
      : (await read(url, '/v1/usage', token, options, {'doorplate-namespace': namespace})).items;
  });
  const shown = columns[options.allNamespaces ? 'all' : 'one'];
  const data = forPrograms(options.output, rows);
  if (data !== undefined) out(data);
  else if (options.output === 'csv') out(csv(shown, rows, '\n'));
  else
    out(
      table(
        shown.map((column) => column.toUpperCase()),
        rows.map((row) => shown.map((column) => String(row[column] ?? ''))),
        colours,
      ),
    );
}

/** A token of the ServiceAccount for the API, for ten minutes. Throws CommandError. */
async function tokenOf(client: Client, serviceAccount: string, audience: string): Promise<string> {
  const {namespace, name} = splitKey(serviceAccount);
  if (namespace === undefined)
    throw new CommandError(`--service-account is ${serviceAccount}, but must be NAMESPACE/NAME`);
  return requestToken(client, {namespace, name}, {audience, seconds: 600}).catch((error: unknown) => {
    if (isNotFound(error))
      throw new CommandError(`there is no ServiceAccount ${serviceAccount}: name another one with --service-account`);
    if (!isForbidden(error)) throw error;
    throw new CommandError(
      `you may not create a token of the ServiceAccount ${serviceAccount}: this needs the right to create serviceaccounts/token ` +
        'there. Or name another ServiceAccount with --service-account',
    );
  });
}

interface UsageAnswer {
  items: UsageRow[];
  next?: string | null;
}

async function readAll(url: string, token: string, options: UsageOptions): Promise<UsageRow[]> {
  const rows: UsageRow[] = [];
  for (let after: string | undefined; ;) {
    const {items, next} = await read(url, '/v1/usage/all', token, {...options, after});
    rows.push(...items);
    if (!next) return rows;
    after = next;
  }
}

/** One answer of the API. Throws CommandError with what the API says, or that it was not reached. */
async function read(
  url: string,
  path: string,
  token: string,
  query: {since?: string; until?: string; after?: string},
  headers: Record<string, string> = {},
): Promise<UsageAnswer> {
  const asked = new URL(path, url);
  for (const name of ['since', 'until', 'after'] as const)
    if (query[name] !== undefined) asked.searchParams.set(name, query[name]);
  const answer = await fetch(asked, {
    headers: {...headers, authorization: `Bearer ${token}`},
    signal: AbortSignal.timeout(30_000),
  }).catch((error: Error) => {
    const {cause} = error as {cause?: Error};
    throw new CommandError(
      `the API at ${url} does not answer (${cause?.message ?? error.message}). Set its address with --url`,
    );
  });
  const body = (await answer.json().catch(() => ({}))) as UsageAnswer & {detail?: string};
  if (answer.ok && Array.isArray(body.items)) return body;
  throw new CommandError(
    `the API at ${url} answered ${answer.status}: ${body.detail ?? 'another program answers at this address'}`,
  );
}
