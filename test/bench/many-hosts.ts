/** ROW=P12: one CustomDomain of 501 hosts: the operator's CPU for an event of one of its Certificates, and for a change of itself. */
import {setTimeout as wait} from 'node:timers/promises';
import type {CustomDomain} from '../../operator/api/foreign.ts';
import {certificates, customDomains} from '../../operator/resources/resources.ts';
import {keyOf} from '../../operator/kube/objects.ts';
import type {OperatorProcess} from './operator-process.ts';
import {allReady, keyOfPlace, type Place, placesOf} from './population.ts';
import {printTable, type Row} from './table.ts';
import {BenchWorld} from './world.ts';

const full = 501;
const times = 40;
/** Far more than either takes: no two of them become one. */
const pauseMs = 250;

/** CPU of one such event, ms: what the process uses anyway in the same time is taken off. */
async function cpuOf(operator: OperatorProcess, event: (n: number) => Promise<unknown>): Promise<number> {
  const during = async (work: (n: number) => Promise<unknown>): Promise<number> => {
    await operator.quiet();
    const before = (await operator.figures()).cpuMs;
    for (let n = 0; n < times; n++) {
      await work(n);
      await wait(pauseMs);
    }
    return (await operator.figures()).cpuMs - before;
  };
  const idle = await during(async () => {});
  return ((await during(event)) - idle) / times;
}

export const run: Row = async ({say, domains}) => {
  const hosts = Math.min(full, Math.max(2, domains));
  const world = await BenchWorld.start();
  try {
    const operator = await world.operator();
    await world.certManager('tuned');
    const [place] = placesOf(0, 1) as [Place];
    await world.publish([place]);
    const target = world.dns.targetOf(place.hostname);
    const sources = placesOf(1, hosts).map(({hostname}) => hostname);
    for (const hostname of sources) world.dns.point(hostname, target);
    await world.client.create<CustomDomain>(customDomains, {
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'CustomDomain',
      metadata: {name: place.name, namespace: place.namespace},
      spec: {
        projectRef: {name: place.name},
        primary: place.hostname,
        redirects: sources.map((from) => ({from, status: 301})),
      },
    });
    await allReady(world.client, [place]);
    say(`P12: a CustomDomain of ${hosts} hosts is Ready`);
    const {items} = await world.client.list(certificates);
    const annotate = (resource: typeof certificates | typeof customDomains, key: string, n: number): Promise<unknown> =>
      world.client.patch(
        resource as typeof certificates,
        key,
        {metadata: {annotations: {'bench.test/n': String(n)}}},
        {type: 'merge'},
      );
    const event = await cpuOf(operator, (n) => annotate(certificates, keyOf(items[n % items.length]!), n));
    const change = await cpuOf(operator, (n) => annotate(customDomains, keyOfPlace(place), n));
    printTable([
      [`P12, CPU of the operator, ${hosts} hosts, means of ${times}`, 'reach', 'measured'],
      ["one Certificate's event", '5 ms', `${event.toFixed(1)} ms`],
      ['any change', '50 ms', `${change.toFixed(1)} ms`],
    ]);
    const well = event <= 5 && change <= 50;
    say(`P12: ${well ? 'reached' : 'MISSED'}`);
    return well;
  } finally {
    await world.stop();
  }
};
