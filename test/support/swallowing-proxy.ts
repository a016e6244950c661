import {connect, createServer, type AddressInfo, type Server, type Socket} from 'node:net';

/**
 * A fake network: passes TCP on to a port of loopback until it swallows what comes, on the connections that it has then, as a peer does that
 * has gone without a word. New connections are passed on.
 */
export class SwallowingProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** How many connections there have been. */
  connections = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(to: number): Promise<SwallowingProxy> {
    const server = createServer();
    const proxy = new SwallowingProxy(server);
    server.on('connection', (near) => {
      proxy.connections++;
      const far = connect(to, '127.0.0.1');
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        proxy.#sockets.add(one);
        one.on('error', () => other.destroy());
        one.on('close', () => {
          proxy.#sockets.delete(one);
          other.destroy();
        });
        one.pipe(other);
      }
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** From now on nothing comes out of the connections that there are; none is closed. */
  swallow(): void {
    for (const socket of this.#sockets) {
      socket.unpipe();
      socket.resume();
    }
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
