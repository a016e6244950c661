/** The places for hostnames that wait, of all CustomDomains of a tenant. */
import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import type {HostStatus} from '../../../../operator/api/custom-domain.ts';
import {VerificationSlots} from '../../../../operator/controllers/state/verification-slots.ts';
import {isRefusedToWait, isWaiting, strikeWaiting} from '../../../../operator/domain/hostnames/waiting.ts';
import {timestamp} from '../../../../operator/domain/times.ts';
import {domain, enterprise, seconds, t0, tenantOn} from '../../../support/world.ts';

const acme = tenantOn(enterprise);
const [one, two, three] = ['acme/one', 'acme/two', 'acme/three'];

const host = (hostname: string, phase: HostStatus['phase'], reason: string, second = 0): HostStatus => ({
  hostname,
  role: 'RedirectSource',
  phase,
  reason,
  message: '',
  since: timestamp(t0 + second * seconds),
  waitingFor: 'Customer',
});
const waits = (...names: string[]) => names.map((name) => host(name, 'AwaitingVerification', 'RecordMissing'));
const refused = (name: string, second: number) => host(name, 'NotAccepted', 'TooManyWaiting', second);
const verified = (name: string) => host(name, 'Verified', 'OrderQueued');
const expired = (name: string) => host(name, 'AwaitingVerification', 'VerificationExpired');

/** Three places, and the keys that were told. */
function places(): {waiting: VerificationSlots; told: string[]} {
  const waiting = new VerificationSlots(3);
  const told: string[] = [];
  waiting.onChange((key) => told.push(key));
  return {waiting, told};
}

describe('The places of a tenant', () => {
  test('are shared by its CustomDomains, as soon as one is decided', () => {
    const {waiting} = places();
    expect(waiting.of(one, acme)).toEqual({limit: 3, held: new Set(), refused: new Map(), free: 3});
    waiting.note(one, acme, waits('a', 'b'));
    expect(waiting.of(two, acme).free).toBe(1);
    expect(waiting.of(one, acme)).toEqual({limit: 3, held: new Set(['a', 'b']), refused: new Map(), free: 1});
  });

  test('are shared by all namespaces of an Account, and by no other tenant', () => {
    const {waiting} = places();
    waiting.note(one, acme, waits('a', 'b'));
    expect(waiting.of('elsewhere/one', {...acme, namespaceUID: 'another'}).free).toBe(1);
    expect(waiting.of('other/one', tenantOn(enterprise, {account: 'other'})).free).toBe(3);
    expect(waiting.of('own/one', tenantOn(enterprise, {account: undefined})).free).toBe(3);
  });

  test('are left by hostnames that are verified, expired or removed, and with their CustomDomain', () => {
    const {waiting} = places();
    waiting.note(one, acme, waits('a', 'b', 'c'));
    waiting.note(one, acme, [verified('a'), expired('b')]);
    expect(waiting.of(two, acme).free).toBe(3);
    waiting.note(one, acme, waits('a', 'b', 'c'));
    waiting.forget(one);
    expect(waiting.of(two, acme).free).toBe(3);
  });

  test('pass to the new tenant with the Namespace', () => {
    const {waiting} = places();
    const other = tenantOn(enterprise, {account: 'other'});
    waiting.note(one, acme, waits('a', 'b'));
    expect(waiting.of(one, other)).toMatchObject({held: new Set(['a', 'b']), free: 3});
    waiting.note(one, other, waits('a', 'b'));
    expect([waiting.of(two, acme).free, waiting.of(two, other).free]).toEqual([3, 1]);
  });

  test('are known to a process that begins', () => {
    const {waiting} = places();
    const status = {observedGeneration: 1, hosts: [...waits('a', 'b', 'c'), refused('d', 1)]};
    waiting.begin([{...domain({name: 'one', status}), metadata: {...domain().metadata, name: 'one'}}], () => acme);
    expect(waiting.of(two, acme).free).toBe(0);
    expect(waiting.of(one, acme).refused).toEqual(new Map([['d', timestamp(t0 + seconds)]]));
  });
});

describe('A free place', () => {
  test('is for the oldest hostname that was refused: its CustomDomain is told, and no other has it', () => {
    const {waiting, told} = places();
    waiting.note(one, acme, waits('a', 'b', 'c'));
    waiting.note(two, acme, [refused('younger', 2)]);
    waiting.note(three, acme, [refused('older', 1)]);
    expect(told).toEqual([]);
    waiting.note(one, acme, [verified('a'), ...waits('b', 'c')]);
    expect(told).toEqual([three]);
    expect([one, two, three].map((key) => waiting.of(key, acme).free)).toEqual([0, 0, 1]);
  });

  test('is told to the next when the oldest has its own', () => {
    const {waiting, told} = places();
    waiting.note(one, acme, waits('a', 'b', 'c'));
    waiting.note(two, acme, [refused('younger', 2)]);
    waiting.note(three, acme, [refused('older', 1)]);
    waiting.note(one, acme, waits('c'));
    waiting.note(three, acme, waits('older'));
    expect(told).toEqual([three, two]);
    waiting.note(two, acme, waits('younger'));
    expect(told).toEqual([three, two]);
  });

  test('is told once, not with each decision that changes nothing', () => {
    const {waiting, told} = places();
    waiting.note(one, acme, waits('a', 'b', 'c'));
    waiting.note(two, acme, [refused('d', 1)]);
    waiting.note(one, acme, waits('a', 'b'));
    waiting.note(one, acme, waits('a', 'b'));
    expect(told).toEqual([two]);
  });

  test('keeps the time of the first refusal, which may not be published yet', () => {
    const {waiting} = places();
    waiting.note(one, acme, waits('a', 'b', 'c'));
    waiting.note(two, acme, [refused('d', 1)]);
    waiting.note(two, acme, [refused('d', 9)]);
    expect(waiting.of(two, acme).refused.get('d')).toBe(timestamp(t0 + seconds));
  });
});

test('However hostnames come, go and are verified: no more wait than may, no place stays free, and a place is kept', () => {
  const names = ['a', 'b', 'c', 'd'];
  const step = fc.record({
    key: fc.constantFrom(one, two, three),
    name: fc.constantFrom(...names),
    what: fc.constantFrom('add' as const, 'remove' as const, 'verify' as const),
  });
  fc.assert(
    fc.property(fc.array(step, {maxLength: 60}), (steps) => {
      const {waiting, told} = places();
      const spec = new Map([one, two, three].map((key) => [key, new Map<string, HostStatus | undefined>()]));
      const lost: string[] = [];
      let second = 0;
      const decide = (key: string) => {
        const hosts = spec.get(key)!;
        const counted = [...hosts].map(([hostname, before]) => ({hostname, role: 'RedirectSource' as const, before}));
        const struck = strikeWaiting(counted, acme, waiting.of(key, acme));
        for (const [name, before] of hosts) {
          const isNew = before === undefined || isRefusedToWait(before);
          if (!isNew && struck.has(name)) lost.push(name);
          if (!isNew) continue;
          if (!struck.has(name)) hosts.set(name, waits(name)[0]);
          else hosts.set(name, before ?? refused(name, second));
        }
        waiting.note(
          key,
          acme,
          [...hosts.values()].flatMap((entry) => entry ?? []),
        );
      };
      for (const {key, name, what} of steps) {
        second++;
        const hosts = spec.get(key)!;
        if (what === 'add' && !hosts.has(name)) hosts.set(name, undefined);
        if (what === 'remove') hosts.delete(name);
        if (what === 'verify' && isWaiting(hosts.get(name) ?? verified(name))) hosts.set(name, verified(name));
        decide(key);
        for (let woken = told.shift(); woken !== undefined; woken = told.shift()) decide(woken);
        const all = [...spec.values()].flatMap((each) => [...each.values()]).flatMap((entry) => entry ?? []);
        const count = all.filter(isWaiting).length;
        expect(lost).toEqual([]);
        expect(count).toBeLessThanOrEqual(3);
        expect(count === 3 || !all.some(isRefusedToWait)).toBe(true);
      }
    }),
    {numRuns: 500},
  );
});
