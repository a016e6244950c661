/** Which Events a new status is worth. */
import {describe, expect, test} from '@jest/globals';
import type {HostStatus} from '../../../operator/api/custom-domain.ts';
import type {Condition} from '../../../operator/api/rules.ts';
import {eventOfCondition, eventOfDomain, eventOfProject} from '../../../operator/controllers/status-events.ts';
import {longestNames} from '../../support/longest.ts';

const host = (phase: HostStatus['phase'], reason: string, more: Partial<HostStatus> = {}): HostStatus => ({
  hostname: 'docs.example.com',
  role: 'Primary',
  phase,
  reason,
  message: `says ${reason}`,
  since: '2026-03-01T12:00:00Z',
  waitingFor: 'Nobody',
  ...more,
});
const condition = (type: string, status: Condition['status'], message = ''): Condition => ({
  type,
  status,
  reason: `${type}Reason`,
  message,
  lastTransitionTime: '2026-03-01T12:00:00Z',
});

describe('A host is worth', () => {
  const waits = host('AwaitingVerification', 'RecordMissing');
  const live = host('Live', 'Serving');
  test.each<[situation: string, before: HostStatus | undefined, now: HostStatus, worth: string | undefined]>([
    ['no Event while it has not been checked', undefined, host('AwaitingVerification', 'CheckPending'), undefined],
    ['one after the first check', host('AwaitingVerification', 'CheckPending'), waits, 'Normal RecordMissing'],
    ['no Event when nothing has changed', waits, waits, undefined],
    ['no Event when only the words have changed', waits, {...waits, message: 'other words'}, undefined],
    ['no Event when it waits for something else', waits, host('AwaitingVerification', 'TargetMismatch'), undefined],
    [
      'one when somebody must act',
      host('Verified', 'Issuing'),
      host('Verified', 'IssuanceStalled'),
      'Warning IssuanceStalled',
    ],
    ['one when it is Verified', waits, host('Verified', 'Issuing'), 'Normal Verified'],
    ['one when it is Live', host('Verified', 'Issuing'), live, 'Normal Live'],
    [
      'one when it will be served for the grace time only',
      live,
      {...live, servedUntil: '2026-03-08T12:00:00Z'},
      'Normal Live',
    ],
    ['a Warning when it is refused', waits, host('NotAccepted', 'PlanUpgradeRequired'), 'Warning PlanUpgradeRequired'],
  ])('%s', (_, before, now, worth) => {
    const event = eventOfDomain(before && {hosts: [before]}, {hosts: [now]});
    expect(event && `${event.type} ${event.reason}`).toBe(worth);
    expect(event?.note).toBe(event && now.message);
  });

  test('an Event although nothing becomes of the others', () => {
    const [a, b] = [host('Verified', 'Issuing'), {...host('Verified', 'Issuing'), hostname: 'old.example.com'}];
    const event = eventOfDomain({hosts: [a, b]}, {hosts: [a, {...b, phase: 'Live', reason: 'Serving'}]});
    expect(event).toMatchObject({reason: 'Live', note: b.message});
  });
});

const named = (hostname: string, of: HostStatus): HostStatus => ({...of, hostname});

describe('Several hosts with news at once are worth one Event', () => {
  test('that has the words of the first that needs somebody, and names the others by their reason', () => {
    const [live, stuck] = [host('Live', 'Serving'), host('Verified', 'IssuanceStalled')];
    const hosts = [live, named('a.example', stuck), named('b.example', live), named('c.example', stuck)];
    expect(eventOfDomain(undefined, {hosts})).toEqual({
      type: 'Warning',
      reason: 'IssuanceStalled',
      action: 'Reconcile',
      note: 'says IssuanceStalled Of other hostnames: 2 Live (docs.example.com, b.example); 1 IssuanceStalled (c.example).',
    });
  });

  test('that says how many there are, however many and however long', () => {
    const live = host('Live', 'Serving', {message: 'm'.repeat(2048)});
    const hosts = longestNames.map((hostname) => named(hostname, live));
    const event = eventOfDomain(undefined, {hosts});
    expect(event).toMatchObject({type: 'Normal', reason: 'Live', note: expect.stringContaining(' 500 Live (')});
    expect(event?.note.length).toBeLessThan(1500);
  });
});

test('A Project is worth one Event for all conditions that have become True, Reconciling aside', () => {
  const before = {conditions: [condition('Deployed', 'True'), condition('Ready', 'False')]};
  const now = {
    conditions: ['Deployed', 'RoutesReady', 'Ready', 'Reconciling'].map((type) => condition(type, 'True', `${type}.`)),
  };
  expect(eventOfProject(before, now)).toMatchObject({type: 'Normal', reason: 'Ready', note: 'RoutesReady. Ready.'});
  expect(eventOfProject(undefined, before)).toMatchObject({reason: 'Deployed'});
  expect(eventOfProject(now, now)).toBeUndefined();
});

test('A Project that has become Stalled is worth a Warning with the reason of it', () => {
  const [before, now] = [
    {conditions: [condition('Ready', 'True')]},
    {conditions: [condition('Stalled', 'True', 'why')]},
  ];
  const warning = {type: 'Warning', reason: 'StalledReason', action: 'Reconcile', note: 'why'};
  expect(eventOfProject(before, now)).toEqual(warning);
  expect(eventOfProject(now, now)).toBeUndefined();
});

test('A condition that is False is worth one Warning for each message', () => {
  const [lost, found] = [condition('Ready', 'False', 'there is no plan'), condition('Ready', 'True')];
  const warning = {type: 'Warning', reason: 'ReadyReason', action: 'Reconcile', note: 'there is no plan'};
  expect(eventOfCondition(undefined, [lost])).toEqual(warning);
  expect(eventOfCondition([found], [lost])).toEqual(warning);
  expect([eventOfCondition([lost], [lost]), eventOfCondition([lost], [found])]).toEqual([undefined, undefined]);
});
