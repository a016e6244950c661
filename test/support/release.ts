/** The release that the cluster runs: what it was installed with, and what its operator tells. */
import {kubectl, sh} from '../../cluster/cluster.ts';

const home = 'doorplate-system';

/** Of the values that were set, those by which suites tell installations apart. */
interface Values {
  graceTime?: string;
  edge?: {probe?: string[]; service?: {name?: string}};
}

/** Throws where Doorplate is not installed as a suite wants it. */
export async function mustBeInstalled(as: string, suite: string, isSo: (values: Values) => boolean): Promise<void> {
  const values = await sh('helm', ['get', 'values', 'doorplate', '-n', home, '-o', 'json']);
  if (!isSo(JSON.parse(values) as Values))
    throw new Error(
      `Doorplate is not installed ${as}: SUITES=${suite} make test, which ends with the usual installation`,
    );
}

/** All metrics of the operator, as its Pod tells them. */
export async function operatorMetrics(): Promise<string> {
  const label = ['-l', 'app.kubernetes.io/component=operator', '-o', 'jsonpath={.items[0].metadata.name}'];
  const pod = await kubectl(['get', 'pods', '-n', home, ...label]);
  return kubectl(['get', '--raw', `/api/v1/namespaces/${home}/pods/${pod.trim()}:8081/proxy/metrics`]);
}
