/** Where orders come from: what the audit log has of Certificates and their CertificateRequests, in lines. */
import {audit} from '../../cluster/cluster.ts';
import type {Certificate} from '../../operator/api/foreign.ts';

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

/** `certificates`: `namespace/name`. Who wrote what of each of them since a time, and what cert-manager gave as its reason. */
export async function issuancesOf(certificates: readonly string[], since: Date): Promise<string> {
  const events = await audit(since, ({objectRef}) => {
    if (objectRef?.resource !== 'certificates' && objectRef?.resource !== 'certificaterequests') return false;
    const key = `${objectRef.namespace}/${objectRef.name}`;
    return certificates.some((each) => key === each || key.startsWith(`${each}-`));
  });
  return events
    .map(({requestReceivedTimestamp: at, user, verb, objectRef, responseStatus, requestObject}) => {
      const {resource = '', subresource, name = ''} = objectRef ?? {};
      const kind = subresource === undefined ? resource : `${resource}/${subresource}`;
      const what = resource === 'certificates' ? told(requestObject as Partial<Certificate>) : '';
      return `${at} ${nameOf(user.username)} ${verb} ${kind} ${name} ${responseStatus?.code} ${what}`.trimEnd();
    })
    .join('\n');
}
