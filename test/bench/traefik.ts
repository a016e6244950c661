/**
 * ROW=traefik: the control on the whole cluster, which it brings up and leaves: domains on Traefik, with certificates by ACME. P2 there, and
 * how long it takes them to have certificates and to be Live: Traefik's own work is in it.
 */
import {execFileSync} from 'node:child_process';
import {Resolver} from 'node:dns/promises';
import type {CustomDomain} from '../../operator/api/foreign.ts';
import {certificates, customDomains, projects} from '../../operator/resources/resources.ts';
import {type HasMeta, keyOf} from '../../operator/kube/objects.ts';
import {api, apply, audit, env, install, root, setZone, writeVerbs} from '../../cluster/cluster.ts';
import {operator, succeeded} from '../support/requests.ts';
import {Tenant} from '../support/tenant.ts';
import {isReady, until} from './population.ts';
import {printTable, type Row, seconds} from './table.ts';

const perTenant = 10;
const most = 100;

const projectOf = (n: number): string => `p${n}`;
const numbers = Array.from({length: perTenant}, (_, n) => n);

/** A tenant with Projects that have been deployed, and whose hostnames DNS proves. */
async function tenantWithProjects(): Promise<Tenant> {
  const tenant = await Tenant.create('bench');
  const spec = {serviceRef: {name: 'web', port: 80}, defaultHost: 'Disabled'};
  await apply(numbers.map((n) => tenant.project(projectOf(n), spec)));
  const hosts = new Map<string, string>();
  await until(async () => {
    const {items} = await api().list(projects, {namespace: tenant.namespace});
    for (const {metadata, status} of items) if (status?.firstDeployTime) hosts.set(metadata.name, status.host ?? '');
    return numbers.every((n) => hosts.has(projectOf(n)));
  });
  await setZone(
    tenant.zone,
    numbers.map((n) => `${projectOf(n)} IN CNAME ${hosts.get(projectOf(n))}.`),
  );
  // A domain that DNS does not prove yet is told so, by a write more.
  const resolver = new Resolver();
  resolver.setServers([env().dns]);
  const proves = (host: string) =>
    resolver.resolveCname(host).then(
      ({length}) => length > 0,
      () => false,
    );
  for (const n of numbers) await until(() => proves(tenant.host(projectOf(n))));
  return tenant;
}

const domainOf = (tenant: Tenant, n: number): CustomDomain => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'CustomDomain',
  metadata: {name: projectOf(n), namespace: tenant.namespace},
  spec: {projectRef: {name: projectOf(n)}, primary: tenant.host(projectOf(n))},
});

const isIssued = ({status}: {status?: {conditions?: {type: string; status: string}[]}}): boolean =>
  status?.conditions?.some(({type, status: is}) => type === 'Ready' && is === 'True') ?? false;

export const run: Row = async ({say, domains}) => {
  for (const step of ['cluster/up.sh', 'cluster/image.sh']) execFileSync(`${root}${step}`, {stdio: 'inherit'});
  await install();
  const count = Math.min(most, domains);
  const tenants = await Promise.all(Array.from({length: count / perTenant}, tenantWithProjects));
  const namespaces = new Set(tenants.map(({namespace}) => namespace));
  const ofThese = ({metadata: {namespace}}: HasMeta): boolean => namespaces.has(namespace ?? '');
  say(`${count} Projects have been deployed`);
  const since = new Date();
  const began = performance.now();
  const elapsed = (): number => performance.now() - began;
  for (const n of numbers) await Promise.all(tenants.map((tenant) => api().create(customDomains, domainOf(tenant, n))));
  await until(async () => {
    const {items} = await api().list(certificates);
    return items.filter((certificate) => ofThese(certificate) && isIssued(certificate)).length === count;
  });
  const issuedMs = elapsed();
  const live = new Set<string>();
  await until(async () => {
    const {items} = await api().list(customDomains);
    for (const domain of items) if (ofThese(domain) && isReady(domain)) live.add(keyOf(domain));
    return live.size === count;
  });
  const liveMs = elapsed();
  const written = await audit(since, (e) => e.user.username === operator && writeVerbs.has(e.verb) && succeeded(e));
  const sort = (e: (typeof written)[number]): string => e.objectRef?.resource ?? '';
  const events = written.filter((e) => sort(e) === 'events').length;
  // A tenant has a Project of its own, whose default host may still become Ready.
  const isOfTenant = (e: (typeof written)[number]): boolean => sort(e) === 'projects' && e.objectRef?.name === 'web';
  const writes = written.filter((e) => !['events', 'leases'].includes(sort(e)) && !isOfTenant(e)).length;
  printTable([
    [`P2, ${count} domains on Traefik, ACME by Pebble`, 'reach', 'measured'],
    ['writes a domain', '6', (writes / count).toFixed(2)],
    ['Events a domain', '2', (events / count).toFixed(2)],
    ['all have certificates after', '', seconds(issuedMs)],
    ['all are Live after', '', seconds(liveMs)],
  ]);
  for (const tenant of tenants) await tenant.remove({wait: false});
  const well = writes <= 6 * count && events <= 2 * count;
  say(`P2 on Traefik: ${well ? 'reached' : 'MISSED'}`);
  return well;
};
