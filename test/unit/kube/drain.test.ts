/** How HTTP servers stop: what has begun is answered, and no connection holds the process up. */
import {once} from 'node:events';
import {Agent, request as httpRequest} from 'node:http';
import {connect, type Socket} from 'node:net';
import {setTimeout as sleep} from 'node:timers/promises';
import {afterEach, describe, expect, test} from '@jest/globals';
import {fastify} from 'fastify';
import type {Authorizer} from '../../../operator/authorize/authorizer.ts';
import {authorizeServer} from '../../../operator/authorize/http.ts';
import {httpServer} from '../../../operator/http/listen.ts';
import type {ManagedServer} from '../../../operator/kube/manager.ts';

/** Of a request to the platform's own proxies nothing is decided before it is let go on. */
class Held {
  readonly arrived = Promise.withResolvers<void>();
  readonly released = Promise.withResolvers<void>();
  async wait(): Promise<void> {
    this.arrived.resolve();
    await this.released.promise;
  }
}

type Listening = ManagedServer & {port: () => number};
const nobody = {endStreams: () => {}, closed: async () => {}, lingerMs: 0, port: 0};
const makers: [string, (held: Held, drainMs: number) => Listening][] = [
  [
    'the API',
    (held, drainMs) =>
      httpServer({
        ...nobody,
        drainMs,
        make: async () => {
          const server = fastify({keepAliveTimeout: 600_000});
          server.get('/authorize/any/', async () => {
            await held.wait();
            return {};
          });
          return server;
        },
      }),
  ],
  [
    'what proxies ask',
    (held, drainMs) =>
      authorizeServer({
        port: 0,
        trustedProxies: [],
        drainMs,
        authorizer: {
          headersFor: () => ({}),
          decide: async () => {
            await held.wait();
            return {status: 200, headers: {}};
          },
        } as unknown as Authorizer,
      }),
  ],
];

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function halfSent(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  ends.push(() => socket.destroy());
  await once(socket, 'connect');
  socket.write('GET /authorize/any/ HTTP/1.1\r\nHost: a\r\n');
  return socket;
}

/** Longer than any of these tests. */
const never = 3_600_000;
const soon = (stopped: Promise<void>): Promise<string> =>
  Promise.race([stopped.then(() => 'stopped'), sleep(10_000, 'held up', {ref: false})]);

describe.each(makers)('When %s stops', (_, make) => {
  test('a request that is under way is answered, and then its connection holds nothing up', async () => {
    const held = new Held();
    const server = make(held, never);
    await server.start();
    const agent = new Agent({keepAlive: true});
    ends.push(() => agent.destroy());
    const answered = new Promise<number | undefined>((resolve, reject) => {
      httpRequest({port: server.port(), host: '127.0.0.1', path: '/authorize/any/', agent}, (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      })
        .on('error', reject)
        .end();
    });
    await held.arrived.promise;
    const stopped = server.stop();
    // It listens no more by then.
    await sleep(100);
    held.released.resolve();
    expect(await answered).toBe(200);
    expect(await soon(stopped)).toBe('stopped');
  });

  test('a request that is half sent holds it up for no longer than it may', async () => {
    const server = make(new Held(), 200);
    await server.start();
    const socket = await halfSent(server.port());
    const closed = once(socket, 'close');
    expect(await soon(server.stop())).toBe('stopped');
    await closed;
  });
});
