/** The site of the docs: `make docs` builds it into dist/docs. Its pages are Markdown files of the repository, as they stand. */
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {defineConfig, type MarkdownRenderer} from 'vitepress';
import {publish} from './files.ts';
import {addressOf, resolveLink} from './links.ts';
import {sections} from './sidebar.ts';
import {proseOf} from '../../test/support/language.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const pages = new Set(sections.flatMap((section) => section.pages.map(([page]) => page)));
const titles = new Map(sections.flatMap((section) => section.pages));
const linkOf = (page: string): string => `/${addressOf(page).replace(/(index)?\.md$/, '')}`;
const {
  repository: {url},
} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {repository: {url: string}};
const repository = url.replace(/^git\+/, '').replace(/\.git$/, '');
/** The three doors of the home, in the header of each page. */
const doors = [
  {text: 'Operate', page: 'docs/how-to/install.md'},
  {text: 'Build', page: 'docs/reference/api.md'},
  {text: 'Use', page: 'docs/customers/add-a-domain.md'},
];
/** What pages link to beside pages. */
const linked = new Set<string>();

/** Links are resolved before VitePress sees them; it then refuses those that lead to no page of the site. */
function repositoryLinks(md: MarkdownRenderer): void {
  md.core.ruler.push('repository-links', ({tokens, env}) => {
    // The index of the search renders pages too, and knows their one path only.
    const {realPath, path} = env as {realPath?: string; path: string};
    const page = (realPath ?? path).slice(root.length);
    for (const token of tokens.flatMap(({children}) => children ?? [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : null;
      if (href === null) continue;
      const target = resolveLink(decodeURI(href), {page, root, isPage: (name) => pages.has(name)});
      if (target.kind === 'as it is') continue;
      token.attrSet('href', target.href);
      if (target.kind === 'page') continue;
      linked.add(target.path);
      // The site's router leaves these to the browser.
      token.attrSet('target', '_blank');
    }
  });
}

/** Indented blocks look as fenced ones do. */
function indentedBlocks(md: MarkdownRenderer): void {
  md.core.ruler.push('indented-blocks', ({tokens}) => {
    for (const token of tokens) if (token.type === 'code_block') Object.assign(token, {type: 'fence', markup: '```'});
  });
}

/** The first paragraph of a page as plain text, for search engines and previews of links. At most 200 characters. */
function descriptionOf(page: string): string {
  const [first = ''] = proseOf(readFileSync(join(root, page), 'utf8')).filter((text) => /[a-z]/.test(text));
  const text = first.replaceAll(/[`*]/g, '');
  return text.length > 200 ? `${text.slice(0, 197)}...` : text;
}

/** The site's path on its server. DOCS_BASE is such as `/doorplate`, and empty for the root. */
const base = `${process.env.DOCS_BASE ?? ''}/`;

export default defineConfig({
  title: 'Doorplate',
  description: "Custom domains for a platform's customers, on Kubernetes",
  base,
  head: [['link', {rel: 'icon', href: `${base}icon.svg`}]],
  srcDir: '..',
  outDir: '../dist/docs',
  cacheDir: '../dist/.vitepress',
  srcExclude: ['dist/**', 'test/**'],
  rewrites: addressOf,
  // Else it takes every config.ts of the checkout for one of its own.
  additionalConfig: {},
  ignoreDeadLinks: [/^\/files\//],
  cleanUrls: true,
  markdown: {
    config: (md) => {
      repositoryLinks(md);
      indentedBlocks(md);
    },
  },
  themeConfig: {
    logo: '/icon.svg',
    search: {provider: 'local'},
    outline: [2, 3],
    editLink: {pattern: `${repository}/edit/main/:path`, text: 'Edit this page'},
    socialLinks: [{icon: 'github', link: repository}],
    nav: doors.map(({text, page}) => ({text, link: linkOf(page)})),
    sidebar: sections.map(({text, pages: of}) => ({
      text,
      collapsed: text === 'Internals',
      items: of.map(([page, title]) => ({
        text: title,
        link: linkOf(page),
      })),
    })),
  },
  transformPageData: (page) => {
    const source = page.filePath;
    return {description: descriptionOf(source), title: titles.get(source) ?? page.title};
  },
  buildEnd: ({outDir}) => {
    for (const file of linked) publish(file, {from: root, to: join(outDir, 'files')});
    publish('icon.svg', {from: join(root, 'docs'), to: outDir});
  },
});
