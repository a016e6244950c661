import {afterEach, describe, expect, test} from '@jest/globals';
import {ask} from '../../../operator/dns/wire.ts';
import type {Reply} from '../../../operator/dns/wire.ts';
import {fakeServer, record, reply, without} from './fake-servers.ts';
import type {Behaviour, FakeServer, OnTcp} from './fake-servers.ts';

const running: FakeServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function answering(behaviour: Behaviour, onTcp?: OnTcp): Promise<FakeServer> {
  const server = await fakeServer(behaviour, {onTcp});
  running.push(server);
  return server;
}

const TARGET = record('docs.example.com', 'CNAME', 'Host.Platform.test');
const question = {name: 'docs.example.com', type: 'CNAME'} as const;
/** For what is answered: on a shared machine a fake may be slow. */
const opts = {recursionDesired: false, timeoutMs: 30_000};
/** For what is not. */
const brief = {...opts, timeoutMs: 150};

/** As a process that gets no time of the processor. */
const doNothing = (ms: number): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** The reply without its server, whose port differs from run to run. */
function said(answered: Reply): Omit<Reply, 'server'> {
  return without(answered, 'server');
}

const GOOD = {
  kind: 'Answer',
  rcode: 'NOERROR',
  aa: true,
  ad: false,
  cut: false,
  answers: [{name: 'docs.example.com', type: 'CNAME', ttlSeconds: 300, data: 'host.platform.test'}],
  authority: [],
  additional: [],
};

describe('A question over UDP', () => {
  test('is answered in canonical text, and carries EDNS, the flags asked for and an id of its own', async () => {
    const server = await answering((asked) => [reply(asked, {answers: [TARGET]})]);
    const first = await ask(server, {name: 'DOCS.example.com.', type: 'CNAME'}, opts);
    const second = await ask(server, question, {...opts, recursionDesired: true});
    expect(said(first)).toEqual(GOOD);
    expect(said(second)).toEqual(GOOD);
    expect(server.asked.map((asked) => without(asked, 'id'))).toEqual([
      {
        name: 'docs.example.com',
        type: 'CNAME',
        recursionDesired: false,
        checkingDisabled: false,
        authenticity: false,
        edns: true,
        overTcp: false,
      },
      {
        name: 'docs.example.com',
        type: 'CNAME',
        recursionDesired: true,
        checkingDisabled: false,
        authenticity: true,
        edns: true,
        overTcp: false,
      },
    ]);
    const ids = new Set(server.asked.map(({id}) => id));
    for (let more = 0; more < 4; more++) {
      await ask(server, question, opts);
      ids.add(server.asked.at(-1)!.id);
    }
    expect(ids.size).toBeGreaterThan(2);
  });

  test('has its answer, although this process did nothing from before it came until the time was over', async () => {
    const server = await answering((asked) => {
      doNothing(2200);
      return [reply(asked, {answers: [TARGET]})];
    });
    expect(said(await ask(server, question, {...opts, timeoutMs: 2000}))).toEqual(GOOD);
  });

  test('takes a question repeated in capitals as its own', async () => {
    const server = await answering((asked) => [
      reply(asked, {question: {name: 'DOCS.EXAMPLE.COM', type: 'CNAME'}, answers: [TARGET]}),
    ]);
    expect(said(await ask(server, question, opts))).toEqual(GOOD);
  });

  test.each<[string, Behaviour, string, string]>([
    ['silence', () => [], 'Timeout', 'no answer within 150 ms'],
    [
      'another id',
      (asked) => [reply(asked, {id: (asked.id + 1) & 0xffff, answers: [TARGET]})],
      'Timeout',
      'no answer within 150 ms',
    ],
    [
      'another name',
      (asked) => [reply(asked, {question: {name: 'evil.example.com', type: 'CNAME'}})],
      'Timeout',
      'no answer within 150 ms',
    ],
    [
      'another type',
      (asked) => [reply(asked, {question: {name: asked.name, type: 'A'}})],
      'Timeout',
      'no answer within 150 ms',
    ],
    [
      'no question',
      (asked) => [reply(asked, {question: null, answers: [TARGET]})],
      'Timeout',
      'no answer within 150 ms',
    ],
    ['its own query', (asked) => [queryOf(asked.id)], 'Timeout', 'no answer within 150 ms'],
    ['a few bytes', () => [Buffer.from('hello')], 'Timeout', 'no answer within 150 ms'],
    ['REFUSED', (asked) => [reply(asked, {rcode: 5})], 'Refused', 'answered REFUSED'],
    [
      'REFUSED without the question',
      (asked) => [reply(asked, {rcode: 5, question: null})],
      'Refused',
      'answered REFUSED',
    ],
    ['SERVFAIL', (asked) => [reply(asked, {rcode: 2})], 'ServerFailure', 'answered SERVFAIL'],
    ['NOTIMP, with and without EDNS', (asked) => [reply(asked, {rcode: 4})], 'Other', 'answered NOTIMP'],
    ['YXDOMAIN', (asked) => [reply(asked, {rcode: 6})], 'Other', 'answered code 6'],
    [
      'garbage under the right id',
      (asked) => [garbage(asked.id)],
      'Malformed',
      expect.stringMatching(/^a reply that can't be read: /) as unknown as string,
    ],
    [
      'more than fits',
      (asked) => [Buffer.concat([reply(asked, {answers: [TARGET]}), Buffer.alloc(5000)])],
      'Malformed',
      expect.stringMatching(/^a UDP reply of \d+ bytes$/) as unknown as string,
    ],
  ])('that gets %s has no answer', async (_, behaviour, failure, detail) => {
    const server = await answering(behaviour);
    expect(said(await ask(server, question, failure === 'Timeout' ? brief : opts))).toEqual({
      kind: 'Failure',
      failure,
      detail,
    });
  });

  test('waits for its own reply behind forged ones', async () => {
    const server = await answering((asked) => [
      reply(asked, {id: (asked.id + 1) & 0xffff, answers: [record(asked.name, 'CNAME', 'forged.test')]}),
      reply(asked, {question: {name: 'evil.example.com', type: 'CNAME'}}),
      Buffer.from([1]),
      reply(asked, {answers: [TARGET]}),
    ]);
    expect(said(await ask(server, question, opts))).toEqual(GOOD);
  });

  test('is asked again without EDNS where the server knows none', async () => {
    const server = await answering((asked) => [
      asked.edns ? reply(asked, {rcode: 1, question: null}) : reply(asked, {answers: [TARGET]}),
    ]);
    expect(said(await ask(server, question, opts))).toEqual(GOOD);
    expect(server.asked.map(({edns}) => edns)).toEqual([true, false]);
  });

  test('fails as Unreachable at once where nothing listens, on either address family', async () => {
    const began = performance.now();
    const closed = await fakeServer(() => []);
    await closed.close();
    for (const address of ['127.0.0.1', '::1']) {
      const answered = await ask({address, port: closed.port}, question, opts);
      expect(answered).toMatchObject({kind: 'Failure', failure: 'Unreachable'});
    }
    expect(performance.now() - began).toBeLessThan(15_000);
  });

  test.each([
    ['a label of 64', {address: '127.0.0.1', port: 53}, {name: `${'a'.repeat(64)}.com`, type: 'A'} as const],
    ['an empty label', {address: '127.0.0.1', port: 53}, {name: 'a..b', type: 'A'} as const],
    ['a host name as server', {address: 'localhost', port: 53}, question],
    ['a port that is none', {address: '127.0.0.1', port: 70_000}, question],
  ])('with %s is never sent', async (_, server, asked) => {
    expect(await ask(server, asked, opts)).toMatchObject({kind: 'Failure', failure: 'Other'});
  });

  test('ends when its signal does, and says by what', async () => {
    const server = await answering(() => []);
    const began = performance.now();
    const byTime = ask(server, question, {...opts, timeoutMs: 60_000, signal: AbortSignal.timeout(50)});
    const controller = new AbortController();
    const byHand = ask(server, question, {...opts, timeoutMs: 60_000, signal: controller.signal});
    controller.abort();
    expect(await byTime).toMatchObject({failure: 'Timeout'});
    expect(await byHand).toMatchObject({failure: 'Other', detail: 'stopped'});
    expect(await ask(server, question, {...opts, signal: controller.signal})).toMatchObject({
      failure: 'Other',
      detail: 'stopped',
    });
    expect(performance.now() - began).toBeLessThan(15_000);
  });
});

describe('A truncated reply', () => {
  test('is asked for again over TCP', async () => {
    const server = await answering((asked) => [reply(asked, asked.overTcp ? {answers: [TARGET]} : {truncated: true})]);
    expect(said(await ask(server, question, opts))).toEqual(GOOD);
    expect(server.asked.map(({overTcp}) => overTcp)).toEqual([false, true]);
    await server.hungUp();
  });

  test('that ends within a record is asked for again over TCP, too (RFC 2181, 9)', async () => {
    const server = await answering((asked) => [
      asked.overTcp
        ? reply(asked, {answers: [TARGET]})
        : reply(asked, {truncated: true, answers: [TARGET, TARGET]}).subarray(0, -5),
    ]);
    expect(said(await ask(server, question, opts))).toEqual(GOOD);
    expect(server.asked.map(({overTcp}) => overTcp)).toEqual([false, true]);
  });

  test('of 64 KB over TCP is read, 100 records of it', async () => {
    const many = Array.from({length: 1700}, (_, index) => record('docs.example.com', 'A', `192.0.2.${index % 256}`));
    const server = await answering((asked) => [reply(asked, asked.overTcp ? {answers: many} : {truncated: true})]);
    const answered = await ask(server, {name: 'docs.example.com', type: 'A'}, opts);
    expect(answered.kind === 'Answer' && answered.answers.length).toBe(100);
  });

  test.each<[string, Behaviour, string]>([
    ['silence', () => [], 'Timeout'],
    ['another id', (asked) => [reply(asked, {id: (asked.id + 1) & 0xffff, answers: [TARGET]})], 'Malformed'],
    ['another question', (asked) => [reply(asked, {question: {name: 'evil.example.com', type: 'CNAME'}})], 'Malformed'],
    ['a truncated reply again', (asked) => [reply(asked, {truncated: true})], 'Malformed'],
    ['garbage', (asked) => [garbage(asked.id)], 'Malformed'],
    ['nothing but a length', () => [Buffer.alloc(0)], 'Malformed'],
  ])('that finds %s over TCP is no answer', async (_, overTcp, failure) => {
    const server = await answering((asked) => (asked.overTcp ? overTcp(asked) : [reply(asked, {truncated: true})]));
    expect(await ask(server, question, failure === 'Timeout' ? brief : opts)).toMatchObject({kind: 'Failure', failure});
    await server.hungUp();
  });

  test('is no answer when the server hangs up in the middle of it', async () => {
    const server = await answering(
      (asked) => [reply(asked, {truncated: true})],
      (socket, asked) => {
        const body = reply(asked, {answers: [TARGET]});
        socket.end(Buffer.from([0, body.length, ...body.subarray(0, 10)]));
      },
    );
    expect(await ask(server, question, opts)).toMatchObject({
      kind: 'Failure',
      failure: 'Malformed',
      detail: 'the TCP connection ended before the reply did',
    });
  });

  test('is read when it comes in single bytes', async () => {
    const server = await answering(
      (asked) => [reply(asked, {truncated: true})],
      async (socket, asked) => {
        const body = reply(asked, {answers: [TARGET]});
        socket.setNoDelay(true);
        for (const octet of [0, body.length, ...body]) {
          socket.write(Buffer.from([octet]));
          await new Promise((resolve) => setImmediate(resolve));
        }
      },
    );
    expect(said(await ask(server, question, {...opts, timeoutMs: 2000}))).toEqual(GOOD);
  });
});

test('A thousand questions at once all end, without a warning, and leave no socket', async () => {
  const server = await answering((asked) => (asked.id % 3 === 0 ? [] : [reply(asked, {answers: [TARGET]})]));
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on('warning', onWarning);
  const controller = new AbortController();
  const before = sockets();
  const replies = await Promise.all(
    Array.from({length: 1000}, () => ask(server, question, {...opts, timeoutMs: 5000, signal: controller.signal})),
  );
  // Their sockets close a moment later.
  for (const end = performance.now() + 5000; sockets() > before && performance.now() < end;)
    await new Promise((resolve) => setTimeout(resolve, 20));
  process.off('warning', onWarning);
  expect(new Set(replies.map((answered) => (answered.kind === 'Answer' ? 'Answer' : answered.failure)))).toEqual(
    new Set(['Answer', 'Timeout']),
  );
  expect(sockets()).toBeLessThanOrEqual(before);
  expect(warnings).toEqual([]);
});

function sockets(): number {
  return process.getActiveResourcesInfo().filter((resource) => /UDP|TCP/.test(resource)).length;
}

function queryOf(id: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt16BE(id, 0);
  return bytes;
}

/** A response header with our id that promises an answer, and then none that can be read. */
function garbage(id: number): Buffer {
  const bytes = Buffer.alloc(40, 0xff);
  bytes.writeUInt16BE(id, 0);
  bytes.writeUInt16BE(0x8400, 2);
  bytes.writeUInt16BE(1, 4);
  return bytes;
}
