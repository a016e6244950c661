/** Where orders come from: what the audit log has of Certificates and their CertificateRequests. */
import {audit, type AuditEvent, writeVerbs} from '../../cluster/cluster.ts';
import type {Certificate} from '../../operator/api/foreign.ts';
import {keyOf, operator, receivedAt, succeeded} from './requests.ts';

const nameOf = (user: string): string => user.replace(/^system:serviceaccount:/, '');

function told(object: Partial<Certificate> | undefined): string {
  const {spec, status} = object ?? {};
  const issuing = status?.conditions?.find(({type}) => type === 'Issuing');
  return [
    spec?.issuerRef && `issuer ${spec.issuerRef.name}`,
    status?.revision !== undefined && `revision ${status.revision}`,
    issuing && `Issuing=${issuing.status} ${issuing.reason}: ${issuing.message}`,
  ]
    .filter(Boolean)
    .join(', ');
}

const kinds = ['certificates', 'certificaterequests', 'secrets'];

/** The Certificate that an object is, or is of: its requests and Secrets have its name, and more. */
const certificateOf = (event: AuditEvent, certificates: readonly string[]): string | undefined =>
  kinds.includes(event.objectRef?.resource ?? '')
    ? certificates.find((each) => keyOf(event) === each || keyOf(event).startsWith(`${each}-`))
    : undefined;

/**
 * The orders of Certificates (`namespace/name`) since a time, one for each. `caused`: Doorplate has written something of the Certificate
 * since the order before. `own`: it has not. cert-manager issues anew of its own when its watch of Secrets is later than that of
 * Certificates: it then reads the Secret of before (trigger_controller.go). With that watch 2.5 s late it issued 20 of 20 anew.
 */
export async function ordersOf(
  certificates: readonly string[],
  since: Date,
): Promise<{caused: string[]; own: string[]}> {
  const [caused, own]: string[][] = [[], []];
  const written = new Set<string>();
  const events = await audit(since, (event) => succeeded(event) && writeVerbs.has(event.verb));
  for (const event of events.toSorted((a, b) => receivedAt(a) - receivedAt(b))) {
    const certificate = certificateOf(event, certificates);
    if (certificate === undefined) continue;
    if (event.user.username === operator) written.add(certificate);
    else if (event.verb === 'create' && event.objectRef?.resource === 'certificaterequests')
      (written.delete(certificate) ? caused : own)!.push(certificate);
  }
  return {caused: caused!, own: own!};
}

/** Who wrote what of each Certificate (`namespace/name`) since a time, and what cert-manager gave as its reason; in lines. */
export async function issuancesOf(certificates: readonly string[], since: Date): Promise<string> {
  const events = await audit(since, (event) => certificateOf(event, certificates) !== undefined);
  return events
    .map(({requestReceivedTimestamp: at, user, verb, objectRef, responseStatus, requestObject}) => {
      const {resource = '', subresource, name = ''} = objectRef ?? {};
      const kind = subresource === undefined ? resource : `${resource}/${subresource}`;
      const what = resource === 'certificates' ? told(requestObject as Partial<Certificate>) : '';
      return `${at} ${nameOf(user.username)} ${verb} ${kind} ${name} ${responseStatus?.code} ${what}`.trimEnd();
    })
    .join('\n');
}
