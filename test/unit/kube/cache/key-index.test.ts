import {expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import {KeyIndex} from '../../../../operator/kube/cache/key-index.ts';

const steps = fc.array(
  fc.record({
    does: fc.constantFrom('add', 'delete'),
    value: fc.constantFrom('a', 'b'),
    key: fc.constantFrom('1', '2', '3'),
  }),
);

test('Whatever is added and deleted, an index gives each key of a value once, as a set for each value would', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const index = new KeyIndex();
      const model = new Map([...'ab'].map((value) => [value, new Set<string>()]));
      for (const {does, value, key} of all) {
        index[does as 'add' | 'delete'](value, key);
        model.get(value)![does as 'add' | 'delete'](key);
        for (const [of, keys] of model) expect(index.of(of).toSorted()).toEqual([...keys].toSorted());
      }
    }),
  );
});
