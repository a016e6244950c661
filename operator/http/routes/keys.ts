/** The paths of API keys. */
import type {FastifyInstance} from 'fastify';
import {z} from 'zod';
import {longestKeyName, scopePattern} from '../../api/api-key.ts';
import {limitSettings} from '../../api/plan.ts';
import {answers} from '../answers.ts';
import {type App, typed} from '../app.ts';
import {type Audit, keyState} from '../audit.ts';
import {type Actor, callerOf, hasScope} from '../gate/caller.ts';
import {bounded, comesFrom, refuseToRevoke, refuseToRotate} from './key-bounds.ts';
import type {KeyWriter} from '../store/key-writer.ts';
import {Problem} from '../problems.ts';
import * as schemas from '../schemas.ts';
import type {OwnedKey, ObjectStore} from '../store/store.ts';
import {objectName, pageOf} from '../store/store.ts';
import {keyView} from '../views.ts';

export interface KeyDeps {
  store: ObjectStore;
  writer: KeyWriter;
  /** Unix ms. */
  now: () => number;
  audit: Audit;
}

const tags = ['Keys'];
const config = {scope: 'keys:write'} as const;
const name = z
  .string()
  .max(longestKeyName)
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
  .describe('Name of the key: lower-case letters, digits, hyphens and dots.');
const params = z.object({name});
const made = schemas.keyWithToken;
const newKey = z
  .strictObject({
    name,
    scopes: z
      .array(z.string().regex(new RegExp(scopePattern)))
      .min(1)
      .max(32)
      .describe('Permissions of the key, at most those of the calling key.'),
    expires: z.iso
      .datetime({offset: true})
      .optional()
      .describe('End of the key, at most the end of the calling key. Default: the same end.'),
    rateLimit: z
      .strictObject(limitSettings(() => z.int32().min(1)))
      .describe('Its own cap.')
      .meta({id: 'NewRateLimit'})
      .optional(),
  })
  .describe('A new key.')
  .meta({id: 'NewApiKey'});
const longestOverlap = 7 * 86_400;
const rotation = z
  .strictObject({
    overlapSeconds: z
      .int()
      .min(0)
      .max(longestOverlap)
      .default(86_400)
      .describe('Time in which the previous token stays valid.'),
    dropPrevious: z
      .boolean()
      .default(false)
      .describe('Ends a valid token of an earlier rotation. Default: 409 while such a token is valid.'),
  })
  .describe('Options of the rotation.')
  .meta({id: 'KeyRotation'});

export function addKeys(server: FastifyInstance, deps: KeyDeps): void {
  const app = typed(server);
  listKeys(app, deps);
  makeKey(app, deps);
  rotateKey(app, deps);
  revokeKey(app, deps);
}

function listKeys(app: App, {store, now}: KeyDeps): void {
  app.get(
    '/v1/keys',
    {
      config: {...config, hasETag: true},
      schema: {
        operationId: 'listKeys',
        summary: 'List the keys',
        tags,
        querystring: schemas.page,
        response: answers({200: schemas.keyPage}),
      },
    },
    async (request) => {
      const {items, next} = pageOf(store.keys(callerOf(request).namespace), objectName, request.query);
      return {items: items.map((key) => keyView(key, now())), next};
    },
  );
}

/** Finds keys of the caller's namespace by name. */
const finder =
  (store: ObjectStore, {namespace}: Actor) =>
  (keyName: string): OwnedKey =>
    store.key(namespace, keyName);

function makeKey(app: App, {store, writer, now, audit}: KeyDeps): void {
  app.post(
    '/v1/keys',
    {
      config,
      schema: {
        operationId: 'createKey',
        summary: 'Create a key',
        tags,
        body: newKey,
        description:
          'A repeated request with the same properties changes nothing and shows no token. A key creates only keys without more ' +
          'rights: with scopes of its own, with no later end, and with requests that count in its own `rateLimit` too.',
        response: answers({200: made, 201: made}, [
          'invalid-input',
          'exceeds-caller',
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
      const expiresMs = expires === undefined ? undefined : Date.parse(expires);
      if (expiresMs !== undefined && expiresMs <= now()) {
        const message = 'must be in the future';
        throw new Problem('invalid-input', `body.expires: ${message}`, {errors: [{field: 'body.expires', message}]});
      }
      const spec = bounded(caller, {scopes, expiresMs, rateLimit}, finder(store, caller));
      const done = await writer.create(caller.namespace, wanted, spec);
      const status = done.token === undefined ? 200 : 201;
      if (status === 201) audit.record(request, {action: 'key.create', key: wanted, after: keyState(done.key, now())});
      return reply.status(status).send({...keyView(done.key, now()), token: done.token ?? null});
    },
  );
}

function rotateKey(app: App, {store, writer, now, audit}: KeyDeps): void {
  app.post(
    '/v1/keys/:name/rotate',
    {
      config: {...config, right: {verb: 'update'}},
      schema: {
        operationId: 'rotateKey',
        summary: 'Give a key a new token',
        tags,
        params,
        body: rotation,
        description:
          'The previous token stays valid for `overlapSeconds`. While an even older token is valid, the answer is 409, so that a ' +
          'retry does not end the token of your programs.',
        response: answers({200: made}, [
          'invalid-input',
          'exceeds-caller',
          'not-found',
          'managed-elsewhere',
          'rotation-under-way',
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
      refuseToRotate(caller, key, finder(store, caller));
      const {overlapSeconds, dropPrevious} = request.body;
      const done = await writer.rotate(key, {overlapMs: overlapSeconds * 1000, dropPrevious}, now());
      const [before, after] = [keyState(key, now()), keyState(done.key, now())];
      audit.record(request, {action: 'key.rotate', key: key.metadata.name, before, after});
      return {...keyView(done.key, now()), token: done.token};
    },
  );
}

function revokeKey(app: App, {store, writer, now, audit}: KeyDeps): void {
  app.delete(
    '/v1/keys/:name',
    {
      config: {
        scope: 'any',
        right: {resource: 'apikeys'},
        ownQuota: (caller, {params: p}) => (p as {name: string}).name === caller.key.metadata.name,
      },
      schema: {
        operationId: 'revokeKey',
        summary: 'Revoke a key',
        tags,
        params,
        querystring: z.object({
          descendants: z
            .enum(['true', 'false'])
            .default('false')
            .describe('`true`: also revokes the keys that it created, and all keys that those created.'),
        }),
        description:
          "Needs the scope keys:write, but every key may revoke itself, even if the plan's quota is used up. A key revokes no key " +
          'with more rights, unless it created that key.',
        response: answers({204: z.null()}, [
          'invalid-input',
          'exceeds-caller',
          'not-found',
          'managed-elsewhere',
          'kubernetes-failed',
        ]),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const own = caller.kind === 'key' && request.params.name === caller.key.metadata.name;
      if (!own && !hasScope(caller, 'keys:write'))
        throw new Problem('scope-missing', 'This needs the scope keys:write.', {scope: 'keys:write'});
      const find = finder(store, caller);
      const key = find(request.params.name);
      refuseToRevoke(caller, key, find);
      const {uid} = key.metadata;
      const more = request.query.descendants === 'true' ? store.keys(caller.namespace) : [];
      // The key itself comes last, so that a caller that revokes its own key can try again.
      await writer.revoke([...more.filter((each) => comesFrom(each, uid)), key], (revoked) =>
        audit.record(request, {
          action: 'key.revoke',
          key: revoked.metadata.name,
          before: keyState(revoked, now()),
        }),
      );
      return reply.status(204).send(null);
    },
  );
}
