/** The platform's brand, which the server writes into the document. */
interface BrandSettings {
  name: string;
  logo: string;
  supportUrl: string;
}

const written = document.querySelector<HTMLMetaElement>('meta[name="doorplate"]')?.content;
export const brand: BrandSettings =
  written === undefined ? {name: '', logo: '', supportUrl: ''} : (JSON.parse(written) as BrandSettings);
