/** `kubectl doorplate check`: what would become of hostnames, before anything is applied. */
import type {Command} from 'commander';
import {type Act, describe, several} from '../command.ts';
import {UsageError} from '../errors.ts';
import {outputOption} from '../output.ts';
import {defaultPlace} from '../settings.ts';
import {connected} from '../surroundings.ts';
import type {CheckCommandOptions} from './options.ts';
import {resolverOf} from './resolvers.ts';

export function addCheck(program: Command, act: Act): void {
  const command = describe(program, 'check', {
    summary:
      'show what Doorplate would decide about hostnames before you apply anything: plan, DNS, CAA, claims. Writes nothing',
    examples: [
      'kubectl doorplate check docs.example.com',
      'kubectl doorplate check docs.example.com old.example.com --project docs',
      'kubectl doorplate check -f custom-domain.yaml',
      'kubectl kustomize . | kubectl doorplate check -f - -o json',
    ],
    ends: ['Waiting', 'Customer', 'Platform'],
  })
    .argument('[host...]', 'hostnames; the first becomes the primary if the project has none')
    .option(
      '-f, --filename <file>',
      'file with the CustomDomains and Projects to apply; - is stdin; may be repeated',
      several,
    )
    .option('--project <name>', 'project of the hostnames; default: the only project of the namespace')
    .option(
      '--resolver <address>',
      "recursive resolvers to ask; may be repeated. Default: the platform's, else this machine's",
      several,
    )
    .option('--settings <namespace/name>', "the platform's ConfigMap", defaultPlace)
    .addOption(outputOption(['text']));
  act<CheckCommandOptions>(command, async (call) => {
    const {options, operands} = call;
    if (options.filename && (operands.length > 0 || options.project)) throw new UsageError('hostnames, or files (-f)');
    if (!options.filename && operands.length === 0) throw new UsageError('name a hostname, or a file (-f)');
    const resolvers = (options.resolver ?? []).map(resolverOf);
    // Only here: it brings all of the operator's decisions along, which no other command needs.
    const {check} = await import('./check.ts');
    return connected(options, call, (connection) => check(connection, {...call, resolvers}));
  });
}
