/** Where orders come from: what the audit log has of Certificates and their CertificateRequests. */
import {api, audit, type AuditEvent, eventually, writeVerbs} from '../../cluster/cluster.ts';
import type {Certificate} from '../../operator/api/foreign.ts';
import {certificates} from '../../operator/resources/resources.ts';
import {hasCondition} from '../../operator/domain/certificates/certificate.ts';
import {keyOf as nameOf} from '../../operator/kube/objects.ts';
import {keyOf, operator, receivedAt, succeeded} from './requests.ts';

const userOf = (user: string): string => user.replace(/^system:serviceaccount:/, '');

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
const certificateOf = (event: AuditEvent, names: readonly string[]): string | undefined =>
  kinds.includes(event.objectRef?.resource ?? '')
    ? names.find((each) => keyOf(event) === each || keyOf(event).startsWith(`${each}-`))
    : undefined;

/**
 * The orders for hostnames since a time, as hostnames, those of which Doorplate has written the Certificate meanwhile. `caused`: it has
 * written something of the Certificate since the order before. `own`: it has not. cert-manager issues anew of its own when its watch of
 * Secrets is later than that of Certificates: it then reads the Secret of before (trigger_controller.go), as seen on a busy machine 11 ms
 * after it had issued. With that watch 2.5 s late it issued 20 of 20 anew.
 */
export async function ordersFor(hostnames: readonly string[], since: Date): Promise<{caused: string[]; own: string[]}> {
  const orders: {caused: string[]; own: string[]} = {caused: [], own: []};
  /** By Certificate: its hostname, and whether an order is Doorplate's doing. */
  const written = new Map<string, {hostname: string; since: boolean}>();
  const events = await audit(since, (event) => succeeded(event) && writeVerbs.has(event.verb));
  for (const event of events.toSorted((a, b) => receivedAt(a) - receivedAt(b))) {
    const hostname = ofDoorplate(event)?.spec?.dnsNames?.find((name) => hostnames.includes(name));
    if (hostname !== undefined) written.set(keyOf(event), {hostname, since: true});
    if (event.verb !== 'create' || event.objectRef?.resource !== 'certificaterequests') continue;
    const certificate = written.get(certificateOf(event, [...written.keys()]) ?? '');
    if (certificate === undefined) continue;
    orders[certificate.since ? 'caused' : 'own'].push(certificate.hostname);
    certificate.since = false;
  }
  if (orders.own.length > 0) console.log(await issuancesOf([...written.keys()], since));
  return orders;
}

/** The Certificate that a request of the operator wrote. */
const ofDoorplate = ({user, objectRef, requestObject}: AuditEvent): Partial<Certificate> | undefined =>
  user.username === operator && objectRef?.resource === 'certificates'
    ? (requestObject as Partial<Certificate>)
    : undefined;

/** cert-manager is done with these hostnames, what it issues anew of its own among it. Where it did, all that was written is printed. */
export async function issuanceIsOver(hostnames: readonly string[]): Promise<void> {
  const those = async () =>
    (await api().list(certificates)).items.filter(({spec}) => spec.dnsNames.some((name) => hostnames.includes(name)));
  await eventually('nothing is being issued', async () => (await those()).every((c) => !hasCondition(c, 'Issuing')));
  const anew = (await those()).filter(({status}) => (status?.revision ?? 0) > 1).map(nameOf);
  if (anew.length > 0) console.log(await issuancesOf(anew, new Date(0)));
}

/** Who wrote what of each Certificate (`namespace/name`) since a time, and what cert-manager gave as its reason; in lines. */
async function issuancesOf(names: readonly string[], since: Date): Promise<string> {
  const events = await audit(since, (event) => certificateOf(event, names) !== undefined);
  return events
    .map(({requestReceivedTimestamp: at, user, verb, objectRef, responseStatus, requestObject}) => {
      const {resource = '', subresource, name = ''} = objectRef ?? {};
      const kind = subresource === undefined ? resource : `${resource}/${subresource}`;
      const what = resource === 'certificates' ? told(requestObject as Partial<Certificate>) : '';
      return `${at} ${userOf(user.username)} ${verb} ${kind} ${name} ${responseStatus?.code} ${what}`.trimEnd();
    })
    .join('\n');
}

/** Has a Certificate (`namespace/name`) issued again, as cmctl renew does. */
export async function renew(key: string): Promise<void> {
  const {metadata, status} = (await api().get(certificates, key))!;
  const issuing = {
    type: 'Issuing',
    status: 'True',
    reason: 'ManuallyTriggered',
    message: 'renewed by the test',
    lastTransitionTime: `${new Date().toISOString().slice(0, 19)}Z`,
    observedGeneration: metadata.generation,
  };
  const conditions = [...(status?.conditions ?? []).filter((c) => c.type !== 'Issuing'), issuing];
  await api().patch(certificates, key, {status: {conditions}}, {type: 'merge', subresource: 'status'});
}
