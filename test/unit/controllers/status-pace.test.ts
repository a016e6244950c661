import {afterEach, beforeEach, describe, expect, jest, test} from '@jest/globals';
import type {CustomDomainStatus} from '../../../operator/api/custom-domain.ts';
import {isAboutEdge} from '../../../operator/domain/status/publishing.ts';
import {StatusPace} from '../../../operator/controllers/status-pace.ts';
import {domain, t0} from '../../support/world.ts';

const docs = 'docs.example.com';
const status = (reason: string): CustomDomainStatus =>
  ({observedGeneration: 1, hosts: [{hostname: docs, role: 'Primary', phase: 'Verified', reason}]}) as never;
const web = {...domain(), status: status('Issuing')};

beforeEach(() => {
  jest.useFakeTimers({now: t0});
});
afterEach(() => {
  jest.useRealTimers();
});

describe('A transient status', () => {
  const plan = {status: status('Retrying'), passing: [docs]};

  test('is published when it has lasted, and no sooner', () => {
    const pace = new StatusPace({patienceMs: 1000});
    expect([0, 400, 999, 1000].map((ms) => pace.waits(web, plan, t0 + ms))).toEqual([1000, 600, 1, 0]);
  });

  test('that another one follows in time is never published', () => {
    const pace = new StatusPace({patienceMs: 1000});
    expect(pace.waits(web, plan, t0)).toBe(1000);
    expect(pace.waits(web, {status: status('Serving'), passing: []}, t0 + 500)).toBe(0);
    expect(pace.waits(web, plan, t0 + 5000)).toBe(1000);
  });
});

test('a status that was published is replaced after a pause for each of its hostnames', () => {
  const pace = new StatusPace({retentionMs: 40});
  pace.published({...web, status: {...web.status, hosts: Array.from({length: 5}, () => web.status.hosts![0]!)}});
  const plan = {status: status('Serving'), passing: []};
  expect(pace.waits(web, plan, t0)).toBe(200);
  jest.advanceTimersByTime(200);
  expect(pace.waits(web, plan, t0)).toBe(0);
});

const live = (reason: string, name = docs): CustomDomainStatus =>
  ({observedGeneration: 1, hosts: [{hostname: name, role: 'Primary', phase: 'Live', reason, since: ''}]}) as never;

const faulty = (i: number) => ({status: live('EdgeUnreachable', `h${i}.example.com`), passing: []});

describe('A fault of the edge', () => {
  const domains = Array.from({length: 5}, (_, i) => ({
    ...domain({name: `site-${i}`}),
    status: live('Serving', `h${i}.example.com`),
  }));

  test('is published for one object after the other, all other news at once', () => {
    const pace = new StatusPace({edgePerSecond: 10, retentionMs: 0});
    const waits = () => domains.map((one, i) => pace.waits(one, faulty(i), Date.now()));
    expect(waits()).toEqual([0, 100, 200, 300, 400]);
    expect(pace.waits(web, {status: status('Retrying'), passing: []}, Date.now())).toBe(0);
    jest.advanceTimersByTime(200);
    // A status keeps its turn. After a stall of the process, only one late status is published at once.
    expect(waits()).toEqual([0, 300, 400, 100, 200]);
  });

  test('and its end are news about the edge, a change of anything else beside it is not', () => {
    const one = {...domain(), status: live('EdgeUnreachable')};
    expect(isAboutEdge(one, {status: live('Serving'), passing: []})).toBe(true);
    expect(isAboutEdge(one, {status: live('EdgeUnreachable'), passing: []})).toBe(true);
    expect(isAboutEdge(one, {status: live('DNSDrifted'), passing: []})).toBe(true);
    expect(isAboutEdge(web, {status: live('Serving'), passing: []})).toBe(false);
    expect(isAboutEdge(one, {status: {...live('Serving'), lastHandledReconcileAt: 'now'}, passing: []})).toBe(false);
  });
});
