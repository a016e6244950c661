import {sh} from '../../cluster/cluster.ts';

const probe = '10.244.0.1:9';

/** What would call for somebody: the tests of test/faults/alerts share it. At the address nobody listens, at the other one there is no Valkey. */
export const causes = () => [
  'admissionPolicy.mode=Warn',
  `edge.probe={${probe}}`,
  'valkey.url=redis://nobody.default.svc:6379',
  'issuanceStalledAfter=30s',
];

/** Throws where Doorplate is installed otherwise. */
export async function withCauses(): Promise<void> {
  const values = await sh('helm', ['get', 'values', 'doorplate', '-n', 'doorplate-system', '-o', 'json']);
  if (!(JSON.parse(values) as {edge?: {probe?: string[]}}).edge?.probe?.includes(probe))
    throw new Error(
      'Doorplate is not installed with what calls for somebody: SUITES=faults make test, which ends with the usual installation',
    );
}
