import {hash} from 'node:crypto';

type Dictionary = Record<string, unknown>;

function isDictionary(value: unknown): value is Dictionary {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Whether `live` contains everything that `intent` contains. Objects may have more members, for example defaults. Lists must have the same
 * length, and each element must be a subset of its counterpart. An undefined member is ignored. Null, {} and [] match a missing member,
 * because the API server may drop or keep them.
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

/** Same JSON, whatever the order of members; a member that is undefined is absent. */
export function isDeepEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((element, at) => isDeepEqual(element, b[at]));
  }
  if (!isDictionary(a) || !isDictionary(b)) return false;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => isDeepEqual(a[name], b[name]));
}

/** The same value, the members of each object by name. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isDictionary(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((name) => [name, sorted(value[name])]),
  );
}

/** JSON with sorted members, so that equal values give equal text (as RFC 8785 does, numbers and strings as JSON.stringify writes them). */
export const canonicalJson = (value: unknown): string => JSON.stringify(sorted(value));

/** 128 bits of SHA-256 over the canonical JSON, in base64url: 22 characters. */
export function hashOf(value: unknown): string {
  return hash('sha256', canonicalJson(value), 'base64url').slice(0, 22);
}
