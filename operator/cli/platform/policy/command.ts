/** `kubectl doorplate policy`: what the admission policy refuses, or would refuse, for the platform. */
import type {Command} from 'commander';
import {type Act, describe} from '../../command.ts';
import {outputOption, type OutputOptions} from '../../output.ts';
import {connected} from '../../surroundings.ts';
import {audit} from './audit.ts';
import {check} from './check.ts';

const output = outputOption(['table', 'json']);

export function addPolicy(program: Command, act: Act): void {
  const policy = program
    .command('policy')
    .description('what the admission policy refuses or would refuse')
    .helpCommand(false);
  const checks = describe(policy, 'check', {
    summary:
      'what stands that its writers could change no more where the admission policy denies, and how to except them. Writes nothing',
    examples: [
      'kubectl doorplate policy check',
      'kubectl doorplate policy check -n team-a',
      'kubectl doorplate policy check -o json',
    ],
  }).addOption(output);
  act<OutputOptions>(checks, (call) => connected(call.options, call, ({client}) => check(client, call)));
  const audits = describe(policy, 'audit', {
    summary: 'who would have been refused while the policy only audits or warns, out of an audit log of the API server',
    examples: ['kubectl doorplate policy audit audit.log', 'cat audit*.log | kubectl doorplate policy audit - -o json'],
  })
    .argument('<file>', 'an event of JSON in each line; - is stdin')
    .addOption(output);
  act<OutputOptions>(audits, audit);
}
