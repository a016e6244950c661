import {Counter, Gauge, Histogram, Registry, collectDefaultMetrics} from 'prom-client';
import {version} from '../version.ts';

/** A registry with the process's own metrics. */
export function makeRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({register: registry});
  buildInfo(registry);
  return registry;
}

/** Registers the gauge whose label has the version: queries join it to other metrics of the same Pod. */
export function buildInfo(registry: Registry): void {
  new Gauge({
    name: 'doorplate_build_info',
    help: 'Always 1. The label is the version of Doorplate.',
    labelNames: ['version'],
    registers: [registry],
  }).set({version}, 1);
}

/** Seconds, minutes, hours, days: how long customers and a CA take. */
const longBuckets = [5, 15, 30, 60, 120, 300, 600, 1800, 3600, 14_400, 43_200, 86_400, 172_800, 604_800];

/** Doorplate's own metrics. A hostname is never a label. */
export const domainMetrics = (registry: Registry) => ({
  dnsChecks: new Counter({
    name: 'doorplate_dns_checks_total',
    help: 'DNS checks of hostnames, by verdict: `Proven` (verified) or the reason.',
    labelNames: ['verdict'],
    registers: [registry],
  }),
  dnsDurations: new Histogram({
    name: 'doorplate_dns_check_duration_seconds',
    help: 'Duration of DNS checks, by result: `Proven` (verified), `Refuted`, or `Unknown` if a server gave no answer.',
    labelNames: ['result'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10],
    registers: [registry],
  }),
  addedToVerified: new Histogram({
    name: 'doorplate_added_to_verified_seconds',
    help: 'Time from the addition of a hostname to its verification through DNS. Each attempt counts once.',
    buckets: longBuckets,
    registers: [registry],
  }),
  verifiedToLive: new Histogram({
    name: 'doorplate_verified_to_live_seconds',
    help: 'Time from the verification of a hostname to its first presentation at the edge with its certificate. Each attempt counts once.',
    buckets: longBuckets,
    registers: [registry],
  }),
  edgeProbes: new Counter({
    name: 'doorplate_edge_probes_total',
    help: 'Edge probes, by result: presented (a certificate) or unreachable.',
    labelNames: ['result'],
    registers: [registry],
  }),
  edgeSearches: new Counter({
    name: 'doorplate_edge_searches_total',
    help:
      'Lookups of the addresses of the edge, with edge.hostname or the status of edge.service, by result: found or failed. ' +
      'After a failure the known addresses stay.',
    labelNames: ['result'],
    registers: [registry],
  }),
  /** Set once: a change of the settings is another process. */
  admissionPolicy: (denies: {account: boolean; other: boolean}) => {
    const gauge = new Gauge({
      name: 'doorplate_admission_policy_denies',
      help:
        '1 if the admission policy refuses routes, certificates and Secrets of other writers, otherwise 0. The label is account for ' +
        'namespaces of an Account, and other for all other namespaces.',
      labelNames: ['namespaces'],
      registers: [registry],
    });
    for (const [namespaces, denied] of Object.entries(denies)) gauge.set({namespaces}, Number(denied));
  },
  lookErrors: new Counter({
    name: 'doorplate_look_errors_total',
    help: 'DNS checks and edge probes with an unexpected error.',
    registers: [registry],
  }),
});

/** What the API counts. Never a tenant, a key or a hostname as a label. */
export const apiMetrics = (registry: Registry) => ({
  answers: new Histogram({
    name: 'doorplate_api_request_duration_seconds',
    help: 'Number and duration of the answers of the API, by registered path.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.025, 0.1, 0.5, 2, 10],
    registers: [registry],
  }),
  decisions: new Histogram({
    name: 'doorplate_authorize_duration_seconds',
    help: "Number and duration of decisions about requests to the platform's own APIs, by the status of the client's answer.",
    labelNames: ['status'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2],
    registers: [registry],
  }),
  refusals: new Counter({
    name: 'doorplate_api_refusals_total',
    help: 'Refused requests, by cause: rate-limited or key-banned.',
    labelNames: ['why'],
    registers: [registry],
  }),
  streams: new Gauge({
    name: 'doorplate_api_event_streams',
    help: 'Open event streams.',
    labelNames: ['route'],
    registers: [registry],
  }),
  streamEnds: new Counter({
    name: 'doorplate_api_event_streams_ended_total',
    help: 'Ended event streams, by cause: client-left, not-read (the client did not read), access-ended, project-deleted or stopping.',
    labelNames: ['route', 'why'],
    registers: [registry],
  }),
  streamEvents: new Counter({
    name: 'doorplate_api_events_sent_total',
    help: 'Events sent in event streams.',
    labelNames: ['route'],
    registers: [registry],
  }),
});
