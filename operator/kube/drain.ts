import type {Server} from 'node:http';

/** How often connections are looked at, ms. */
const lookMs = 100;

/**
 * Resolves when a server that takes no more connections has `closed`. Meanwhile it ends each connection once it is idle, and after `ms`
 * those that are left. Without this one client holds a process up until it is killed: Node keeps an answered connection for its keep-alive
 * time, and its time-outs for requests that are half sent end with the listening (Node.js: lib/_http_server.js, httpServerPreClose).
 */
export async function drained(server: Server, closed: Promise<unknown>, ms: number): Promise<void> {
  const look = setInterval(() => server.closeIdleConnections(), lookMs);
  const cut = setTimeout(() => server.closeAllConnections(), ms);
  try {
    await closed;
  } finally {
    clearInterval(look);
    clearTimeout(cut);
  }
}
