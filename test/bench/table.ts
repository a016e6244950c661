export interface BenchContext {
  say(text: string): void;
  /** Whether there is time for the large sizes. */
  long: boolean;
  /** How many domains, where a row is about many of them. */
  domains: number;
}

/** Measures and prints; false when a promise was not kept. */
export type Row = (context: BenchContext) => Promise<boolean>;

export function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5);
}

/** The value below which that share of the numbers is, between two of them by their distance. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const [below, above] = [sorted[Math.floor(at)] ?? NaN, sorted[Math.ceil(at)] ?? NaN];
  return below + (above - below) * (at - Math.floor(at));
}

/** Columns as wide as what is in them; the first to the left, the others to the right. */
export function printTable(lines: readonly (readonly string[])[]): void {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  console.log();
  for (const line of lines) {
    console.log(
      `  ${line.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join('   ')}`,
    );
  }
  console.log();
}

export const seconds = (ms: number, digits = 1): string => `${(ms / 1000).toFixed(digits)} s`;
export const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
