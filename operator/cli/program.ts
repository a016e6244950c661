/** `kubectl doorplate` whole: its commands, and what is told when one fails. */
import {Command, CommanderError} from 'commander';
import {addCheck} from './check/command.ts';
import {addAdopt} from './platform/adopt/command.ts';
import {addClaims} from './platform/claims.ts';
import {actWith, several} from './command.ts';
import {CommandError, explain} from './errors.ts';
import {type ExitCode, exitCodes} from './exit-code.ts';
import {addKeyCreate} from './keys/key-create.ts';
import {addKeyList} from './keys/key-list.ts';
import {addKeyRevoke} from './keys/key-revoke.ts';
import {addPreflight} from './platform/preflight.ts';
import {addPolicy} from './platform/policy/command.ts';
import {addRecords} from './domains/records.ts';
import {addReissue} from './domains/reissue.ts';
import {addRelease} from './domains/release.ts';
import {addStatus} from './domains/status.ts';
import type {Surroundings} from './surroundings.ts';
import {addUsage} from './platform/usage.ts';
import {addVerify} from './domains/verify.ts';
import {addVersion} from './version.ts';
import {addWhy} from './domains/why.ts';

/** The commands, none of which has run. `end` is told the exit code of the one that does. */
export function programFor(around: Surroundings, end: (code: ExitCode) => void = () => {}): Command {
  const act = actWith(around, end);
  const program = new Command('kubectl doorplate')
    .description('Shows the state of custom domains, the missing DNS records, and who must act.')
    .option('-n, --namespace <name>', 'namespace; default: the namespace of the context')
    .option('--context <name>', 'context of the kubeconfig; default: the current one')
    .option('--kubeconfig <file>', 'file with the cluster; default: KUBECONFIG, else ~/.kube/config')
    .option('--as <user>', 'act as this user; you need the right to impersonate')
    .option('--as-group <name>', 'act as a member of this group, too; may be repeated', several)
    .helpCommand(false)
    .configureHelp({showGlobalOptions: true})
    .configureOutput({writeOut: around.out, writeErr: around.tell})
    .exitOverride()
    .showHelpAfterError('See: kubectl doorplate --help');
  program.commandsGroup('Commands:');
  addStatus(program, act);
  addRecords(program, act);
  addVerify(program, act);
  addReissue(program, act);
  addWhy(program, act);
  addCheck(program, act);
  const key = program.command('key').description('API keys').helpCommand(false);
  addKeyCreate(key, act);
  addKeyList(key, act);
  addKeyRevoke(key, act);
  addVersion(program, act);
  program.commandsGroup('Commands for platform engineers:');
  addPreflight(program, act);
  addPolicy(program, act);
  addAdopt(program, act);
  addClaims(program, act);
  addRelease(program, act);
  addUsage(program, act);
  return program;
}

/** Runs the command that the arguments name. Resolves with the exit code; what went wrong is told. */
export async function run(argv: readonly string[], around: Surroundings): Promise<ExitCode> {
  let code: ExitCode = exitCodes.Done;
  const program = programFor(around, (ended) => {
    code = ended;
  });
  try {
    await program.parseAsync(argv.length === 0 ? ['--help'] : [...argv], {from: 'user'});
    return code;
  } catch (error) {
    // It has told that already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.Done : exitCodes.Usage;
    around.tell(`error: ${(error instanceof CommandError ? error : explain(error)).message}\n`);
    return exitCodes.Failed;
  }
}
