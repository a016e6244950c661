/**
 * Event streams (server-sent events, HTML 9.2). Of a project's domains: each event is the whole state, so a client that missed some needs
 * the newest alone, and none if it has that one. Of a namespace: the names of what has changed; a client that reconnects reads again what
 * it shows.
 */
import {createHash} from 'node:crypto';
import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify';
import type {Logger} from 'pino';
import {z} from 'zod';
import type {apiMetrics} from '../../observability/metrics.ts';
import {answers} from '../answers.ts';
import {type App, typed} from '../app.ts';
import {type Actor, callerOf, hasScope} from '../gate/caller.ts';
import {Delivery, Feed, type FeedSource} from '../events/event-feed.ts';
import {
  banTopic,
  type Changed,
  type EventHub,
  keyTopic,
  namespaceTopic,
  projectTopic,
  sessionTopic,
} from '../events/event-hub.ts';
import {EventStream, type StreamEvent} from '../events/event-stream.ts';
import {Problem} from '../problems.ts';
import {languageFor, withTexts} from '../texts/customer-texts.ts';
import type {Language} from '../../domain/reasons/texts/language.ts';
import {whoIs} from '../server.ts';
import type {ObjectStore} from '../store/store.ts';
import {idOf, StreamSlots} from '../events/stream-slots.ts';
import {domainsView} from '../views.ts';
import {projectParams} from './reads.ts';

export interface EventDeps {
  store: ObjectStore;
  hub: EventHub;
  /** Whether the caller of a stream still has access. */
  mayGoOn: (request: FastifyRequest) => Promise<boolean>;
  /** Limits the streams that are open at once, of all callers: fewer than the connections that may be open. */
  atMost: number;
  log: Logger;
  metrics: Pick<ReturnType<typeof apiMetrics>, 'streams' | 'streamEnds' | 'streamEvents'>;
  /** 15 s by default. */
  heartbeatMs?: number;
}

/** Streams that end together do not come back together: ms. */
const jitteredRetry = (): string => `retry: ${2000 + Math.floor(Math.random() * 8000)}\n\n`;

/** Begins a stream of what a topic of the {@link EventHub} is about; `source` is called for the first one of a kind. */
type Begin = (
  request: FastifyRequest,
  reply: FastifyReply,
  topic: string,
  source: () => FeedSource,
  kind?: string,
) => void;

// A HEAD would be a stream of nothing that nobody ends.
const exposeHeadRoute = false;
const response = answers({200: z.string().describe('text/event-stream')}, ['not-found', 'too-many-streams']);

export function addEvents(server: FastifyInstance, deps: EventDeps): void {
  const app = typed(server);
  const begin = streams(deps);
  followProject(app, deps, begin);
  followNamespace(app, begin);
}

/** Returns what begins a stream, if there is a place for it. */
function streams(deps: EventDeps): Begin {
  const places = new StreamSlots(deps.atMost);
  const delivery = new Delivery();
  const follow = feeds(deps.hub, delivery);
  return (request, reply, topic, source, kind = '') => {
    // The client may have left while its access was checked: no `close` follows any more, which would give its place back.
    if (reply.raw.destroyed) return void reply.hijack();
    if (deps.hub.closing)
      throw new Problem('unavailable', 'This process is stopping. Connect again.', {headers: {'retry-after': '1'}});
    const leave = places.take(callerOf(request));
    open({...deps, delivery}, request, reply, (stream) => {
      const unfollow = follow({topic, kind}, source, stream);
      return () => {
        unfollow();
        leave();
      };
    });
  };
}

/** Returns a function that lets a stream follow a topic. All streams of one topic and kind share one feed. */
function feeds(hub: EventHub, delivery: Delivery) {
  const shared = new Map<string, {feed: Feed; unlisten: () => void}>();
  const make = (topic: string, source: FeedSource) => {
    const feed = new Feed(source, delivery);
    const unlisten = hub.listen([topic], (changed) =>
      hub.closing ? feed.close(jitteredRetry) : feed.changed(changed),
    );
    return {feed, unlisten};
  };
  return (
    {topic, kind}: {topic: string; kind: string},
    source: () => FeedSource,
    stream: EventStream,
  ): (() => void) => {
    const name = JSON.stringify([topic, kind]);
    const {feed, unlisten} = shared.get(name) ?? make(topic, source());
    shared.set(name, {feed, unlisten});
    feed.add(stream);
    return () => {
      if (!feed.remove(stream)) return;
      unlisten();
      shared.delete(name);
    };
  };
}

function followProject(app: App, {store}: EventDeps, begin: Begin): void {
  app.get(
    '/v1/projects/:project/events',
    {
      config: {scope: 'domains:read', isStream: true, hasTexts: true},
      exposeHeadRoute,
      schema: {
        operationId: 'followDomains',
        summary: 'Follow the domains of a project',
        tags: ['Domains'],
        params: projectParams,
        description:
          'Server-sent events. Each `domains` event has the answer of GET .../domains. A stream costs one request, events cost none. ' +
          'Changes within a second are one event. ' +
          'Reconnect with `Last-Event-ID` after the time in `retry`. The stream ends with the project or the key.',
        produces: ['text/event-stream'],
        response,
      },
    },
    async (request, reply) => {
      const {namespace} = callerOf(request);
      const project = store.project(namespace, request.params.project);
      const {language, headers} = languageFor(request);
      const source = () => domainsSource(store, namespace, project.metadata.name, language);
      begin(request, reply.headers(headers), projectTopic(project), source, language.code);
    },
  );
}

/** The domains of a project, while it exists. */
function domainsSource(store: ObjectStore, namespace: string, name: string, language: Language): FeedSource {
  let last: StreamEvent[] = [];
  return {
    isState: true,
    read: () => {
      const project = store.findProject(namespace, name);
      if (!project) return undefined;
      const domain = store.domainOf(project);
      const data = JSON.stringify(withTexts(domainsView(name, domain, domain?.managedBy), language));
      // Of the content: a change that does not show is no event, in no process.
      const id = createHash('sha256').update(data).digest('base64url').slice(0, 22);
      if (id !== last[0]?.id) last = [eventOf({topic: 'domains', scope: 'domains:read', id, type: 'domains', data})];
      return last;
    },
  };
}

const eventOf = ({type, data, ...event}: Omit<StreamEvent, 'bytes'> & {type: string; data: string}): StreamEvent => ({
  ...event,
  bytes: Buffer.from(`${event.id === undefined ? '' : `id: ${event.id}\n`}event: ${type}\ndata: ${data}\n\n`),
});

/** The scope that a caller needs to read the changed objects. */
const scopeOf = (changed: Changed): string =>
  'project' in changed ? 'domains:read' : 'keys' in changed ? 'keys:write' : 'any';

function followNamespace(app: App, begin: Begin): void {
  app.get(
    '/v1/events',
    {
      config: {scope: 'any', isStream: true},
      exposeHeadRoute,
      schema: {
        operationId: 'followChanges',
        summary: 'Follow the changes of a namespace',
        tags: ['Projects'],
        description:
          'Server-sent events. Each `changed` event names a changed object: `{"project": NAME}` for a project and its domains ' +
          '(needs the scope domains:read), `{"keys": true}` (needs keys:write) or `{"account": true}`. ' +
          'Each name arrives at most once a second. ' +
          'Changes without an open stream are not reported: read your data again after a reconnect.',
        produces: ['text/event-stream'],
        response,
      },
    },
    async (request, reply) => begin(request, reply, namespaceTopic(callerOf(request).namespace), () => changesSource),
  );
}

/** The names of what has changed. */
const changesSource: FeedSource = {
  isState: false,
  read: (changes) =>
    changes.map((changed) => {
      const data = JSON.stringify(changed);
      return eventOf({topic: data, scope: scopeOf(changed), type: 'changed', data});
    }),
};

/** The topics of what may end a caller's access. */
function endsOf(caller: Actor): string[] {
  if (caller.kind === 'key') return [keyTopic(caller.key), banTopic(caller.hash)];
  if (caller.kind === 'backend') return [];
  const {
    session: {id, key},
    namespace,
  } = caller;
  return [sessionTopic(id), ...(key ? [keyTopic({metadata: {namespace, name: key.name}}), banTopic(key.hash)] : [])];
}

/** Identifies what the access of a caller depends on: see {@link EventStream.access}. */
function accessOf({caller, headers: {authorization, cookie}, routeOptions}: FastifyRequest): string {
  const actor = caller as Actor;
  const ofKey = actor.kind === 'key' ? [actor.network, actor.key.spec.scopes] : [];
  return JSON.stringify([idOf(actor), actor.namespace, routeOptions.config.scope, authorization, cookie, ...ofKey]);
}

/** Opens a stream, which lives until its client, the caller's access, what it follows or this process goes. */
function open(
  {hub, mayGoOn, log, metrics, delivery, heartbeatMs = 15_000}: EventDeps & {delivery: Delivery},
  request: FastifyRequest,
  reply: FastifyReply,
  follow: (stream: EventStream) => () => void,
): void {
  reply.hijack();
  const {raw} = reply;
  const caller = callerOf(request);
  const route = request.routeOptions.url!;
  const seen = {requestId: request.id, route, namespace: caller.namespace, ...whoIs(caller), ...sessionOf(caller)};
  const openedAt = performance.now();
  log.info(seen, 'event stream opened');
  metrics.streams.inc({route});
  const stream = new EventStream({
    raw,
    access: accessOf(request),
    mayGoOn: () => mayGoOn(request),
    hasScope: (scope) => hasScope(caller, scope),
    lastEventId: request.headers['last-event-id'] as string | undefined,
    onReady: () => void delivery.send(stream),
    onSent: () => metrics.streamEvents.inc({route}),
    onEnd: (why) => {
      clearInterval(heartbeat);
      unlisten();
      unfollow();
      metrics.streams.dec({route});
      metrics.streamEnds.inc({route, why});
      log.info(
        {...seen, seconds: Math.round((performance.now() - openedAt) / 1000), ...stream.sent, why},
        'event stream ended',
      );
    },
  });
  const beat = async (): Promise<void> => {
    if (await delivery.mayGoOn(stream)) stream.write(': still here\n\n');
    else stream.end('access-ended');
  };
  const heartbeat = setInterval(() => void beat(), heartbeatMs);
  const unlisten = hub.listen(endsOf(caller), () => void delivery.send(stream));
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream',
    'x-accel-buffering': 'no',
  });
  stream.write(jitteredRetry());
  const unfollow = follow(stream);
}

/** The first digits of what identifies a session: enough to tell two apart. */
const sessionOf = (caller: Actor): object =>
  caller.kind === 'session' ? {sessionId: caller.session.id.slice(0, 8)} : {};
