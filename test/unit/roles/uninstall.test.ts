/** The uninstall's Job keeps the finalizers while an operator runs. test/operator/uninstall.test.ts has its orders on an API server. */
import {afterEach, beforeEach, describe, expect, jest, test} from '@jest/globals';
import {pino} from 'pino';
import type {Config} from '../../../operator/config.ts';
import type {Client} from '../../../operator/kube/client/client.ts';
import type {Resource} from '../../../operator/kube/objects.ts';
import {finalizer} from '../../../operator/resources/projections.ts';
import {uninstall} from '../../../operator/roles/uninstall.ts';

const deletionTimestamp = '2026-01-01T00:00:00Z';
const named = (name: string, more: object = {}) => ({metadata: {name, namespace: 'doorplate-system', ...more}});
const operatorPod = named('operator-1');
const endingPod = named('operator-1', {deletionTimestamp});
const installed = named('doorplate-operator');

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const next = <T>(of: T[]): T => (of.length > 1 ? of.shift()! : of[0]!);
/** The API server leaves out a Pod that was evicted only if asked to. */
const podsOf = (all: object[], fieldSelector?: string) => (fieldSelector ? all : [...all, named('evicted')]);

/** Deployments and lists of Pods, one for each read; the last one stays. Returns the error, and the number of patches. */
async function run(deployments: (object | undefined)[], pods: object[][]) {
  const project = {...named('docs', {finalizers: [finalizer], resourceVersion: '1', uid: 'u'}), kind: 'Project'};
  let patches = 0;
  const client = {
    get: async () => next(deployments),
    list: async ({kind}: Resource, {fieldSelector}: {fieldSelector?: string}) => ({
      items: kind === 'Pod' ? podsOf(next(pods), fieldSelector) : kind === 'Project' ? [project] : [],
    }),
    patch: async () => {
      patches += 1;
      return project;
    },
  } as unknown as Client;
  const config = {namespace: 'doorplate-system', settings: {operator: {deployment: 'doorplate-operator'}}};
  const log = pino({level: 'silent'});
  const done = uninstall({config: config as unknown as Config, client, log}).then(
    () => '',
    ({message}: Error) => message,
  );
  await jest.advanceTimersByTimeAsync(61_000);
  return {error: await done, patches};
}

describe('Finalizers', () => {
  test.each<[string, (object | undefined)[], object[][]]>([
    ['are removed if only an evicted Pod is left', [undefined], [[]]],
    ['are removed after the last Pod has ended', [undefined], [[operatorPod], [endingPod], []]],
    ['are removed if a deleted Pod never ends, because its node is lost', [undefined], [[endingPod]]],
    ['are removed while the Deployment is being deleted', [named('a', {deletionTimestamp})], [[]]],
  ])('%s', async (_, deployments, pods) => {
    expect(await run(deployments, pods)).toEqual({error: '', patches: 1});
  });

  test.each<[string, (object | undefined)[], object[][]]>([
    ['while the Deployment exists', [installed], [[]]],
    ['if the Deployment is created while the Job waits', [undefined, installed], [[endingPod], []]],
  ])('stay %s', async (_, deployments, pods) => {
    expect(await run(deployments, pods)).toEqual({error: '', patches: 0});
  });

  test('stay while a Pod of an operator runs, also if a renamed Deployment has created it', async () => {
    const {error, patches} = await run([undefined], [[endingPod, named('eu-doorplate-operator-x')]]);
    expect(patches).toBe(0);
    expect(error).toContain('runs in the Pod doorplate-system/eu-doorplate-operator-x; nothing was changed');
  });
});
