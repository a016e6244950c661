/** Recognizes addresses that a resolver synthesizes for IPv6-only networks: an AAAA that leads to a name's A (RFC 6147). */
import {SocketAddress} from 'node:net';

/** The well-known prefix, behind which the address of IPv4 stands (RFC 6052, 2.1). */
const prefix = '64:ff9b::';

/** Whether an AAAA, in canonical text, was made of one of the A records beside it. */
export const isMade = (aaaa: string, a: readonly string[]): boolean =>
  a.some((address) => new SocketAddress({address: `${prefix}${address}`, family: 'ipv6'}).address === aaaa);
