/** Addresses and networks in CIDR notation. */
import {BlockList, isIPv4, isIPv6} from 'node:net';

/** Separate lists for each family: a BlockList treats an IPv4-mapped IPv6 address as the IPv4 address. */
interface Networks {
  v4: BlockList;
  v6: BlockList;
}

const known = new WeakMap<readonly string[], Networks>();

function networksOf(listed: readonly string[]): Networks {
  let networks = known.get(listed);
  if (!networks) {
    networks = {v4: new BlockList(), v6: new BlockList()};
    for (const written of listed) {
      const [address = '', prefix] = written.split('/');
      const [list, family, bits] = address.includes(':')
        ? ([networks.v6, 'ipv6', 128] as const)
        : ([networks.v4, 'ipv4', 32] as const);
      list.addSubnet(address, prefix === undefined ? bits : Number(prefix), family);
    }
    known.set(listed, networks);
  }
  return networks;
}

/** Whether an address is in a list of addresses and networks. The list must not change, because it is read once. */
export function isIn(address: string, listed: readonly string[]): boolean {
  if (isIPv4(address)) return networksOf(listed).v4.check(address, 'ipv4');
  return isIPv6(address) && networksOf(listed).v6.check(address, 'ipv6');
}
