/** The paths of API keys. */
import type {FastifyInstance} from 'fastify';
import {z} from 'zod';
import {longestKeyName, scopePattern} from '../../api/api-key.ts';
import {timestamp} from '../../domain/times.ts';
import {answers} from '../answers.ts';
import {type App, typed} from '../app.ts';
import {callerOf, hasScope, refuseMore} from '../caller.ts';
import type {KeyWriter} from '../key-writer.ts';
import {Problem} from '../problems.ts';
import * as schemas from '../schemas.ts';
import type {Store} from '../store.ts';
import {pageOf} from '../store.ts';
import {keyView} from '../views.ts';

export interface KeyDeps {
  store: Store;
  writer: KeyWriter;
  /** Unix ms. */
  now: () => number;
}

const tags = ['Keys'];
const config = {scope: 'keys:write'};
const name = z
  .string()
  .max(longestKeyName)
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
  .describe('Name of the key: lower-case letters, digits, hyphens and dots.');
const params = z.object({name});
const token = z
  .string()
  .nullable()
  .describe('The key itself: shown now, and never again. Null where the very same key was there already.');
const made = schemas.key.extend({token}).describe('A key, and its token.');
const newKey = z
  .strictObject({
    name,
    scopes: z
      .array(z.string().regex(new RegExp(scopePattern)))
      .min(1)
      .max(32)
      .describe('What it may do; never more than the key that asks.'),
    expires: z.iso.datetime({offset: true}).optional().describe('When it expires. Default: never.'),
    rateLimit: z
      .strictObject({requestsPerMinute: z.int().min(1), requestsPerDay: z.int().min(1)})
      .optional()
      .describe('A cap of its own.'),
  })
  .describe('A key to make.');
const longestOverlap = 7 * 86_400;
const rotation = z
  .strictObject({
    overlapSeconds: z
      .int()
      .min(0)
      .max(longestOverlap)
      .default(86_400)
      .describe('How long the token of before is accepted still.'),
  })
  .describe('How to rotate.');

export function addKeys(server: FastifyInstance, deps: KeyDeps): void {
  const app = typed(server);
  listKeys(app, deps);
  makeKey(app, deps);
  rotateKey(app, deps);
  revokeKey(app, deps);
}

function listKeys(app: App, {store}: KeyDeps): void {
  app.get(
    '/v1/keys',
    {
      config,
      schema: {
        summary: 'List the keys',
        tags,
        querystring: schemas.page,
        response: answers({200: schemas.list(schemas.key, 'Keys, by name.')}),
      },
    },
    async (request) => {
      const {items, next} = pageOf(store.keys(callerOf(request).namespace), request.query);
      return {items: items.map(keyView), next};
    },
  );
}

function makeKey(app: App, {writer}: KeyDeps): void {
  app.post(
    '/v1/keys',
    {
      config,
      schema: {
        summary: 'Make a key',
        tags,
        body: newKey,
        description: 'The second time, with the same properties, changes nothing and shows no token.',
        response: answers({200: made, 201: made}, [
          'invalid-input',
          'key-exists',
          'body-too-large',
          'media-type',
          'refused',
          'quota-reached',
          'kubernetes-failed',
        ]),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const {name: wanted, scopes, expires, rateLimit} = request.body;
      refuseMore(caller, scopes);
      const expireTime = expires === undefined ? undefined : timestamp(Date.parse(expires));
      const done = await writer.create(caller.namespace, wanted, {
        scopes,
        ...(expireTime && {expireTime}),
        ...(rateLimit && {rateLimit}),
      });
      return reply.status(done.token === undefined ? 200 : 201).send({...keyView(done.key), token: done.token ?? null});
    },
  );
}

function rotateKey(app: App, {store, writer, now}: KeyDeps): void {
  app.post(
    '/v1/keys/:name/rotate',
    {
      config: {...config, right: {verb: 'update'}},
      schema: {
        summary: 'Give a key a new token',
        tags,
        params,
        body: rotation,
        response: answers({200: made}, [
          'invalid-input',
          'not-found',
          'managed-elsewhere',
          'changed-meanwhile',
          'body-too-large',
          'media-type',
          'kubernetes-failed',
        ]),
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const key = store.key(caller.namespace, request.params.name);
      refuseMore(caller, key.spec.scopes);
      const done = await writer.rotate(key, request.body.overlapSeconds * 1000, now());
      return {...keyView(done.key), token: done.token};
    },
  );
}

function revokeKey(app: App, {store, writer}: KeyDeps): void {
  app.delete(
    '/v1/keys/:name',
    {
      config: {
        scope: 'any',
        right: {resource: 'apikeys'},
        ownQuota: (caller, {params: p}) => (p as {name: string}).name === caller.key.metadata.name,
      },
      schema: {
        summary: 'Revoke a key',
        tags,
        params,
        description:
          "Needs the scope keys:write, but every key may revoke itself, even when the plan's quota is used up.",
        response: answers({204: z.null()}, ['not-found', 'managed-elsewhere', 'kubernetes-failed']),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const own = caller.kind === 'key' && request.params.name === caller.key.metadata.name;
      if (!own && !hasScope(caller, 'keys:write'))
        throw new Problem('scope-missing', 'This needs the scope keys:write.', {scope: 'keys:write'});
      await writer.revoke(store.key(caller.namespace, request.params.name));
      return reply.status(204).send(null);
    },
  );
}
