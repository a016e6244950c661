/** The races of writing, one at a time. That a real API server answers like this is shown in test/crds/kube-apply.test.ts and kube-writes. */
import {beforeEach, describe, expect, test} from '@jest/globals';
import {Applier} from '../../../../operator/kube/writes/apply.ts';
import type {Client} from '../../../../operator/kube/client/client.ts';
import {ApiError} from '../../../../operator/kube/errors.ts';
import type {HasMeta, KubeObject} from '../../../../operator/kube/objects.ts';
import {writeStatus} from '../../../../operator/kube/writes/status.ts';
import {type ConfigMap, configMaps} from '../../../support/kube-api.ts';

type Stored = ConfigMap & {status?: unknown};

const isOurs = (object: KubeObject): boolean => object.metadata.labels?.owner === 'us';
const refusal = (status: number, reason: string, details = {}): ApiError =>
  new ApiError({status, body: JSON.stringify({kind: 'Status', reason, details})});

/** At most one object, and what was sent. */
let stored: Stored | undefined;
let sent: string[];
let applier: Applier;

const client = {
  get: async () => structuredClone(stored),
  applyPatch: async (_: unknown, object: Stored, {force}: {force: boolean}) => {
    sent.push(`apply${force ? ' by force' : ''}`);
    const {resourceVersion, uid, ...metadata} = object.metadata;
    if (stored && resourceVersion !== undefined && resourceVersion !== stored.metadata.resourceVersion)
      throw refusal(409, 'Conflict');
    if (stored && uid !== undefined && uid !== stored.metadata.uid)
      throw refusal(422, 'Invalid', {causes: [{field: 'metadata.uid'}]});
    if (!stored && uid !== undefined) throw refusal(409, 'Conflict');
    stored = {
      ...stored,
      ...object,
      metadata: {
        ...metadata,
        uid: stored?.metadata.uid ?? `uid-${sent.length}`,
        resourceVersion: String(100 + sent.length),
      },
    };
    return structuredClone(stored);
  },
  // What waits for dependents goes on waiting, unless the policy is given and is another (apiserver: shouldDeleteDependents).
  delete: async (_: unknown, __: unknown, {propagation}: {propagation?: string}) => {
    sent.push('delete');
    const finalizers = (stored!.metadata.finalizers ?? []).filter(
      (f) => propagation === undefined || (f !== 'foregroundDeletion' && f !== 'orphan'),
    );
    stored =
      finalizers.length > 0
        ? {...stored!, metadata: {...stored!.metadata, finalizers, deletionTimestamp: '2026-01-01T00:00:00Z'}}
        : undefined;
    return 'Deleted';
  },
  patch: async (_: unknown, __: unknown, patch: {path: string; value: unknown}[]) => {
    sent.push('patch');
    for (const {path, value} of patch) {
      if (path === '/metadata/resourceVersion' && value !== stored!.metadata.resourceVersion)
        throw refusal(409, 'Conflict');
      if (path === '/status') stored!.status = value;
    }
    return structuredClone(stored);
  },
} as unknown as Client;

const intent = (a: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {name: 'x', namespace: 'ns', labels: {owner: 'us'}},
  data: {a},
});
const foreign = (): Stored => ({
  ...intent('theirs'),
  metadata: {name: 'x', namespace: 'ns', uid: 'theirs', resourceVersion: '7'},
});
const ours = (finalizers: string[], deletionTimestamp?: string): Stored => ({
  ...intent('1'),
  metadata: {...intent('1').metadata, uid: 'ours', resourceVersion: '7', finalizers, deletionTimestamp},
});

beforeEach(() => {
  stored = undefined;
  sent = [];
  applier = new Applier(client, {fieldManager: 'kit', hashAnnotation: 'kit.test/intent'});
});

describe('an object of somebody else', () => {
  test('that came into being since the cache looked is left as it is', async () => {
    stored = foreign();
    expect((await applier.apply(configMaps, intent('1'), {existing: undefined, isOurs})).outcome).toBe('NotOurs');
    expect(stored).toEqual(foreign());
  });

  test('that replaced ours since the cache looked is left as it is', async () => {
    const {object} = await applier.apply(configMaps, intent('1'), {existing: undefined, isOurs});
    stored = foreign();
    expect((await applier.apply(configMaps, intent('2'), {existing: object, isOurs})).outcome).toBe('NotOurs');
    expect(stored).toEqual(foreign());
  });
});

test('an intent that stands costs no request', async () => {
  const {object} = await applier.apply(configMaps, intent('1'), {existing: undefined, isOurs});
  sent = [];
  expect((await applier.apply(configMaps, intent('1'), {existing: object, isOurs})).outcome).toBe('Unchanged');
  expect(sent).toEqual([]);
});

test('an intent and a copy that have both not changed are compared once', async () => {
  const {object} = await applier.apply(configMaps, intent('1'), {existing: undefined, isOurs});
  let compared = 0;
  const cache = {
    observe() {},
    kept(whole: ConfigMap) {
      compared++;
      return whole;
    },
  };
  const outcomes: string[] = [];
  const apply = async (value: string, existing: HasMeta): Promise<void> => {
    outcomes.push((await applier.apply(configMaps, intent(value), {existing, isOurs, cache})).outcome);
  };
  for (let i = 0; i < 3; i++) await apply('1', object);
  expect(compared).toBe(1);
  // A copy that came later, in which somebody has changed what we say.
  const changed: ConfigMap = {...intent('of somebody'), metadata: object.metadata};
  await apply('1', changed);
  await apply('2', object);
  expect(outcomes).toEqual(['Unchanged', 'Unchanged', 'Unchanged', 'Applied', 'Applied']);
});

test('what must exist is not created anew: its writer is told, and starts over', async () => {
  const known = ours([]);
  const write = applier.apply(configMaps, intent('1'), {existing: known, isOurs, onlyExisting: true});
  await expect(write).rejects.toMatchObject({status: 409});
  expect(stored).toBeUndefined();
});

/** Writes an object that may be created only if nothing has been sent yet. */
function ask(existing: HasMeta | undefined, may: boolean) {
  const asked: string[] = [];
  const mayCreate = async () => (asked.push('asked'), sent.length === 0 && may);
  return {asked, done: applier.apply(configMaps, intent('b'), {existing, isOurs, mayCreate})};
}

describe('an object that may not be created', () => {
  test('is not created, also if it turns out to be gone, and is asked about for no other write', async () => {
    const {asked, done} = ask(undefined, false);
    expect([(await done).outcome, sent, asked]).toEqual(['Withheld', [], ['asked']]);
    const gone = ask({metadata: {name: 'x', namespace: 'ns', uid: 'gone', labels: {owner: 'us'}}}, true);
    expect([(await gone.done).outcome, sent, gone.asked]).toEqual(['Withheld', ['apply'], ['asked']]);
    sent = [];
    await applier.apply(configMaps, intent('a'), {existing: undefined, isOurs});
    sent = [];
    const stands = ask(structuredClone(stored), false);
    expect([(await stands.done).outcome, sent, stands.asked]).toEqual(['Applied', ['apply'], []]);
  });
});

describe('a removal', () => {
  test.each(['foregroundDeletion', 'orphan'])('ends a deletion that waits for dependents (%s)', async (finalizer) => {
    stored = ours([finalizer], '2026-01-01T00:00:00Z');
    expect(await applier.remove(configMaps, stored)).toBe('Deleted');
    expect(stored).toBeUndefined();
  });

  test('waits for no dependents, though somebody has written the object so and the cache does not know it', async () => {
    stored = ours(['foregroundDeletion']);
    expect(await applier.remove(configMaps, ours([]))).toBe('Deleted');
    expect(stored).toBeUndefined();
  });

  test('is asked for once where a stranger’s finalizer keeps the object', async () => {
    stored = ours(['foregroundDeletion', 'kit.test/held'], '2026-01-01T00:00:00Z');
    expect(await applier.remove(configMaps, stored)).toBe('Deleted');
    expect(await applier.remove(configMaps, stored)).toBe('Going');
    expect(sent).toEqual(['delete']);
  });
});

describe('a status', () => {
  test('that was decided on a stale read is refused, and one that is so already costs no request', async () => {
    stored = {...foreign(), status: {seen: 1}};
    const read = structuredClone(stored);
    expect(await writeStatus(client, configMaps, read, {seen: 1})).toBeUndefined();
    expect(sent).toEqual([]);
    stored.metadata.resourceVersion = '8';
    await expect(writeStatus(client, configMaps, read, {seen: 2})).rejects.toMatchObject({status: 409});
    expect(stored.status).toEqual({seen: 1});
  });
});
