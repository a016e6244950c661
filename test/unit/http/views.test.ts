/** What the API shows of objects: the words are those of their status. */
import {expect, test} from '@jest/globals';
import type {CustomDomainStatus} from '../../../operator/api/custom-domain.ts';
import {shorterStatuses} from '../../../operator/domain/fit.ts';
import {hostsOf} from '../../../operator/http/views.ts';
import {domain, t0} from '../../support/world.ts';

const spec = domain({redirects: [{from: 'old.example.com'}]});
const lines = (status?: CustomDomainStatus): string[] =>
  hostsOf({...spec, status}).map((h) => `${h.hostname} ${h.role} ${h.phase} ${h.reason} ${h.waitingFor}`);

test('a hostname of which the status says nothing yet is looked at next', () => {
  expect(lines()).toEqual([
    'docs.example.com Primary AwaitingVerification CheckPending Nobody',
    'old.example.com RedirectSource AwaitingVerification CheckPending Nobody',
  ]);
});

test('a hostname of an object that has no room for its status says so, and what to do', () => {
  const [, told] = shorterStatuses({observedGeneration: 1, phase: 'Live'}, undefined, t0);
  expect(lines(told)).toEqual([
    'docs.example.com Primary NotAccepted StatusTooLarge Customer',
    'old.example.com RedirectSource NotAccepted StatusTooLarge Customer',
  ]);
  expect(hostsOf({...spec, status: told})[0]?.message).toContain('Make it smaller');
});
