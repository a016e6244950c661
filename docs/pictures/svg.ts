/** Draws pictures as SVG: boxes, arrows, texts and time axes, in light and dark colors. All numbers are in units of the viewBox. */

export type Point = readonly [x: number, y: number];
/** `own`: a part of Doorplate. `good`: a desired state. `warn`, `bad`: a state that needs action, a refusal. */
export type Tone = 'plain' | 'own' | 'good' | 'warn' | 'bad';

interface Place {
  x: number;
  y: number;
  w: number;
  h: number;
}

interface Colors {
  paper: string;
  ink: string;
  soft: string;
  line: string;
  /** Fill and stroke. */
  tones: Record<Tone, readonly [fill: string, stroke: string]>;
}

const light: Colors = {
  paper: '#ffffff',
  ink: '#1c2430',
  soft: '#465265',
  line: '#5b6778',
  tones: {
    plain: ['#f4f6fa', '#5b6b84'],
    own: ['#e3ecfb', '#2456a6'],
    good: ['#e2f3e6', '#2b7a3f'],
    warn: ['#fdf1d8', '#96690b'],
    bad: ['#fbe6e4', '#b3382c'],
  },
};

const dark: Colors = {
  paper: '#161b22',
  ink: '#e8edf4',
  soft: '#b3bfce',
  line: '#8f9bad',
  tones: {
    plain: ['#242c37', '#8493a8'],
    own: ['#1d3152', '#7aa7ee'],
    good: ['#1b3a26', '#68bd80'],
    warn: ['#40320f', '#dcae4e'],
    bad: ['#472320', '#ea8a80'],
  },
};

const variables = ({paper, ink, soft, line, tones}: Colors): string =>
  [
    `--paper:${paper};--ink:${ink};--soft:${soft};--line:${line}`,
    ...Object.entries(tones).map(([tone, [fill, stroke]]) => `--${tone}:${fill};--${tone}-line:${stroke}`),
  ].join(';');

const style = `
svg{${variables(light)}}
@media (prefers-color-scheme:dark){svg{${variables(dark)}}}
text{fill:var(--ink);font:14px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
.s{font-size:12.5px;fill:var(--soft)}.b{font-weight:600}.m{text-anchor:middle}.e{text-anchor:end}
.l{stroke:var(--line);stroke-width:1.5;fill:none}.h{stroke-dasharray:5 4}.p{fill:var(--paper)}.t{fill:var(--line)}
${Object.keys(light.tones)
  .map((tone) => `.${tone}{fill:var(--${tone});stroke:var(--${tone}-line);stroke-width:1.5}`)
  .join('')}
.g{fill:none;stroke-dasharray:6 4}`;

export const escape = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

export interface TextOptions {
  anchor?: 'start' | 'middle' | 'end';
  bold?: boolean;
  /** The size and the color of remarks. */
  small?: boolean;
}

/** One line of text for each of `lines`, from the baseline `y` on. */
export function text(x: number, y: number, lines: string | readonly string[], options: TextOptions = {}): string {
  const {anchor = 'start', bold = false, small = true} = options;
  const names = [small && 's', bold && 'b', anchor === 'middle' && 'm', anchor === 'end' && 'e'].filter(Boolean);
  const name = names.length > 0 ? ` class="${names.join(' ')}"` : '';
  return [lines]
    .flat()
    .map((line, i) => `<text x="${x}" y="${y + i * 17}"${name}>${escape(line)}</text>`)
    .join('\n');
}

/** A box with a title and remarks below it, centered. */
export function box({x, y, w, h}: Place, title: string, lines: readonly string[] = [], tone: Tone = 'plain'): string {
  const middle = x + w / 2;
  const top = y + h / 2 + 5 - (lines.length * 17) / 2;
  return [
    `<rect class="${tone}" x="${x}" y="${y}" width="${w}" height="${h}" rx="6"/>`,
    text(middle, top, title, {anchor: 'middle', bold: true, small: false}),
    text(middle, top + 18, lines, {anchor: 'middle'}),
  ].join('\n');
}

/** A dashed frame around several boxes, with its title inside at the top. */
export const group = ({x, y, w, h}: Place, title: string, tone: Tone = 'plain'): string =>
  [
    `<rect class="${tone} g" style="fill:none" x="${x}" y="${y}" width="${w}" height="${h}" rx="8"/>`,
    text(x + 12, y + 21, title, {bold: true}),
  ].join('\n');

export interface ArrowOptions {
  dashed?: boolean;
  /** A line without a head. */
  plain?: boolean;
  /** Heads at both ends. */
  both?: boolean;
}

/** An arrow along straight lines through all points, with rounded corners. */
export function arrow(
  points: readonly Point[],
  {dashed = false, plain = false, both = false}: ArrowOptions = {},
): string {
  const corners = points.slice(1, -1).map((corner, i) => bend(points[i]!, corner, points[i + 2]!));
  const path = [`M${points[0]!.join(' ')}`, ...corners, `L${points.at(-1)!.join(' ')}`].join('');
  const heads = plain ? '' : `${both ? ' marker-start="url(#a)"' : ''} marker-end="url(#a)"`;
  return `<path class="l${dashed ? ' h' : ''}" d="${path}"${heads}/>`;
}

/** Draws a rounded corner: a straight line, then a curve. */
function bend(from: Point, corner: Point, to: Point): string {
  const near = (end: Point): string => {
    const length = Math.hypot(end[0] - corner[0], end[1] - corner[1]);
    const part = Math.min(10, length / 2) / length;
    return [0, 1].map((i) => Math.round((corner[i]! + (end[i]! - corner[i]!) * part) * 10) / 10).join(' ');
  };
  return `L${near(from)}Q${corner.join(' ')} ${near(to)}`;
}

/** A time axis from `x` to `to`, with a tick and a label for each mark. */
export const axis = (
  x: number,
  to: number,
  y: number,
  marks: readonly (readonly [x: number, label: string])[],
): string =>
  [
    arrow([
      [x, y],
      [to, y],
    ]),
    ...marks.flatMap(([at, label]) => [
      `<path class="l" d="M${at} ${y - 5}V${y + 5}"/>`,
      text(at, y + 21, label, {anchor: 'middle'}),
    ]),
  ].join('\n');

/** A span of time: a bar with a label inside. */
export const span = (x: number, to: number, y: number, label: string, tone: Tone = 'plain'): string =>
  [
    `<rect class="${tone}" x="${x}" y="${y}" width="${to - x}" height="28" rx="4"/>`,
    text((x + to) / 2, y + 18.5, label, {anchor: 'middle'}),
  ].join('\n');

export interface Picture {
  /** Name of the file, without `.svg`. */
  name: string;
  /** Text for people who do not see the picture. */
  label: string;
  width: number;
  height: number;
  parts: readonly string[];
}

/** The file of a picture. */
export const fileOf = ({label, width, height, parts}: Picture): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(label)}">
<!-- Generated by docs/pictures/draw.ts. Do not edit. -->
<style>${style}</style>
<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path class="t" d="M0 0 8 4 0 8z"/></marker></defs>
<rect class="p" width="${width}" height="${height}"/>
${parts.join('\n')}
</svg>
`;
