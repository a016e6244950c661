/** The paths that read projects, domains and the account. */
import type {FastifyInstance} from 'fastify';
import {z} from 'zod';
import type {Plan} from '../../api/foreign.ts';
import type {Limiter} from '../../limits/limiter.ts';
import {answers} from '../answers.ts';
import {type App, typed} from '../app.ts';
import {callerOf} from '../gate/caller.ts';
import {planPool} from '../gate/pools.ts';
import {etagOf, versionOf} from '../gate/preconditions.ts';
import {Problem} from '../problems.ts';
import * as schemas from '../schemas.ts';
import type {ObjectStore} from '../store/store.ts';
import {objectName, pageOf} from '../store/store.ts';
import {accountView, domainsView, hostsOf, nameOf, projectView} from '../views.ts';

export interface ReadDeps {
  store: ObjectStore;
  limiter: Pick<Limiter, 'lookUp'>;
  /** The plans that the platform offers. */
  offeredPlans: () => readonly Plan[];
}

export const projectParams = z.object({project: schemas.projectName});
export const hostParams = projectParams.extend({
  hostname: z.string().min(1).max(254).meta({example: 'www.example.com'}).describe('The hostname, in any spelling.'),
});

const tags = {projects: ['Projects'], domains: ['Domains'], account: ['Account']};

export function addReads(server: FastifyInstance, deps: ReadDeps): void {
  const app = typed(server);
  listProjects(app, deps);
  readProject(app, deps);
  readDomains(app, deps);
  readHost(app, deps);
  readAccount(app, deps);
}

function listProjects(app: App, {store}: ReadDeps): void {
  app.get(
    '/v1/projects',
    {
      config: {scope: 'domains:read', hasETag: true},
      schema: {
        operationId: 'listProjects',
        summary: 'List the projects',
        tags: tags.projects,
        querystring: schemas.page,
        response: answers({200: schemas.projectPage}),
      },
    },
    async (request) => {
      const {items, next} = pageOf(store.projects(callerOf(request).namespace), objectName, request.query);
      return {items: items.map((p) => projectView(p, store.domainOf(p))), next};
    },
  );
}

function readProject(app: App, {store}: ReadDeps): void {
  app.get(
    '/v1/projects/:project',
    {
      config: {scope: 'domains:read', hasETag: true},
      schema: {
        operationId: 'getProject',
        summary: 'Read a project',
        tags: tags.projects,
        params: projectParams,
        response: answers({200: schemas.project}, ['not-found']),
      },
    },
    async (request) => {
      const project = store.project(callerOf(request).namespace, request.params.project);
      return projectView(project, store.domainOf(project));
    },
  );
}

function readDomains(app: App, {store}: ReadDeps): void {
  app.get(
    '/v1/projects/:project/domains',
    {
      config: {scope: 'domains:read', hasETag: true},
      schema: {
        operationId: 'getDomains',
        summary: 'Read the domains of a project',
        description: 'Send `version` in `If-Match` to change only these domains.',
        tags: tags.domains,
        params: projectParams,
        response: answers({200: schemas.domains}, ['not-found']),
      },
    },
    async (request, reply) => {
      const project = store.project(callerOf(request).namespace, request.params.project);
      const domain = store.domainOf(project);
      void reply.header('etag', etagOf(domain));
      return domainsView(project.metadata.name, domain, domain?.managedBy);
    },
  );
}

function readHost(app: App, {store}: ReadDeps): void {
  app.get(
    '/v1/projects/:project/domains/:hostname',
    {
      config: {scope: 'domains:read', hasETag: true},
      schema: {
        operationId: 'getHostname',
        summary: 'Read the state of a hostname',
        tags: tags.domains,
        params: hostParams,
        response: answers({200: schemas.host}, ['not-found']),
      },
    },
    async (request, reply) => {
      const project = store.project(callerOf(request).namespace, request.params.project);
      const domain = store.domainOf(project);
      const found = domain && hostsOf(domain).find((h) => h.hostname === nameOf(request.params.hostname));
      if (!found) throw new Problem('not-found', 'The project has no such hostname.');
      void reply.header('etag', etagOf(domain));
      return {...found, version: versionOf(domain)};
    },
  );
}

function readAccount(app: App, {limiter, offeredPlans}: ReadDeps): void {
  app.get(
    '/v1/account',
    {
      config: {scope: 'any', ownQuota: true},
      schema: {
        operationId: 'getAccount',
        summary: 'Read the plan, the limits and their use',
        description: "Never uses the plan's quota, so it also answers if the quota is used up.",
        tags: tags.account,
        response: answers({200: schemas.account}),
      },
    },
    async (request) => {
      const caller = callerOf(request);
      return accountView(caller, await limiter.lookUp([planPool(caller.tenant)]), offeredPlans());
    },
  );
}
