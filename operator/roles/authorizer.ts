/** Starts the authorizer's thread (authorizer-worker.ts) and connects the main thread with it. */
import {Worker} from 'node:worker_threads';
import type {Logger} from 'pino';
import type {Registry} from 'prom-client';
import type {ManagedServer} from '../kube/manager.ts';
import {type ThreadCall, callsTo} from '../limits/remote/calls.ts';
import {RemoteLimits} from '../limits/remote/remote.ts';
import type {AuthorizerMethods, AuthorizerNews, AuthorizerSettings, Report} from './authorizer-worker.ts';

/** The source in development. The image's bundle has it, compiled, in the bundle's folder (cluster/bundle.sh). */
const workerUrl = new URL(`./authorizer-worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);

/** The thread sends a report each second. After so many seconds without one, it counts as hung. */
const silentSeconds = 30;

export interface AuthorizerThread {
  /** The thread keeps them. `stop` gives back unused quota and ends the thread. */
  limits: RemoteLimits;
  /** The authorizer's ports. */
  server: ManagedServer;
  /** The thread's caches, in the form in which a Manager waits for caches. */
  caches: {
    resource: {plural: string};
    start: () => void;
    stopped: () => Promise<void>;
    synced: Promise<void>;
    readonly isSynced: boolean;
  };
  /** Calls the handler with each report, once a second. */
  onReport: (handler: (report: Report) => void) => void;
}

/** Resolves when the limits answer. If the thread ends by itself or hangs, `exit` ends the process. */
export async function startAuthorizer(
  settings: AuthorizerSettings,
  {
    log,
    registry,
    exit = (code) => process.exit(code),
  }: {log: Logger; registry: Registry; exit?: (code: number) => void},
): Promise<AuthorizerThread> {
  const worker = new Worker(workerUrl, {
    name: 'authorizer',
    workerData: settings,
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const life = watch(worker, {log, exit});
  const call = callsTo<AuthorizerMethods>(worker);
  const handlers: ((report: Report) => void)[] = [];
  let limits: RemoteLimits | undefined;
  worker.on('message', (news: AuthorizerNews) => {
    if ('report' in news) {
      life.seen();
      limits?.follow(news.report);
      for (const handler of handlers) handler(news.report);
    } else if ('bansOf' in news) limits?.changeBans(news.bansOf.hash, news.bansOf.bans);
  });
  // Messages are in order: a ban that begins before the answer to `allBans` is in that answer.
  const beat = await call('beat');
  limits = new RemoteLimits({
    call,
    beat,
    allBans: await call('allBans'),
    rules: settings.limits.bans,
    registry,
    stop: async () => {
      life.mayEnd();
      await call('end');
      await worker.terminate();
    },
  });
  return {
    limits,
    server: {
      start: () => call('listen'),
      stop: () => call('drain'),
    },
    caches: cachesOf(call),
    onReport: (handler) => void handlers.push(handler),
  };
}

function cachesOf(call: ThreadCall<AuthorizerMethods>): AuthorizerThread['caches'] {
  let isSynced = false;
  const sync = async (): Promise<void> => {
    await call('synced');
    isSynced = true;
  };
  return {
    resource: {plural: 'the caches of the authorizer'},
    start: () => {},
    stopped: () => Promise.resolve(),
    synced: sync(),
    get isSynced() {
      return isSynced;
    },
  };
}

/** Ends the process if the thread ends or hangs: no request of either thread can then be charged. */
function watch(
  worker: Worker,
  {log, exit}: {log: Logger; exit: (code: number) => void},
): {seen: () => void; mayEnd: () => void} {
  let isOver = false;
  let silent = 0;
  const end = (why: string, error?: unknown): void => {
    if (isOver) return;
    isOver = true;
    log.fatal({err: error}, why);
    exit(1);
  };
  // A blocked main thread counts one second, and reads the waiting reports before it counts the next one.
  const seconds = setInterval(() => {
    if (++silent > silentSeconds) end('the thread of the authorizer does not respond: the process exits');
  }, 1000).unref();
  worker.on('error', (error) => end('the thread of the authorizer failed: the process exits', error));
  worker.on('exit', () => {
    clearInterval(seconds);
    end('the thread of the authorizer ended: the process exits');
  });
  return {
    seen: () => {
      silent = 0;
    },
    mayEnd: () => {
      isOver = true;
    },
  };
}
