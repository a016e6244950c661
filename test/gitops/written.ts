/**
 * Every distinct status that Doorplate has written on the cluster is judged by kstatus, Argo CD and Flux as the table of healths
 * says. Run after the other suites, on the cluster on which they ran. Prints what was judged otherwise, and exits 1 then.
 */
import type {CustomDomainStatus} from '../../operator/api/custom-domain.ts';
import type {HealthName} from '../../operator/domain/status/health.ts';
import {healthRows} from '../../operator/domain/status/health.ts';
import {reasonOf} from '../../operator/domain/reasons/reasons.ts';
import type {KubeObject} from '../../operator/kube/objects.ts';
import {statusesWritten} from '../support/written.ts';
import {judge} from './judges.ts';
import {keyOf} from './situations.ts';

type Status = Partial<CustomDomainStatus>;

const kinds: Readonly<Record<string, string>> = {
  accounts: 'Account',
  apikeys: 'ApiKey',
  customdomains: 'CustomDomain',
  projects: 'Project',
};

/** By the reason of Ready. Which of what lasts is stalled, the installations of the tests say by times of their own: as it was written. */
function expectedOf({observedGeneration, phase, hosts = [], conditions = []}: Status): HealthName {
  if (phase === 'Removing') return 'removing';
  const ready = conditions.find((c) => c.type === 'Ready');
  if (observedGeneration === -1 || !ready) return 'pending';
  if (ready.status === 'True')
    return [ready, ...hosts].some(({reason}) => reasonOf(reason)?.health === 'stalled') ? 'ending' : 'done';
  const {health = 'pending', stalledAfter} = reasonOf(ready.reason) ?? {};
  const lasts = health === 'awaited' || stalledAfter !== undefined;
  return lasts && conditions.some((c) => c.type === 'Stalled') ? 'stalled' : health;
}

const found = new Map<string, {object: KubeObject; status: Status; where: string}>();
for await (const {resource, where, request} of statusesWritten()) {
  const kind = kinds[resource];
  const patch = Array.isArray(request) ? (request as {path: string; value: unknown}[]) : [];
  const status = patch.find(({path}) => path === '/status')?.value as Status | undefined;
  if (kind === undefined || status === undefined) continue;
  const deletion = status.phase === 'Removing' && {deletionTimestamp: '2026-03-01T12:00:00Z'};
  const generation = Math.max(1, status.observedGeneration ?? 0);
  const object = {
    apiVersion: 'doorplate.dev/v1alpha1',
    kind,
    metadata: {name: 'written', generation, ...deletion},
    status,
  };
  found.set(keyOf(object), {object, status, where});
}
const all = [...found.values()];
const wrong = judge(all.map(({object}) => object)).flatMap(({kstatus, argoCD, flux}, i) => {
  const {status, where} = all[i]!;
  const expected = expectedOf(status);
  const row = healthRows[expected];
  if (kstatus === row.kstatus && argoCD.status === row.argoCD && flux === row.flux) return [];
  return `${where}: ${expected}, but ${kstatus}, ${argoCD.status}, ${flux}: ${JSON.stringify(status.conditions)}`;
});
for (const line of wrong) console.error(line);
console.log(
  `${all.length} distinct statuses that were written on the cluster, ${wrong.length} judged otherwise than expected`,
);
process.exitCode = wrong.length > 0 || all.length === 0 ? 1 : 0;
