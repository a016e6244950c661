import type {Certificate, CertificateRequest, IssuerRef} from '../api/foreign.ts';
import type {Hostname} from './hostname.ts';

/** A CertificateRequest as far as it is remembered: never the chain itself. */
export interface IssuedRequest {
  metadata: CertificateRequest['metadata'];
  /** SHA-256 (hex, over the DER) of the leaf in `status.certificate`. */
  leafSha256?: string;
  issuerRef?: IssuerRef;
  /** Reason and message of a failed request. */
  failure?: string;
  /** cert-manager's message about a request that has neither failed nor succeeded. */
  waiting?: string;
  /** Whether the CA has received the order, whatever its outcome. */
  ordered?: true;
  /** When it was issued or failed, RFC 3339. */
  endedAt?: string;
}

/** Private keys that a certificate may be taken over with: those of cert-manager that public CAs sign. */
export const privateKeys = ['RSA 2048', 'RSA 3072', 'RSA 4096', 'ECDSA 256', 'ECDSA 384', 'ECDSA 521'] as const;
export type PrivateKey = (typeof privateKeys)[number];

/** On a Certificate that was taken over (operator/cli/adopt): of which kind its key is. To ask for another kind is to order anew. */
export const privateKeyAnnotation = 'doorplate.dev/private-key';
export const privateKeyOf = ({metadata: {annotations}}: Pick<Certificate, 'metadata'>): PrivateKey | undefined =>
  privateKeys.find((key) => key === annotations?.[privateKeyAnnotation]);

/** The facts about a hostname's certificate. */
export interface CertificateFacts {
  name: string;
  /** The key of an adopted Certificate. */
  privateKey?: PrivateKey;
  /** The issuer of the Certificate. */
  issuerRef?: IssuerRef;
  /** Whom the newest request asks. */
  askedOf?: IssuerRef;
  ready: boolean;
  /** It rests, for now without a use. */
  resting?: true;
  /** RFC 3339. */
  createdAt?: string;
  notAfter?: string;
  /** When cert-manager means to renew it, RFC 3339. */
  renewalTime?: string;
  /** SHA-256 of the leaf that was issued last: what the edge must present. */
  leafSha256?: string;
  /** The error of the newest attempt, if it failed. */
  failure?: string;
  /** cert-manager is at it: its condition Issuing is True. */
  issuing: boolean;
  /** Since when, RFC 3339. */
  issuingSince?: string;
  /** When the newest attempt began, RFC 3339. */
  attemptAt?: string;
  /** When the newest attempt was issued or failed, RFC 3339. */
  endedAt?: string;
  /** The newest request. */
  request?: {namespace: string; name: string; uid: string};
  /** cert-manager's message about the running attempt. */
  waiting?: string;
}

/**
 * The Certificate of one hostname. Each certificate has one name, so that a bad name blocks no other; no commonName (64 bytes at most); and
 * no fixed renewal time, because cert-manager renews by percentage of the lifetime. `privateKey`: the key of an adopted Certificate.
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

/** Whether both are the same issuer (cert-manager's defaults: kind Issuer, its own group). */
export const isSameIssuer = (a: IssuerRef, b: IssuerRef): boolean =>
  a.name === b.name &&
  (a.kind ?? 'Issuer') === (b.kind ?? 'Issuer') &&
  (a.group ?? 'cert-manager.io') === (b.group ?? 'cert-manager.io');

/** On a Certificate that rests (resting.ts). */
export const restingLabel = 'doorplate.dev/resting';
export const isResting = ({metadata: {labels}}: Pick<Certificate, 'metadata'>): boolean =>
  labels?.[restingLabel] !== undefined;

const trueCondition = ({status}: Certificate, type: string) =>
  status?.conditions?.find((c) => c.type === type && c.status === 'True');
export const hasCondition = (certificate: Certificate, type: string): boolean =>
  trueCondition(certificate, type) !== undefined;

/** The Certificate's own message about a failed attempt that no other attempt has followed. */
const failedWith = ({status}: Certificate): string | undefined =>
  status?.conditions?.find((c) => c.type === 'Issuing' && c.status === 'False' && c.reason === 'Failed')?.message;

const revisionOf = ({metadata: {annotations}}: IssuedRequest): number =>
  Number(annotations?.['cert-manager.io/certificate-revision'] ?? 0);

/** The CertificateRequests that were made for this very Certificate. */
const requestsFor = ({metadata: {namespace, name, uid}}: Certificate, requests: readonly IssuedRequest[]) =>
  // The namespace too: labels and references of an object in another one may be anybody's.
  requests.filter(
    (r) =>
      r.metadata.namespace === namespace &&
      r.metadata.annotations?.['cert-manager.io/certificate-name'] === name &&
      r.metadata.ownerReferences?.some((o) => o.uid === uid),
  );

/** Whether cert-manager has asked for another certificate in the place of the one that is there. */
export const isReordered = (certificate: Certificate, requests: readonly IssuedRequest[]): boolean =>
  requestsFor(certificate, requests).some((r) => revisionOf(r) > (certificate.status?.revision ?? 0));

/** The facts out of a Certificate and the CertificateRequests made for it (cert-manager: `certificate-revision` names the current one). */
export function certificateFacts(certificate: Certificate, requests: readonly IssuedRequest[]): CertificateFacts {
  const revision = certificate.status?.revision;
  const own = requestsFor(certificate, requests);
  const current = own.find((r) => revisionOf(r) === revision);
  const newest = own.toSorted((a, b) => revisionOf(b) - revisionOf(a))[0];
  const {namespace = '', uid = '', name = ''} = newest?.metadata ?? {};
  const privateKey = privateKeyOf(certificate);
  const issuing = trueCondition(certificate, 'Issuing');
  return {
    name: certificate.metadata.name,
    ...(privateKey && {privateKey}),
    issuerRef: certificate.spec.issuerRef,
    ...(newest?.issuerRef && {askedOf: newest.issuerRef}),
    ready: hasCondition(certificate, 'Ready'),
    issuing: issuing !== undefined,
    ...(issuing?.lastTransitionTime !== undefined && {issuingSince: issuing.lastTransitionTime}),
    ...(isResting(certificate) && {resting: true as const}),
    createdAt: certificate.metadata.creationTimestamp,
    notAfter: certificate.status?.notAfter,
    ...(certificate.status?.renewalTime !== undefined && {renewalTime: certificate.status.renewalTime}),
    leafSha256: current?.leafSha256,
    // Its request may have been deleted to make room for another attempt, and whoever did that died before it began.
    failure: newest ? newest.failure : failedWith(certificate),
    attemptAt: newest?.metadata.creationTimestamp,
    ...(newest?.endedAt !== undefined && {endedAt: newest.endedAt}),
    ...(newest && {request: {namespace, name, uid}}),
    ...(newest?.waiting !== undefined && {waiting: newest.waiting}),
  };
}
