import {createServer, type Server} from 'node:http';
import type {AddressInfo} from 'node:net';
import {afterEach, beforeEach, describe, expect, test} from '@jest/globals';
import {Client} from '../../../../operator/kube/client/client.ts';
import {ApiError, NoAnswerError, retryAfterMs, WriteRefusedError} from '../../../../operator/kube/errors.ts';
import {configMaps, eventually} from '../../../support/kube-api.ts';

let server: Server;
let client: Client;
/** Requests as they came, and what lets the server answer them. */
let came: string[];
let answer: ((status?: number, body?: object, headers?: Record<string, string>) => void)[];

beforeEach(async () => {
  came = [];
  answer = [];
  server = createServer((incoming, outgoing) => {
    came.push(`${incoming.method} ${incoming.url}`);
    answer.push((status = 200, body = {}, headers = {}) => {
      outgoing.writeHead(status, headers);
      outgoing.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const {port} = server.address() as AddressInfo;
  client = new Client(
    {server: `http://127.0.0.1:${port}`, read: async () => ({tls: {}, headers: {}})},
    {connections: 1},
  );
});
afterEach(async () => {
  server.closeAllConnections();
  await client.close();
  await new Promise((resolve) => server.close(resolve));
});

const write = (name: string): Promise<unknown> => client.patch(configMaps, `ns/${name}`, {}, {type: 'merge'});
const arrived = async (count: number): Promise<void> => {
  await eventually(() => came.length >= count);
};

describe('the guard of writes', () => {
  test('is asked when a connection is free, not when the write was asked for: what waited too long is not sent', async () => {
    let leads = true;
    client.guardWrites(() => {
      if (!leads) throw new Error('led once');
    });
    const first = write('a');
    const second = write('b').catch((error: unknown) => error);
    await arrived(1);
    leads = false;
    answer[0]!();
    await first;
    const error = await second;
    expect(error).toBeInstanceOf(WriteRefusedError);
    expect((error as Error).message).toBe('PATCH /api/v1/namespaces/ns/configmaps/b: not sent: led once');
    expect(came).toHaveLength(1);
    // The connection is none the worse for it.
    leads = true;
    const third = write('c');
    await arrived(2);
    answer[1]!();
    await expect(third).resolves.toEqual({});
  });

  test('lets reads pass, and does not watch over a client apart', async () => {
    client.guardWrites(() => {
      throw new Error('never');
    });
    const apart = client.apart();
    const both = Promise.all([
      client.get(configMaps, 'ns/a'),
      apart.create(configMaps, {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'a', namespace: 'ns'}}),
    ]);
    await arrived(2);
    for (const reply of answer) reply();
    await both;
    expect(came.toSorted()).toEqual(
      ['GET /api/v1/namespaces/ns/configmaps/a', 'POST /api/v1/namespaces/ns/configmaps?'].map((line) =>
        line.replace(/\?$/, ''),
      ),
    );
    await apart.close();
  });
});

describe('a deletion', () => {
  test('waits for no write that hangs', async () => {
    const hanging = write('a').catch((error: unknown) => error);
    await arrived(1);
    const deleted = client.delete(configMaps, 'ns/b').catch((error: unknown) => error);
    await eventually(() => came.length > 1, 5_000).catch(() => {});
    const cameMeanwhile = [...came];
    answer[0]!();
    await arrived(2);
    answer[1]!();
    expect(await Promise.all([deleted, hanging])).toEqual(['Deleted', {}]);
    expect(cameMeanwhile).toHaveLength(2);
  });
});

describe('a 401', () => {
  test('to many requests reads the credentials once, however late each is refused', async () => {
    const {port} = server.address() as AddressInfo;
    let reads = 0;
    const read = async () => ({tls: {}, headers: {authorization: `Bearer ${++reads}`}});
    const user = new Client({server: `http://127.0.0.1:${port}`, read}, {connections: 3});
    const all = Promise.all(['a', 'b', 'c'].map((name) => user.get(configMaps, `ns/${name}`)));
    await arrived(3);
    for (let refused = 0; refused < 3; refused++) {
      answer[refused]!(401);
      await arrived(4 + refused);
      answer[3 + refused]!(200, {asked: refused});
    }
    expect(await all).toHaveLength(3);
    expect(reads).toBe(2);
    await user.close();
  });
});

describe('what a person reads when a request fails', () => {
  test('method, path, status, reason, message, and the wait that the server asked for', async () => {
    const failed = write('a').catch((error: unknown) => error);
    await arrived(1);
    answer[0]!(429, {kind: 'Status', reason: 'TooManyRequests', message: 'slow down'}, {'retry-after': '7'});
    const error = await failed;
    expect(error).toBeInstanceOf(ApiError);
    expect((error as Error).message).toBe(
      'PATCH /api/v1/namespaces/ns/configmaps/a: 429 TooManyRequests: slow down (asks to wait 7 s)',
    );
    expect(retryAfterMs(error)).toBe(7000);
  });

  test('method, path and the cause when there was no answer', async () => {
    const failed = write('a').catch((error: unknown) => error);
    await arrived(1);
    server.closeAllConnections();
    const error = await failed;
    expect(error).toBeInstanceOf(NoAnswerError);
    expect((error as Error).message).toMatch(/^PATCH \/api\/v1\/namespaces\/ns\/configmaps\/a: no answer: /);
    expect((error as NoAnswerError).because).toHaveProperty('message');
  });

  test('every address that was tried, of a host with several', async () => {
    const cause = new AggregateError([
      new Error('connect ECONNREFUSED ::1:1'),
      new Error('connect ECONNREFUSED 127.0.0.1:1'),
    ]);
    expect(new NoAnswerError('GET /x', cause).message).toBe(
      'GET /x: no answer: connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1',
    );
  });

  test('the reason of its own signal, when the caller gave up', async () => {
    const signal = AbortSignal.abort(new Error('I gave up'));
    await expect(client.get(configMaps, 'ns/a', {signal})).rejects.toThrow('I gave up');
  });
});
