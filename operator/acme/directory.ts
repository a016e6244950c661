import {getCACertificates} from 'node:tls';
import {Agent, type Dispatcher, ProxyAgent, request} from 'undici';
import type {Hostname} from '../domain/hostnames/hostname.ts';
import {normalise} from '../domain/hostnames/hostname.ts';

/** A directory is a page of JSON; Let's Encrypt's has 1 kB. */
const longestDirectory = 65_536;
const mostIdentities = 16;

export interface DirectoryOptions {
  /** PEM, trusted besides the public roots and NODE_EXTRA_CA_CERTS. */
  caBundle?: string | undefined;
  /** The proxy to the server; default: a direct connection. */
  proxy?: URL | undefined;
  timeoutMs?: number;
  signal?: AbortSignal;
}

/** Of RFC 8555, 7.1.1, what is read; nothing of it is certain. */
export interface Directory {
  newOrder?: unknown;
  meta?: {caaIdentities?: unknown};
}

/**
 * The directory of an ACME server. Follows no redirect. Throws where it can't be had within `timeoutMs` over HTTPS, or is no JSON.
 */
export async function readDirectory(
  server: string,
  {caBundle, proxy, timeoutMs = 10_000, signal}: DirectoryOptions = {},
): Promise<Directory> {
  const url = new URL(server);
  // RFC 8555, 6.1.
  if (url.protocol !== 'https:') throw new NoDirectoryError(`${server}: an ACME directory must be served over HTTPS`);
  const deadline = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
  const tls = {allowH2: false, ...(caBundle !== undefined && {ca: [...getCACertificates('default'), caBundle]})};
  const dispatcher = proxy ? new ProxyAgent({uri: proxy.href, requestTls: tls}) : new Agent({connect: tls});
  const text = await get(url, dispatcher, deadline).finally(() => dispatcher.destroy());
  return (JSON.parse(text) as Directory | null) ?? {};
}

/**
 * The names by which an ACME server refers to itself in CAA records: `meta.caaIdentities` of its directory (RFC 8555, 7.1.1), in
 * normal form, sorted; empty where it names none. Throws where the directory can't be read, or is none.
 */
export async function caaIdentities(server: string, options: DirectoryOptions = {}): Promise<Hostname[]> {
  const directory = await readDirectory(server, options);
  const named = directory.meta?.caaIdentities ?? [];
  if (!Array.isArray(named)) throw new Error(`${server}: meta.caaIdentities is no list`);
  return [
    ...new Set(
      named.slice(0, mostIdentities).flatMap((n: unknown) => (typeof n === 'string' ? (normalise(n) ?? []) : [])),
    ),
  ].toSorted();
}

/** Whatever the server answers, it is no directory. */
class NoDirectoryError extends Error {
  override readonly name = 'NoDirectoryError';
}

/** The server answered, with another status than 200. */
class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly status: number;

  constructor(url: URL, status: number) {
    super(`${url.href}: answered ${status}`);
    this.status = status;
  }
}

/**
 * Whether an ACME server works, as far as its directory shows. Only server errors, and no answer in time, show that it does not: a refusal
 * is an answer.
 */
export async function answers(server: string, options: DirectoryOptions = {}): Promise<boolean> {
  try {
    await readDirectory(server, options);
    return true;
  } catch (error) {
    if (error instanceof RefusedError) return error.status < 500;
    // It answered with something else than a directory.
    return error instanceof SyntaxError || error instanceof NoDirectoryError;
  }
}

async function get(url: URL, dispatcher: Dispatcher, signal: AbortSignal): Promise<string> {
  const headers = {accept: 'application/json', 'user-agent': 'doorplate'};
  const {statusCode, body} = await request(url, {dispatcher, signal, headers});
  // The connection goes with the request, and says so to whoever does not read on.
  body.on('error', () => {});
  if (statusCode !== 200) throw new RefusedError(url, statusCode);
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > longestDirectory) break;
      chunks.push(chunk);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(`${url.href}: the answer was cut`, {cause: error});
  }
  if (length > longestDirectory) throw new NoDirectoryError(`${url.href}: more than ${longestDirectory} bytes`);
  return Buffer.concat(chunks).toString('utf8');
}
