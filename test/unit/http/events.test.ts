/** Event streams of a client that does what no client should. How streams go otherwise: test/api/events.test.ts. */
import {once} from 'node:events';
import {connect, type AddressInfo} from 'node:net';
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {fastify, type FastifyInstance} from 'fastify';
import {serializerCompiler, validatorCompiler} from 'fastify-type-provider-zod';
import type {BackendCaller} from '../../../operator/http/caller.ts';
import type {EventHub} from '../../../operator/http/event-hub.ts';
import {addEvents} from '../../../operator/http/routes/events.ts';
import type {Store} from '../../../operator/http/store.ts';

let server: FastifyInstance;
/** The gate, where it asks somebody: how many wait there, and what lets them go on. */
let waiting: (() => void)[] = [];
let isOpen = false;

beforeAll(async () => {
  server = fastify();
  server.setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler);
  server.decorateRequest('caller');
  server.addHook('onRequest', async (request) => {
    if (!isOpen) await new Promise<void>((resolve) => waiting.push(resolve));
    request.caller = {kind: 'backend', namespace: 'acme', account: {username: 'backend'}} as BackendCaller;
  });
  const hub = {closing: false, listen: () => () => {}} as unknown as EventHub;
  addEvents(server, {store: {} as Store, hub, mayGoOn: async () => true});
  await server.listen({port: 0, host: '127.0.0.1'});
});
afterAll(async () => {
  server.server.closeAllConnections();
  await server.close();
});

const connected = async () => {
  const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('GET /v1/events HTTP/1.1\r\nHost: a\r\n\r\n');
  return socket;
};

test('A client that leaves before its stream has begun holds no place among those that it may have open', async () => {
  const closed: Promise<unknown>[] = [];
  server.server.on('connection', (socket) => closed.push(once(socket, 'close')));
  const clients = await Promise.all(Array.from({length: 10}, connected));
  while (waiting.length < 10) await new Promise(setImmediate);
  for (const client of clients) client.destroy();
  await Promise.all(closed);
  isOpen = true;
  for (const goOn of waiting.splice(0)) goOn();
  const next = await connected();
  const [answer] = (await once(next, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1.1 200 /);
  next.destroy();
});
