/** The shapes of the audit log (schemas.ts has all others). */
import {z} from 'zod';
import {hostnameRedirect, limits, projectName, time, tookOver} from './schemas.ts';

const state = z
  .object({
    role: z.enum(['Primary', 'RedirectSource', 'FormerPrimary']).optional().describe('Role of a hostname.'),
    redirect: hostnameRedirect.optional().describe('Redirect of a hostname.'),
    scopes: z.array(z.string()).optional().describe('Permissions of a key, a link or a session.'),
    expires: time('End of a key. Null: never.').nullable().optional(),
    rateLimit: limits.nullable().optional().describe('Own cap of a key.'),
    previousTokenExpires: time('End of the previous token of a key.').nullable().optional(),
    subject: z.string().nullable().optional().describe('User of a link or a session.'),
  })
  .describe('State of the object before or after a change.')
  .meta({id: 'AuditState'})
  .nullable();

export const auditRecord = z
  .object({
    time: z.string().meta({format: 'date-time'}).describe('Time of the change. RFC 3339 with milliseconds, UTC.'),
    action: z
      .enum([
        'hostname.add',
        'hostname.put',
        'hostname.remove',
        'hostname.make-primary',
        'hostname.verify',
        'hostname.reissue',
        'key.create',
        'key.rotate',
        'key.revoke',
        'link.create',
        'session.start',
        'session.end',
      ])
      .describe('The change.'),
    actor: z
      .object({
        kind: z.enum(['ApiKey', 'ServiceAccount', 'Page']).describe('Kind of the caller.'),
        name: z
          .string()
          .nullable()
          .describe(
            'Name of the key, NAMESPACE/NAME of the ServiceAccount, or the key that the session of the page depends on.',
          ),
        subject: z.string().nullable().describe('The user of the session of the page, if the platform named one.'),
      })
      .describe('The caller.')
      .meta({id: 'AuditActor'}),
    address: z.string().nullable().describe("The client's address. Null for ServiceAccounts."),
    requestId: z.string().describe('`X-Request-Id` of the answer.'),
    namespace: z.string().describe('The namespace.'),
    project: projectName.nullable().describe('The project, if the change belongs to one.'),
    hostname: z.string().nullable().describe('The hostname, if the change belongs to one.'),
    key: z.string().nullable().describe('Name of the changed key.'),
    before: state.describe('The state before. Null if it did not exist.'),
    after: state.describe('The state after. Null if it does not exist.'),
    tookOver,
  })
  .describe('A change. Control characters and marks that change the direction of text are written as \\u{HEX}.')
  .meta({id: 'AuditRecord'});
