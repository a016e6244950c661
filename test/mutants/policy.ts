/**
 * Judges mutants of the chart's admission policy on an API server of their own. All broken policies are in force at once. A match
 * condition confines each to requests that are marked with its world: an extra of the user that Kubernetes itself ignores. So all
 * worlds share the Namespaces and objects of the table. The sound chart is a world too: there every row must come out as the
 * table says. A row that a broken policy lets pass counts only if another row shows that the policy is in force.
 */
import {readFileSync, readdirSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as wait} from 'node:timers/promises';
import {parse} from 'yaml';
import {ApiServer} from '../support/kube-server.ts';
import {
  type Answer,
  answerTo,
  Api,
  certificateKinds,
  type Manifest,
  placeOf,
  type Policies,
  routeKinds,
  type Row,
  rows,
  standIn,
  standing,
} from '../support/policy.ts';
import {brokenPolicies, release, renderPolicies, shortName} from './manifests.ts';
import type {Mutant} from './mutant.ts';
import {refusedRows, rowsThatMayChange} from './policy-rows.ts';
import {isPartLeftOut, type PartLeftOut} from './policy-rules.ts';
import type {Tell} from './red.ts';

/** Policies that decide about marked requests alone. */
interface World extends Policies {
  policies: Manifest[];
}

interface Named {
  kind: string;
  spec: {policyName?: string; matchConditions?: object[]};
}

const patienceMs = 120_000;
const place = placeOf('mutants', release);
const said = (e: unknown) => (e instanceof Error ? e.message : String(e));

/** Rendered policies under other names, for requests with the mark of a world. */
function worldOf(id: string, rendered: readonly Manifest[]): World {
  const prefix = `${id}-`;
  const condition = {name: 'of-this-world', expression: `'${id}' in request.userInfo.?extra[?'world'].orValue([])`};
  const policies = structuredClone(
    rendered.map((o) => ({...o, metadata: {...o.metadata, name: prefix + shortName(o.metadata.name)}})),
  );
  for (const {kind, spec} of policies as unknown as Named[])
    if (kind === 'ValidatingAdmissionPolicy') spec.matchConditions = [...(spec.matchConditions ?? []), condition];
    else spec.policyName = prefix + shortName(spec.policyName!);
  return {prefix, mark: {'Impersonate-Extra-World': id}, policies};
}

const namespace = (name: string): Manifest => ({apiVersion: 'v1', kind: 'Namespace', metadata: {name}});

/**
 * Waits until one of these rows shows that a broken policy is in force through a binding, or through any: it is refused, or
 * warned of if that is how the policy is broken. Throws if none shows it.
 */
async function inForce(api: Api, world: World, others: readonly Row[], binding?: string): Promise<void> {
  const shows = ({refused, warned}: Answer) =>
    binding === undefined
      ? refused !== undefined || warned.length > 0
      : refused?.binding === binding || warned.includes(binding);
  await until(
    `nothing shows that its policy is in force: no other row is refused by ${binding ?? 'it'}`,
    async () => {
      for (const other of others) if (shows(await answerTo(api, place, other, world))) return true;
      return false;
    },
    patienceMs,
  );
}

async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  await Promise.all(
    Array.from({length: 8}, async () => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
    }),
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
 * Reports for each mutant what is wrong with it, or undefined if the table turns red by it: its row, or without a part of a policy
 * any row. `root` is a checkout; it stays unchanged. Throws if the sound chart does not do what the table says.
 */
export async function judgePolicies(root: string, mutants: readonly Mutant[], tell: Tell): Promise<void> {
  if (mutants.length === 0) return;
  const rendered = await renderPolicies(root);
  const server = await ApiServer.start({rbac: true});
  const api = new Api(server.credentials);
  try {
    await serve(api, root);
    const worlds = await breakPolicies(api, rendered, mutants, tell);
    // Last: the API server learns of policies in order, so if these are in force, all are.
    const bindings = await holdSound(api, worldOf('sound', rendered));
    await inBatches([...worlds], async ([mutant, world]) => {
      try {
        if (isPartLeftOut(mutant)) await mustTurnAnyRed(api, world, mutant);
        else await mustTurnRed(api, world, rowOf(mutant)!, bindings);
        tell(mutant, undefined);
      } catch (e) {
        tell(mutant, said(e));
      }
    });
  } finally {
    await api.close();
    await server.stop();
  }
}

const rowOf = ({title}: Mutant): Row | undefined => rows.find((r) => r.title === title);

/** Has the API server serve all kinds in the table, and creates the table's Namespaces and objects. */
async function serve(api: Api, root: string): Promise<void> {
  // A controller that does not run here would aggregate its rules.
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

  await until(
    'the kinds are served',
    async () => {
      for (const object of [namespace(place.release.namespace), namespace('kube-system'), ...standing(place)])
        await api.make(object);
      return true;
    },
    patienceMs,
  );
}

/** The worlds of the mutants that can be judged; reports what is wrong with the others. */
async function breakPolicies(
  api: Api,
  rendered: readonly Manifest[],
  mutants: readonly Mutant[],
  tell: Tell,
): Promise<Map<Mutant, World>> {
  const worlds = new Map<Mutant, World>();
  await inBatches([...mutants.entries()], async ([i, mutant]) => {
    try {
      if (!isPartLeftOut(mutant) && rowOf(mutant) === undefined)
        throw new Error(`there is no such row: ${mutant.title}`);
      const world = worldOf(`m${i}`, brokenPolicies(rendered, mutant.edits));
      for (const policy of world.policies) await api.make(policy);
      worlds.set(mutant, world);
    } catch (e) {
      tell(mutant, said(e));
    }
  });
  return worlds;
}

/** Creates the sound policies, and returns by which binding each row is refused. Throws if the table says otherwise. */
async function holdSound(api: Api, world: World): Promise<Map<Row, string>> {
  for (const policy of world.policies) await api.make(policy);
  // First the rows that are refused: the API server learns of each policy and each binding in its own time.
  const bindings = new Map<Row, string>();
  for (const row of rows.filter((r) => r.refusedBy !== undefined))
    await until(
      `with the sound chart it is not refused by ${row.refusedBy}: ${row.title}`,
      async () => {
        const {refused} = await answerTo(api, place, row, world);
        if (refused?.by !== row.refusedBy) return false;
        bindings.set(row, refused!.binding);
        return true;
      },
      patienceMs,
    );
  for (const row of rows.filter((r) => r.refusedBy === undefined)) {
    const {refused} = await answerTo(api, place, row, world).catch((e: unknown) => {
      throw new Error(`${row.title}: ${said(e)}`, {cause: e});
    });
    if (refused) throw new Error(`${row.title}: with the sound chart it is refused: ${refused.message}`);
  }
  return bindings;
}

/** Throws if a row comes out as the table says, or if nothing shows that the broken policy is in force. */
async function mustTurnRed(api: Api, world: World, row: Row, bindings: ReadonlyMap<Row, string>): Promise<void> {
  const binding = bindings.get(row);
  if (binding !== undefined) {
    const stands = world.policies.some((p) => p.kind.endsWith('Binding') && p.metadata.name === world.prefix + binding);
    const others = refusedRows(row.refusedBy!, place).filter((r) => r !== row);
    // First those that the sound policy refuses through the same binding.
    const likely = others.toSorted((a, b) => Number(bindings.get(b) === binding) - Number(bindings.get(a) === binding));
    await inForce(api, world, likely, stands ? binding : undefined);
  }
  if (!(await isRed(api, world, row))) throw new Error(`SURVIVED: ${row.title}`);
}

const isRed = async (api: Api, world: World, row: Row): Promise<boolean> =>
  (await answerTo(api, place, row, world)).refused?.by !== row.refusedBy;

/**
 * Throws if no row comes out differently without a part of a policy, unless the part has an equivalent; if it is listed with one
 * and a row does; or if nothing shows that the broken policy is in force.
 */
async function mustTurnAnyRed(api: Api, world: World, part: PartLeftOut): Promise<void> {
  await inForce(api, world, refusedRows(part.policy, place));
  const red = await firstRed(api, world, rowsThatMayChange(part, place));
  if (red === undefined && part.equivalent === undefined) throw new Error('SURVIVED: no row comes out differently');
  if (red !== undefined && part.equivalent !== undefined)
    throw new Error(`remove it from the equivalents, because this row shows it: ${red.title}`);
}

/** The first row that comes out differently. Throws if there is none, and one was neither refused by a policy nor passed. */
async function firstRed(api: Api, world: World, candidates: readonly Row[]): Promise<Row | undefined> {
  let failure: unknown;
  for (const row of candidates)
    try {
      if (await isRed(api, world, row)) return row;
    } catch (e) {
      failure ??= e;
    }
  if (failure !== undefined) throw failure;
  return undefined;
}
