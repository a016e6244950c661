/** A request by an annotation, and `--wait`: reports what changes until the request is answered. */
import type {CustomDomain} from '../../api/foreign.ts';
import {customDomains} from '../../resources/resources.ts';
import {hostsOf} from '../../http/views.ts';
import {keyOf} from '../../kube/objects.ts';
import type {Call} from '../command.ts';
import {CommandError, UsageError} from '../errors.ts';
import {domainsNamed} from './domains.ts';
import {type ExitCode, exitCodes} from '../exit-code.ts';
import {fieldManager} from '../field-manager.ts';
import {sayExplanation} from './explain.ts';
import {span} from '../output.ts';
import type {Connection} from '../surroundings.ts';
import {explainHosts} from './why.ts';

export interface WaitOptions {
  wait?: boolean;
  timeout: string;
}

/** The answer to a request. */
export interface Answer {
  /** The exit code when the request is answered; undefined before. The command waits until it is `Done`. */
  codeOf: (domain: CustomDomain) => ExitCode | undefined;
  /** What is missing before the answer, for a message. */
  unanswered: string;
}

const everyMs = 1000;
const units = {s: 1000, m: 60_000, h: 3_600_000} as const;

/** A time such as `90s`, in ms. Throws UsageError. */
export function timeoutOf(text: string): number {
  const [, number, unit] = /^([1-9][0-9]{0,5})([smh])$/.exec(text) ?? [];
  if (number === undefined)
    throw new UsageError(`--timeout ${text} must be a number and a unit, such as 90s, 30m or 2h`);
  return Number(number) * units[unit as keyof typeof units];
}

/** Writes the present time into an annotation of the CustomDomain that the first operand names. Returns both. */
export async function requestNow(
  connection: Connection,
  {operands: [word = ''], now}: Call<WaitOptions>,
  annotation: string,
): Promise<{domain: CustomDomain; value: string}> {
  const [domain] = (await domainsNamed(connection, word)) as [CustomDomain];
  const value = new Date(now()).toISOString();
  const patch = {metadata: {uid: domain.metadata.uid, annotations: {[annotation]: value}}};
  await connection.client.patch(customDomains, keyOf(domain), patch, {type: 'merge', fieldManager});
  return {domain, value};
}

/** Reports each change until the request is answered and nothing is left to do, or the time is over. */
export async function awaited(
  connection: Connection,
  {metadata}: CustomDomain,
  {codeOf, unanswered}: Answer,
  call: Call<WaitOptions> & {timeoutMs: number},
): Promise<ExitCode> {
  const ends = call.now() + call.timeoutMs;
  const told = new Map<string, string>();
  for (;;) {
    const domain = await connection.client.get(customDomains, keyOf({metadata}));
    if (!domain || domain.metadata.uid !== metadata.uid) {
      throw new CommandError(`the CustomDomain ${metadata.name} was deleted while the command waited`);
    }
    reportChanges(domain, told, call);
    const code = codeOf(domain);
    if (code === exitCodes.Done) return code;
    if (call.now() >= ends) {
      call.tell(`The command waited for ${span(call.timeoutMs)}${code === undefined ? `; ${unanswered}` : ''}.\n\n`);
      call.out(
        (await explainHosts(connection, [domain]))
          .map((why) => sayExplanation(why, {...call, now: call.now()}))
          .join('\n'),
      );
      return code ?? exitCodes.Waiting;
    }
    await call.wait(everyMs);
  }
}

function reportChanges(domain: CustomDomain, told: Map<string, string>, {tell}: Pick<Call<WaitOptions>, 'tell'>): void {
  for (const {hostname, phase, reason, message} of hostsOf(domain)) {
    const line = `${hostname}   ${phase}   ${reason}   ${message}\n`;
    if (told.get(hostname) !== line) tell(line);
    told.set(hostname, line);
  }
}
