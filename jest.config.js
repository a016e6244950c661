/** One configuration for every suite; test/run.ts says which folder runs when. */
export default {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '\\.ts$': ['@swc/jest', {jsc: {parser: {syntax: 'typescript'}, target: 'es2024'}, module: {type: 'es6'}}],
  },
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/.cluster/', '<rootDir>/dist/'],
  watchPathIgnorePatterns: ['<rootDir>/.cluster/', '<rootDir>/dist/'],
  // These machines are shared: a limit ends what hangs, it measures nothing. Where a test waits it has a patience of its own.
  testTimeout: 900_000,
  errorOnDeprecated: true,
};
