/**
 * Mutants of the chart's admission policy. They need an API server and nothing else, so they get one of their own: all broken
 * policies stand on it at once, each in Namespaces of its own (its bindings select them), and the row that a mutant names is
 * run where its policies hold. The sound chart stands beside them: there every row must come out as the table says.
 */
import {execFile} from 'node:child_process';
import {readFileSync, readdirSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as wait} from 'node:timers/promises';
import {promisify} from 'node:util';
import {parse, parseAllDocuments} from 'yaml';
import {ApiServer, bin} from '../support/kube-server.ts';
import {
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

const run = promisify(execFile);
const release = 'doorplate';

export interface PolicyMutant {
  name: string;
  title: string;
}

/** A chart's policies, in Namespaces of their own. */
interface World {
  place: Place;
  policies: Manifest[];
}

const scopeOf = (id: string) => `test.doorplate.dev/${id}`;

async function render(root: string, id: string): Promise<World> {
  const place = placeOf(id, {namespace: `${id}-system`, name: release}, {[scopeOf(id)]: ''});
  const {stdout} = await run(join(bin, 'helm'), [
    'template',
    release,
    join(root, 'charts/doorplate'),
    '-n',
    place.release.namespace,
    '-f',
    join(root, 'examples/demo/values.yaml'),
    '-s',
    'templates/admission-policy.yaml',
  ]);
  const policies = parseAllDocuments(stdout)
    .map((d) => d.toJS() as Manifest | null)
    .filter((o) => o !== null);
  for (const binding of policies.filter((o) => o.kind === 'ValidatingAdmissionPolicyBinding')) {
    const spec = binding.spec as {matchResources?: {namespaceSelector?: object}};
    if (spec.matchResources?.namespaceSelector)
      throw new Error('a binding has a namespaceSelector of its own: say here what becomes of it');
    spec.matchResources = {
      ...spec.matchResources,
      namespaceSelector: {matchExpressions: [{key: scopeOf(id), operator: 'Exists'}]},
    };
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
  throw new Error(`${what}: ${last instanceof Error ? last.message : String(last)}`);
}

/**
 * Tells of each mutant what is wrong with it, or undefined when its row turns red by it. `broken` calls back while the copy of the
 * checkout at `root` has the mutant applied. Throws when the sound chart does not do what the table says.
 */
export async function judgePolicies<M extends PolicyMutant>(
  root: string,
  mutants: readonly M[],
  broken: (mutant: M, work: () => Promise<void>) => Promise<void>,
  tell: (mutant: M, wrong: string | undefined) => void,
): Promise<void> {
  const byTitle = new Map(rows.map((r) => [r.title, r]));
  const worlds = new Map<M, World>();
  const starting = ApiServer.start({rbac: true});
  starting.catch(() => {});
  try {
    const sound = await render(root, 'sound');
    for (const [i, mutant] of mutants.entries()) {
      if (!byTitle.has(mutant.title)) {
        tell(mutant, `there is no such row: ${mutant.title}`);
        continue;
      }
      try {
        await broken(mutant, async () => {
          worlds.set(mutant, await render(root, `m${i}`));
        });
      } catch (e) {
        tell(mutant, e instanceof Error ? e.message : String(e));
      }
    }
    const server = await starting;
    const api = new Api(server.credentials);
    try {
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
      await until(
        'the kinds are served',
        async () => {
          await populate(api, sound.place);
          return true;
        },
        120_000,
      );
      await inBatches([...worlds.values()], ({place}) => populate(api, place));
      for (const [mutant, {policies}] of worlds) {
        try {
          for (const policy of policies) await api.make(policy);
        } catch (e) {
          worlds.delete(mutant);
          tell(mutant, `the API server does not take it: ${e instanceof Error ? e.message : String(e)}`);
        }
      }
      // Last, so that all hold when these do: what the API server knows of policies, it knows in order.
      for (const policy of sound.policies) await api.make(policy);
      await api.make(namespace('kube-system', sound.place));
      for (const refusedBy of ['routes', 'labels', 'secrets', 'namespaces']) {
        const row = rows.find((r) => r.refusedBy === refusedBy)!;
        await until(
          `the policy ${refusedBy} holds`,
          async () => (await outcome(api, sound.place, row)).refusedBy === refusedBy,
          120_000,
        );
      }
      for (const row of rows) {
        const {refusedBy, message} = await outcome(api, sound.place, row).catch((e: unknown) => {
          throw new Error(`${row.title}: ${String(e)}`, {cause: e});
        });
        if (refusedBy !== row.refusedBy)
          throw new Error(
            `${row.title}: with the sound chart it is ${refusedBy === undefined ? 'not refused' : `refused: ${message}`}`,
          );
      }
      for (const [mutant, {place}] of worlds) {
        const row = byTitle.get(mutant.title)!;
        const red = async () => (await outcome(api, place, row)).refusedBy !== row.refusedBy;
        try {
          if (inKubeSystem(row, place)) {
            // There is one: for this moment it is this mutant's alone.
            await api.make(namespace('kube-system', place));
            await until(`SURVIVED: ${row.title}`, red, 3000);
            tell(mutant, undefined);
          } else {
            tell(mutant, (await red()) ? undefined : `SURVIVED: ${row.title}`);
          }
        } catch (e) {
          tell(mutant, e instanceof Error ? e.message : String(e));
        }
      }
    } finally {
      await api.close();
    }
  } finally {
    await (await starting.catch(() => undefined))?.stop();
  }
}
