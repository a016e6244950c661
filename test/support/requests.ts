/** What the operator did, by the API server's audit log: when, to the millisecond, and what nobody has to catch by looking. */
import type {CustomDomainStatus} from '../../operator/api/custom-domain.ts';
import type {AuditEvent} from '../../cluster/cluster.ts';
import {audit} from '../../cluster/cluster.ts';

export const operator = 'system:serviceaccount:doorplate-system:doorplate-operator';

/** When the API server got a request, ms since the epoch. */
export const receivedAt = (event: AuditEvent): number => Date.parse(event.requestReceivedTimestamp);

/** `namespace/name` of the object of a request, or its name. */
export const keyOf = ({objectRef: ref}: AuditEvent): string =>
  ref?.namespace === undefined ? `${ref?.name}` : `${ref.namespace}/${ref.name}`;

export const succeeded = ({responseStatus}: AuditEvent): boolean => (responseStatus?.code ?? 0) < 300;

/** Done, or given up by a busy API server (504), which may have done it all the same. */
export const maybeDone = (event: AuditEvent): boolean => succeeded(event) || event.responseStatus?.code === 504;

/** What the operator asked to delete of these objects (`namespace/name`), oldest first; also what it did not hear the answer of. */
export async function deletions(
  keys: readonly string[],
  since: Date,
): Promise<{resource: string; key: string; at: number}[]> {
  const events = await audit(
    since,
    (e) => e.user.username === operator && e.verb === 'delete' && keys.includes(keyOf(e)),
  );
  return events.map((e) => ({resource: e.objectRef?.resource ?? '', key: keyOf(e), at: receivedAt(e)}));
}

/** The status of a CustomDomain that a request of the operator wrote; undefined: it was another request. */
export const statusIn = ({user, objectRef, requestObject}: AuditEvent): CustomDomainStatus | undefined =>
  user.username === operator && objectRef?.resource === 'customdomains' && objectRef.subresource === 'status'
    ? (requestObject as {path: string; value: CustomDomainStatus}[]).find((o) => o.path === '/status')?.value
    : undefined;

const said = (event: AuditEvent | undefined) => event && JSON.stringify(statusIn(event));

/**
 * Every status that the operator wrote of a CustomDomain (`namespace/name`), oldest first. What a busy API server has given up, and the
 * operator has written again, counts once.
 */
export async function statusesOf(key: string, since: Date): Promise<{status: CustomDomainStatus; at: number}[]> {
  const events = await audit(since, (e) => statusIn(e) !== undefined && maybeDone(e) && keyOf(e) === key);
  return events
    .filter((e, i) => succeeded(e) || said(e) !== said(events[i + 1]))
    .map((e) => ({status: statusIn(e)!, at: receivedAt(e)}));
}
