/** Conditional requests (RFC 9110, 13). */
import type {FastifyRequest} from 'fastify';
import type {CustomDomain} from '../../api/foreign.ts';
import {Problem} from '../problems.ts';

/** The version of a project's domains: it changes with their spec. */
export const versionOf = (domain: CustomDomain | undefined): string =>
  domain ? `${domain.metadata.uid}.${domain.metadata.generation}` : 'none';

/** The version as a strong entity tag (RFC 9110, 8.8.3), for `If-Match`. */
export const etagOf = (domain: CustomDomain | undefined): string => `"${versionOf(domain)}"`;

/** The opaque part of each entity tag of a list (RFC 9110, 8.8.3), with its quotes. */
const opaqueTags = (list: string): string[] => list.match(/"[\x21\x23-\x7e\x80-\xff]*"/g) ?? [];

/** Whether a read can be answered with 304, and costs no plan then. */
export const isConditional = ({headers, routeOptions}: FastifyRequest): boolean =>
  headers['if-none-match'] !== undefined && routeOptions?.config.hasETag === true;

/** Whether the header `If-None-Match` of a read names the tag of its answer, by weak comparison (RFC 9110, 13.1.2). */
export const matchesTag = (header: string | undefined, tag: string): boolean =>
  header !== undefined && (header.trim() === '*' || opaqueTags(header).includes(tag.replace(/^W\//, '')));

/**
 * Throws `changed-meanwhile` if an `If-Match` header (RFC 9110, 13.1.1) does not name the current version. The weak tag of a read (`W/`)
 * counts as the version that it begins with, and so does a tag that an edge has made weak: tags name versions here, not bytes.
 */
export function checkIfMatch(header: string | undefined, domain: CustomDomain | undefined): void {
  if (header === undefined) return;
  const version = versionOf(domain);
  const names = (tag: string): boolean => tag === `"${version}"` || tag.startsWith(`"${version}.`);
  if (opaqueTags(header).some(names) || (header.split(',').some((tag) => tag.trim() === '*') && domain)) return;
  throw new Problem(
    'changed-meanwhile',
    `If-Match has ${header.slice(0, 200)}, but the current version is ${etagOf(domain)}. Read the domains again.`,
  );
}
