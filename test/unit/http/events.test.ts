/** Event streams of a client that does what no client should. How streams go otherwise: test/api/events.test.ts. */
import {once} from 'node:events';
import {connect, type AddressInfo, type Socket} from 'node:net';
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {fastify, type FastifyInstance} from 'fastify';
import {serializerCompiler, validatorCompiler} from 'fastify-type-provider-zod';
import type {BackendCaller} from '../../../operator/http/caller.ts';
import type {EventHub} from '../../../operator/http/event-hub.ts';
import type {Problem} from '../../../operator/http/problems.ts';
import {addEvents} from '../../../operator/http/routes/events.ts';
import type {Store} from '../../../operator/http/store.ts';

let server: FastifyInstance;
/** The gate, where it asks somebody: how many wait there, and what lets them go on. */
let waiting: (() => void)[] = [];
let isOpen = false;

beforeAll(async () => {
  server = fastify();
  server.setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler);
  server.setErrorHandler((error: Problem, _, reply) =>
    reply.status(error.status).serializer(JSON.stringify).send(error.body),
  );
  server.decorateRequest('caller');
  server.addHook('onRequest', async (request) => {
    if (!isOpen) await new Promise<void>((resolve) => waiting.push(resolve));
    const {caller: username = 'backend', tenant: namespaceUID = 'acme'} = request.headers as Record<string, string>;
    request.caller = {kind: 'backend', namespace: 'acme', account: {username}, tenant: {namespaceUID}} as BackendCaller;
  });
  const hub = {closing: false, listen: () => () => {}} as unknown as EventHub;
  addEvents(server, {store: {} as Store, hub, mayGoOn: async () => true, atMost: 15});
  await server.listen({port: 0, host: '127.0.0.1'});
});
afterAll(async () => {
  server.server.closeAllConnections();
  await server.close();
});

const connected = async (headers: Record<string, string> = {}) => {
  const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  const lines = Object.entries({host: 'a', ...headers}).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET /v1/events HTTP/1.1\r\n${lines.join('')}\r\n`);
  return socket;
};

/** The client, and what it was answered first. */
const answered = async (headers?: Record<string, string>) => {
  const socket = await connected(headers);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  return {socket, status: Number(answer.toString().split(' ')[1])};
};

/** Asks until it has a stream: those of before may be closing still. */
async function opened(headers: Record<string, string>): Promise<Socket> {
  for (;;) {
    const {socket, status} = await answered(headers);
    if (status === 200) return socket;
    socket.destroy();
  }
}

test('A client that leaves before its stream has begun holds no place among those that it may have open', async () => {
  const closed: Promise<unknown>[] = [];
  server.server.on('connection', (socket) => closed.push(once(socket, 'close')));
  const clients = await Promise.all(Array.from({length: 10}, () => connected()));
  while (waiting.length < 10) await new Promise(setImmediate);
  for (const client of clients) client.destroy();
  await Promise.all(closed);
  isOpen = true;
  for (const goOn of waiting.splice(0)) goOn();
  const {socket, status} = await answered();
  expect(status).toBe(200);
  socket.destroy();
});

test('All tenants together have so many streams open and no more: the others are told to try again, until one ends', async () => {
  isOpen = true;
  const callers = Array.from({length: 15}, (_, i) => ({caller: `caller-${i}`, tenant: `tenant-${i}`}));
  const open = await Promise.all(callers.map(opened));
  const next = {caller: 'next', tenant: 'next'};
  const refused = await answered(next);
  expect(refused.status).toBe(503);
  refused.socket.destroy();
  open[0]!.destroy();
  for (const socket of [...open, await opened(next)]) socket.destroy();
});
