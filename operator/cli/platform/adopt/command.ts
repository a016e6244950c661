/** `kubectl doorplate adopt`: hostnames that something else serves come over with their certificates, for the platform. */
import type {Command} from 'commander';
import {type Act, describe, several} from '../../command.ts';
import {outputOption} from '../../output.ts';
import {defaultPlace} from '../../settings.ts';
import {connected} from '../../surroundings.ts';
import type {AdoptOptions} from './adopt.ts';

export function addAdopt(program: Command, act: Act): void {
  const command = describe(program, 'adopt', {
    summary:
      'take over hostnames that other Ingresses serve, with their certificates, before their CustomDomains are applied',
    examples: [
      'kubectl doorplate adopt -f custom-domains.yaml --dry-run',
      'kubectl doorplate adopt -f custom-domains.yaml',
      'kubectl kustomize . | kubectl doorplate adopt -f - -o json',
    ],
    ends: ['Platform'],
  })
    .requiredOption(
      '-f, --filename <file>',
      "the CustomDomains as they will be applied, the platform's own list; - is stdin; may be repeated",
      several,
    )
    .option('--dry-run', 'say what would become of each hostname, and write nothing')
    .option('--settings <namespace/name>', "the platform's ConfigMap", defaultPlace)
    .addOption(outputOption(['table']));
  act<AdoptOptions>(command, async (call) => {
    // Only here: it brings much of the operator along, which no other command needs.
    const {adopt} = await import('./adopt.ts');
    return connected(call.options, call, (connection) => adopt(connection, call));
  });
}
