/**
 * Name server addresses that the operator may connect to. Customers write their zones' NS records. Without this list, any customer
 * could direct the operator to addresses inside the cluster.
 */
import {BlockList, isIPv4, isIPv6} from 'node:net';

/** IANA IPv4 Special-Purpose Address Registry (RFC 6890), and multicast. */
const SPECIAL_IPV4: [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/**
 * Ranges within 2000::/3 that are not global. All ranges outside it (mapped IPv4, NAT64, ULA, link-local, ...) are not global
 * either.
 */
const SPECIAL_IPV6: [string, number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const special4 = new BlockList();
for (const [net, prefix] of SPECIAL_IPV4) special4.addSubnet(net, prefix, 'ipv4');
const special6 = new BlockList();
for (const [net, prefix] of SPECIAL_IPV6) special6.addSubnet(net, prefix, 'ipv6');
const unicast6 = new BlockList();
unicast6.addSubnet('2000::', 3, 'ipv6');

/** Whether an address is public; false for text that is not an IP address. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special4.check(address, 'ipv4');
  return isIPv6(address) && unicast6.check(address, 'ipv6') && !special6.check(address, 'ipv6');
}
