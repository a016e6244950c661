import {isIPv4, isIPv6} from 'node:net';

/**
 * Under what a caller without a key is counted: an IPv4 address, or the /64 of an IPv6 one, which is what one customer of a
 * network gets (RFC 6177). An IPv4 address in IPv6 (::ffff:192.0.2.1) counts as IPv4; a zone (%eth0) does not count.
 */
export function networkOf(address: string): string {
  if (isIPv4(address)) return address;
  const [bare = ''] = address.split('%');
  if (!isIPv6(bare)) return 'unknown';
  const groups = groupsOf(bare);
  if (groups.slice(0, 5).every((g) => g === 0) && groups[5] === 0xff_ff) {
    return groups
      .slice(6)
      .flatMap((g) => [g >> 8, g & 0xff])
      .join('.');
  }
  return `${groups
    .slice(0, 4)
    .map((g) => g.toString(16))
    .join(':')}::/64`;
}

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
