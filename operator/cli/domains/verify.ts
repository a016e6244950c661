/** `kubectl doorplate verify`: asks for a check now, and waits for what comes of it. */
import type {Command} from 'commander';
import {hostsOf} from '../../http/views.ts';
import {type Act, describe} from '../command.ts';
import {type Answer, awaited, requestNow, timeoutOf, type WaitOptions} from './awaiting.ts';
import {exitCodeOfAll, exitCodes} from '../exit-code.ts';
import {connected} from '../surroundings.ts';

const requestedAt = 'doorplate.dev/requestedAt';

export function addVerify(program: Command, act: Act): void {
  const command = describe(program, 'verify', {
    summary: 'check the DNS now, and start a fresh attempt for a certificate that failed or is late',
    examples: ['kubectl doorplate verify docs', 'kubectl doorplate verify docs.example.com --wait --timeout 30m'],
    ends: ['Waiting', 'Customer', 'Platform'],
  })
    .argument('<name>', 'name of a CustomDomain, or one of its hostnames')
    .option('--wait', 'wait until all its hostnames are Live, and print each change')
    .option('--timeout <time>', 'how long to wait, such as 90s, 30m or 2h', '10m');
  act<WaitOptions>(command, async (call) => {
    const timeoutMs = timeoutOf(call.options.timeout);
    return connected(call.options, call, async (connection) => {
      const {domain, value} = await requestNow(connection, call, requestedAt);
      const {name, namespace} = domain.metadata;
      call.tell(`A check of the CustomDomain ${name} in the namespace ${namespace} was requested.\n`);
      if (!call.options.wait) return exitCodes.Done;
      return awaited(connection, domain, answerTo(value), {...call, timeoutMs});
    });
  });
}

/** The check is answered, and then nothing is left to do. */
const answerTo = (value: string): Answer => ({
  unanswered: 'the check is not finished yet',
  codeOf: (domain) => {
    const {metadata, status} = domain;
    const isAnswered = status?.lastHandledReconcileAt === value && status.observedGeneration === metadata.generation;
    return isAnswered ? exitCodeOfAll(hostsOf(domain)) : undefined;
  },
});
