import {Counter, Gauge, Registry, collectDefaultMetrics} from 'prom-client';

/** A registry with the process's own metrics. */
export function makeRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({register: registry});
  return registry;
}

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
  /** Read when somebody looks: the hostnames of all CustomDomains, as their status has them. */
  certificates: (hosts: () => Iterable<{reason: string; certificate?: {notAfter?: string}}>) => [
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
      help: 'Certificates of hostnames that should have been renewed by now, by reason: RenewalOverdue (served still) or CertificateExpired.',
      labelNames: ['reason'],
      registers: [registry],
      collect() {
        const all = [...hosts()];
        for (const reason of ['RenewalOverdue', 'CertificateExpired'])
          this.set({reason}, all.filter((h) => h.reason === reason).length);
      },
    }),
  ],
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
  lookErrors: new Counter({
    name: 'doorplate_look_errors_total',
    help: 'DNS checks and edge probes that failed unexpectedly.',
    registers: [registry],
  }),
});
