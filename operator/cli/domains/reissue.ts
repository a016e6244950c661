/** `kubectl doorplate reissue`: requests new certificates with new keys, and waits until they are served. */
import type {Command} from 'commander';
import {reissueAnnotation} from '../../api/custom-domain.ts';
import type {CustomDomain} from '../../api/foreign.ts';
import {type Act, describe} from '../command.ts';
import {awaited, requestNow, timeoutOf, type WaitOptions} from './awaiting.ts';
import {exitCodes} from '../exit-code.ts';
import {connected} from '../surroundings.ts';

export function addReissue(program: Command, act: Act): void {
  const command = describe(program, 'reissue', {
    summary: 'request new certificates with new keys for all hostnames of a CustomDomain',
    examples: ['kubectl doorplate reissue docs', 'kubectl doorplate reissue docs.example.com --wait --timeout 2h'],
    ends: ['Waiting'],
  })
    .argument('<name>', 'name of a CustomDomain, or one of its hostnames')
    .option('--wait', 'wait until the edge presents the new certificates, and print each change')
    .option('--timeout <time>', 'how long to wait, such as 90s, 30m or 2h', '10m');
  act<WaitOptions>(command, async (call) => {
    const timeoutMs = timeoutOf(call.options.timeout);
    return connected(call.options, call, async (connection) => {
      const {domain, value} = await requestNow(connection, call, reissueAnnotation);
      const {name, namespace} = domain.metadata;
      call.tell(
        `New certificates for the CustomDomain ${name} in the namespace ${namespace} were requested. ` +
          'Visitors get the current certificates until then.\n',
      );
      if (!call.options.wait) return exitCodes.Done;
      const answer = {
        unanswered: 'not all certificates are replaced yet',
        codeOf: ({status}: CustomDomain) => (status?.lastHandledReissueAt === value ? exitCodes.Done : undefined),
      };
      return awaited(connection, domain, answer, {...call, timeoutMs});
    });
  });
}
