/**
 * A limiter with its ledger, in a process of its own: `node limits-child.ts LEDGER LIMIT_PER_DAY ADMITTED [KILL_AFTER]`.
 * It asks for one request after the other, appends a byte to the file ADMITTED for each that was admitted, and ends
 * when one is refused. With KILL_AFTER it kills itself (SIGKILL) when it has admitted so many.
 * Its wall clock begins at noon, so that no day ends meanwhile.
 */
import {openSync, writeSync} from 'node:fs';
import {systemSources, TrustedClock} from '../../operator/limits/clock.ts';
import {FallbackStore} from '../../operator/limits/fallback.ts';
import {Ledger} from '../../operator/limits/ledger/ledger.ts';
import {Limiter} from '../../operator/limits/limiter.ts';
import {noonMs} from './limits-time.ts';

const [path = '', perDay = '', admitted = '', killAfter = ''] = process.argv.slice(2);
const file = openSync(admitted, 'a');
const clock = new TrustedClock({...systemSources, wallMs: () => noonMs + performance.now()});
const store = new FallbackStore({
  backend: new Ledger({path, clock}),
  // A busy machine's disk, and its thread's start, may take a while; what is tested is that it is killed.
  timeoutMs: 60_000,
  onOpen: ({mark}) => mark && clock.goOnFrom(mark),
  onDown: (error) => {
    throw error;
  },
});
await store.start();
const limiter = new Limiter({clock, store});
const pool = {id: 'tenant:acme', quota: {requestsPerMinute: 1_000_000, requestsPerDay: Number(perDay)}};
for (let count = 1; (await limiter.take([pool])).allowed; count++) {
  writeSync(file, 'a');
  if (count === Number(killAfter)) process.kill(process.pid, 'SIGKILL');
  await new Promise((resolve) => setImmediate(resolve));
}
await store.stop();
