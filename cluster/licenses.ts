/**
 * Writes the licence texts of the packages that a bundle contains: `node cluster/licenses.ts METAFILE PAGE > TEXTS`. METAFILE is
 * esbuild's, PAGE is the list that Vite writes (`build.license`). Throws if a package has neither a text nor a licence whose text is known.
 */
import {readdirSync, readFileSync} from 'node:fs';

/** `identifier` is an SPDX expression. */
export interface Licensed {
  name: string;
  version: string;
  identifier?: string;
  text?: string;
}

/** The folders of the packages among esbuild's inputs: `node_modules/a/node_modules/@b/c` for `node_modules/a/node_modules/@b/c/d/e.js`. */
export const packageFolders = (inputs: readonly string[]): string[] => [
  ...new Set(inputs.flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? [])),
];

/** The package in a folder, with the text of its licence and of its notice (section 4d of the Apache License). */
export function licensed(folder: string): Licensed {
  const {name, version, license, author} = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as {
    [field: string]: string | {name?: string} | undefined;
  };
  const texts = readdirSync(folder)
    .filter((file) => /^(un)?licen[cs]e|^copying|^notice/i.test(file))
    .toSorted()
    .map((file) => readFileSync(`${folder}/${file}`, 'utf8').trim());
  const holder = typeof author === 'object' ? author.name : author?.replace(/\s*[<(].*/, '');
  const known: Record<string, string> = {
    MIT: mit(holder ?? `the authors of ${name as string}`),
    Unlicense: 'Its authors have released it into the public domain.',
  };
  const text = texts.length > 0 ? texts.join('\n\n') : typeof license === 'string' && known[license];
  return {
    name: name as string,
    version: version as string,
    ...(typeof license === 'string' && {identifier: license}),
    ...(text && {text}),
  };
}

/** The MIT License as SPDX has it, for a package that declares it without its text. */
const mit = (holder: string): string => `MIT License

Copyright (c) ${holder}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the
"Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the
following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY
CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** One text for all packages, by name and version. Throws for packages without a text, and names them. */
export function licenseTexts(packages: readonly Licensed[]): string {
  const byName = new Map(packages.map((p) => [`${p.name} ${p.version}`, p]));
  const sorted = [...byName].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const without = sorted.filter(([, {text}]) => !text).map(([name]) => name);
  if (without.length > 0) throw new Error(`packages without a license text: ${without.join(', ')}`);
  const parts = sorted.map(
    ([name, {identifier, text}]) => `${name}${identifier ? ` (${identifier})` : ''}\n\n${text}\n`,
  );
  return ['The licenses of the packages that this program contains.\n', ...parts].join(`\n${'-'.repeat(80)}\n\n`);
}

/** The folder of a package that Vite lists by name and version. Throws if another version is there. */
export function folderOf({name, version}: Licensed): string {
  const folder = `node_modules/${name}`;
  const found = licensed(folder).version;
  if (found !== version) throw new Error(`the page contains ${name} ${version}, and ${folder} is ${found}`);
  return folder;
}

if (import.meta.main) {
  const [metafile = '', page = ''] = process.argv.slice(2);
  const {inputs} = JSON.parse(readFileSync(metafile, 'utf8')) as {inputs: Record<string, unknown>};
  const ofPage = (JSON.parse(readFileSync(page, 'utf8')) as Licensed[]).map(folderOf);
  process.stdout.write(licenseTexts([...packageFolders(Object.keys(inputs)), ...ofPage].map(licensed)));
}
