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
    help: 'Always 1. The label has the version of Doorplate.',
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
    help: 'DNS checks of hostnames, by verdict: Proven or the reason.',
    labelNames: ['verdict'],
    registers: [registry],
  }),
  dnsDurations: new Histogram({
    name: 'doorplate_dns_check_duration_seconds',
    help: 'How long DNS checks took, by what they found: Proven, Refuted, or Unknown where somebody could not be asked.',
    labelNames: ['result'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10],
    registers: [registry],
  }),
  addedToVerified: new Histogram({
    name: 'doorplate_added_to_verified_seconds',
    help: 'How long hostnames took from being added to being proven by DNS; each attempt counts once.',
    buckets: longBuckets,
    registers: [registry],
  }),
  verifiedToLive: new Histogram({
    name: 'doorplate_verified_to_live_seconds',
    help: 'How long hostnames took from being proven to being seen on the edge with their certificate; each attempt counts once.',
    buckets: longBuckets,
    registers: [registry],
  }),
  edgeProbes: new Counter({
    name: 'doorplate_edge_probes_total',
    help: 'Looks at an address of the edge: presented (a certificate) or unreachable.',
    labelNames: ['result'],
    registers: [registry],
  }),
  edgeSearches: new Counter({
    name: 'doorplate_edge_searches_total',
    help:
      'Times that the addresses of the edge were asked for, by edge.hostname or by the status of edge.service: found or failed. ' +
      'After a failure what was known stays.',
    labelNames: ['result'],
    registers: [registry],
  }),
  /** Set once: a change of the settings is another process. */
  admissionPolicy: (denies: {account: boolean; other: boolean}) => {
    const gauge = new Gauge({
      name: 'doorplate_admission_policy_denies',
      help:
        "Whether the admission policy refuses others' routes, certificates and Secrets of hostnames (1 or 0), " +
        'in the namespaces of an Account (account) and in all others (other).',
      labelNames: ['namespaces'],
      registers: [registry],
    });
    for (const [namespaces, denied] of Object.entries(denies)) gauge.set({namespaces}, Number(denied));
  },
  lookErrors: new Counter({
    name: 'doorplate_look_errors_total',
    help: 'DNS checks and edge probes that failed unexpectedly.',
    registers: [registry],
  }),
});

/** What the API counts. Never a tenant, a key or a hostname as a label. */
export const apiMetrics = (registry: Registry) => ({
  answers: new Histogram({
    name: 'doorplate_api_request_duration_seconds',
    help: 'Answers of the API: how many, by path as it is registered, and how long they took.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.025, 0.1, 0.5, 2, 10],
    registers: [registry],
  }),
  decisions: new Histogram({
    name: 'doorplate_authorize_duration_seconds',
    help: "Requests to the platform's own APIs that were decided: how many, by the status that the client gets, and how long it took.",
    labelNames: ['status'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2],
    registers: [registry],
  }),
  refusals: new Counter({
    name: 'doorplate_api_refusals_total',
    help: 'Requests that were refused, by why: rate-limited or key-banned.',
    labelNames: ['why'],
    registers: [registry],
  }),
  streams: new Gauge({
    name: 'doorplate_api_event_streams',
    help: 'Event streams that are open now.',
    labelNames: ['route'],
    registers: [registry],
  }),
  streamEnds: new Counter({
    name: 'doorplate_api_event_streams_ended_total',
    help: 'Event streams that ended, by why: client-left, not-read (the client did not read), access-ended, project-deleted or stopping.',
    labelNames: ['route', 'why'],
    registers: [registry],
  }),
  streamEvents: new Counter({
    name: 'doorplate_api_events_sent_total',
    help: 'Events that were written to event streams.',
    labelNames: ['route'],
    registers: [registry],
  }),
});
