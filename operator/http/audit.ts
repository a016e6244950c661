/**
 * Who did it. Each change through the API or the page is one line of the log, and a record of the journal for `GET /v1/audit`. The log
 * line is first; the journal is written in the background, so it delays and fails no change.
 */
import {isIP} from 'node:net';
import type {FastifyRequest} from 'fastify';
import type {Logger} from 'pino';
import type {z} from 'zod';
import type {ApiKey, CustomDomain} from '../api/foreign.ts';
import type {Hostname} from '../domain/hostnames/hostname.ts';
import {formerPrimary} from '../domain/hostnames/hosts.ts';
import {tenantKey} from '../domain/tenant.ts';
import {visible} from '../domain/text.ts';
import type {BackgroundJournal, JournalRecord} from '../limits/journal.ts';
import {plainAddress} from './gate/address.ts';
import type {BackendCaller, KeyCaller, SessionCaller} from './gate/caller.ts';
import type {auditRecord} from './audit-schema.ts';
import type {SessionGrant} from './session/sessions.ts';
import {keyView, nameOf} from './views.ts';

/** As `GET /v1/audit` shows it. */
export type AuditRecord = z.output<typeof auditRecord>;
type State = AuditRecord['before'];

/** What was changed. */
export type Audited = Pick<AuditRecord, 'action'> &
  Partial<Pick<AuditRecord, 'project' | 'hostname' | 'key' | 'before' | 'after' | 'tookOver'>>;

/** Who changed it. */
type Who =
  | Omit<KeyCaller, 'pools'>
  | Omit<BackendCaller, 'pools'>
  | (Omit<SessionCaller, 'pools' | 'session'> & {session: SessionGrant});

/** Characters of a value, and elements of a list, that a record holds at most. */
const longestValue = 256;
const longestList = 32;

/** All texts of a record in characters that are visible, and bounded. */
function bounded<T>(value: T): T {
  if (typeof value === 'string') return visible(value, longestValue) as T;
  if (Array.isArray(value)) return value.slice(0, longestList).map(bounded) as T;
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, bounded(each)])) as T;
}

/** The person for whom a session or a link was made, in the platform's words. */
const subjectOf = (grant: SessionGrant): string | null => grant.subject ?? null;

function actorOf(who: Who): AuditRecord['actor'] {
  if (who.kind === 'key') return {kind: 'ApiKey', name: who.key.metadata.name, subject: null};
  if (who.kind === 'session')
    return {kind: 'Page', name: who.session.key?.name ?? null, subject: subjectOf(who.session)};
  const [, , namespace, name] = who.account.username.split(':');
  return {kind: 'ServiceAccount', name: `${namespace}/${name}`, subject: null};
}

/** Null for programs of the platform: its addresses are none of the customer's business. */
function addressOf({kind}: Who, ip: string): string | null {
  const address = plainAddress(ip);
  return kind !== 'backend' && isIP(address) > 0 ? address : null;
}

/** The state of a hostname of a CustomDomain; null if the spec does not name it and it is not the former primary. */
export function hostState(domain: CustomDomain | undefined, hostname: Hostname): State {
  if (!domain) return null;
  const {primary, redirects} = domain.spec;
  const to = nameOf(primary);
  if (to === hostname) return {role: 'Primary'};
  const found = redirects?.find(({from}) => nameOf(from) === hostname);
  if (found) return {role: 'RedirectSource', redirect: {to, status: found.status}};
  return formerPrimary(domain) === hostname ? {role: 'FormerPrimary'} : null;
}

/** The permissions of a key, without its token or hash. `now`: Unix ms. */
export function keyState(key: ApiKey, now: number): State {
  const {scopes, expires, rateLimit, previousTokenExpires} = keyView(key, now);
  return {scopes, expires, rateLimit, previousTokenExpires};
}

export const grantState = (grant: SessionGrant): State => ({scopes: [...grant.scopes], subject: subjectOf(grant)});

export class Audit {
  readonly #log: Logger;
  readonly #journal: Pick<BackgroundJournal, 'add'>;

  constructor({log, journal}: {log: Logger; journal: Pick<BackgroundJournal, 'add'>}) {
    // Whatever level the log has: a platform that wants no debug lines wants these.
    this.#log = log.child({stream: 'audit'}, {level: 'info'});
    this.#journal = journal;
  }

  /** Call it once the change is made, before anything else can fail. `who`: the caller by default. */
  record({id, ip, caller}: FastifyRequest, change: Audited, who: Who = caller as Who): void {
    const {namespace, tenant} = who;
    const record = bounded({
      action: change.action,
      actor: actorOf(who),
      address: addressOf(who, ip),
      requestId: id,
      namespace,
      project: change.project ?? null,
      hostname: change.hostname ?? null,
      key: change.key ?? null,
      before: change.before ?? null,
      after: change.after ?? null,
      ...(change.tookOver && {tookOver: change.tookOver}),
    } satisfies Omit<AuditRecord, 'time'>);
    this.#log.info({record}, 'changed');
    this.#journal.add({
      tenant: tenantKey(tenant),
      namespace: tenant.namespaceUID,
      ...(record.project !== null && {project: record.project}),
      text: JSON.stringify(record),
    } satisfies JournalRecord);
  }
}
