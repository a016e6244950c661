/** If-Match: what is changed is what was seen. */
import {expect, test} from '@jest/globals';
import type {CustomDomain} from '../../../../operator/api/foreign.ts';
import {checkIfMatch, etagOf} from '../../../../operator/http/gate/preconditions.ts';
import {Problem} from '../../../../operator/http/problems.ts';

const domain = {metadata: {name: 'web', uid: 'u', generation: 3}} as CustomDomain;

test.each([
  ['the tag of what stands', etagOf(domain), true],
  ['one of several', `"u.2", ${etagOf(domain)}`, true],
  ['the tag made weak, by an edge that compressed the answer', `W/${etagOf(domain)}`, true],
  ['whatever stands', '*', true],
  ['the weak tag of a read', 'W/"u.3.hash"', true],
  ['the tag of before', '"u.2"', false],
  ['the weak tag of a read before', 'W/"u.2.hash"', false],
  ['a tag that only begins like it', '"u.30"', false],
  ['no tag', 'u.3', false],
  ['the tag of before made weak', 'W/"u.2"', false],
  ['that there was none', '"none"', false],
])('If-Match with %s (%s): %s', (_, header, goesOn) => {
  const went = (): boolean => {
    try {
      checkIfMatch(header, domain);
      return true;
    } catch (error) {
      if (!(error instanceof Problem && error.type === 'changed-meanwhile')) throw error;
      return false;
    }
  };
  expect(went()).toBe(goesOn);
});
