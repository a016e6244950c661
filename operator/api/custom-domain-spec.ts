/** The spec of a CustomDomain: a primary, its redirects, and the rules about them. */
import {z} from 'zod';
import {celFold, fold} from './hostname-rules.ts';
import {type Fault, more, namedEntries, type Piece, takeOver, type Value} from './named.ts';
import {checked, hostname, objectName, optional, withDefault} from './rules.ts';

/** The redirect statuses on offer (RFC 9110, 15.4). */
export const redirectStatuses = [301, 302, 307, 308] as const;
export type RedirectStatus = (typeof redirectStatuses)[number];

const redirectStatus = z.literal([...redirectStatuses]).meta({type: 'integer'});

const projectRef = checked(z.object({name: objectName('Name of a Project in the same namespace.')}), [
  {
    cel: 'self == oldSelf',
    holds: () => true,
    message: 'is immutable: delete this CustomDomain and create one for the other project',
  },
]).describe('The project of these hostnames. Immutable.');

const redirect = z
  .object({
    from: hostname('A hostname of the customer that redirects.'),
    to: optional(hostname('Target of the redirect. Only the primary is allowed. Default: the primary.')),
    status: withDefault(redirectStatus, 301).describe('HTTP status of the redirect: 301 (default), 302, 307 or 308.'),
  })
  .describe('A hostname that redirects to the primary.');

const specShape = z.object({
  projectRef,
  primary: hostname('The main hostname, which serves the project.'),
  redirects: optional(
    z
      .array(redirect)
      .max(500)
      .meta({'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['from']}),
  ).describe('More hostnames, which redirect to the primary with the same path and query.'),
});

/** How many redirects may be written otherwise than they are compared. */
const mostUnfolded = 50;

type SpecShape = z.output<typeof specShape>;
type SpecRedirect = z.output<typeof redirect>;

/** A condition about the redirect `r` in `self`, in CEL and in TypeScript. */
interface RedirectFault {
  cel: string;
  of: (r: SpecRedirect, self: SpecShape) => boolean;
}
const from: Value<{first: SpecRedirect}> = {cel: 'l[0].from', of: ({first}) => first.from};
const to: Value<{first: SpecRedirect}> = {cel: 'l[0].to', of: ({first}) => first.to!};

/** A message about redirects at fault. */
const namedRedirects = (
  fault: RedirectFault,
  pieces: readonly Piece<Fault<SpecRedirect>>[],
  lacking: Parameters<typeof takeOver>[0] = 'this entry',
  texts: readonly Value<SpecRedirect>[] = [{cel: 'r.from', of: (r) => r.from}],
) =>
  namedEntries<SpecShape, SpecRedirect>(
    {list: {cel: 'self.redirects', of: (self) => self.redirects ?? []}, fault, texts},
    [...pieces, takeOver(lacking)],
  );

const fromPrimary: RedirectFault = {
  cel: `${celFold('r.from')} == ${celFold('self.primary')}`,
  of: (r, self) => fold(r.from) === fold(self.primary),
};
const toOther: RedirectFault = {
  cel: `has(r.to) && ${celFold('r.to')} != ${celFold('self.primary')}`,
  of: (r, self) => typeof r.to === 'string' && fold(r.to) !== fold(self.primary),
};
const repeated: RedirectFault = {
  cel: `r.from != ${celFold('r.from')} && [${celFold('r.from')}].exists(a, !folded.exists_one(b, a == b))`,
  of: (r, {redirects}) =>
    fold(r.from) !== r.from && redirects!.filter((other) => fold(other.from) === fold(r.from)).length > 1,
};
const unfolded: RedirectFault = {cel: `${celFold('r.from')} != r.from`, of: (r) => fold(r.from) !== r.from};

/** The rule about repeated hostnames leaves so many names to the rule about spellings: its message would cost too much. */
const manyUnfolded = `self.redirects.filter(r, ${unfolded.cel}).size() > ${mostUnfolded}`;
const hasManyUnfolded = (s: SpecShape) => (s.redirects ?? []).filter((r) => unfolded.of(r, s)).length > mostUnfolded;

const sameHostname =
  ' and another redirect are the same hostname (case and a trailing dot make no difference): a hostname may have only one redirect';
const namedRepeated = namedRedirects(repeated, ['the redirect from ', from, sameHostname], 'one of them');

/** The schema of the spec, with its rules. */
export const customDomainSpec = checked(specShape, [
  {
    cel: `!has(self.redirects) || !self.redirects.exists(r, ${fromPrimary.cel})`,
    holds: (s) => !s.redirects?.some((r) => fromPrimary.of(r, s)),
    message: 'a redirect must not come from the primary: use another hostname, or remove the redirect',
    named: namedRedirects(fromPrimary, [
      'the redirect from ',
      from,
      more,
      ' must not come from the primary: use another hostname, or remove the redirect',
    ]),
  },
  {
    cel: `!has(self.redirects) || !self.redirects.exists(r, ${toOther.cel})`,
    holds: (s) => !s.redirects?.some((r) => toOther.of(r, s)),
    message: 'a redirect must go to the primary: enter that hostname, or omit `to`',
    named: namedRedirects(
      toOther,
      ['the redirect from ', from, more, ' must go to the primary, not to ', to, ': enter the primary, or omit `to`'],
      'this entry',
      [
        {cel: 'r.from', of: (r) => r.from},
        {cel: 'r.to', of: (r) => r.to!},
      ],
    ),
  },
  {
    cel: `!has(self.redirects) || !(${manyUnfolded})`,
    holds: (s) => !hasManyUnfolded(s),
    message:
      `at most ${mostUnfolded} redirects may have capital letters or a trailing dot: write the ` +
      'others in lower case and without the dot',
    named: namedRedirects(unfolded, [
      `at most ${mostUnfolded} redirects may have capital letters or a trailing dot, but `,
      {cel: 'l.size()', of: ({count}) => count},
      ' have, such as ',
      from,
      ': write the others in lower case and without the dot',
    ]),
  },
  {
    // Names in normal form are distinct already, as keys of the list. Each name in another form is compared with all names: 500 x 500
    // comparisons would exceed the API server's limit (CEL's cost limit for a call), 50 x 500 do not. The folded list is bound by a list of
    // one, so that each name is folded once.
    cel:
      `!has(self.redirects) || ${manyUnfolded} || [self.redirects.map(r, ${celFold('r.from')})].all(l, ` +
      `self.redirects.all(r, r.from == ${celFold('r.from')} || [${celFold('r.from')}].all(a, l.exists_one(b, a == b))))`,
    holds: (s) =>
      hasManyUnfolded(s) || new Set(s.redirects?.map((r) => fold(r.from))).size === (s.redirects?.length ?? 0),
    message:
      'a hostname may have only one redirect (case and a trailing dot make no difference): remove the repeated one',
    named: {
      cel: `[self.redirects.map(r, ${celFold('r.from')})].map(folded, ${namedRepeated.cel})[0]`,
      text: namedRepeated.text,
    },
  },
]).describe('The hostnames of a project.');

export type CustomDomainSpec = z.output<typeof customDomainSpec>;
