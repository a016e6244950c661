/** The chart's Job after it is uninstalled: a Helm hook (charts/doorplate/templates/uninstall.yaml). */
import type {Client} from '../kube/client/client.ts';
import {sleep} from '../kube/clock.ts';
import {defineResource, type KubeObject} from '../kube/objects.ts';
import {removeFinalizers} from '../controllers/writers/remove-finalizers.ts';
import type {RoleParts} from './parts.ts';

const deployments = defineResource<KubeObject>({
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
});
const pods = defineResource<KubeObject>({group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true});

/** A Pod has 30 s to end. A Pod on a lost node never reports its end. */
const endsWithinMs = 60_000;

/**
 * Removes the operator's finalizers, so that a deleted object waits for nothing. What is served stays. Does nothing while the operator's
 * Deployment exists and is not being deleted: a tool that renders and applies the chart also starts this Job. Throws an error while a Pod
 * of an operator runs that is not being deleted, and errors of the API server; it can then run again.
 */
export async function uninstall({config, client, log}: Pick<RoleParts, 'config' | 'client' | 'log'>): Promise<void> {
  const {namespace, settings} = config;
  const {deployment} = settings.operator;
  const isInstalled = async (): Promise<boolean> => {
    const installed = await client.get(deployments, `${namespace}/${deployment}`);
    if (!installed || installed.metadata.deletionTimestamp !== undefined) return false;
    log.info(
      {deployment},
      'Doorplate is installed: no action is required. The Job acts after the Deployment is deleted',
    );
    return true;
  };
  if (await isInstalled()) return;
  const left = await podsLeft(client, namespace);
  // A reinstallation may have created the Deployment meanwhile.
  if (await isInstalled()) return;
  const runs = left.find(({metadata}) => metadata.deletionTimestamp === undefined);
  if (runs)
    throw new Error(
      `an operator still runs in the Pod ${namespace}/${runs.metadata.name}; nothing was changed. ` +
        'Delete the Deployment of that Pod, then run the Job again',
    );
  if (left.length > 0)
    log.warn({withinMs: endsWithinMs}, 'Pods of the operator still exist: the operator may add finalizers again');
  log.info({objects: await removeFinalizers(client)}, 'the finalizers are off');
}

/** The operator's Pods. A cluster has one installation. */
const labelSelector = 'app.kubernetes.io/part-of=doorplate,app.kubernetes.io/component=operator';

/** An evicted Pod, for example, no longer runs but remains. */
const running = 'status.phase!=Failed,status.phase!=Succeeded';

/** The operator's Pods that have not ended within their time; [] as soon as all have. */
async function podsLeft(client: Client, namespace: string): Promise<readonly KubeObject[]> {
  for (const end = performance.now() + endsWithinMs; ; await sleep(500)) {
    const {items} = await client.list(pods, {namespace, labelSelector, fieldSelector: running, metadataOnly: true});
    if (items.length === 0 || performance.now() >= end) return items;
  }
}
