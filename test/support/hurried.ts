import {kubectl} from '../../cluster/cluster.ts';
import {mustBeInstalled} from './release.ts';

const grace = '30s';
/** Where a fake of a content delivery network is, which test/hurried/cdn brings up. */
export const cdnAddress = '10.96.0.17';
/** How many hostnames of a tenant may wait for verification. No test but test/hurried/waiting has as many. */
export const mostWaiting = 20;

/** What a platform sets that cannot wait. The tests of test/hurried share this one installation and run side by side; `test/run.ts hurried` installs it. */
export const hurry = [
  'dns.recheckInterval=1s',
  'dns.driftConfirmations={1s,2s,4s,6s}',
  'verificationExpiresAfter=120s', // what a test does before it takes a minute on a busy machine
  'propagationTime=10s',
  'dns.cdns[0].name=Test CDN',
  `dns.cdns[0].networks={${cdnAddress}/32}`,
  `graceTime=${grace}`,
  'issuanceStalledAfter=30s',
  `maxWaitingHostnames=${mostWaiting}`,
  'log.level=debug', // tells each check of DNS
  'budgets.failures[0].limit=2',
  'budgets.failures[0].per=3m',
  'budgets.failures[1].limit=4',
  'budgets.failures[1].per=1h',
];

/** Throws where Doorplate is installed otherwise. */
export const hurried = (): Promise<void> =>
  mustBeInstalled('in a hurry', 'hurried', ({graceTime}) => graceTime === grace);

/**
 * What the checks of a hostname have come to since a time, oldest first: Proven or the reason. Those of the operator's process that
 * runs, and of the one before it: a test of this suite ends one.
 */
export async function checksOf(hostname: string, since: Date): Promise<string[]> {
  const logs = await Promise.all([log(since, '--previous').catch(hasNoPrevious), log(since)]);
  return logs
    .flatMap((text) => text.split('\n'))
    .filter((line) => line.includes(`"hostname":"${hostname}"`) && line.includes('"msg":"DNS checked"'))
    .map((line) => (JSON.parse(line) as {verdict: string}).verdict);
}

const log = (since: Date, ...flags: string[]): Promise<string> =>
  kubectl([
    'logs',
    '-n',
    'doorplate-system',
    'deployment/doorplate-operator',
    `--since-time=${since.toISOString()}`,
    ...flags,
  ]);

function hasNoPrevious(error: unknown): string {
  if (/previous terminated container/.test(String(error))) return '';
  throw error;
}
