/** Public files: compressed once, and answered with an entity tag. */
import {createHash} from 'node:crypto';
import {promisify} from 'node:util';
import {brotliCompress, constants, gzip} from 'node:zlib';
import type {FastifyReply, FastifyRequest} from 'fastify';

export interface StaticFile {
  type: string;
  body: Buffer;
  gzip: Buffer;
  brotli: Buffer;
  /** Strong entity tag. */
  etag: string;
}

/** Names its content, so that browsers may cache it permanently. */
export const contentHash = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('base64url').slice(0, 10);

export async function staticFile(type: string, body: Buffer): Promise<StaticFile> {
  const [zipped, brotli] = await Promise.all([
    promisify(gzip)(body, {level: 9}),
    promisify(brotliCompress)(body, {params: {[constants.BROTLI_PARAM_QUALITY]: 9}}),
  ]);
  return {type, body, gzip: zipped, brotli, etag: `"${contentHash(body)}"`};
}

/** In the smallest form that the client takes; nothing where it has that already. */
export function sendFile(
  {headers}: FastifyRequest,
  reply: FastifyReply,
  {type, body, gzip: zipped, brotli, etag}: StaticFile,
): FastifyReply {
  void reply.headers({etag, vary: 'Accept-Encoding'});
  if (headers['if-none-match'] === etag) return reply.status(304).send();
  const accepted = String(headers['accept-encoding'] ?? '')
    .split(',')
    .map((each) => each.trim());
  const [encoding, bytes] = accepted.includes('br')
    ? (['br', brotli] as const)
    : accepted.includes('gzip')
      ? (['gzip', zipped] as const)
      : ([undefined, body] as const);
  if (encoding) void reply.header('content-encoding', encoding);
  return reply.type(type).send(bytes);
}
