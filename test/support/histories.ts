/** Random worlds that could have come about: a spec, and what was found out step by step, each status fed back. */
import * as fc from 'fast-check';
import {timestamp} from '../../operator/domain/conditions.ts';
import type {HostFacts, World} from '../../operator/domain/lifecycle.ts';
import type {Verdict} from '../../operator/domain/verification.ts';
import {
  certificate,
  days,
  domain,
  edgeAt,
  enterprise,
  free,
  hours,
  later,
  leaf,
  minutes,
  otherLeaf,
  plan,
  project,
  seconds,
  t0,
  tenantOn,
  world,
} from './world.ts';

const hostnames = [
  'docs.example.com',
  'old.example.com',
  'a.example.org',
  'bücher.example',
  'xn--bcher-kva.example',
  'co.uk',
  'x.apps.platform.test',
];

const verdict: fc.Arbitrary<Verdict> = fc.oneof(
  {weight: 5, arbitrary: fc.constant({kind: 'Proven', by: 'CNAME', apex: false} as const)},
  fc
    .constantFrom('RecordMissing', 'TargetMismatch', 'PropagationPending')
    .map(
      (reason) =>
        ({
          kind: 'Refuted',
          reason,
          message: `${reason} was seen.`,
          state: reason === 'TargetMismatch' ? 'Wrong' : 'Missing',
          observed: [] as string[],
          apex: false,
        }) as const,
    ),
  fc
    .constantFrom('AuthoritativeFailure', 'AuthoritativeUnreachable', 'ResolverFailure')
    .map((reason) => ({kind: 'Unknown', reason, message: `${reason} came of it.`, apex: false}) as const),
);

const edge = fc
  .array(
    fc.oneof(
      {weight: 4, arbitrary: fc.constant({leafSha256: leaf})},
      {
        weight: 2,
        arbitrary: fc.constant({
          leafSha256: otherLeaf,
          subjectAltNames: `DNS:${hostnames[0]}`,
          notAfter: certificate().notAfter,
        }),
      },
      fc.constantFrom({leafSha256: otherLeaf}, {}, {unreachable: 'timed out'}),
    ),
    {maxLength: 2},
  )
  .map((seen) => seen.map((s, i) => edgeAt(`192.0.2.${i + 1}`, s)));

/** Any facts about one hostname; looked at at {@link t0}. */
export const factsArbitrary: fc.Arbitrary<HostFacts> = fc
  .record({
    verdict: fc.option(verdict, {nil: undefined, freq: 8}),
    certificate: fc.option(
      fc.record({
        ready: fc.oneof({weight: 4, arbitrary: fc.constant(true)}, fc.constant(false)),
        leafSha256: fc.option(fc.constant(leaf), {nil: undefined, freq: 6}),
        failure: fc.option(fc.constant('it failed'), {nil: undefined, freq: 1}),
        createdAt: fc.constantFrom(timestamp(t0), timestamp(t0 - hours)),
      }),
      {nil: undefined},
    ),
    grant: fc.oneof(
      {weight: 5, arbitrary: fc.constant({kind: 'Granted'} as const)},
      fc.constantFrom(
        {kind: 'Queued', place: 7, expectedAt: t0 + days} as const,
        {kind: 'Exhausted', until: t0 + days} as const,
        undefined,
      ),
    ),
    inTheWay: fc.oneof({weight: 8, arbitrary: fc.constant(undefined)}, fc.constant('Ingress acme/docs')),
    edge: fc.option(edge, {nil: undefined}),
  })
  .map(({certificate: c, ...facts}) => ({
    ...facts,
    certificate: c && certificate(c),
    ...(facts.verdict && {checkedAt: t0}),
    ...(facts.edge && {edgeLookedAt: t0}),
  }));

const step = fc.record({
  afterMs: fc.constantFrom(0, seconds, 5 * seconds, minutes, hours, 3 * days, 8 * days),
  facts: fc.dictionary(fc.constantFrom(...hostnames.slice(0, 3), 'xn--bcher-kva.example'), factsArbitrary, {
    minKeys: 1,
    maxKeys: 4,
  }),
  project: fc.oneof(
    {weight: 8, arbitrary: fc.constant('deployed')},
    fc.constantFrom('missing', 'undeployed', 'hostless'),
  ),
  plan: fc.oneof(
    {weight: 6, arbitrary: fc.constant(enterprise)},
    fc.constantFrom(free, plan('one', 1), plan('two', 2), null),
  ),
  rival: fc.oneof({weight: 9, arbitrary: fc.constant(false)}, fc.constant(true)),
  routed: fc.oneof({weight: 6, arbitrary: fc.constant(true)}, fc.constant(false)),
});

export const historyArbitrary = fc.record({
  names: fc.shuffledSubarray(hostnames, {minLength: 1, maxLength: 4}),
  steps: fc.array(step, {minLength: 1, maxLength: 4}),
});

type History = typeof historyArbitrary extends fc.Arbitrary<infer H> ? H : never;

/** The worlds of a history, one a step, each with the status that was decided in the one before. */
export function live({names, steps}: History): World[] {
  const [primary, ...sources] = names;
  const worlds: World[] = [];
  let now = t0;
  for (const {afterMs, facts, project: stands, plan: on, rival, routed} of steps) {
    now += afterMs;
    const before = worlds.at(-1);
    const current = {
      now,
      facts: Object.fromEntries(
        Object.entries(facts).map(([name, f]) => [
          name,
          {...f, ...(f.checkedAt && {checkedAt: now}), ...(f.edgeLookedAt && {edgeLookedAt: now})},
        ]),
      ),
      project:
        stands === 'missing'
          ? undefined
          : stands === 'undeployed'
            ? project({firstDeployTime: undefined})
            : stands === 'hostless'
              ? project({host: undefined})
              : project(),
      stands: () => routed,
      tenant: tenantOn(on),
    };
    const at = before
      ? later(before, current)
      : {
          ...world({primary, redirects: sources.map((from) => ({from})), now}),
          project: current.project,
          stands: current.stands,
          tenant: current.tenant,
          facts: new Map(Object.entries(current.facts)),
        };
    worlds.push({
      ...at,
      siblings: rival
        ? [at.domain, domain({name: 'older', uid: 'older', createdAt: timestamp(t0 - 9 * days)})]
        : [at.domain],
    });
  }
  return worlds;
}
