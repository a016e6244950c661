/** Usage (usage.ts) in Valkey: a hash for each namespace and day, and a set of the namespaces of each month. */
import {dateOf, mostSeries, otherKeys, type UsageCount, type UsageRange, type UsageStore, usageDays} from '../usage.ts';
import type {ValkeyClient} from './valkey-client.ts';

/**
 * Adds a batch of counts unless that was done before. KEYS: the batch, then for each count its hash (a namespace and day) and the set of
 * namespaces of its month. ARGV: seconds to keep, the bound, then for each count the namespace, its field, the field of all others, and
 * requests.
 */
const usageScript = `
  if not redis.call('SET', KEYS[1], '', 'NX', 'EX', 3600) then return 0 end
  local keep, most = ARGV[1], tonumber(ARGV[2])
  for i = 1, (#KEYS - 1) / 2 do
    local hash, set = KEYS[2 * i], KEYS[2 * i + 1]
    local uid, field, others, requests = unpack(ARGV, 4 * i - 1, 4 * i + 2)
    if redis.call('HEXISTS', hash, field) == 0 and redis.call('HLEN', hash) >= most then field = others end
    redis.call('HINCRBY', hash, field, requests)
    redis.call('EXPIRE', hash, keep)
    redis.call('ZADD', set, 0, uid)
    redis.call('EXPIRE', set, keep)
  end
  return 1
`;
/** A month longer than the counts: the set of a month is kept until its last day is too old. */
const keepUsageSeconds = (usageDays + 31) * 86_400;

/** The commands of Valkey that usage needs (valkey.ts). */
interface UsageServer {
  /** What its keys begin with. */
  prefix: string;
  ask: <T>(call: (client: ValkeyClient) => Promise<T>) => Promise<T>;
  run: (script: string, keys: string[], args: string[]) => Promise<unknown>;
}

export class ValkeyUsage implements UsageStore {
  readonly #server: UsageServer;

  constructor(server: UsageServer) {
    this.#server = server;
  }

  async addUsage(counts: readonly UsageCount[], batch: string): Promise<void> {
    await this.#server.run(
      usageScript,
      [
        `${this.#server.prefix}:usage-batch:${batch}`,
        ...counts.flatMap(({namespaceUID, day}) => [this.#usageKey(namespaceUID, day), this.#monthKey(monthOf(day))]),
      ],
      [
        String(keepUsageSeconds),
        String(mostSeries),
        ...counts.flatMap(({namespaceUID, namespace, account, key, scope, requests}) => [
          namespaceUID,
          JSON.stringify([namespace, account, key, scope]),
          JSON.stringify([namespace, account, otherKeys, '']),
          String(requests),
        ]),
      ],
    );
  }

  async usageOf(namespaceUID: string, range: UsageRange): Promise<UsageCount[]> {
    const days = daysOf(range);
    const hashes = await this.#server.ask((client) =>
      Promise.all(days.map((day) => client.hGetAll(this.#usageKey(namespaceUID, day)))),
    );
    return hashes.flatMap((counts, i) =>
      Object.entries(counts).map(([field, requests]) => {
        const [namespace, account, key, scope] = JSON.parse(field) as [string, string, string, string];
        return {namespaceUID, namespace, account, key, scope, day: days[i]!, requests: Number(requests)};
      }),
    );
  }

  async usingNamespaces(range: UsageRange, after: string, limit: number): Promise<string[]> {
    const months = new Set(daysOf(range).map(monthOf));
    const LIMIT = {offset: 0, count: limit};
    const sets = await this.#server.ask((client) =>
      Promise.all(
        [...months].map((month) =>
          client.zRange(this.#monthKey(month), after === '' ? '-' : `(${after}`, '+', {BY: 'LEX', LIMIT}),
        ),
      ),
    );
    return [...new Set(sets.flat())].toSorted().slice(0, limit);
  }

  #usageKey(namespaceUID: string, day: number): string {
    return `${this.#server.prefix}:usage:${day}:${namespaceUID}`;
  }

  #monthKey(month: string): string {
    return `${this.#server.prefix}:usage-namespaces:${month}`;
  }
}

const daysOf = ({since, until}: UsageRange): number[] =>
  Array.from({length: Math.max(0, until - since + 1)}, (_, i) => since + i);

/** YYYY-MM. */
const monthOf = (day: number): string => dateOf(day).slice(0, 7);
