/** `kubectl doorplate policy`: what the admission policy refuses, or would refuse, for the platform. */
import type {Command} from 'commander';
import {type Act, describe} from '../../command.ts';
import {UsageError} from '../../errors.ts';
import {addListing, type ListingOptions} from '../../listing.ts';
import {outputOption, type OutputOptions} from '../../output.ts';
import {connected} from '../../surroundings.ts';
import {audit} from './audit.ts';
import {check} from './check.ts';

export function addPolicy(program: Command, act: Act): void {
  const policy = program
    .command('policy')
    .description('show what the admission policy refuses or would refuse')
    .helpCommand(false);
  const checks = describe(policy, 'check', {
    summary:
      'list objects that their writers could no longer change if the admission policy denied, and how ' +
      'to except the writers. Writes nothing',
    examples: [
      'kubectl doorplate policy check',
      'kubectl doorplate policy check -n team-a',
      'kubectl doorplate policy check -o json',
    ],
    ends: ['Platform'],
  });
  addListing(checks, ['table']);
  act<ListingOptions>(checks, async (call) => {
    const {namespace, allNamespaces} = call.options;
    if (namespace !== undefined && allNamespaces) throw new UsageError('--namespace, or --all-namespaces');
    return connected(call.options, call, ({client}) => check(client, call));
  });
  const audits = describe(policy, 'audit', {
    summary:
      'list users that the policy would have refused while it only audits or warns, from an audit log of the API server',
    examples: ['kubectl doorplate policy audit audit.log', 'cat audit*.log | kubectl doorplate policy audit - -o json'],
    ends: ['Platform'],
  })
    .argument('<file>', 'audit log with one JSON event in each line; - is stdin')
    .addOption(outputOption(['table']));
  act<OutputOptions>(audits, audit);
}
