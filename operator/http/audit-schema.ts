/** The shapes of the audit log (schemas.ts has all others). */
import {z} from 'zod';
import {hostnameRedirect, limits, projectName, time, tookOver} from './schemas.ts';

const state = z
  .object({
    role: z.enum(['Primary', 'RedirectSource', 'FormerPrimary']).optional().describe('Of a hostname: what it is for.'),
    redirect: hostnameRedirect.optional().describe('Of a hostname that redirects.'),
    scopes: z.array(z.string()).optional().describe('Of a key, a link or a session: what it may do.'),
    expires: time('Of a key: when it expires; null: never.').nullable().optional(),
    rateLimit: limits.nullable().optional().describe('Of a key: a cap of its own.'),
    previousTokenExpires: time('Of a key: until when the token before the newest one is accepted.')
      .nullable()
      .optional(),
    subject: z.string().nullable().optional().describe('Of a link or a session: for whom it is.'),
  })
  .describe('What was changed, before or after the change.')
  .meta({id: 'AuditState'})
  .nullable();

export const auditRecord = z
  .object({
    time: z.string().meta({format: 'date-time'}).describe('When. RFC 3339 with milliseconds, UTC.'),
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
      .describe('What was done.'),
    actor: z
      .object({
        kind: z.enum(['ApiKey', 'ServiceAccount', 'Page']).describe('What sent the request.'),
        name: z
          .string()
          .nullable()
          .describe(
            'Name of the key, NAMESPACE/NAME of the ServiceAccount, or the key that the session of the page ends with.',
          ),
        subject: z
          .string()
          .nullable()
          .describe('The person whose session of the page it was, if the platform named one.'),
      })
      .describe('Who did it.')
      .meta({id: 'AuditActor'}),
    address: z.string().nullable().describe("The client's address; null for ServiceAccounts."),
    requestId: z.string().describe('`X-Request-Id` of the answer.'),
    namespace: z.string().describe('The namespace.'),
    project: projectName.nullable().describe('The project, if the change is of one.'),
    hostname: z.string().nullable().describe('The hostname, if the change is of one.'),
    key: z.string().nullable().describe('Name of the key that was changed.'),
    before: state.describe('As it was; null if it did not exist.'),
    after: state.describe('As it is since; null if it does not exist.'),
    tookOver,
  })
  .describe(
    'A change. In all texts, control characters and marks that turn the direction of text are written as \\u{HEX}.',
  )
  .meta({id: 'AuditRecord'});
