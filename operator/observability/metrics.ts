import {Counter, Gauge, Histogram, Registry, collectDefaultMetrics} from 'prom-client';

/** A registry with the process's own metrics. */
export function makeRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({register: registry});
  return registry;
}

/** The hostnames of all CustomDomains, as their status has them; read when somebody looks. */
type Hosts = () => Iterable<{reason: string; certificate?: {notAfter?: string}}>;

const certificateMetrics = (registry: Registry, hosts: Hosts) => [
  new Gauge({
    name: 'doorplate_certificate_expiry_timestamp_seconds',
    help: 'When the first of all certificates of hostnames expires, Unix time; absent while there is none.',
    registers: [registry],
    collect() {
      const times = [...hosts()].flatMap((h) =>
        h.certificate?.notAfter === undefined ? [] : Date.parse(h.certificate.notAfter) / 1000,
      );
      this.remove();
      if (times.length > 0) this.set(times.reduce((a, b) => Math.min(a, b)));
    },
  }),
  new Gauge({
    name: 'doorplate_certificates_late',
    help:
      'Certificates of hostnames that should have been renewed by now, ' +
      'by reason: RenewalOverdue (served still) or CertificateExpired.',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      const all = [...hosts()];
      for (const reason of ['RenewalOverdue', 'CertificateExpired'])
        this.set({reason}, all.filter((h) => h.reason === reason).length);
    },
  }),
];

/** Counted when somebody looks. */
const plainHttpMetric = (registry: Registry, count: () => number) =>
  new Gauge({
    name: 'doorplate_plain_http_rivals',
    help: "Others' Ingresses without a host, which may answer plain HTTP of every hostname in place of Doorplate's.",
    registers: [registry],
    collect() {
      this.set(count());
    },
  });

/** What Doorplate counts of its own. Never a hostname as a label. */
export const domainMetrics = (registry: Registry) => ({
  dnsChecks: new Counter({
    name: 'doorplate_dns_checks_total',
    help: 'DNS checks of hostnames, by verdict: Proven or the reason.',
    labelNames: ['verdict'],
    registers: [registry],
  }),
  edgeProbes: new Counter({
    name: 'doorplate_edge_probes_total',
    help: 'Looks at an address of the edge: presented (a certificate) or unreachable.',
    labelNames: ['result'],
    registers: [registry],
  }),
  /** Counted when somebody looks. */
  domainsWithoutPlan: (count: () => number) =>
    new Gauge({
      name: 'doorplate_customdomains_without_plan',
      help: 'CustomDomains in a namespace whose Account, or its Plan, does not exist: nothing new is accepted there.',
      registers: [registry],
      collect() {
        this.set(count());
      },
    }),
  certificates: (hosts: Hosts) => certificateMetrics(registry, hosts),
  plainHttpRivals: (count: () => number) => plainHttpMetric(registry, count),
  /** Counted when somebody looks. */
  ordersWaiting: (count: () => number) =>
    new Gauge({
      name: 'doorplate_orders_waiting',
      help: 'Hostnames whose order waits for room in the budget of the ACME account.',
      registers: [registry],
      collect() {
        this.set(count());
      },
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
});
