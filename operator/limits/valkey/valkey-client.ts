import {createClient} from '@redis/client';

export const newClient = (url: string) =>
  createClient({
    url,
    // A command that cannot be sent fails at once, and FallbackStore handles the failure.
    disableOfflineQueue: true,
    // RESP 3 carries answers and change messages on a single connection.
    RESP: 3,
    socket: {connectTimeout: 2000, reconnectStrategy: (tries) => Math.min(50 * 2 ** Math.min(tries, 6), 1000)},
  });
export type ValkeyClient = ReturnType<typeof newClient>;
