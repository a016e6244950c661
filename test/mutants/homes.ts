import {type Entry, type Mutant, read} from './mutant.ts';

/**
 * The `.mutants` file for a place, as a path below this folder. It mirrors the sources: `operator/domain/claims/claim.ts` is at home in
 * `domain/claim.mutants`, `charts/doorplate/values.yaml` in `charts/doorplate/values.mutants`. A policy of the rendered chart
 * shares a file with its bindings, whose names begin with its own: `policy/labels.mutants`.
 */
export function homeOf(place: string): string {
  const [, policy] = /^ValidatingAdmissionPolicy(?:Binding)?\/([a-z]+)/.exec(place) ?? [];
  if (policy !== undefined) return `policy/${policy}.mutants`;
  return `${place.replace(/^operator\//, '').replace(/(?<=[^/])\.[^./]+$/, '')}.mutants`;
}

/** Throws if a mutant is in another file than its first place names. */
export function mustBeAtHome({file, edits}: Mutant): void {
  const home = homeOf(edits[0]!.file);
  if (file !== home)
    throw new Error(`it is in ${file} and belongs into ${home}. To move it: node test/mutants/arrange.ts`);
}

/** The files for entries, with their contents: each entry at home, sorted by name, a blank line in between. */
export function arranged(entries: readonly Entry[]): Map<string, string> {
  const parsed = entries.map(({file, text}) => ({text, mutant: read(file, text)}));
  const homes = Map.groupBy(parsed, ({mutant}) => homeOf(mutant.edits[0]!.file));
  return new Map(
    [...homes].map(([home, of]) => {
      const sorted = of.toSorted((a, b) => (a.mutant.name < b.mutant.name ? -1 : 1));
      return [home, sorted.map(({text}) => text.replace(/\n*$/, '\n')).join('\n')];
    }),
  );
}

/**
 * An entry's text after a move: `from` becomes `to` in its places and its test. Both are a folder, a file, a symbol
 * (`operator/dns/names.ts › normalise`), or a test or describe of a file.
 */
export const moved = (text: string, from: string, to: string): string =>
  text.replace(/^(# (?:in|without|red): )(.+)$/gm, (line, heading: string, place: string) => {
    const [next] = place.slice(from.length).match(/^(?:$|\/| › |\.)/) ?? [];
    const isBelow = next !== undefined && (next !== '.' || from.includes(' › '));
    return place.startsWith(from) && isBelow ? heading + to + place.slice(from.length) : line;
  });
