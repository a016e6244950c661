/**
 * The recording of the demo as an animated SVG: `make demo | tee demo.log`, then `node docs/pictures/recording.ts <demo.log >docs/pictures/demo.svg`.
 * It has the log's first steps and its last line. Long pauses are shortened. The animation is CSS, and stops at the last frame for readers
 * who prefer reduced motion.
 */
import {readFileSync} from 'node:fs';

const columns = 104;
const rows = 27;
/** Number of recorded steps. The last one shows how another tenant claims the hostname. */
const steps = 9;
const [charWidth, lineHeight, left, top] = [7.83, 19, 16, 44];
const [shortest, longest, beforeStep, atEnd] = [0.09, 1.1, 1.3, 6];

/** Text in one color. */
interface Run {
  text: string;
  style: '' | 'b' | 'g' | 'c' | 'd';
}
interface Line {
  runs: Run[];
  /** Seconds of the recording at which the line appears. */
  at: number;
}

const styles: Record<string, Run['style']> = {'1': 'b', '32': 'g', '36': 'c', '0': '', '2': 'd'};

/** The runs of a line with ANSI colors. */
function runsOf(line: string): Run[] {
  let style: Run['style'] = '';
  const runs: Run[] = [];
  // oxlint-disable-next-line no-control-regex
  for (const part of line.split(/(\x1b\[[0-9;]*[A-Za-z])/)) {
    // oxlint-disable-next-line no-control-regex
    const code = /^\x1b\[(\d*)m$/.exec(part);
    if (code) style = styles[code[1] ?? '0'] ?? '';
    else if (part !== '' && !part.startsWith('\x1b')) runs.push({text: part, style});
  }
  // The time of a line is dim.
  const time = /^(\[ *[\d.]+s\])(.*)$/.exec(runs[0]?.text ?? '');
  if (!time) return runs;
  const [first, ...others] = runs;
  const split: Run[] = [{text: time[1]!, style: 'd'}, {text: time[2]!, style: first!.style}, ...others];
  return split.filter(({text}) => text !== '');
}

/** Breaks a line into lines of at most {@link columns} characters, preferably at spaces. Cuts rows of tables. */
function wrap(runs: readonly Run[]): Run[][] {
  const [only] = runs;
  if (runs.length === 1 && /\S {3,}\S.* {3,}\S/.test(only!.text))
    return [
      [{...only!, text: only!.text.length > columns ? `${only!.text.slice(0, columns - 2).trimEnd()} …` : only!.text}],
    ];
  const lines: Run[][] = [[]];
  let width = 0;
  for (const {text, style} of runs) {
    let rest = text;
    while (width + rest.length > columns) {
      const room = columns - width;
      const space = rest.lastIndexOf(' ', room);
      const cut = space > 0 && (space > 20 || width > 20) ? space : room;
      lines.at(-1)!.push({text: rest.slice(0, cut), style});
      rest = ' '.repeat(10) + rest.slice(cut).trimStart();
      lines.push([]);
      width = 0;
    }
    lines.at(-1)!.push({text: rest, style});
    width += rest.length;
  }
  return lines;
}

/** Keys and links of the demo's cluster are not shown. */
const redacted = (text: string): string =>
  text.replaceAll(/\bdp_[a-z0-9.-]+_[0-9A-Za-z]{49}\b/g, 'dp_...').replaceAll(/sign-in#[\w-]{10,}/g, 'sign-in#...');

/** Whether a line of the log begins a step of the demo. */
// oxlint-disable-next-line no-control-regex
const isStep = (line: string): boolean => /^\[ *[\d.]+s\] \x1b\[1m/.test(line);

/** The lines of the recording, each with its time. */
function linesOf(log: string): Line[] {
  const all = redacted(log).trimEnd().split('\n');
  const starts = all.flatMap((line, i) => (isStep(line) ? [i] : []));
  if (starts.length <= steps)
    throw new Error(
      `the log has ${starts.length} steps with colors; run the demo on a terminal (script -qec 'make demo' demo.log)`,
    );
  const shown = [...all.slice(starts[0], starts[steps]), '          ...', '', all.at(-1)!];
  let at = 1.2;
  let before = 0;
  const lines: Line[] = [{runs: [{text: '$ make demo', style: 'b'}], at: 0}];
  for (const line of shown) {
    const runs = runsOf(line);
    const seconds = Number(/^\[ *([\d.]+)s\]/.exec(runs[0]?.text ?? '')?.[1] ?? before);
    const pause = Math.min(longest, Math.max(shortest, seconds - before));
    at += isStep(line) && lines.length > 1 ? Math.max(pause, beforeStep) : pause;
    before = Math.max(before, seconds);
    for (const part of wrap(runs)) lines.push({runs: part, at});
  }
  return lines;
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The picture. */
function svgOf(lines: readonly Line[]): string {
  const duration = lines.at(-1)!.at + atEnd;
  const percent = (seconds: number): string => `${((100 * seconds) / duration).toFixed(2)}%`;
  const times = [...new Set(lines.map(({at}) => at))];
  // A cover hides the lines that have not appeared. When the screen is full, the lines move up instead.
  const [cover, scroll] = [
    (seen: number) => `transform:translateY(${Math.min(seen, rows) * lineHeight}px)`,
    (seen: number) => `transform:translateY(-${Math.max(0, seen - rows) * lineHeight}px)`,
  ];
  const seenAt = (time: number): number => lines.filter(({at}) => at <= time).length;
  const frames = (of: (seen: number) => string): string => {
    let last = '';
    return times
      .flatMap((time) => {
        const now = of(seenAt(time));
        if (now === last) return [];
        last = now;
        return `${percent(time)}{${now}}`;
      })
      .join('');
  };
  const [width, height] = [Math.ceil(columns * charWidth + 2 * left), top + rows * lineHeight + 14];
  const text = lines.map(({runs}, i) => {
    const spans = runs.map(({text: t, style}) =>
      style === '' ? escaped(t) : `<tspan class="${style}">${escaped(t)}</tspan>`,
    );
    return spans.length === 0 ? '' : `<text x="${left}" y="${top + i * lineHeight + 14}">${spans.join('')}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">
<title id="title">Recording of the demo: Doorplate takes two hostnames from a missing DNS record to Live, and refuses another tenant</title>
<!-- Made from the output of the demo by docs/pictures/recording.ts -->
<style>
:root{--bg:#ffffff;--bar:#eef1f5;--line:#c9d1dc;--text:#1c2430;--dim:#5d6878;--green:#1f6f35;--cyan:#0b6478}
@media (prefers-color-scheme:dark){:root{--bg:#14191f;--bar:#20272f;--line:#39434f;--text:#dfe5ec;--dim:#9aa6b4;--green:#6fcf85;--cyan:#63c9e0}}
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:var(--text);white-space:pre}
.b{font-weight:700}.g{fill:var(--green);font-weight:700}.c{fill:var(--cyan);font-weight:700}.d{fill:var(--dim)}
.s{animation:s ${duration.toFixed(1)}s steps(1) infinite}.k{animation:k ${duration.toFixed(1)}s steps(1) infinite;fill:var(--bg)}
@keyframes s{${frames(scroll)}100%{${scroll(lines.length)}}}
@keyframes k{${frames(cover)}100%{${cover(lines.length)}}}
@media (prefers-reduced-motion:reduce){.s{animation:none;${scroll(lines.length)}}.k{animation:none;${cover(lines.length)}}}
</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="9" fill="var(--bg)" stroke="var(--line)"/>
<path d="M1 30V9a8 8 0 0 1 8-8h${width - 18}a8 8 0 0 1 8 8v21z" fill="var(--bar)"/>
<g fill="var(--line)"><circle cx="18" cy="16" r="5"/><circle cx="36" cy="16" r="5"/><circle cx="54" cy="16" r="5"/></g>
<clipPath id="screen"><rect x="1" y="${top}" width="${width - 2}" height="${rows * lineHeight + 4}"/></clipPath>
<g clip-path="url(#screen)"><g class="s">
${text.filter((line) => line !== '').join('\n')}
</g><rect class="k" x="1" y="${top - 1}" width="${width - 2}" height="${rows * lineHeight + 4}"/></g>
</svg>
`;
}

process.stdout.write(svgOf(linesOf(readFileSync(0, 'utf8').replaceAll('\r', ''))));
