/** The page's files as they are answered: read once, compressed once. */
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {extname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import type {Brand} from './brand.ts';
import {contentHash, staticFile, type StaticFile} from '../openapi/static-file.ts';
import {brandCss, brandHtml} from './brand.ts';

export interface PageVersion {
  document: StaticFile;
  /** By path, `/assets/...`: each name holds a hash of its content. */
  assets: ReadonlyMap<string, StaticFile>;
}

/** Output folder of `npm run page`. In the image it is beside the bundle (cluster/bundle.sh). */
export const builtPage = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../../dist/page/' : './page/', import.meta.url),
);

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const file = (name: string, body: Buffer): Promise<StaticFile> =>
  staticFile(types[extname(name)] ?? 'application/octet-stream', body);

/** Reads the page as Vite built it, made the platform's. Throws where it was not built, saying how to. */
export async function loadPage(brand: Brand, folder = builtPage): Promise<PageVersion> {
  if (!existsSync(join(folder, 'index.html'))) throw new Error(`the page is not built into ${folder}: npm run page`);
  const css = brandCss(brand);
  const cssPath = `/assets/brand-${contentHash(css)}.css`;
  const names = readdirSync(join(folder, 'assets')).filter((name) => extname(name) in types);
  const assets = await Promise.all(
    names.map(
      async (name) => [`/assets/${name}`, await file(name, readFileSync(join(folder, 'assets', name)))] as const,
    ),
  );
  const document = brandHtml(readFileSync(join(folder, 'index.html'), 'utf8'), brand, cssPath);
  return {
    document: await file('index.html', Buffer.from(document)),
    assets: new Map([...assets, [cssPath, await file(cssPath, Buffer.from(css))]]),
  };
}
