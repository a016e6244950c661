import {expect, test} from '@jest/globals';
import {requestValue} from '../../../operator/controllers/custom-domain.ts';

const [ours, flux] = ['doorplate.dev/requestedAt', 'reconcile.fluxcd.io/requestedAt'] as const;
const asked = (annotations?: Record<string, string>) => requestValue({metadata: {name: 'docs', annotations}});

test.each([
  ['in UTC both', '2026-11-24T17:00:00Z', '2026-11-24T17:00:01Z', 'flux'],
  ['as text the earlier', '2026-11-24T17:30:00.000Z', '2026-11-24T18:00:00.123456789+01:00', 'ours'],
  ['as text the later', '2026-11-24T17:30:00.000Z', '2026-11-24T13:00:00.5-05:00', 'flux'],
  ['within a second', '2026-11-24T17:00:00Z', '2026-11-24T17:00:00.5Z', 'flux'],
  ['no time', '2026-11-24T17:00:00Z', 'please', 'ours'],
])('Of two times at which a check is asked for the later counts: %s', (_, byUs, byFlux, later) => {
  expect(asked({[ours]: byUs, [flux]: byFlux})).toBe(later === 'ours' ? byUs : byFlux);
});

test('Of one annotation any value counts; of none, or an empty one, nothing', () => {
  expect([asked({[ours]: 'now'}), asked({[flux]: 'now'}), asked({[ours]: '', [flux]: 'now'})]).toEqual([
    'now',
    'now',
    'now',
  ]);
  expect([asked(), asked({}), asked({[ours]: ''})]).toEqual([undefined, undefined, undefined]);
});
