/** ROW=P13: the order line with 20,000 that wait and 16,800 orders remembered: the first look after a start, and one grant. */
import {OrderQueue} from '../../operator/controllers/orders/order-queue.ts';
import type {OrderRequest} from '../../operator/domain/certificates/issuance.ts';
import {cpuMs} from './figures.ts';
import {median, printTable, type Row} from './table.ts';

/** As many as an ACME account may have in a week, at 300 in 3 hours. */
const full = {waiting: 20_000, remembered: 16_800};
const rounds = 5;
const grants = 200;
const hour = 3_600_000;
/** One order after the other: 300 in 3 hours. */
const everyMs = (3 * hour) / 300;

const hostnameOf = (n: number): string => `www.customer${n}.test`;
const orderRequestOf = (n: number, since: number): OrderRequest => ({
  hostname: hostnameOf(n),
  certificate: `tenant-${n % 200}/n${n}`,
  state: 'Wanted',
  since,
});

/** The CPU of one start, ms: until the first answer, and for one grant after it. */
function measure(waiting: number, remembered: number): {firstMs: number; grantMs: number} {
  let now = Date.UTC(2026, 0, 8);
  const book = new OrderQueue({
    issuer: 'letsencrypt',
    budgets: {
      account: [{limit: 300, perMs: 3 * hour}],
      registeredDomain: [{limit: 50, perMs: 168 * hour}],
      certificates: [{limit: 5, perMs: 168 * hour}],
      authorizations: [{limit: 5, perMs: hour}],
      failures: [{limit: 2, perMs: hour}],
      countRenewals: false,
    },
    unheardAfterMs: hour / 2,
    tenantOf: (hostname) => `tenant-${Number(hostname.replaceAll(/\D/g, '')) % 200}`,
    now: () => now,
  });
  try {
    const began = cpuMs();
    for (let n = 0; n < remembered; n++) {
      const at = new Date(now - (n + 1) * everyMs).toISOString();
      book.recall(hostnameOf(waiting + n), [{at, outcome: 'Issued', endedAt: at}]);
    }
    for (let n = 0; n < waiting; n++)
      book.enter(`tenant-${n % 200}/d${n}`, `tenant-${n % 200}`, orderRequestOf(n, now - waiting + n));
    book.keep('tenant-0/d0', 'tenant-0', [orderRequestOf(0, now - waiting)]);
    const firstMs = cpuMs() - began;
    const before = book.waiting;
    const start = cpuMs();
    // Each of the orders that leave the window lets another one in.
    for (let i = 0; i < grants; i++) {
      now += everyMs;
      book.keep('tenant-0/none', 'tenant-0', []);
    }
    const granted = before - book.waiting;
    if (granted < grants / 2) throw new Error(`only ${granted} orders were granted`);
    return {firstMs, grantMs: (cpuMs() - start) / granted};
  } finally {
    book.stop();
  }
}

export const run: Row = async ({say}) => {
  const sizes = [0.1, 1].map((share) => {
    const waiting = full.waiting * share;
    const times = Array.from({length: rounds}, () => measure(waiting, full.remembered * share));
    return {waiting, firstMs: median(times.map((t) => t.firstMs)), grantMs: median(times.map((t) => t.grantMs))};
  });
  printTable([
    [`P13, CPU, medians of ${rounds}`, 'the first look after a start', 'one grant'],
    ...sizes.map(({waiting, firstMs, grantMs}) => [
      `${waiting} wait, ${waiting * 0.84} remembered`,
      `${firstMs.toFixed(0)} ms`,
      `${(grantMs * 1000).toFixed(1)} µs`,
    ]),
  ]);
  const [small, large] = sizes as [(typeof sizes)[0], (typeof sizes)[0]];
  // A logarithm of ten times as many is less than twice as much.
  const well = large.firstMs <= 500 && large.grantMs <= 2 * small.grantMs;
  say(`P13: ${well ? 'reached' : 'MISSED'}: the first look within 500 ms; a grant does not grow with the line`);
  return well;
};
