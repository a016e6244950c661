/**
 * The journal in Valkey: a stream for each tenant, and beside all of them two sorted sets (bytes and last append of each tenant) and
 * the sum of the bytes. The server's time is in the ids of the streams.
 */
import {
  bytesOf,
  type Journal,
  type JournalBounds,
  type JournalPage,
  type JournalQuery,
  type JournalRecord,
  mostDeleted,
  mostScanned,
} from '../journal.ts';

/** Keys: the prefix. Arguments: retention in ms, records of a tenant, bytes in all, most deletions; then five for each record. */
const appendScript = `
  local prefix = KEYS[1]
  local sizes, last, total = prefix .. ':sizes', prefix .. ':last', prefix .. ':bytes'
  local retention, perTenant, most, left = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
  local time = redis.call('TIME')
  local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  local function stream(tenant) return prefix .. ':of:' .. tenant end
  local function forget(tenant)
    redis.call('INCRBY', total, -tonumber(redis.call('ZSCORE', sizes, tenant) or '0'))
    redis.call('DEL', stream(tenant))
    redis.call('ZREM', sizes, tenant)
    redis.call('ZREM', last, tenant)
  end
  local function oldest(tenant) return redis.call('XRANGE', stream(tenant), '-', '+', 'COUNT', 1)[1] end
  local function drop(tenant)
    left = left - 1
    local entry = oldest(tenant)
    if not entry or redis.call('XLEN', stream(tenant)) == 1 then return forget(tenant) end
    redis.call('XDEL', stream(tenant), entry[1])
    redis.call('ZINCRBY', sizes, -tonumber(entry[2][6]), tenant)
    redis.call('INCRBY', total, -tonumber(entry[2][6]))
  end
  local written = {}
  for i = 5, #ARGV, 5 do
    local tenant = ARGV[i]
    redis.call('XADD', stream(tenant), '*', 'namespace', ARGV[i + 1], 'project', ARGV[i + 2], 'bytes', ARGV[i + 3],
      'text', ARGV[i + 4])
    redis.call('ZINCRBY', sizes, ARGV[i + 3], tenant)
    redis.call('ZADD', last, now, tenant)
    redis.call('INCRBY', total, ARGV[i + 3])
    written[tenant] = true
  end
  for tenant in pairs(written) do
    redis.call('PEXPIRE', stream(tenant), retention)
    while left > 0 and redis.call('XLEN', stream(tenant)) > perTenant do drop(tenant) end
    local entry = oldest(tenant)
    while left > 0 and entry and tonumber(string.match(entry[1], '^%d+')) < now - retention do
      drop(tenant)
      entry = oldest(tenant)
    end
  end
  for _, tenant in ipairs(redis.call('ZRANGEBYSCORE', last, '-inf', '(' .. (now - retention), 'LIMIT', 0, 100)) do forget(tenant) end
  while left > 0 and tonumber(redis.call('GET', total) or '0') > most do
    local largest = redis.call('ZREVRANGE', sizes, 0, 0)[1]
    if not largest then break end
    drop(largest)
  end
  return now
`;

/**
 * Keys: the prefix. Arguments: tenant, first id, last id, namespace, project, most records, most to read. Answers the id to continue
 * from (empty at the end), then ids and texts in turn.
 */
const readScript = `
  local answer, cursor = {''}, nil
  local entries = redis.call('XREVRANGE', KEYS[1] .. ':of:' .. ARGV[1], ARGV[3], ARGV[2], 'COUNT', ARGV[7])
  for _, entry in ipairs(entries) do
    local field = entry[2]
    if field[2] == ARGV[4] and (ARGV[5] == '' or field[4] == ARGV[5]) then
      if #answer > 2 * tonumber(ARGV[6]) then
        answer[1] = answer[#answer - 1]
        return answer
      end
      table.insert(answer, entry[1])
      table.insert(answer, field[8])
    end
    cursor = entry[1]
  end
  if #entries == tonumber(ARGV[7]) then answer[1] = cursor end
  return answer
`;

/** Runs a script where nothing can come in between. Rejects if the server cannot be asked. */
type Run = (script: string, keys: string[], args: string[]) => Promise<unknown>;

export class ValkeyJournal implements Journal {
  readonly #run: Run;
  readonly #prefix: string;
  readonly #bounds: JournalBounds;

  constructor(p: {run: Run; prefix: string; bounds: JournalBounds}) {
    this.#run = p.run;
    this.#prefix = p.prefix;
    this.#bounds = p.bounds;
  }

  async append(records: readonly JournalRecord[]): Promise<void> {
    const {retentionMs, recordsPerTenant, bytes} = this.#bounds;
    await this.#run(
      appendScript,
      [this.#prefix],
      [
        ...[retentionMs, recordsPerTenant, bytes, mostDeleted].map(String),
        ...records.flatMap((record) => {
          const {tenant, namespace, project = '', text} = record;
          return [tenant, namespace, project, String(bytesOf(record)), text];
        }),
      ],
    );
  }

  async read(
    {tenant, namespace, project = '', sinceMs = 0, untilMs, after, limit}: JournalQuery,
    nowMs: number,
  ): Promise<JournalPage> {
    // No id is below that.
    if (untilMs !== undefined && untilMs < 1) return {records: []};
    const from = Math.max(0, Math.ceil(Math.max(sinceMs, nowMs - this.#bounds.retentionMs)));
    // A page begins before the last record of the page before, which is before the end that was asked for.
    const to = after !== undefined ? `(${after}` : untilMs !== undefined ? `(${Math.ceil(untilMs)}-0` : '+';
    const [next, ...found] = (await this.#run(
      readScript,
      [this.#prefix],
      [tenant, String(from), to, namespace, project, String(limit), String(mostScanned)],
    )) as string[];
    const records = Array.from({length: found.length / 2}, (_, i) => ({
      atMs: Number.parseInt(found[2 * i]!, 10),
      text: found[2 * i + 1]!,
    }));
    return {records, ...(next !== '' && {next: next!})};
  }
}
