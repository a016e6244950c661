import {randomBytes} from 'node:crypto';
import {setTimeout as wait} from 'node:timers/promises';
import {isDeepStrictEqual} from 'node:util';
import {pino} from 'pino';
import {Registry} from 'prom-client';
import {nextLookMs} from '../../cluster/polling.ts';
import type {Account} from '../../operator/api/foreign.ts';
import {parseSettings, toPolicy} from '../../operator/config.ts';
import {accounts} from '../../operator/resources/resources.ts';
import {Client} from '../../operator/kube/client/client.ts';
import type {Manager} from '../../operator/kube/manager.ts';
import {kitMetrics} from '../../operator/kube/metrics.ts';
import {connectionsFor} from '../../operator/kube/client/workers.ts';
import {operator} from '../../operator/roles/operator.ts';
import type {RoleParts} from '../../operator/roles/parts.ts';
import {eventually} from './kube-api.ts';
import {patience} from './patience.ts';
import {FaultProxy, type Seen} from './kube-proxy.ts';
import {home, ingressClass, issuer, redirector, zone, type Platform} from './platform.ts';

/** For so long nothing is asked or written when the operator is at rest, ms. */
const retentionMs = 300;
const enoughBeats = 8;
/** What goes on for so long without end does not come to rest, ms. */
const busyForEverMs = patience(60_000);
/** Name of the Account by which the operator is asked for a sign of life. */
const pulse = 'pulse';

/** What looks again without being told is set to an hour at least: a wake-up that is lost stays lost. */
export const settingsFor = ({dns, edge}: Platform) => ({
  platform: {zone},
  edge: {addresses: ['127.0.0.1'], probe: [`127.0.0.1:${edge.port}`]},
  issuerRef: {name: issuer},
  ingressClassName: ingressClass,
  dns: {
    recursive: [dns.address],
    allowPrivateAddresses: true,
    recheckInterval: '24h',
    waitSchedule: [{every: '1h', for: '24h'}],
    driftConfirmations: ['1h'],
    takeoverConfirmations: ['1ms'],
  },
  issuanceStalledAfter: '1h',
  budgets: {certificates: [{limit: 100, per: '1h'}], failures: [{limit: 100, per: '1h'}]},
  caaIdentities: ['ca.test'],
  redirector: {service: redirector},
  leaderElection: {enabled: false},
});

export type Settings = Record<string, unknown>;
type OwnParts = Pick<RoleParts, 'pace' | 'askCa'> & {
  /** Decides about its requests from the first one on ({@link FaultProxy.fate}). */
  fate?: FaultProxy['fate'];
};

/**
 * When an operator dies at a write: before it is sent, when it is committed and not answered, when it has been
 * answered.
 */
export const deaths = ['Before', 'Unanswered', 'After'] as const;
export type Death = (typeof deaths)[number];
/** For so long at most a process acts on the answer to its last write, ms. */
const lastMomentMs = 50;

/** An Event is beside the work: nothing is decided by one. */
export const isWrite = ({method, url}: Seen) => method !== 'GET' && !url.pathname.includes('/events');

let pods = 0;

/** The operator's role in this process, behind a proxy of its own. */
export class RunningOperator {
  readonly proxy: FaultProxy;
  readonly registry: Registry;
  /** Resolves when its controllers run. */
  readonly leads: Promise<void>;
  readonly #platform: Platform;
  readonly #manager: Manager;
  #dying: Promise<void> | undefined;
  #refusal: Error | undefined;

  private constructor(platform: Platform, proxy: FaultProxy, registry: Registry, manager: Manager) {
    this.#platform = platform;
    this.proxy = proxy;
    this.registry = registry;
    this.#manager = manager;
    this.leads = manager.start();
    this.leads.catch((refusal: Error) => (this.#refusal = refusal));
  }

  /** Resolves when its controllers run; rejects with why it refuses to. `change`: settings in place of {@link settingsFor}. */
  static async start(platform: Platform, change: Settings = {}, own: OwnParts = {}): Promise<RunningOperator> {
    const it = await RunningOperator.launch(platform, change, own);
    try {
      await it.leads;
    } catch (refusal) {
      await it.stop();
      throw refusal;
    }
    return it;
  }

  /** Resolves when its caches have synced: one that stands by while another leads. Rejects with why it refuses to. */
  static async standBy(platform: Platform, change: Settings): Promise<RunningOperator> {
    const it = await RunningOperator.launch(platform, change);
    await eventually(() => it.#refusal !== undefined || it.#manager.health().ready);
    if (!it.#refusal) return it;
    await it.stop();
    throw it.#refusal;
  }

  private static async launch(
    platform: Platform,
    change: Settings,
    {fate, ...own}: OwnParts = {},
  ): Promise<RunningOperator> {
    const proxy = new FaultProxy(platform.server.credentials);
    if (fate) proxy.fate = fate;
    await proxy.listen();
    // Which policies stand here is no matter, so that nothing is said of them unless a test asks for it.
    const admissionPolicy = {mode: 'Deny', scope: 'All'};
    const settings = parseSettings(JSON.stringify({admissionPolicy, ...settingsFor(platform), ...change}));
    const registry = new Registry();
    const metrics = kitMetrics(registry);
    const log = pino({level: process.env.OPERATOR_LOG ?? 'silent'});
    const manager = operator({
      config: {settings, policy: toPolicy(settings, home), namespace: home, pod: `in-process-${pods++}`},
      client: new Client(proxy.credentials, {metrics, connections: connectionsFor(settings.operator.workers)}),
      log,
      registry,
      metrics,
      ...own,
    });
    return new RunningOperator(platform, proxy, registry, manager);
  }

  /** In order. */
  async stop(): Promise<void> {
    await this.#manager.stop();
    await this.proxy.close();
  }

  get isDead(): boolean {
    return this.#dying !== undefined;
  }

  /** From now on nothing of it reaches anybody; what it has sent already is done when this resolves. */
  die(): Promise<void> {
    this.#dying ??= (async () => {
      this.proxy.fate = () => 'cut';
      this.proxy.cutAll();
      await this.#manager.stop();
      await this.proxy.settled();
      await this.proxy.close();
    })();
    return this.#dying;
  }

  /**
   * It dies at its n-th write from now on: of those that follow none reaches the API server. Resolves when it is dead.
   */
  dieAt(n: number, how: Death): Promise<void> {
    let writes = 0;
    return new Promise((resolve, reject) => {
      const die = (): void => {
        this.die().then(resolve, reject);
      };
      this.proxy.fate = (seen) => {
        if (this.isDead) return 'cut';
        if (!isWrite(seen) || ++writes < n) return 'forward';
        if (writes > n || how === 'Before') {
          die();
          return 'cut';
        }
        this.proxy.onAnswer = (answered) => {
          if (answered !== seen) return;
          if (how === 'Unanswered') die();
          else setTimeout(die, lastMomentMs);
        };
        return how === 'Unanswered' ? 'unanswered' : 'forward';
      };
    });
  }

  /** It lives on, whatever was said. */
  spare(): void {
    this.proxy.fate = () => 'forward';
  }

  /**
   * What `read` gives: as soon as that is `expected`, or else when the operator has been told of several later things
   * and has done those, and has done nothing else for `atLeastMs`. So a wake-up that is lost is found soon, and a slow
   * machine is given its time. `atLeastMs`: more where it waits for a timer.
   */
  async comesTo<T>(read: () => Promise<T>, expected: T, {atLeastMs = 3_000} = {}): Promise<T> {
    const since = performance.now();
    let [quietSince, before] = [since, this.#doings];
    for (let beats = 0; ;) {
      const value = await read();
      if (isDeepStrictEqual(value, expected)) return value;
      const [now, doings] = [performance.now(), this.#doings];
      if (doings !== before) [quietSince, before] = [now, doings];
      const isQuiet = now - quietSince >= atLeastMs || now - since >= Math.max(busyForEverMs, atLeastMs);
      if (isQuiet && beats >= enoughBeats) return value;
      if (!isQuiet) await wait(nextLookMs(now - quietSince));
      else {
        await this.#beat();
        beats++;
      }
    }
  }

  /** How often it has asked or written anything, but for the answer to a sign of life. */
  get #doings(): number {
    const {dns, edge} = this.#platform;
    const asked = this.proxy.seen.filter((s) => !s.isWatch && !s.url.pathname.includes(`/accounts/${pulse}`)).length;
    return asked + dns.asked + edge.looks;
  }

  /**
   * Something else is changed, and the operator answers it: a plan that is not there, on an Account that nobody has.
   */
  async #beat(): Promise<void> {
    const {client} = this.#platform;
    const spec = {planRef: {name: `none-${randomBytes(4).toString('hex')}`}};
    const written = (await client.get(accounts, pulse))
      ? await client.patch<Account>(accounts, pulse, {spec}, {type: 'merge'})
      : await client.create<Account>(accounts, {
          apiVersion: 'doorplate.dev/v1alpha1',
          kind: 'Account',
          metadata: {name: pulse},
          spec,
        });
    const isAnswered = async () =>
      (await client.get(accounts, pulse))?.status?.observedGeneration === written.metadata.generation;
    await eventually(isAnswered, 5_000).catch(() => {});
  }

  /** Resolves when it has asked and written nothing for a while. */
  async rest(): Promise<void> {
    const {dns, edge} = this.#platform;
    const doings = () => this.proxy.seen.filter((s) => !s.isWatch).length + dns.asked + edge.looks;
    for (let before = -1, now = doings(); now !== before; now = doings()) {
      before = now;
      await wait(retentionMs);
      // Nor is there one that a busy API server has not answered yet.
      await this.proxy.settled();
    }
  }
}
