import {existsSync} from 'node:fs';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {Client} from '../kube/client/client.ts';
import {loadKubeConfig} from '../kube/client/kubeconfig.ts';
import {CommandError, UsageError} from './errors.ts';
import {fieldManager} from './field-manager.ts';
import type {Cluster, ClusterOptions} from './surroundings.ts';

/** The cluster that the user's kubeconfig names, or that the Pod is in, as kubectl finds it. Throws CommandError. */
export async function clusterOf({kubeconfig, context, as, asGroup = []}: ClusterOptions): Promise<Cluster> {
  if (as === undefined && asGroup.length > 0) throw new UsageError('--as-group needs a user, too: --as USER');
  const config = await loadKubeConfig(kubeconfig).catch((error: Error) => {
    throw new CommandError(`the kubeconfig can't be read: ${error.message}`);
  });
  if (kubeconfig === undefined && !isSomewhere()) {
    throw new CommandError(
      'there is no kubeconfig: name one with --kubeconfig or KUBECONFIG, or create ~/.kube/config',
    );
  }
  if (context !== undefined) {
    if (!config.getContextObject(context)) {
      throw new CommandError(
        `the kubeconfig has no context ${context}. To list the contexts: kubectl config get-contexts`,
      );
    }
    config.setCurrentContext(context);
  }
  return {
    namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
    client: () => {
      try {
        const impersonation = as === undefined ? undefined : {user: as, groups: asGroup};
        return Client.fromKubeConfig(config, {userAgent: fieldManager}, impersonation);
      } catch (error) {
        throw new CommandError((error as Error).message);
      }
    },
  };
}

/** Without this check the library would use localhost:8080. */
const isSomewhere = () =>
  Boolean(process.env.KUBECONFIG || process.env.KUBERNETES_SERVICE_HOST) || existsSync(join(homedir(), '.kube/config'));
