/**
 * A fake: a DNS server that answers every question with one rcode, because no real server does that on demand. Run inside the
 * cluster's network namespace: `failing-dns.ts ADDRESS RCODE`; it ends when its standard input does.
 */
import {createSocket} from 'node:dgram';
import * as packet from 'dns-packet';

const [address = '', rcode = '2'] = process.argv.slice(2);
const socket = createSocket('udp4');
socket.on('message', (query, from) => {
  const {id = 0, questions = []} = packet.decode(query);
  socket.send(
    packet.encode({type: 'response', id, flags: packet.AUTHORITATIVE_ANSWER | Number(rcode), questions}),
    from.port,
    from.address,
  );
});
socket.bind(53, address, () => process.stdout.write('ready\n'));
process.stdin.on('end', () => process.exit(0)).resume();
