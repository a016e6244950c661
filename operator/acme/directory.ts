import {request} from 'node:https';
import {rootCertificates} from 'node:tls';
import type {Hostname} from '../domain/hostname.ts';
import {normalise} from '../domain/hostname.ts';

/** A directory is a page of JSON; Let's Encrypt's has 1 kB. */
const longestDirectory = 65_536;
const mostIdentities = 16;

/**
 * The names by which an ACME server refers to itself in CAA records: `meta.caaIdentities` of its directory (RFC 8555, 7.1.1), in
 * normal form, sorted; empty where it names none. `caBundle`: PEM, trusted besides the public roots. Follows no redirect. Throws
 * where the directory can't be had within `timeoutMs` over HTTPS, or is none.
 */
export async function caaIdentities(
  server: string,
  {caBundle, timeoutMs = 10_000, signal}: {caBundle?: string; timeoutMs?: number; signal?: AbortSignal} = {},
): Promise<Hostname[]> {
  const url = new URL(server);
  // RFC 8555, 6.1.
  if (url.protocol !== 'https:') throw new Error(`${server}: an ACME directory is served over HTTPS`);
  const deadline = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
  const text = await get(url, [...rootCertificates, ...(caBundle === undefined ? [] : [caBundle])], deadline);
  const directory = JSON.parse(text) as {meta?: {caaIdentities?: unknown}} | null;
  const named = directory?.meta?.caaIdentities ?? [];
  if (!Array.isArray(named)) throw new Error(`${server}: meta.caaIdentities is no list`);
  return [
    ...new Set(
      named.slice(0, mostIdentities).flatMap((n: unknown) => (typeof n === 'string' ? (normalise(n) ?? []) : [])),
    ),
  ].toSorted();
}

function get(url: URL, ca: string[], signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const req = request(
      url,
      {ca, signal, agent: false, headers: {accept: 'application/json', 'user-agent': 'doorplate'}},
      (res) => {
        if (res.statusCode !== 200) {
          res.destroy();
          reject(new Error(`${url.href}: answered ${res.statusCode}`));
          return;
        }
        const chunks: Buffer[] = [];
        let length = 0;
        res.on('data', (chunk: Buffer) => {
          length += chunk.length;
          if (length > longestDirectory) res.destroy(new Error(`${url.href}: more than ${longestDirectory} bytes`));
          else chunks.push(chunk);
        });
        res.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
        res.once('error', reject);
        res.once('close', () => reject(new Error(`${url.href}: the answer was cut`)));
      },
    );
    req.once('error', reject);
    req.end();
  });
}
