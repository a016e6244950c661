/**
 * Every reason of the table must have come up in the tests: on the real cluster, where the API server's audit log has each status
 * that the operator wrote, or in a test against the real DNS servers (test/dns), whose last test sees to its own. Run after the
 * other suites, on the cluster on which they ran. Prints what is missing and exits 1.
 */
import {createReadStream, readdirSync, readFileSync} from 'node:fs';
import {createInterface} from 'node:readline';
import {reasons} from '../operator/domain/reasons.ts';
import {env} from '../cluster/cluster.ts';

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

interface Line {
  user?: {username?: string};
  objectRef?: {apiGroup?: string; resource?: string; subresource?: string; namespace?: string; name?: string};
  requestObject?: unknown;
  responseStatus?: {code?: number};
}

for await (const line of createInterface({input: createReadStream(env().auditLog), crlfDelay: Infinity})) {
  if (!line.includes('"doorplate.dev"')) continue;
  let event: Line;
  try {
    event = JSON.parse(line) as Line;
  } catch {
    continue;
  } // the last line may be half written
  const {objectRef: o, user, responseStatus} = event;
  if (
    o?.apiGroup !== 'doorplate.dev' ||
    o.subresource !== 'status' ||
    responseStatus?.code !== 200 ||
    !user?.username?.endsWith('-operator')
  )
    continue;
  collect(event.requestObject, `${o.resource} ${o.namespace ?? ''}/${o.name}`);
}
const dns = new URL('dns/', import.meta.url);
for (const file of readdirSync(dns)) {
  const text = readFileSync(new URL(file, dns), 'utf8');
  for (const reason of Object.keys(reasons))
    if (!seen.has(reason) && new RegExp(`['"\`]${reason}['"\`]`).test(text)) seen.set(reason, `test/dns/${file}`);
}
const missing = Object.keys(reasons).filter((reason) => !seen.has(reason));
for (const reason of Object.keys(reasons))
  console.log(`${reason.padEnd(26)} ${seen.get(reason) ?? 'NOT PRODUCED BY ANY TEST'}`);
if (missing.length > 0) {
  console.error(
    `${missing.length} of ${Object.keys(reasons).length} reasons came up in no test: ${missing.join(', ')}. Write the test, or remove the reason.`,
  );
  process.exitCode = 1;
}
