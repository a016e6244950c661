/** When the operator asks, what it tells, and when it is quiet. */
import {afterEach, expect, test} from '@jest/globals';
import {setTimeout as wait} from 'node:timers/promises';
import {eventOfAnswer, Preflight} from '../../../operator/preflight/preflight.ts';
import type {PreflightWorld} from '../../../operator/preflight/question.ts';
import type {Answered} from '../../../operator/preflight/questions.ts';
import {eventually} from '../../support/kube-api.ts';

let preflight: Preflight;
let asked: number;
/** What it asked. */
let which: ('All' | 'Repeated')[];
/** When it asked, ms. */
let times: number[];
let told: string[];
afterEach(() => preflight.stop());

const answer = (name: string, outcome: Answered['outcome']): Answered => ({
  name,
  outcome,
  asked: `Is the ${name} there?`,
  seen: 'Something',
  ...(outcome !== 'ok' && {remedy: 'Set it.'}),
});

/** `rounds`: the answers of each time that it asks; the last for all that follow. */
function begin(
  rounds: readonly Answered[][],
  {ready = Promise.resolve(), pauseMs = 1, repeatMs = 3_600_000} = {},
): void {
  asked = 0;
  times = [];
  which = [];
  told = [];
  preflight = new Preflight({
    world: {} as PreflightWorld,
    ready,
    tell: ({name}) => told.push(name),
    ask: async (_, __, only) => {
      times.push(performance.now());
      which.push(only ?? 'All');
      return rounds[Math.min(asked++, rounds.length - 1)]!;
    },
    pauseMs,
    repeatMs,
  });
  preflight.begin();
}
const known = (): object => Object.fromEntries(preflight.known());

test('It asks once where nothing fails, whatever is unknown', async () => {
  begin([[answer('dns', 'ok'), answer('acme', 'unknown')]]);
  await eventually(async () => asked > 0);
  await wait(50);
  expect({asked, told, known: known()}).toEqual({asked: 1, told: [], known: {dns: true}});
});

test('It asks until nothing fails, and tells once of what does, and again when that fails anew', async () => {
  const [bad, well] = [answer('dns', 'failed'), answer('dns', 'ok')];
  const [other, fine] = [answer('edge', 'failed'), answer('edge', 'ok')];
  begin([
    [bad, fine],
    [bad, fine],
    [well, other],
    [bad, other],
    [well, fine],
  ]);
  await eventually(async () => asked === 5);
  await wait(50);
  expect({asked, told, known: known()}).toEqual({
    asked: 5,
    told: ['dns', 'edge', 'dns'],
    known: {dns: true, edge: true},
  });
});

test('It asks only what can change again while nothing fails, keeps the other answers, and asks all once that fails', async () => {
  const [dns, well, bad] = [answer('dns', 'ok'), answer('ari', 'ok'), answer('ari', 'failed')];
  begin([[dns, answer('ari', 'unknown')], [well], [bad], [dns, bad], [dns, well], [well]], {repeatMs: 1});
  await eventually(async () => asked >= 6);
  preflight.stop();
  expect(which.slice(0, 6)).toEqual(['All', 'Repeated', 'Repeated', 'All', 'All', 'Repeated']);
  expect({told, known: known()}).toEqual({told: ['ari'], known: {dns: true, ari: true}});
});

test('It waits twice as long each time', async () => {
  begin([[answer('dns', 'failed')]], {pauseMs: 20});
  await eventually(async () => times.length > 3);
  const pauses = times.slice(1, 4).map((at, i) => at - times[i]!);
  // A timer may fire a moment early.
  expect(pauses.map((pause, i) => pause > 20 * 2 ** i - 2)).toEqual([true, true, true]);
  expect(known()).toEqual({dns: false});
});

test('It asks nothing before the addresses of the edge are known, and nothing once it is stopped', async () => {
  const {promise: ready, resolve} = Promise.withResolvers<void>();
  begin([[answer('edge', 'failed')]], {ready});
  await wait(20);
  expect(asked).toBe(0);
  preflight.stop();
  resolve();
  await wait(20);
  expect({asked, told}).toEqual({asked: 0, told: []});
});

test('An Event says what was asked, what was seen and what to set', () => {
  expect(eventOfAnswer(answer('edge', 'failed'))).toMatchObject({
    type: 'Warning',
    reason: 'PreflightFailed',
    note: 'Is the edge there? No: Something. Set it.',
  });
});
