/** Steps before the chart is uninstalled, in their own Job: a Helm hook (charts/doorplate/templates/uninstall.yaml). */
import type {Client} from '../kube/client/client.ts';
import {sleep} from '../kube/clock.ts';
import {isNotFound} from '../kube/errors.ts';
import {defineResource, type KubeObject} from '../kube/objects.ts';
import {removeFinalizers} from '../controllers/writers/remove-finalizers.ts';
import type {RoleParts} from './parts.ts';

const deployments = defineResource<KubeObject & {status?: {selector?: string}}>({
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
});
const pods = defineResource<KubeObject>({group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true});

/** A Pod has 30 s to end; one whose node is gone never says that it has. */
const endsWithinMs = 60_000;

/**
 * Ends the operator, which would put finalizers on again, and takes them off: what is deleted from now on waits for nobody. All that is
 * served stays. Throws what the API server throws: nothing is lost by trying again.
 */
export async function uninstall({config, client, log}: Pick<RoleParts, 'config' | 'client' | 'log'>): Promise<void> {
  const {namespace, settings} = config;
  const {deployment} = settings.operator;
  const selector = await scaleDown(client, `${namespace}/${deployment}`);
  log.info({deployment, found: selector !== undefined}, 'the operator ends');
  if (selector !== undefined && !(await areGone(client, namespace, selector)))
    log.warn({withinMs: endsWithinMs}, 'Pods of the operator are still there: it may put finalizers on again');
  log.info({objects: await removeFinalizers(client)}, 'the finalizers are off');
}

/** Returns the labels by which the Pods are found; undefined if the Deployment does not exist. */
async function scaleDown(client: Client, key: string): Promise<string | undefined> {
  try {
    const none = {spec: {replicas: 0}};
    const scale = await client.patch(deployments, key, none, {type: 'merge', subresource: 'scale'});
    return scale.status?.selector;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** An evicted Pod, for example, no longer runs but remains. */
const running = 'status.phase!=Failed,status.phase!=Succeeded';

/** Whether none runs any more, within the time that they have. */
async function areGone(client: Client, namespace: string, labelSelector: string): Promise<boolean> {
  for (const end = performance.now() + endsWithinMs; performance.now() < end; await sleep(500)) {
    const {items} = await client.list(pods, {namespace, labelSelector, fieldSelector: running, metadataOnly: true});
    if (items.length === 0) return true;
  }
  return false;
}
