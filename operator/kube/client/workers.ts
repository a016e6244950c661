/** Number of parallel workers in a process, and the connections that they need. */

/** Default number of keys that a controller reconciles at the same time. */
export const defaultWorkers = 30;

/** Connections for requests outside the workers, such as Events and cache lists. */
const spareConnections = 2;

/**
 * Number of client connections for controllers with this many workers each. A worker normally sends one request at a time. The
 * controllers of a process share the connections.
 */
export const connectionsFor = (workers: number): number => workers + spareConnections;
