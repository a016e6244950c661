/** How a command of `kubectl doorplate` is described and run: commander reads the line, an exit code is what comes of it. */
import type {Command} from 'commander';
import {UsageError} from './errors.ts';
import {type ExitCode, exitCodes, exitCodesHelp, type SpecialEnd} from './exit-code.ts';
import type {ClusterOptions, Surroundings} from './surroundings.ts';

/** Options that every command has. */
export interface Everywhere extends ClusterOptions {
  namespace?: string;
}

/** A command with its arguments. */
export interface Call<Options> extends Surroundings {
  operands: readonly string[];
  options: Options & Everywhere;
}

/** Has a command run `run`, and end with what that resolves with; without anything: done. */
export type Act = <Options>(command: Command, run: (call: Call<Options>) => Promise<ExitCode | void>) => void;

/** An {@link Act} that tells `end` the exit code. */
export const actWith =
  (around: Surroundings, end: (code: ExitCode) => void): Act =>
  <Options>(command: Command, run: (call: Call<Options>) => Promise<ExitCode | void>): void => {
    command.action(async () => {
      const options = command.optsWithGlobals() as Options & Everywhere;
      try {
        end((await run({...around, operands: command.args, options})) ?? exitCodes.Done);
      } catch (error) {
        if (error instanceof UsageError) command.error(`error: ${error.message}`, {exitCode: exitCodes.Usage});
        throw error;
      }
    });
  };

/** Adds a subcommand to a parent command. `ends`: the exit codes beside 0, 1 and 2. */
export function describe(
  parent: Command,
  usage: string,
  {summary, examples, ends = []}: {summary: string; examples: readonly string[]; ends?: readonly SpecialEnd[]},
): Command {
  const command = parent.command(usage).description(summary);
  const words = [...ancestors(command), command].map((c) => c.name()).join(' ');
  command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  ${line}`).join('\n')}`);
  if (ends.length > 0) command.addHelpText('after', () => `\n${exitCodesHelp(ends, waitOf(command))}`);
  return command.showHelpAfterError(`See: ${words} --help`);
}

const waitOf = (command: Command): string | undefined => command.options.find(({long}) => long === '--wait')?.long;

const ancestors = (command: Command): Command[] =>
  command.parent ? [...ancestors(command.parent), command.parent] : [];

/** Collects the values of an option that may be repeated. */
export const several = (value: string, before: string[] = []): string[] => [...before, value];
