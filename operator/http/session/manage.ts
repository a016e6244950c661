/** Listing and ending sessions of the page, for the platform and for holders of keys. */
import {z} from 'zod';
import {timestamp} from '../../domain/times.ts';
import {answers} from '../answers.ts';
import type {App} from '../app.ts';
import {type Audit, grantState} from '../audit.ts';
import {callerOf} from '../gate/caller.ts';
import {Problem} from '../problems.ts';
import * as schemas from '../schemas.ts';
import {pageOf} from '../store/store.ts';
import {subject} from './subject.ts';
import type {Session, Sessions} from './sessions.ts';

interface ManageDeps {
  sessions: Sessions;
  audit: Audit;
}

const tags = ['Page'];
const config = {scope: 'keys:write'} as const;
const listed = z
  .object({
    id: z.string().describe('Name of the session. It cannot be used to sign in.'),
    subject: z.string().nullable().describe("The platform's name for its user. Null if the link names none."),
    madeBy: z.string().describe('Creator of the link, or the typed key: ApiKey NAME or ServiceAccount NAMESPACE/NAME.'),
    scopes: z.array(z.string()).describe('Permissions of the session.'),
    started: schemas.time('Start of the session.'),
    ends: schemas.time('End of the session.'),
  })
  .describe('A session of the page.')
  .meta({id: 'Session'});
const sessionPage = schemas.list('SessionPage', listed, 'Sessions of the namespace, by id.');
const endedSessions = z
  .object({ended: z.int32().describe('Number of ended sessions.')})
  .describe('Ended sessions.')
  .meta({id: 'EndedSessions'});
const params = z.object({
  id: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('The `id` of a session.'),
});

const view = ({id, subject: of, madeBy, scopes, startSeconds, endsSeconds}: Session): z.output<typeof listed> => ({
  id,
  subject: of ?? null,
  madeBy: madeBy ?? '',
  scopes: [...scopes],
  started: timestamp((startSeconds ?? endsSeconds) * 1000),
  ends: timestamp(endsSeconds * 1000),
});

export function manageSessions(app: App, deps: ManageDeps): void {
  listSessions(app, deps);
  endById(app, deps);
  endBySubject(app, deps);
}

function listSessions(app: App, {sessions}: ManageDeps): void {
  app.get(
    '/v1/sessions',
    {
      config: {...config, hasETag: true},
      schema: {
        operationId: 'listSessions',
        summary: 'List the sessions of the page',
        tags,
        querystring: schemas.page.extend({subject: subject.optional()}),
        response: answers({200: sessionPage}, ['invalid-input']),
      },
    },
    async (request) => {
      const {subject: of, ...which} = request.query;
      const all = await sessions.list(callerOf(request).tenant.namespaceUID);
      const wanted = of === undefined ? all : all.filter((session) => session.subject === of);
      const {items, next} = pageOf(wanted, ({id}) => id, which);
      return {items: items.map(view), next};
    },
  );
}

function endById(app: App, {sessions, audit}: ManageDeps): void {
  app.delete(
    '/v1/sessions/:id',
    {
      config,
      schema: {
        operationId: 'endSession',
        summary: 'End a session of the page',
        tags,
        params,
        description:
          'The API refuses its requests at once, and ends its event streams. Other replicas do so within 15 seconds.',
        response: answers({204: z.null()}, ['invalid-input']),
      },
    },
    async (request, reply) => {
      const ended = await sessions.endById(callerOf(request).tenant.namespaceUID, request.params.id);
      if (!ended) throw new Problem('not-found', 'The namespace has no session with this id.');
      audit.record(request, {action: 'session.end', before: grantState(ended)});
      return reply.status(204).send(null);
    },
  );
}

function endBySubject(app: App, {sessions, audit}: ManageDeps): void {
  app.delete(
    '/v1/sessions',
    {
      config,
      schema: {
        operationId: 'endUserSessions',
        summary: 'End all sessions of a user',
        tags,
        querystring: z.object({subject}),
        description: 'Also deletes the unused links of the user. Other namespaces keep theirs.',
        response: answers({200: endedSessions}, ['invalid-input']),
      },
    },
    async (request) => {
      const ended = await sessions.endAll(callerOf(request).tenant.namespaceUID, request.query.subject);
      for (const grant of ended) audit.record(request, {action: 'session.end', before: grantState(grant)});
      return {ended: ended.length};
    },
  );
}
