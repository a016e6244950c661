/**
 * Retained certificates: unused for now, and kept so that their next use costs no order (rule 5).
 *
 *   owned --- its hostname is removed, serves elsewhere, or its Project or CustomDomain is deleted -> retained
 *     ^                                                                                               |  |
 *     +--- its tenant verifies and owns the hostname again, in the same namespace --------------------+  |
 *                                                                                                        v
 *          its renewal is near | the claim is gone, or another tenant's | cert-manager is issuing ---> deleted
 *
 * A retained Certificate has no owner and no route. It is never renewed: that would be an order without verification (rule 1). So it is
 * deleted before its renewal. If no operator runs then, cert-manager does not renew it, from version 1.21.1. An earlier version renews it
 * shortly before its end.
 */
import type {DomainClaimSpec} from '../../api/domain-claim.ts';
import type {Certificate, DomainClaim} from '../../api/foreign.ts';
import type {CertificateFacts} from './certificate.ts';
import {hasCondition, isRetained, makeCertificate, privateKeyOf, retainedLabel} from './certificate.ts';
import {belongsTo, identityOf} from '../claims/claim.ts';
import type {Hostname} from '../hostnames/hostname.ts';
import type {Tenant} from '../tenant.ts';
import {timestamp} from '../times.ts';

/** Annotation with the tenant for which the Certificate is retained: `account NAME` or `namespace UID`. */
export const retainedForAnnotation = 'doorplate.dev/rests-for';
/** Annotation with the latest time of its deletion, RFC 3339. */
export const retainedUntilAnnotation = 'doorplate.dev/rests-until';

type TenantIdentity = DomainClaimSpec['tenant'];

/** The tenant for which a Certificate is retained, as in its annotation, and the end of the retention (RFC 3339). */
export interface Retention {
  for: string;
  until: string;
}

/** Retention ends this long before cert-manager would renew the Certificate, ms. */
const beforeRenewalMs = 300_000;
/**
 * `renewBefore` during retention: the least that cert-manager accepts. It delays the renewal if no operator runs to delete the
 * Certificate, and cert-manager cannot be asked not to renew it.
 */
const renewBefore = '5m0s';

/** A tenant in the form of {@link retainedForAnnotation}. */
export const retainedName = ({account, namespaceUID}: TenantIdentity): string =>
  account === undefined ? `namespace ${namespaceUID}` : `account ${account}`;

/** The hostname of one of our Certificates. */
export const hostnameOf = ({spec}: Certificate): Hostname => spec.dnsNames[0] ?? '';

/** Whether a Certificate can serve as it is, and cert-manager is not about to request another. */
export const isGood = (certificate: Certificate): boolean =>
  certificate.metadata.deletionTimestamp === undefined &&
  hasCondition(certificate, 'Ready') &&
  !hasCondition(certificate, 'Issuing');

/**
 * When cert-manager renews a Certificate, ms since the epoch; undefined: unknown. A Certificate that was retained until a moment ago has no
 * `renewalTime` yet if its renewal was disabled. cert-manager then renews after two thirds of the life.
 */
function renewalOf({status: {renewalTime, notBefore, notAfter} = {}}: Certificate): number | undefined {
  if (renewalTime !== undefined) return Date.parse(renewalTime);
  if (notBefore === undefined || notAfter === undefined) return undefined;
  const [begin, end] = [Date.parse(notBefore), Date.parse(notAfter)];
  return begin + ((end - begin) * 2) / 3;
}

/** How to retain a Certificate that its owner no longer needs; undefined if the Certificate must be deleted. */
export function retentionOf(
  certificate: Certificate,
  p: {now: number; tenant: Tenant; claim: DomainClaim | undefined; quarantineTimeMs: number},
): Retention | undefined {
  const renewal = renewalOf(certificate);
  if (!p.claim || !belongsTo(p.claim, p.tenant) || !isGood(certificate) || renewal === undefined) return undefined;
  const until = Math.min(renewal - beforeRenewalMs, p.now + p.quarantineTimeMs);
  return until > p.now ? {for: retainedName(p.claim.spec.tenant), until: timestamp(until)} : undefined;
}

/**
 * The desired Certificate during retention, without the labels of owned objects. `mayDisableRenewal`: the installed cert-manager knows
 * `renewal.policy`. `renewBefore` stays beside it, for an older controller than the kinds.
 */
export function retainedCertificate(certificate: Certificate, rest: Retention, mayDisableRenewal = false): Certificate {
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
      labels: {[retainedLabel]: 'true'},
      annotations: {...metadata.annotations, [retainedForAnnotation]: rest.for, [retainedUntilAnnotation]: rest.until},
    },
    spec: {...spec, renewBefore, ...(mayDisableRenewal && {renewal: {policy: 'Disabled' as const}})},
  };
}

/** When a Certificate's retention ends, ms since the epoch, unless an event ends it earlier. */
export const retentionEnds = ({metadata: {annotations}}: Certificate): number =>
  Date.parse(annotations?.[retainedUntilAnnotation] ?? '') || 0;

/** Whether a Certificate is retained for the tenant of a claim. */
export const retainedFor = ({metadata: {annotations}}: Certificate, identity: TenantIdentity): boolean =>
  annotations?.[retainedForAnnotation] === retainedName(identity);

/** Whether a Certificate is retained for a tenant. An Account also has the Certificates from before its namespace had an Account. */
export const retainedForTenant = (certificate: Certificate, tenant: Tenant): boolean =>
  retainedFor(certificate, identityOf(tenant)) || retainedFor(certificate, {namespaceUID: tenant.namespaceUID});

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
  isRetained(certificate) &&
  isGood(certificate) &&
  retentionEnds(certificate) > now &&
  retainedForTenant(certificate, tenant);

/** The context of a retained Certificate: its hostname's claim, and the tenant of the namespace with the claim's owning object. */
export interface Beside {
  now: number;
  claim: DomainClaim | undefined;
  tenant: Tenant | undefined;
}

/** Whether a Certificate may stay retained. `reordered`: cert-manager has requested another one in its place. */
export const mayBeRetained = (
  certificate: Certificate,
  {now, claim, tenant, reordered}: Beside & {reordered: boolean},
): boolean =>
  claim !== undefined &&
  (retainedFor(certificate, claim.spec.tenant) ||
    // The tenant is about to use the Certificate again.
    (tenant !== undefined && belongsTo(claim, tenant) && retainedForTenant(certificate, tenant))) &&
  isGood(certificate) &&
  !reordered &&
  retentionEnds(certificate) > now;
