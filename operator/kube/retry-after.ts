/** The obsolete form of a date that a recipient must read, too (RFC 9110, 5.6.7): `Sun Nov  6 08:49:37 1994`, in UTC. */
const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;
const httpDate = /^[A-Z][a-z]{2,8}, .* GMT$/;

/**
 * The seconds that a `Retry-After` header asks to wait: it has a number, or a date (RFC 9110, 10.2.3). A past date counts as 0. Returns
 * undefined if there is no header, or if it has neither form.
 */
export function secondsToWait(header: string | null | undefined, nowMs = Date.now()): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text);
  if (!asctime.test(text) && !httpDate.test(text)) return undefined;
  const atMs = Date.parse(asctime.test(text) ? `${text} GMT` : text);
  return Number.isNaN(atMs) ? undefined : Math.max(0, Math.ceil((atMs - nowMs) / 1000));
}
