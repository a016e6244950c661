/** Options of the commands that list objects, with the meaning that kubectl gives them. */
import type {Command} from 'commander';
import {UsageError} from './errors.ts';
import {outputOption, type OutputOptions} from './output.ts';
import type {Connection} from './surroundings.ts';

export interface ListingOptions extends OutputOptions {
  allNamespaces?: boolean;
  selector?: string;
}

/** Adds `-A`, `-l` and `-o`. The first form is for people; `-o name` prints the names of the listed objects. */
export const addListing = (command: Command, forms: readonly [string, ...string[]]): Command =>
  command
    .option('-A, --all-namespaces', 'list the objects of all namespaces')
    .option('-l, --selector <labels>', 'list only objects with these labels: team=web, env in (a,b), !test')
    .addOption(outputOption(forms, ['name']));

/** Throws UsageError if the command line names an object and lists objects, too. */
export function checkListing({allNamespaces = false, selector}: ListingOptions, word: string | undefined): void {
  if (word !== undefined && (allNamespaces || selector !== undefined))
    throw new UsageError('use a name, or --all-namespaces and --selector');
}

/** The query of a list request. */
export const listedBy = (
  {allNamespaces = false, selector}: ListingOptions,
  {namespace}: Pick<Connection, 'namespace'>,
): {namespace?: string; labelSelector?: string} => ({
  ...(!allNamespaces && {namespace}),
  ...(selector !== undefined && {labelSelector: selector}),
});

/** The part of a message that names where a listing looked. */
export const placeOf = ({allNamespaces}: ListingOptions, {namespace}: Pick<Connection, 'namespace'>): string =>
  allNamespaces ? 'in any namespace' : `in the namespace ${namespace}`;
