/**
 * The authorizer's thread: the limits of the whole process, its own caches, and the servers that proxies ask. A decision needs
 * nothing from the main thread. authorizer.ts starts this thread.
 */
import {parentPort, workerData} from 'node:worker_threads';
import {Registry} from 'prom-client';
import {Authorizer} from '../authorize/authorizer.ts';
import {envoyServer} from '../authorize/envoy.ts';
import {authorizeServer} from '../authorize/http.ts';
import {tenantCaches, Tenants} from '../controllers/state/tenants.ts';
import {ServiceAccounts} from '../http/gate/service-accounts.ts';
import {countIn} from '../http/usage.ts';
import {storeCaches} from '../http/store/store.ts';
import {Client} from '../kube/client/client.ts';
import {keyOf} from '../kube/objects.ts';
import type {Ban} from '../limits/bans.ts';
import {answerCalls} from '../limits/remote/calls.ts';
import {type LimitsOptions, startLimits} from '../limits/limits.ts';
import {type Beat, beatOf, limitMethods} from '../limits/remote/remote.ts';
import type {Quota} from '../limits/verdict.ts';
import {type LogFormat, makeLog} from '../observability/log.ts';
import {makeGate} from './gate.ts';

/** Plain data: the thread gets a copy. */
export interface AuthorizerSettings {
  logLevel: string;
  logFormat: LogFormat;
  limits: Pick<LimitsOptions, 'store' | 'bans' | 'journal'>;
  ports: {grpc: number; http: number};
  trustedProxies: readonly string[];
  withoutKey: Quota;
  perServiceAccount: Quota;
  requireAccount: boolean;
  audience: string;
  defaultPlan: string;
}

/** Events since the last report. */
export interface Report extends Beat {
  /** Status and seconds of each decision. */
  decided: [number, number][];
  /** Requests that were refused, by why. */
  refusals: Record<'rate-limited' | 'key-banned', number>;
  /** When each ApiKey was used last (Unix ms), by its cache key. */
  used: Map<string, number>;
}

/** Messages beside the answers to calls. */
export type AuthorizerNews = {id?: undefined} & ({report: Report} | {bansOf: {hash: string; bans: Ban[]}});
export type AuthorizerMethods = Awaited<ReturnType<typeof startThread>>;

const reportEveryMs = 1000;
const port = parentPort!;
const tell = (news: AuthorizerNews): void => port.postMessage(news, []);

const emptyReport = (): Omit<Report, keyof Beat> => ({
  decided: [],
  refusals: {'rate-limited': 0, 'key-banned': 0},
  used: new Map(),
});

/** Keys expire by the system's clock, as in the main thread. */
const systemNow = (): number => Date.now();

async function startThread(settings: AuthorizerSettings) {
  const {logLevel, logFormat, audience, defaultPlan} = settings;
  const log = makeLog('api', logLevel, logFormat);
  const client = await Client.load({userAgent: 'doorplate/api'});
  // The main thread publishes the metrics.
  const limits = await startLimits({...settings.limits, log, registry: new Registry()});
  const {keys} = storeCaches(client, log);
  const caches = {keys, ...tenantCaches(client, log)};
  const all = Object.values(caches);
  const over = new AbortController();
  for (const cache of all) cache.start(over.signal);

  let since = emptyReport();
  const report = (): void => {
    tell({report: {...since, ...beatOf(limits)}});
    since = emptyReport();
  };
  const letThrough = countIn(limits.usage);
  const gate = makeGate({
    limits,
    settings,
    tenants: new Tenants(caches, defaultPlan),
    findKey: (key) => keys.get(key),
    serviceAccounts: new ServiceAccounts({client, audience, now: systemNow, trustedNow: () => limits.clock.nowMs()}),
    now: systemNow,
    used: (key, atMs) => void since.used.set(keyOf(key), atMs),
    refused: (why) => void since.refusals[why]++,
    letThrough,
  });
  const asked = new Authorizer({
    gate,
    log,
    letThrough,
    ready: () => all.every((cache) => cache.isSynced),
    onDecision: ({status, seconds}) => void since.decided.push([status, seconds]),
  });
  const servers = serversOf(asked, settings);
  limits.bans.onChange((hash) => tell({bansOf: {hash, bans: limits.bans.of(hash)}}));
  const reports = setInterval(report, reportEveryMs);

  return {
    ...limitMethods(limits),
    beat: () => beatOf(limits),
    synced: async () => {
      await Promise.all(all.map((cache) => cache.synced));
    },
    ...servers,
    /** Gives back unused quota and closes the store. No other call may follow. */
    end: async () => {
      await limits.stop();
      clearInterval(reports);
      report();
      over.abort(new Error('the process stops'));
      await Promise.all(all.map((cache) => cache.stopped()));
      await client.close();
    },
  };
}

function serversOf(authorizer: Authorizer, {ports, trustedProxies}: AuthorizerSettings) {
  const servers = [
    envoyServer({authorizer, port: ports.grpc}),
    authorizeServer({authorizer, port: ports.http, trustedProxies}),
  ];
  return {
    listen: async (): Promise<void> => {
      await Promise.all(servers.map((server) => server.start()));
    },
    /** Stops listening. Resolves when each open request has its decision. */
    drain: async (): Promise<void> => {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

answerCalls(port, await startThread(workerData as AuthorizerSettings));
