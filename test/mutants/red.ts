import type {JestProcess, Verdict, Verdicts} from './jest-process.ts';
import {broken, type Mutant} from './mutant.ts';

/** A failure as jest tells it: the matcher's or assert's own message, or that of fast-check's cause. */
const asserted =
  /(?:^|\[cause\]: )(?:AssertionError |(?:Error: )?(?:expect\(|expect\.|assert[.(]|Property failed by returning false))/;

/** Was it an assertion of the test itself? A time-out, an error, a hook that failed: these say nothing about the guarantee. */
export const byAssertion = (failures: readonly string[]): boolean =>
  failures.some((f) => asserted.test(f) && !f.includes('_callCircusHook'));

/** What is wrong with a mutant, or undefined; and how long its test took to turn red. */
export type Tell = (mutant: Mutant, wrong: string | undefined, tookMs?: number) => void;

/**
 * Tells of each mutant of one test file what is wrong with it, or undefined when its test turns red by it and by nothing else.
 * The tests run without a mutant last, in the process in which they ran with each: green then, no mutant has left anything
 * behind that could have turned another one's test red.
 */
export async function judge(
  mutants: readonly Mutant[],
  jest: Pick<JestProcess, 'run' | 'renew' | 'place'>,
  tell: Tell,
): Promise<void> {
  await jest.renew();
  const wrong = new Map<Mutant, string | undefined>();
  const took = new Map<Mutant, number>();
  const look = async (mutant: Mutant): Promise<void> => {
    const began = performance.now();
    try {
      await broken(mutant, jest.place.root, async () => {
        const {all} = await verdicts(jest, mutant.test, [mutant.title]);
        wrong.set(mutant, wrongWith(mutant, all.get(mutant.title)));
      });
    } catch (e) {
      wrong.set(mutant, (e as Error).message);
    }
    took.set(mutant, performance.now() - began);
  };
  for (const mutant of mutants) await look(mutant);
  const sound = await soundly(jest, mutants[0]!.test, [...new Set(mutants.map((m) => m.title))]);
  // A test that once failed without a mutant may have failed by the same luck with one.
  for (const mutant of mutants.filter(({title}) => sound.again.has(title))) await look(mutant);
  for (const mutant of mutants)
    tell(mutant, unsound(mutant, sound.all.get(mutant.title)) ?? wrong.get(mutant), took.get(mutant));
}

interface Ran {
  all: Verdicts;
  /** Which ran once more: what became of them at first said nothing. */
  again: ReadonlySet<string>;
}
type Runs = (jest: Pick<JestProcess, 'run'>, test: string, titles: readonly string[]) => Promise<Ran>;

/** What became of tests; those of which that says nothing run once more. */
const runs =
  (saysNothing: (failed: Verdict) => boolean): Runs =>
  async (jest, test, titles) => {
    const all = await jest.run(test, titles);
    const untold = new Set(
      [...all].filter(([, verdict]) => verdict.status === 'failed' && saysNothing(verdict)).map(([title]) => title),
    );
    if (untold.size === 0) return {all, again: untold};
    // jest answers for the whole file: of those that it was not asked to run this time it says nothing.
    const second = [...(await jest.run(test, [...untold]))].filter(([title]) => untold.has(title));
    return {all: new Map([...all, ...second]), again: untold};
  };

/** With a mutant. A test that failed by no assertion says nothing: a busy API server has closed a connection. */
export const verdicts = runs(({failures}) => !byAssertion(failures));

/** Without one. What mutants have left behind is there the second time, too; what a busy machine did once is not. */
export const soundly = runs(() => true);

/**
 * Whether a complaint of {@link judge} may come from the machine alone: a test that did not run, that ended in no assertion, or that
 * failed without the mutant. A mutant that survived is conclusive.
 */
export const isInconclusive = (wrong: string): boolean => !wrong.startsWith('SURVIVED');

/** What is wrong with a mutant by what became of its test with it. */
function wrongWith({test, title}: Mutant, verdict: Verdict | undefined): string | undefined {
  if (verdict === undefined) return `its test did not run: ${test} does not load with it`;
  if (verdict.status !== 'failed') return `SURVIVED: ${title}`;
  if (byAssertion(verdict.failures)) return undefined;
  return `its test fails, but by no assertion: ${title}: ${verdict.failures[0]?.split('\n')[0]}`;
}

/** What is wrong with a test by what became of it without a mutant. */
function unsound({test, title}: Mutant, verdict: Verdict | undefined): string | undefined {
  if (verdict === undefined) return `there is no such test: ${test} › ${title}`;
  if (verdict.status === 'passed') return undefined;
  return `its test is ${verdict.status} without it: ${title}: ${verdict.failures.join('\n')}`;
}
