/** What the server has written into the document: whose page it is. */
interface BrandSettings {
  name: string;
  logo: string;
  supportUrl: string;
}

const written = document.querySelector<HTMLMetaElement>('meta[name="doorplate"]')?.content;
export const brand: BrandSettings =
  written === undefined ? {name: '', logo: '', supportUrl: ''} : (JSON.parse(written) as BrandSettings);
