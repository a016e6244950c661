import {createClient} from '@redis/client';

export const newClient = (url: string) =>
  createClient({
    url,
    // What cannot be sent fails at once: FallbackStore knows what to do.
    disableOfflineQueue: true,
    // One connection answers and tells of changes.
    RESP: 3,
    socket: {connectTimeout: 2000, reconnectStrategy: (tries) => Math.min(50 * 2 ** Math.min(tries, 6), 1000)},
  });
export type ValkeyClient = ReturnType<typeof newClient>;
