/** The paths that change a project's domains. */
import type {FastifyInstance, FastifyRequest} from 'fastify';
import {z} from 'zod';
import type {CustomDomain, Project} from '../../api/foreign.ts';
import {needsALabel} from '../../api/hostname-rules.ts';
import {hostname} from '../../api/rules.ts';
import type {Hostname} from '../../domain/hostnames/hostname.ts';
import {aLabelAdvice, normalise} from '../../domain/hostnames/hostname.ts';
import {isDeepEqual} from '../../kube/equality.ts';
import type {Refusal} from '../../domain/reasons/reasons.ts';
import {answers} from '../answers.ts';
import {type App, typed} from '../app.ts';
import {type Audit, type Audited, hostState} from '../audit.ts';
import {callerOf} from '../gate/caller.ts';
import {add, makePrimary, put, remove} from './changes.ts';
import {type Attempt, refusedView} from './dry-run.ts';
import {etagOf, versionOf} from '../gate/preconditions.ts';
import {Problem} from '../problems.ts';
import * as schemas from '../schemas.ts';
import type {ObjectStore} from '../store/store.ts';
import type {HostView} from '../views.ts';
import {domainsView, hostsOf, nameOf} from '../views.ts';
import type {DomainsChange, DomainsChanged, DomainWriter} from '../store/writer.ts';
import {hostParams, projectParams} from './reads.ts';

export interface WriteDeps {
  store: ObjectStore;
  writer: DomainWriter;
  /** Resolves with the CustomDomain when its status speaks of its spec, or as it stands when that takes too long. */
  settled: (domain: CustomDomain) => Promise<CustomDomain>;
  /** The reason to refuse a hostname to every project. Undefined: the hostname can be attached. */
  notAllowed: (written: string) => Refusal | undefined;
  /** Why the operator would refuse a hostname that is tried out. */
  refusal: (attempt: Omit<Attempt, 'now'>, hostname: Hostname) => Refusal | undefined;
  now: () => Date;
  audit: Audit;
}

const tags = ['Domains'];
const ifMatch = z.object({
  'if-match': z
    .string()
    .max(1000)
    .optional()
    .describe('Changes only these domains: their `version` in quotes, or the `ETag` of a read.'),
});
const config = {scope: 'domains:write'} as const;
const errors = [
  'invalid-input',
  'not-found',
  'hostname-exists',
  'changed-meanwhile',
  'body-too-large',
  'media-type',
  'refused',
  'quota-reached',
  'kubernetes-failed',
] as const;
const putBody = z
  .strictObject({status: schemas.newDomain.shape.status})
  .describe('Settings of a redirect source.')
  .meta({id: 'HostnameSettings'});
const requested = (id: string, what: string) =>
  z
    .object({requestedAt: z.string().describe('Time of the request.')})
    .describe(what)
    .meta({id});
const requestedCheck = requested('RequestedCheck', 'A requested check.');
const requestedReissue = requested('RequestedReissue', 'Requested new certificates.');

export function addWrites(server: FastifyInstance, deps: WriteDeps): void {
  const app = typed(server);
  addHostname(app, deps);
  putHostname(app, deps);
  removeHostname(app, deps);
  makeItPrimary(app, deps);
  verify(app, deps);
  reissue(app, deps);
}

const projectOf = (store: ObjectStore, request: FastifyRequest<{Params: {project: string}}>): Project =>
  store.project(callerOf(request).namespace, request.params.project);

/** The normal form of a hostname to attach, which is in `field` of the request. Throws if the hostname cannot be attached. */
function attachable({notAllowed}: WriteDeps, written: string, field: string): Hostname {
  const text = needsALabel(written) ? (normalise(written) ?? written) : written;
  const shape = hostname('').safeParse(text);
  if (!shape.success) {
    const advice = aLabelAdvice(text);
    const messages = [...shape.error.issues.map(({message}) => message), advice ?? []].flat();
    const wrong = messages.map((message) => ({field, message}));
    const cause = needsALabel(text) ? (advice ? 'JoinedEmoji' : 'Invalid') : undefined;
    throw new Problem('invalid-input', wrong.map((e) => e.message).join('; '), {errors: wrong, cause});
  }
  const why = notAllowed(text);
  if (why) throw new Problem('refused', why.message, {cause: why.details?.cause});
  return normalise(text)!;
}

/**
 * Changes the domains of a project by what a request asks of a hostname, and records that, unless nothing has changed. Fields that it took
 * over are a change.
 */
async function carryOut(
  {writer, audit}: WriteDeps,
  request: FastifyRequest,
  project: Project,
  {action, name, change}: RequestedChange,
): Promise<DomainsChanged> {
  const done = await writer.change(project, request.headers['if-match'], change);
  const [before, after] = [hostState(done.before, name), hostState(done.domain, name)];
  const {formerOwners} = done;
  const taken = tookOverOf(done);
  if (!isDeepEqual(before, after) || taken.tookOver)
    audit.record(request, {action, project: project.metadata.name, hostname: name, before, after, ...taken});
  if (formerOwners.length > 0)
    request.log.info({...taken, formerOwners, requestId: request.id}, 'took over fields of a CustomDomain');
  return done;
}

/** The property `tookOver` of answers and audit records. Absent if nothing was taken over. */
const tookOverOf = ({tookOver}: DomainsChanged): Pick<HostView, 'tookOver'> =>
  tookOver.length > 0 ? {tookOver: [...tookOver]} : {};

/** The same; returns the state of the hostname after it. */
async function changed(
  deps: WriteDeps,
  request: FastifyRequest,
  project: Project,
  wanted: RequestedChange,
): Promise<{view: HostView; etag: string}> {
  const {settled} = deps;
  const {name} = wanted;
  const done = await carryOut(deps, request, project, wanted);
  const written = done.domain!;
  const settledDomain = await settled(written);
  // Somebody may have removed the hostname since.
  const domain = viewOf(settledDomain, name) ? settledDomain : written;
  return {view: {...viewOf(domain, name)!, ...tookOverOf(done)}, etag: etagOf(domain)};
}

/** A requested change of a hostname. */
interface RequestedChange {
  action: Audited['action'];
  name: Hostname;
  change: DomainsChange;
}

function viewOf(domain: CustomDomain, name: Hostname): HostView | undefined {
  const found = hostsOf(domain).find((h) => h.hostname === name);
  return found && {...found, version: versionOf(domain)};
}

function addHostname(app: App, deps: WriteDeps): void {
  app.post(
    '/v1/projects/:project/domains',
    {
      config,
      schema: {
        operationId: 'addHostname',
        answerHeaders: ['ETag', 'Location'],
        summary: 'Add a hostname',
        tags,
        params: projectParams,
        headers: ifMatch,
        body: schemas.newDomain,
        description:
          'The first hostname becomes the primary, others redirect to it. The answer has the DNS records to create.',
        querystring: z.object({
          dryRun: z
            .enum(['true', 'false'])
            .default('false')
            .describe(
              '`true`: changes nothing. The answer is 200 with the later state: refused by the project or the plan, or checked next. ' +
                'DNS and the owner of the hostname are not checked.',
            ),
        }),
        response: answers({200: schemas.host, 201: schemas.host}, errors),
      },
    },
    async (request, reply) => {
      const project = projectOf(deps.store, request);
      const name = attachable(deps, request.body.hostname, 'body.hostname');
      const change = add(name, request.body.status);
      if (request.query.dryRun === 'true') {
        const {domain: tried} = await deps.writer.change(project, request.headers['if-match'], change, {dryRun: true});
        const domain = tried!;
        const refusal = deps.refusal({domain, project, tenant: callerOf(request).tenant}, name);
        const view = viewOf(domain, name)!;
        return reply.send(refusal ? refusedView(view, refusal) : view);
      }
      const {view, etag} = await changed(deps, request, project, {action: 'hostname.add', name, change});
      return reply
        .status(201)
        .headers({etag, location: `/v1/projects/${project.metadata.name}/domains/${name}`})
        .send(view);
    },
  );
}

function putHostname(app: App, deps: WriteDeps): void {
  app.put(
    '/v1/projects/:project/domains/:hostname',
    {
      config,
      schema: {
        operationId: 'setHostname',
        answerHeaders: ['ETag'],
        summary: 'Add a hostname, or set its redirect status',
        tags,
        params: hostParams,
        headers: ifMatch,
        body: putBody,
        description: 'A repeated request changes nothing.',
        response: answers({200: schemas.host}, errors),
      },
    },
    async (request, reply) => {
      const project = projectOf(deps.store, request);
      const name = attachable(deps, request.params.hostname, 'params.hostname');
      const {view, etag} = await changed(deps, request, project, {
        action: 'hostname.put',
        name,
        change: put(name, request.body.status),
      });
      return reply.headers({etag}).send(view);
    },
  );
}

function removeHostname(app: App, deps: WriteDeps): void {
  app.delete(
    '/v1/projects/:project/domains/:hostname',
    {
      config,
      schema: {
        operationId: 'removeHostname',
        summary: 'Remove a hostname and stop its traffic at once',
        tags,
        params: hostParams,
        headers: ifMatch,
        description:
          'You can remove the primary last. While other hostnames redirect to it, make another hostname the primary first. ' +
          'You can also remove a former primary, which is served until the new primary is Live.',
        response: answers({204: z.null()}, errors),
      },
    },
    async (request, reply) => {
      const name = nameOf(request.params.hostname);
      const project = projectOf(deps.store, request);
      await carryOut(deps, request, project, {action: 'hostname.remove', name, change: remove(name)});
      return reply.status(204).send(null);
    },
  );
}

function makeItPrimary(app: App, deps: WriteDeps): void {
  const {store, settled} = deps;
  app.post(
    '/v1/projects/:project/domains/:hostname/make-primary',
    {
      config: {...config, right: {verb: 'update'}},
      schema: {
        operationId: 'makePrimary',
        answerHeaders: ['ETag'],
        summary: 'Make a hostname the primary',
        tags,
        params: hostParams,
        headers: ifMatch,
        description: 'The former primary redirects to it. Both are served during the change.',
        response: answers({200: schemas.domains}, errors),
      },
    },
    async (request, reply) => {
      const project = projectOf(store, request);
      const name = nameOf(request.params.hostname);
      const done = await carryOut(deps, request, project, {
        action: 'hostname.make-primary',
        name,
        change: makePrimary(name),
      });
      const domain = await settled(done.domain!);
      const view = {...domainsView(project.metadata.name, domain, undefined), ...tookOverOf(done)};
      return reply.header('etag', etagOf(domain)).send(view);
    },
  );
}

/** The CustomDomain of a project that has a hostname. Throws `not-found`. */
function domainWith(
  store: ObjectStore,
  request: FastifyRequest<{Params: {project: string}}>,
  name: Hostname,
): CustomDomain {
  const domain = store.domainOf(projectOf(store, request));
  if (!domain || !hostsOf(domain).some((h) => h.hostname === name))
    throw new Problem('not-found', 'The project has no such hostname.');
  return domain;
}

function verify(app: App, {store, writer, now, audit}: WriteDeps): void {
  app.post(
    '/v1/projects/:project/domains/:hostname/verify',
    {
      config: {...config, right: {verb: 'update'}},
      schema: {
        operationId: 'verifyHostname',
        summary: 'Check DNS now (Verify and Re-verify)',
        tags,
        params: hostParams,
        description:
          'Checks all hostnames of the project once. An overdue certificate gets a fresh attempt. ' +
          'Read the hostname or its events for the result.',
        response: answers({202: requestedCheck}, ['not-found', 'kubernetes-failed']),
      },
    },
    async (request, reply) => {
      const name = nameOf(request.params.hostname);
      const requestedAt = await writer.verify(domainWith(store, request, name), now());
      audit.record(request, {action: 'hostname.verify', project: request.params.project, hostname: name});
      return reply.status(202).send({requestedAt});
    },
  );
}

function reissue(app: App, {store, writer, now, audit}: WriteDeps): void {
  app.post(
    '/v1/projects/:project/domains/:hostname/reissue',
    {
      config: {...config, right: {verb: 'update'}},
      schema: {
        operationId: 'reissueCertificates',
        summary: 'Request new certificates with new keys',
        tags,
        params: hostParams,
        description:
          "Orders new certificates with new private keys for all hostnames of the project, within the certificate authority's limits. " +
          'The present certificates are served until the new ones are ready. The certificate authority does not revoke the ' +
          'former ones. Read the domains until `reissuedFor` is `requestedAt`. The message of a hostname has the cause of a delay.',
        response: answers({202: requestedReissue}, ['not-found', 'kubernetes-failed']),
      },
    },
    async (request, reply) => {
      const name = nameOf(request.params.hostname);
      const requestedAt = await writer.reissue(domainWith(store, request, name), now());
      audit.record(request, {action: 'hostname.reissue', project: request.params.project, hostname: name});
      return reply.status(202).send({requestedAt});
    },
  );
}
