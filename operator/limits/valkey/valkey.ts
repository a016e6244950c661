/**
 * The backend for several replicas: Valkey, or Redis 7. A script takes everything that the claims of a call ask for, or nothing. Bans are
 * in one hash, which every replica reads again after a change; it checks once a second. The server's time is the time of all replicas.
 */
import {hash, randomUUID} from 'node:crypto';
import {once} from 'node:events';
import {ClientOfflineError} from '@redis/client';
import type {Backend, BanChange, BackendState, StoredRecord} from '../backend.ts';
import {type Ban, banId, userOf} from '../bans.ts';
import {defaultJournalBounds, type JournalBounds} from '../journal.ts';
import {kindOf, type RecordStore} from '../records.ts';
import type {WindowRequest, WindowGrant, Heard} from '../store.ts';
import type {UsageStore} from '../usage.ts';
import {type ValkeyClient, newClient} from './valkey-client.ts';
import {ValkeyJournal} from './valkey-journal.ts';
import {ValkeyUsage} from './valkey-usage.ts';

/**
 * The rule of `grantAll`, as one script. Eight arguments for each key: limit, want, least, how many are granted singly, known as taken,
 * known as given back, owed, and for how many seconds to keep it. The last argument is the channel on which each change is published to all
 * replicas. It uses the connection that also carries the answers: a replica that has read a later answer has read the change. A key is a
 * hash of `taken` and `returned`. It expires after a time span, because the server's clock may differ from ours. Returns granted, taken and
 * returned for each key, in one list.
 */
const reserveScript = `
  local width = 8
  local function arg(i, nth) return tonumber(ARGV[(i - 1) * width + nth]) end
  local taken, returned, enough, answer = {}, {}, true, {}
  for i, key in ipairs(KEYS) do
    local held = redis.call('HMGET', key, 'taken', 'returned')
    taken[i] = math.max(tonumber(held[1] or '0'), arg(i, 5)) + math.max(arg(i, 7), 0)
    returned[i] = math.max(tonumber(held[2] or '0'), arg(i, 6)) + math.max(-arg(i, 7), 0)
    if arg(i, 1) - taken[i] + returned[i] < arg(i, 3) then enough = false end
  end
  for i, key in ipairs(KEYS) do
    local granted, most = 0, arg(i, 2)
    if arg(i, 4) > 0 then most = math.max(arg(i, 3), arg(i, 1) - taken[i] - arg(i, 4)) end
    if enough then granted = math.max(0, math.min(arg(i, 2), most, arg(i, 1) - taken[i] + returned[i])) end
    redis.call('HSET', key, 'taken', taken[i] + granted, 'returned', returned[i])
    redis.call('EXPIRE', key, arg(i, 8))
    table.insert(answer, granted)
    table.insert(answer, taken[i] + granted)
    table.insert(answer, returned[i])
    if granted > 0 or arg(i, 7) ~= 0 then
      redis.pcall('PUBLISH', ARGV[#ARGV], (taken[i] + granted) .. ' ' .. returned[i] .. ' ' .. key)
    end
  end
  return answer
`;

const shas = new Map<string, string>();
function shaOf(script: string): string {
  const sha = shas.get(script) ?? hash('sha1', script);
  shas.set(script, sha);
  return sha;
}

/** A window is kept for longer than it lasts: clocks of replicas differ, by less than a second. */
const keepSeconds = 60;
const lookMs = 1000;
/** Records that are read by one command. */
const readAtOnce = 500;
/** A connection on which a call has had no answer for so long is given up: a peer that has gone away may not have said so. */
const deadlineMs = 3000;

export interface ValkeyOptions {
  /** redis://user:password@host:port/db, or rediss:// for TLS. */
  url: string;
  /** What its keys begin with: installations that share a server must differ. */
  prefix?: string;
  journal?: JournalBounds;
  /** Called with all bans when they have changed there; with nothing when the server has lost what it held. */
  onBans?: (bans: Ban[] | undefined) => void;
  /** Called once a second with the server's time, Unix ms, and by how much it may be wrong. */
  onTime?: (nowMs: number, uncertainMs: number) => void;
  /** Called with each change of a window, by this replica or another one. */
  onWindow?: (changed: Heard) => void;
}

/** The server behind the URL cannot count. The message contains the remedy. */
export class ValkeyError extends Error {
  override name = 'ValkeyError';
}

export class Valkey implements Backend, RecordStore {
  readonly #url: string;
  readonly #prefix: string;
  readonly #onBans: (bans: Ban[] | undefined) => void;
  readonly #onTime: (nowMs: number, uncertainMs: number) => void;
  readonly usage: UsageStore;
  readonly #onWindow: (changed: Heard) => void;
  readonly journal: ValkeyJournal;
  #client: ValkeyClient;
  #isClosed = false;
  /** Why it is not connected. */
  #failure: Error | undefined;
  #looking: NodeJS.Timeout | undefined;
  /** Version of the bans that were read last; null if the server had none. */
  #version: string | null | undefined;

  constructor({
    url,
    prefix = 'doorplate',
    journal = defaultJournalBounds,
    onBans = () => {},
    onTime = () => {},
    onWindow = () => {},
  }: ValkeyOptions) {
    this.#url = url;
    this.#onBans = onBans;
    this.#onTime = onTime;
    this.#onWindow = onWindow;
    // All keys of one slot: a script may touch no others in a cluster.
    this.#prefix = `{${prefix}}`;
    this.journal = new ValkeyJournal({
      run: (...call) => this.#run(...call),
      prefix: `${this.#prefix}:journal`,
      bounds: journal,
    });
    this.#client = this.#newClient();
    this.usage = new ValkeyUsage({
      prefix: this.#prefix,
      ask: (call) => this.#ask(call),
      run: (...script) => this.#run(...script),
    });
  }

  async open(): Promise<BackendState> {
    await this.#connected();
    await this.#mustBeServer();
    await this.#readTime();
    const held = {windows: [], bans: await this.#readBans(), records: []};
    this.#looking ??= setInterval(() => void this.#look(), lookMs).unref();
    return held;
  }

  async reserve(claims: readonly WindowRequest[], nowMs: number): Promise<WindowGrant[]> {
    if (claims.length === 0) {
      await this.#ask((client) => client.ping());
      return [];
    }
    const answer = await this.#run<number[]>(
      reserveScript,
      claims.map(({window}) => this.#key('window:') + window),
      claims
        .flatMap((claim) => {
          const seconds = Math.max(1, Math.ceil(claim.endSeconds - nowMs / 1000)) + keepSeconds;
          const {limit, want, least, singly = 0, known = 0, knownReturned = 0, owed = 0} = claim;
          return [limit, want, least, singly, known, knownReturned, owed, seconds].map(String);
        })
        .concat(this.#key('windows')),
    );
    return claims.map((_, i) => ({granted: answer[3 * i]!, taken: answer[3 * i + 1]!, returned: answer[3 * i + 2]!}));
  }

  async changeBans(changes: readonly BanChange[]): Promise<void> {
    await this.#ask((client) => {
      const all = client.multi();
      for (const change of changes) {
        if ('remove' in change) all.hDel(this.#key('bans'), banId(change.remove));
        else all.hSet(this.#key('bans'), banId(change.save), JSON.stringify(change.save));
      }
      return all.set(this.#key('version'), randomUUID()).exec();
    });
  }

  async get(name: string): Promise<string | undefined> {
    return (await this.#ask((client) => client.get(this.#recordKey(name)))) ?? undefined;
  }

  /** A group is a sorted set of names by their end: each put removes the names that have ended, and the set ends with its last record. */
  async put({name, text, endsSeconds, group}: StoredRecord, nowMs: number): Promise<void> {
    const value = Math.max(1, Math.ceil(endsSeconds - nowMs / 1000));
    await this.#ask((client) => {
      const all = client.multi().set(this.#recordKey(name), text, {expiration: {type: 'EX', value}});
      if (group === undefined) return all.exec();
      const key = this.#groupKey(kindOf(name), group);
      return all
        .zRemRangeByScore(key, '-inf', Math.floor(nowMs / 1000))
        .zAdd(key, {score: endsSeconds, value: name})
        .expire(key, value, 'NX')
        .expire(key, value, 'GT')
        .exec();
    });
  }

  async list(kind: string, group: string): Promise<Pick<StoredRecord, 'name' | 'text'>[]> {
    const names = await this.#ask((client) => client.zRange(this.#groupKey(kind, group), 0, -1));
    const found: Pick<StoredRecord, 'name' | 'text'>[] = [];
    for (let i = 0; i < names.length; i += readAtOnce) {
      const some = names.slice(i, i + readAtOnce);
      const texts = await this.#ask((client) => client.mGet(some.map((name) => this.#recordKey(name))));
      // A name stays in the set when its record was taken.
      for (const [n, name] of some.entries()) if (texts[n]) found.push({name, text: texts[n]});
    }
    return found;
  }

  async claim({name, text, endsSeconds}: StoredRecord, nowMs: number): Promise<string | undefined> {
    const value = Math.max(1, Math.ceil(endsSeconds - nowMs / 1000));
    for (;;) {
      const set = await this.#ask((client) =>
        client.set(this.#recordKey(name), text, {expiration: {type: 'EX', value}, condition: 'NX'}),
      );
      if (set !== null) return undefined;
      const there = await this.get(name);
      // It has ended in between.
      if (there !== undefined) return there;
    }
  }

  async take(name: string): Promise<string | undefined> {
    return (await this.#ask((client) => client.getDel(this.#recordKey(name)))) ?? undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#looking);
    this.#client.destroy();
  }

  #key(name: 'bans' | 'version' | 'window:' | 'windows'): string {
    return `${this.#prefix}:${name}`;
  }

  #groupKey(kind: string, group: string): string {
    return `${this.#prefix}:group:${kind}:${group}`;
  }

  #recordKey(name: string): string {
    return `${this.#prefix}:record:${name}`;
  }

  /** The client goes on trying whatever happens, so `connect` itself settles only when it is closed. */
  async #connected(): Promise<void> {
    if (!this.#client.isOpen) this.#client.connect().catch(() => {});
    if (this.#client.isReady) return;
    if (this.#failure) throw this.#failure;
    await this.#ask((client) => once(client, 'ready'));
  }

  /**
   * Sends one call, or all calls of a transaction. Without a connection, the call fails with the connection's error. If no answer arrives
   * in time, the connection is closed: every call on it fails, and a new one is opened.
   */
  async #ask<T>(call: (client: ValkeyClient) => Promise<T>): Promise<T> {
    const client = this.#client;
    const deadline = setTimeout(() => this.#giveUp(client), deadlineMs);
    try {
      return await call(client);
    } catch (error) {
      throw error instanceof ClientOfflineError && this.#failure ? this.#failure : error;
    } finally {
      clearTimeout(deadline);
    }
  }

  #giveUp(client: ValkeyClient): void {
    if (this.#isClosed || client !== this.#client) return;
    this.#client = this.#newClient();
    client.destroy();
    this.#client.connect().catch(() => {});
  }

  #newClient(): ValkeyClient {
    const client = newClient(this.#url);
    client
      .on('error', (error: Error) => {
        if (client === this.#client) this.#failure = error;
      })
      .on('ready', () => {
        if (client !== this.#client) return;
        this.#failure = undefined;
        // The client subscribes again by itself when it reconnects.
        client.subscribe(this.#key('windows'), this.#hear).catch(() => {});
      });
    return client;
  }

  readonly #hear = (message: string): void => {
    const [taken, returned, ...key] = message.split(' ');
    const window = key.join(' ').slice(this.#key('window:').length);
    this.#onWindow({window, taken: Number(taken), returned: Number(returned)});
  };

  /** A node of a cluster, a Sentinel and a replica answer too, and count for nobody, or for some. */
  async #mustBeServer(): Promise<void> {
    // A client without permission learns that from its first refused command.
    const info = await this.#ask((client) => client.info()).catch(() => '');
    const [, mode] = /^(?:redis|server)_mode:(\w+)/m.exec(info) ?? [];
    const what =
      mode === 'sentinel'
        ? 'a Sentinel'
        : mode === 'cluster'
          ? 'a node of a cluster'
          : /^role:slave/m.test(info)
            ? 'a replica, which accepts no writes'
            : undefined;
    if (what !== undefined)
      throw new ValkeyError(
        `valkey.url names ${what}: name one server, or an address that always leads to the primary (a Service, a proxy)`,
      );
  }

  async #readTime(): Promise<void> {
    const since = performance.now();
    // [seconds, microseconds], by the server's own clock.
    const [seconds, micros] = await this.#ask((client) => client.sendCommand<[string, string]>(['TIME']));
    const half = (performance.now() - since) / 2;
    this.#onTime(Number(seconds) * 1000 + Number(micros) / 1000 + half, half);
  }

  async #run<T>(script: string, keys: string[], args: string[]): Promise<T> {
    const options = {keys, arguments: args};
    try {
      return (await this.#ask((client) => client.evalSha(shaOf(script), options))) as T;
    } catch (error) {
      if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
      return (await this.#ask((client) => client.eval(script, options))) as T;
    }
  }

  async #readBans(): Promise<Ban[]> {
    this.#version = await this.#ask((client) => client.get(this.#key('version')));
    const held = Object.entries(await this.#ask((client) => client.hGetAll(this.#key('bans'))));
    return held.map(([id, text]) => ({...(JSON.parse(text) as Ban), ...userOf(id)}));
  }

  async #look(): Promise<void> {
    try {
      await this.#readTime();
      const version = await this.#ask((client) => client.get(this.#key('version')));
      if (version === this.#version) return;
      if (version === null) {
        this.#version = null;
        return this.#onBans(undefined);
      }
      this.#onBans(await this.#readBans());
    } catch {
      /* The bans are read again when the server answers. */
    }
  }
}
