/**
 * What must hold over a whole run, by the API server's audit log: who wrote the status of Doorplate's kinds, which of
 * Doorplate's own requests failed, how many there were, and that no certificate came before its proof. Run after the other
 * suites, on the cluster on which they ran. Prints what it counts, and exits 1 where something happened that nobody has
 * foreseen.
 */
import {existsSync, readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import type {Certificate} from '../operator/api/foreign.ts';
import type {AuditEvent} from '../cluster/cluster.ts';
import {audit, env, writeVerbs} from '../cluster/cluster.ts';
import {operatorMetrics} from './support/release.ts';
import {maybeDone, operator, receivedAt, statusIn, succeeded} from './support/requests.ts';

const redirector = 'system:serviceaccount:doorplate-system:doorplate-redirector';
const rightsOfOperator = 'doorplate-system-doorplate-operator';
const api = 'system:serviceaccount:doorplate-system:doorplate-api';
const code = (e: AuditEvent): number => e.responseStatus?.code ?? 0;
const kindOf = ({objectRef: ref}: AuditEvent): string =>
  `${ref?.resource}${ref?.subresource === undefined ? '' : `/${ref.subresource}`}`;
const of = (e: AuditEvent): string => `${e.verb} ${kindOf(e)}`;

const inEndingNamespace = (e: AuditEvent): boolean =>
  /is being terminated|namespaces "[^"]*" not found/.test(e.responseStatus?.message ?? '');
/** How many requests may be on their way to one Namespace when it begins to go. An operator that goes on writing there makes hundreds. */
const mostOnTheirWay = 20;

/** When the API server ended, ms since the epoch, to the second. The cluster's supervisor logs it and starts the server again at once. */
function apiServerEnds(): number[] {
  const log = join(dirname(env().auditLog), 'log', 'supervise.log');
  if (!existsSync(log)) return [];
  const ends = readFileSync(log, 'utf8').matchAll(/^(\S+) kube-apiserver ended /gm);
  return Array.from(ends, ([, at]) => Date.parse(at!));
}
const restarts = apiServerEnds();
/** The API server may refuse requests for this time after a restart. */
const startsWithinMs = 60_000;
const isJustAfterStart = (e: AuditEvent): boolean =>
  restarts.some((at) => receivedAt(e) >= at && receivedAt(e) < at + startsWithinMs);

/** Failures that a sound operator has, each with its reason. */
const foreseen: readonly {why: string; is: (e: AuditEvent) => boolean}[] = [
  {why: 'another was quicker, or what was read was out of date: it is decided anew', is: (e) => code(e) === 409},
  {
    why: 'what is to be deleted, to lose its finalizer or to get a status is gone already',
    is: (e) =>
      code(e) === 404 &&
      (e.verb === 'delete' ||
        (e.verb === 'patch' && (['customdomains', 'projects'].includes(kindOf(e)) || kindOf(e).endsWith('/status')))),
  },
  {
    why: 'the platform deleted a claim as it was written: it is decided anew',
    is: (e) => code(e) === 404 && of(e) === 'patch domainclaims' && isJustDeleted(e),
  },
  {why: 'whether it is there was the question', is: (e) => code(e) === 404 && e.verb === 'get'},
  {why: 'the API server was restarted, or the operator killed as it asked', is: (e) => code(e) >= 500},
  // Its watch cache is not filled yet (apiserver: pkg/storage/cacher). Until it has read its priority levels, all requests share
  // `catch-all`, which refuses what exceeds its share, without a message (apiserver: pkg/server/filters/priority-and-fairness.go).
  {
    why: 'the API server had just started, or was stalled',
    is: (e) =>
      code(e) === 429 &&
      (/storage is \(re\)initializing/.test(e.responseStatus?.message ?? '') || isJustAfterStart(e) || isInStall(e)),
  },
  {
    why: 'a tenant had made an object that cannot be changed back',
    is: (e) =>
      code(e) === 422 &&
      of(e) === 'patch ingresses' &&
      (e.responseStatus?.message ?? '').includes('Only one reference can have Controller set to true'),
  },
  {why: 'another installation took its rights along', is: (e) => code(e) === 403 && of(e) === 'get issuers'},
  {
    why: 'an upgrade named other issuers, and the rights on the former ones ended before the process did',
    is: (e) => code(e) === 403 && of(e) === 'get clusterissuers',
  },
  {
    why: 'the chart was uninstalled, and its rights ended before its process did',
    is: (e) => code(e) === 403 && isAfterUninstall(e),
  },
  {why: 'its Namespace began to go while the request was on its way', is: inEndingNamespace},
];

/** Helm deletes the rights right after the Deployment. A Pod then has 30 s to end. */
const endsWithinMs = 60_000;
const isAfterUninstall = (e: AuditEvent): boolean =>
  uninstalls.some((at) => receivedAt(e) >= at && receivedAt(e) < at + endsWithinMs);

/** Whether the object of a request was deleted at most ten seconds before. The operator's watch usually shows a deletion much earlier. */
const isJustDeleted = (e: AuditEvent): boolean =>
  deletions.some((d) => {
    const afterMs = receivedAt(e) - receivedAt(d);
    return kindOf(d) === kindOf(e) && d.objectRef?.name === e.objectRef?.name && afterMs >= -1000 && afterMs < 10_000;
  });

/** A request that waits for a quarter of its timeout, usually 15 s, is refused (apiserver: pkg/util/flowcontrol). */
const isInStall = (e: AuditEvent): boolean => stalls.some((at) => Math.abs(receivedAt(e) - at) < 60_000);

const unexpected: string[] = [];
function tell(what: string, lines: readonly string[], {forbidden = false} = {}): void {
  console.log(`\n${what}${lines.length > 0 ? ':' : ': none'}`);
  for (const line of lines) console.log(`  ${line}`);
  if (forbidden) unexpected.push(...lines.map((line) => `${what}: ${line}`));
}

/** How often each came up, the most frequent first; `per`: and how often for each of so many. */
const counted = (names: readonly string[], per?: number): string[] =>
  [...Map.groupBy(names, (n) => n)]
    .map(([name, all]) => ({name, times: all.length}))
    .toSorted((a, b) => b.times - a.times)
    .map(
      ({name, times}) =>
        `${String(times).padStart(6)}  ${per === undefined ? '' : `${(times / per).toFixed(2).padStart(5)}  `}${name}`,
    );

const everything = await audit(
  new Date(0),
  ({user, objectRef}) =>
    user.username === operator ||
    user.username === redirector ||
    objectRef?.apiGroup === 'doorplate.dev' ||
    objectRef?.name === rightsOfOperator,
);
/** When the operator's rights were deleted, ms since the epoch. */
const uninstalls = everything
  .filter((e) => of(e) === 'delete clusterrolebindings' && e.objectRef?.name === rightsOfOperator)
  .map(receivedAt);
const deletions = everything.filter((e) => e.verb === 'delete' && succeeded(e));
/** When the API server got requests that it did not answer in time, ms since the epoch. */
const stalls = everything.filter((e) => code(e) === 504).map(receivedAt);
const ours = everything.filter((e) => e.user.username === operator && kindOf(e) !== 'leases');

const domains = everything.filter((e) => kindOf(e) === 'customdomains' && code(e) === 201).length;
const writes = ours.filter((e) => writeVerbs.has(e.verb));
const each = (writes.length / domains).toFixed(1);
tell(
  `The operator's ${writes.length} writes for ${domains} CustomDomains, ${each} for each (leases aside)`,
  counted(writes.map(of), domains),
);

const failed = ours.filter((e) => code(e) >= 400);
for (const {why, is} of foreseen)
  tell(`Failed, because ${why}`, counted(failed.filter(is).map((e) => `${of(e)} ${code(e)}`)));
tell(
  `Namespaces that the operator did not leave alone as they went: more than ${mostOnTheirWay} requests failed`,
  [...Map.groupBy(failed.filter(inEndingNamespace), (e) => e.objectRef?.namespace)]
    .filter(([, all]) => all.length > mostOnTheirWay)
    .map(([namespace, all]) => `${namespace}: ${all.length}`),
  {forbidden: true},
);
tell(
  'Failed, and nobody knows why',
  failed
    .filter((e) => !foreseen.some(({is}) => is(e)))
    .map((e) => `${e.requestReceivedTimestamp} ${of(e)} ${code(e)} ${e.requestURI}: ${e.responseStatus?.message}`),
  {forbidden: true},
);

tell(
  'Wrote though it only reads',
  counted(
    everything
      .filter((e) => e.user.username === redirector && writeVerbs.has(e.verb))
      .map((e) => `the redirector: ${of(e)}`),
  ),
  {forbidden: true},
);

const strangers = everything.filter(
  (e) =>
    e.objectRef?.apiGroup === 'doorplate.dev' &&
    e.objectRef.subresource === 'status' &&
    writeVerbs.has(e.verb) &&
    succeeded(e) &&
    e.user.username !== (e.objectRef.resource === 'apikeys' ? api : operator),
);
tell(
  "Wrote the status of Doorplate's kinds and is neither the operator nor, of ApiKeys, the API",
  counted(strangers.map((e) => `${e.user.username}: ${of(e)} in ${e.objectRef?.namespace}`)),
  {forbidden: true},
);

// Else the process that comes after a crash, which knows a proof by status alone, would remove the Certificate and order again.
const [ofDomains, proven] = [new Set<string>(), new Set<string>()];
const made: {hostname: string; early: boolean}[] = [];
for (const e of ours.filter(maybeDone)) {
  for (const {hostname, verifiedAt} of statusIn(e)?.hosts ?? []) {
    ofDomains.add(hostname);
    if (verifiedAt !== undefined) proven.add(hostname);
  }
  if (kindOf(e) !== 'certificates' || code(e) !== 201) continue;
  made.push(
    ...(e.requestObject as Certificate).spec.dnsNames.map((hostname) => ({hostname, early: !proven.has(hostname)})),
  );
}
const ordered = made.filter(({hostname}) => ofDomains.has(hostname));
console.log(`\n${ordered.length} Certificates were made for hostnames of CustomDomains`);
tell(
  'Made before status said that the hostname is proven',
  ordered.filter(({early}) => early).map(({hostname}) => hostname),
  {forbidden: true},
);

tell(
  'Objects of which the operator can make nothing',
  (await operatorMetrics()).split('\n').filter((m) => /^cache_unreadable_objects.* [1-9]/.test(m)),
  {forbidden: true},
);

if (unexpected.length > 0) {
  console.error(
    `\n${unexpected.length} unexpected: fix the operator, or list the reason as foreseen in test/invariants.ts`,
  );
  for (const line of unexpected) console.error(line);
  process.exitCode = 1;
}
