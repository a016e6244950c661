/**
 * The cookie of the page. `__Host-` (draft-ietf-httpbis-rfc6265bis, 4.1.3.2) keeps sites beside this one from setting it; no script
 * reads it; another site's forms and images never carry it.
 */
const name = '__Host-doorplate';
const attributes = 'Path=/; Secure; HttpOnly; SameSite=Lax';

/** Its value in a `Cookie` header. */
export function readCookie(header: string | undefined): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const [key = '', value = ''] = pair.trim().split('=', 2);
    if (key === name) return value;
  }
  return undefined;
}

/** `Set-Cookie`: it goes with the browser, and its session ends before that. */
export const setCookie = (token: string): string => `${name}=${token}; ${attributes}`;
export const clearCookie = `${name}=; ${attributes}; Max-Age=0`;
