import {sh} from '../../cluster/cluster.ts';

const grace = '30s';

/** What a platform sets that cannot wait. The tests of test/hurried share this one installation and run side by side; `test/run.ts hurried` installs it. */
export const hurry = [
  'dns.recheckInterval=1s',
  'dns.driftConfirmations={1s,2s,4s,6s}',
  'verificationExpiresAfter=60s',
  'propagationTime=10s',
  `graceTime=${grace}`,
  'issuanceStalledAfter=30s',
  'budgets.failures[0].limit=2',
  'budgets.failures[0].per=60s',
  'budgets.failures[1].limit=4',
  'budgets.failures[1].per=1h',
];

/** Throws where Doorplate is installed otherwise. */
export async function hurried(): Promise<void> {
  const values = JSON.parse(
    await sh('helm', ['get', 'values', 'doorplate', '-n', 'doorplate-system', '-o', 'json']),
  ) as {graceTime?: string};
  if (values.graceTime !== grace)
    throw new Error(
      'Doorplate is not installed in a hurry: SUITES=hurried make test, which ends with the usual installation',
    );
}
