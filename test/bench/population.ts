/** Many customers of a bench: who they are, and how what they own is made quickly. */
import {setTimeout as wait} from 'node:timers/promises';
import type {HostStatus} from '../../operator/api/custom-domain.ts';
import type {Account, CustomDomain, EndpointSlice, Project, Service} from '../../operator/api/foreign.ts';
import {identity} from '../../operator/resources/projections.ts';
import {
  accounts,
  certificates,
  customDomains,
  endpointSlices,
  ingresses,
  namespaces,
  projects,
  services,
} from '../../operator/resources/resources.ts';
import {Cache} from '../../operator/kube/cache/cache.ts';
import type {Client} from '../../operator/kube/client/client.ts';
import {isAlreadyExists} from '../../operator/kube/errors.ts';
import {type HasMeta, keyOf, type KubeObject, type Resource} from '../../operator/kube/objects.ts';

const apiVersion = 'doorplate.dev/v1alpha1';
/** So many requests of a bench are under way at once. */
export const atOnce = 32;
/** When what a bench waits for is given up: it ends what hangs. */
const patienceMs = 7_200_000;
const everyMs = 1000;

/** A Project with one hostname, below a registrable domain of its own, as customers have them. */
export interface Place {
  namespace: string;
  name: string;
  hostname: string;
}

/** The places `from` to `to`, so many in each namespace. */
export function placesOf(from: number, to: number, {perTenant = 100, prefix = 'tenant'} = {}): Place[] {
  return Array.from({length: to - from}, (_, i) => {
    const n = from + i;
    const namespace = `${prefix}-${Math.floor(n / perTenant)}`;
    return {namespace, name: `p${n}`, hostname: `www.${prefix}${n}.test`};
  });
}

/** Does work on all of these, in their order, so many at once. */
export async function each<T>(items: readonly T[], work: (item: T, index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < items.length; i = next++) await work(items[i]!, i);
  };
  await Promise.all(Array.from({length: atOnce}, worker));
}

/** It may be there already: a fixture is gone on with. */
async function ensure<T extends KubeObject>(client: Client, resource: Resource<T>, object: T): Promise<void> {
  await client.create<T>(resource, object).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

/** Accounts and Namespaces, and for each place a Service with an endpoint and a Project. Needs an operator. */
export async function publish(client: Client, places: readonly Place[]): Promise<Map<string, string>> {
  const tenants = [...new Set(places.map(({namespace}) => namespace))];
  await each(tenants, async (name) => {
    await ensure<Account>(client, accounts, {
      apiVersion,
      kind: 'Account',
      metadata: {name},
      spec: {planRef: {name: 'pro'}},
    });
    await ensure(client, namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {name, labels: {'doorplate.dev/account': name}},
    });
  });
  await each(places, async ({namespace, name}) => {
    const metadata = {name, namespace};
    await ensure<Service>(client, services, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: {ports: [{name: 'http', port: 80}]},
    });
    const slice = {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {...metadata, labels: {'kubernetes.io/service-name': name}},
      addressType: 'IPv4',
      endpoints: [{addresses: ['192.0.2.7'], conditions: {ready: true}}],
      ports: [{name: 'http', port: 80}],
    };
    await ensure<EndpointSlice>(client, endpointSlices, slice);
    await ensure<Project>(client, projects, {
      apiVersion,
      kind: 'Project',
      metadata,
      spec: {serviceRef: {name, port: 80}, defaultHost: 'Serve'},
    });
  });
  return targetsOf(client, places);
}

/** The default host of each Project, which CNAMEs must name, by `namespace/name`: once all have been deployed. */
const targetsOf = (client: Client, places: readonly Place[]): Promise<Map<string, string>> =>
  allSeen(client, projects, places.map(keyOfPlace), (project) =>
    project.status?.firstDeployTime === undefined ? [] : [[keyOf(project), project.status.host ?? '']],
  );

export const keyOfPlace = ({namespace, name}: Place): string => `${namespace}/${name}`;

/** A CustomDomain for each place. */
export async function attach(client: Client, places: readonly Place[]): Promise<void> {
  await each(places, ({namespace, name, hostname}) =>
    ensure<CustomDomain>(client, customDomains, {
      apiVersion,
      kind: 'CustomDomain',
      metadata: {name, namespace},
      spec: {projectRef: {name}, primary: hostname},
    }),
  );
}

export const isReady = ({status}: Pick<CustomDomain, 'status'>): boolean =>
  status?.conditions?.some(({type, status: is}) => type === 'Ready' && is === 'True') ?? false;

/** Resolves when all of these places are Ready. */
export async function allReady(client: Client, places: readonly Place[]): Promise<void> {
  await allSeen(client, customDomains, places.map(keyOfPlace), (domain) =>
    isReady(domain) ? [[keyOf(domain), '']] : [],
  );
}

const named = (names: readonly (string | undefined)[]): [string, string][] => names.map((name) => [name ?? '', '']);

/** Resolves when there is a Certificate and an Ingress for each of these hostnames. */
export async function allExist(client: Client, places: readonly Place[]): Promise<void> {
  const hostnames = places.map(({hostname}) => hostname);
  await Promise.all([
    allSeen(client, certificates, hostnames, ({spec}) => named(spec.dnsNames)),
    allSeen(client, ingresses, hostnames, ({spec}) => named(spec.rules?.map(({host}) => host) ?? [])),
  ]);
}

interface Shown extends HasMeta {
  shown: [key: string, value: string][];
}

/**
 * What objects show, by key, when each of the wanted keys has been shown: as a watch says, since a list of thousands that is asked for
 * over and over is work for the API server, too.
 */
async function allSeen<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  wanted: readonly string[],
  show: (object: T) => [key: string, value: string][],
): Promise<Map<string, string>> {
  const seen = new Map<string, string>();
  const waiting = new Set(wanted);
  const cache = new Cache<Shown, T>(client, resource, {
    project: (object) => ({metadata: identity(object.metadata), shown: show(object)}),
  });
  const stop = new AbortController();
  const all = new Promise<void>((resolve) => {
    cache.onChange((now) => {
      for (const [key, value] of now?.shown ?? []) if (waiting.delete(key)) seen.set(key, value);
      if (waiting.size === 0) resolve();
    });
  });
  cache.start(stop.signal);
  await Promise.race([all, tooLong(stop.signal)]);
  stop.abort();
  await cache.stopped();
  return seen;
}

async function tooLong(signal: AbortSignal): Promise<void> {
  await wait(patienceMs, undefined, {signal, ref: false}).catch(() => {});
  if (!signal.aborted) throw new Error('what was waited for did not come');
}

/** Asks now and then whether it is so: a list of thousands is work for the API server, too. */
export async function until(attempt: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + patienceMs; !(await attempt()); await wait(everyMs)) {
    if (Date.now() > end) throw new Error(`not so: ${String(attempt)}`);
  }
}

/** Status entries of Live hostnames: a primary and its redirect sources. */
export function liveHosts(primary: string, froms: readonly string[]): HostStatus[] {
  const at = new Date().toISOString();
  const live = {phase: 'Live', waitingFor: 'Nobody', since: at, addedAt: at, verifiedAt: at, liveAt: at} as const;
  return [
    {...live, hostname: primary, role: 'Primary', reason: 'Serving', message: `${primary} is served over TLS.`},
    ...froms.map((hostname): HostStatus => ({
      ...live,
      hostname,
      role: 'RedirectSource',
      reason: 'Redirecting',
      message: `${hostname} redirects to ${primary}.`,
      redirect: {to: primary, status: 301},
    })),
  ];
}
