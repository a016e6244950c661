/**
 * Reports changes through one event stream for all tabs of a browser. The tab that holds the lock reads the stream and informs the others;
 * when it closes, the next tab gets the lock.
 *
 *   server --events--> the tab with the lock --BroadcastChannel--> the others
 */

/** The changed part: a project with its domains, the keys, the account; `all` after a time without a stream. */
export type Changed = {project: string} | {keys: true} | {account: true} | {all: true};

/** Whether what is shown is kept up to date. */
export type LiveState = 'connecting' | 'open' | 'lost';

type Told = {changed: Changed} | {state: LiveState} | {hello: true} | {session: true};

export interface LiveOptions {
  onChange: (changed: Changed) => void;
  onState: (state: LiveState) => void;
  /** The stream was refused: perhaps nobody is signed in any more. */
  onRefused: () => void;
  /** Another tab signed in or out. */
  onSession: () => void;
}

// A BroadcastChannel has no target: it reaches this origin alone.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
const post = (channel: BroadcastChannel, told: Told): void => channel.postMessage(told);

const firstWaitMs = 1000;
const longestWaitMs = 15_000;

/** Follows until what it returns is called. */
export function follow({onChange, onState, onRefused, onSession}: LiveOptions): () => void {
  const channel = new BroadcastChannel('doorplate');
  const stopping = new AbortController();
  let state: LiveState = 'connecting';
  let leads = false;

  const hear = (told: Told): void => {
    if ('changed' in told) onChange(told.changed);
    else if ('session' in told) onSession();
    else if ('state' in told) {
      state = told.state;
      onState(state);
    } else if (leads) post(channel, {state});
  };
  const tell = (told: Told): void => {
    hear(told);
    post(channel, told);
  };
  channel.addEventListener('message', ({data}: MessageEvent<Told>) => hear(data));
  post(channel, {hello: true});

  const lead = async (): Promise<void> => {
    leads = true;
    for (let waitMs = firstWaitMs; !stopping.signal.aborted; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
      const opened = await readStream(tell, stopping.signal);
      if (stopping.signal.aborted) return;
      if (opened) waitMs = firstWaitMs;
      tell({state: 'lost'});
      if (!opened) onRefused();
      await pause(waitMs * (0.5 + Math.random()), stopping.signal);
    }
  };
  navigator.locks.request('doorplate-events', {signal: stopping.signal}, lead).catch(() => {});
  return () => {
    stopping.abort();
    channel.close();
  };
}

/** Tells the other tabs that who is signed in has changed. */
export function tellSession(): void {
  const channel = new BroadcastChannel('doorplate');
  post(channel, {session: true});
  channel.close();
}

/** Until the stream ends; whether it ever began. */
function readStream(tell: (told: Told) => void, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const source = new EventSource('/v1/events');
    let opened = false;
    const end = (): void => {
      source.close();
      resolve(opened);
    };
    source.addEventListener('open', () => {
      opened = true;
      tell({state: 'open'});
      tell({changed: {all: true}});
    });
    source.addEventListener('changed', ({data}: MessageEvent<string>) => tell({changed: JSON.parse(data) as Changed}));
    source.addEventListener('error', end);
    signal.addEventListener('abort', end);
  });
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    // A browser that comes back online reconnects at once.
    const now = (): void => {
      clearTimeout(timer);
      resolve();
    };
    window.addEventListener('online', now, {once: true, signal});
    signal.addEventListener('abort', now);
  });
