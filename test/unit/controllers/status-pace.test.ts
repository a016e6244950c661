import {afterEach, beforeEach, describe, expect, jest, test} from '@jest/globals';
import type {CustomDomainStatus} from '../../../operator/api/custom-domain.ts';
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
