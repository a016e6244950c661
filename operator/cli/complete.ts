/**
 * Completions of a command line. kubectl's own completion (bash, zsh, fish, PowerShell) asks kubectl_complete-doorplate for them. It must
 * answer as Cobra does: one `VALUE<tab>DESCRIPTION` per line, and the directive last.
 */
import type {Command, Option} from 'commander';
import {ownScopes} from '../api/api-key.ts';
import {apiKeys, customDomains, namespaces, projects} from '../resources/resources.ts';
import type {Client} from '../kube/client/client.ts';
import type {Resource} from '../kube/objects.ts';
import type {ClusterOptions, Surroundings} from './surroundings.ts';
import {connected} from './surroundings.ts';

/** Cobra's ShellCompDirective. */
const [files, noFiles] = [0, 4] as const;
/** For so long somebody who has pressed the tab key waits for names. */
const patienceMs = 2000;

/** The kinds of objects whose names complete a command's operands, by the command's words. */
const operands: Readonly<Record<string, Resource>> = {
  status: customDomains,
  records: customDomains,
  verify: customDomains,
  reissue: customDomains,
  why: customDomains,
  release: customDomains,
  'key revoke': apiKeys,
};
/** The same of options. */
const values: Readonly<Record<string, Resource>> = {namespace: namespaces, project: projects};
const ofFiles: ReadonlySet<string> = new Set(['filename', 'kubeconfig', 'token-file']);
/** Commands whose operand is a file. */
const readFiles: ReadonlySet<string> = new Set(['policy audit']);

interface Candidate {
  value: string;
  description?: string;
}

/** The state of a command line before its last word. */
interface CompletionPlace {
  command: Command;
  /** An option that still lacks its value. */
  option?: Option;
  isOperand: boolean;
  /** Values of the options that all commands have. */
  given: ClusterOptions & {namespace?: string};
}

/** The answer to kubectl. `words`: what stands behind `kubectl doorplate`, the last one as far as it is written. */
export async function complete(program: Command, words: readonly string[], around: Surroundings): Promise<string> {
  const place = placeOf(program, words.slice(0, -1));
  const begun = words.at(-1) ?? '';
  if (isOfFile(place, begun)) return `:${files}\n`;
  const all = await candidates(place, begun, around);
  const fitting = all.filter(({value}) => value.startsWith(begun));
  return `${fitting.map(({value, description = ''}) => `${value}\t${description}\n`).join('')}:${noFiles}\n`;
}

const isOfFile = ({command, option}: CompletionPlace, begun: string): boolean =>
  option ? ofFiles.has(longOf(option)) : !begun.startsWith('-') && readFiles.has(wordsOf(command));
const longOf = (option: Option): string => option.long?.slice(2) ?? '';
const wordsOf = (command: Command): string =>
  command.parent?.parent ? `${wordsOf(command.parent)} ${command.name()}` : command.name();
/** Options of a command and of its parents. */
const optionsOf = (command: Command): readonly Option[] => [
  ...command.options,
  ...(command.parent ? optionsOf(command.parent) : []),
];

/** The parts of `--long`, `--long=value`, `-s` or `-svalue`. */
function splitOption(word: string): {name: string; value?: string} {
  const [, name = word, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? /^(-[^-])(.+)$/s.exec(word) ?? [];
  return {name, ...(value !== undefined && {value})};
}

function placeOf(program: Command, words: readonly string[]): CompletionPlace {
  const place: CompletionPlace = {command: program, isOperand: false, given: {}};
  const keep = (option: Option, value: string): void => {
    if (!program.options.includes(option)) return;
    const name = option.attributeName() as keyof CompletionPlace['given'];
    Object.assign(place.given, {[name]: option.parseArg ? option.parseArg(value, place.given[name]) : value});
  };
  for (const word of words) {
    if (place.option) {
      keep(place.option, word);
      delete place.option;
    } else if (word.startsWith('-')) {
      const {name, value} = splitOption(word);
      const option = optionsOf(place.command).find(({long, short}) => name === long || name === short);
      if (!option?.required) continue;
      if (value === undefined) place.option = option;
      else keep(option, value);
    } else {
      const below = place.isOperand ? undefined : place.command.commands.find((command) => command.name() === word);
      if (below) place.command = below;
      else place.isOperand = true;
    }
  }
  return place;
}

async function candidates(
  {command, option, given}: CompletionPlace,
  begun: string,
  around: Surroundings,
): Promise<Candidate[]> {
  if (option) {
    if (option.argChoices) return option.argChoices.map((value) => ({value}));
    if (longOf(option) === 'scope') return ownScopes.map((value) => ({value}));
    return namesOf(values[longOf(option)], given, around);
  }
  if (begun.startsWith('-')) {
    return optionsOf(command).map(({long = '', description}) => ({value: long, description}));
  }
  if (command.commands.length > 0) {
    return command.commands.map((below) => ({value: below.name(), description: below.description()}));
  }
  return namesOf(operands[wordsOf(command)], given, around);
}

/** Completion reports no errors. */
async function namesOf(
  kind: Resource | undefined,
  given: CompletionPlace['given'],
  around: Surroundings,
): Promise<Candidate[]> {
  if (!kind) return [];
  try {
    return await connected(given, around, ({client, namespace}) => listed(client, kind, namespace));
  } catch {
    return [];
  }
}

async function listed(client: Client, kind: Resource, namespace: string): Promise<Candidate[]> {
  const signal = AbortSignal.timeout(patienceMs);
  const {items} = await client.list(kind, {signal, ...(kind.namespaced && {namespace})});
  return items.map(({metadata}) => ({value: metadata.name}));
}
