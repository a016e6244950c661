/**
 * Draws the chart's dashboard as dashboard.svg beside this file: the panels as charts/doorplate/files/dashboard.json defines them, with the
 * results of their queries. A real Prometheus has the metrics of `sample.ts` and answers the queries. Throws if a query has no result.
 *
 *   node docs/pictures/dashboard.ts
 */
import {readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {Prometheus, release} from '../../test/support/prometheus.ts';
import {end, sample} from './sample.ts';
import {escape} from './svg.ts';

interface Panel {
  type: 'row' | 'timeseries' | 'stat' | 'table';
  title: string;
  gridPos: {x: number; y: number; w: number; h: number};
  fieldConfig: {defaults: {unit: string; thresholds?: {steps: {color: 'red' | 'green'; value: number | null}[]}}};
  targets: {refId: string; expr: string; legendFormat: string}[];
  /** Of a table: the names of its columns. */
  transformations?: {id: string; options: {renameByName?: Record<string, string>}}[];
}

/** One line of a chart. `points`: times in seconds since the epoch, with values. */
interface Series {
  name: string;
  labels: Record<string, string>;
  target: number;
  points: [time: number, value: number][];
}

/** Position and size of a part, in units of the viewBox. */
interface Place {
  x: number;
  y: number;
  w: number;
  h: number;
}

const mostBytes = 80 << 10;
const [column, row, gap, top] = [40, 22, 8, 40];
/** The time range of the dashboard, and the distance of its points, in seconds. */
const [range, step] = [6 * 3600, 300];
const colors = 7;

const light = `--back:#f1f3f6;--panel:#fff;--edge:#d5dae1;--grid:#e5e8ed;--ink:#1c2430;--soft:#4d5868;--green:#1f7a3a;--red:#b8322a;
--c0:#2f8f4e;--c1:#b98600;--c2:#2f6fc4;--c3:#d2691e;--c4:#c23b45;--c5:#7a4fb5;--c6:#0d8a96`;
const dark = `--back:#0f1318;--panel:#181d24;--edge:#2c343f;--grid:#29303a;--ink:#e4e9f0;--soft:#a5b1c0;--green:#6fcf85;--red:#f2857b;
--c0:#73bf8a;--c1:#e6be4a;--c2:#7db0f5;--c3:#f0a066;--c4:#f08a8f;--c5:#b79af0;--c6:#5cc8d4`;
const style = `svg{${light}}
@media (prefers-color-scheme:dark){svg{${dark}}}
text{fill:var(--ink);font:11px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
.t{font-size:12.5px;font-weight:600}.s{fill:var(--soft)}.c{font-size:10px}.e{text-anchor:end}.m{text-anchor:middle}.v{font-size:28px;font-weight:600}
.back{fill:var(--back)}.panel{fill:var(--panel);stroke:var(--edge)}.grid{stroke:var(--grid)}.l{fill:none;stroke-width:1.5;stroke-linejoin:round}
.green{fill:var(--green)}.red{fill:var(--red)}
${Array.from({length: colors}, (_, i) => `.c${i}{stroke:var(--c${i})}`).join('')}`;

const tenths = (value: number): number => Math.round(value * 10) / 10;

/** Text with its baseline at `y`. `names`: classes of the style above. */
const text = (x: number, y: number, content: string, names = ''): string =>
  `<text x="${x}" y="${y}"${names && ` class="${names}"`}>${escape(content)}</text>`;

/** About the width of a text of 11 px, in a wide font. */
const widthOf = (content: string): number => content.length * 6.5;
/** A text of 10 px that fits into a cell of a table. */
const cut = (content: string, width: number): string =>
  content.length * 5.9 <= width ? content : `${content.slice(0, Math.floor(width / 5.9) - 1)}…`;

/** The unit in which people read values up to `most`: its size, and its name. */
function unitOf(unit: string, most: number): [size: number, name: string] {
  if (unit === 'reqps') return [1, ' req/s'];
  if (unit === 'percentunit') return [0.01, ' %'];
  if (unit === 'bytes') return [2 ** 20, ' MiB'];
  if (unit !== 's') return [1, ''];
  const sizes: [number, string][] = [
    [86_400, ' days'],
    [3600, ' h'],
    [60, ' min'],
    [1, ' s'],
  ];
  return sizes.find(([size]) => most >= 2 * size) ?? [0.001, ' ms'];
}

const short = new Intl.NumberFormat('en-US', {notation: 'compact', maximumSignificantDigits: 3});

/** Round numbers, about four steps apart, that enclose all values. The axis starts at 0 unless all values are far from it. */
function ticksOf(values: readonly number[]): number[] {
  const most = Math.max(...values);
  const least = Math.min(...values) < most / 2 ? 0 : Math.min(...values);
  const rough = (most - least || most || 1) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const size = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough * 0.999)!;
  const [first, last] = [Math.floor(least / size), Math.max(Math.ceil(most / size), Math.floor(least / size) + 1)];
  return Array.from({length: last - first + 1}, (_, i) => Number(((first + i) * size).toPrecision(6)));
}

/** The legend in at most three lines that end at `bottom`. Returns the number of lines too. */
function legend(series: readonly Series[], {x, w}: Place, bottom: number): {lines: number; parts: string[]} {
  const entries: {line: number; at: number; name: string}[] = [];
  let [line, at] = [0, 0];
  for (const {name} of series) {
    const width = 18 + widthOf(name) + 8;
    if (at > 0 && at + width > w - 16) [line, at] = [line + 1, 0];
    entries.push({line, at, name});
    at += width;
  }
  const shown = entries.filter((entry) => entry.line < 3);
  const lines = Math.min(line + 1, 3);
  const parts = shown.flatMap((entry, i) => {
    const [left, base] = [x + 10 + entry.at, bottom - 14 * (lines - 1 - entry.line)];
    return [`<path class="l c${i % colors}" d="M${left} ${base - 4}h12"/>`, text(left + 17, base, entry.name, 's')];
  });
  const more = entries.length - shown.length;
  if (more > 0) parts.push(text(x + w - 10, bottom, `and ${more} more`, 's e'));
  return {lines, parts};
}

function timeseries(panel: Panel, series: readonly Series[], place: Place): string[] {
  const values = series.flatMap(({points}) => points.map(([, value]) => value));
  const [size, unit] = unitOf(panel.fieldConfig.defaults.unit, Math.max(...values));
  const ticks = ticksOf(values.map((value) => value / size));
  const {lines, parts} = legend(series, place, place.y + place.h - 9);
  const labels = ticks.map((tick) => `${tick.toLocaleString('en-US')}${unit}`);
  const left = place.x + 16 + Math.max(...labels.map(widthOf));
  const [right, upper, lower] = [place.x + place.w - 12, place.y + 32, place.y + place.h - 26 - 14 * lines];
  const xOf = (time: number): number => left + ((right - left) * (time - end + range)) / range;
  const yOf = (value: number): number => lower - ((lower - upper) * (value - ticks[0]!)) / (ticks.at(-1)! - ticks[0]!);
  const every = ticks.length > 6 ? 2 : 1;
  const hours = Array.from({length: range / 3600 - 1}, (_, i) => end - range + (i + 1) * 3600);
  const grid = [
    ...ticks.filter((_, i) => i % every === 0).map((tick) => `M${tenths(left)} ${tenths(yOf(tick))}H${right}`),
    ...hours.map((hour) => `M${tenths(xOf(hour))} ${upper}V${lower}`),
  ];
  return [
    `<path class="grid" d="${grid.join('')}"/>`,
    ...ticks.flatMap((tick, i) =>
      i % every === 0 ? text(tenths(left - 6), tenths(yOf(tick) + 4), labels[i]!, 's e') : [],
    ),
    ...hours
      .filter((_, i) => i % 2 === 0)
      .map((hour) => text(tenths(xOf(hour)), lower + 14, new Date(hour * 1000).toISOString().slice(11, 16), 's m')),
    ...series.map(({points}, i) => {
      const path = points.map(([time, value], n) => {
        const starts = n === 0 || time - points[n - 1]![0] > step;
        return `${starts ? 'M' : 'L'}${tenths(xOf(time))} ${tenths(yOf(value / size))}`;
      });
      return `<path class="l c${i % colors}" d="${path.join('')}"/>`;
    }),
    ...parts,
  ];
}

/** The last value of each series, in the color of its threshold. */
function stat(panel: Panel, series: readonly Series[], {x, y, w, h}: Place): string[] {
  const {unit, thresholds} = panel.fieldConfig.defaults;
  const width = (w - 16) / series.length;
  return series.flatMap(({name, points}, i) => {
    const value = points.at(-1)![1];
    const [size, unitName] = unitOf(unit, value);
    const color = thresholds?.steps.findLast((each) => value >= (each.value ?? -Infinity))?.color ?? 'green';
    const middle = x + 8 + width * (i + 0.5);
    return [
      text(middle, y + h / 2 + 18, `${short.format(value / size)}${unitName}`, `v m ${color}`),
      ...(series.length > 1 ? [text(middle, y + h / 2 - 18, name, 's m')] : []),
    ];
  });
}

/** A row for each set of labels, with the last value of each query. */
function table({targets, transformations}: Panel, series: readonly Series[], {x, y, w}: Place): string[] {
  const names = Object.keys(series[0]!.labels);
  const key = ({labels}: Series): string => names.map((name) => labels[name]).join(' ');
  const valueOf = (one?: Series): string => (one ? short.format(one.points.at(-1)![1]) : '');
  const rows = [...Map.groupBy(series, key).values()].map((of) => [
    ...names.map((name) => of[0]!.labels[name]!),
    ...targets.map((_, i) => valueOf(of.find(({target}) => target === i))),
  ]);
  const renamed = transformations?.find(({options}) => options.renameByName)?.options.renameByName;
  const columns = targets.map(({refId}) => renamed?.[`Value #${refId}`] ?? `Value #${refId}`);
  const shares = [0, 0.355, 0.62, 0.83, 1];
  return [[...names, ...columns], ...rows].flatMap((cells, n) => {
    const base = y + 42 + n * 21;
    return [
      ...cells.map((cell, i) => {
        const width = (shares[i + 1]! - shares[i]!) * (w - 20);
        const isNumber = i >= names.length;
        const at = Math.round(x + 10 + shares[i]! * (w - 20) + (isNumber ? width : 0));
        return text(at, base, cut(cell, width - 2), `c${n === 0 ? ' s' : ''}${isNumber ? ' e' : ''}`);
      }),
      `<path class="grid" d="M${x + 10} ${base + 7}h${w - 20}"/>`,
    ];
  });
}

const drawings = {timeseries, stat, table};

/** The series of a panel. A chart has the whole range, other panels have the end of it. */
async function seriesOf({title, type, targets}: Panel, prometheus: Prometheus): Promise<Series[]> {
  const results = targets.map(async ({expr, legendFormat}, target) => {
    const curves = await prometheus.range(expr, type === 'timeseries' ? end - range : end, end, step);
    const series = curves.map((curve) => ({
      name: legendFormat.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => curve.metric[label] ?? ''),
      labels: curve.metric,
      target,
      points: curve.values
        .map(([time, value]): [number, number] => [time, Number(value)])
        .filter(([, v]) => Number.isFinite(v)),
    }));
    if (!series.some(({points}) => points.length > 0)) throw new Error(`${title} has no values: ${expr}`);
    return series.filter(({points}) => points.length > 0);
  });
  return (await Promise.all(results)).flat();
}

async function drawn(panel: Panel, prometheus: Prometheus): Promise<string> {
  const {x, y, w, h} = panel.gridPos;
  const place = {x: gap + x * column, y: top + y * row, w: w * column - gap, h: h * row - gap};
  if (panel.type === 'row') return text(place.x + 2, place.y + 13, panel.title, 't');
  return [
    `<rect class="panel" x="${place.x}" y="${place.y}" width="${place.w}" height="${place.h}" rx="3"/>`,
    text(place.x + 10, place.y + 19, panel.title, 't'),
    ...drawings[panel.type](panel, await seriesOf(panel, prometheus), place),
  ].join('\n');
}

const definition = readFileSync(new URL('../../charts/doorplate/files/dashboard.json', import.meta.url), 'utf8');
const {title, panels} = JSON.parse(definition) as {title: string; panels: Panel[]};
const [width, height] = [24 * column + gap, top + row * Math.max(...panels.map(({gridPos: {y, h}}) => y + h))];
const prometheus = await Prometheus.ofSeries(await sample((name) => definition.includes(name), release));
try {
  const parts: string[] = [];
  for (const panel of panels) parts.push(await drawn(panel, prometheus));
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="The dashboard with sample data">
<!-- Generated by docs/pictures/dashboard.ts. Do not edit. -->
<style>${style}</style>
<rect class="back" width="${width}" height="${height}"/>
${text(gap + 2, 25, title, 't')}
${text(width - gap, 25, 'Last 6 hours, UTC. Sample data', 's e')}
${parts.join('\n')}
</svg>
`;
  if (svg.length > mostBytes) throw new Error(`dashboard.svg has ${svg.length} bytes, more than ${mostBytes}`);
  writeFileSync(fileURLToPath(new URL('dashboard.svg', import.meta.url)), svg);
  console.log(`docs/pictures/dashboard.svg: ${svg.length} bytes`);
} finally {
  await prometheus.stop();
}
