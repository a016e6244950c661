/** The page's files as they are answered: read once, compressed once. */
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {extname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {brotliCompress, constants, gzip} from 'node:zlib';
import type {Brand} from './brand.ts';
import {brandCss, brandHtml, contentHash} from './brand.ts';

export interface PageFile {
  type: string;
  body: Buffer;
  gzip: Buffer;
  brotli: Buffer;
  /** Strong entity tag. */
  etag: string;
}

export interface Page {
  document: PageFile;
  /** By path, `/assets/...`: each name holds a hash of its content. */
  assets: ReadonlyMap<string, PageFile>;
}

/** Where `npm run page` puts it; the image has it beside the bundle (cluster/bundle.sh). */
export const builtPage = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../../dist/page/' : './page/', import.meta.url),
);

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.svg': 'image/svg+xml',
};

async function file(name: string, body: Buffer): Promise<PageFile> {
  const [zipped, brotli] = await Promise.all([
    promisify(gzip)(body, {level: 9}),
    promisify(brotliCompress)(body, {params: {[constants.BROTLI_PARAM_QUALITY]: 9}}),
  ]);
  return {
    type: types[extname(name)] ?? 'application/octet-stream',
    body,
    gzip: zipped,
    brotli,
    etag: `"${contentHash(body)}"`,
  };
}

/** Reads the page as Vite built it, made the platform's. Throws where it was not built, saying how to. */
export async function loadPage(brand: Brand, folder = builtPage): Promise<Page> {
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
