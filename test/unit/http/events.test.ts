/** Event streams of many clients, and of clients that do what no client should. How streams go otherwise: test/api/events.test.ts. */
import {once} from 'node:events';
import {connect, type AddressInfo, type Socket} from 'node:net';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {pino} from 'pino';
import {Registry} from 'prom-client';
import {fastify, type FastifyInstance} from 'fastify';
import {serializerCompiler, validatorCompiler} from 'fastify-type-provider-zod';
import type {Project} from '../../../operator/api/foreign.ts';
import type {BackendCaller} from '../../../operator/http/gate/caller.ts';
import {EventHub, projectTopic} from '../../../operator/http/events/event-hub.ts';
import type {Problem} from '../../../operator/http/problems.ts';
import {addEvents} from '../../../operator/http/routes/events.ts';
import type {OwnedDomain, ObjectStore} from '../../../operator/http/store/store.ts';
import {apiMetrics} from '../../../operator/observability/metrics.ts';
import {patience} from '../../support/patience.ts';

let server: FastifyInstance;
/** The gate, where it asks somebody: how many wait there, and what lets them go on. */
let waiting: (() => void)[] = [];
let isOpen = false;
let hub: EventHub;
const registry = new Registry();
/** Lines of the log. */
const log: Record<string, unknown>[] = [];
/** Callers whose access has ended. */
const withoutAccess = new Set<unknown>();

const project = {
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'Project',
  metadata: {namespace: 'acme', name: 'docs'},
  spec: {serviceRef: {name: 'docs', port: 80}},
} as Project;
/** The domains of the project, and how often they were read. */
const domains = {reads: 0, primary: 'first.example.com'};
const store = {
  project: () => project,
  findProject: () => project,
  domainOf: () => {
    domains.reads++;
    return {metadata: {uid: 'a'}, spec: {primary: domains.primary}} as OwnedDomain;
  },
} as unknown as ObjectStore;

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
  const never = {onChange: () => {}, of: () => undefined} as never;
  hub = new EventHub({
    projects: never,
    domains: never,
    keys: never,
    tenants: never,
    namespaces: never,
    accounts: never,
    plans: never,
  });
  addEvents(server, {
    store,
    hub,
    mayGoOn: async ({headers}) => !withoutAccess.has(headers.caller),
    atMost: 15,
    log: pino({}, {write: (line: string) => void log.push(JSON.parse(line) as Record<string, unknown>)}),
    metrics: apiMetrics(registry),
  });
  await server.listen({port: 0, host: '127.0.0.1'});
});
afterAll(async () => {
  server.server.closeAllConnections();
  await server.close();
});

const connected = async (headers: Record<string, string> = {}, path = '/v1/events') => {
  const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  // At the end the server cuts all connections.
  socket.on('error', () => {});
  const lines = Object.entries({host: 'a', ...headers}).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  return socket;
};

/** The client, and what it was answered first. */
const answered = async (headers?: Record<string, string>, path?: string) => {
  const socket = await connected(headers, path);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  const text = answer.toString();
  return {socket, text, status: Number(text.split(' ')[1])};
};

/** Asks until it has a stream: those of before may be closing still. */
async function opened(headers: Record<string, string>, path?: string): Promise<{socket: Socket; text: string}> {
  for (;;) {
    const {socket, text, status} = await answered(headers, path);
    if (status === 200) return {socket, text};
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
  const open = await Promise.all(callers.map((caller) => opened(caller)));
  const next = {caller: 'next', tenant: 'next'};
  const refused = await answered(next);
  expect(refused.status).toBe(503);
  refused.socket.destroy();
  open[0]!.socket.destroy();
  for (const {socket} of [...open, await opened(next)]) socket.destroy();
});

/** Fails after 5 s. */
async function until(holds: () => boolean): Promise<void> {
  const endsAt = performance.now() + patience(5000);
  while (!holds()) {
    expect(performance.now()).toBeLessThan(endsAt);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
const route = '/v1/projects/:project/events';
const logged = (found: Record<string, unknown>) =>
  log.filter((line) => Object.entries({route, ...found}).every(([name, value]) => line[name] === value));

const ended = {msg: 'event stream ended', why: 'access-ended'};

describe('Ten streams of a project', () => {
  const sockets: Socket[] = [];
  /** What each was sent. */
  const texts: string[] = [];
  const all = (text: string): boolean => texts.every((sent) => sent.includes(text));

  beforeAll(async () => {
    isOpen = true;
    for (let i = 0; i < 10; i++) {
      const {socket, text} = await opened({caller: `caller-${i % 5}`}, '/v1/projects/docs/events');
      sockets.push(socket);
      texts[i] = text;
      socket.on('data', (bytes: Buffer) => {
        texts[i] += bytes.toString();
      });
    }
    await until(() => all('first.example.com'));
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
  });

  test('share one reading of its domains, at the beginning and after a change', async () => {
    expect(domains.reads).toBe(1);
    domains.primary = 'second.example.com';
    hub.tell(projectTopic(project));
    await until(() => all('second.example.com'));
    expect(domains.reads).toBe(2);
  });

  test('are in the log with who opened them, and in the metrics while they are open', async () => {
    const lines = logged({msg: 'event stream opened'});
    expect(lines).toHaveLength(10);
    expect(lines[0]).toMatchObject({
      requestId: expect.any(String),
      namespace: 'acme',
      serviceAccount: 'caller-0',
    });
    const metrics = await registry.metrics();
    expect(metrics).toContain(`doorplate_api_event_streams{route="${route}"} 10\n`);
    expect(metrics).toContain(`doorplate_api_events_sent_total{route="${route}"} 20\n`);
  });

  test('are in the log and in the metrics with why they ended, and with what they were sent', async () => {
    withoutAccess.add('caller-1');
    domains.primary = 'third.example.com';
    hub.tell(projectTopic(project));
    await until(() => logged(ended).length === 2);
    const what = {serviceAccount: 'caller-1', seconds: expect.any(Number), events: 2, bytes: expect.any(Number)};
    expect(logged(ended)).toEqual([expect.objectContaining(what), expect.objectContaining(what)]);
    sockets[0]!.destroy();
    await until(() => logged({msg: 'event stream ended', why: 'client-left'}).length === 1);
    expect(await registry.metrics()).toContain(
      `doorplate_api_event_streams_ended_total{route="${route}",why="access-ended"} 2\n`,
    );
  });
});

test('Two streams of a project in two languages have the texts for customers in their own', async () => {
  isOpen = true;
  const streams = await Promise.all(
    ['de', 'fr'].map(async (language) => {
      const headers = {caller: `reader-${language}`, tenant: `reader-${language}`, 'accept-language': language};
      const {socket, text} = await opened(headers, '/v1/projects/docs/events');
      const sent = {socket, text};
      socket.on('data', (bytes: Buffer) => {
        sent.text += bytes.toString();
      });
      return sent;
    }),
  );
  await until(() => streams.every(({text}) => text.includes('"customer":')));
  const [german, english] = streams.map(({text}) => text);
  expect(german).toContain('content-language: de');
  expect(german).toContain('"title":"Warten auf eine Prüfung"');
  expect(english).toContain('content-language: en');
  expect(english).toContain('"title":"Waiting for a check"');
  for (const {socket} of streams) socket.destroy();
});
