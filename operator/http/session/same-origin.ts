/** Whether a request that carries the page's cookie, or signs in or out, was sent by the page itself. */
import type {FastifyRequest} from 'fastify';
import {Problem} from '../problems.ts';

const safe: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Throws `cross-site` unless `Origin` is the page's (`origin`; undefined: wherever it was asked for) and `Sec-Fetch-Site`, which
 * every browser of today sends, says so too. A browser sends `Origin` with every request that is not safe (Fetch, 3.1); a safe one
 * that the page sends may have neither.
 */
export function checkSameOrigin(request: FastifyRequest, origin?: string): void {
  if (isSameOrigin(request, origin)) return;
  throw new Problem('cross-site', "Only the page itself may use the page's cookie. Programs send an API key.");
}

/** See {@link checkSameOrigin}. */
export function isSameOrigin(
  {method, headers, host, protocol}: FastifyRequest,
  origin = `${protocol}://${host}`,
): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  return headers.origin === origin || (headers.origin === undefined && safe.has(method));
}
