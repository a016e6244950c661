/** The path that reads who changed what. */
import type {FastifyInstance} from 'fastify';
import {z} from 'zod';
import {tenantKey} from '../../domain/tenant.ts';
import type {BackgroundJournal} from '../../limits/journal.ts';
import {answers} from '../answers.ts';
import {typed} from '../app.ts';
import {asked} from '../asked.ts';
import type {AuditRecord} from '../audit.ts';
import {callerOf} from '../gate/caller.ts';
import {auditRecord} from '../audit-schema.ts';
import * as schemas from '../schemas.ts';

const missing =
  'This list has no changes by kubectl and GitOps, which are in the audit log of the cluster, and none older than the retention.';

const time = (description: string) => z.iso.datetime({offset: true}).optional().describe(description);

const query = schemas.page.extend({
  after: z
    .string()
    .regex(/^[1-9][0-9]{0,15}(-[0-9]{1,16})?$/)
    .optional()
    .describe('`next` of the previous page.'),
  project: schemas.projectName.optional().describe('Only changes of this project.'),
  since: time('Only changes at this time or later. RFC 3339.'),
  until: time('Only changes before this time. RFC 3339.'),
});

const page = z
  .object({
    items: z.array(auditRecord).describe('Changes, newest first.'),
    next: z.string().nullable().describe('Send it as `after` to read the next page. Null at the end.'),
    missing: z.string().describe('The changes that this list does not contain.'),
  })
  .describe('A page of changes, newest first.')
  .meta({id: 'AuditPage'});

export function addAudit(server: FastifyInstance, {journal}: {journal: Pick<BackgroundJournal, 'read'>}): void {
  typed(server).get(
    '/v1/audit',
    {
      config: {scope: 'audit:read', hasETag: true},
      schema: {
        operationId: 'listChanges',
        summary: 'Read who changed what',
        tags: ['Audit'],
        description:
          'The changes of the namespace through this API and its page, newest first. A page can have fewer changes than `limit`, or ' +
          'none. Read further pages until `next` is null.',
        querystring: query,
        response: answers({200: page}, ['invalid-input']),
      },
    },
    async (request) => {
      const {tenant} = callerOf(request);
      const {project, since, until, after, limit} = request.query;
      const {records, next = null} = await asked(
        journal.read({
          tenant: tenantKey(tenant),
          namespace: tenant.namespaceUID,
          limit,
          ...(project !== undefined && {project}),
          ...(since !== undefined && {sinceMs: Date.parse(since)}),
          ...(until !== undefined && {untilMs: Date.parse(until)}),
          ...(after !== undefined && {after}),
        }),
        'The changes cannot be read now. Try again.',
      );
      const items = records.map(({atMs, text}) => ({
        time: new Date(atMs).toISOString(),
        ...(JSON.parse(text) as Omit<AuditRecord, 'time'>),
      }));
      return {items, next, missing};
    },
  );
}
