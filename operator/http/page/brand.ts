/** The platform's brand on the page: its name, its color, its logo. Pure. */

export interface Brand {
  /** Name of the platform. */
  name: string;
  /** URL of its logo; empty: the name alone. */
  logo: string;
  /** `#rrggbb`; empty: Doorplate's own. */
  colour: string;
  /** Where customers get help; empty: nowhere. */
  supportUrl: string;
  /** Names of Plans, the smallest first, that the page may name where the own one does not suffice. */
  offeredPlans: readonly string[];
  /** Origins that may show the page in a frame. */
  frameAncestors: readonly string[];
}

/** Relative luminance (WCAG 2.2) of `#rrggbb`. */
function luminance(colour: string): number {
  const [r, g, b] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Black or white, whichever is easier to read on the colour: at least 4.5 : 1 with any. */
export const textOn = (colour: string): '#000000' | '#ffffff' => (luminance(colour) > 0.179 ? '#000000' : '#ffffff');

/** The stylesheet that carries the colour. */
export const brandCss = ({colour}: Pick<Brand, 'colour'>): string =>
  colour === '' ? '' : `:root{--accent:${colour};--on-accent:${textOn(colour)}}`;

const entities: Record<string, string> = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;'};
const escape = (text: string): string => text.replace(/[&<>"']/g, (c) => entities[c]!);

/** The page's document, with what the page must know before it has asked anything. */
export function brandHtml(html: string, {name, logo, supportUrl}: Brand, cssHref: string): string {
  const settings = JSON.stringify({name, logo, supportUrl});
  return html
    .replace('<title>Domains</title>', `<title>${escape(name === '' ? 'Domains' : `Domains · ${name}`)}</title>`)
    .replace(
      '</head>',
      `<meta name="doorplate" content="${escape(settings)}"><link rel="stylesheet" href="${cssHref}"></head>`,
    );
}

/**
 * Permissions of the page in browsers (CSP 3): its own files and requests, the platform's logo, no inline code, and only frames that the
 * platform names.
 */
export function contentSecurityPolicy({logo, frameAncestors}: Pick<Brand, 'logo' | 'frameAncestors'>): string {
  const images = ["'self'", ...(logo === '' ? [] : [new URL(logo).origin])].join(' ');
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${images}`,
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    `frame-ancestors ${frameAncestors.length === 0 ? "'none'" : frameAncestors.join(' ')}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}
