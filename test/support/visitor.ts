import {fetchEdge} from '../../cluster/cluster.ts';

/** A client that follows redirects, over and over, on each of these hostnames; `stop` tells how many requests there were, and all that failed. */
export function constantClient(hostnames: readonly string[], ca: string): {stop: () => Promise<{requests: number; failed: string[]}>} {
  const stopping = new AbortController();
  let requests = 0;
  const failed: string[] = [];
  const follow = async (url: string, hops: string[] = []): Promise<void> => {
    if (hops.length > 4) { failed.push(`too many redirects: ${[...hops, url].join(' -> ')}`); return; }
    const reply = await fetchEdge(url, {ca}).catch((e: Error) => ({status: 0, location: undefined, body: e.message}));
    requests++;
    if (reply.status >= 300 && reply.status < 400 && reply.location !== undefined) await follow(reply.location, [...hops, url]);
    else if (reply.status !== 200 || !reply.body.startsWith('hello from')) failed.push(`${new Date().toISOString()} ${[...hops, url].join(' -> ')}: ${reply.status} ${reply.body.slice(0, 200)}`);
  };
  const loops = hostnames.flatMap((h) => [`https://${h}/`, `http://${h}/x?y=z`]).map(async (url) => {
    while (!stopping.signal.aborted) {
      await follow(url.replace('/x?y=z', '/'));
      await new Promise((resolve) => { setTimeout(resolve, 20); });
    }
  });
  return {stop: async () => { stopping.abort(); await Promise.all(loops); return {requests, failed}; }};
}
