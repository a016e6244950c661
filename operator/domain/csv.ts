const cell = (value: unknown): string => {
  const text = String(value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/**
 * Writes CSV (RFC 4180). Column names are the first line; undefined and null become empty cells. `lineEnd` is CR LF by default; use `\n`
 * for terminals. Spreadsheets run a cell that begins with =, +, - or @ as a formula, so callers must not pass such values.
 */
export const csv = <T extends object>(
  columns: readonly (keyof T & string)[],
  rows: readonly T[],
  lineEnd: '\r\n' | '\n' = '\r\n',
): string =>
  [columns.map(cell), ...rows.map((row) => columns.map((column) => cell(row[column])))]
    .map((cells) => cells.join(',') + lineEnd)
    .join('');
