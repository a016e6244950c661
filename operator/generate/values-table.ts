/**
 * The table of the chart's values, for its README. A value has a row if its comment in values.yaml begins with `--`, the form of helm-docs:
 * the row covers everything below the value.
 */
import {isMap, isScalar, type Pair, parseDocument, type YAMLMap} from 'yaml';

interface ValueRow {
  /** `edge.addresses` */
  path: string;
  default: unknown;
  text: string;
}

/** Throws if a value has no comment, and none of the values above it has one. */
export function valueRows(yaml: string): ValueRow[] {
  const root = parseDocument(yaml).contents;
  if (!isMap(root)) throw new Error('the values are no map');
  return rowsOf(root, '');
}

function rowsOf(map: YAMLMap, above: string): ValueRow[] {
  return (map.items as Pair[]).flatMap((pair, index) => {
    if (!isScalar(pair.key)) return [];
    const path = `${above}${String(pair.key.value)}`;
    // The parser gives the comment before the first key to the map.
    const text = textOf(pair.key.commentBefore ?? (index === 0 ? map.commentBefore : undefined));
    if (text !== undefined) return [{path, default: toJs(pair.value), text}];
    if (!isMap(pair.value)) throw new Error(`values.yaml: ${path} has no comment that begins with --`);
    return rowsOf(pair.value, `${path}.`);
  });
}

const toJs = (value: unknown): unknown => (value as {toJSON?: () => unknown} | null)?.toJSON?.() ?? null;

function textOf(comment: string | null | undefined): string | undefined {
  const lines = comment?.split('\n').map((line) => line.trim()) ?? [];
  const start = lines.findLastIndex((line) => line.startsWith('-- '));
  return start < 0 ? undefined : lines.slice(start).join(' ').slice(3);
}

const longestDefault = 80;

function cell(value: unknown): string {
  const json = JSON.stringify(value);
  return json.length > longestDefault ? "[The chart's values](values.yaml)" : `\`${json}\``;
}

const [begin, end] = ['<!-- begin of the values: make crds -->', '<!-- end of the values -->'];

/** The README with the table in place of the former one. */
export function withValues(readme: string, yaml: string): string {
  const [from, to] = [readme.indexOf(begin), readme.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`README.md lacks ${begin} or ${end}`);
  const rows = valueRows(yaml).map(({path, text, default: value}) => `| \`${path}\` | ${cell(value)} | ${text} |`);
  const table = ['| value | default | description |', '|---|---|---|', ...rows].join('\n');
  return `${readme.slice(0, from)}${begin}\n\n${table}\n\n${readme.slice(to)}`;
}
