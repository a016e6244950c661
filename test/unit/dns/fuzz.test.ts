import {expect, test} from '@jest/globals';
import {fuzz} from '../../fuzz/packets.ts';

/** `make faults` sends a million, others each time. */
test('Twenty thousand random and mutated packets end in a bounded message or an Error, each at once', () => {
  const figures = fuzz({packets: 20_000, seed: 1});
  expect(figures.faults).toEqual([]);
  // Neither outcome is all there is: the packets are strange, not senseless.
  expect(figures.decoded).toBeGreaterThan(4000);
  expect(figures.refused).toBeGreaterThan(4000);
});
