/** Chooses the issuer of a hostname from what is known of the CAs, the budgets and the hostname's certificate. */
import type {Order} from '../domain/certificates/budget.ts';
import {spentBy} from '../domain/certificates/budget.ts';
import type {CaaVerdict} from '../domain/certificates/caa.ts';
import type {CertificateFacts} from '../domain/certificates/certificate.ts';
import {chooseIssuer, isOrderOf, type IssuerState} from '../domain/certificates/choose-issuer.ts';
import type {Hostname} from '../domain/hostnames/hostname.ts';
import type {IssuerPolicy, Policy} from '../domain/world.ts';
import type {OrderQueues} from './orders/order-queues.ts';

/** What is known of the CAs of the issuers, by the issuers' names. */
export interface KnownCas {
  /** The CA's names in CAA records. */
  identities(issuer: string): readonly Hostname[];
  /** Since when the CA does not answer, ms since the epoch; undefined: it answers, or is not known. */
  unavailableSince(issuer: string): number | undefined;
}

/** The issuers with the names that their CAs have by now. */
export const issuersNow = ({issuers}: Pick<Policy, 'issuers'>, cas: KnownCas): Policy['issuers'] =>
  issuers.map((issuer) => ({
    ...issuer,
    caaIdentities: cas.identities(issuer.issuerRef.name),
  })) as unknown as Policy['issuers'];

/** An order that waits longer than this, ms, waits for a budget. */
const soonMs = 60_000;

export interface HostnameToIssue {
  now: number;
  hostname: Hostname;
  /** The tenant's key. */
  tenant: string;
  /** The Certificate: `namespace/name`. */
  certificate: string;
  existing: CertificateFacts | undefined;
  orders: readonly Order[];
  /** The verdicts about its CAA records, by issuer. */
  caaOf?: Readonly<Record<string, CaaVerdict>> | undefined;
}

/** The issuer for a hostname; undefined if there is a single one. */
export function issuerFor(
  policy: Pick<Policy, 'issuers'>,
  {cas, orders: queues}: {cas: KnownCas; orders: Pick<OrderQueues, 'expectedAt'>},
  host: HostnameToIssue,
): IssuerPolicy | undefined {
  const {issuers} = policy;
  if (issuers.length === 1) return undefined;
  const {now, hostname, tenant, certificate, existing, orders, caaOf = {}} = host;
  const stateOf = (issuer: IssuerPolicy): IssuerState => {
    const {name} = issuer.issuerRef;
    const caa = caaOf[name];
    const unavailableSince = cas.unavailableSince(name);
    const its = orders.filter((order) => isOrderOf(order, issuer, policy));
    return {
      name,
      when: issuer.when,
      isCaaKnown: issuer.caaIdentities.length === 0 || (caa !== undefined && caa.kind !== 'Unknown'),
      ...(caa?.kind === 'Blocked' && {forbiddenBy: caa.miss}),
      isSpent:
        spentBy(its, issuer.budgets, {now, tenant}) !== undefined ||
        queues.expectedAt(name, tenant, {certificate, hostname}) > now + soonMs,
      ...(unavailableSince !== undefined && {unavailableSince}),
    };
  };
  const chosen = chooseIssuer(issuers.map(stateOf), issuedBy(existing), now);
  return issuers.find(({issuerRef}) => issuerRef.name === chosen);
}

const issuedBy = (certificate: CertificateFacts | undefined) =>
  certificate?.issuerRef && {
    name: certificate.issuerRef.name,
    ...(certificate.ready && certificate.notAfter !== undefined && {validUntil: Date.parse(certificate.notAfter)}),
  };
