import {expect, test} from '@jest/globals';
import {networkOf, siteOf, within} from '../../../../operator/http/gate/address.ts';

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::ffff:c000:207', '192.0.2.7'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['203.0.113.9:443', '203.0.113.9'],
  ['[2001:db8:1:2::1]:443', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::1]', '2001:db8:1:2::/64'],
  ['', 'unknown'],
  ['nonsense', 'unknown'],
])('%s is counted as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test.each([
  ['2001:db8:1:2::1', '2001:db8:1::/48'],
  ['192.0.2.7', undefined],
  ['nonsense', undefined],
])('%s is of the site %s', (address, site) => {
  expect(siteOf(address)).toBe(site);
});

test('An address is in a network with or without a port, and what is no address is in none', () => {
  const isTrusted = within(['10.0.0.0/8', '2001:db8::/32', '192.0.2.1']);
  const inside = ['10.1.2.3', '10.1.2.3:443', '::ffff:10.1.2.3', '2001:db8::1', '[2001:db8::1]:443', '192.0.2.1'];
  expect(inside.filter((address) => !isTrusted(address))).toEqual([]);
  expect(['192.0.2.2', '11.0.0.1:10', '', 'nonsense', '[', '10.1.2.3:x'].filter(isTrusted)).toEqual([]);
});
