/** The copies of files that pages link to, such as examples; what a folder has is listed. */
import {copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';

const list = (title: string, names: readonly string[]): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><ul>${names
    .map((name) => `<li><a href="${name}">${name}</a></li>`)
    .join('')}</ul></html>\n`;

/** Copies the file, or all of the folder, to the same path below `to`. */
export function publish(path: string, {from, to}: {from: string; to: string}): void {
  const [source, copy] = [join(from, path), join(to, path)];
  if (!statSync(source).isDirectory()) {
    mkdirSync(dirname(copy), {recursive: true});
    copyFileSync(source, copy);
    return;
  }
  const entries = readdirSync(source, {withFileTypes: true});
  for (const entry of entries) publish(join(path, entry.name), {from, to});
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/index.html` : entry.name));
  writeFileSync(join(copy, 'index.html'), list(path, names.toSorted()));
}
