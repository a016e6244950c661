/** Whether a request that carries the page's cookie, and changes something, was sent by the page itself. */
import type {FastifyRequest} from 'fastify';
import {Problem} from '../problems.ts';

const safe: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Throws `cross-site` unless `Origin` is the page's (`origin`; undefined: wherever it was asked for) and `Sec-Fetch-Site`, which
 * every browser of today sends, says so too. A browser sends `Origin` with every request that is not safe (Fetch, 3.1), so one
 * without it is no page's.
 */
export function checkSameOrigin(
  {method, headers, host, protocol}: FastifyRequest,
  origin = `${protocol}://${host}`,
): void {
  if (safe.has(method)) return;
  const site = headers['sec-fetch-site'];
  if (headers.origin === origin && (site === undefined || site === 'same-origin')) return;
  throw new Problem(
    'cross-site',
    "Only the page itself may change anything with the page's cookie. Programs send an API key.",
  );
}
