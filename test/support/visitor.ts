import {afterEach} from '@jest/globals';
import {fetchEdge} from '../../cluster/cluster.ts';

const visits = new Set<AbortController>();
// One that a failed test has left behind would keep its process alive.
afterEach(() => { for (const visit of visits) visit.abort(); });

/** A client that follows redirects, over and over, on each of these hostnames; `stop` tells how many requests there were, and all that failed. */
export function constantClient(hostnames: readonly string[], ca: string): {stop: () => Promise<{requests: number; failed: string[]}>} {
  const stopping = new AbortController();
  visits.add(stopping);
  let requests = 0;
  const failed: string[] = [];
  const follow = async (url: string, hops: string[] = []): Promise<void> => {
    if (hops.length > 4) { failed.push(`too many redirects: ${[...hops, url].join(' -> ')}`); return; }
    const reply = await fetchEdge(url, {ca}).catch((e: Error) => ({status: 0, location: undefined, body: e.message}));
    requests++;
    if (reply.status >= 300 && reply.status < 400 && reply.location !== undefined) await follow(reply.location, [...hops, url]);
    else if (reply.status !== 200 || !reply.body.startsWith('hello from')) failed.push(`${new Date().toISOString()} ${[...hops, url].join(' -> ')}: ${reply.status} ${reply.body.slice(0, 200)}`);
  };
  const loops = hostnames.flatMap((h) => [`https://${h}/`, `http://${h}/`]).map(async (url) => {
    while (!stopping.signal.aborted) {
      await follow(url);
      await new Promise((resolve) => { setTimeout(resolve, 20); });
    }
  });
  const stop = async () => {
    stopping.abort();
    await Promise.all(loops);
    // None failed of none says nothing.
    if (requests < 10) throw new Error(`the client has made ${requests} requests`);
    return {requests, failed};
  };
  return {stop};
}
