/**
 * Event streams (server-sent events, HTML 9.2). Of a project's domains: each event is the whole state, so nobody has to be told what
 * they missed: who comes back with the id of what stands gets nothing, anybody else one snapshot. Of a namespace: what has changed, by
 * name; who comes back reads again what they show.
 */
import type {ServerResponse} from 'node:http';
import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify';
import {z} from 'zod';
import {answers} from '../answers.ts';
import {type App, typed} from '../app.ts';
import type {Changed, EventHub} from '../event-hub.ts';
import {banTopic, keyTopic, namespaceTopic, projectTopic, sessionTopic} from '../event-hub.ts';
import {type Actor, callerOf, hasScope} from '../caller.ts';
import {Problem} from '../problems.ts';
import type {Store} from '../store.ts';
import {StreamPlaces} from '../stream-places.ts';
import {domainsView} from '../views.ts';
import {projectParams} from './reads.ts';

export interface EventDeps {
  store: Store;
  hub: EventHub;
  /** Whether who opened a stream may go on. */
  mayGoOn: (request: FastifyRequest) => Promise<boolean>;
  /** So many streams may be open at once, whoever has them: fewer than there may be connections. */
  atMost: number;
  /** 15 s by default. */
  heartbeatMs?: number;
}

/** Bytes that a client may leave unread before it is cut. */
const mostUnread = 256 << 10;
/** Streams that end together do not come back together: ms. */
const jitteredRetry = (): number => 2000 + Math.floor(Math.random() * 8000);

/** What a stream tells. */
interface Told {
  /** What it may speak of. */
  topics: readonly string[];
  /** Writes what there is to say, at the beginning and after each change. False: it has ended. */
  say: (write: (text: string) => void, changed: Changed | undefined) => boolean;
}

type Begin = (request: FastifyRequest, reply: FastifyReply, told: Told) => void;

// A HEAD would be a stream of nothing that nobody ends.
const exposeHeadRoute = false;
const response = answers({200: z.string().describe('text/event-stream')}, ['not-found']);

export function addEvents(server: FastifyInstance, deps: EventDeps): void {
  const app = typed(server);
  const begin = streams(deps);
  followProject(app, deps, begin);
  followNamespace(app, begin);
}

/** What begins a stream, where there is a place for it. */
function streams(deps: EventDeps): Begin {
  const places = new StreamPlaces(deps.atMost);
  return (request, reply, told) => {
    // Who has left while it was asked whether they may: no `close` comes any more, which would give their place back.
    if (reply.raw.destroyed) return void reply.hijack();
    if (deps.hub.closing)
      throw new Problem('unavailable', 'This process is stopping. Connect again.', {headers: {'retry-after': '1'}});
    stream(deps, request, reply, told, places.take(callerOf(request)));
  };
}

function followProject(app: App, {store}: EventDeps, begin: Begin): void {
  app.get(
    '/v1/projects/:project/events',
    {
      config: {scope: 'domains:read'},
      exposeHeadRoute,
      schema: {
        summary: 'Follow the domains of a project',
        tags: ['Domains'],
        params: projectParams,
        description:
          'Server-sent events. Each `domains` event holds what GET .../domains answers. Opening costs one request, what follows none. ' +
          'Reconnect with `Last-Event-ID`, after the time that `retry` says. The stream ends when the project or the key goes.',
        produces: ['text/event-stream'],
        response,
      },
    },
    async (request, reply) => {
      const {namespace} = callerOf(request);
      const project = store.project(namespace, request.params.project);
      const {name} = project.metadata;
      let sent = request.headers['last-event-id'];
      begin(request, reply, {
        topics: [projectTopic(project)],
        say: (write) => {
          if (!store.findProject(namespace, name)) {
            write('event: gone\ndata: {}\n\n');
            return false;
          }
          const domain = store.domainOf(project);
          const id = domain ? `${domain.metadata.uid}.${domain.metadata.resourceVersion}` : 'none';
          if (id !== sent)
            write(
              `id: ${id}\nevent: domains\ndata: ${JSON.stringify(domainsView(name, domain, domain?.managedBy))}\n\n`,
            );
          sent = id;
          return true;
        },
      });
    },
  );
}

/** What it takes to read what has changed. */
const scopeOf = (changed: Changed): string =>
  'project' in changed ? 'domains:read' : 'keys' in changed ? 'keys:write' : 'any';

function followNamespace(app: App, begin: Begin): void {
  app.get(
    '/v1/events',
    {
      config: {scope: 'any'},
      exposeHeadRoute,
      schema: {
        summary: 'Follow what changes',
        tags: ['Projects'],
        description:
          'Server-sent events. Each `changed` event names what has: `{"project": NAME}` (its domains among it; ' +
          'needs the scope domains:read), `{"keys": true}` (needs keys:write) or `{"account": true}`. ' +
          'What changed while no stream was open is not told: read again what you show.',
        produces: ['text/event-stream'],
        response,
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      begin(request, reply, {
        topics: [namespaceTopic(caller.namespace)],
        say: (write, changed) => {
          if (changed && hasScope(caller, scopeOf(changed)))
            write(`event: changed\ndata: ${JSON.stringify(changed)}\n\n`);
          return true;
        },
      });
    },
  );
}

/** What may end a caller's streams. */
function endsOf(caller: Actor): string[] {
  if (caller.kind === 'key') return [keyTopic(caller.key), banTopic(caller.hash)];
  if (caller.kind === 'backend') return [];
  const {
    session: {id, key},
    namespace,
  } = caller;
  return [sessionTopic(id), ...(key ? [keyTopic({metadata: {namespace, name: key.name}}), banTopic(key.hash)] : [])];
}

/** Writes events until the client, the caller's right, what is told of, or this process goes. */
function stream(
  {hub, mayGoOn, heartbeatMs = 15_000}: EventDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  {topics, say}: Told,
  onEnd: () => void,
): void {
  reply.hijack();
  const {raw} = reply;
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream',
    'x-accel-buffering': 'no',
  });
  const end = (): void => {
    unlisten();
    clearInterval(heartbeat);
    raw.end();
  };
  const look = async (changed?: Changed): Promise<void> => {
    if (hub.closing) {
      send(raw, `retry: ${jitteredRetry()}\n\n`);
      return end();
    }
    if (!(await mayGoOn(request))) return end();
    if (!raw.writableEnded && !say((text) => send(raw, text), changed)) end();
  };
  const unlisten = hub.listen([...topics, ...endsOf(callerOf(request))], (changed) => void look(changed));
  const beat = async (): Promise<void> => {
    if (!(await mayGoOn(request))) return end();
    send(raw, ': still here\n\n');
  };
  const heartbeat = setInterval(() => void beat(), heartbeatMs);
  raw.on('close', () => {
    unlisten();
    clearInterval(heartbeat);
    onEnd();
  });
  send(raw, `retry: ${jitteredRetry()}\n\n`);
  void look();
}

function send(raw: ServerResponse, text: string): void {
  if (raw.writableLength > mostUnread) raw.destroy();
  else if (!raw.writableEnded) raw.write(text);
}
