/** `kubectl doorplate verify`: asks for a check now, and waits for what comes of it. */
import type {Command} from 'commander';
import type {CustomDomain} from '../../api/foreign.ts';
import {customDomains} from '../../resources/resources.ts';
import {hostsOf} from '../../http/views.ts';
import {keyOf} from '../../kube/objects.ts';
import {type Act, type Call, describe} from '../command.ts';
import {domainsNamed} from './domains.ts';
import {CommandError, UsageError} from '../errors.ts';
import {type ExitCode, exitCodeOfAll, exitCodes} from '../exit-code.ts';
import {sayExplanation} from './explain.ts';
import {fieldManager} from '../field-manager.ts';
import {span} from '../output.ts';
import {type Connection, connected} from '../surroundings.ts';
import {explainHosts} from './why.ts';

interface VerifyOptions {
  wait?: boolean;
  timeout: string;
}

const requestedAt = 'doorplate.dev/requestedAt';
const everyMs = 1000;

export function addVerify(program: Command, act: Act): void {
  const command = describe(program, 'verify', {
    summary: 'ask for a check of the DNS now; of a certificate that is stuck, for a fresh attempt',
    examples: ['kubectl doorplate verify docs', 'kubectl doorplate verify docs.example.com --wait --timeout 30m'],
  })
    .argument('<name>', 'of a CustomDomain, or one of its hostnames')
    .option('--wait', 'until all its hostnames are Live, telling what changes')
    .option('--timeout <time>', 'how long: 90s, 30m, 2h', '10m');
  act<VerifyOptions>(command, async (call) => {
    const timeoutMs = timeoutOf(call.options.timeout);
    return connected(call.options, call, async (connection) => {
      const [word = ''] = call.operands;
      const [domain] = (await domainsNamed(connection, word)) as [CustomDomain];
      const value = new Date(call.now()).toISOString();
      const patch = {metadata: {uid: domain.metadata.uid, annotations: {[requestedAt]: value}}};
      await connection.client.patch(customDomains, keyOf(domain), patch, {type: 'merge', fieldManager});
      const {name, namespace} = domain.metadata;
      call.tell(`A check of the CustomDomain ${name} in the namespace ${namespace} was asked for.\n`);
      return call.options.wait ? awaited(connection, domain, value, {...call, timeoutMs}) : exitCodes.Done;
    });
  });
}

const units = {s: 1000, m: 60_000, h: 3_600_000} as const;

function timeoutOf(text: string): number {
  const [, number, unit] = /^([1-9][0-9]{0,5})([smh])$/.exec(text) ?? [];
  if (number === undefined) throw new UsageError(`--timeout ${text} must be a number and a unit: 90s, 30m, 2h`);
  return Number(number) * units[unit as keyof typeof units];
}

/** Tells each change until the check is answered and nothing is left to do, or the time is over. */
async function awaited(
  connection: Connection,
  {metadata}: CustomDomain,
  value: string,
  call: Call<VerifyOptions> & {timeoutMs: number},
): Promise<ExitCode> {
  const ends = call.now() + call.timeoutMs;
  const told = new Map<string, string>();
  for (;;) {
    const domain = await connection.client.get(customDomains, keyOf({metadata}));
    if (!domain || domain.metadata.uid !== metadata.uid) {
      throw new CommandError(`the CustomDomain ${metadata.name} was removed meanwhile`);
    }
    reportChanges(domain, told, call);
    const {generation, lastHandled} = {
      generation: domain.metadata.generation,
      lastHandled: domain.status?.lastHandledReconcileAt,
    };
    const isAnswered = lastHandled === value && domain.status?.observedGeneration === generation;
    const code = exitCodeOfAll(hostsOf(domain));
    if (isAnswered && code === exitCodes.Done) return code;
    if (call.now() >= ends) {
      call.tell(`It was waited for ${span(call.timeoutMs)}${isAnswered ? '' : '; the check is not answered yet'}.\n\n`);
      call.out(
        (await explainHosts(connection, [domain]))
          .map((why) => sayExplanation(why, {...call, now: call.now()}))
          .join('\n'),
      );
      return isAnswered ? code : exitCodes.Waiting;
    }
    await call.wait(everyMs);
  }
}

function reportChanges(
  domain: CustomDomain,
  told: Map<string, string>,
  {tell}: Pick<Call<VerifyOptions>, 'tell'>,
): void {
  for (const {hostname, phase, reason, message} of hostsOf(domain)) {
    const line = `${hostname}   ${phase}   ${reason}   ${message}\n`;
    if (told.get(hostname) !== line) tell(line);
    told.set(hostname, line);
  }
}
