import {createSocket} from 'node:dgram';
import {once} from 'node:events';
import {createServer} from 'node:net';

/** Below the ports that the kernel gives to whoever asks for any (ip_local_port_range): no connection of anybody takes one meanwhile. */
const first = 11_000;
/** Each process has a block of its own, by its PID: two that look for a port at a time do not find the same. */
const [blocks, blockSize] = [64, 256];
let given = 0;

/** Ports that nobody listens on, by TCP and UDP, and that this process has not been given before. For a server that can't be told 0. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let tried = 0; ports.length < count; tried++) {
    if (tried > blockSize) throw new Error('no free port: is something of an earlier run left? See `ss -lntup`');
    const port = first + (process.pid % blocks) * blockSize + (given++ % blockSize);
    if (await isFree(port)) ports.push(port);
  }
  return ports;
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
