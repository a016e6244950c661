import {Counter, Gauge, Histogram, type Registry} from 'prom-client';

/** From 10 µs to 1000 s. */
const queueBuckets = [1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000];
const reconcileBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

const makersFor = (registry: Registry) => {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Counter({name, help, labelNames, registers});
  const gauge = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Gauge({name, help, labelNames, registers});
  const histogram = <L extends string>(name: string, help: string, buckets: number[], ...labelNames: L[]) =>
    new Histogram({name, help, labelNames, buckets, registers});
  return {counter, gauge, histogram};
};
type Makers = ReturnType<typeof makersFor>;

/** Metrics of each controller's queue. */
function queueMetrics({counter, gauge, histogram}: Makers) {
  return {
    queueDepth: gauge('workqueue_depth', 'Keys in the queue.', 'name', 'controller'),
    queueAdds: counter('workqueue_adds_total', 'Keys added to the queue.', 'name', 'controller'),
    queueDuration: histogram(
      'workqueue_queue_duration_seconds',
      'Waiting time of a key in the queue.',
      queueBuckets,
      'name',
      'controller',
    ),
    workDuration: histogram(
      'workqueue_work_duration_seconds',
      'Processing time of a key.',
      queueBuckets,
      'name',
      'controller',
    ),
    queueRetries: counter('workqueue_retries_total', 'Keys added again after a failure.', 'name', 'controller'),
  };
}

/** Metrics of each controller's reconciles. */
function reconcileMetrics({counter, gauge, histogram}: Makers) {
  return {
    reconciles: counter(
      'controller_runtime_reconcile_total',
      'Reconciles, by result: success, requeue_after, requeue (a conflict), error.',
      'controller',
      'result',
    ),
    reconcileErrors: counter('controller_runtime_reconcile_errors_total', 'Reconciles that failed.', 'controller'),
    terminalErrors: counter(
      'controller_runtime_terminal_reconcile_errors_total',
      'Failed reconciles without a retry.',
      'controller',
    ),
    reconcileTime: histogram(
      'controller_runtime_reconcile_time_seconds',
      'Duration of reconciles.',
      reconcileBuckets,
      'controller',
    ),
    activeWorkers: gauge('controller_runtime_active_workers', 'Running reconciles.', 'controller'),
    maxWorkers: gauge(
      'controller_runtime_max_concurrent_reconciles',
      'Maximum number of reconciles at the same time.',
      'controller',
    ),
  };
}

/** Metrics of the process: requests, leadership, dropped Events, unreadable objects. */
function otherMetrics({counter, gauge}: Makers) {
  return {
    restClientRequests: counter(
      'rest_client_requests_total',
      'HTTP requests to the API server, by status code, method and host.',
      'code',
      'method',
      'host',
    ),
    leaderElectionStatus: gauge(
      'leader_election_master_status',
      '1 if this process leads or needs no election, otherwise 0. By lease.',
      'name',
    ),
    eventsDropped: counter(
      'events_dropped_total',
      'Dropped Events: too many at the same time, or refused by the API server.',
    ),
    unreadableObjects: gauge(
      'cache_unreadable_objects',
      'Objects that this process cannot read and ignores. The log names each object.',
      'resource',
    ),
  };
}

/**
 * The kit's metrics, under controller-runtime's and client-go's names, so that existing dashboards and alerts work. Registers all
 * of them; call once per registry.
 */
export function kitMetrics(registry: Registry) {
  const makers = makersFor(registry);
  return {...otherMetrics(makers), ...queueMetrics(makers), ...reconcileMetrics(makers)};
}

export type KitMetrics = ReturnType<typeof kitMetrics>;
