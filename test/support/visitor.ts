import {afterEach} from '@jest/globals';
import {eventually, fetchEdge} from '../../cluster/cluster.ts';

const visits = new Set<AbortController>();
/** Fewer say nothing. */
const enough = 10;
// One that a failed test has left behind would keep its process alive.
afterEach(() => {
  for (const visit of visits) visit.abort();
});

/** Waits until a request is redirected so: the redirector reads of it by a watch of its own. */
export async function redirected(url: string, status: number, location: string, ca?: string): Promise<void> {
  await eventually(`${url} redirects to ${location} by ${status}`, async () => {
    const reply = await fetchEdge(url, {...(ca !== undefined && {ca})});
    if (reply.status !== status || reply.location !== location)
      throw new Error(`it answers ${reply.status} ${reply.location ?? ''}`);
    return true;
  });
}

/** What was not answered as it should be: which requests, what came of the last, and when that began and ended, ms since the epoch. */
export interface Failure {
  said: string;
  began: number;
  ended: number;
}

/** Summarises failures: a line for each message, with its count and its first and last time in seconds after the preceding step. */
export function inShort(failed: readonly Failure[], steps: readonly [step: string, ms: number][]): string[] {
  const after = (ms: number): string => {
    const [step, at] = steps.findLast(([, began]) => began <= ms) ?? ['1970', 0];
    return `${((ms - at) / 1000).toFixed(1)} s after ${step}`;
  };
  return [...Map.groupBy(failed, ({said}) => said)].map(
    ([said, all]) => `${all.length} times from ${after(all[0]!.began)} to ${after(all.at(-1)!.ended)}: ${said}`,
  );
}

export interface Visits {
  requests: number;
  failed: Failure[];
  /** When the last request began that was answered by the page itself, by the URL that was asked for first; ms since the epoch. */
  lastAnswered: ReadonlyMap<string, number>;
}

/** Waits until the edge serves a hostname no more. */
export const stopped = (hostname: string): Promise<true> =>
  eventually(
    `${hostname} is served no more`,
    async () => (await fetchEdge(`https://${hostname}/`)).status === 404,
  ) as Promise<true>;

/** Waits until a hostname is served by a tenant's Service `web`. */
export const servedBy = (hostname: string, {namespace}: {namespace: string}, ca: string): Promise<true> =>
  eventually(
    `${hostname} is served by ${namespace}`,
    async () => (await fetchEdge(`https://${hostname}/`, {ca})).body === `hello from ${namespace}/web\n`,
    undefined,
    100,
  ) as Promise<true>;

/**
 * A client that follows redirects, over and over, on each of these hostnames by https and http, once all of them have answered;
 * `everyMs` is the pause between two of them; `stop` tells what came of it. A request that was under way when something ended may fail: its times tell.
 */
export async function constantClient(
  hostnames: readonly string[],
  ca: string,
  {everyMs = 50} = {},
): Promise<{stop: () => Promise<Visits>}> {
  const stopping = new AbortController();
  visits.add(stopping);
  let requests = 0;
  const failed: Failure[] = [];
  const lastAnswered = new Map<string, number>();
  const follow = async (url: string, hops: string[] = []): Promise<void> => {
    const began = Date.now();
    const fails = (what: string) => {
      failed.push({said: `${[...hops, url].join(' -> ')}: ${what}`, began, ended: Date.now()});
    };
    if (hops.length > 4) {
      fails('too many redirects');
      return;
    }
    const reply = await fetchEdge(url, {ca}).catch((e: Error) => ({status: 0, location: undefined, body: e.message}));
    requests++;
    if (reply.status >= 300 && reply.status < 400 && reply.location !== undefined)
      await follow(reply.location, [...hops, url]);
    else if (reply.status !== 200 || !reply.body.startsWith('hello from'))
      fails(`${reply.status} ${reply.body.slice(0, 200)}`);
    else lastAnswered.set(hops[0] ?? url, began);
  };
  const urls = hostnames.flatMap((h) => [`https://${h}/`, `http://${h}/`]);
  await eventually('each answers', async () => {
    for (const url of urls) await follow(url);
    if (failed.length > 0)
      throw new Error(
        failed
          .splice(0)
          .map((f) => f.said)
          .join('; '),
      );
    return true;
  });
  const loops = urls.map(async (url) => {
    while (!stopping.signal.aborted) {
      await follow(url);
      await new Promise((resolve) => {
        setTimeout(resolve, everyMs);
      });
    }
  });
  const stop = async () => {
    // None failed of none says nothing; what changed may have taken less time than a few requests.
    await eventually('the client has made enough requests', async () => requests >= enough);
    stopping.abort();
    await Promise.all(loops);
    return {requests, failed, lastAnswered};
  };
  return {stop};
}
