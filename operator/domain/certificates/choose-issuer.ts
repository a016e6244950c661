/**
 * Which of the platform's issuers gets the order of a hostname (`issuers`). The first is preferred. Each later one lists the cases in which
 * it takes the place of those before it.
 *
 *   CAAForbids    CAA records do not allow the CA
 *   BudgetSpent   the CA would not take the order within a minute, by its limits or after errors of its own
 *   Unavailable   its directory, or its answers to orders, fail with server errors or time out
 *
 * A hostname stays with the issuer of its certificate while that can renew it. It moves back when an earlier issuer can take it for
 * certain, like a hostname whose platform has set another issuer (host/ordering.ts).
 */
import type {IssuerRef} from '../../api/foreign.ts';
import type {Hostname} from '../hostnames/hostname.ts';
import type {Budgets, Order} from './budget.ts';
import type {Miss} from './caa.ts';

/** Cases in which an issuer replaces all issuers before it. */
export const issuerCases = ['CAAForbids', 'BudgetSpent', 'Unavailable'] as const;
export type IssuerCase = (typeof issuerCases)[number];

/** One of the platform's issuers. */
export interface IssuerPolicy {
  issuerRef: IssuerRef;
  /** The CA's names in CAA records. Empty if they are not known; then CAA is not checked. */
  caaIdentities: readonly Hostname[];
  budgets: Budgets;
  /** The cases in which the issuer replaces all issuers before it. */
  when: readonly IssuerCase[];
}

/** The platform's issuers. */
export interface Issuers {
  /** The preferred one first. */
  issuers: readonly [IssuerPolicy, ...IssuerPolicy[]];
}

/** The issuer that is chosen for a hostname. */
export const issuerOf = (policy: Issuers, {issuer}: {issuer?: IssuerPolicy}): IssuerPolicy =>
  issuer ?? policy.issuers[0];

/** Whether an issuer got an order. Orders from before orders had an issuer count for the preferred one. */
export const isOrderOf = (order: Pick<Order, 'issuer'>, {issuerRef}: IssuerPolicy, {issuers}: Issuers) =>
  (order.issuer ?? issuers[0].issuerRef.name) === issuerRef.name;

/** Whether a CA is known by its names in CAA records. */
export const checksCaa = ({issuers}: Issuers): boolean => issuers.some(({caaIdentities}) => caaIdentities.length > 0);

/** What is known about one issuer and one hostname. */
export interface IssuerState {
  name: string;
  when: readonly IssuerCase[];
  /** What the CAA records lack to allow this CA; undefined: they allow it, or are not known. */
  forbiddenBy?: Miss;
  /** Whether it is known that it can take a hostname: its CA has answered for long enough, and CAA records were read or need not be. */
  isCertain: boolean;
  isSpent: boolean;
  /** Since when it does not answer, ms since the epoch; undefined: it answers, or has never been asked. */
  unavailableSince?: number;
}

/** The issuer of the present certificate or of a pending order. Times in ms since the epoch. */
export interface IssuedBy {
  name: string;
  /** End of a valid certificate; undefined: no certificate is valid now. */
  validUntil?: number;
  /** Whether an order is under way. */
  isUnderWay?: boolean;
}

/** An issuer that does not answer is replaced after this part of the certificate's remaining life. */
const patience = 1 / 3;

const failuresOf = ({forbiddenBy, isSpent, unavailableSince}: IssuerState): IssuerCase[] => [
  ...(forbiddenBy !== undefined ? (['CAAForbids'] as const) : []),
  ...(isSpent ? (['BudgetSpent'] as const) : []),
  ...(unavailableSince !== undefined ? (['Unavailable'] as const) : []),
];

/** Nearest to allowing the CA first. */
const byMiss: readonly Miss[] = ['Method', 'Account', 'Malformed', 'Letters', 'Issuer', 'Critical'];

/** Chooses an issuer for a hostname, and returns its name. `states`: one or more, sorted like the settings. */
export function chooseIssuer(states: readonly IssuerState[], issuedBy: IssuedBy | undefined, now: number): string {
  const [first] = states as [IssuerState, ...IssuerState[]];
  const mayReplace = (s: IssuerState, before: readonly IssuerState[]) =>
    before.every((b) => failuresOf(b).some((f) => s.when.includes(f)));
  const usable = states.find((s, i) => failuresOf(s).length === 0 && mayReplace(s, states.slice(0, i)));
  const current = states.find(({name}) => name === issuedBy?.name);
  if (!current || !issuedBy)
    return (usable ?? nearest(states.filter((s, i) => mayReplace(s, states.slice(0, i)))) ?? first).name;
  const isEarlier = usable?.isCertain === true && states.indexOf(usable) < states.indexOf(current);
  if (isEarlier && issuedBy.validUntil !== undefined) return usable.name;
  return keeps(current, issuedBy, now) ? current.name : (usable ?? current).name;
}

/** Whether an issuer keeps a hostname of its own. Its own budget counts no renewals, and an order under way has its tokens. */
function keeps(
  {forbiddenBy, isSpent, unavailableSince}: IssuerState,
  {validUntil, isUnderWay}: IssuedBy,
  now: number,
): boolean {
  if (forbiddenBy !== undefined || (isSpent && validUntil === undefined && !isUnderWay)) return false;
  return unavailableSince === undefined || now < (leftAt({unavailableSince}, {validUntil}) ?? -Infinity);
}

/** When an issuer that does not answer is left by a hostname with a valid certificate, ms since the epoch. */
export function leftAt(
  {unavailableSince}: Pick<IssuerState, 'unavailableSince'>,
  {validUntil}: Pick<IssuedBy, 'validUntil'>,
): number | undefined {
  if (unavailableSince === undefined || validUntil === undefined) return undefined;
  return unavailableSince + (validUntil - unavailableSince) * patience;
}

/** The issuer that needs least to take the order: time, or the smallest change of the CAA records. */
function nearest(states: readonly IssuerState[]): IssuerState | undefined {
  const allowed = states.filter((s) => s.forbiddenBy === undefined);
  const answers = allowed.find((s) => s.unavailableSince === undefined);
  return (
    answers ??
    allowed[0] ??
    states.toSorted((a, b) => byMiss.indexOf(a.forbiddenBy!) - byMiss.indexOf(b.forbiddenBy!))[0]
  );
}
