/** Who answers plain HTTP of a name that nobody has. */
import {createServer, type Server} from 'node:http';
import type {AddressInfo} from 'node:net';
import {afterEach, describe, expect, test} from '@jest/globals';
import {redirectorAnswers} from '../../../operator/edge/plain-http.ts';
import {startRedirector} from '../../../operator/redirector/server.ts';

let servers: Server[] = [];
let asked: (string | undefined)[] = [];
afterEach(async () => {
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  [servers, asked] = [[], []];
});

/** An edge that answers so. */
async function edge(
  status: number,
  headers: Record<string, string> = {},
  address = '127.0.0.1',
): Promise<{address: string; port: number}> {
  const server = createServer((req, res) => {
    asked.push(req.headers.host);
    res.writeHead(status, headers).end();
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return {address, port: (server.address() as AddressInfo).port};
}
const ours = {doorplate: 'redirector'};
const within = {timeoutMs: 5_000};

describe('Plain HTTP is answered by our redirector', () => {
  test('where the redirector itself answers', async () => {
    const log = {info: () => {}, warn: () => {}};
    const redirector = await startRedirector({
      port: 0,
      table: () => new Map(),
      ready: () => true,
      ruleOf: async () => undefined,
      log,
      lingerMs: 0,
      drainMs: 0,
    });
    expect(await redirectorAnswers([{address: '127.0.0.1', port: redirector.port}], within)).toBe(true);
    await redirector.close();
  });

  test('where every address of the edge says so, of a name that no route has', async () => {
    expect(await redirectorAnswers([await edge(404, ours), await edge(404, ours)], within)).toBe(true);
    expect(asked).toEqual(['plain-http.doorplate.invalid', 'plain-http.doorplate.invalid']);
  });

  test('where an IPv6 address says so', async () => {
    expect(await redirectorAnswers([await edge(404, ours, '::1')], within)).toBe(true);
  });

  test('not where one address says otherwise', async () => {
    expect(await redirectorAnswers([await edge(404, ours), await edge(404)], within)).toBe(false);
  });

  test('not where nobody answers', async () => {
    const {port} = await edge(404, ours);
    await new Promise((resolve) => servers.pop()!.close(resolve));
    expect(await redirectorAnswers([{address: '127.0.0.1', port}], within)).toBe(false);
  });

  test('not where there is no address', async () => {
    expect(await redirectorAnswers([], within)).toBe(false);
  });
});
