/**
 * ROW=P1a,P1b,P1c: Projects with a hostname each that DNS has proven, applied at once, until each has its Certificate and its Ingress: existence
 * only, for an ingress class that no edge reads. Beside a bare loop with as many writes, and beside cert-manager's ingress-shim.
 */
import {ingresses} from '../../operator/resources/resources.ts';
import type {Ingress} from '../../operator/api/foreign.ts';
import {ingressClass} from '../support/platform.ts';
import {countBySort, isEvent, isLease, succeeded, type Write} from './audit.ts';
import type {CertManagerSpeed} from './daemons.ts';
import {floorMs} from './floor.ts';
import {operatorUser} from './operator-process.ts';
import {allExist, each, type Place, placesOf} from './population.ts';
import {type BenchContext, printTable, type Row, seconds} from './table.ts';
import {BenchWorld, issuer} from './world.ts';

const isChild = ({resource, code}: Write): boolean =>
  code === 201 && (resource === 'certificates' || resource === 'ingresses');

/** From the first of these writes to the last creation of a Certificate or an Ingress, ms. */
function spanOf(writes: readonly Write[]): number {
  const began = Math.min(...writes.map(({at}) => at));
  return Math.max(...writes.filter(isChild).map(({answeredAt}) => answeredAt)) - began;
}

/** Resolves with what was written meanwhile. */
async function doorplate(world: BenchWorld, places: readonly Place[], speed?: CertManagerSpeed) {
  const operator = await world.operator();
  await world.publish(places);
  await operator.quiet();
  if (speed) await world.certManager(speed);
  const mark = await world.audit.mark();
  const before = (await operator.figures()).cpuMs;
  await world.attach(places);
  await allExist(world.client, places);
  if (!speed) await operator.quiet();
  const cpuMs = (await operator.figures()).cpuMs - before;
  const failed = await operator.metric('controller_runtime_reconcile_errors_total');
  await operator.stop();
  return {writes: await world.audit.since(mark), cpuMs, failed};
}

/** What cert-manager's ingress-shim makes a Certificate of. */
const ingressOf = ({name, hostname}: Place): Ingress => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: {name, namespace: 'default', annotations: {'cert-manager.io/cluster-issuer': issuer}},
  spec: {
    ingressClassName: ingressClass,
    tls: [{hosts: [hostname], secretName: `${name}-tls`}],
    rules: [
      {
        host: hostname,
        http: {paths: [{path: '/', pathType: 'Prefix', backend: {service: {name, port: {number: 80}}}}]},
      },
    ],
  },
});

/** The peer: Ingresses with an annotation, of which cert-manager makes Certificates. */
async function ingressShim(world: BenchWorld, places: readonly Place[], speed: CertManagerSpeed): Promise<number> {
  await world.certManager(speed);
  const mark = await world.audit.mark();
  await each(places, (place) => world.client.create(ingresses, ingressOf(place)));
  await allExist(world.client, places);
  return spanOf(await world.audit.since(mark));
}

async function inItsWorld<T>(work: (world: BenchWorld) => Promise<T>): Promise<T> {
  const world = await BenchWorld.start();
  try {
    return await work(world);
  } finally {
    await world.stop();
  }
}

/** a) cert-manager's controller does not run. */
async function besideTheFloor({say, domains}: BenchContext): Promise<boolean> {
  return inItsWorld(async (world) => {
    const places = placesOf(0, domains);
    const {writes: all, cpuMs, failed} = await doorplate(world, places);
    const ours = all.filter(({user}) => user === operatorUser);
    const writes = ours.filter((w) => !isEvent(w) && !isLease(w));
    const ms = spanOf(all);
    say(
      `P1 a: ${domains} domains, ${(cpuMs / domains).toFixed(1)} ms of the operator's CPU each, ${[...countBySort(ours)].map(([sort, n]) => `${n} ${sort}`).join(', ')}`,
    );
    // The customers' own creations are in both.
    const floor = await floorMs(
      world.client,
      all.filter((w) => succeeded(w)),
      domains,
    );
    printTable([
      ['P1 a, cert-manager stopped', 'until all exist', 'writes a domain', 'Events', 'failed reconciles'],
      [
        'Doorplate',
        seconds(ms),
        (writes.length / domains).toFixed(2),
        (ours.filter(isEvent).length / domains).toFixed(2),
        `${failed}`,
      ],
      [
        "a bare loop of the same, Events and the customers' creations, too",
        seconds(floor.ms),
        (floor.writes / domains).toFixed(2),
        '',
        '',
      ],
      ['Doorplate / bare loop', `${(ms / floor.ms).toFixed(2)} ×`, '', '', ''],
    ]);
    return ms <= 1.5 * floor.ms && failed === 0;
  });
}

/** More would take as much longer: at its defaults cert-manager makes 2.4 Certificates a second, however many there are to make. */
const most = {tuned: 1000, default: 250} as const;

/** b) cert-manager runs, at its defaults or tuned. */
async function besideTheShim({say, domains}: BenchContext, speed: CertManagerSpeed, reach: number): Promise<boolean> {
  const places = placesOf(0, Math.min(domains, most[speed]));
  const {writes, failed} = await inItsWorld((world) => doorplate(world, places, speed));
  const ours = spanOf(writes);
  say(`P1 b: Doorplate beside cert-manager (${speed}) ${seconds(ours)}, ${failed} failed reconciles`);
  const shim = await inItsWorld((world) => ingressShim(world, places, speed));
  const ratio = ours / shim;
  printTable([
    [`P1 b, cert-manager ${speed}, ${places.length} domains`, 'until all exist'],
    ['Doorplate', seconds(ours)],
    ["cert-manager's ingress-shim", seconds(shim)],
    ['Doorplate / ingress-shim', `${ratio.toFixed(2)} ×`],
  ]);
  return ratio <= reach;
}

const row =
  (name: string, promise: string, measure: (context: BenchContext) => Promise<boolean>): Row =>
  async (context) => {
    const well = await measure(context);
    context.say(`${name}: ${well ? 'reached' : 'MISSED'}: ${promise}`);
    return well;
  };

export const besideFloor = row('P1 a', 'at most 1.5 × the bare loop', besideTheFloor);
export const besideTuned = row('P1 b, tuned', 'at most 0.7 × a tuned ingress-shim', (context) =>
  besideTheShim(context, 'tuned', 0.7),
);
export const besideDefault = row('P1 b, default', 'at most 0.1 × an ingress-shim at its defaults', (context) =>
  besideTheShim(context, 'default', 0.1),
);
