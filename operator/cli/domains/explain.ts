/** Explains the state of an object with four answers: what was found, what is needed, who must act, until when. Pure. */
import type {Party} from '../../api/custom-domain.ts';
import type {Condition} from '../../api/rules.ts';
import {minuteOf} from '../../domain/times.ts';
import type {DnsRecord} from '../../domain/verification/records.ts';
import {sayRecords} from '../../domain/verification/records.ts';
import {type ReasonName, reasons} from '../../domain/reasons/reasons.ts';
import type {Attached} from './domains.ts';
import {exitCodeOf, exitCodes, type ReportedObject} from '../exit-code.ts';
import {ago, styled} from '../output.ts';

/** Every text is a line or a sentence; times are RFC 3339. */
export interface Explanation extends ReportedObject {
  /** The object: `CustomDomain docs`. */
  object: string;
  namespace?: string;
  hostname?: string;
  phase?: string;
  since?: string;
  /** What was seen. */
  seen: string;
  /** The records that are missing, as a provider's form asks for them; none where it is not for want of records. */
  records: string[];
  /** What to do. */
  needed: string;
  until?: {time: string; what: string};
  /** The status' own words. */
  message: string;
}

/** An unknown reason comes from a newer Doorplate: its message explains it. */
const of = (reason: string, message: string): {means: string; remedy: string} =>
  reasons[reason as ReasonName] ?? {means: message, remedy: 'The message names the next step.'};

/** "(Verify)" is a button of the page; here it is a command. */
const byCommand = (remedy: string, {namespace, customDomain}: Pick<Attached, 'namespace' | 'customDomain'>): string =>
  remedy.replace(/\((?:Verify|Re-verify)\)/, `(kubectl doorplate verify ${customDomain} -n ${namespace})`);

/** A hostname. `verificationExpiresAfterMs` is the platform's; undefined: not known. */
export function explainHost(attached: Attached, verificationExpiresAfterMs?: number): Explanation {
  const {host, customDomain, namespace} = attached;
  const {means, remedy} = of(host.reason, host.message);
  const missing = host.records.filter(({state}) => state === 'Missing' || state === 'Wrong' || state === 'Conflicting');
  const observed = [...new Set(missing.flatMap((record) => record.observed))];
  const place = {apex: host.zone?.name === host.hostname, ...(host.zone && {zone: host.zone})};
  return {
    object: `CustomDomain ${customDomain}`,
    namespace,
    hostname: host.hostname,
    phase: host.phase,
    reason: host.reason,
    waitingFor: host.waitingFor,
    ...(host.since !== undefined && {since: host.since}),
    seen: observed.length > 0 ? `${means} Found: ${observed.join(', ')}.` : means,
    records: missing.map((record) => sayRecords([record as DnsRecord], place)),
    needed: byCommand(remedy, attached),
    ...untilOf(host, verificationExpiresAfterMs),
    message: host.message,
  };
}

function untilOf(host: Attached['host'], verificationExpiresAfterMs?: number): Pick<Explanation, 'until'> {
  if (host.servedUntil !== undefined) return {until: {time: host.servedUntil, what: 'it is served until then'}};
  if (host.reason === 'RenewalOverdue' && host.certificateExpires !== undefined) {
    return {until: {time: host.certificateExpires, what: 'its certificate expires then'}};
  }
  const isAwaited = host.phase === 'AwaitingVerification' && host.reason !== 'VerificationExpired';
  if (!isAwaited || verificationExpiresAfterMs === undefined || host.addedAt === undefined) return {};
  const time = new Date(Date.parse(host.addedAt) + verificationExpiresAfterMs).toISOString();
  return {until: {time, what: 'automatic checks end then'}};
}

/** What is told by conditions: a Project, an ApiKey, an Account. */
export function explainCondition(
  {kind, metadata: {name, namespace}}: {kind: string; metadata: {name: string; namespace?: string}},
  ready: Pick<Condition, 'reason' | 'message'> & {lastTransitionTime?: string},
): Explanation {
  const {means, remedy} = of(ready.reason, ready.message);
  return {
    object: `${kind} ${name}`,
    ...(namespace !== undefined && {namespace}),
    reason: ready.reason,
    waitingFor: reasons[ready.reason as ReasonName]?.waitingFor ?? 'Nobody',
    ...(ready.lastTransitionTime !== undefined && {since: ready.lastTransitionTime}),
    seen: means,
    records: [],
    needed: remedy,
    message: ready.message,
  };
}

const parties: Readonly<Record<Party, string>> = {
  Customer: 'the customer',
  Platform: 'the platform',
  CertificateAuthority: 'the certificate authority',
  Nobody: 'no one: Doorplate continues automatically',
};

/** The explanation for people: several lines, or one line if no action is needed. */
export function sayExplanation(why: Explanation, {now, colours}: {now: number; colours: boolean}): string {
  const {object, hostname, phase, reason, since, seen, records, needed, waitingFor, until, message} = why;
  const isDone = exitCodeOf(why) === exitCodes.Done;
  const where = [phase, since === undefined ? undefined : `for ${ago(since, now)}`].filter(Boolean).join(', ');
  const named = styled(hostname === undefined ? object : `${hostname} (${object})`, 'bold', colours);
  const told = styled(reason, isDone ? 'green' : 'yellow', colours);
  const head = `${named}: ${told}${where === '' ? '' : ` (${where})`}\n`;
  if (isDone && waitingFor === 'Nobody') return head;
  const lines: [string, string][] = [
    ['Found', seen],
    ...records.map((record): [string, string] => ['Record', record]),
    ['Needed', needed],
    ['Who', parties[waitingFor]],
    ...(until ? [['Until', `${minuteOf(until.time)}: ${until.what}`] as [string, string]] : []),
    ['Message', message],
  ];
  return head + lines.map(([name, text]) => `  ${name.padEnd(9)}${text}\n`).join('');
}
