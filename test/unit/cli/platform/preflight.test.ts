/** `kubectl doorplate preflight`: its Pod beside the chart's, and its end by a fake API server. test/cluster/preflight.test.ts runs it. */
import {describe, expect, test} from '@jest/globals';
import {type Deployment, type Pod, preflightPod} from '../../../../operator/cli/platform/preflight.ts';
import {runCli} from '../../../support/cli.ts';
import type {Client} from '../../../../operator/kube/client/client.ts';
import type {Resource} from '../../../../operator/kube/objects.ts';
import {renderChart} from '../../../support/alerts.ts';

test('The Pod is the one of `helm test`', () => {
  const rendered = renderChart<Deployment | Pod>(
    'operator.nodeSelector.pool=system',
    'operator.topologySpreadConstraints[0].maxSkew=1',
    'operator.topologySpreadConstraints[0].topologyKey=zone',
    'operator.topologySpreadConstraints[0].whenUnsatisfiable=DoNotSchedule',
    'caBundle.configMap=ca',
    'proxy.url=http://proxy.test:3128',
  );
  const chart = rendered.find(({kind}) => kind === 'Pod') as Pod;
  expect(chart.metadata.name).toMatch(/^doorplate-preflight-[0-9a-f]{8}$/);
  const deployed = rendered.find((o) => o.kind === 'Deployment' && o.metadata.name === 'doorplate-operator');
  const own = preflightPod(deployed as Deployment, 'abc');
  expect(own.spec).toEqual({...chart.spec, activeDeadlineSeconds: 300});
  expect(own.metadata.labels).toEqual(chart.metadata.labels);
  expect(own.metadata.name).toBe('doorplate-preflight-abc');
});

const deployment = {
  metadata: {name: 'doorplate-operator', namespace: 'doorplate-system'},
  spec: {template: {metadata: {labels: {a: 'b'}}, spec: {containers: [{name: 'operator', args: ['operator']}]}}},
} as unknown as Deployment;

/** States of the Pod, one for each read; later reads return the last state. */
async function preflight(...states: object[]) {
  const did: string[] = [];
  const fake = {
    get: async ({kind}: Resource) =>
      kind === 'Deployment' ? deployment : {status: states.length > 1 ? states.shift() : states[0]},
    create: async ({kind}: Resource, pod: Pod) => {
      did.push(`create ${kind}`);
      return pod;
    },
    text: async (path: string) => {
      did.push(`read ${path.replace(/-[0-9a-f]{6}\//, '-x/')}`);
      return 'Nothing failed.\n';
    },
    delete: async ({kind}: Resource) => did.push(`delete ${kind}`),
    close: async () => {},
  } as unknown as Client;
  let now = 0;
  const result = await runCli(['preflight'], {
    cluster: async () => ({namespace: 'acme', client: () => fake}),
    now: () => now,
    wait: async (ms) => {
      now += ms;
    },
  });
  return {...result, did};
}

/** Beside the container with the checks, the Pod has one that a webhook added. */
const containers = (state: object) => ({
  containerStatuses: [
    {name: 'mesh-proxy', state: {terminated: {exitCode: 3}}},
    {name: 'preflight', state},
  ],
});
const ended = (exitCode: number) => containers({terminated: {exitCode}});
const read = 'read /api/v1/namespaces/doorplate-system/pods/doorplate-preflight-x/log?container=preflight';

describe('The command', () => {
  test.each([
    [0, 0],
    [1, 5],
  ])('prints the log of the checks that ended with %d, deletes the Pod and ends with %d', async (exitCode, code) => {
    const done = await preflight({phase: 'Pending'}, {phase: 'Running'}, containers({running: {}}), ended(exitCode));
    expect(done).toEqual({
      code,
      out: 'Nothing failed.\n',
      told: expect.stringMatching(
        /^The Pod doorplate-preflight-\w+ in the namespace doorplate-system runs the checks\.\n$/,
      ),
      did: ['create Pod', read, 'delete Pod'],
    });
  });

  test.each<[string, object, string]>([
    [
      'whose image cannot be pulled',
      containers({waiting: {reason: 'ImagePullBackOff', message: 'Back-off'}}),
      'ImagePullBackOff: Back-off',
    ],
    [
      'that fits no node',
      {conditions: [{type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes'}]},
      'Unschedulable: 0/1 nodes',
    ],
    ['that was evicted', {phase: 'Failed', reason: 'Evicted', message: 'low on memory'}, 'Evicted: low on memory'],
    ['that hangs', {phase: 'Running'}, 'it is still running'],
  ])('deletes a Pod %s, says why and ends with 1', async (_, state, why) => {
    const {code, told, did} = await preflight(state);
    expect([code, did]).toEqual([1, ['create Pod', 'delete Pod']]);
    expect(told).toContain(`error: the checks did not finish within 5 minutes (${why})\n`);
  });
});
