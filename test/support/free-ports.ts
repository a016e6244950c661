import {randomInt} from 'node:crypto';
import {createSocket} from 'node:dgram';
import {once} from 'node:events';
import {createServer} from 'node:net';

/** Below the ports that the kernel gives to whoever asks for any (ip_local_port_range): no connection of anybody takes one meanwhile. */
const first = 11_000;
const size = 16_384;
let next = randomInt(size);

/** Ports that nobody listens on, by TCP and UDP, and that nobody else is given while this process runs. For a server that can't be told 0. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let tried = 0; ports.length < count; tried++) {
    if (tried > size) throw new Error('no free port: is something of an earlier run left? See `ss -lntup`');
    const port = first + (next++ % size);
    if ((await reserve(port)) && (await isFree(port))) ports.push(port);
  }
  return ports;
}

/** Whether it is this process' from now on: it holds a socket of that name, in Linux's own space of names, which is no file and goes with it. */
async function reserve(port: number): Promise<boolean> {
  const name = createServer().unref();
  try {
    name.listen(`\0doorplate-test-port-${port}`);
    await once(name, 'listening');
    return true;
  } catch {
    return false;
  }
}

export async function freePort(): Promise<number> {
  return (await freePorts(1))[0]!;
}

async function isFree(port: number): Promise<boolean> {
  const [tcp, udp] = [createServer(), createSocket('udp4')];
  try {
    tcp.listen({port, host: '0.0.0.0', exclusive: true});
    await once(tcp, 'listening');
    udp.bind({port, address: '0.0.0.0', exclusive: true});
    await once(udp, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    await Promise.all([
      new Promise((resolve) => tcp.close(resolve)),
      new Promise<void>((resolve) => udp.close(resolve)),
    ]);
  }
}
