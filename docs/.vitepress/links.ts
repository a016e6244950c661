/**
 * The pages are written to be read in the repository: their links are paths of its files. The site has the pages at other
 * addresses, and of the other files that pages link to a copy.
 */
import {existsSync, statSync} from 'node:fs';
import {dirname, join, normalize} from 'node:path/posix';

/**
 * The address of a page on the site: `docs/reference/api.md` at `reference/api.md`, `README.md` of a folder at its `index.md`, and the
 * one of `docs/` is the home. Pages of the top folder are at `project/`: `SECURITY.md` would differ from another page only by case.
 */
export const addressOf = (page: string): string =>
  page
    .replace(/^[A-Z_]+\.md$/, (name) => `project/${name.toLowerCase().replaceAll('_', '-')}`)
    .replace(/^docs\//, '')
    .replace(/(^|\/)README\.md$/, '$1index.md');

/** What a link of a page leads to. */
export type Target =
  /** Another site, or a heading of the same page. */
  | {kind: 'as it is'}
  | {kind: 'page'; href: string}
  /** A file or a folder, of which the site has a copy. */
  | {kind: 'file'; path: string; href: string};

/**
 * Resolves a link as the repository does. `root` ends with a slash; `page` and what `isPage` is asked are paths of the
 * checkout. Throws when there is no such file.
 */
export function resolveLink(
  href: string,
  {page, root, isPage}: {page: string; root: string; isPage: (path: string) => boolean},
): Target {
  if (/^([a-z][a-z+.-]*:|#|\/)/i.test(href)) return {kind: 'as it is'};
  const [, path = '', hash = ''] = /^([^#]*)(#.*)?$/.exec(href)!;
  const target = normalize(join(dirname(page), path)).replace(/\/$/, '');
  if (!existsSync(root + target)) throw new Error(`${page} links to ${href}: there is no such file`);
  if (isPage(target)) return {kind: 'page', href: `/${addressOf(target).replace(/(index)?\.md$/, '')}${hash}`};
  const folder = statSync(root + target).isDirectory();
  return {kind: 'file', path: target, href: `/files/${target}${folder ? '/index.html' : ''}`};
}
