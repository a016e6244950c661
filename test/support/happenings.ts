/** What may happen to one CustomDomain: its spec is edited, its claims are won and lost, the world around it changes. */
import * as fc from 'fast-check';
import type {CustomDomain, DomainClaim, Plan} from '../../operator/api/foreign.ts';
import {fold} from '../../operator/api/hostname-rules.ts';
import {release} from '../../operator/domain/claims/claim.ts';
import type {Verdict} from '../../operator/domain/verification/method.ts';
import {timestamp} from '../../operator/domain/times.ts';
import type {HostFacts} from '../../operator/domain/world.ts';
import {choices} from './facts.ts';
import {days, enterprise, free, heldClaim, hours, minutes, plan, seconds} from './world.ts';

/** Hostnames that may be attached. */
export const allowed = [
  'docs.example.com',
  'old.example.com',
  'a.example.org',
  'example.net',
  'xn--bcher-kva.example',
  // Names are registered below it, and it is no public suffix of ICANN's.
  'uk.com',
];
/** One hostname, spelled in three ways: as an A-label, in Unicode, and in Unicode with the umlaut as a mark of its own. */
export const spellings = ['xn--bcher-kva.example', 'b\u00fccher.example', 'bu\u0308cher.example'];
/**
 * Others that CEL lets pass: a public suffix, a name of the platform's own zone, one that the platform denies, one that is reserved
 * as soon as it is normalised, and four that are none: no Punycode, two addresses, a label that grows too long.
 */
const refused = [
  'co.uk',
  'x.apps.platform.test',
  'x.denied.example',
  'x.\uff4cocal',
  'xn--a.example',
  '1.2.3.0x4',
  'a.\uff11',
  `${'\u00fc'.repeat(63)}.example`,
];
export const hostnames = [...new Set([...allowed, ...spellings]), ...refused];

/** The usual, and now and then one of the others. */
export const seldom = <T>(weight: number, usual: T, ...others: T[]): fc.Arbitrary<T> =>
  fc.oneof({weight, arbitrary: fc.constant(usual)}, fc.constantFrom(...others));

type Edit = 'Swap' | 'Replace' | 'Add' | 'Remove' | 'Answer';
/** What becomes of a claim without this CustomDomain's doing. */
type ClaimEvent =
  | 'Lost'
  | 'LeftByAnother'
  | 'BegunByAnother'
  | 'OfAnotherAccount'
  | 'Released'
  | 'Granted'
  | 'GrantedToAnother'
  | 'Gone'
  | 'OfTheNamespace'
  | 'Drifting'
  | 'DriftingHere'
  | 'Doubted';

/** What may happen at one time. */
export const step = fc.record({
  afterMs: fc.constantFrom(0, seconds, 5 * seconds, minutes, hours, 3 * days, 8 * days),
  /** Of the hostnames of the spec, in their order; undefined: nothing new. */
  facts: fc.array(fc.option(choices, {nil: undefined}), {minLength: 1, maxLength: 4}),
  restart: seldom(9, false, true),
  project: seldom(12, 'deployed', 'missing', 'undeployed', 'hostless', 'beyondLimit'),
  /** `AsBefore`: that of the step before. */
  plan: fc.oneof(
    {weight: 9, arbitrary: fc.constant('AsBefore' as const)},
    seldom<Plan | null>(1, enterprise, free, plan('one', 1), plan('two', 2), null),
  ),
  /** Free places for hostnames that wait for verification; undefined: without a limit. */
  places: seldom<number | undefined>(6, undefined, 0, 1),
  sibling: seldom<'None' | 'Older' | 'SameSecond'>(20, 'None', 'Older', 'SameSecond'),
  routed: seldom(8, true, false),
  /** What is of a moment is over before it is told. */
  quick: fc.boolean(),
  asked: seldom(4, false, true),
  edit: fc.oneof(
    {weight: 2, arbitrary: fc.constant(undefined)},
    fc.record({
      what: fc.constantFrom<Edit>('Swap', 'Swap', 'Replace', 'Add', 'Remove', 'Answer'),
      at: fc.nat(hostnames.length - 1),
    }),
  ),
  claim: fc.oneof(
    {weight: 2, arbitrary: fc.constant(undefined)},
    fc.record({
      at: fc.nat(3),
      event: fc.constantFrom<ClaimEvent>(
        'Lost',
        'LeftByAnother',
        'BegunByAnother',
        'OfAnotherAccount',
        'Released',
        'Granted',
        'GrantedToAnother',
        'Gone',
        'OfTheNamespace',
        'Drifting',
        'Drifting',
        'DriftingHere',
        'Doubted',
      ),
    }),
  ),
  /** What DNS says of the right of who has a claim in its place. */
  rival: fc.constantFrom('Denied', 'Doubted', 'Stands', 'Silent', 'NotAsked'),
});
/** What happens at one time. */
export type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** A spec as somebody has edited it; as it was, where the schema would refuse the edit. */
export function edited(spec: CustomDomain['spec'], {what, at}: {what: Edit; at: number}): CustomDomain['spec'] {
  const {primary} = spec;
  const redirects = spec.redirects ?? [];
  const source = redirects[at % Math.max(1, redirects.length)];
  const name = hostnames[at % hostnames.length]!;
  const known = [primary, ...redirects.map((r) => r.from)].some((h) => fold(h) === fold(name));
  if (what === 'Swap' && source)
    return {...spec, primary: source.from, redirects: redirects.map((r) => (r === source ? {...r, from: primary} : r))};
  if (what === 'Replace' && !known) return {...spec, primary: name};
  if (what === 'Add' && !known) return {...spec, redirects: [...redirects, {from: name, status: 301}]};
  if (what === 'Remove' && source) return {...spec, redirects: redirects.filter((r) => r !== source)};
  if (what === 'Answer' && source)
    return {
      ...spec,
      redirects: redirects.map((r) => (r === source ? {...r, status: r.status === 301 ? 308 : 301} : r)),
    };
  return spec;
}

/** A claim whose proof DNS has denied for two hours, as often as that was confirmed. */
function doubted(claim: DomainClaim, negatives: number, now: number): DomainClaim {
  const times = {negativeSince: timestamp(now - 2 * hours), negativeAt: timestamp(now - hours)};
  return {...claim, status: {generation: 0, ...claim.status, ...times, negatives}};
}

/** A claim after something has befallen it; undefined: it is gone. `own`: the tenant whose CustomDomain, of this uid, is looked at. */
export function claimAfter(
  event: ClaimEvent,
  hostname: string,
  claim: DomainClaim | undefined,
  {uid, own}: {uid: string; own: DomainClaim['spec']['tenant']},
  now: number,
): DomainClaim | undefined {
  const another = {tenant: {account: 'another'}, proof: 'DNS'} as const;
  const mine = claim?.status?.holder?.uid === uid ? claim : undefined;
  const lost = (): DomainClaim => ({
    ...heldClaim(hostname, 'uid-of-another', {
      since: timestamp(now),
      generation: (claim?.status?.generation ?? 0) + 1,
      token: 'theirs',
    }),
    spec: another,
  });
  switch (event) {
    case 'Lost':
      return lost();
    case 'LeftByAnother':
      return {...lost(), status: release(lost(), now - minutes, 30 * days, []).status};
    // Its process has written the spec, and ended before the status.
    case 'BegunByAnother':
      return {...heldClaim(hostname), spec: another, status: undefined};
    case 'OfAnotherAccount':
      return mine && {...mine, spec: {...mine.spec, tenant: another.tenant}};
    case 'Released':
      return claim && {...claim, status: release(claim, now, 30 * days, []).status};
    case 'Granted':
      return {...heldClaim(hostname), spec: {tenant: own, proof: 'Platform'}, status: undefined};
    case 'GrantedToAnother':
      return {...heldClaim(hostname), spec: {...another, proof: 'Platform'}, status: undefined};
    case 'Gone':
      return undefined;
    case 'OfTheNamespace':
      return claim && {...claim, spec: {...claim.spec, tenant: {namespaceUID: 'uid-namespace'}}};
    case 'Drifting':
    case 'DriftingHere':
      return mine && doubted(mine, 4, now);
    case 'Doubted':
      return mine && doubted(mine, 2, now);
  }
}

/** DNS names another, and no longer this Project; `here`: another Project of this platform. */
export const movedTo = (where: 'Here' | 'Elsewhere'): Verdict => ({
  kind: 'Refuted',
  reason: 'TargetMismatch',
  message: 'It names another.',
  state: 'Wrong',
  observed: [where === 'Here' ? 'CNAME other.apps.platform.test' : 'CNAME elsewhere.example'],
  apex: false,
});

/** Checks of the claim owner's records, as the operator remembers them. */
export function rivalLooks(kind: Step['rival'], now: number): NonNullable<HostFacts['rival']>['looks'] {
  const no = {
    kind: 'Refuted',
    reason: 'RecordMissing',
    message: 'Nothing is there.',
    state: 'Missing',
    observed: [],
    apex: false,
  } satisfies Verdict;
  if (kind === 'Denied') return [11, 8, 5, 1].map((s) => ({verdict: no, at: now - s * seconds}));
  // Again too soon to confirm it.
  if (kind === 'Doubted') return [3, 2, 1].map((s) => ({verdict: no, at: now - s * seconds}));
  if (kind === 'Stands') return [{verdict: {kind: 'Proven', by: 'CNAME', apex: false}, at: now - seconds}];
  return kind === 'Silent'
    ? [
        {
          verdict: {kind: 'Unknown', reason: 'AuthoritativeFailure', message: 'SERVFAIL.', apex: false},
          at: now - seconds,
        },
      ]
    : [];
}
