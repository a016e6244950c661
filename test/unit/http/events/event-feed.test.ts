/** How a feed sends a state to many streams: how often it reads and serialises, what each client is written, and when it is cut. */
import {EventEmitter} from 'node:events';
import type {ServerResponse} from 'node:http';
import {afterEach, beforeEach, describe, expect, jest, test} from '@jest/globals';
import {Delivery, Feed} from '../../../../operator/http/events/event-feed.ts';
import type {Changed} from '../../../../operator/http/events/event-hub.ts';
import {EventStream, type StreamEnd, type StreamEvent} from '../../../../operator/http/events/event-stream.ts';

/** A client's response. While the client does not read, each write fills the socket. */
class Client extends EventEmitter {
  readonly written: (Buffer | string)[] = [];
  reads = true;
  writableNeedDrain = false;
  why: StreamEnd | undefined;

  write(bytes: Buffer | string): boolean {
    this.written.push(bytes);
    this.writableNeedDrain = !this.reads;
    return this.reads;
  }

  end(text: string): void {
    if (text !== '') this.written.push(text);
    if (!this.writableNeedDrain) this.emit('close');
  }

  destroy(): void {
    this.emit('close');
  }

  /** Reads all that was written, and continues to read. */
  read(): void {
    this.reads = true;
    this.writableNeedDrain = false;
    this.emit('drain');
  }

  get texts(): string[] {
    return this.written.map(String);
  }
}

/** Turns of the event loop that are asked for. */
const turns: (() => void)[] = [];
let delivery: Delivery;
let content: string | undefined;
let serialised: number;
let asked: string[];
let withoutAccess: Set<string>;
let stateFeed: Feed;

beforeEach(() => {
  jest.useFakeTimers({doNotFake: ['queueMicrotask', 'nextTick', 'setImmediate']});
  delivery = new Delivery((work) => turns.push(work));
  [content, serialised, asked, withoutAccess] = ['first', 0, [], new Set()];
  let last: StreamEvent[] = [];
  const read = (): StreamEvent[] | undefined => {
    if (content === undefined) return undefined;
    if (content === last[0]?.id) return last;
    serialised++;
    last = [{topic: 'state', scope: 'any', id: content, bytes: Buffer.from(content)}];
    return last;
  };
  stateFeed = new Feed({isState: true, read}, delivery);
});
afterEach(() => {
  turns.length = 0;
  jest.useRealTimers();
});

/** Lets all questions be answered, and then one piece of work after the other be done. Returns in how many turns. */
async function settle(): Promise<number> {
  for (let taken = 0; ; taken++) {
    await new Promise(setImmediate);
    const turn = turns.shift();
    if (!turn) return taken;
    turn();
  }
}

async function pass(ms: number): Promise<void> {
  await settle();
  await jest.advanceTimersByTimeAsync(ms);
  await settle();
}

function follow(
  feed: Feed,
  {caller = 'one', lastEventId, scopes = ['any']}: {caller?: string; lastEventId?: string; scopes?: string[]} = {},
): Client {
  const client = new Client();
  const stream: EventStream = new EventStream({
    raw: client as unknown as ServerResponse,
    access: caller,
    mayGoOn: async () => {
      asked.push(caller);
      return !withoutAccess.has(caller);
    },
    hasScope: (scope) => scopes.includes(scope),
    lastEventId,
    onReady: (ready) => void delivery.send(ready),
    onEnd: (why) => {
      client.why = why;
      feed.remove(stream);
    },
  });
  feed.add(stream);
  return client;
}

/** Changes to a content, as often as there are words. */
function change(...words: (string | undefined)[]): void {
  for (const word of words) {
    content = word;
    stateFeed.changed();
  }
}

describe('The state that a hundred streams follow', () => {
  let clients: Client[];
  beforeEach(async () => {
    clients = Array.from({length: 100}, (_, i) => follow(stateFeed, {caller: `key-${i % 10}`}));
    await settle();
    await pass(1000);
    asked = [];
  });

  test('is serialised once for each change, and all of them are written the same bytes', async () => {
    change('second');
    await settle();
    expect(serialised).toBe(2);
    expect(new Set(clients.map(({written}) => written[1])).size).toBe(1);
    expect(clients.map(({texts}) => texts)).toEqual(clients.map(() => ['first', 'second']));
  });

  test('is written to one of them in each turn of the event loop', async () => {
    change('second');
    const written: number[] = [];
    for (let turn = turns.shift(); turn; turn = turns.shift()) {
      turn();
      await new Promise(setImmediate);
      written.push(clients.filter(({texts}) => texts.includes('second')).length);
    }
    expect(written).toEqual(Array.from({length: 101}, (_, i) => i));
  });

  test('is sent after each caller was asked for once, however many streams it has', async () => {
    change('second');
    await settle();
    expect(asked.toSorted()).toEqual(Array.from({length: 10}, (_, i) => `key-${i}`));
  });

  test('is not sent to a caller that has no access any more: its streams end', async () => {
    withoutAccess.add('key-3');
    change('second');
    await settle();
    const ended = clients.filter(({why}) => why === 'access-ended');
    expect(ended.map(({texts}) => texts)).toEqual(Array.from({length: 10}, () => ['first']));
    expect(clients.filter(({texts}) => texts.includes('second'))).toHaveLength(90);
  });

  test('ends with the project, of which each is told', async () => {
    change(undefined);
    await settle();
    expect(clients.every(({why, texts}) => why === 'project-deleted' && texts[1]!.startsWith('event: gone\n'))).toBe(
      true,
    );
  });
});

describe('A state', () => {
  test('is read at once after a change, and then no sooner than a second later: the last one always comes', async () => {
    const client = follow(stateFeed);
    await pass(1000);
    change('a');
    await settle();
    expect(client.texts).toEqual(['first', 'a']);
    change('b', 'c');
    await pass(999);
    expect({serialised, texts: client.texts}).toEqual({serialised: 2, texts: ['first', 'a']});
    await pass(1);
    expect({serialised, texts: client.texts}).toEqual({serialised: 3, texts: ['first', 'a', 'c']});
    await pass(10_000);
    expect(client.texts).toEqual(['first', 'a', 'c']);
  });

  test('is not sent again after a change that does not show, nor to a client that has it', async () => {
    const [unknowing, knowing] = [follow(stateFeed), follow(stateFeed, {lastEventId: 'first'})];
    await pass(1000);
    change('first');
    await pass(1000);
    change('second', 'first');
    await pass(1000);
    expect([unknowing.texts, knowing.texts, serialised]).toEqual([['first'], [], 1]);
  });

  test('begins a new stream at once where nothing has changed, and is not serialised for it', async () => {
    follow(stateFeed);
    await settle();
    const second = follow(stateFeed);
    await settle();
    expect([second.texts, serialised]).toEqual([['first'], 1]);
  });

  test('that is out of date begins no stream: it begins with the next one', async () => {
    follow(stateFeed);
    await settle();
    change('second');
    const late = follow(stateFeed);
    await settle();
    expect(late.texts).toEqual([]);
    await pass(1000);
    expect(late.texts).toEqual(['second']);
  });
});

describe('A client that does not read', () => {
  test('is sent the newest state alone when it reads again', async () => {
    const client = follow(stateFeed);
    client.reads = false;
    await settle();
    for (const word of ['a', 'b', 'c']) {
      change(word);
      await pass(1000);
    }
    expect(client.texts).toEqual(['first']);
    client.read();
    await settle();
    expect(client.texts).toEqual(['first', 'c']);
  });

  test('is sent nothing when it reads again and has no access any more', async () => {
    const client = follow(stateFeed);
    client.reads = false;
    await settle();
    change('a');
    await pass(1000);
    withoutAccess.add('one');
    client.read();
    await settle();
    expect(client).toMatchObject({texts: ['first'], why: 'access-ended'});
  });

  test('is cut after a minute, also where its stream has ended before', async () => {
    const [stuck, ended] = [follow(stateFeed), follow(stateFeed, {caller: 'other'})];
    for (const client of [stuck, ended]) client.reads = false;
    await settle();
    withoutAccess.add('other');
    change('a');
    await pass(1000);
    ended.read();
    ended.writableNeedDrain = true;
    await pass(58_999);
    expect([stuck.why, ended.why]).toEqual([undefined, undefined]);
    await pass(1);
    expect([stuck.why, ended.why]).toEqual(['not-read', undefined]);
    await pass(1000);
    expect(ended.why).toBe('access-ended');
  });

  test('is cut when clients read eleven earlier states, each another one: it reads the oldest', async () => {
    const clients: Client[] = [];
    for (let i = 0; i < 12; i++) {
      change(`state-${i}`);
      await pass(1000);
      const client = follow(stateFeed);
      client.reads = false;
      clients.push(client);
      await settle();
    }
    expect(clients.map(({why}) => why)).toEqual(['not-read', ...Array.from({length: 11}, () => undefined)]);
  });
});

const named = (changed: Changed): StreamEvent => {
  const topic = JSON.stringify(changed);
  return {topic, scope: 'project' in changed ? 'projects' : 'any', bytes: Buffer.from(topic)};
};

describe('What has changed', () => {
  let feed: Feed;
  beforeEach(() => {
    feed = new Feed({isState: false, read: (changes) => changes.map(named)}, delivery);
  });

  test('is named at once, and then once a second, each name once', async () => {
    const client = follow(feed, {scopes: ['any', 'projects']});
    for (const project of ['a', 'b', 'b', 'a', 'b']) {
      feed.changed({project});
      await settle();
    }
    expect(client.texts).toEqual(['{"project":"a"}']);
    await pass(1000);
    expect(client.texts).toEqual(['{"project":"a"}', '{"project":"b"}', '{"project":"a"}']);
  });

  test('is named to a client that does not read once it reads again, each name once; a thousand names wait at most', async () => {
    const [slow, stuck] = [follow(feed, {scopes: ['projects']}), follow(feed, {scopes: ['projects']})];
    for (const client of [slow, stuck]) client.reads = false;
    const nameAll = async (projects: readonly string[]): Promise<void> => {
      for (const project of projects) feed.changed({project});
      await pass(1000);
    };
    await nameAll(['first']);
    await nameAll(['a', 'b']);
    await nameAll(['b', 'a']);
    slow.read();
    await settle();
    expect(slow.texts).toEqual(['{"project":"first"}', '{"project":"b"}', '{"project":"a"}']);
    await nameAll(Array.from({length: 1000}, (_, i) => `p${i}`));
    expect([slow.why, stuck.why]).toEqual([undefined, 'not-read']);
  });

  test('is named to nobody without its scope', async () => {
    const client = follow(feed);
    feed.changed({project: 'a'});
    feed.changed({account: true});
    await settle();
    expect(client.texts).toEqual(['{"account":true}']);
  });
});
