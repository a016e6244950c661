import {afterEach} from '@jest/globals';
import {eventually, fetchEdge} from '../../cluster/cluster.ts';

const visits = new Set<AbortController>();
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

/**
 * A client that follows redirects, over and over, on each of these hostnames, once all of them have answered; `stop` tells how many
 * requests there were, and all that failed.
 */
export async function constantClient(
  hostnames: readonly string[],
  ca: string,
): Promise<{stop: () => Promise<{requests: number; failed: string[]}>}> {
  const stopping = new AbortController();
  visits.add(stopping);
  let requests = 0;
  const failed: string[] = [];
  const follow = async (url: string, hops: string[] = []): Promise<void> => {
    if (hops.length > 4) {
      failed.push(`too many redirects: ${[...hops, url].join(' -> ')}`);
      return;
    }
    const reply = await fetchEdge(url, {ca}).catch((e: Error) => ({status: 0, location: undefined, body: e.message}));
    requests++;
    if (reply.status >= 300 && reply.status < 400 && reply.location !== undefined)
      await follow(reply.location, [...hops, url]);
    else if (reply.status !== 200 || !reply.body.startsWith('hello from'))
      failed.push(
        `${new Date().toISOString()} ${[...hops, url].join(' -> ')}: ${reply.status} ${reply.body.slice(0, 200)}`,
      );
  };
  const urls = hostnames.flatMap((h) => [`https://${h}/`, `http://${h}/`]);
  await eventually('each answers', async () => {
    for (const url of urls) await follow(url);
    if (failed.length > 0) throw new Error(failed.splice(0).join('; '));
    return true;
  });
  const loops = urls.map(async (url) => {
    while (!stopping.signal.aborted) {
      await follow(url);
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
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
