/** Data that the page has read. Events keep it up to date. */
import {QueryCache, QueryClient, queryOptions} from '@tanstack/react-query';
import {api, mayPass, Refused} from './api.ts';
import type {Session} from './api.ts';
import type {Changed} from './live.ts';

/** No person is signed in. `why`: the answer that ended the session. */
export interface SignedOut {
  signedOut: true;
  why?: Refused;
}
export const signedOut: SignedOut = {signedOut: true};

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({signal}): Promise<Session | SignedOut> => {
    try {
      return await api.session(signal);
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 401) throw error;
      return {signedOut: true, ...(error.problem === 'session-ended' && {why: error})};
    }
  },
  staleTime: Infinity,
});

const longestWaitMs = 10_000;

/** Asks again what may be answered a little later. */
export const tryAgain = {
  retry: (_: number, error: unknown) => mayPass(error),
  retryDelay: (attempt: number, error: unknown) =>
    Math.min(
      error instanceof Refused && error.retryAfterSeconds ? error.retryAfterSeconds * 1000 : 500 * 2 ** attempt,
      longestWaitMs,
    ),
};

export const client = new QueryClient({
  queryCache: new QueryCache({
    // Whatever was asked: who asked is no longer signed in.
    onError: (error, {queryKey}) => {
      if (error instanceof Refused && error.status === 401 && queryKey[0] !== 'session')
        void client.invalidateQueries(sessionQuery);
    },
  }),
  defaultOptions: {
    queries: {staleTime: Infinity, refetchOnWindowFocus: false, ...tryAgain},
    // Offline it fails at once. It would wait until the network is back, and be done although it was cancelled meanwhile.
    mutations: {networkMode: 'always'},
  },
});

export const projectsQuery = queryOptions({queryKey: ['projects'], queryFn: ({signal}) => api.projects(signal)});
export const projectQuery = (name: string) =>
  queryOptions({queryKey: ['project', name], queryFn: ({signal}) => api.project(name, signal)});
export const domainsQuery = (name: string) =>
  queryOptions({queryKey: ['domains', name], queryFn: ({signal}) => api.domains(name, signal)});
export const accountQuery = queryOptions({queryKey: ['account'], queryFn: ({signal}) => api.account(signal)});
export const usageQuery = queryOptions({queryKey: ['usage'], queryFn: ({signal}) => api.usage(signal)});
export const keysQuery = queryOptions({queryKey: ['keys'], queryFn: ({signal}) => api.keys(signal)});

/** Somebody else is signed in now, or nobody: nothing that was read is theirs. */
export async function setSession(session: Session | SignedOut): Promise<void> {
  // An answer that is still on its way belongs to the previous session.
  await client.cancelQueries();
  client.removeQueries({predicate: ({queryKey}) => queryKey[0] !== 'session'});
  client.setQueryData<Session | SignedOut>(sessionQuery.queryKey, session);
}

function again(...keys: readonly (readonly string[])[]): void {
  for (const queryKey of keys) void renew(queryKey);
}

/** Pause between the end of a read and the next read of the same data, ms. */
const betweenMs = 500;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Running reads by key. `more`: the data changed during the read. */
const renewing = new Map<string, {more: boolean}>();

/**
 * However fast changes come, a single request at a time reads the same data. An answer that is on its way when a change arrives may be
 * outdated: the page awaits it, then reads once more.
 */
async function renew(queryKey: readonly string[]): Promise<void> {
  const id = queryKey.join('/');
  const running = renewing.get(id);
  if (running) {
    running.more = true;
    return;
  }
  const state = {more: true};
  renewing.set(id, state);
  while (state.more) {
    state.more = client.isFetching({queryKey, type: 'active'}) > 0;
    await client.invalidateQueries({queryKey}, {cancelRefetch: false});
    await pause(betweenMs);
  }
  renewing.delete(id);
}

/** Reads again what is shown of what has changed. */
export function take(changed: Changed): void {
  if ('project' in changed) again(['projects'], ['project', changed.project], ['domains', changed.project]);
  else if ('keys' in changed) again(['keys']);
  else if ('account' in changed) again(['account']);
  else again(['projects'], ['project'], ['domains'], ['account'], ['keys']);
}
