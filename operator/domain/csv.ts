const cell = (value: unknown): string => {
  const text = String(value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/**
 * CSV (RFC 4180): a line with the names of the columns, then one for each row; undefined and null are empty cells. Spreadsheets take
 * a cell that begins with =, +, - or @ for a formula: the caller makes sure that none does.
 */
export const csv = <T extends object>(columns: readonly (keyof T & string)[], rows: readonly T[]): string =>
  [columns.map(cell).join(','), ...rows.map((row) => columns.map((column) => cell(row[column])).join(',')), ''].join(
    '\r\n',
  );
