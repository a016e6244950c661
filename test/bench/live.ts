/** Rows about a platform of many Live domains: P2 writes, P3 quiet, P4 heap, P5 removals while a plan changes. */
import {setTimeout as wait} from 'node:timers/promises';
import {X509Certificate} from 'node:crypto';
import {connect} from 'node:tls';
import {customDomains, plans} from '../../operator/resources/resources.ts';
import {isEvent, isLease} from './audit.ts';
import type {Fixture} from './fixture.ts';
import {operatorUser} from './operator-process.ts';
import {allReady, isReady, keyOfPlace, type Place} from './population.ts';
import {type BenchContext, mebibytes, printTable, quantile, seconds} from './table.ts';

export type FixtureRow = (context: BenchContext, fixture: Fixture) => Promise<boolean>;

/** What an ingress controller waits before it takes in a change, ms: Traefik's throttle in docs/how-to/ingress-classes.md. The stand-in waits for nothing. */
const throttleMs = 100;

export const writesUntilReady: FixtureRow = async ({say}, {state}) => {
  const domains = state.steps.at(-1)!.domains;
  const sum = (of: 'writes' | 'events'): number => state.steps.reduce((all, step) => all + step[of], 0) / domains;
  printTable([
    ['P2, from apply to Ready on a stand-in edge', 'reach', 'measured'],
    ['writes a domain', '6', sum('writes').toFixed(2)],
    ['Events a domain', '2', sum('events').toFixed(2)],
  ]);
  const well = sum('writes') <= 6 && sum('events') <= 2;
  say(`P2: ${well ? 'reached' : 'MISSED'}, on a stand-in edge`);
  return well;
};

/** Every hostname's record is looked at again and again meanwhile. */
export const quietWhenLive: FixtureRow = async ({say, long}, fixture) => {
  const {world, domains} = fixture;
  const minutes = long ? 10 : 2;
  const recheckSeconds = long ? 180 : 40;
  await fixture.operator.stop();
  const recheckInterval = `${recheckSeconds}s`;
  const dns = {recursive: [world.dns.address], allowPrivateAddresses: true, recheckInterval};
  fixture.operator = await world.operator({dns});
  // What was written while it started belongs to P6. So many domains leave no second without a check.
  await wait(recheckSeconds * 1000);
  const mark = await world.audit.mark();
  const checks = await fixture.operator.metric('doorplate_dns_checks_total');
  const probes = await fixture.operator.metric('doorplate_edge_probes_total');
  const requests = await fixture.operator.metric('rest_client_requests_total', 'method="GET"');
  const asked = world.dns.asked;
  const cpu = (await fixture.operator.figures()).cpuMs;
  say(`P3: ${minutes} quiet minutes begin`);
  await wait(minutes * 60_000);
  const writes = (await world.audit.since(mark, operatorUser)).filter((w) => !isLease(w));
  const checked = (await fixture.operator.metric('doorplate_dns_checks_total')) - checks;
  const probed = (await fixture.operator.metric('doorplate_edge_probes_total')) - probes;
  const reads = (await fixture.operator.metric('rest_client_requests_total', 'method="GET"')) - requests;
  const spent = (await fixture.operator.figures()).cpuMs - cpu;
  // The rows after it wait until it rests.
  await fixture.operator.stop();
  fixture.operator = await world.operator();
  printTable([
    [`P3, ${minutes} quiet minutes, ${domains} Live domains`, 'reach', 'measured'],
    ['writes', '0', String(writes.length)],
    ['DNS checks', `more than ${domains}`, String(checked)],
    ['edge probes', `more than ${domains}`, String(probed)],
    ['DNS questions a check', '', ((world.dns.asked - asked) / checked).toFixed(1)],
    ['GETs (watches that begin anew among them)', '', String(reads)],
    ['CPU of a core', '', `${((spent / (minutes * 60_000)) * 100).toFixed(1)} %`],
  ]);
  const well = writes.length === 0 && checked > domains && probed > domains;
  say(
    `P3: ${
      well
        ? 'reached'
        : `MISSED: ${writes
            .slice(0, 5)
            .map((w) => `${w.verb} ${w.resource} ${w.name}`)
            .join(', ')}`
    }`,
  );
  return well;
};

/** The edge goes away for good, with short confirmations, and comes back: every hostname is reported, and heals, at a limited rate. */
export const edgeAway: FixtureRow = async ({say}, fixture) => {
  const {world, domains} = fixture;
  await fixture.operator.stop();
  const edge = {addresses: ['127.0.0.1'], probe: [`127.0.0.1:${world.edge.port}`]};
  fixture.operator = await world.operator({edge: {...edge, faultConfirmations: ['5s', '10s', '20s']}});
  await fixture.operator.quiet();
  const count = async (isFaulty: boolean): Promise<number> =>
    (await world.client.list(customDomains)).items.filter((one) => isReady(one) !== isFaulty).length;
  const until = async (isFaulty: boolean): Promise<number> => {
    const began = performance.now();
    while ((await count(isFaulty)) < domains) await wait(1000);
    return performance.now() - began;
  };
  // The second one of a domain: it becomes Stalled.
  const mark = await world.audit.mark();
  world.edge.isAway = true;
  const reported = await until(true);
  await wait(130_000);
  world.edge.isAway = false;
  const healed = await until(false);
  await fixture.operator.quiet();
  const writes = (await world.audit.since(mark, operatorUser)).filter((w) => !isLease(w) && !isEvent(w));
  const events = (await world.audit.since(mark, operatorUser)).filter(isEvent);
  const bySecond = Map.groupBy(writes, ({at}) => Math.floor(at / 1000));
  const most = Math.max(0, ...[...bySecond.values()].map((of) => of.length));
  await fixture.operator.stop();
  fixture.operator = await world.operator();
  printTable([
    [`P3e, the edge is away, ${domains} Live domains`, 'reach', 'measured'],
    ['until every one is reported', '', seconds(reported)],
    ['until every one is healed', '', seconds(healed)],
    ['writes in a second', '11', String(most)],
    ['writes a domain', '3', (writes.length / domains).toFixed(2)],
    ['Events', '2', String(events.length)],
  ]);
  // A second of the clock may have the end of one turn and the begin of the next.
  const well = most <= 11 && writes.length <= 3 * domains && events.length === 2;
  say(`P3e: ${well ? 'reached' : 'MISSED'}`);
  return well;
};

/** By its growth: what the program itself takes, and compiles as it warms up, is no domain's. */
export const heapOfDomains: FixtureRow = async ({say}, {state: {steps}}) => {
  const [from, to] = [steps[Math.floor(steps.length / 4)]!, steps.at(-1)!];
  const each = (heapUsed: (step: typeof to) => number): number =>
    (heapUsed(to) - heapUsed(from)) / (to.domains - from.domains) / 1024;
  printTable([
    [`P4, from ${from.domains} to ${to.domains} Live domains with their Projects`, 'reach', 'measured'],
    ['heap a domain', '10.0 KiB', `${each((step) => step.heapUsed).toFixed(1)} KiB`],
    ['RSS a domain', '', `${each((step) => step.rss).toFixed(1)} KiB`],
    ['heap in all', '', mebibytes(to.heapUsed)],
  ]);
  const well = each((step) => step.heapUsed) <= 10;
  say(`P4: ${well ? 'reached' : 'MISSED'}`);
  return well;
};

/** Whether the edge presents a certificate of a hostname's own, as a client sees it. */
export function isServed(port: number, hostname: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect({host: '127.0.0.1', port, servername: hostname, rejectUnauthorized: false}, () => {
      const presented: X509Certificate | undefined = socket.getPeerX509Certificate();
      resolve(presented?.checkHost(hostname) !== undefined);
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

/** From the delete until a client no longer gets its certificate, ms. */
async function removalMs({world}: Fixture, place: Place): Promise<number> {
  if (!(await isServed(world.edge.port, place.hostname))) throw new Error(`${place.hostname} is not served`);
  const began = performance.now();
  await world.client.delete(customDomains, keyOfPlace(place));
  while (await isServed(world.edge.port, place.hostname)) await wait(2);
  return performance.now() - began;
}

/** Each while all other domains follow a change of their plan. The removed domains are made anew. */
export const removals: FixtureRow = async ({say}, fixture) => {
  const {world, operator, places, domains} = fixture;
  const some = places.slice(0, Math.min(100, Math.floor(domains / 5)));
  const ended = new AbortController();
  let changes = 0;
  const change = async (): Promise<void> => {
    for (; !ended.signal.aborted; changes++) {
      const customDomainsOf = {allowed: true, maxHostnamesPerProject: changes % 2 === 0 ? 499 : 500};
      await world.client.patch(plans, 'pro', {spec: {customDomains: customDomainsOf}}, {type: 'merge'});
      await wait(500);
    }
  };
  const reconciled = await operator.metric('controller_runtime_reconcile_total');
  const changing = change();
  const times: number[] = [];
  for (const place of some) times.push(await removalMs(fixture, place));
  ended.abort();
  await changing;
  await operator.quiet();
  const reconciles = (await operator.metric('controller_runtime_reconcile_total')) - reconciled;
  await world.attach(some);
  await allReady(world.client, places);
  const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
  printTable([
    [`P5, ${some.length} removals, ${changes} changes of a plan of ${domains} domains`, 'p50', 'p99'],
    ['reach, an edge that waits 100 ms', '250 ms', '600 ms'],
    ['until the stand-in edge stops, which waits for nothing', `${p50.toFixed(0)} ms`, `${p99.toFixed(0)} ms`],
    [`with the whole ${throttleMs} ms`, `${(p50 + throttleMs).toFixed(0)} ms`, `${(p99 + throttleMs).toFixed(0)} ms`],
    ['reconciles meanwhile', String(reconciles), ''],
  ]);
  const well = p50 + throttleMs <= 250 && p99 + throttleMs <= 600;
  say(`P5: ${well ? 'reached' : 'MISSED'}, in ${seconds(times.reduce((a, b) => a + b, 0))}`);
  return well;
};
