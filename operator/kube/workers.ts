/** How much work a process does at the same time, and the connections that it needs for that. */

/** Keys that a controller reconciles at the same time, unless its options set another number. */
export const defaultWorkers = 30;

/** Requests beside those of the workers, such as Events and the lists of caches. */
const spareConnections = 2;

/**
 * The connections that a client has for controllers with so many workers each. A worker sends one request at a time, as a rule. The
 * controllers of a process share the connections.
 */
export const connectionsFor = (workers: number): number => workers + spareConnections;
