/**
 * Mutants of the chart's admission policy. They need an API server and nothing else, so they get one of their own. The broken
 * policies all stand on it at once, each in Namespaces of its own (its bindings select them), and the row that a mutant names
 * is run where its policy holds. The sound chart stands beside them: there every row must come out as the table says. What a
 * broken policy lets pass counts only where another row shows that it is in force.
 */
import {readFileSync, readdirSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as wait} from 'node:timers/promises';
import {parse} from 'yaml';
import {ApiServer} from '../support/kube-server.ts';
import {
  answerTo,
  Api,
  certificateKinds,
  type Manifest,
  outcome,
  type Place,
  placeOf,
  routeKinds,
  type Row,
  rows,
  standIn,
  standing,
} from '../support/policy.ts';
import {brokenPolicies, release, renderPolicies} from './manifests.ts';
import type {Mutant} from './mutant.ts';
import type {Tell} from './red.ts';

/** Policies in Namespaces of their own. */
interface World {
  place: Place;
  policies: Manifest[];
}

const patienceMs = 120_000;
const scopeOf = (id: string) => `test.doorplate.dev/${id}`;
const said = (e: unknown) => (e instanceof Error ? e.message : String(e));

/** Rendered policies as those of another release, which hold in its own Namespaces alone. */
function worldOf(id: string, rendered: readonly Manifest[]): World {
  const namespace = `${id}-system`;
  const place = placeOf(id, {namespace, name: release.name}, {[scopeOf(id)]: ''});
  const policies = JSON.parse(JSON.stringify(rendered).replaceAll(release.namespace, namespace)) as Manifest[];
  for (const binding of policies.filter((o) => o.kind === 'ValidatingAdmissionPolicyBinding')) {
    const spec = binding.spec as {matchResources?: {namespaceSelector?: object}};
    if (spec.matchResources?.namespaceSelector)
      throw new Error('a binding has a namespaceSelector of its own: say here what becomes of it');
    const namespaceSelector = {matchExpressions: [{key: scopeOf(id), operator: 'Exists'}]};
    spec.matchResources = {...spec.matchResources, namespaceSelector};
  }
  return {place, policies};
}

const namespace = (name: string, place: Place): Manifest => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {name, labels: place.scope},
});
const inKubeSystem = (row: Row, place: Place) => row.write(place).path.includes('/namespaces/kube-system/');

async function populate(api: Api, place: Place): Promise<void> {
  await api.make(namespace(place.release.namespace, place));
  for (const object of standing(place)) await api.make(object);
}

async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  await Promise.all(
    Array.from({length: 8}, async () => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
    }),
  );
}

/**
 * Waits until another row shows that a broken policy is in force, through the binding by which the sound one refuses this row (through
 * any, where that is broken by its absence): it is still refused, or warned of where that is how the policy is broken. Throws where
 * none does.
 */
async function inForce(api: Api, {place, policies}: World, row: Row, binding: string): Promise<void> {
  const stands = policies.some(
    (p) =>
      p.kind.endsWith('Binding') && p.metadata.name === `${place.release.namespace}-${place.release.name}-${binding}`,
  );
  const others = rows.filter((r) => r.refusedBy === row.refusedBy && r !== row);
  await until(
    `nothing shows that its policy is in force: no other row is refused by ${binding}`,
    async () => {
      for (const other of others) {
        const {refused, warned} = await answerTo(api, place, other);
        if (stands ? refused?.binding === binding || warned.includes(binding) : refused?.by === row.refusedBy)
          return true;
      }
      return false;
    },
    patienceMs,
  );
}

async function until(what: string, test: () => Promise<boolean>, withinMs: number): Promise<void> {
  const end = Date.now() + withinMs;
  let last: unknown = 'never so';
  while (Date.now() < end) {
    try {
      if (await test()) return;
    } catch (e) {
      last = e;
    }
    await wait(50);
  }
  throw new Error(`${what}: ${said(last)}`);
}

/**
 * Tells of each mutant what is wrong with it, or undefined when its row turns red by it. `root` is a checkout, which it does
 * not change. Throws when the sound chart does not do what the table says.
 */
export async function judgePolicies(root: string, mutants: readonly Mutant[], tell: Tell): Promise<void> {
  if (mutants.length === 0) return;
  const rendered = await renderPolicies(root);
  const server = await ApiServer.start({rbac: true});
  const api = new Api(server.credentials);
  try {
    const sound = worldOf('sound', rendered);
    await serve(api, root, sound.place);
    const worlds = await breakPolicies(api, rendered, mutants, tell);
    // Last, so that all hold when these do: what the API server knows of policies, it knows in order.
    const bindings = await holdSound(api, sound);
    for (const [mutant, world] of worlds)
      try {
        await mustTurnRed(api, world, rowOf(mutant)!, bindings);
        tell(mutant, undefined);
      } catch (e) {
        tell(mutant, said(e));
      }
  } finally {
    await api.close();
    await server.stop();
  }
}

const rowOf = ({title}: Mutant): Row | undefined => rows.find((r) => r.title === title);

/** Has the API server serve all kinds of which the table speaks. */
async function serve(api: Api, root: string, place: Place): Promise<void> {
  // Its rules come of a controller that is not here.
  await api.make({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: {name: 'admin'},
    rules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}],
  });
  const ours = readdirSync(join(root, 'crds')).map(
    (f) => parse(readFileSync(join(root, 'crds', f), 'utf8')) as Manifest,
  );
  for (const crd of [...ours, ...[...routeKinds, ...certificateKinds].map(standIn)]) await api.make(crd);
  const served = () => populate(api, place).then(() => true);
  await until('the kinds are served', served, patienceMs);
}

/** The worlds of those mutants that can be judged; tells what is wrong with the others. */
async function breakPolicies(
  api: Api,
  rendered: readonly Manifest[],
  mutants: readonly Mutant[],
  tell: Tell,
): Promise<Map<Mutant, World>> {
  const worlds = new Map<Mutant, World>();
  for (const [i, mutant] of mutants.entries())
    try {
      if (rowOf(mutant) === undefined) throw new Error(`there is no such row: ${mutant.title}`);
      worlds.set(mutant, worldOf(`m${i}`, brokenPolicies(rendered, mutant.edits)));
    } catch (e) {
      tell(mutant, said(e));
    }
  await inBatches([...worlds.values()], ({place}) => populate(api, place));
  for (const [mutant, {policies}] of worlds)
    try {
      for (const policy of policies) await api.make(policy);
    } catch (e) {
      worlds.delete(mutant);
      tell(mutant, `the API server does not take it: ${said(e)}`);
    }
  return worlds;
}

/** Puts the sound policies up, and returns by which binding each row is refused. Throws where the table says otherwise. */
async function holdSound(api: Api, {place, policies}: World): Promise<Map<Row, string>> {
  for (const policy of policies) await api.make(policy);
  await api.make(namespace('kube-system', place));
  // Those that are refused first: the API server hears of each policy and each binding in its own time.
  const bindings = new Map<Row, string>();
  for (const row of rows.filter((r) => r.refusedBy !== undefined))
    await until(
      `with the sound chart it is not refused by ${row.refusedBy}: ${row.title}`,
      async () => {
        const {refused} = await answerTo(api, place, row);
        if (refused?.by !== row.refusedBy) return false;
        bindings.set(row, refused!.binding);
        return true;
      },
      patienceMs,
    );
  for (const row of rows.filter((r) => r.refusedBy === undefined)) {
    const {refused} = await answerTo(api, place, row).catch((e: unknown) => {
      throw new Error(`${row.title}: ${said(e)}`, {cause: e});
    });
    if (refused) throw new Error(`${row.title}: with the sound chart it is refused: ${refused.message}`);
  }
  return bindings;
}

/** Throws where a row comes out as the table says, or where nothing shows that the broken policy is in force. */
async function mustTurnRed(api: Api, world: World, row: Row, bindings: ReadonlyMap<Row, string>): Promise<void> {
  const {place} = world;
  const red = async () => (await outcome(api, place, row)).refusedBy !== row.refusedBy;
  if (inKubeSystem(row, place)) {
    // There is one: for this moment it is this mutant's alone.
    await api.make(namespace('kube-system', place));
    await until(`SURVIVED: ${row.title}`, red, patienceMs);
    return;
  }
  const binding = bindings.get(row);
  if (binding !== undefined) await inForce(api, world, row, binding);
  if (!(await red())) throw new Error(`SURVIVED: ${row.title}`);
}
