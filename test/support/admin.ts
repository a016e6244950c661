/** Apart from kube-api.ts: what imports this waits a second for the whole of Kubernetes' own client. */
import {KubeConfig} from '@kubernetes/client-node';
import {type Credentials, fromKubeConfig} from '../../operator/kube/client/credentials.ts';

/** The test cluster's administrator: KUBECONFIG, else this checkout's cluster. */
export function admin(): Credentials {
  const config = new KubeConfig();
  config.loadFromFile(process.env.KUBECONFIG || new URL('../../.cluster/kubeconfig', import.meta.url).pathname);
  return fromKubeConfig(config);
}
