/** `kubectl doorplate key revoke`: an ApiKey goes, and its tokens are refused. */
import type {Command} from 'commander';
import {apiKeys} from '../../resources/resources.ts';
import {type Act, describe} from '../command.ts';
import {CommandError, explain} from '../errors.ts';
import {connected} from '../surroundings.ts';

export function addKeyRevoke(key: Command, act: Act): void {
  const command = describe(key, 'revoke', {
    summary: 'delete API keys: their tokens are refused within a second',
    examples: ['kubectl doorplate key revoke ci', 'kubectl doorplate key revoke ci old-ci -n acme'],
  }).argument('<name...>');
  act(command, (call) =>
    connected(call.options, call, async ({client, namespace}) => {
      // A name that is wrong leaves no other key valid.
      const failed: string[] = [];
      for (const name of call.operands) {
        try {
          const outcome = await client.delete(apiKeys, `${namespace}/${name}`);
          if (outcome === 'Deleted') call.tell(`ApiKey ${name} was revoked in the namespace ${namespace}.\n`);
          else
            failed.push(
              `there is no ApiKey ${name} in the namespace ${namespace}: kubectl doorplate key list -n ${namespace}`,
            );
        } catch (error) {
          failed.push(`ApiKey ${name}: ${explain(error).message}`);
        }
      }
      if (failed.length > 0) throw new CommandError(failed.join('\n'));
    }),
  );
}
