/**
 * Retained certificates: unused for now, and kept so that their next use costs no order (rule 5).
 *
 *   owned --- its hostname is removed, serves elsewhere, or its Project or CustomDomain is deleted -> retained
 *     ^                                                                                               |  |
 *     +--- its tenant verifies and owns the hostname again, in the same namespace --------------------+  |
 *                                                                                                        v
 *          its renewal is near | the claim is gone, or another tenant's | cert-manager is issuing ---> deleted
 *
 * A retained Certificate has no owner and no route. It is never renewed: that would be an order without verification (rule 1).
 */
import type {DomainClaimSpec} from '../../api/domain-claim.ts';
import type {Certificate, DomainClaim} from '../../api/foreign.ts';
import type {CertificateFacts} from './certificate.ts';
import {hasCondition, isResting, makeCertificate, privateKeyOf, restingLabel} from './certificate.ts';
import {belongsTo, identityOf} from '../claims/claim.ts';
import type {Hostname} from '../hostnames/hostname.ts';
import type {Tenant} from '../tenant.ts';
import {timestamp} from '../times.ts';

/** Annotation with the tenant for which the Certificate is retained: `account NAME` or `namespace UID`. */
export const restsForAnnotation = 'doorplate.dev/rests-for';
/** Annotation with the latest time of its deletion, RFC 3339. */
export const restsUntilAnnotation = 'doorplate.dev/rests-until';

type TenantIdentity = DomainClaimSpec['tenant'];

/** The tenant for which a Certificate is retained, as in its annotation, and the end of the retention (RFC 3339). */
export interface Rest {
  for: string;
  until: string;
}

/** Retention ends this long before cert-manager would renew the Certificate, ms. */
const beforeRenewalMs = 300_000;
/**
 * `renewBefore` during retention: the least that cert-manager accepts. It delays the renewal if no operator runs to delete the
 * Certificate.
 */
const renewBefore = '5m0s';

/** A tenant in the form of {@link restsForAnnotation}. */
export const restName = ({account, namespaceUID}: TenantIdentity): string =>
  account === undefined ? `namespace ${namespaceUID}` : `account ${account}`;

/** The hostname of one of our Certificates. */
export const hostnameOf = ({spec}: Certificate): Hostname => spec.dnsNames[0] ?? '';

/** Whether a Certificate can serve as it is, and cert-manager is not about to request another. */
const isGood = (certificate: Certificate): boolean =>
  certificate.metadata.deletionTimestamp === undefined &&
  hasCondition(certificate, 'Ready') &&
  !hasCondition(certificate, 'Issuing');

/** How to retain a Certificate that its owner no longer needs; undefined if the Certificate must be deleted. */
export function restOf(
  certificate: Certificate,
  p: {now: number; tenant: Tenant; claim: DomainClaim | undefined; quarantineTimeMs: number},
): Rest | undefined {
  const {renewalTime} = certificate.status ?? {};
  if (!p.claim || !belongsTo(p.claim, p.tenant) || !isGood(certificate) || renewalTime === undefined) return undefined;
  const until = Math.min(Date.parse(renewalTime) - beforeRenewalMs, p.now + p.quarantineTimeMs);
  return until > p.now ? {for: restName(p.claim.spec.tenant), until: timestamp(until)} : undefined;
}

/** The desired Certificate during retention, without the labels of owned objects. */
export function restingCertificate(certificate: Certificate, rest: Rest): Certificate {
  const {
    metadata: {name, namespace = ''},
    spec: {issuerRef},
  } = certificate;
  const {spec, metadata, ...kind} = makeCertificate({
    name,
    namespace,
    hostname: hostnameOf(certificate),
    issuerRef,
    privateKey: privateKeyOf(certificate),
  });
  return {
    ...kind,
    metadata: {
      ...metadata,
      labels: {[restingLabel]: 'true'},
      annotations: {...metadata.annotations, [restsForAnnotation]: rest.for, [restsUntilAnnotation]: rest.until},
    },
    spec: {...spec, renewBefore},
  };
}

/** When a Certificate's retention ends, ms since the epoch, unless an event ends it earlier. */
export const restEnds = ({metadata: {annotations}}: Certificate): number =>
  Date.parse(annotations?.[restsUntilAnnotation] ?? '') || 0;

/** Whether a Certificate is retained for the tenant of a claim. */
export const restsFor = ({metadata: {annotations}}: Certificate, identity: TenantIdentity): boolean =>
  annotations?.[restsForAnnotation] === restName(identity);

/** Whether a Certificate is retained for a tenant. An Account also has the Certificates from before its namespace had an Account. */
export const restsForTenant = (certificate: Certificate, tenant: Tenant): boolean =>
  restsFor(certificate, identityOf(tenant)) || restsFor(certificate, {namespaceUID: tenant.namespaceUID});

/** Names (`namespace/name`) of the wanted Certificates that are retained and return to use. `standing`: the existing one by hostname. */
export const returningOf = (
  wanted: readonly Certificate[],
  standing: (hostname: Hostname) => CertificateFacts | undefined,
): string[] =>
  wanted.flatMap((certificate) => {
    const {name, namespace} = certificate.metadata;
    const stands = standing(hostnameOf(certificate));
    return stands?.resting && stands.name === name ? `${namespace}/${name}` : [];
  });

/** Whether a tenant that owns the hostname may use the retained Certificate again. */
export const mayReturn = (certificate: Certificate, tenant: Tenant, now: number): boolean =>
  isResting(certificate) && isGood(certificate) && restEnds(certificate) > now && restsForTenant(certificate, tenant);

/** The context of a retained Certificate: its hostname's claim, and the tenant of the namespace with the claim's owning object. */
export interface Beside {
  now: number;
  claim: DomainClaim | undefined;
  tenant: Tenant | undefined;
}

/** Whether a Certificate may stay retained. `reordered`: cert-manager has requested another one in its place. */
export const mayRest = (
  certificate: Certificate,
  {now, claim, tenant, reordered}: Beside & {reordered: boolean},
): boolean =>
  claim !== undefined &&
  (restsFor(certificate, claim.spec.tenant) ||
    // The tenant is about to use the Certificate again.
    (tenant !== undefined && belongsTo(claim, tenant) && restsForTenant(certificate, tenant))) &&
  isGood(certificate) &&
  !reordered &&
  restEnds(certificate) > now;
