/** Words and times for people. */
import {type Audience, type CustomerAnswer, customerTexts} from '../../operator/domain/reasons/customer.ts';
import type {Described} from '../../operator/domain/reasons/parameters.ts';

/** `AwaitingVerification` as "Awaiting verification", `TXTMissing` as "TXT missing". */
export const spaced = (word: string): string =>
  (word.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+/g) ?? [word])
    .map((part, i) => (i === 0 || (part.length > 1 && part === part.toUpperCase()) ? part : part.toLowerCase()))
    .join(' ');

/** The customer's texts about the reason of a status, with times of the browser's time zone. */
export const textsOf = (described: Described, audience: Audience = {}): CustomerAnswer =>
  customerTexts(described, {timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone, ...audience});

const parties: Record<string, string> = {
  Customer: 'you',
  Platform: 'the platform',
  CertificateAuthority: 'the certificate authority',
  Nobody: 'nobody',
};
export const partyOf = (party: string): string => parties[party] ?? party;

const verifyingRecords: Record<string, string> = {
  CNAME: 'its CNAME record',
  TXT: 'its TXT record',
  Addresses: 'its address records',
};
/** The records of a verification method. */
export const recordOf = (method: string): string => verifyingRecords[method] ?? method;

const dateAndTime = new Intl.DateTimeFormat(undefined, {dateStyle: 'medium', timeStyle: 'short'});
export const when = (time: string | number): string => dateAndTime.format(new Date(time));

const dateInUTC = new Intl.DateTimeFormat(undefined, {dateStyle: 'medium', timeZone: 'UTC'});
/** A date of UTC, YYYY-MM-DD, in words. */
export const day = (date: string): string => dateInUTC.format(new Date(date));

const timeAlone = new Intl.DateTimeFormat(undefined, {timeStyle: 'short'});
/** The time without its day, if the day equals the previous one. */
export const whenAfter = (time: string, before: string): string =>
  new Date(time).toDateString() === new Date(before).toDateString() ? timeAlone.format(new Date(time)) : when(time);

const number = new Intl.NumberFormat();
export const count = (n: number): string => number.format(n);

/** A span as its two largest units: "3 min 12 s". */
export function span(fromTime: string, toTime: string): string {
  let rest = Math.max(0, Math.round((Date.parse(toTime) - Date.parse(fromTime)) / 1000));
  const parts: string[] = [];
  for (const [name, seconds] of [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
    ['s', 1],
  ] as const) {
    const n = Math.floor(rest / seconds);
    rest -= n * seconds;
    if (n > 0) parts.push(`${n} ${name}`);
  }
  return parts.slice(0, 2).join(' ') || 'under 1 s';
}
