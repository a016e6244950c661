/**
 * The floor of P1: a bare loop that makes as many writes of the same kinds as the operator made, of objects like those that it wrote,
 * without a decision, a look or a wait between them.
 */
import {certificates, customDomains, domainClaims, ingresses, projects} from '../../operator/resources/resources.ts';
import type {Client} from '../../operator/kube/client/client.ts';
import {keyOf, type KubeObject, type Resource} from '../../operator/kube/objects.ts';
import {events} from '../../operator/kube/writes/events.ts';
import {isLease, succeeded, type Write} from './audit.ts';
import {each} from './population.ts';

/** The kinds of which copies are made; whatever else was written is written on the objects themselves. */
const copied: Record<string, Resource> = {
  customdomains: customDomains,
  domainclaims: domainClaims,
  certificates,
  ingresses,
  events,
};
const written: Record<string, Resource> = {...copied, projects};
const namespace = 'default';

type Op = (client: Client) => Promise<unknown>;
type Loose = KubeObject & {spec?: {primary?: string}; status?: object};

/** A copy of an object under another name; its status does not count. */
function copyOf(object: Loose, name: string, namespaced: boolean): KubeObject {
  const {status: _, metadata, ...rest} = object;
  const {labels, annotations, ownerReferences, finalizers} = metadata;
  return {
    ...rest,
    metadata: {name, ...(namespaced && {namespace}), labels, annotations, ownerReferences, finalizers},
  } as KubeObject;
}

/** What stands of each kind, by which copies are made. */
async function samples(client: Client): Promise<Map<string, Loose[]>> {
  const found = new Map<string, Loose[]>();
  for (const [plural, resource] of Object.entries(written)) {
    found.set(plural, (await client.list(resource)).items as Loose[]);
  }
  return found;
}

class Floor {
  readonly #samples: Map<string, Loose[]>;

  constructor(standing: Map<string, Loose[]>) {
    this.#samples = standing;
  }

  /** The n-th write of a sort. */
  op({verb, resource: path, code}: Write, n: number): Op {
    const [plural = '', subresource] = path.split('/');
    const resource = written[plural];
    const standing = this.#samples.get(plural) ?? [];
    const like = standing[n % Math.max(1, standing.length)];
    if (!resource || !like) throw new Error(`the floor knows no ${verb} of ${path}`);
    const name = plural === 'domainclaims' ? `n${n}.floor.test` : `floor-${n}`;
    const key = plural in copied ? (resource.namespaced ? `${namespace}/${name}` : name) : keyOf(like);
    if (verb === 'create') return (client) => client.create(resource, copyOf(like, name, resource.namespaced));
    if (verb === 'delete') return (client) => client.delete(resource, key);
    // An apply that creates answers 201.
    if (code === 201)
      return (client) =>
        client.applyPatch(resource, copyOf(like, name, resource.namespaced), {fieldManager: 'floor', force: false});
    if (subresource === 'status')
      return (client) => client.patch(resource, key, {status: like.status}, {type: 'merge', subresource});
    return (client) =>
      client.patch(resource, key, {metadata: {annotations: {'floor.test/n': String(n)}}}, {type: 'merge'});
  }
}

/**
 * How long the bare loop takes, ms: `writes` were the operator's, of so many domains, and each domain's follow one another as there, creations
 * first; so many domains at once as a bench makes. Those that were refused are not repeated.
 */
export async function floorMs(
  client: Client,
  writes: readonly Write[],
  domains: number,
): Promise<{ms: number; writes: number}> {
  const floor = new Floor(await samples(client));
  const counts = new Map<string, number>();
  const chains = Array.from({length: domains}, (): {isCreation: boolean; op: Op}[] => []);
  let total = 0;
  for (const write of writes.filter((w) => succeeded(w) && !isLease(w))) {
    const sort = `${write.verb} ${write.resource} ${write.code}`;
    const n = counts.get(sort) ?? 0;
    counts.set(sort, n + 1);
    // More than one of a sort for a domain: several objects where they are created, one object that changes where not.
    const isCreation = write.verb === 'create' || write.code === 201;
    chains[n % domains]!.push({isCreation, op: floor.op(write, isCreation ? n : n % domains)});
    total++;
  }
  const began = performance.now();
  await each(chains, async (chain) => {
    for (const {op} of chain.toSorted((a, b) => Number(b.isCreation) - Number(a.isCreation))) await op(client);
  });
  return {ms: performance.now() - began, writes: total};
}
