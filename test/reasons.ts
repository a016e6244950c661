/**
 * Every reason of the table must have come up in the tests: on the real cluster, where the API server's audit log has each status
 * that Doorplate wrote, or in a test against the real DNS servers that passed (test/dns, by jest's reports). Run after the other
 * suites, on the cluster on which they ran. Prints what is missing and exits 1; what only DNS says is not missed where test/dns did
 * not run.
 *
 *   node test/reasons.ts REPORTS     the folder of jest's reports
 */
import {fileURLToPath} from 'node:url';
import {reasons} from '../operator/domain/reasons/reasons.ts';
import {resultsIn} from './support/evidence.ts';
import {statusesWritten} from './support/written.ts';

const seen = new Map<string, string>();

/** All values of `reason` inside a status. */
function collect(node: unknown, where: string): void {
  if (Array.isArray(node)) {
    for (const item of node) collect(item, where);
    return;
  }
  if (node === null || typeof node !== 'object') return;
  for (const [key, value] of Object.entries(node)) {
    if (key === 'reason' && typeof value === 'string' && !seen.has(value)) seen.set(value, where);
    collect(value, where);
  }
}

for await (const {request, where} of statusesWritten()) collect(request, where);
const dns = [...resultsIn(process.argv[2] ?? '', fileURLToPath(new URL('../', import.meta.url)))].filter(([file]) =>
  file.startsWith('test/dns/'),
);
for (const [file, tests] of dns) {
  for (const {title, status} of tests) {
    const [, reason] = /^(\w+) has come from real servers$/.exec(title) ?? [];
    if (reason !== undefined && status === 'passed' && !seen.has(reason)) seen.set(reason, file);
  }
}
const missing = Object.keys(reasons).filter((reason) => !seen.has(reason));
for (const reason of Object.keys(reasons))
  console.log(`${reason.padEnd(26)} ${seen.get(reason) ?? 'NOT PRODUCED BY ANY TEST'}`);
if (missing.length > 0 && dns.length === 0) {
  console.log(`test/dns did not run: whether ${missing.join(', ')} came up could not be judged`);
} else if (missing.length > 0) {
  console.error(
    `${missing.length} of ${Object.keys(reasons).length} reasons came up in no test: ${missing.join(', ')}. Write the test, or remove the reason.`,
  );
  process.exitCode = 1;
}
