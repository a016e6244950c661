/** The pages that users read, taken apart: links, headings, blocks of code, commands. */
import {globSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** A fenced block. `info`: the words behind the fence, the language first. */
export interface Block {
  info: readonly string[];
  text: string;
  line: number;
  /** The heading that it stands below. */
  under: string;
}

export interface Page {
  path: string;
  text: string;
  /** Without fenced and indented blocks. */
  prose: string;
  blocks: readonly Block[];
  /** As they are written in headings. */
  headings: readonly string[];
}

/** A page out of its Markdown. */
export function parsePage(path: string, text: string): Page {
  const [prose, blocks, headings]: [string[], Block[], string[]] = [[], [], []];
  // In a list, a fence has the indentation of its item, and so have the lines of its block.
  let open: {info: string[]; lines: string[]; line: number; indent: number} | undefined;
  for (const [i, line] of text.split('\n').entries()) {
    const fence = /^( {0,3})```(.*)$/.exec(line);
    if (fence && open) {
      const {info, lines, line: at} = open;
      blocks.push({info, line: at, text: lines.join('\n'), under: headings.at(-1) ?? ''});
      open = undefined;
    } else if (fence) {
      const info = fence[2]!.split(/\s+/).filter((word) => word !== '');
      open = {info, lines: [], line: i + 1, indent: fence[1]!.length};
    } else if (open) open.lines.push(line.slice(Math.min(open.indent, line.search(/\S|$/))));
    else {
      const heading = /^#+ (.*)$/.exec(line);
      if (heading) headings.push(heading[1]!);
      if (!line.startsWith('    ')) prose.push(line);
    }
  }
  return {path, text, prose: prose.join('\n'), blocks, headings};
}

export const readPage = (path: string): Page => parsePage(path, readFileSync(join(root, path), 'utf8'));

/** All pages of the repository, but what belongs to tests. */
export const pagePaths = (): string[] =>
  globSync('**/*.md', {cwd: root, exclude: (name) => ['node_modules', 'dist', 'test'].includes(name)}).toSorted();

/** What links lead to, pictures among it. */
export const linksOf = ({prose}: Page): string[] =>
  [...prose.replaceAll(/`[^`\n]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, href]) => href!);

/** The anchor of a heading, as GitHub and the site make it of plain words. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s+/g, '-');

/** Pieces of code in a page, wherever they stand: commands, names of values and of metrics are among them. */
export const codeOf = ({text}: Page): string[] => {
  const fenced = [...text.matchAll(/^```[^\n]*\n([^]*?)^```/gm)].map(([, code]) => code!);
  const indented = text.split('\n').filter((line) => line.startsWith('    '));
  const inline = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!);
  return [...fenced, ...indented, ...inline];
};

/** The lines that begin an indented block of code, counted from 1. Indented lines of a list are none. */
export function indentedBlocks(text: string): number[] {
  const found: number[] = [];
  let [fenced, last, blank] = [false, '', true];
  for (const [i, line] of text.split('\n').entries()) {
    if (/^ *```/.test(line)) fenced = !fenced;
    else if (!fenced && /^ {4}\S/.test(line) && blank && !/^\s*([-*]|\d+\.) |^ /.test(last)) found.push(i + 1);
    blank = line.trim() === '';
    if (!blank) last = line;
  }
  return found;
}

/** What a page has somebody write into files: by name. */
export const filesOf = ({blocks}: Page): Map<string, string> =>
  new Map(
    blocks.flatMap(({info: [, name], text}) =>
      name !== undefined && name.endsWith('.yaml') ? [[name, `${text}\n`]] : [],
    ),
  );

/** The blocks of shell that are run in such a way: `sh run`, `sh api-server`. */
export const scriptsOf = ({blocks}: Page, way: (typeof waysToRun)[number]): Block[] =>
  blocks.filter(({info: [language, ...words]}) => language === 'sh' && words.includes(way));

/**
 * The words of a block of shell: how a test runs it. `run`: in this checkout. `api-server`: against an API server. `dns`: after the records
 * exist. `api`: against the HTTP API. `cli`: the plugin. No word: it needs something that no test has. `silent`: it prints nothing of interest. `varies`: its output
 * differs from run to run, such as the changes that `--wait` reports, so no test compares it.
 */
export const waysToRun = ['run', 'api-server', 'dns', 'api', 'cli', 'silent', 'varies'] as const;
