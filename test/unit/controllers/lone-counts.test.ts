/** The numbers of hostnames in a status that a release without them has written. */
import {expect, test} from '@jest/globals';
import {withoutLoneCounts} from '../../../operator/controllers/custom-domain.ts';
import {decide} from '../../../operator/domain/lifecycle.ts';
import {refuted, served, settled, world} from '../../support/world.ts';

const old = 'old.example.com';
const half = settled(world({redirects: [{from: old}], facts: {'docs.example.com': served(), [old]: refuted()}}));
const {status} = decide(half);
const {attachedHostnames: _, liveHostnames: __, ...older} = status;

test('After an upgrade, a status that lacks the numbers alone stays as it is', () => {
  expect([status.attachedHostnames, status.liveHostnames]).toEqual([2, 1]);
  expect(withoutLoneCounts(status, older)).toEqual(older);
});

test('After an upgrade, the next change of a status brings the numbers', () => {
  expect(withoutLoneCounts(status, {...older, observedGeneration: 7})).toBe(status);
});

test('A status with other numbers is written, and so is the first status of an object', () => {
  expect(withoutLoneCounts(status, {...status, liveHostnames: 2})).toBe(status);
  expect(withoutLoneCounts(status, undefined)).toBe(status);
});
