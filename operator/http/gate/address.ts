import {isIPv4, isIPv6} from 'node:net';
import {isIn} from '../../domain/networks.ts';

/**
 * An address without the port that some proxies append in X-Forwarded-For (`192.0.2.7:443`, `[2001:db8::1]:443`), and an IPv4 address
 * in IPv6 (`::ffff:192.0.2.7`, as sockets have it) as IPv4.
 */
export const plainAddress = (address: string): string =>
  address
    .replace(/^\[([^\]]*)\](?::\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/^::ffff:(?=\d+\.)/, '');

/**
 * The network that an anonymous caller is counted by: an IPv4 address, or the /64 of an IPv6 address, which is what one customer of a
 * provider gets (RFC 6177). An IPv4 address in IPv6 (::ffff:192.0.2.1) counts as IPv4; port and zone (%eth0) are ignored.
 */
export const networkOf = (address: string): string => prefixOf(address, 64) ?? 'unknown';

/** The /48 of an IPv6 address, which one organisation can have (RFC 6177); undefined for IPv4. */
export function siteOf(address: string): string | undefined {
  const site = prefixOf(address, 48);
  return site?.includes(':') ? site : undefined;
}

function prefixOf(address: string, bits: 48 | 64): string | undefined {
  const plain = plainAddress(address);
  if (isIPv4(plain)) return plain;
  const [bare = ''] = plain.split('%');
  if (!isIPv6(bare)) return undefined;
  const groups = groupsOf(bare);
  if (groups.slice(0, 5).every((g) => g === 0) && groups[5] === 0xff_ff) {
    return groups
      .slice(6)
      .flatMap((g) => [g >> 8, g & 0xff])
      .join('.');
  }
  return `${groups
    .slice(0, bits / 16)
    .map((g) => g.toString(16))
    .join(':')}::/${bits}`;
}

/** A check whether an address is listed or belongs to a listed network. Text that is no address never passes. */
export const within =
  (networks: readonly string[]) =>
  (address: string): boolean =>
    isIn(plainAddress(address), networks);

const numbers = (part: string): number[] =>
  part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));

/** The eight numbers of an IPv6 address (RFC 4291, 2.2). */
function groupsOf(address: string): number[] {
  // The URL parser writes the last 32 bits in hex where they are given as IPv4.
  const plain = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = plain.split('::');
  const [before, after] = [numbers(head), numbers(tail ?? '')];
  return [...before, ...Array.from({length: 8 - before.length - after.length}, () => 0), ...after];
}
