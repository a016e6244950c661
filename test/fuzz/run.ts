/**
 * `make faults`: a million random and mutated DNS packets through the decoder, and their figures. PACKETS for another number, SEED for
 * other packets (printed, so that a fault can be had again). The heap is bounded from outside: a packet that would need more ends it.
 */
import {fuzz} from './packets.ts';

const packets = Number(process.env['PACKETS'] ?? 1_000_000);
const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 32);
console.log(`${packets.toLocaleString('en')} packets, SEED=${seed}`);
const figures = fuzz({
  packets,
  seed,
  onProgress: (done) => {
    if (done % 250_000 === 0) console.log(`  ${done.toLocaleString('en')}`);
  },
});
const {maxRSS} = process.resourceUsage();
console.log(
  [
    `${figures.decoded.toLocaleString('en')} decoded, ${figures.refused.toLocaleString('en')} refused, ${(figures.bytes / 2 ** 20).toFixed(0)} MB in ${figures.seconds.toFixed(1)} s: ${Math.round(packets / figures.seconds).toLocaleString('en')}/s`,
    `the costliest packet: ${figures.slowestMs.toFixed(1)} ms of CPU (${figures.slowestBytes} bytes); the largest message: ${figures.largestText.toLocaleString('en')} characters; at most ${Math.round(maxRSS / 1024)} MB of memory`,
    ...figures.faults.map((fault) => `FAULT ${fault}`),
    `${figures.faults.length === 0 ? 'no fault' : `${figures.faults.length} faults`}`,
  ].join('\n'),
);
process.exitCode = figures.faults.length === 0 && packets > 0 ? 0 : 1;
