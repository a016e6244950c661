/** Appends records to the journal of a ledger, prints the number of each that is written, and kills itself in the middle. */
import {TrustedClock} from '../../operator/limits/clock.ts';
import {Ledger} from '../../operator/limits/ledger/ledger.ts';
import {writeSync} from 'node:fs';

const ledger = new Ledger({path: process.argv[2]!, clock: new TrustedClock()});
setTimeout(() => process.kill(process.pid, 'SIGKILL'), 60_000).unref();
for (let i = 0; ; i++) {
  const appended = ledger.append([{tenant: 'acme', namespace: 'uid-1', text: String(i)}], Date.now());
  if (i === 25) process.kill(process.pid, 'SIGKILL');
  await appended;
  writeSync(1, `${i}\n`);
}
