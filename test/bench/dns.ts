/** ROW=P8: DNS checks a second of a core; and when another tenant's check begins beside three tenants whose servers are silent. */
import {execFile} from 'node:child_process';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import type {CustomDomain} from '../../operator/api/foreign.ts';
import {customDomains} from '../../operator/resources/resources.ts';
import {eventually} from '../support/kube-api.ts';
import {zone} from '../support/platform.ts';
import {StandInDns} from '../support/stand-in-dns.ts';
import {type Place, placesOf} from './population.ts';
import {median, printTable, type Row} from './table.ts';
import {BenchWorld} from './world.ts';

const subject = fileURLToPath(new URL('./dns-subject.ts', import.meta.url));
const checks = 2000;
const rounds = 3;
const namesOfZone = 50;

async function rate(caa: 'caa' | 'plain'): Promise<{cpuMs: number; ms: number}> {
  const dns = await StandInDns.start(zone);
  try {
    const target = `docs-acme-k3v9x2m4q7w1z.${zone}`;
    for (const {hostname} of placesOf(0, checks)) dns.point(hostname, target);
    const args = ['--disable-warning=ExperimentalWarning', subject, dns.address, target, String(checks), caa];
    const figures = [];
    for (let round = 0; round < rounds; round++) {
      const {stdout} = await promisify(execFile)(process.execPath, args, {timeout: 600_000});
      figures.push(JSON.parse(stdout) as {cpuMs: number; ms: number});
    }
    return {cpuMs: median(figures.map((f) => f.cpuMs)), ms: median(figures.map((f) => f.ms))};
  } finally {
    await dns.stop();
  }
}

/** Hostnames below so many zones as they need, whose own servers answer nothing. */
function silentNames(dns: StandInDns, tenant: number, count: number): string[] {
  return Array.from({length: count}, (_, i) => {
    const silent = `silent${tenant}-${Math.floor(i / namesOfZone)}.test`;
    dns.kill(silent);
    return `h${i}.${silent}`;
  });
}

const domainOf = ({namespace, name, hostname}: Place, sources: readonly string[]): CustomDomain => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'CustomDomain',
  metadata: {name, namespace},
  spec: {projectRef: {name}, primary: hostname, redirects: sources.map((from) => ({from, status: 301}))},
});

/** ms from the creation of another tenant's CustomDomain until the first question about it. */
async function besideSilence(names: number): Promise<number> {
  const world = await BenchWorld.start();
  try {
    const {client, dns} = world;
    await world.operator();
    const places = placesOf(0, 4, {perTenant: 1});
    await world.publish(places);
    const [fourth, ...slow] = places as [Place, ...Place[]];
    for (const [i, place] of slow.entries()) {
      const [primary = '', ...sources] = silentNames(dns, i, names);
      await client.create<CustomDomain>(customDomains, domainOf({...place, hostname: primary}, sources));
    }
    const asked = () =>
      dns.questions('test').filter(({name, recursionDesired}) => name.includes('.silent') && !recursionDesired);
    // Every regular seat is taken, and each has many more to look at.
    await eventually(() => new Set(asked().map(({name}) => name.toLowerCase())).size >= Math.min(64, names));
    const began = performance.now();
    await client.create<CustomDomain>(customDomains, domainOf(fourth, []));
    await eventually(() => dns.questions(fourth.hostname.split('.').slice(1).join('.')).length > 0);
    return performance.now() - began;
  } finally {
    await world.stop();
  }
}

export const run: Row = async ({say, domains}) => {
  const [plain, caa] = [await rate('plain'), await rate('caa')];
  const names = Math.min(500, domains);
  const beganMs = await besideSilence(names);
  printTable([
    ['P8', 'reach', 'measured'],
    ['checks a second of a core', '1000', (1000 / plain.cpuMs).toFixed(0)],
    ['the same, one after the other finished', '', (1000 / plain.ms).toFixed(0)],
    ['with CAA, as before an order', '', (1000 / caa.cpuMs).toFixed(0)],
    [`another tenant's check begins beside 3 × ${names} silent names after`, '1000 ms', `${beganMs.toFixed(0)} ms`],
  ]);
  const well = plain.cpuMs <= 1 && beganMs <= 1000;
  say(`P8: ${well ? 'reached' : 'MISSED'}`);
  return well;
};
