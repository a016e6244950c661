/** What a test file imports as `@jest/globals` (runtime.ts). */
declare global {
  var doorplateJestGlobals: typeof import('@jest/globals');
}

export const {afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test} =
  globalThis.doorplateJestGlobals;
