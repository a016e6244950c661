/**
 * A fake edge, in place of an ingress controller that did not reload: it presents one certificate for every server name, whatever is issued
 * later. Reads `{"cert": PEM, "key": PEM}` as one line, listens at port 443 of an address, and ends with its input.
 *
 *   node test/support/stale-edge.ts ADDRESS
 */
import {createInterface} from 'node:readline';
import {createServer} from 'node:tls';

const [, , address = ''] = process.argv;
const input = createInterface({input: process.stdin});
input.once('line', (line) => {
  const server = createServer(JSON.parse(line) as {cert: string; key: string}, (socket) => socket.end());
  server.listen(443, address, () => process.stdout.write('listens\n'));
});
input.once('close', () => process.exit(0));
