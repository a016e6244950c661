/** The header of the PROXY protocol, octet by octet. What a real server makes of it: test/operator/proxy-protocol. */
import {describe, expect, test} from '@jest/globals';
import {proxyHeader} from '../../../operator/edge/proxy-protocol.ts';

const v4 = [
  {address: '192.0.2.1', port: 56324},
  {address: '198.51.100.7', port: 443},
] as const;
const v6 = [
  {address: '2001:db8::1', port: 1},
  {address: '::ffff:198.51.100.7', port: 65535},
] as const;

describe('The header', () => {
  test.each([
    [v4, 'PROXY TCP4 192.0.2.1 198.51.100.7 56324 443\r\n'],
    [v6, 'PROXY TCP6 2001:db8::1 ::ffff:198.51.100.7 1 65535\r\n'],
  ])('of version 1 is a line, %#', ([from, to], expected) => {
    expect(proxyHeader('V1', from, to).toString('latin1')).toBe(expected);
  });

  const [signature, proxy] = ['0d0a0d0a000d0a515549540a', '21'];
  test.each([
    [v4, `${signature}${proxy}11000c c0000201 c6336407 dc04 01bb`],
    [v6, `${signature}${proxy}210024 20010db8000000000000000000000001 00000000000000000000ffffc6336407 0001 ffff`],
    [
      [
        {address: '::1', port: 2},
        {address: 'fe80:1:2:3:4:5:6:7%eth0', port: 3},
      ] as const,
      `${signature}${proxy}210024 00000000000000000000000000000001 fe800001000200030004000500060007 0002 0003`,
    ],
  ])('of version 2 is binary, %#', ([from, to], expected) => {
    expect(proxyHeader('V2', from, to).toString('hex')).toBe(expected.replaceAll(' ', ''));
  });
});
