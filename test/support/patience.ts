/**
 * How long a test waits for what should come, in ms: so long as it says, which is generous, but no longer than PATIENCE_MS.
 * Mutants have it set (test/mutants/run.ts): with them it never comes, and each would wait to the end.
 */
export const patience = (ms: number): number => Math.min(ms, Number(process.env.PATIENCE_MS ?? ms));
