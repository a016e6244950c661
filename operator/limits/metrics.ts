import {Counter, Gauge, type Metric, type Registry} from 'prom-client';

/** Read when somebody looks: the hot path counts in plain numbers. */
export interface LimitFigures {
  decisions(): {admitted: number; refused: number};
  storeIsDown(): boolean;
  storeFailures(): number;
  bansBegun(): number;
  activeBans(): number;
  clockOffsetMs(): number;
  usageLost(): number;
  journaled(): {written: number; lost: number};
}

/** Registers what the limits show; once a registry. Never a tenant or a key as a label. */
export function limitMetrics(registry: Registry, figures: LimitFigures): Metric[] {
  const registers = [registry];
  const counter = (name: string, help: string, value: () => number): Metric =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(value());
      },
    });
  const gauge = (name: string, help: string, value: () => number): Metric =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value());
      },
    });
  return [
    byResult(registry, 'doorplate_limit_decisions_total', {
      help: 'Decisions of the limiter, by result: admitted or refused.',
      values: () => ({...figures.decisions()}),
    }),
    gauge(
      'doorplate_limits_store_up',
      '1 if this process reserves quota in the ledger or in Valkey, 0 if it counts in memory only.',
      () => (figures.storeIsDown() ? 0 : 1),
    ),
    counter('doorplate_limits_store_failures_total', 'Losses of the connection to the ledger or Valkey.', () =>
      figures.storeFailures(),
    ),
    counter('doorplate_bans_total', 'Bans of API keys by this process.', () => figures.bansBegun()),
    gauge('doorplate_bans_active', 'Banned API keys.', () => figures.activeBans()),
    gauge(
      'doorplate_clock_offset_seconds',
      "Lead of the system's clock over the time of the limits, which ignores changes of the system's clock.",
      () => figures.clockOffsetMs() / 1000,
    ),
    counter(
      'doorplate_usage_lost_total',
      'Requests missing from usage, because usage could not be stored for too long.',
      () => figures.usageLost(),
    ),
    byResult(registry, 'doorplate_audit_records_total', {
      help: 'Audit records for GET /v1/audit, by result: written or lost. The log has all records.',
      values: () => ({...figures.journaled()}),
    }),
  ];
}

/** A counter with the label `result`. */
const byResult = (
  registry: Registry,
  name: string,
  {help, values}: {help: string; values: () => Record<string, number>},
): Metric =>
  new Counter({
    name,
    labelNames: ['result'],
    registers: [registry],
    help,
    collect() {
      this.reset();
      for (const [result, value] of Object.entries(values())) this.inc({result}, value);
    },
  });
