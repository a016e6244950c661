const cell = (value: unknown): string => {
  const text = String(value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/**
 * CSV: a line with the names of the columns, then one for each row; undefined and null are empty cells. Lines end with CR LF (RFC 4180);
 * give `\n` for output of a terminal. Spreadsheets take a cell that begins with =, +, - or @ for a formula: the caller makes sure that
 * none does.
 */
export const csv = <T extends object>(
  columns: readonly (keyof T & string)[],
  rows: readonly T[],
  lineEnd: '\r\n' | '\n' = '\r\n',
): string =>
  [columns.map(cell), ...rows.map((row) => columns.map((column) => cell(row[column])))]
    .map((cells) => cells.join(',') + lineEnd)
    .join('');
