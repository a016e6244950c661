/** DNS64 for networks with IPv6 only: a resolver synthesizes AAAA records from a name's A records (RFC 6147). */
import {SocketAddress} from 'node:net';

/** The well-known prefix, followed by the IPv4 address (RFC 6052, 2.1). */
const prefix = '64:ff9b::';

/** Whether an AAAA address, in canonical text, was synthesized from one of the given A addresses. */
export const isMade = (aaaa: string, a: readonly string[]): boolean =>
  a.some((address) => new SocketAddress({address: `${prefix}${address}`, family: 'ipv6'}).address === aaaa);
