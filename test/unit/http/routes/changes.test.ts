import {describe, expect, test} from '@jest/globals';
import {add, makePrimary, put, remove} from '../../../../operator/http/routes/changes.ts';
import type {HostStatus} from '../../../../operator/api/custom-domain.ts';
import type {CustomDomain} from '../../../../operator/api/foreign.ts';
import {timestamp} from '../../../../operator/domain/times.ts';
import {t0} from '../../../support/world.ts';
import {Problem} from '../../../../operator/http/problems.ts';
import type {DomainsOf} from '../../../../operator/http/store/writer.ts';

const one: DomainsOf = {primary: 'www.example.com'};
const two: DomainsOf = {primary: 'www.example.com', redirects: [{from: 'old.example.com', status: 302}]};

function problemOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as Problem).type;
  }
}

describe('Domains', () => {
  test('the first hostname becomes the primary, the next redirects to it', () => {
    expect(add('www.example.com', 301)(undefined)).toEqual(one);
    expect(add('old.example.com', 302)(one)).toEqual(two);
  });

  test('a hostname that is there, in any spelling, cannot be added again', () => {
    expect(problemOf(() => add('www.example.com', 301)({primary: 'WWW.example.com.'}))).toBe('hostname-exists');
    expect(problemOf(() => add('old.example.com', 301)(two))).toBe('hostname-exists');
  });

  test('put adds, sets the status of a redirect, and leaves a primary as it is', () => {
    expect(put('old.example.com', 302)(one)).toEqual(two);
    expect(put('old.example.com', 308)(two)).toEqual({...one, redirects: [{from: 'old.example.com', status: 308}]});
    expect(put('www.example.com', 308)(two)).toEqual(two);
  });

  test('a redirect is removed alone, the last hostname takes all along', () => {
    expect(remove('old.example.com')(two)).toEqual({...one, redirects: []});
    expect(remove('www.example.com')(one)).toBeUndefined();
  });

  test('the primary stays while others redirect to it', () => {
    expect(problemOf(() => remove('www.example.com')(two))).toBe('primary-has-redirects');
  });

  test('make-primary lets two hostnames change places, and changes nothing where it is so already', () => {
    expect(makePrimary('old.example.com')(two)).toEqual({
      primary: 'old.example.com',
      redirects: [{from: 'www.example.com', status: 302}],
    });
    expect(makePrimary('www.example.com')(two)).toEqual(two);
  });

  describe('whose former primary is served still', () => {
    const [was, is] = ['was.example.com', 'is.example.com'];
    const statusOf = (role: HostStatus['role'], phase: HostStatus['phase'] = 'Live'): CustomDomain['status'] => {
      const at = timestamp(t0);
      return {
        observedGeneration: 1,
        hosts: [{hostname: was, role, phase, reason: '', message: '', since: at, liveAt: at, waitingFor: 'Nobody'}],
      };
    };

    test.each<[string, DomainsOf, HostStatus['role']]>([
      [
        'which redirects from now on, before the operator knows',
        {primary: is, redirects: [{from: was, status: 301}]},
        'Primary',
      ],
      [
        'which redirects when the new one is Live',
        {primary: is, redirects: [{from: was, status: 301}]},
        'RedirectSource',
      ],
      ['which the spec no longer names', {primary: is}, 'FormerPrimary'],
    ])('stop its traffic when it is removed, %s', (_, now, role) => {
      expect(remove(was)(now, statusOf(role))).toEqual({primary: is, redirects: [], stop: was});
    });

    test('keep the new primary until the former one is removed', () => {
      expect(problemOf(() => remove(is)({primary: is}, statusOf('FormerPrimary')))).toBe('primary-has-redirects');
    });

    test('add it like any hostname that the spec does not name', () => {
      expect(add(was, 301)({primary: is})).toEqual({primary: is, redirects: [{from: was, status: 301}]});
    });
  });

  test.each([
    ['remove', remove],
    ['make-primary', makePrimary],
  ])('%s of a hostname that is not there is not found', (_, change) => {
    expect(problemOf(() => change('else.example.com')(two))).toBe('not-found');
    expect(problemOf(() => change('else.example.com')(undefined))).toBe('not-found');
  });
});
