/** Connections to an edge that stands behind a load balancer, and takes them with a header of the PROXY protocol alone. */
import {connect, isIPv6, type Socket} from 'node:net';

/** Versions of its header; `None`: without one. */
export type ProxyProtocol = 'None' | 'V1' | 'V2';

/** The first bytes of a version 2 header. */
const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');

interface End {
  /** An IP address; for a destination a hostname is allowed, too. */
  address: string;
  port: number;
}

/**
 * The header that says who has connected to whom, both by addresses of one family (haproxy.org, proxy-protocol.txt: 2.1 is version 1,
 * a line of text; 2.2 is version 2: the command PROXY over TCP).
 */
export function proxyHeader(version: Exclude<ProxyProtocol, 'None'>, from: End, to: End): Buffer {
  const is6 = isIPv6(from.address);
  if (version === 'V1')
    return Buffer.from(`PROXY TCP${is6 ? 6 : 4} ${from.address} ${to.address} ${from.port} ${to.port}\r\n`, 'latin1');
  const ends = [from, to].map(({address}) => (is6 ? octets6(address) : Buffer.from(address.split('.').map(Number))));
  const rest = Buffer.alloc(4);
  rest.writeUInt16BE(from.port);
  rest.writeUInt16BE(to.port, 2);
  const body = Buffer.concat([...ends, rest]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(body.length);
  return Buffer.concat([signature, Buffer.from([0x21, is6 ? 0x21 : 0x11]), length, body]);
}

/** The 16 octets of an IPv6 address as the kernel writes it: an IPv4 address may stand at its end. */
function octets6(address: string): Buffer {
  const [bare = ''] = address.split('%');
  const [head = [], tail] = bare.split('::').map((half) => (half === '' ? [] : half.split(':').flatMap(groups)));
  const missing = 8 - head.length - (tail?.length ?? 0);
  const all = tail === undefined ? head : [...head, ...Array.from({length: missing}, () => 0), ...tail];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}

function groups(written: string): number[] {
  if (!written.includes('.')) return [Number.parseInt(written, 16)];
  const [a = 0, b = 0, c = 0, d = 0] = written.split('.').map(Number);
  return [(a << 8) | b, (c << 8) | d];
}

/**
 * Connects, and sends the header first. Calls `opened` when what follows may be sent. Errors are events of the socket, which is
 * given at once.
 */
export function open({address, port}: End, version: ProxyProtocol, opened: (socket: Socket) => void): Socket {
  const socket = connect({host: address, port});
  socket.once('connect', () => {
    const {localAddress = '', localPort = 0, remoteAddress = '', remotePort = 0} = socket;
    if (version !== 'None')
      socket.write(
        proxyHeader(version, {address: localAddress, port: localPort}, {address: remoteAddress, port: remotePort}),
      );
    opened(socket);
  });
  return socket;
}
