import type {Certificate, CertificateRequest, IssuerRef} from '../../api/foreign.ts';
import type {Hostname} from '../hostnames/hostname.ts';

/** The remembered part of a CertificateRequest: never the chain itself. */
export interface IssuedRequest {
  metadata: CertificateRequest['metadata'];
  /** SHA-256 (hex, over the DER) of the leaf in `status.certificate`. */
  leafSha256?: string;
  issuerRef?: IssuerRef;
  /** Reason and message of a failed request. */
  failure?: string;
  /** cert-manager's message for a request that has neither failed nor succeeded. */
  waiting?: string;
  /** The CA has received the order. The order may also have ended. */
  ordered?: true;
  /** The CA has all that it needs to issue. */
  signing?: true;
  /** The order needs an answer of the CA, and nothing else. */
  awaitsCa?: true;
  /** When the request was issued or failed, RFC 3339. */
  endedAt?: string;
}

/** Private keys with which a certificate can be taken over: kinds that cert-manager creates and public CAs sign. */
export const privateKeys = ['RSA 2048', 'RSA 3072', 'RSA 4096', 'ECDSA 256', 'ECDSA 384', 'ECDSA 521'] as const;
export type PrivateKey = (typeof privateKeys)[number];

/** Annotation on an adopted Certificate (operator/cli/platform/adopt): the kind of its key. Another kind would require a new order. */
export const privateKeyAnnotation = 'doorplate.dev/private-key';
export const privateKeyOf = ({metadata: {annotations}}: Pick<Certificate, 'metadata'>): PrivateKey | undefined =>
  privateKeys.find((key) => key === annotations?.[privateKeyAnnotation]);

/** Facts about a hostname's certificate. */
export interface CertificateFacts {
  name: string;
  /** Kind of private key at the takeover. */
  privateKey?: PrivateKey;
  /** The issuer in its spec. */
  issuerRef?: IssuerRef;
  /** The issuer that the newest request names. */
  askedOf?: IssuerRef;
  ready: boolean;
  /** Since when it is not ready (RFC 3339), with cert-manager's reason and message. */
  unready?: {since?: string; reason: string; message: string};
  /** The Certificate is retained: it has no use for now. */
  resting?: true;
  /** RFC 3339. */
  createdAt?: string;
  notAfter?: string;
  /** Time at which cert-manager plans to renew it, RFC 3339. */
  renewalTime?: string;
  /** SHA-256 of the leaf that was issued last. The edge must present this leaf. */
  leafSha256?: string;
  /** When that leaf was ordered, RFC 3339: creation of its request. cert-manager creates its private key shortly before. */
  orderedAt?: string;
  /** When that leaf was issued, RFC 3339. */
  issuedAt?: string;
  /** Error of the newest attempt. */
  failure?: string;
  /** cert-manager is issuing: the condition Issuing is True. */
  issuing: boolean;
  /** When that condition became True, RFC 3339. */
  issuingSince?: string;
  /** When the newest attempt began, RFC 3339. */
  attemptAt?: string;
  /** When the newest attempt was issued or failed, RFC 3339. */
  endedAt?: string;
  /** The newest request. */
  request?: {namespace: string; name: string; uid: string};
  /** cert-manager's message about a pending attempt. */
  waiting?: string;
}

/**
 * The Certificate of one hostname. Each Certificate has one name, so that a bad name blocks no other. It has no commonName (64 bytes),
 * and no fixed renewal time: cert-manager renews by percentage of the lifetime. `privateKey`: kind of the private key at the takeover.
 */
export function makeCertificate(p: {
  name: string;
  namespace: string;
  hostname: Hostname;
  issuerRef: IssuerRef;
  privateKey?: PrivateKey | undefined;
}): Certificate {
  const [algorithm, size] = (p.privateKey ?? 'ECDSA 256').split(' ') as ['RSA' | 'ECDSA', string];
  return {
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata: {
      name: p.name,
      namespace: p.namespace,
      ...(p.privateKey && {annotations: {[privateKeyAnnotation]: p.privateKey}}),
    },
    spec: {
      secretName: p.name,
      dnsNames: [p.hostname],
      issuerRef: p.issuerRef,
      privateKey: {algorithm, size: Number(size), rotationPolicy: 'Always'},
    },
  };
}

/** Whether both references name the same issuer (cert-manager's defaults: kind Issuer, its own group). */
export const isSameIssuer = (a: IssuerRef, b: IssuerRef): boolean =>
  a.name === b.name &&
  (a.kind ?? 'Issuer') === (b.kind ?? 'Issuer') &&
  (a.group ?? 'cert-manager.io') === (b.group ?? 'cert-manager.io');

/** Label on a retained Certificate (retained.ts). */
export const retainedLabel = 'doorplate.dev/resting';
export const isRetained = ({metadata: {labels}}: Pick<Certificate, 'metadata'>): boolean =>
  labels?.[retainedLabel] !== undefined;

const trueCondition = ({status}: Certificate, type: string) =>
  status?.conditions?.find((c) => c.type === type && c.status === 'True');

/** cert-manager's reason and message about a Certificate that is not ready. */
function unreadyOf({status}: Certificate): CertificateFacts['unready'] {
  const condition = status?.conditions?.find((c) => c.type === 'Ready' && c.status !== 'True');
  if (!condition) return undefined;
  const {lastTransitionTime: since, reason, message} = condition;
  return {...(since !== undefined && {since}), reason, message};
}
export const hasCondition = (certificate: Certificate, type: string): boolean =>
  trueCondition(certificate, type) !== undefined;

/** The Certificate's own message about a failed attempt, while no new attempt has begun. */
const failedWith = ({status}: Certificate): string | undefined =>
  status?.conditions?.find((c) => c.type === 'Issuing' && c.status === 'False' && c.reason === 'Failed')?.message;

/** Number of the certificate that a request is for, from 1. */
export const revisionOf = ({metadata: {annotations}}: IssuedRequest): number =>
  Number(annotations?.['cert-manager.io/certificate-revision'] ?? 0);

/** The CertificateRequests that were created for exactly this Certificate. */
const requestsFor = ({metadata: {namespace, name, uid}}: Certificate, requests: readonly IssuedRequest[]) =>
  // The namespace counts too: in another namespace anyone may have set an object's labels and references.
  requests.filter(
    (r) =>
      r.metadata.namespace === namespace &&
      r.metadata.annotations?.['cert-manager.io/certificate-name'] === name &&
      r.metadata.ownerReferences?.some((o) => o.uid === uid),
  );

/** Whether cert-manager has requested another certificate to replace the existing one. */
export const isReordered = (certificate: Certificate, requests: readonly IssuedRequest[]): boolean =>
  requestsFor(certificate, requests).some((r) => revisionOf(r) > (certificate.status?.revision ?? 0));

/** Collects the facts from a Certificate and its CertificateRequests (cert-manager: `certificate-revision` names the current request). */
export function certificateFacts(certificate: Certificate, requests: readonly IssuedRequest[]): CertificateFacts {
  const revision = certificate.status?.revision;
  const own = requestsFor(certificate, requests);
  const current = own.find((r) => revisionOf(r) === revision);
  const newest = own.toSorted((a, b) => revisionOf(b) - revisionOf(a))[0];
  const {namespace = '', uid = '', name = ''} = newest?.metadata ?? {};
  const privateKey = privateKeyOf(certificate);
  const issuing = trueCondition(certificate, 'Issuing');
  const unready = unreadyOf(certificate);
  return {
    name: certificate.metadata.name,
    ...(privateKey && {privateKey}),
    issuerRef: certificate.spec.issuerRef,
    ...(newest?.issuerRef && {askedOf: newest.issuerRef}),
    ready: hasCondition(certificate, 'Ready'),
    ...(unready && {unready}),
    issuing: issuing !== undefined,
    ...(issuing?.lastTransitionTime !== undefined && {issuingSince: issuing.lastTransitionTime}),
    ...(isRetained(certificate) && {resting: true as const}),
    createdAt: certificate.metadata.creationTimestamp,
    notAfter: certificate.status?.notAfter,
    ...(certificate.status?.renewalTime !== undefined && {renewalTime: certificate.status.renewalTime}),
    leafSha256: current?.leafSha256,
    ...(current?.metadata.creationTimestamp !== undefined && {orderedAt: current.metadata.creationTimestamp}),
    ...(current?.endedAt !== undefined && {issuedAt: current.endedAt}),
    // A process may have deleted the request to start another attempt, and ended before the attempt began.
    failure: newest ? newest.failure : failedWith(certificate),
    attemptAt: newest?.metadata.creationTimestamp,
    ...(newest?.endedAt !== undefined && {endedAt: newest.endedAt}),
    ...(newest && {request: {namespace, name, uid}}),
    ...(newest?.waiting !== undefined && {waiting: newest.waiting}),
  };
}
