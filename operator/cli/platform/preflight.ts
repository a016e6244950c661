/**
 * `kubectl doorplate preflight`: the checks of `helm test`, for installations by other tools. They run in a Pod, because they are about
 * the network and the rights that the operator has.
 */
import {randomBytes} from 'node:crypto';
import type {V1Deployment, V1Pod} from '@kubernetes/client-node';
import type {Command} from 'commander';
import type {Client} from '../../kube/client/client.ts';
import {defineResource, type Key, keyOf, type NativeKind} from '../../kube/objects.ts';
import {type Act, type Call, describe} from '../command.ts';
import {CommandError, UsageError} from '../errors.ts';
import {type ExitCode, exitCodes} from '../exit-code.ts';
import {fieldManager} from '../field-manager.ts';
import {connected} from '../surroundings.ts';

export type Deployment = NativeKind<V1Deployment>;
export type Pod = NativeKind<V1Pod>;

const deployments = defineResource<Deployment>({
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
});
const pods = defineResource<Pod>({group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true});

/** Time for pulling the image and for all checks. Kubernetes stops the Pod after it, even if this command was stopped before. */
const mostSeconds = 300;
const everyMs = 1000;
/** The container that runs the checks. A webhook can add others to the Pod. */
const checks = 'preflight';

interface PreflightCommandOptions {
  operator: string;
}

export function addPreflight(program: Command, act: Act): void {
  const command = describe(program, 'preflight', {
    summary: 'check DNS, the issuer and the edge from a Pod, as helm test does. Creates a Pod and deletes it',
    examples: ['kubectl doorplate preflight', 'kubectl doorplate preflight --operator platform/edge-operator'],
    ends: ['Platform'],
  }).option(
    '--operator <namespace/name>',
    "the operator's Deployment; the Pod uses its image, ServiceAccount and settings",
    'doorplate-system/doorplate-operator',
  );
  act<PreflightCommandOptions>(command, runPreflight);
}

async function runPreflight(call: Call<PreflightCommandOptions>): Promise<ExitCode> {
  const {operator} = call.options;
  if (!/^[^/]+\/[^/]+$/.test(operator)) throw new UsageError(`--operator ${operator} must be NAMESPACE/NAME`);
  return connected(call.options, call, async ({client}) => {
    const deployment = await client.get(deployments, operator);
    if (!deployment)
      throw new CommandError(`there is no Deployment ${operator}: name the operator's Deployment with --operator`);
    const pod = await client.create(pods, preflightPod(deployment), {fieldManager});
    const key = keyOf(pod);
    call.tell(`The Pod ${pod.metadata.name} in the namespace ${pod.metadata.namespace} runs the checks.\n`);
    try {
      const code = await endOf(client, key, call);
      call.out(
        await client.text(
          `/api/v1/namespaces/${pod.metadata.namespace}/pods/${pod.metadata.name}/log?container=${checks}`,
        ),
      );
      return code === 0 ? exitCodes.Done : exitCodes.Platform;
    } finally {
      await client.delete(pods, key);
    }
  });
}

/** The Pod of the chart's `helm test` (templates/preflight.yaml), from the Deployment of the operator. */
export function preflightPod(
  {metadata: {name, namespace}, spec: {template}}: Deployment,
  suffix = randomBytes(3).toString('hex'),
): Pod {
  const {topologySpreadConstraints: _, containers, ...spec} = template.spec!;
  const [operator] = containers;
  if (!operator) throw new CommandError(`the Deployment ${namespace}/${name} has no container`);
  const {ports: _1, livenessProbe: _2, readinessProbe: _3, startupProbe: _4, lifecycle: _5, ...container} = operator;
  const [, ...moreArgs] = operator.args ?? [];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${name.replace(/-operator$/, '')}-preflight-${suffix}`,
      namespace,
      labels: {...template.metadata?.labels, 'app.kubernetes.io/component': 'preflight'},
      ...(template.metadata?.annotations && {annotations: template.metadata.annotations}),
    },
    spec: {
      ...spec,
      restartPolicy: 'Never',
      activeDeadlineSeconds: mostSeconds,
      containers: [{...container, name: checks, args: ['preflight', ...moreArgs]}],
    },
  };
}

/** The exit code of the container with the checks. Throws CommandError if it did not run to its end. */
async function endOf(client: Client, key: Key, {now, wait}: Call<PreflightCommandOptions>): Promise<number> {
  const until = now() + mostSeconds * 1000;
  for (;;) {
    const status = (await client.get(pods, key))?.status;
    const state = status?.containerStatuses?.find(({name}) => name === checks)?.state;
    if (state?.terminated) return state.terminated.exitCode;
    if (!status || status.phase === 'Failed' || now() >= until) {
      const unscheduled = status?.conditions?.find(({type, status: is}) => type === 'PodScheduled' && is === 'False');
      const {reason, message} = state?.waiting ?? unscheduled ?? status ?? {reason: 'Deleted'};
      const why = [reason, message].filter(Boolean).join(': ') || 'it is still running';
      throw new CommandError(`the checks did not finish within ${mostSeconds / 60} minutes (${why})`);
    }
    await wait(everyMs);
  }
}
