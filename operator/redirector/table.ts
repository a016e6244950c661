/** What the redirector answers: a pure function of the table and the request. */
import {STATUS_CODES} from 'node:http';

export interface RedirectRule {
  /** Lower case, no trailing dot; also the rule's key in the table. */
  host: string;
  /** The hostname to go to. */
  to: string;
  status: 301 | 302 | 307 | 308;
}

export interface Response {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** The host of which the table may not know the newest rule. */
  unsure?: string;
}

/**
 * Browsers keep a 301 or 308 for ever by default (RFC 9110, 15.4.2). With this they ask again each time. Otherwise a customer who
 * removes a redirect, or lets it and the primary change places, could not reach the browsers that have seen it.
 */
const PERMANENT_CACHE_CONTROL = 'public, max-age=0, must-revalidate';

/**
 * The answer to a request of any method. `url` is the request target as received, `host` the Host header, `forwardedProto` the
 * X-Forwarded-Proto header of the edge.
 *
 *   ACME challenge path                 404, for every host (rule 7: the solver's own route stands elsewhere)
 *   a rule for the host                 its status, Location: https://<to><path and query, octet for octet>
 *   a rule from https to the same host  421: the edge sends us what it should serve; redirecting would never end
 *   no rule                             404
 *
 * The last two are `unsure`: the edge reads routes apart from the table, so the newest rule may be missing here.
 */
export function answer(
  table: ReadonlyMap<string, RedirectRule>,
  req: {host: string | undefined; url: string; forwardedProto: string | undefined},
): Response {
  const target = pathAndQuery(req.url);
  if (isChallengePath(target)) return plain(404, 'This server answers no ACME challenges.');
  const host = hostname(req.host);
  const rule = table.get(host);
  if (!rule) return {...plain(404, 'This host has no redirect.'), unsure: host};
  if (rule.to === host && isHttps(req.forwardedProto)) return {...plain(421, loops), unsure: host};
  const response = plain(rule.status, STATUS_CODES[rule.status] ?? '');
  const permanent = rule.status === 301 || rule.status === 308;
  return {
    ...response,
    headers: {
      ...response.headers,
      location: `https://${rule.to}${target}`,
      'cache-control': permanent ? PERMANENT_CACHE_CONTROL : 'no-store',
    },
  };
}

const loops =
  'This host redirects to itself: the visitor uses HTTPS, but the request arrived over plain HTTP. If a CDN is in front, ' +
  'have it connect to its origin over HTTPS (Cloudflare: the SSL/TLS mode Full (strict), not Flexible).';

/** By this header of every answer the operator's probe tells who answers: {@link ../edge/probe.ts}. */
export const answeredBy = {name: 'doorplate', value: 'redirector'} as const;

/** A short text that no cache keeps: by default a 404 may be kept (RFC 9110, 15.5.5), and the challenge's route comes any moment. */
export function plain(status: number, text: string): Response {
  const body = `${text}\n`;
  return {
    status,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      'cache-control': 'no-store',
      [answeredBy.name]: answeredBy.value,
    },
    body,
  };
}

/** Lower case, without port and without one trailing dot. */
function hostname(header: string | undefined): string {
  return (header ?? '').toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
}

/**
 * Path and query of a request target (RFC 9112, 3.2): origin-form as it is; of absolute-form what follows the authority; `*` and
 * the rest are `/`. What can't stand in a header field is percent-encoded, so no target adds a header.
 */
function pathAndQuery(url: string): string {
  const path = url.startsWith('/') ? url : (/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*(.*)$/is.exec(url)?.[1] ?? '');
  const rooted = path.startsWith('?') ? `/${path}` : path.startsWith('/') ? path : '/';
  return rooted.replace(/[^\x21-\x7e]/gu, encoded);
}

/** node:http hands over octets as Latin-1. */
function encoded(character: string): string {
  const code = character.codePointAt(0)!;
  const octets = code < 0x100 ? [code] : [...Buffer.from(character)];
  return octets.map((octet) => `%${octet.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

function isHttps(forwardedProto: string | undefined): boolean {
  return forwardedProto?.split(',', 1)[0]?.trim().toLowerCase() === 'https';
}

/** Rounds of percent-decoding that some proxy on the way could do. */
const MOST_DECODINGS = 3;

/**
 * Whether a target means `/.well-known/acme-challenge` or something below it, to whoever might read it next: percent-encoded
 * (also more than once), with dot segments, doubled slashes, backslashes or capitals. Better one 404 too many than a redirect
 * of a challenge.
 */
function isChallengePath(target: string): boolean {
  let path = target.split(/[?#]/, 1)[0]!;
  for (let round = 0; ; round++) {
    if (leadsToChallenge(path)) return true;
    const decoded = path.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    if (decoded === path || round === MOST_DECODINGS) return false;
    path = decoded;
  }
}

function leadsToChallenge(path: string): boolean {
  const segments: string[] = [];
  for (const segment of path.toLowerCase().split(/[/\\]/)) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
    // On the way, too: not every reader resolves dot segments.
    if (segments[0] === '.well-known' && segments[1] === 'acme-challenge') return true;
  }
  return false;
}
