import {hash} from 'node:crypto';

type Dictionary = Record<string, unknown>;

function isDictionary(value: unknown): value is Dictionary {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Whether `live` contains every value of `intent`. Objects in `live` may have more members, such as defaults. Lists must have equal
 * length, with each element a subset of the live element at that index. An undefined member of `intent` is ignored. Null, {} and []
 * match a missing value, because the API server may drop them or keep them.
 */
export function isSubset(intent: unknown, live: unknown): boolean {
  if (intent === undefined || Object.is(intent, live)) return true;
  const nothing = live === undefined || live === null;
  if (intent === null) return nothing;
  if (Array.isArray(intent)) {
    if (nothing) return intent.length === 0;
    return (
      Array.isArray(live) && live.length === intent.length && intent.every((element, at) => isSubset(element, live[at]))
    );
  }
  if (!isDictionary(intent)) return false;
  if (!nothing && !isDictionary(live)) return false;
  return Object.entries(intent).every(([name, value]) => isSubset(value, nothing ? undefined : live[name]));
}

/** Whether both values are the same JSON. The order of members is ignored; an undefined member counts as absent. */
export function isDeepEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((element, at) => isDeepEqual(element, b[at]));
  }
  if (!isDictionary(a) || !isDictionary(b)) return false;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => isDeepEqual(a[name], b[name]));
}

/** The same value with object members sorted by name. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isDictionary(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((name) => [name, sorted(value[name])]),
  );
}

/**
 * JSON with sorted members, so that equal values give equal text. As in RFC 8785, numbers and strings are written as JSON.stringify
 * writes them.
 */
export const canonicalJson = (value: unknown): string => JSON.stringify(sorted(value));

/** 128 bits of SHA-256 over the canonical JSON, in base64url: 22 characters. */
export function hashOf(value: unknown): string {
  return hash('sha256', canonicalJson(value), 'base64url').slice(0, 22);
}
