import type {CertificateRequest} from '../../api/foreign.ts';
import type {IssuedRequest} from '../../domain/certificates/certificate.ts';
import {requestMeta} from '../../resources/projections.ts';
import {leafSha256} from '../../edge/probe.ts';

/**
 * cert-manager's message once the CA has answered newOrder (its certificaterequests/acme): the state of the Order, or that
 * the certificate is to be added.
 */
const ordered = /: "[a-z]+"$|add certificate data/;

/** Its states of an Order that needs nothing more of the customer (RFC 8555, 7.1.6). */
const signing = /: "(ready|processing|valid)"$|add certificate data/;

/** The CA has not answered newOrder. cert-manager repeats a request that got a server error, and reports no failure. */
const sent = /^Waiting on certificate issuance from order \S+: ""$/;

/** The cached part of a CertificateRequest: thousands exist, so the chain is left out. */
export function issuedRequest({metadata, spec, status}: CertificateRequest): IssuedRequest {
  const ready = status?.conditions?.find((c) => c.type === 'Ready');
  const succeeded = ready?.status === 'True';
  const failed = !succeeded && ready?.reason === 'Failed';
  const endedAt = succeeded
    ? ready.lastTransitionTime
    : failed
      ? (status?.failureTime ?? ready.lastTransitionTime)
      : undefined;
  const leaf = leafOf(status?.certificate);
  const message = ready?.message ?? '';
  const isSigning = signing.test(message);
  return {
    metadata: requestMeta(metadata),
    ...(spec?.issuerRef && {issuerRef: spec.issuerRef}),
    ...(leaf !== undefined && {leafSha256: leaf}),
    ...(failed && ready.status === 'False' && {failure: ready.message}),
    ...(!succeeded && !failed && {waiting: ready?.message ?? 'nothing yet'}),
    ...((succeeded || failed || ordered.test(message)) && {ordered: true as const}),
    ...(isSigning && {signing: true as const}),
    ...(!succeeded && !failed && (isSigning || sent.test(message)) && {awaitsCa: true as const}),
    ...(endedAt !== undefined && {endedAt}),
  };
}

/** The fingerprint of the first certificate of a chain, base64 over PEM; undefined if the chain contains none. */
function leafOf(chain: string | undefined): string | undefined {
  if (chain === undefined) return undefined;
  try {
    return leafSha256(Buffer.from(chain, 'base64').toString('latin1'));
  } catch {
    return undefined;
  }
}
