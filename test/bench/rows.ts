/** All rows, in order. What a row needs is loaded when it is wanted. */
import type {FixtureRow} from './live.ts';
import type {Row} from './table.ts';

export interface RowEntry {
  /** What it measures, in a few words. */
  what: string;
  run: {alone: () => Promise<Row>} | {onFixture: () => Promise<FixtureRow>};
}

const alone = (what: string, load: () => Promise<{run: Row}>): RowEntry => ({
  what,
  run: {alone: async () => (await load()).run},
});
const onFixture = (what: string, load: () => Promise<FixtureRow>): RowEntry => ({what, run: {onFixture: load}});

export const rows: Readonly<Record<string, RowEntry>> = {
  kit: alone('the runtime kit beside @kubernetes/client-node', () => import('./kit.ts')),
  P1a: alone('Certificates and Ingresses of proven domains, beside a bare loop of the same writes', async () => ({
    run: (await import('./existence.ts')).besideFloor,
  })),
  P1b: alone('the same beside a tuned ingress-shim', async () => ({run: (await import('./existence.ts')).besideTuned})),
  P1c: alone("the same beside ingress-shim at cert-manager's defaults", async () => ({
    run: (await import('./existence.ts')).besideDefault,
  })),
  P2: onFixture('writes of a domain from apply to Ready', async () => (await import('./live.ts')).writesUntilReady),
  P3: onFixture('writes in quiet minutes, with DNS re-checks', async () => (await import('./live.ts')).quietWhenLive),
  P3e: onFixture('writes while the edge is away', async () => (await import('./live.ts')).edgeAway),
  P4: onFixture('heap of a domain', async () => (await import('./live.ts')).heapOfDomains),
  heap: alone('heap of a domain in the copies and of looks, in process', () => import('./heap.ts')),
  P5: onFixture('removals while a plan changes', async () => (await import('./live.ts')).removals),
  P6: onFixture('a start with all domains Ready', async () => (await import('./restarts.ts')).restart),
  P7: onFixture('another operator takes over', async () => (await import('./restarts.ts')).election),
  P8: alone('DNS checks a second, and beside silent servers', () => import('./dns.ts')),
  limits: alone(
    "P9 and P10: the limiter's CPU beside @fastify/rate-limit, and what it admits",
    () => import('./limits.ts'),
  ),
  P11: alone('the redirector beside nginx', () => import('./redirects.ts')),
  P12: alone('one CustomDomain of 501 hosts', () => import('./many-hosts.ts')),
  P13: alone('20,000 in the order line', () => import('./order-line.ts')),
  P14: alone('the end of a namespace with many domains', () => import('./namespace-end.ts')),
  P15: alone('event streams of a large project, beside requests of another tenant', () => import('./streams.ts')),
  traefik: alone('P2 on the whole cluster, and how long 100 domains take there', () => import('./traefik.ts')),
};

/** Rows by the words of a command line, whatever their case, commas or blanks between them; all for none. Throws for an unknown one. */
export function rowsOf(words: readonly string[]): string[] {
  const wanted = words.flatMap((word) => word.split(/[\s,]+/)).filter(Boolean);
  if (wanted.length === 0) return Object.keys(rows);
  const names = wanted.flatMap((word) => {
    if (/^p1$/i.test(word)) return ['P1a', 'P1b', 'P1c'];
    if (/^p(9|10)$/i.test(word)) return ['limits'];
    const name = Object.keys(rows).find((row) => row.toLowerCase() === word.toLowerCase());
    if (name === undefined)
      throw new Error(`there is no row ${JSON.stringify(word)}; there are ${Object.keys(rows).join(', ')}`);
    return [name];
  });
  return Object.keys(rows).filter((row) => names.includes(row));
}
