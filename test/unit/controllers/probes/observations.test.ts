import {afterEach, beforeEach, expect, jest, test} from '@jest/globals';
import {
  dnsKey,
  edgeKey,
  forget,
  issuanceKey,
  type Observations,
  schedule,
} from '../../../../operator/controllers/probes/observations.ts';
import {Observer} from '../../../../operator/controllers/probes/observer.ts';
import type {Look} from '../../../../operator/domain/world.ts';
import {domain, seconds, t0, target} from '../../../support/world.ts';

let begun: string[];
let looks: Observations;
const hostname = 'docs.example.com';
const question = {hostname, target, token: 'token'};
const attempt = {id: 'attempt-1', namespace: 'acme', request: 'uid-request'};
const dnsLook = (at: number): Look => ({what: 'dns', hostname, question, at, caa: true});
const owner = 'acme/docs';

/** An observer whose looks give what they were asked. */
function observer<Q, R, K extends string>(kind: string): Observer<Q, R, K> {
  const look = async (asked: Q) => {
    begun.push(kind);
    return asked as unknown as R;
  };
  return new Observer<Q, R, K>({
    look: (questions) => questions.map(look),
    onError: () => {},
    subject: () => hostname,
    queue: {seats: 10, share: 10, spare: 0},
  });
}

beforeEach(() => {
  jest.useFakeTimers({now: t0});
  begun = [];
  looks = {dns: observer('dns'), edge: observer('edge'), issuance: observer('issuance')};
});
afterEach(() => {
  for (const one of Object.values(looks)) one.stop();
  jest.useRealTimers();
});

/** Has these looks made, and gives what is known by each. */
async function seen(wanted: readonly Look[]): Promise<unknown[]> {
  schedule(looks, domain(), 'acme', wanted);
  await jest.advanceTimersByTimeAsync(10 * seconds);
  const {dns, edge, issuance} = looks;
  const found = [
    dns.latest(owner, dnsKey(question)),
    edge.latest(owner, edgeKey(hostname)),
    issuance.latest(owner, issuanceKey(hostname, attempt.id)),
  ];
  return found.map((one) => one?.result);
}

test('Each look is made of its own kind, with what it asks', async () => {
  const edge: Look = {what: 'edge', hostname, whoAnswers: true, at: t0};
  expect(await seen([dnsLook(t0), edge, {what: 'issuance', hostname, attempt, at: t0}])).toEqual([
    {...question, caa: true},
    {hostname, whoAnswers: true},
    {...attempt, owner: 'uid-domain'},
  ]);
});

test('A look that is not to be made again is remembered, and one that nobody waits for is forgotten', async () => {
  await seen([dnsLook(t0)]);
  expect((await seen([dnsLook(Infinity)]))[0]).toEqual({...question, caa: true});
  expect(begun).toEqual(['dns']);
  expect((await seen([]))[0]).toBeUndefined();
});

test('A look that was due, and is not to be made any more, is not made', async () => {
  schedule(looks, domain(), 'acme', [dnsLook(t0 + 5 * seconds)]);
  expect((await seen([dnsLook(Infinity)]))[0]).toBeUndefined();
  expect(begun).toEqual([]);
});

test('Of another target or token nothing is known yet', async () => {
  await seen([dnsLook(t0)]);
  expect(looks.dns.latest(owner, dnsKey({...question, token: 'other'}))).toBeUndefined();
  expect(looks.dns.latest(owner, dnsKey({...question, target: 'other.test'}))).toBeUndefined();
});

test('All looks of a CustomDomain that is gone are forgotten', async () => {
  await seen([dnsLook(t0)]);
  forget(looks, owner);
  expect(looks.dns.latest(owner, dnsKey(question))).toBeUndefined();
});
