/** Chooses the issuer of a hostname from what is known of the CAs, the budgets and the hostname's certificate. */
import type {DomainClaim} from '../api/foreign.ts';
import type {Order, SpentBudget} from '../domain/certificates/budget.ts';
import {mergeOrders, spentBy} from '../domain/certificates/budget.ts';
import type {CaaVerdict} from '../domain/certificates/caa.ts';
import type {CertificateFacts} from '../domain/certificates/certificate.ts';
import {
  chooseIssuer,
  leftAt,
  isOrderOf,
  issuerOf,
  type IssuerPolicy,
  type Issuers,
  type IssuerState,
} from '../domain/certificates/choose-issuer.ts';
import type {Hostname} from '../domain/hostnames/hostname.ts';
import type {Verdict} from '../domain/verification/method.ts';
import type {HostFacts, Policy} from '../domain/world.ts';
import type {OrderQueues} from './orders/order-queues.ts';

/** What is known of the CAs of the issuers, by the issuers' names. */
export interface KnownCas {
  /** The CA's names in CAA records. */
  identities(issuer: string): readonly Hostname[];
  /** Since when the CA does not answer, ms since the epoch; undefined: it answers, or is not known. */
  unavailableSince(issuer: string): number | undefined;
  /** Whether its names are known, and it has answered for so long that certificates may move back to it. */
  isCertain(issuer: string): boolean;
}

/** The issuers with the names that their CAs have by now. */
export const issuersNow = ({issuers}: Issuers, cas: Pick<KnownCas, 'identities'>): Issuers['issuers'] =>
  issuers.map((issuer) => ({
    ...issuer,
    caaIdentities: cas.identities(issuer.issuerRef.name),
  })) as unknown as Issuers['issuers'];

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
  /** The verdicts about its CAA records, by issuer; `NotNeeded`: the platform has verified the hostname. */
  caaOf: Readonly<Record<string, CaaVerdict>> | 'NotNeeded' | undefined;
}

/** What is known of the order of a hostname: earlier orders, the issuer if there are several, and its answer. */
export function orderFacts(
  policy: Issuers & Pick<Policy, 'orderMemoryMs'>,
  sources: {
    cas: KnownCas;
    orders: Pick<OrderQueues, 'expectedAt' | 'orders' | 'grant'>;
    claims: {of(hostname: Hostname): DomainClaim | undefined};
  },
  host: Omit<HostnameToIssue, 'orders'>,
): Pick<HostFacts, 'issuer' | 'issuerUntil' | 'readsCaa' | 'grant'> & {orders: Order[]} {
  const {now, hostname, certificate} = host;
  const orders = sources.orders.orders(hostname);
  const remembered = sources.claims.of(hostname)?.status?.orders ?? [];
  const all = mergeOrders(remembered, orders, policy.orderMemoryMs, now);
  const {issuer, until, readsCaa} = issuerFor(policy, sources, {...host, orders: all}) ?? {};
  const grant = sources.orders.grant(certificate, issuerOf(policy, {...(issuer && {issuer})}).issuerRef.name);
  return {
    orders,
    ...(issuer && {issuer}),
    ...(until !== undefined && {issuerUntil: until}),
    ...(readsCaa && {readsCaa}),
    ...(grant && {grant}),
  };
}

/**
 * The issuer for a hostname; undefined if there is a single one. `until`: when to choose again, ms since the epoch. `readsCaa`: another
 * would be chosen if CAA records were read and did not forbid it.
 */
export function issuerFor(
  policy: Issuers,
  {cas, orders: queues}: {cas: KnownCas; orders: Pick<OrderQueues, 'expectedAt'>},
  host: HostnameToIssue,
): {issuer: IssuerPolicy; until?: number; readsCaa?: true} | undefined {
  const {issuers} = policy;
  if (issuers.length === 1) return undefined;
  const {now, hostname, tenant, certificate, existing, orders, caaOf} = host;
  const stateOf = (issuer: IssuerPolicy): IssuerState => {
    const {name} = issuer.issuerRef;
    const caa = caaOf === 'NotNeeded' ? undefined : caaOf?.[name];
    const needsCaa = caaOf !== 'NotNeeded' && issuer.caaIdentities.length > 0;
    const unavailableSince = cas.unavailableSince(name);
    const its = orders.filter((order) => isOrderOf(order, issuer, policy));
    return {
      name,
      when: issuer.when,
      isCertain: cas.isCertain(name) && (!needsCaa || (caa !== undefined && caa.kind !== 'Unknown')),
      ...(caa?.kind === 'Blocked' && {forbiddenBy: caa.miss}),
      isSpent:
        isSpentBudget(spentBy(its, issuer.budgets, {now, tenant})) ||
        queues.expectedAt(name, tenant, {certificate, hostname}) > now + soonMs,
      ...(unavailableSince !== undefined && {unavailableSince}),
    };
  };
  const [states, issued] = [issuers.map(stateOf), issuedBy(existing)];
  const chosen = chooseIssuer(states, issued, now);
  const until = issued && leftAt(states.find(({name}) => name === issued.name) ?? {}, issued);
  const issuer = issuers.find(({issuerRef}) => issuerRef.name === chosen)!;
  const steady = states.map((state) => ({...state, isCertain: cas.isCertain(state.name)}));
  const readsCaa = caaOf === undefined && chooseIssuer(steady, issued, now) !== chosen;
  return {issuer, ...(until !== undefined && until > now && {until}), ...(readsCaa && {readsCaa})};
}

/** A hostname that fails by its own fault would fail at another CA, too. */
const isSpentBudget = (spent: SpentBudget | undefined) => spent?.of === 'certificates' || spent?.of === 'authority';

const issuedBy = (certificate: CertificateFacts | undefined) =>
  certificate?.issuerRef && {
    name: certificate.issuerRef.name,
    ...(certificate.ready && certificate.notAfter !== undefined && {validUntil: Date.parse(certificate.notAfter)}),
    isUnderWay: certificate.issuing || certificate.failure === undefined,
  };

/** What the CAA records say about the CA of each issuer; undefined: another check can read them. */
export const caaOfIssuers = (verdict: Verdict | undefined): Readonly<Record<string, CaaVerdict>> | undefined =>
  verdict?.kind === 'Unknown' ? {} : (verdict?.caaOf ?? (verdict?.kind === 'Refuted' ? {} : undefined));

/** A verdict with what the CAA records say about the CA of one issuer. */
export const judgedFor = (verdict: Verdict, issuer: string): Verdict => {
  if (verdict.kind === 'Unknown' || !verdict.caaOf) return verdict;
  const {caa: _, ...rest} = verdict;
  const caa = verdict.caaOf[issuer];
  return caa ? {...rest, caa} : rest;
};
