import type {AddressInfo} from 'node:net';
import {setTimeout as sleep} from 'node:timers/promises';
import type {FastifyInstance} from 'fastify';
import type {Server} from '../kube/manager.ts';

export interface ListenOptions {
  /** 0 for any free one. */
  port: number;
  make: () => Promise<FastifyInstance>;
  /** What listens as long as it does. */
  beside?: readonly Server[];
  /** Ends what would keep connections open for ever. */
  endStreams: () => void;
  /** When the last answer is out. */
  closed: () => Promise<void>;
  /** How long requests are still answered while the cluster is told to send no more: ms. */
  lingerMs: number;
}

/** Listens, and stops in order: serves on for a moment, ends the streams, lets what has begun finish. */
export function httpServer({
  port,
  make,
  beside = [],
  endStreams,
  closed,
  lingerMs,
}: ListenOptions): Server & {port: () => number} {
  let server: FastifyInstance | undefined;
  return {
    start: async () => {
      server = await make();
      await Promise.all([server.listen({port, host: '::'}), ...beside.map((other) => other.start())]);
    },
    stop: async () => {
      await sleep(lingerMs);
      endStreams();
      await Promise.all([server?.close(), ...beside.map((other) => other.stop())]);
      await closed();
    },
    port: () => (server!.server.address() as AddressInfo).port,
  };
}
