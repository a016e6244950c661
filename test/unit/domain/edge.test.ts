import {expect, test} from '@jest/globals';
import {seenOnEdge} from '../../../operator/domain/edge.ts';

test.each([
  ['192.0.2.1', 'The edge at 192.0.2.1:443 does not answer'],
  ['2001:db8::1', 'The edge at [2001:db8::1]:443 does not answer'],
])('The address %s of an edge is told as in a URL', (address, expected) => {
  const edge = [{edge: {address, port: 443}, unreachable: 'connection refused'}];
  expect(seenOnEdge('www.example.com', {name: 'c', ready: true, issuing: false, leafSha256: 'a'}, edge)).toMatchObject({
    kind: 'EdgeUnreachable',
    message: expect.stringContaining(expected),
  });
});
