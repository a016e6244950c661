import {Counter, Gauge, Histogram, type Registry} from 'prom-client';

/** The kit's metrics, under controller-runtime's and client-go's names, so that existing dashboards and alerts work. */
export interface KitMetrics {
  restClientRequests: Counter<'code' | 'method' | 'host'>;
  queueDepth: Gauge<'name' | 'controller'>;
  queueAdds: Counter<'name' | 'controller'>;
  queueDuration: Histogram<'name' | 'controller'>;
  workDuration: Histogram<'name' | 'controller'>;
  queueRetries: Counter<'name' | 'controller'>;
  reconciles: Counter<'controller' | 'result'>;
  reconcileErrors: Counter<'controller'>;
  terminalErrors: Counter<'controller'>;
  reconcileTime: Histogram<'controller'>;
  activeWorkers: Gauge<'controller'>;
  maxWorkers: Gauge<'controller'>;
  leaderElectionStatus: Gauge<'name'>;
}

/** From 10 µs to 1000 s. */
const queueBuckets = [1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000];
const reconcileBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/** Registers all of them; once a registry. */
export function kitMetrics(registry: Registry): KitMetrics {
  const registers = [registry];
  const queue = ['name', 'controller'] as const;
  const controller = ['controller'] as const;
  return {
    restClientRequests: new Counter({
      name: 'rest_client_requests_total',
      help: 'HTTP requests to the API server, by status code, method and host.',
      labelNames: ['code', 'method', 'host'],
      registers,
    }),
    queueDepth: new Gauge({
      name: 'workqueue_depth',
      help: 'Keys that wait for a worker.',
      labelNames: queue,
      registers,
    }),
    queueAdds: new Counter({name: 'workqueue_adds_total', help: 'Keys that became due.', labelNames: queue, registers}),
    queueDuration: new Histogram({
      name: 'workqueue_queue_duration_seconds',
      help: 'How long a due key waited for a worker.',
      labelNames: queue,
      buckets: queueBuckets,
      registers,
    }),
    workDuration: new Histogram({
      name: 'workqueue_work_duration_seconds',
      help: 'How long a key was worked on.',
      labelNames: queue,
      buckets: queueBuckets,
      registers,
    }),
    queueRetries: new Counter({
      name: 'workqueue_retries_total',
      help: 'Keys put back after a failure.',
      labelNames: queue,
      registers,
    }),
    reconciles: new Counter({
      name: 'controller_runtime_reconcile_total',
      help: 'Reconciles, by result: success, requeue_after, requeue (a conflict), error.',
      labelNames: ['controller', 'result'],
      registers,
    }),
    reconcileErrors: new Counter({
      name: 'controller_runtime_reconcile_errors_total',
      help: 'Reconciles that failed.',
      labelNames: controller,
      registers,
    }),
    terminalErrors: new Counter({
      name: 'controller_runtime_terminal_reconcile_errors_total',
      help: 'Reconciles that failed and are not retried.',
      labelNames: controller,
      registers,
    }),
    reconcileTime: new Histogram({
      name: 'controller_runtime_reconcile_time_seconds',
      help: 'How long a reconcile took.',
      labelNames: controller,
      buckets: reconcileBuckets,
      registers,
    }),
    activeWorkers: new Gauge({
      name: 'controller_runtime_active_workers',
      help: 'Reconciles that run now.',
      labelNames: controller,
      registers,
    }),
    maxWorkers: new Gauge({
      name: 'controller_runtime_max_concurrent_reconciles',
      help: 'Reconciles that may run at once.',
      labelNames: controller,
      registers,
    }),
    leaderElectionStatus: new Gauge({
      name: 'leader_election_master_status',
      help: '1 while this process leads, by lease, else 0.',
      labelNames: ['name'],
      registers,
    }),
  };
}
