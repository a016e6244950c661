/** One configuration for every suite; test/run.ts says which folder runs when. */
export default {
  // Node.js loads the test files and all that they import: test/jest/runtime.ts.
  testEnvironment: '<rootDir>/test/jest/environment.ts',
  runtime: '<rootDir>/test/jest/runtime.ts',
  transform: {},
  moduleFileExtensions: ['ts', 'js', 'json', 'node'],
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/.cluster/', '<rootDir>/dist/'],
  watchPathIgnorePatterns: ['<rootDir>/.cluster/', '<rootDir>/dist/'],
  // These machines are shared: a limit ends what hangs, it measures nothing. Where a test waits it has a patience of its own.
  testTimeout: 900_000,
  errorOnDeprecated: true,
};
