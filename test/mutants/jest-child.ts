/**
 * jest, in a process that stays: most of the time that one test takes is jest's own start, and the transformation of sources
 * that no mutant has changed. Runs the tests that its parent names (jest-process.ts), and answers with what became of them.
 */
import {runCLI} from 'jest';
import {ReadTrace} from './inputs.ts';
import type {Answer, Asked, Verdict} from './jest-process.ts';

let trace: ReadTrace | undefined;

process.on('message', async ({root, cache, test, titles, traced}: Asked) => {
  if (traced) trace ??= new ReadTrace(root);
  // Not sooner: jest itself reads files of the checkout before it loads the test file.
  globalThis.doorplateBeforeTestFile = () => trace?.begin();
  const exactly = titles.map((t) => t.replaceAll(' › ', ' ').replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const {results} = await runCLI(
    {
      _: [`${root}/${test}`],
      $0: 'jest',
      rootDir: root,
      runTestsByPath: true,
      testNamePattern: `^(${exactly.join('|')})$`,
      // Longer than a test waits for what never comes, however slow the machine: a time-out is no assertion.
      testTimeout: 1_200_000,
      runInBand: true,
      watchman: false,
      silent: true,
      ci: true,
      reporters: [],
      cacheDirectory: cache,
    },
    [root],
  );
  const verdicts = results.testResults
    .flatMap((file) => file.testResults)
    .map(({ancestorTitles, title, status, failureMessages}): [string, Verdict] => [
      [...ancestorTitles, title].join(' › '),
      {status, failures: failureMessages},
    ]);
  process.send!({verdicts, read: trace?.read() ?? []} satisfies Answer);
});
process.on('disconnect', () => process.exit());
