import type {CustomDomain} from '../api/foreign.ts';
import {Problem} from './problems.ts';

/** The version of a project's domains as a strong entity tag (RFC 9110, 8.8.3): it changes when what was asked for does. */
export const etagOf = (domain: CustomDomain | undefined): string =>
  domain ? `"${domain.metadata.uid}.${domain.metadata.generation}"` : '"none"';

/**
 * Throws `changed-meanwhile` where an `If-Match` header (RFC 9110, 13.1.1) names none of what stands. A tag that an edge has made weak
 * because it compressed the answer (`W/`) counts all the same: it names a version of the domains, not bytes.
 */
export function checkIfMatch(header: string | undefined, domain: CustomDomain | undefined): void {
  if (header === undefined) return;
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (tags.includes(etagOf(domain)) || (tags.includes('*') && domain)) return;
  throw new Problem(
    'changed-meanwhile',
    `If-Match asks for ${header.slice(0, 200)}, but the domains are at ${etagOf(domain)} now. Read them again.`,
  );
}
