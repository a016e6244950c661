/** The authorizer's thread if no API server answers, and if the thread fails. */
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {pino} from 'pino';
import {Registry} from 'prom-client';
import {type AuthorizerThread, startAuthorizer} from '../../../operator/roles/authorizer.ts';
import type {AuthorizerSettings} from '../../../operator/roles/authorizer-worker.ts';

const folder = mkdtempSync(join(tmpdir(), 'doorplate-authorizer-'));
const before = process.env.KUBECONFIG;
beforeAll(() => {
  const file = join(folder, 'kubeconfig');
  writeFileSync(
    file,
    JSON.stringify({
      clusters: [{name: 'gone', cluster: {server: 'https://127.0.0.1:1'}}],
      users: [{name: 'gone', user: {token: 'none'}}],
      contexts: [{name: 'gone', context: {cluster: 'gone', user: 'gone'}}],
      'current-context': 'gone',
    }),
  );
  process.env.KUBECONFIG = file;
});
afterAll(() => {
  if (before === undefined) delete process.env.KUBECONFIG;
  else process.env.KUBECONFIG = before;
  rmSync(folder, {recursive: true});
});

const settings: AuthorizerSettings = {
  logLevel: 'silent',
  logFormat: 'json',
  limits: {store: {kind: 'Memory'}, bans: {}},
  ports: {grpc: 0, http: 0},
  trustedProxies: [],
  withoutKey: {requestsPerMinute: 60},
  perServiceAccount: {requestsPerMinute: 6000},
  requireAccount: false,
  audience: 'doorplate',
  defaultPlan: 'free',
};

interface Started {
  /** Resolves with the exit code, in place of the process's end. */
  exited: Promise<number>;
  thread: Promise<AuthorizerThread>;
  registry: Registry;
  fatal: string[];
}

function start(changes: Partial<AuthorizerSettings> = {}): Started {
  const [registry, fatal] = [new Registry(), [] as string[]];
  const log = pino({level: 'fatal'}, {write: (line) => void fatal.push((JSON.parse(line) as {msg: string}).msg)});
  const {promise: exited, resolve: exit} = Promise.withResolvers<number>();
  return {thread: startAuthorizer({...settings, ...changes}, {log, registry, exit}), exited, registry, fatal};
}

test('while no API server answers, it counts and keeps records for the main thread, is not ready, and stops', async () => {
  const {thread, registry, fatal} = start();
  const {limits, caches, server, onReport} = await thread;
  const pool = {id: 'tenant:acme', quota: {requestsPerMinute: 2}};
  const verdicts = [];
  for (let i = 0; i < 3; i++) verdicts.push(await limits.limiter.take([pool]));
  expect(verdicts.map(({allowed, minuteRemaining}) => [allowed, minuteRemaining])).toEqual([
    [true, 1],
    [true, 0],
    [false, 0],
  ]);
  expect(await limits.limiter.look([pool])).toMatchObject({minuteRemaining: 0});
  const record = {name: 'session:1', text: 'a', endsSeconds: Date.now() / 1000 + 60};
  expect(await limits.records.claim(record, Date.now())).toBeUndefined();
  expect(await limits.records.claim({...record, text: 'b'}, Date.now())).toBe('a');
  expect([await limits.records.take('session:1'), await limits.records.get('session:1')]).toEqual(['a', undefined]);
  expect(Math.abs(limits.clock.nowMs() - Date.now())).toBeLessThan(1000);
  await new Promise<void>((resolve) => onReport(() => resolve()));
  expect(await registry.getSingleMetricAsString('doorplate_limit_decisions_total')).toContain('"refused"} 1');
  expect(caches.isSynced).toBe(false);
  await server.start();
  await server.stop();
  await limits.stop();
  expect(fatal).toEqual([]);
});

test('a thread that fails ends the process, and the log says so', async () => {
  // A fake fault: pino knows no such level, so that the thread fails as it starts.
  const {exited, fatal} = start({logLevel: 'nonsense'});
  expect(await exited).toBe(1);
  expect(fatal).toEqual(['the thread of the authorizer failed: the process exits']);
});
