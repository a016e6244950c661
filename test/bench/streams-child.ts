/**
 * Reads event streams, and tells the process that started it how many bytes and events came: `node streams-child.ts PORT PATH STREAMS TOKEN...`.
 * Each token opens ten.
 */
import {request} from 'node:http';

const [port, path, streams, ...tokens] = process.argv.slice(2) as [string, string, string, ...string[]];
let [open, bytes, events] = [0, 0, 0];

for (let i = 0; i < Number(streams); i++) {
  const authorization = `Bearer ${tokens[Math.floor(i / 10)]}`;
  request({host: '127.0.0.1', port, path, agent: false, headers: {authorization}}, (response) => {
    if (response.statusCode !== 200) throw new Error(`a stream was answered ${response.statusCode}`);
    open++;
    if (open === Number(streams)) process.send?.('open');
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (chunk.includes('event: domains\n')) events++;
    });
  }).end();
}
process.on('message', () => process.send?.({bytes, events}));
