/**
 * Many Live domains, in a world of their own: rows about such a platform share it. It grows in steps, which are measured, and what stands is
 * kept in `dist/bench/NUMBER`: a bench that was ended goes on where it was.
 */
import {existsSync} from 'node:fs';
import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {certificateRequests, customDomains} from '../../operator/resources/resources.ts';
import {countBySort, isEvent, isLease} from './audit.ts';
import {startControllerManager} from './daemons.ts';
import {operatorUser, type OperatorProcess} from './operator-process.ts';
import {allReady, isReady, type Place, placesOf} from './population.ts';
import {growthChart} from './growth.ts';
import {type BenchContext, mebibytes, printTable, seconds} from './table.ts';
import {BenchWorld} from './world.ts';

/** Where benches keep what they go on with: a folder for each number of domains. */
export const folder = fileURLToPath(new URL('../../dist/bench/', import.meta.url));
const steps = 20;

/** What is known when a step is done. */
export interface Step {
  domains: number;
  /** From the step's first CustomDomain until all of them are Ready. */
  ms: number;
  /** Of the operator, from then on. */
  writes: number;
  events: number;
  heapUsed: number;
  rss: number;
  cpuMs: number;
  /** Of the objects in etcd. */
  storedBytes: number;
}

interface State {
  steps: Step[];
}

export class Fixture {
  readonly world: BenchWorld;
  readonly places: readonly Place[];
  readonly state: State;
  /** The one that leads now. */
  operator: OperatorProcess;

  private constructor(world: BenchWorld, places: readonly Place[], state: State, operator: OperatorProcess) {
    this.world = world;
    this.places = places;
    this.state = state;
    this.operator = operator;
  }

  static async make({say, domains}: BenchContext): Promise<Fixture> {
    const dir = join(folder, String(domains));
    await mkdir(dir, {recursive: true});
    const file = join(dir, 'state.json');
    const isBegun = existsSync(file);
    const world = await BenchWorld.start(dir);
    try {
      const operator = await world.operator();
      const state: State = isBegun ? (JSON.parse(await readFile(file, 'utf8')) as State) : {steps: []};
      await world.with(startControllerManager(world.server));
      await world.certManager('tuned');
      const fixture = new Fixture(world, placesOf(0, domains), state, operator);
      const done = state.steps.at(-1)?.domains ?? 0;
      if (done > 0) {
        say(`the fixture goes on with the ${done} of ${domains} domains of ${dir}`);
        await world.publish(fixture.places.slice(0, done));
        await operator.quiet();
      }
      for (let from = done; from < domains; from = state.steps.at(-1)!.domains) {
        state.steps.push(await fixture.#grow(from, say));
        await writeFile(file, JSON.stringify(state));
      }
      await fixture.#show(say);
      return fixture;
    } catch (error) {
      await world.stop();
      throw error;
    }
  }

  get domains(): number {
    return this.places.length;
  }

  async #grow(from: number, say: (text: string) => void): Promise<Step> {
    const {world, operator} = this;
    const places = this.places.slice(from, from + Math.max(1, Math.ceil(this.domains / steps)));
    await world.publish(places);
    await operator.quiet();
    const mark = await world.audit.mark();
    const began = performance.now();
    await world.attach(places);
    await allReady(world.client, places);
    const ms = performance.now() - began;
    await operator.quiet();
    const written = (await world.audit.since(mark, operatorUser)).filter((w) => !isLease(w));
    const events = written.filter(isEvent).length;
    const {heapUsed, rss, cpuMs} = await operator.figures();
    const storedBytes = [...(await world.server.stored()).values()].reduce((sum, {bytes}) => sum + bytes, 0);
    const domains = from + places.length;
    const writes = written.length - events;
    say(
      `${domains} of ${this.domains} domains are Ready, the last ${places.length} after ${seconds(ms)}, ${mebibytes(rss)} of RSS`,
    );
    if (from === 0)
      say(`the operator's writes: ${[...countBySort(written)].map(([sort, n]) => `${n} ${sort}`).join(', ')}`);
    return {domains, ms, writes, events, heapUsed, rss, cpuMs, storedBytes};
  }

  /** What is wrong with the end state; empty when nothing is. */
  async wrong(): Promise<string[]> {
    const {client} = this.world;
    const {items: domains} = await client.list(customDomains);
    const unready = domains.filter((domain) => !isReady(domain)).length;
    const {items: requests} = await client.list(certificateRequests);
    const certificates = requests.map(
      ({metadata: {namespace, annotations}}) => `${namespace}/${annotations?.['cert-manager.io/certificate-name']}`,
    );
    const twice = certificates.length - new Set(certificates).size;
    const failed = await this.operator.metric('controller_runtime_reconcile_errors_total');
    return [
      ...(unready > 0 ? [`${unready} of ${domains.length} domains are not Ready`] : []),
      ...(twice > 0 ? [`${twice} certificates were ordered twice`] : []),
      ...(failed > 0 ? [`${failed} reconciles failed`] : []),
    ];
  }

  async #show(say: (text: string) => void): Promise<void> {
    const chart = join(folder, `growth-${this.domains}.svg`);
    await writeFile(chart, growthChart(this.state.steps));
    say(`growth is drawn in ${chart}`);
    const {steps: all} = this.state;
    const some = all.filter((_, i) => (i + 1) % Math.max(1, Math.floor(all.length / 5)) === 0);
    printTable([
      ['domains', 'the last step, a domain', 'CPU so far, a domain', 'heap', 'RSS', 'etcd'],
      ...some.map((step) => [
        String(step.domains),
        `${(step.ms / (step.domains - (all[all.indexOf(step) - 1]?.domains ?? 0))).toFixed(0)} ms`,
        `${(step.cpuMs / step.domains).toFixed(1)} ms`,
        mebibytes(step.heapUsed),
        mebibytes(step.rss),
        mebibytes(step.storedBytes),
      ]),
    ]);
    const stored = [...(await this.world.server.stored())].toSorted((a, b) => b[1].bytes - a[1].bytes).slice(0, 14);
    printTable([
      ['in etcd', 'objects', 'bytes each', 'bytes a domain'],
      ...stored.map(([resource, {count, bytes}]) => [
        resource,
        String(count),
        (bytes / count).toFixed(0),
        (bytes / this.domains).toFixed(0),
      ]),
    ]);
  }
}
