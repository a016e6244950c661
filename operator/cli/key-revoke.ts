/** `kubectl doorplate key revoke`: an ApiKey goes, and its tokens are refused. */
import type {Command} from 'commander';
import {apiKeys} from '../controllers/resources.ts';
import {type Act, describe} from './command.ts';
import {CommandError} from './errors.ts';
import {connected} from './surroundings.ts';

export function addKeyRevoke(key: Command, act: Act): void {
  const command = describe(key, 'revoke', {
    summary: 'delete API keys: their tokens are refused within a second',
    examples: ['kubectl doorplate key revoke ci', 'kubectl doorplate key revoke ci old-ci -n acme'],
  }).argument('<name...>');
  act(command, (call) =>
    connected(call.options, call, async ({client, namespace}) => {
      for (const name of call.operands) {
        if ((await client.delete(apiKeys, `${namespace}/${name}`)) === 'NotFound') {
          throw new CommandError(
            `there is no ApiKey ${name} in the namespace ${namespace}: kubectl doorplate key list -n ${namespace}`,
          );
        }
        call.tell(`ApiKey ${name} was revoked in the namespace ${namespace}.\n`);
      }
    }),
  );
}
