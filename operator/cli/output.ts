/** How answers are written: tables for people, JSON for programs. */
import {styleText} from 'node:util';
import {Option} from 'commander';
import {stringify} from 'yaml';
import {group} from '../api/crd.ts';

export type Style = 'green' | 'yellow' | 'red' | 'bold';

/** A text in a table, and how it looks on a terminal with colours. */
export type Cell = string | {text: string; style: Style};

const textOf = (cell: Cell): string => (typeof cell === 'string' ? cell : cell.text);

export const styled = (text: string, style: Style, colours: boolean): string =>
  colours ? styleText(style, text, {validateStream: false}) : text;

/** Columns as wide as their longest cell, three blanks between them, as kubectl has it. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[], colours: boolean): string {
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map((row) => textOf(row[i] ?? '').length)));
  const line = (cells: readonly Cell[]): string => {
    const padded = cells.map((cell, i) => {
      const text = textOf(cell);
      const blanks = i === cells.length - 1 ? '' : ' '.repeat(widths[i]! - text.length + 3);
      return (typeof cell === 'string' ? text : styled(text, cell.style, colours)) + blanks;
    });
    return `${padded.join('').trimEnd()}\n`;
  };
  return [head, ...rows].map(line).join('');
}

/** A column: its name, and the cell of a row. */
export type TableColumn<Row> = [string, (row: Row) => Cell];

/** A table with these columns and a line for each row. */
export const tableBy = <Row>(columns: readonly TableColumn<Row>[], rows: readonly Row[], colours: boolean): string =>
  table(
    columns.map(([name]) => name),
    rows.map((row) => columns.map(([, cell]) => cell(row))),
    colours,
  );

/** Two spaces, as kubectl has it. */
export const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

/**
 * YAML that readers of YAML 1.1 understand, too: texts such as `no` are quoted. Aliases (`&a1`) confuse some readers, so a value that
 * occurs twice is written twice.
 */
export const yaml = (value: unknown): string =>
  stringify(value, {aliasDuplicateObjects: false, compat: 'yaml-1.1', lineWidth: 0});

export interface OutputOptions {
  output: string;
}

/** `-o` with these forms, the first of which is for people, and with the forms for programs. */
export const outputOption = (forms: readonly [string, ...string[]], more: readonly string[] = []): Option =>
  new Option('-o, --output <form>', 'format of the output')
    .choices([...forms, 'json', 'yaml', ...more])
    .default(forms[0]);

/** The value as JSON or YAML, or undefined if the form is for people. */
export function forPrograms(form: string, value: unknown): string | undefined {
  if (form === 'json') return json(value);
  return form === 'yaml' ? yaml(value) : undefined;
}

/** Names of objects as `kubectl get -o name` prints them, each once. `apiGroup`: Doorplate's by default, '' for the core group. */
export const namesOf = (objects: readonly {kind: string; name: string; apiGroup?: string}[]): string => {
  const lines = objects.map(({kind, name, apiGroup = group}) =>
    [`${kind.toLowerCase()}${apiGroup === '' ? '' : `.${apiGroup}`}`, name].join('/'),
  );
  return [...new Set(lines)].map((line) => `${line}\n`).join('');
};

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;

/** A time span in the largest unit of which it has at least two, or else at least one: `3d`, `47h`, `90m`. */
export function span(ms: number): string {
  const [unit, length] = units.find(([, each]) => ms >= 2 * each) ?? units[3];
  return `${Math.floor(Math.max(0, ms) / length)}${unit}`;
}

/** How long ago a time of an object was; `-` where there is none. */
export const ago = (time: string | undefined, now: number): string =>
  time === undefined ? '-' : span(now - Date.parse(time));
