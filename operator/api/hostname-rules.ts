/** Rules for hostnames that users write. They need no library, so that the page can check a hostname during typing. */
import type {Named} from './named.ts';

/**
 * A rule that a value must obey, said twice: once for zod (tests, the page, the API) and once in CEL, because a zod
 * refinement never reaches a CRD. `test/crds/accept-refuse.test.ts` runs one table through both.
 */
export interface Rule<T> {
  /** A CEL expression over `self` (RE2 in `matches`), as `x-kubernetes-validations` takes it. */
  readonly cel: string;
  /** The same in TypeScript. */
  readonly holds: (value: T) => boolean;
  /** The fault and the correct form, as the API server shows it. */
  readonly message: string;
  /** The same with the values at fault, for rules about values that more than one field manager can write. */
  readonly named?: Named<T>;
}

const label = String.raw`[\p{L}\p{M}\p{N}]([\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?`;
const shape = String.raw`^(${label}\.)+${label}\.?$`;
const longLabel = String.raw`[^.]{64}`;
const numericEnd = String.raw`(^|\.)[0-9]+\.?$`;
const reservedEnd = String.raw`(^|\.)(localhost|local|arpa|onion)\.?$`;
const cel = (pattern: string) => `'${pattern.replaceAll('\\', '\\\\')}'`;

/** Whether a name stands under one that is nobody's in the public DNS; again after UTS #46, which folds other letters into these. */
export const isReserved = (h: string) => new RegExp(reservedEnd, 'iu').test(h);

/** Symbols, what joins them, and ideographic full stops. No punctuation: a pasted quote or dash is no part of a hostname. */
const convertible = /^([\p{So}\p{Extended_Pictographic}\p{Emoji_Component}\u3002\uff0e\uff61]|\u200c|\u200d)$/u;

/**
 * Whether a name has characters other than letters, marks and digits, such as an emoji or a joiner, and only those that UTS #46 may
 * convert. IDNA2008 allows no symbol (RFC 5892), and CEL converts nothing, so a CustomDomain has only the A-label (`xn--ls8h.example`).
 */
export function needsALabel(h: string): boolean {
  const others = h.match(/[^\0-\x7f\p{L}\p{M}\p{N}]/gu) ?? [];
  return others.length > 0 && others.every((character) => convertible.test(character));
}

export const hostnameRules: readonly Rule<string>[] = [
  {
    cel: `self.matches(${cel(shape)})`,
    holds: (h) => new RegExp(shape, 'u').test(h),
    message:
      'must be a hostname of at least two labels, such as docs.example.com. Labels contain letters, digits and hyphens, ' +
      'and neither start nor end with a hyphen. A scheme, port, path, space, underscore or wildcard is not ' +
      'allowed. Write a label with other characters, such as emoji, in its ASCII form (xn--)',
  },
  {
    cel: `!self.matches(${cel(longLabel)})`,
    holds: (h) => !new RegExp(longLabel, 'u').test(h),
    message: 'every label (the part between two dots) may have at most 63 characters (RFC 1035)',
  },
  {
    cel: `self.size() <= (self.endsWith('.') ? 254 : 253)`,
    holds: (h) => [...h].length <= (h.endsWith('.') ? 254 : 253),
    message: 'a hostname may have at most 253 characters (RFC 1035)',
  },
  {
    cel: `!self.matches(${cel(numericEnd)})`,
    holds: (h) => !new RegExp(numericEnd, 'u').test(h),
    message: 'must be a hostname, not an IP address: create a DNS name for the address and use that name',
  },
  {
    cel: `!self.lowerAscii().matches(${cel(reservedEnd)})`,
    holds: (h) => !isReserved(h),
    message:
      'names under localhost, local, arpa and onion are reserved and can have no public certificate (RFC 6761, 6762, 7686)',
  },
];

/** CEL for the compared form of hostnames: no trailing dot, lower case. `domain/hostnames/hostname.ts` then converts to A-labels. */
export const celFold = (expression: string) =>
  `(${expression}.endsWith('.') ? ${expression}.substring(0, ${expression}.size() - 1) : ${expression}).lowerAscii()`;

/** {@link celFold} in TypeScript. */
export const fold = (h: string) => (h.endsWith('.') ? h.slice(0, -1) : h).replace(/[A-Z]/g, (c) => c.toLowerCase());
