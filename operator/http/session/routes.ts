/** Sign-in and sign-out of the page: links for the platform's backend, and the page's own session. */
import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify';
import {z} from 'zod';
import {scopePattern} from '../../api/api-key.ts';
import type {ApiKey} from '../../api/foreign.ts';
import type {Tenant} from '../../domain/tenant.ts';
import {timestamp} from '../../domain/times.ts';
import {answers} from '../answers.ts';
import {type App, typed} from '../app.ts';
import {type Audit, grantState} from '../audit.ts';
import type {NotRecognised, Recognised} from '../gate/auth.ts';
import {type Actor, callerOf, refuseMore} from '../gate/caller.ts';
import type {KeyUser} from '../../limits/bans.ts';
import {networkOf} from '../gate/address.ts';
import type {Gate} from '../gate/gate.ts';
import {nameOf} from '../routes/key-bounds.ts';
import {signInPool} from '../gate/pools.ts';
import {Problem, signedInSchema} from '../problems.ts';
import * as schemas from '../schemas.ts';
import {consentProblem, needsConsent, type SignedIn} from './consent.ts';
import {clearCookie, readCookie, setCookie} from './cookie.ts';
import {manageSessions} from './manage.ts';
import {subject} from './subject.ts';
import {checkSameOrigin} from './same-origin.ts';
import type {SessionGrant, Session, Sessions} from './sessions.ts';

export interface SessionRoutesDeps {
  sessions: Sessions;
  /** Whose key a token is. */
  recognise: (token: string) => Recognised | NotRecognised;
  /** Until when a token is banned: Unix seconds. */
  bannedUntil: (user: KeyUser) => number | undefined;
  namespaceUID: (namespace: string) => string | undefined;
  tenantOf: (namespace: string) => Tenant | undefined;
  /** Charges a sign-in. */
  gate: Pick<Gate, 'passBeside'>;
  /** Unix ms, by the clock that bans go by. */
  now: () => number;
  /** `https://HOST`; undefined: wherever it is asked for. */
  pageOrigin?: string;
  /** Origins of the platform's pages: where links may lead back to. Empty: links of the platform may lead anywhere. */
  returnOrigins: readonly string[];
  /** Whether keys, and programs of the tenant, may create links. */
  linksByKeys: boolean;
  audit: Audit;
}

const web = z.url({protocol: /^https?$/, hostname: z.regexes.hostname}).max(2048);
const scopes = z
  .array(z.string().regex(new RegExp(scopePattern)))
  .min(1)
  .max(32);
const newLink = z
  .strictObject({
    scopes: scopes
      .default(['domains:read', 'domains:write'])
      .describe('Permissions of the session. The caller needs all of these permissions.'),
    returnUrl: web
      .optional()
      .describe(
        'Target of the link back on the page: a URL of the platform, with an origin in `api.page.returnOrigins`.',
      ),
    subject: subject.optional(),
    project: schemas.projectName.optional().describe('The project that the page opens. Default: the list of projects.'),
  })
  .describe('Options of the link.')
  .meta({id: 'NewSignInLink'});
const madeLink = z
  .object({
    url: z.string().describe("The link for the customer's browser. It works once, within five minutes."),
    expires: schemas.time('End of the link.'),
  })
  .describe('A link that signs in.')
  .meta({id: 'SignInLink'});
/** `confirmed`: the person has seen whose session it is. */
const confirmed = z.boolean().default(false);
const signIn = z.union([
  z.strictObject({link: z.string().max(100), referrer: z.string().max(2048).default(''), confirmed}),
  z.strictObject({key: z.string().max(300), confirmed}),
]);
const signedIn = signedInSchema.extend({
  scopes: z.array(z.string()),
  project: z.string().nullable(),
  returnUrl: z.string().nullable(),
  key: z.string().nullable(),
  ends: z.string(),
});

type TenantOf = SessionRoutesDeps['tenantOf'];

const whose = ({namespace, subject: of}: SessionGrant, tenantOf: TenantOf): SignedIn => ({
  account: tenantOf(namespace)?.account ?? null,
  namespace,
  subject: of ?? null,
});

const view = (session: Session, tenantOf: TenantOf): z.output<typeof signedIn> => ({
  ...whose(session, tenantOf),
  ...viewOf(session),
});

const viewOf = ({scopes: granted, project, returnUrl, key, endsSeconds}: Session) => ({
  scopes: [...granted],
  project: project ?? null,
  returnUrl: returnUrl ?? null,
  key: key?.name ?? null,
  ends: timestamp(endsSeconds * 1000),
});

export function addSessions(server: FastifyInstance, deps: SessionRoutesDeps): void {
  const app = typed(server);
  makeLink(app, deps);
  startSession(app, deps);
  readSession(app, deps);
  endSession(app, deps);
  manageSessions(app, deps);
}

/** Records that a session has started or ended. */
function recordSession(
  {audit, tenantOf}: SessionRoutesDeps,
  request: FastifyRequest,
  action: 'session.start' | 'session.end',
  session: SessionGrant | undefined,
): void {
  const tenant = session && tenantOf(session.namespace);
  if (!tenant) return;
  const state = action === 'session.start' ? {after: grantState(session)} : {before: grantState(session)};
  audit.record(request, {action, ...state}, {kind: 'session', session, namespace: session.namespace, tenant});
}

function makeLink(app: App, deps: SessionRoutesDeps): void {
  const {sessions, gate, pageOrigin, audit} = deps;
  app.post(
    '/v1/sessions',
    {
      config: {scope: 'keys:write'},
      schema: {
        operationId: 'createSignInLink',
        summary: 'Create a sign-in link to the page',
        tags: ['Page'],
        body: newLink,
        description:
          "For the platform's backend, which has identified the customer: it sends the customer's browser to the link. " +
          'The page then reaches only this namespace.',
        response: answers({201: madeLink}, ['invalid-input', 'links-by-keys-off', 'body-too-large', 'media-type']),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      refuseKeys(caller, deps);
      refuseMore(caller, request.body.scopes);
      refuseReturn(request.body.returnUrl, caller, deps);
      if (caller.kind === 'session')
        throw new Problem('scope-missing', "The platform's backend or a key creates links. The page cannot.");
      await gate.passBeside(
        signInPool(caller.kind, caller.tenant),
        'sign-ins',
        (headers) => void reply.headers(headers),
      );
      const key = caller.kind === 'key' ? keyOf(caller.key, caller) : undefined;
      const grant: SessionGrant = {
        ...request.body,
        namespace: caller.namespace,
        namespaceUID: caller.tenant.namespaceUID,
        madeBy: nameOf(caller),
        ...(key && {key}),
      };
      const {token, endsSeconds} = await sessions.makeLink(grant);
      audit.record(request, {action: 'link.create', project: grant.project ?? null, after: grantState(grant)});
      const origin = pageOrigin ?? `${request.protocol}://${request.host}`;
      // After the #: no server's log has it, and no program that looks at links uses it up.
      return reply.status(201).send({url: `${origin}/sign-in#${token}`, expires: timestamp(endsSeconds * 1000)});
    },
  );
}

function startSession(app: App, deps: SessionRoutesDeps): void {
  app.post(
    '/session',
    {
      config: {isSignIn: true},
      schema: {
        hide: true,
        body: signIn,
        response: answers({200: signedIn}, ['invalid-input', 'link-used', 'confirmation-needed', 'key-banned'], {
          open: true,
        }),
      },
    },
    async (request, reply) => {
      const {body, ip} = request;
      const {sessions, tenantOf} = deps;
      checkSameOrigin(request, deps.pageOrigin);
      const before = readCookie(request.headers.cookie);
      const next = 'link' in body ? await sessions.grantOf(body.link) : grantOf(deps, body.key, networkOf(ip));
      if (!body.confirmed) await refuseUnseen(deps, before, next, 'link' in body ? body.referrer : undefined);
      const opened = 'link' in body ? await sessions.open(body.link) : await startByKey(deps, next, reply);
      // A sign-in as another user ends the session of the former one.
      if (before !== undefined) recordSession(deps, request, 'session.end', await sessions.end(before));
      recordSession(deps, request, 'session.start', opened.session);
      return reply.header('set-cookie', setCookie(opened.token)).send(view(opened.session, tenantOf));
    },
  );
}

function readSession(app: App, {tenantOf}: SessionRoutesDeps): void {
  app.get(
    '/session',
    {config: {scope: 'any'}, schema: {hide: true, response: answers({200: signedIn})}},
    async (request) => {
      const caller = callerOf(request);
      if (caller.kind !== 'session')
        throw new Problem('not-found', 'This path is for the page. GET /v1/account shows your account.');
      return view(caller.session, tenantOf);
    },
  );
}

function endSession(app: App, deps: SessionRoutesDeps): void {
  app.delete(
    '/session',
    {config: {isSignIn: true}, schema: {hide: true, response: answers({204: z.null()}, [], {open: true})}},
    async (request, reply) => {
      checkSameOrigin(request, deps.pageOrigin);
      const token = readCookie(request.headers.cookie);
      if (token !== undefined) recordSession(deps, request, 'session.end', await deps.sessions.end(token));
      return reply.header('set-cookie', clearCookie).status(204).send(null);
    },
  );
}

/** Throws `links-by-keys-off` unless the platform itself asks, or lets others ask. */
function refuseKeys(caller: Actor, {linksByKeys}: SessionRoutesDeps): void {
  if (linksByKeys || caller.kind === 'session' || (caller.kind === 'backend' && !caller.isTenants)) return;
  throw new Problem(
    'links-by-keys-off',
    "Only the platform's backend creates links here. The platform can allow keys with the value api.page.linksByKeys.",
  );
}

/** Throws `invalid-input` if the page would lead back to a site that is not the platform's. */
function refuseReturn(returnUrl: string | undefined, caller: Actor, {returnOrigins}: SessionRoutesDeps): void {
  if (returnUrl === undefined || returnOrigins.includes(new URL(returnUrl).origin)) return;
  if (returnOrigins.length === 0 && caller.kind === 'backend' && !caller.isTenants) return;
  const message =
    `must be a URL of one of the platform's origins (api.page.returnOrigins` +
    `${returnOrigins.length === 0 ? ', which is empty' : `: ${returnOrigins.join(', ')}`}). Leave it out, or ask the platform`;
  throw new Problem('invalid-input', `body.returnUrl: ${message}.`, {
    errors: [{field: 'body.returnUrl', message}],
  });
}

/** Throws `confirmation-needed` if the person must first see the owner of the session. `cookie`: the cookie of the browser's session. */
async function refuseUnseen(
  {sessions, tenantOf, returnOrigins}: SessionRoutesDeps,
  cookie: string | undefined,
  next: SessionGrant,
  referrer: string | undefined,
): Promise<void> {
  const found = cookie === undefined ? undefined : await sessions.find(cookie);
  const current = found === undefined || 'problem' in found ? undefined : found;
  if (!needsConsent({current, next, referrer, origins: returnOrigins})) return;
  throw consentProblem(current ? whose(current, tenantOf) : null, whose(next, tenantOf));
}

async function startByKey(
  deps: SessionRoutesDeps,
  grant: SessionGrant,
  reply: FastifyReply,
): ReturnType<Sessions['start']> {
  const tenant = deps.tenantOf(grant.namespace);
  if (tenant)
    await deps.gate.passBeside(signInPool('key', tenant), 'sign-ins', (headers) => void reply.headers(headers));
  return deps.sessions.start(grant);
}

/** The permissions of a typed key. Throws if the key is invalid, or banned in this network. */
function grantOf(
  {recognise, bannedUntil, namespaceUID, now}: SessionRoutesDeps,
  token: string,
  network: string,
): SessionGrant {
  const who = recognise(token);
  if ('problem' in who) throw new Problem(who.problem, who.detail);
  const {namespace = ''} = who.key.metadata;
  const user = {hash: who.hash, network};
  const until = bannedUntil(user);
  if (until !== undefined) {
    throw new Problem(
      'key-banned',
      `This key is banned until ${timestamp(until * 1000)}, because it continued to send requests although each was refused.`,
      {headers: {'retry-after': String(Math.max(1, until - Math.floor(now() / 1000)))}},
    );
  }
  return {
    namespace,
    namespaceUID: namespaceUID(namespace) ?? '',
    scopes: who.key.spec.scopes,
    madeBy: `ApiKey ${who.key.metadata.name}`,
    key: keyOf(who.key, user),
  };
}

const keyOf = ({metadata: {name, uid = ''}}: ApiKey, {hash, network}: KeyUser): NonNullable<SessionGrant['key']> => ({
  name,
  uid,
  hash,
  network,
});
