/** `kubectl doorplate version`: prints the plugin version and the version of the installed release. */
import type {Command} from 'commander';
import {version} from '../version.ts';
import {type Act, describe} from './command.ts';
import {forPrograms, outputOption, type OutputOptions} from './output.ts';
import {defaultPlace, publishedVersion} from './settings.ts';
import {connected} from './surroundings.ts';

interface VersionOptions extends OutputOptions {
  client?: boolean;
  settings: string;
}

export function addVersion(program: Command, act: Act): void {
  const command = describe(program, 'version', {
    summary: 'show the versions of this plugin (client) and of Doorplate in the cluster (server)',
    examples: ['kubectl doorplate version', 'kubectl doorplate version --client -o json'],
  })
    .option('--client', 'print only the version of this plugin, without connecting to a cluster')
    .option('--settings <namespace/name>', "the platform's ConfigMap", defaultPlace)
    .addOption(outputOption(['text']));
  act<VersionOptions>(command, async (call) => {
    const {options, out, tell} = call;
    const isText = options.output === 'text';
    // The first line appears even if no cluster answers.
    if (isText) out(`Client: ${version}\n`);
    const server = options.client
      ? undefined
      : await connected(options, call, ({client}) => publishedVersion(client, options.settings));
    out(forPrograms(options.output, {client: version, ...(server !== undefined && {server})}) ?? '');
    if (options.client) return;
    if (server === undefined)
      tell(
        `The server's version is unknown: the ConfigMap ${options.settings} is missing, or you may not read it. ` +
          "Name your platform's ConfigMap (--settings NAMESPACE/NAME).\n",
      );
    else if (isText) out(`Server: ${server}\n`);
  });
}
