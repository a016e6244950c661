import type {AddressInfo} from 'node:net';
import {setTimeout as sleep} from 'node:timers/promises';
import type {FastifyInstance} from 'fastify';
import type {ManagedServer} from '../kube/manager.ts';
import {drained} from '../kube/drain.ts';

export interface ListenOptions {
  /** 0 for any free one. */
  port: number;
  make: () => Promise<FastifyInstance>;
  /** Servers with the same lifetime. */
  beside?: readonly ManagedServer[];
  /** Ends what would keep connections open for ever. */
  endStreams: () => void;
  /** When the last answer is out. */
  closed: () => Promise<void>;
  /** How long requests are still answered while the cluster is told to send no more: ms. */
  lingerMs: number;
  /** How long what has begun may then go on: 16 s by default. A change waits 15 s for the operator; a Pod is killed after 30. */
  drainMs?: number;
}

/** Listens, and stops in order: serves on for a moment, ends the streams, lets what has begun finish. */
export function httpServer({
  port,
  make,
  beside = [],
  endStreams,
  closed,
  lingerMs,
  drainMs = 16_000,
}: ListenOptions): ManagedServer & {port: () => number} {
  let server: FastifyInstance | undefined;
  return {
    start: async () => {
      server = await make();
      // No host, as Node means it: both address families, or IPv4 alone on a node without IPv6.
      await Promise.all([server.listen({port, host: ''}), ...beside.map((other) => other.start())]);
    },
    stop: async () => {
      await sleep(lingerMs);
      endStreams();
      await Promise.all([
        server && drained(server.server, server.close(), drainMs),
        ...beside.map((other) => other.stop()),
      ]);
      await closed();
    },
    port: () => (server!.server.address() as AddressInfo).port,
  };
}
