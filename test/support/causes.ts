import {mustBeInstalled} from './release.ts';

const probe = '10.244.0.1:9';

/** What would call for somebody: the tests of test/faults/alerts share it. At the address nobody listens, at the other one there is no Valkey. */
export const causes = () => [
  'admissionPolicy.mode=Warn',
  `edge.probe={${probe}}`,
  'valkey.url=redis://nobody.default.svc:6379',
  'issuanceStalledAfter=30s',
];

/** Throws where Doorplate is installed otherwise. */
export const withCauses = (): Promise<void> =>
  mustBeInstalled('with what calls for somebody', 'faults', ({edge}) => edge?.probe?.includes(probe) === true);
