/** A chart of how a platform grows: each figure as a share of its last value, so that what is linear is a straight line to the corner. */
import type {Step} from './fixture.ts';

const [width, height, margin] = [720, 420, 60];
const legendWidth = 200;

interface Curve {
  name: string;
  colour: string;
  of: (step: Step, i: number, all: readonly Step[]) => number;
}
const total = (all: readonly Step[], until: number): number =>
  all.slice(0, until + 1).reduce((sum, {ms}) => sum + ms, 0);
const curves: readonly Curve[] = [
  {name: 'time until Ready', colour: '#1f77b4', of: (_, i, all) => total(all, i)},
  {name: 'heap of the operator', colour: '#d62728', of: ({heapUsed}) => heapUsed},
  {name: 'its RSS', colour: '#9467bd', of: ({rss}) => rss},
  {name: 'objects in etcd', colour: '#2ca02c', of: ({storedBytes}) => storedBytes},
];

/** SVG. */
export function growthChart(all: readonly Step[]): string {
  const most = all.at(-1)?.domains ?? 1;
  const x = (domains: number): number => margin + (domains / most) * (width - 2 * margin);
  const y = (share: number): number => height - margin - share * (height - 2 * margin);
  const lines = curves.map(({name, colour, of}, n) => {
    const values = all.map((step, i) => of(step, i, all));
    const last = values.at(-1) ?? 1;
    const points = all.map(({domains}, i) => `${x(domains).toFixed(1)},${y(values[i]! / last).toFixed(1)}`).join(' ');
    return (
      `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${points}"/>` +
      `<text x="${width - margin + 10}" y="${margin + 18 * n}" fill="${colour}">${name}</text>`
    );
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width + legendWidth}" height="${height}" font-family="sans-serif" font-size="13">
<rect width="100%" height="100%" fill="#fff"/>
<line x1="${x(0)}" y1="${y(0)}" x2="${x(most)}" y2="${y(1)}" stroke="#bbb" stroke-dasharray="4 4"/>
<path d="M${x(0)},${y(1)} V${y(0)} H${x(most)}" fill="none" stroke="#333"/>
<text x="${x(0)}" y="${height - margin + 24}">0</text>
<text x="${x(most)}" y="${height - margin + 24}" text-anchor="middle">${most} domains</text>
<text x="${margin - 8}" y="${y(1)}" text-anchor="end">1</text>
${lines.join('\n')}
</svg>
`;
}
