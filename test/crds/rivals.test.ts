/** The model of two tenants and one hostname (test/support/rivals.ts), its claims kept by a real API server. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import type {Client} from '../../operator/kube/client/client.ts';
import type {ApiServer} from '../support/kube-server.ts';
import {Platform} from '../support/platform.ts';
import {historyOfRivals, play, Town} from '../support/rivals.ts';

let server: ApiServer;
let client: Client;

beforeAll(async () => {
  server = await Platform.server();
  client = server.client();
});
afterAll(async () => {
  await client.close();
  await server.stop();
});

test('no tenant is routed without proof, never two at once, and its owner gets it back within the confirmations: on a real API server', async () => {
  const runs = 50;
  let ends = 0;
  let town = 0;
  await fc.assert(
    fc.asyncProperty(historyOfRivals, async (history) => {
      await play(new Town(client, `town${town++}.example`), history);
      ends++;
    }),
    {numRuns: runs},
  );
  expect(ends).toBe(runs);
});
