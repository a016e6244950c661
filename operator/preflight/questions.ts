/**
 * Checks of Doorplate's surroundings before the first order, by `helm test` and by each new leader. A failed check stops nothing: it
 * reports the setting to change.
 */
import {ari} from './ari.ts';
import {directory} from './directory.ts';
import {edge} from './edge.ts';
import {issuer} from './issuer.ts';
import {nameServers} from './name-servers.ts';
import type {PreflightAnswer, PreflightQuestion, PreflightWorld} from './question.ts';
import {wildcard} from './wildcard.ts';

/** In the order in which a platform comes upon them. */
export const questions: readonly PreflightQuestion[] = [wildcard, nameServers, directory, issuer, edge, ari];

/** An answer with its question, for people. */
export interface Answered extends PreflightAnswer {
  name: string;
  asked: string;
}

/** Runs all checks at once, or only those that repeat. Returns their results in order. Never rejects. */
export const askAll = (world: PreflightWorld, signal: AbortSignal, only?: 'Repeated'): Promise<Answered[]> =>
  Promise.all(
    questions
      .filter(({repeats}) => only === undefined || repeats)
      .map(async ({name, asks, ask}) => ({
        name,
        asked: asks(world),
        ...(await ask(world, signal).catch(unasked)),
      })),
  );

const unasked = (error: unknown): PreflightAnswer => ({
  outcome: 'unknown',
  seen: `The check failed: ${error instanceof Error ? error.message : String(error)}`,
});

/** For a terminal or a log; ends with a line break. */
export function report(answers: readonly Answered[]): string {
  const blocks = answers.map(({name, asked, outcome, seen, remedy}) =>
    [
      `${(outcome === 'failed' ? 'FAILED' : outcome).padEnd(9)}${name.padEnd(10)}${asked}`,
      `${' '.repeat(19)}${seen}`,
      ...(remedy === undefined ? [] : [`${' '.repeat(19)}-> ${remedy}`]),
    ].join('\n'),
  );
  const failed = answers.filter(({outcome}) => outcome === 'failed').length;
  const sum = failed === 0 ? 'Nothing failed.' : `${failed} of ${answers.length} failed.`;
  return `${[...blocks, sum].join('\n\n')}\n`;
}
