import {describe, expect, test} from '@jest/globals';
import type {Decision, HostFacts, World} from '../../../../operator/domain/world.ts';
import {decide} from '../../../../operator/domain/lifecycle.ts';
import {formerPrimary} from '../../../../operator/domain/hostnames/hosts.ts';
import {
  condition,
  days,
  hostLines,
  later,
  objectLines,
  proven,
  served,
  settled,
  t0,
  world,
} from '../../../support/world.ts';

const [a, b, c] = ['a.example.com', 'b.example.com', 'c.example.com'];
const standing = {serves: {since: t0 - days, isWhole: true}};
/** It is served as the primary. */
const serves = served({standing});
const noRoutes: HostFacts = {...proven(), standing: {}};

/** The same world with another spec, decided upon and published. */
const become = (
  before: World,
  primary: string,
  from: readonly string[] = [],
  {facts = {}, stop}: {facts?: Record<string, HostFacts>; stop?: string | undefined} = {},
): World => {
  const {metadata, spec} = before.domain;
  const annotations = stop === undefined ? metadata.annotations : {'doorplate.dev/stop': stop};
  return later(before, {
    domain: {
      ...before.domain,
      metadata: {...metadata, ...(annotations && {annotations})},
      spec: {...spec, primary, redirects: from.map((each) => ({from: each, status: 301}))},
    },
    facts: {[a]: serves, [b]: noRoutes, [c]: noRoutes, ...facts},
  });
};
const start = (): World => settled(world({primary: a, facts: {[a]: serves}}));
const isServed = (d: Decision, hostname: string): boolean =>
  objectLines(d).includes(`acme Ingress ${hostname} websecure -> web:80`);
const accepted = (at: World) => condition(decide(at), 'Accepted');
const kept = `${a} Live ServedUntilReplaced Nobody`;

type Spec = readonly [primary: string, ...redirects: string[]];

describe('A former primary is served until the new primary is Live', () => {
  test.each<[string, Spec[]]>([
    ['at once', [[b]]],
    ['as a redirect source first', [[b, a], [b]]],
    ['as a redirect source after it had left the spec', [[b], [b, a], [b]]],
    ['by two primaries, neither of which was Live', [[b], [c]]],
    ['by two primaries, and was a redirect source', [[b, a], [c, a], [c]]],
    ['by two primaries, and was a redirect source of the first', [[b, a], [c]]],
  ])('when it is replaced %s', (_, path) => {
    let at = start();
    for (const [primary, ...from] of path) at = become(at, primary, from);
    for (const each of [at, later(at), settled(at)]) {
      expect(hostLines(decide(each))).toContain(kept);
      expect(isServed(decide(each), a)).toBe(true);
    }
    // A new process knows it from status alone.
    expect(formerPrimary(settled(at).domain)).toBe(a);
  });

  test('and redirects no sooner, when it becomes a redirect source again', () => {
    const at = become(become(become(start(), b, [a]), b), b, [a]);
    expect(hostLines(decide(at))).toContain(`${a} Live Serving Nobody`);
    expect(isServed(decide(at), a)).toBe(true);
  });

  test('and is dropped then, whatever its role was', () => {
    const live = {[b]: serves};
    for (const at of [become(start(), b, [], {facts: live}), become(become(start(), b, [a]), b, [], {facts: live})])
      expect(hostLines(decide(settled(at)))).toEqual([`${b} Live Serving Nobody`]);
  });

  test('which a hostname is no more that redirects to a primary that was Live', () => {
    const redirecting = become(start(), b, [a], {facts: {[b]: serves}});
    const at = become(settled(redirecting), c, [], {facts: {[b]: serves}});
    expect(hostLines(decide(at))).toContain(`${b} Live ServedUntilReplaced Nobody`);
    expect(hostLines(decide(at)).join()).not.toContain(a);
  });

  test('which a redirect source never was that waits for its proof again', () => {
    const live = settled(become(start(), b, [a], {facts: {[b]: serves}}));
    const status = live.domain.status!;
    const hosts = status.hosts!.map(({redirect, ...h}) =>
      h.hostname === a ? {...h, phase: 'AwaitingVerification' as const} : {...h, redirect},
    );
    const spec = {...live.domain.spec, redirects: []};
    expect(formerPrimary({spec, status: {...status, hosts}})).toBeUndefined();
  });
});

describe('The annotation doorplate.dev/stop', () => {
  test.each<[string, string, Spec[]]>([
    ['a primary', a, [[b]]],
    ['a redirect source that serves still', a, [[b, a], [b]]],
    ['a hostname in another spelling, among others', `gone.example.com, A.Example.COM.,`, [[b]]],
  ])('ends the service of %s when it leaves the spec', (_, stop, path) => {
    let at = start();
    for (const [primary, ...from] of path) at = become(at, primary, from, {stop});
    expect(hostLines(decide(at)).join()).not.toContain(a);
    expect(objectLines(decide(at)).join()).not.toContain(a);
    expect(accepted(at)?.message).toBe(`${b} may be attached.`);
  });

  test('ends the service of a former primary, and is not undone when it is taken off', () => {
    const stopped = become(become(start(), b), b, [], {stop: a});
    expect(hostLines(decide(stopped)).join()).not.toContain(a);
    expect(hostLines(decide(become(stopped, b, [], {stop: ''}))).join()).not.toContain(a);
  });

  test.each<[string, Spec[], string]>([
    ['the primary', [[a]], `${a} Live Serving Nobody`],
    ['a redirect source', [[b, a]], `${a} Live Serving Nobody`],
  ])('does nothing to %s, and the condition Accepted says so', (_, path, line) => {
    let at = start();
    for (const [primary, ...from] of path) at = become(at, primary, from, {stop: a});
    expect(hostLines(decide(at))).toContain(line);
    expect(isServed(decide(at), a)).toBe(true);
    expect(accepted(at)?.message).toBe(
      `${at.domain.spec.primary} may be attached. The annotation doorplate.dev/stop has no effect on ${a}, because the ` +
        'spec names it. Remove it from the spec, or from the annotation.',
    );
    expect(accepted(at)?.status).toBe('True');
  });

  test.each<[string, string, string]>([
    [
      'a URL',
      'http://a.example.com',
      'The annotation doorplate.dev/stop names "http://a.example.com", which is not a hostname.',
    ],
    [
      'invisible characters',
      'x\u202e\n,b c',
      'The annotation doorplate.dev/stop names "x\\226\\128\\174", which is not a hostname.',
    ],
    [
      'too many characters',
      'a'.repeat(1025),
      'The annotation doorplate.dev/stop is longer than 1,024 characters, so it has no effect.',
    ],
    [
      'too many hostnames',
      `${a},`.repeat(80),
      'The annotation doorplate.dev/stop is longer than 1,024 characters, so it has no effect.',
    ],
  ])('with %s stops nothing, and the condition Accepted says so', (_, stop, says) => {
    const at = become(start(), b, [], {stop});
    expect(hostLines(decide(at))).toContain(kept);
    expect(accepted(at)?.message).toContain(`${b} may be attached. ${says}`);
  });

  test('stops the hostnames beside a bad value', () => {
    const at = become(start(), b, [], {stop: `_, ${a}`});
    expect(hostLines(decide(at)).join()).not.toContain(a);
    expect(accepted(at)?.message).toContain('names "_", which is not a hostname.');
  });
});
