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
  const decisions = new Counter({
    name: 'doorplate_limit_decisions_total',
    labelNames: ['result'],
    registers,
    help: 'Requests that the limiter decided, by result: admitted or refused.',
    collect() {
      const {admitted, refused} = figures.decisions();
      this.reset();
      this.inc({result: 'admitted'}, admitted);
      this.inc({result: 'refused'}, refused);
    },
  });
  const up = new Gauge({
    name: 'doorplate_limits_store_up',
    registers,
    help: '1 while quota is reserved in the ledger or in Valkey, 0 while this process counts in memory only.',
    collect() {
      this.set(figures.storeIsDown() ? 0 : 1);
    },
  });
  const failures = new Counter({
    name: 'doorplate_limits_store_failures_total',
    registers,
    help: 'Times that the ledger or Valkey could no longer be asked.',
    collect() {
      this.reset();
      this.inc(figures.storeFailures());
    },
  });
  const bans = new Counter({
    name: 'doorplate_bans_total',
    help: 'Bans of API keys that this process began.',
    registers,
    collect() {
      this.reset();
      this.inc(figures.bansBegun());
    },
  });
  const active = new Gauge({
    name: 'doorplate_bans_active',
    help: 'API keys that are banned now.',
    registers,
    collect() {
      this.set(figures.activeBans());
    },
  });
  const offset = new Gauge({
    name: 'doorplate_clock_offset_seconds',
    registers,
    help: "How far the system's clock is ahead of the time that limits go by: a clock that was set is not believed.",
    collect() {
      this.set(figures.clockOffsetMs() / 1000);
    },
  });
  return [
    decisions,
    up,
    failures,
    bans,
    active,
    offset,
    usageMetric(registry, figures),
    journalMetric(registry, figures),
  ];
}

function journalMetric(registry: Registry, {journaled}: Pick<LimitFigures, 'journaled'>): Metric {
  return new Counter({
    name: 'doorplate_audit_records_total',
    labelNames: ['result'],
    registers: [registry],
    help: 'Changes through the API, by what became of their record for GET /v1/audit: written or lost. The log has all of them.',
    collect() {
      const {written, lost} = journaled();
      this.reset();
      this.inc({result: 'written'}, written);
      this.inc({result: 'lost'}, lost);
    },
  });
}

const usageMetric = (registry: Registry, figures: LimitFigures): Metric =>
  new Counter({
    name: 'doorplate_usage_lost_total',
    registers: [registry],
    help: 'Requests that usage does not show, because it could not be stored for too long.',
    collect() {
      this.reset();
      this.inc(figures.usageLost());
    },
  });
