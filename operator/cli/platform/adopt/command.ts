/** `kubectl doorplate adopt`: hostnames that something else serves come over with their certificates, for the platform. */
import type {Command} from 'commander';
import {type Act, describe, several} from '../../command.ts';
import {outputOption} from '../../output.ts';
import {defaultPlace} from '../../settings.ts';
import {connected} from '../../surroundings.ts';
import type {AdoptOptions} from './adopt.ts';

export function addAdopt(program: Command, act: Act): void {
  const command = describe(program, 'adopt', {
    summary: 'take over hostnames from other Ingresses, with their certificates, before you apply their CustomDomains',
    examples: [
      'kubectl doorplate adopt -f custom-domains.yaml --dry-run',
      'kubectl doorplate adopt -f custom-domains.yaml',
      'kubectl kustomize . | kubectl doorplate adopt -f - -o json',
    ],
    ends: ['Platform'],
  })
    .requiredOption(
      '-f, --filename <file>',
      "file with the CustomDomains to apply, from the platform's own list; - is stdin; may be repeated",
      several,
    )
    .option('--dry-run', 'show the result for each hostname, and write nothing')
    .option('--settings <namespace/name>', "the platform's ConfigMap", defaultPlace)
    .addOption(outputOption(['table']));
  act<AdoptOptions>(command, async (call) => {
    // Only here: it brings much of the operator along, which no other command needs.
    const {adopt} = await import('./adopt.ts');
    return connected(call.options, call, (connection) => adopt(connection, call));
  });
}
