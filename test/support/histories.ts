/**
 * Random histories of one CustomDomain: things happen (happenings.ts), and everything that the operator decides is written
 * as the controllers write it: claims, then status and objects, which the next decision finds.
 */
import assert from 'node:assert/strict';
import {isDeepStrictEqual} from 'node:util';
import * as fc from 'fast-check';
import type {CustomDomain, DomainClaim, Plan, Project} from '../../operator/api/foreign.ts';
import {older} from '../../operator/domain/hostnames/acceptance.ts';
import {identityOf, isHeldBy, release} from '../../operator/domain/claims/claim.ts';
import {objectNameOf} from '../../operator/domain/hostnames/hostname.ts';
import {named} from '../../operator/domain/hostnames/hosts.ts';
import {decide} from '../../operator/domain/lifecycle.ts';
import {isMomentary} from '../../operator/domain/status/publishing.ts';
import {homeOf, routesOfHost} from '../../operator/domain/routes/routes.ts';
import {timestamp} from '../../operator/domain/times.ts';
import type {Decision, HostFacts, World} from '../../operator/domain/world.ts';
import {factsAt} from './facts.ts';
import {
  allowed,
  claimAfter,
  edited,
  hostnames,
  movedTo,
  rivalLooks,
  seldom,
  spellings,
  type Step,
  step,
} from './happenings.ts';
import {
  withIssuer,
  claimsBy,
  days,
  domain,
  enterprise,
  heldClaim,
  minutes,
  project,
  seconds,
  t0,
  tenantOn,
  world,
} from './world.ts';

/** What the platform has set and what the customer is, for the whole of a history. */
const setup = fc.record({
  /** The platform knows its CA's names in CAA records. */
  readsCaa: fc.boolean(),
  edgeAddresses: seldom(4, ['192.0.2.1'], ['192.0.2.9', '192.0.2.1', '2001:db8::1'], ['192.0.2.0/24']),
  issuanceStalledAfterMs: seldom(9, 30 * minutes, minutes),
  /** Whose the namespace is; undefined: it is a tenant of its own. */
  account: seldom<string | undefined>(4, 'acme', undefined),
  /** Of the Service. */
  port: seldom<number | string>(4, 80, 'http'),
});
type Setup = typeof setup extends fc.Arbitrary<infer S> ? S : never;

export const historyArbitrary = fc.record({
  names: fc.oneof(
    {weight: 8, arbitrary: fc.shuffledSubarray(allowed, {minLength: 1, maxLength: 4})},
    {weight: 2, arbitrary: fc.shuffledSubarray(hostnames, {minLength: 1, maxLength: 4})},
    fc.shuffledSubarray([...spellings, allowed[0]!], {minLength: 2, maxLength: 4}),
  ),
  setup,
  steps: fc.array(step, {minLength: 1, maxLength: 6}),
});
export type History = typeof historyArbitrary extends fc.Arbitrary<infer H> ? H : never;

/** A world, and what is decided in it. */
export interface Moment {
  at: World;
  decision: Decision;
}

/** A world with the claims written that its decision asks for, as Claims does before anything else is done. */
export function claimed(start: World): Moment {
  let at = start;
  for (let round = 0; round < 5; round++) {
    const decision = decide(at);
    const {claims} = decision;
    if (claims.length === 0) return {at, decision};
    const {claims: known} = at;
    const now = new Map(
      claims.map(({hostname, spec, status}): [string, DomainClaim] => [
        hostname,
        {...heldClaim(hostname), spec, status},
      ]),
    );
    at = {...at, claims: claimsBy((hostname) => now.get(hostname) ?? known.get(hostname))};
  }
  return assert.fail('the claims kept changing during the decision');
}

/** What stands of the routes of a hostname when these have been written. */
function claimStateOf(
  {domain: own, project: of, policy, facts}: World,
  hostname: string,
  applied: Decision['routes'],
  now: number,
) {
  const all = new Set(applied.map((route) => JSON.stringify(route)));
  const names = new Set(applied.map(({name, namespace}) => `${namespace}/${name}`));
  const {uid = '', namespace = ''} = own.metadata;
  return Object.fromEntries(
    (['serves', 'redirects'] as const).flatMap((use) => {
      if (!names.has(`${homeOf(use, namespace, policy.redirector)}/${objectNameOf(uid, hostname)}`)) return [];
      const since = facts.get(hostname)?.standing?.[use]?.since ?? now;
      const needed = of ? routesOfHost(own, of, hostname, use, policy.redirector) : undefined;
      return [[use, {since, isWhole: needed?.every((route) => all.has(JSON.stringify(route))) ?? false}]];
    }),
  );
}

/** What is known of a hostname when its Certificate has been written, or is gone because it is no longer wanted. */
function withCertificate(f: HostFacts, hostname: string, {certificates}: Decision, now: number): HostFacts {
  const wanted = certificates.find((c) => c.spec.dnsNames.includes(hostname));
  if (!wanted && !f.certificate) return f;
  const {certificate: before, diagnosis: _, ...rest} = f;
  if (!wanted) return rest;
  const {issuerRef} = wanted.spec;
  return before
    ? {...f, certificate: {...before, issuerRef}}
    : {...rest, certificate: {name: 'certificate', issuerRef, ready: false, issuing: true, createdAt: timestamp(now)}};
}

/** The world in which a decision has been written: its status, unless that waits, and its objects where these could be. */
function written(at: World, decision: Decision, {objects, quick}: {objects: boolean; quick: boolean}): World {
  const {status, routes} = decision;
  const own = quick && isMomentary(at.domain, decision) ? at.domain : {...at.domain, status};
  const facts = () =>
    new Map(
      [...at.facts].map(([hostname, f]): [string, HostFacts] => [
        hostname,
        {...withCertificate(f, hostname, decision, at.now), standing: claimStateOf(at, hostname, routes, at.now)},
      ]),
    );
  return {
    ...at,
    domain: own,
    first: at.first.metadata.uid === own.metadata.uid ? own : at.first,
    ...(objects && {facts: facts()}),
  };
}

/** Facts in which every look that is due has been made, with the answer that it had before. */
function lookedAgain({at, decision}: Moment): World['facts'] {
  const due = decision.looks.filter((l) => l.at <= at.now);
  const again = (hostname: string, what: 'dns' | 'edge') => due.some((l) => l.hostname === hostname && l.what === what);
  return new Map(
    [...at.facts].map(([hostname, f]) => [
      hostname,
      {
        ...f,
        ...(f.verdict && again(hostname, 'dns') && {checkedAt: at.now}),
        ...(f.edge && again(hostname, 'edge') && {edgeLookedAt: at.now}),
      },
    ]),
  );
}

/** What a moment comes to while nothing new happens: all is written, looks that were due are made, the edge has settled. */
export function atRest({at: start}: Moment): Moment {
  let moment = claimed({...start, request: undefined});
  for (let i = 0; i < 15; i++) moment = next({...moment, at: {...moment.at, facts: lookedAgain(moment)}}, 2 * seconds);
  return moment;
}

/** The next moment, when a decision has been written. */
export const next = ({at, decision}: Moment, afterMs: number, change: Partial<World> = {}): Moment =>
  claimed({...written(at, decision, {objects: true, quick: false}), now: at.now + afterMs, ...change});

/** What is as it is until something happens to it. */
interface Life {
  setup: Setup;
  at: World;
  claims: Map<string, DomainClaim>;
  plan: Plan | null;
}

/** What a process that starts knows: what stands in the cluster. It has asked nobody. */
const afterRestart = ({standing, certificate}: HostFacts): HostFacts => ({
  ...(standing && {standing}),
  ...(certificate && {certificate}),
});

/** The Project in a step; undefined: it is gone. */
function projectIn(s: Step, {setup: {port}}: Life): Project | undefined {
  if (s.project === 'missing') return undefined;
  const refused = {
    type: 'Accepted',
    status: 'False' as const,
    reason: 'ProjectLimitReached',
    message: 'The plan one allows 1 project, and older projects use it.',
    lastTransitionTime: timestamp(t0),
  };
  const status = {
    deployed: {},
    undeployed: {firstDeployTime: undefined},
    hostless: {host: undefined},
    beyondLimit: {conditions: [refused]},
  }[s.project];
  return {...project(status), spec: {serviceRef: {name: 'web', port}, defaultHost: 'Serve'}};
}

/** Another CustomDomain of the same Project that comes before this one, by its age or by its name. */
function siblingIn({sibling}: Step, own: CustomDomain): CustomDomain[] {
  if (sibling === 'None') return [];
  const createdAt = sibling === 'Older' ? timestamp(t0 - 9 * days) : own.metadata.creationTimestamp;
  return [domain({name: 'another', uid: 'another', createdAt})];
}

/** The CustomDomain in a step, with its spec as somebody has edited it. */
function ownIn({edit}: Step, {domain: {metadata, spec: before, ...rest}}: World): CustomDomain {
  const spec = edit ? edited(before, edit) : before;
  const {generation = 0} = metadata;
  return {...rest, spec, metadata: {...metadata, generation: generation + (spec === before ? 0 : 1)}};
}

/** What becomes of a claim in a step: by time, and by what befalls it. Returns the hostname of the latter. */
function befallClaims({claim: befalls}: Step, {claims}: Life, {domain: own, policy, tenant, now}: World) {
  for (const [hostname, {spec, status}] of claims)
    if (spec.proof === 'DNS' && status?.quarantinedUntil !== undefined && Date.parse(status.quarantinedUntil) <= now)
      claims.delete(hostname);
  if (!befalls) return undefined;
  const names = named(own, policy);
  const {hostname} = names[befalls.at % names.length]!;
  const ours = {uid: own.metadata.uid ?? '', own: identityOf(tenant)};
  const after = claimAfter(befalls.event, hostname, claims.get(hostname), ours, now);
  if (after) claims.set(hostname, after);
  else claims.delete(hostname);
  return hostname;
}

/** What DNS says when a proof has been in doubt for hours; after a restart nobody has asked it yet. */
function doubtIn({claim, restart}: Step, now: number): HostFacts {
  if (restart || claim === undefined) return {};
  if (claim.event === 'DriftingHere') return {verdict: movedTo('Here'), checkedAt: now};
  const isDoubted = claim.event === 'Drifting' || claim.event === 'Doubted';
  return isDoubted ? {verdict: movedTo('Elsewhere'), checkedAt: now} : {};
}

/** What is known of the hostnames in a step. `befallen`: whose claim something has happened to. */
function factsIn(s: Step, life: Life, {domain: own, policy, now}: World, befallen: string | undefined) {
  const facts = new Map([...life.at.facts].map(([hostname, f]) => [hostname, s.restart ? afterRestart(f) : f]));
  for (const [i, {hostname, refusal}] of named(own, policy).entries()) {
    const chosen = refusal ? undefined : s.facts[i];
    const before = facts.get(hostname) ?? {};
    const {rival: _, ...known} = chosen
      ? {...factsAt(chosen, hostname, now, life.setup.readsCaa), standing: before.standing}
      : before;
    const holder = life.claims.get(hostname)?.status?.holder;
    const rival = holder &&
      holder.uid !== own.metadata.uid && {
        question: {hostname, target: 'theirs.apps.platform.test', token: 'theirs'},
        looks: rivalLooks(s.rival, now),
      };
    const all = {...known, ...(hostname === befallen && doubtIn(s, now)), ...(rival && {rival})};
    if (Object.keys(all).length > 0) facts.set(hostname, all);
  }
  return facts;
}

/** What happens in a step, before the operator looks. */
function befall(life: Life, s: Step): World {
  if (s.plan !== 'AsBefore') life.plan = s.plan;
  const own = ownIn(s, life.at);
  const now = life.at.now + s.afterMs;
  const at: World = {
    ...life.at,
    now,
    domain: own,
    tenant: tenantOn(life.plan, life.setup),
    project: projectIn(s, life),
    first: [own, ...siblingIn(s, own)].toSorted(older)[0]!,
    waiting: s.places === undefined ? undefined : {limit: 1, held: new Set(), refused: new Map(), free: s.places},
    startedAt: s.restart ? now : life.at.startedAt,
    request: s.asked ? {value: String(now), seenAt: now} : undefined,
  };
  const befallen = befallClaims(s, life, at);
  return {...at, facts: factsIn(s, life, at, befallen), claims: new Map(life.claims)};
}

/** What the operator makes of it, decision by decision; `life` is what stands afterwards. */
function answers(life: Life, start: World, {routed, quick}: Step): Moment[] {
  const moments: Moment[] = [];
  let at = start;
  for (let round = 0; round < 4; round++) {
    const now = claimed(at);
    moments.push(now);
    at = written(now.at, now.decision, {objects: routed, quick});
    if (isDeepStrictEqual([at.domain.status, at.facts], [now.at.domain.status, now.at.facts])) break;
  }
  for (const hostname of allowed) {
    const claim = at.claims.get(hostname);
    if (!claim) continue;
    // As ClaimReconciler does with what its holder names no more.
    const names = [...named(at.domain, at.policy), ...(at.domain.status?.hosts ?? [])].some(
      (h) => h.hostname === hostname,
    );
    life.claims.set(
      hostname,
      isHeldBy(claim, at.domain) && !names
        ? {...claim, status: release(claim, at.now, at.policy.quarantineTimeMs, []).status}
        : claim,
    );
  }
  life.at = at;
  return moments;
}

/** The moments of a history: every decision, each in a world in which the one before has been written. */
export function live({names, setup: chosen, steps}: History): Moment[] {
  const [primary, ...sources] = names;
  const start = world({
    primary,
    redirects: sources.length > 0 ? sources.map((from) => ({from})) : undefined,
    policy: {
      ...withIssuer({caaIdentities: chosen.readsCaa ? ['ca.example'] : []}),
      edgeAddresses: chosen.edgeAddresses,
      issuanceStalledAfterMs: chosen.issuanceStalledAfterMs,
    },
    routed: false,
    claims: {},
  });
  const life: Life = {setup: chosen, at: {...start, claims: new Map()}, claims: new Map(), plan: enterprise};
  return steps.flatMap((s) => answers(life, befall(life, s), s));
}

/** Whether a claim makes the platform's word the proof of a hostname that is this world's tenant's. */
export const isGranted = ({claims, tenant}: World, hostname: string): boolean => {
  const claim = claims.get(hostname);
  // What was the Namespace's goes with it to the Account that it is given to.
  const own = [identityOf(tenant), {namespaceUID: tenant.namespaceUID}].map((identity) => JSON.stringify(identity));
  return claim?.spec.proof === 'Platform' && own.includes(JSON.stringify(claim.spec.tenant));
};
