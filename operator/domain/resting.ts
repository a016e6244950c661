/**
 * Certificates that nobody needs for now, kept so that coming back costs no order (rule 5).
 *
 *   owned --- its hostname is taken away, serves elsewhere, or its Project or CustomDomain goes ---> resting
 *     ^                                                                                               |  |
 *     +--- its tenant proves and holds the hostname again, in the same namespace ---------------------+  |
 *                                                                                                        v
 *          its renewal is near | the claim is gone, or another tenant's | cert-manager is at it ---> deleted
 *
 * It has no owner and no route, and is never renewed: that would be an order without proof (rule 1).
 */
import type {DomainClaimSpec} from '../api/domain-claim.ts';
import type {Certificate, DomainClaim} from '../api/foreign.ts';
import type {CertificateFacts} from './certificate.ts';
import {hasCondition, isResting, makeCertificate, privateKeyOf, restingLabel} from './certificate.ts';
import {belongsTo, identityOf} from './claim.ts';
import type {Hostname} from './hostname.ts';
import type {Tenant} from './tenant.ts';
import {timestamp} from './times.ts';

/** Whose it is: `account NAME` or `namespace UID`. */
export const restsForAnnotation = 'doorplate.dev/rests-for';
/** When it is deleted at the latest, RFC 3339. */
export const restsUntilAnnotation = 'doorplate.dev/rests-until';

type TenantIdentity = DomainClaimSpec['tenant'];

/** For whom a Certificate rests, as its annotation says it, and until when (RFC 3339). */
export interface Rest {
  for: string;
  until: string;
}

/** So long before cert-manager would renew it a Certificate rests no more, ms. */
const beforeRenewalMs = 300_000;
/** While it rests cert-manager renews it that late, should nobody be there to delete it: the least that it takes. */
const renewBefore = '5m0s';

/** A tenant as {@link restsForAnnotation} names it. */
export const restName = ({account, namespaceUID}: TenantIdentity): string =>
  account === undefined ? `namespace ${namespaceUID}` : `account ${account}`;

/** The hostname of a Certificate of ours. */
export const hostnameOf = ({spec}: Certificate): Hostname => spec.dnsNames[0] ?? '';

/** It can serve as it is, and cert-manager is not about to ask for another. */
const isGood = (certificate: Certificate): boolean =>
  certificate.metadata.deletionTimestamp === undefined &&
  hasCondition(certificate, 'Ready') &&
  !hasCondition(certificate, 'Issuing');

/** How a Certificate that its owner needs no more may rest; undefined: it goes. */
export function restOf(
  certificate: Certificate,
  p: {now: number; tenant: Tenant; claim: DomainClaim | undefined; quarantineTimeMs: number},
): Rest | undefined {
  const {renewalTime} = certificate.status ?? {};
  if (!p.claim || !belongsTo(p.claim, p.tenant) || !isGood(certificate) || renewalTime === undefined) return undefined;
  const until = Math.min(Date.parse(renewalTime) - beforeRenewalMs, p.now + p.quarantineTimeMs);
  return until > p.now ? {for: restName(p.claim.spec.tenant), until: timestamp(until)} : undefined;
}

/** A Certificate in its retained form, without the labels of an owned object. */
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

/** When a Certificate's rest ends, ms since the epoch, if nothing happens to it until then. */
export const restEnds = ({metadata: {annotations}}: Certificate): number =>
  Date.parse(annotations?.[restsUntilAnnotation] ?? '') || 0;

/** Whether it rests for the tenant of a claim. */
export const restsFor = ({metadata: {annotations}}: Certificate, identity: TenantIdentity): boolean =>
  annotations?.[restsForAnnotation] === restName(identity);

/** Whether a Certificate is retained for a tenant. Certificates from before a Namespace had an Account belong to the Account. */
export const restsForTenant = (certificate: Certificate, tenant: Tenant): boolean =>
  restsFor(certificate, identityOf(tenant)) || restsFor(certificate, {namespaceUID: tenant.namespaceUID});

/** The names (`namespace/name`) of desired Certificates that are retained ones. `standing`: existing Certificates by hostname. */
export const returningOf = (
  wanted: readonly Certificate[],
  standing: (hostname: Hostname) => CertificateFacts | undefined,
): string[] =>
  wanted.flatMap((certificate) => {
    const {name, namespace} = certificate.metadata;
    const stands = standing(hostnameOf(certificate));
    return stands?.resting && stands.name === name ? `${namespace}/${name}` : [];
  });

/** Whether a tenant that holds its hostname may take it back. */
export const mayReturn = (certificate: Certificate, tenant: Tenant, now: number): boolean =>
  isResting(certificate) && isGood(certificate) && restEnds(certificate) > now && restsForTenant(certificate, tenant);

/** Beside what it rests: the claim of its hostname, and the tenant in whose namespace the holder of that is. */
export interface Beside {
  now: number;
  claim: DomainClaim | undefined;
  tenant: Tenant | undefined;
}

/** Whether it may rest on. `reordered`: cert-manager has asked for another in its place. */
export const mayRest = (
  certificate: Certificate,
  {now, claim, tenant, reordered}: Beside & {reordered: boolean},
): boolean =>
  claim !== undefined &&
  (restsFor(certificate, claim.spec.tenant) ||
    // Its tenant is about to take it back.
    (tenant !== undefined && belongsTo(claim, tenant) && restsForTenant(certificate, tenant))) &&
  isGood(certificate) &&
  !reordered &&
  restEnds(certificate) > now;
