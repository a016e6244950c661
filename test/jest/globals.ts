/** What a test file imports as `@jest/globals` (runtime.ts). */
declare global {
  var doorplateJestGlobals: typeof import('@jest/globals');
  /** Called before a test file is loaded (test/mutants/jest-child.ts). */
  var doorplateBeforeTestFile: (() => void) | undefined;
}

export const {afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test} =
  globalThis.doorplateJestGlobals;
