/**
 * The backend for several replicas: Valkey, or Redis 7. One script takes what all claims of a call ask for, or nothing. Bans are in one
 * hash, which every replica reads again when it has changed; it looks once a second.
 */
import {hash, randomUUID} from 'node:crypto';
import {once} from 'node:events';
import {ClientOfflineError, createClient} from '@redis/client';
import type {Backend, BanChange, Held, StoredRecord} from './backend.ts';
import {type Ban, banId, userOf} from './bans.ts';
import type {RecordStore} from './records.ts';
import type {Claim, Grant} from './store.ts';

/**
 * The rule of `grantAll`, where nothing can come in between. Seven arguments for each key: limit, want, least, what is taken for sure and
 * what is given back for sure, what is owed, and for how many seconds to keep it. A key is a hash of `taken` and `returned`. Answers
 * granted, taken and returned, in turn. A key lives by a span and not to a time: the server's clock is not ours.
 */
const reserveScript = `
  local width = 7
  local function arg(i, nth) return tonumber(ARGV[(i - 1) * width + nth]) end
  local taken, returned, enough, answer = {}, {}, true, {}
  for i, key in ipairs(KEYS) do
    local held = redis.call('HMGET', key, 'taken', 'returned')
    taken[i] = math.max(tonumber(held[1] or '0'), arg(i, 4)) + math.max(arg(i, 6), 0)
    returned[i] = math.max(tonumber(held[2] or '0'), arg(i, 5)) + math.max(-arg(i, 6), 0)
    if arg(i, 1) - taken[i] + returned[i] < arg(i, 3) then enough = false end
  end
  for i, key in ipairs(KEYS) do
    local granted = 0
    if enough then granted = math.max(0, math.min(arg(i, 2), arg(i, 1) - taken[i] + returned[i])) end
    redis.call('HSET', key, 'taken', taken[i] + granted, 'returned', returned[i])
    redis.call('EXPIRE', key, arg(i, 7))
    table.insert(answer, granted)
    table.insert(answer, taken[i] + granted)
    table.insert(answer, returned[i])
  end
  return answer
`;
const reserveSha = hash('sha1', reserveScript);

/** A window is kept for longer than it lasts: clocks of replicas differ. */
const keepSeconds = 60;
const lookForBansMs = 1000;

export interface ValkeyOptions {
  /** redis://user:password@host:port/db, or rediss:// for TLS. */
  url: string;
  /** What its keys begin with: installations that share a server must differ. */
  prefix?: string;
  /** Called with all bans when they have changed there; with nothing when the server has lost what it held. */
  onBans?: (bans: Ban[] | undefined) => void;
}

export class Valkey implements Backend, RecordStore {
  readonly #client;
  readonly #prefix: string;
  readonly #onBans: (bans: Ban[] | undefined) => void;
  /** Why it is not connected. */
  #failure: Error | undefined;
  #looking: NodeJS.Timeout | undefined;
  /** Of the bans that were read last; null when the server had none. */
  #version: string | null | undefined;

  constructor({url, prefix = 'doorplate', onBans = () => {}}: ValkeyOptions) {
    this.#onBans = onBans;
    // All keys of one slot: a script may touch no others in a cluster.
    this.#prefix = `{${prefix}}`;
    this.#client = createClient({
      url,
      // What cannot be sent fails at once: FallbackStore knows what to do.
      disableOfflineQueue: true,
      socket: {connectTimeout: 2000, reconnectStrategy: (tries) => Math.min(50 * 2 ** Math.min(tries, 6), 1000)},
    });
    this.#client
      .on('error', (error: Error) => {
        this.#failure = error;
      })
      .on('ready', () => {
        this.#failure = undefined;
      });
  }

  async open(): Promise<Held> {
    await this.#connected();
    const held = {windows: [], bans: await this.#readBans(), records: []};
    this.#looking ??= setInterval(() => void this.#look(), lookForBansMs).unref();
    return held;
  }

  async reserve(claims: readonly Claim[], nowMs: number): Promise<Grant[]> {
    if (claims.length === 0) {
      await this.#orWhy(this.#client.ping());
      return [];
    }
    const answer = await this.#run(
      claims.map(({window}) => `${this.#prefix}:window:${window}`),
      claims.flatMap((claim) => {
        const seconds = Math.max(1, Math.ceil(claim.endSeconds - nowMs / 1000)) + keepSeconds;
        const {limit, want, least, known = 0, knownReturned = 0, owed = 0} = claim;
        return [limit, want, least, known, knownReturned, owed, seconds].map(String);
      }),
    );
    return claims.map((_, i) => ({granted: answer[3 * i]!, taken: answer[3 * i + 1]!, returned: answer[3 * i + 2]!}));
  }

  async changeBans(changes: readonly BanChange[]): Promise<void> {
    const all = this.#client.multi();
    for (const change of changes) {
      if ('remove' in change) all.hDel(this.#key('bans'), banId(change.remove));
      else all.hSet(this.#key('bans'), banId(change.save), JSON.stringify(change.save));
    }
    await all.set(this.#key('version'), randomUUID()).exec();
  }

  async get(name: string): Promise<string | undefined> {
    return (await this.#client.get(this.#recordKey(name))) ?? undefined;
  }

  async put({name, text, endsSeconds}: StoredRecord, nowMs: number): Promise<void> {
    await this.#client.set(this.#recordKey(name), text, {
      expiration: {type: 'EX', value: Math.max(1, Math.ceil(endsSeconds - nowMs / 1000))},
    });
  }

  async take(name: string): Promise<string | undefined> {
    return (await this.#client.getDel(this.#recordKey(name))) ?? undefined;
  }

  async close(): Promise<void> {
    clearInterval(this.#looking);
    this.#client.destroy();
  }

  #key(name: 'bans' | 'version'): string {
    return `${this.#prefix}:${name}`;
  }

  #recordKey(name: string): string {
    return `${this.#prefix}:record:${name}`;
  }

  /** The client goes on trying whatever happens, so `connect` itself settles only when it is closed. */
  async #connected(): Promise<void> {
    if (!this.#client.isOpen) this.#client.connect().catch(() => {});
    if (this.#client.isReady) return;
    if (this.#failure) throw this.#failure;
    await once(this.#client, 'ready');
  }

  /** A call while it is not connected fails with what keeps it from that. */
  async #orWhy<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      throw error instanceof ClientOfflineError && this.#failure ? this.#failure : error;
    }
  }

  async #run(keys: string[], args: string[]): Promise<number[]> {
    const options = {keys, arguments: args};
    try {
      return (await this.#orWhy(this.#client.evalSha(reserveSha, options))) as number[];
    } catch (error) {
      if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
      return (await this.#orWhy(this.#client.eval(reserveScript, options))) as number[];
    }
  }

  async #readBans(): Promise<Ban[]> {
    this.#version = await this.#client.get(this.#key('version'));
    const held = Object.entries(await this.#client.hGetAll(this.#key('bans')));
    return held.map(([id, text]) => ({...(JSON.parse(text) as Ban), ...userOf(id)}));
  }

  async #look(): Promise<void> {
    try {
      const version = await this.#client.get(this.#key('version'));
      if (version === this.#version) return;
      if (version === null) {
        this.#version = null;
        return this.#onBans(undefined);
      }
      this.#onBans(await this.#readBans());
    } catch {
      /* it is down: it is read again when it answers */
    }
  }
}
