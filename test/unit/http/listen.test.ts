/** Where the servers of the API listen. */
import {once} from 'node:events';
import {connect, createServer} from 'node:net';
import {constants} from 'node:os';
import {afterEach, describe, expect, jest, test} from '@jest/globals';
import {fastify} from 'fastify';
import type {Authorizer} from '../../../operator/authorize/authorizer.ts';
import {envoyServer} from '../../../operator/authorize/envoy.ts';
import {authorizeServer} from '../../../operator/authorize/http.ts';
import {httpServer} from '../../../operator/http/listen.ts';
import type {ManagedServer} from '../../../operator/kube/manager.ts';

const authorizer = {} as Authorizer;
const makers: [string, () => ManagedServer & {port: () => number}][] = [
  [
    'the API',
    () => httpServer({port: 0, lingerMs: 0, make: async () => fastify(), endStreams: () => {}, closed: async () => {}}),
  ],
  ['what proxies ask by HTTP', () => authorizeServer({port: 0, trustedProxies: [], authorizer})],
  ['what proxies ask by gRPC', () => envoyServer({port: 0, authorizer})],
];

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
  jest.restoreAllMocks();
});

async function connected(port: number, host: string): Promise<boolean> {
  const socket = connect(port, host);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** A fake: what the kernel says to each socket of IPv6 on a node that was booted with ipv6.disable=1. */
async function withoutIPv6(): Promise<void> {
  const any = createServer().listen(0, '127.0.0.1');
  await once(any, 'listening');
  const {_handle: handle} = any as unknown as {_handle: {bind6: () => number}};
  any.close();
  jest.spyOn(Object.getPrototypeOf(handle) as typeof handle, 'bind6').mockReturnValue(-constants.errno.EAFNOSUPPORT);
  await expect(once(createServer().listen(0, '::'), 'listening')).rejects.toThrow('EAFNOSUPPORT');
}

describe.each(makers)('%s', (_, make) => {
  async function started(): Promise<number> {
    const server = make();
    await expect(server.start()).resolves.toBeUndefined();
    ends.push(() => server.stop());
    return server.port();
  }

  test('is reached by both address families', async () => {
    const port = await started();
    expect(await connected(port, '127.0.0.1')).toBe(true);
    expect(await connected(port, '::1')).toBe(true);
  });

  test('is reached by IPv4 on a node without IPv6', async () => {
    await withoutIPv6();
    expect(await connected(await started(), '127.0.0.1')).toBe(true);
  });
});
