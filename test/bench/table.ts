export interface BenchContext {
  say(text: string): void;
  /** Whether there is time for the large sizes. */
  long: boolean;
}

/** Measures and prints; false when a promise was not kept. */
export type Row = (context: BenchContext) => Promise<boolean>;

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Columns as wide as what is in them; the first to the left, the others to the right. */
export function printTable(lines: readonly (readonly string[])[]): void {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  for (const line of lines) {
    console.log(
      `  ${line.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join('   ')}`,
    );
  }
}
