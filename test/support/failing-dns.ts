/**
 * A fake: a DNS server that answers every question with one rcode, because no real server does that on demand. Run inside the
 * cluster's network namespace: `failing-dns.ts ADDRESS RCODE`; it ends when its standard input does.
 */
import {createSocket} from 'node:dgram';

const [address = '', rcode = '2'] = process.argv.slice(2);
const socket = createSocket('udp4');
socket.on('message', (query, from) => {
  let end = 12;
  while (end < query.length && query[end] !== 0) end += query[end]! + 1;
  const reply = Buffer.from(query.subarray(0, end + 5));
  reply[2] = 0x84 | (reply[2]! & 0x79);
  reply[3] = Number(rcode);
  reply.fill(0, 6, 12);
  socket.send(reply, from.port, from.address);
});
socket.bind(53, address, () => process.stdout.write('ready\n'));
process.stdin.on('end', () => process.exit(0)).resume();
