/** The paths of usage: how many requests each key made, for each scope, on each day. */
import type {FastifyInstance} from 'fastify';
import {z} from 'zod';
import {csv} from '../../domain/csv.ts';
import {
  dateOf,
  dayMs,
  dayOf,
  type UsageCount,
  type UsageCounter,
  usageDays,
  type UsageRange,
} from '../../limits/usage.ts';
import {answers} from '../answers.ts';
import {type App, typed} from '../app.ts';
import {asked} from '../asked.ts';
import {callerOf} from '../gate/caller.ts';
import {Problem} from '../problems.ts';
import {unknown} from '../gate/refusals.ts';
import type {ServiceAccounts} from '../gate/service-accounts.ts';

export interface UsageDeps {
  usage: Pick<UsageCounter, 'of' | 'namespaces'>;
  serviceAccounts: Pick<ServiceAccounts, 'may'>;
  /** Unix ms, by the clock that days go by. */
  now: () => number;
}

/** Most days of one answer, so that its length is bounded. */
const mostDays = 31;
const defaultDays = 30;

const day = z.iso.date();
const range = {
  since: day.optional().describe(`The first day, YYYY-MM-DD (UTC). Default: ${defaultDays - 1} days before \`until\`.`),
  until: day.optional().describe('The last day. Default: today.'),
};
const requests = z.int32().describe('Admitted requests.');
const scope = z.string().describe("The required scope. `any`: no special scope. '': `(other keys)`.");
const key = z
  .string()
  .describe('Name of the key. `(other keys)`: all beyond the first 500 combinations of a namespace and day.');
const ofDay = z
  .object({day: z.string().describe('The day, YYYY-MM-DD (UTC).'), key, scope, requests})
  .describe('The requests of a key on a day.')
  .meta({id: 'KeyUsage'});
const span = {since: z.string().describe('The first day.'), until: z.string().describe('The last day.')};
const usageView = z
  .object({...span, items: z.array(ofDay).describe('Requests by day, key and scope.')})
  .describe('The requests of the keys of a namespace.')
  .meta({id: 'Usage'});
export type UsageView = z.output<typeof usageView>;
const ofNamespace = z
  .object({
    namespace: z.string().describe('The namespace.'),
    account: z.string().nullable().describe('Its Account at that time. Null without one.'),
    key,
    scope,
    requests,
  })
  .describe('The requests of a key on all days together.')
  .meta({id: 'NamespaceUsage'});
const allView = z
  .object({
    ...span,
    items: z.array(ofNamespace).describe('The sums of each namespace.'),
    next: z.string().nullable().describe('Send it as `after` to read the next page. Null at the end.'),
  })
  .describe('A page of the requests of all namespaces.')
  .meta({id: 'UsagePage'});

const tags = ['Usage'];
const description =
  'The API stores usage every half minute. A replica shows the requests that the others have stored. ' +
  `It keeps ${usageDays} days. An answer covers at most ${mostDays} days.`;

export function addUsage(server: FastifyInstance, deps: UsageDeps): void {
  const app = typed(server);
  readUsage(app, deps);
  readAllUsage(app, deps);
}

function readUsage(app: App, {usage, now}: UsageDeps): void {
  app.get(
    '/v1/usage',
    {
      config: {scope: 'usage:read', hasETag: true},
      schema: {
        operationId: 'getUsage',
        summary: 'Read the number of requests of each key',
        description,
        tags,
        querystring: z.object({
          ...range,
          format: z.enum(['json', 'csv']).default('json').describe('`csv`: a header line, then a line for each row.'),
        }),
        produces: ['application/json', 'text/csv'],
        response: answers({200: usageView}, ['invalid-input']),
      },
    },
    async (request, reply) => {
      const {tenant, namespace} = callerOf(request);
      const days = rangeOf(request.query, now());
      const counts = await asked(usage.of(tenant.namespaceUID, days), 'Usage cannot be read now. Try again.');
      const items = counts.map((count) => ({...rowOf(count), day: dateOf(count.day)}));
      const view = {since: dateOf(days.since), until: dateOf(days.until), items: sums(items, ['day', 'key', 'scope'])};
      if (request.query.format === 'json') return view;
      const file = `usage-${namespace}-${view.since}-${view.until}.csv`;
      // Names of keys and scopes begin with a letter, a digit or a bracket.
      const text = csv(['day', 'key', 'scope', 'requests'], view.items);
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="${file}"`)
        .serializer(String)
        .send(text as never);
    },
  );
}

function readAllUsage(app: App, {usage, serviceAccounts, now}: UsageDeps): void {
  app.get(
    '/v1/usage/all',
    {
      schema: {
        operationId: 'getAllUsage',
        summary: 'Read the usage of all namespaces',
        description:
          'For invoices. Needs the token of a ServiceAccount that may `list` apikeys.doorplate.dev in all namespaces (a ClusterRole); ' +
          `\`Doorplate-Namespace\` is not needed. ${description}`,
        tags,
        querystring: z.object({
          ...range,
          limit: z.coerce.number().int().min(1).max(100).default(50).describe('Maximum number of namespaces.'),
          after: z.string().max(253).optional().describe('`next` of the previous page.'),
        }),
        response: answers({200: allView}, ['invalid-input']),
      },
    },
    async (request) => {
      const {caller} = request;
      if (caller.kind === 'address') throw unknown(caller.why);
      const right = {verb: 'list', resource: 'apikeys'} as const;
      if (caller.kind !== 'service-account' || !(await serviceAccounts.may(caller.account, right, '')))
        throw new Problem(
          'scope-missing',
          'This needs the token of a ServiceAccount that may list apikeys.doorplate.dev in all namespaces (a ClusterRole).',
        );
      const {limit, after = ''} = request.query;
      const days = rangeOf(request.query, now());
      const read = async (): Promise<z.output<typeof allView>> => {
        const uids = await usage.namespaces(days, after, limit);
        const counts = (await Promise.all(uids.map((uid) => usage.of(uid, days)))).flat();
        return {
          since: dateOf(days.since),
          until: dateOf(days.until),
          items: sums(
            counts.map((count) => ({
              namespace: count.namespace,
              account: count.account === '' ? null : count.account,
              ...rowOf(count),
            })),
            ['namespace', 'account', 'key', 'scope'],
          ),
          next: uids.length < limit ? null : uids.at(-1)!,
        };
      };
      return asked(read(), 'Usage cannot be read now. Try again.');
    },
  );
}

const wrongSince = (message: string): Problem =>
  new Problem('invalid-input', `querystring.since: ${message}`, {errors: [{field: 'querystring.since', message}]});

const dayIn = (date: string | undefined, otherwise: number): number =>
  date === undefined ? otherwise : Math.floor(Date.parse(date) / dayMs);

/** Throws `invalid-input` for days in the wrong order, or too many. */
function rangeOf(query: {since?: string; until?: string}, nowMs: number): UsageRange {
  const today = dayOf(nowMs);
  const until = dayIn(query.until, today);
  const since = dayIn(query.since, Math.max(until - defaultDays + 1, today - usageDays + 1));
  if (since > until) throw wrongSince('must not be after `until`');
  if (until - since >= mostDays) throw wrongSince(`must be at most ${mostDays - 1} days before \`until\``);
  return {since, until};
}

const rowOf = ({key: name, scope: of, requests: n}: UsageCount): {key: string; scope: string; requests: number} => ({
  key: name,
  scope: of,
  requests: n,
});

/** Adds up the rows that have the same values in these columns. */
function sums<T extends {requests: number}>(rows: readonly T[], columns: readonly (keyof T)[]): T[] {
  const found = new Map<string, T>();
  for (const row of rows) {
    const id = JSON.stringify(columns.map((column) => row[column]));
    const there = found.get(id);
    if (there) there.requests += row.requests;
    else found.set(id, {...row});
  }
  return [...found.values()];
}
