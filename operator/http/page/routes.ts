/** The paths of the page: its document wherever a person may have come to, and its files. */
import type {FastifyInstance} from 'fastify';
import {sendFile} from '../openapi/static-file.ts';
import type {Brand} from './brand.ts';
import {contentSecurityPolicy} from './brand.ts';
import type {PageVersion} from './files.ts';

/** Where the document is answered: what stands in the address bar. */
export const views = ['/', '/sign-in', '/projects/:project', '/keys', '/usage'] as const;

const config = {isFile: true};

/** `hasHttps`: browsers are to use HTTPS alone for this hostname (RFC 6797), for a year. */
export function addPage(
  server: FastifyInstance,
  {page, brand, hasHttps}: {page: PageVersion; brand: Brand; hasHttps: boolean},
): void {
  const hsts = hasHttps ? {'strict-transport-security': 'max-age=31536000'} : {};
  const policy = {
    ...hsts,
    'content-security-policy': contentSecurityPolicy(brand),
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  };
  for (const url of views) {
    server.get(url, {config, schema: {hide: true}}, async (request, reply) =>
      sendFile(request, reply.headers({...policy, 'cache-control': 'no-cache'}), page.document),
    );
  }
  for (const [url, file] of page.assets) {
    server.get(url, {config, schema: {hide: true}}, async (request, reply) =>
      sendFile(
        request,
        reply.headers({
          ...hsts,
          'cache-control': 'public, max-age=31536000, immutable',
          'cross-origin-resource-policy': 'same-origin',
        }),
        file,
      ),
    );
  }
}
