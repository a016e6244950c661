/**
 * What stands in the cluster: gauges that are read when somebody scrapes, of the operator that leads alone, so that a sum over
 * all replicas counts nothing twice.
 */
import {Gauge, type Registry} from 'prom-client';

/** Facts that only the leader knows. Each is a sum, or a step for each waiting group: no walk over all domains. */
export interface LeaderFacts {
  phases: () => Iterable<readonly [phase: string, count: number]>;
  /** `oldest`: ms since the epoch; Infinity where `count` is 0. */
  waiting: () => Iterable<{waitingFor: string; reason: string; count: number; oldest: number}>;
  /** Live hostnames that do not work, by reason. */
  degraded: () => Iterable<readonly [reason: string, count: number]>;
  /** Whether the sampled Live hostnames are served at each address of the edge. */
  edgeAddresses: () => Iterable<readonly [edge: string, serves: boolean]>;
  certificates: () => Iterable<readonly [state: string, count: number]>;
  /** ms since the epoch; Infinity where there is none. */
  firstEnd: () => number;
  certificatesToMove: () => number;
  certificatesInUse: () => Iterable<readonly [issuer: string, count: number]>;
  /** Whether the CAs of several issuers are available. None if there is a single issuer. */
  issuersAvailable: () => Iterable<readonly [issuer: string, isAvailable: boolean]>;
  certificatesRepeated: () => number;
  claims: () => Iterable<readonly [state: string, count: number]>;
  ordersWaiting: () => Iterable<{issuer: string; waiting: number}>;
  /** For each limit of the account; `used`: what of it counts now. */
  budget: () => Iterable<{issuer: string; limit: number; perMs: number; used: number}>;
  domainsWithoutPlan: () => number;
  plainHttpRivals: () => number;
  preflight: () => Iterable<readonly [question: string, ok: boolean]>;
}

type MetricLabels = Record<string, string>;
type Values = Iterable<readonly [labels: MetricLabels, value: number]>;

interface Definition {
  name: string;
  help: string;
  labelNames?: string[];
  values: (standing: LeaderFacts) => Values;
}

function* counted(label: string, counts: Iterable<readonly [string, number]>): Values {
  for (const [of, count] of counts) yield [{[label]: of}, count];
}

function* waiting(standing: LeaderFacts, value: 'count' | 'oldest'): Values {
  for (const {waitingFor, reason, count, oldest} of standing.waiting())
    yield [{waiting_for: waitingFor, reason}, value === 'count' ? count : oldest / 1000];
}

function* budget(standing: LeaderFacts, value: 'limit' | 'used'): Values {
  for (const window of standing.budget())
    yield [{issuer: window.issuer, window_seconds: `${window.perMs / 1000}`}, window[value]];
}

const definitions: readonly Definition[] = [
  {
    name: 'doorplate_hostnames',
    help: 'Hostnames of CustomDomains, by phase.',
    labelNames: ['phase'],
    values: (s) => counted('phase', s.phases()),
  },
  {
    name: 'doorplate_hostnames_waiting',
    help: 'Hostnames with a next step, by the party that must act and by reason.',
    labelNames: ['waiting_for', 'reason'],
    values: (s) => waiting(s, 'count'),
  },
  {
    name: 'doorplate_hostnames_waiting_since_timestamp_seconds',
    help: 'Start of the reason at the hostname that waits longest, Unix time. Absent without such hostnames.',
    labelNames: ['waiting_for', 'reason'],
    values: (s) => waiting(s, 'oldest'),
  },
  {
    name: 'doorplate_hostnames_degraded',
    help:
      'Hostnames in the phase Live that do not work now, by reason: EdgeNotServing, EdgeUnreachable or CertificateLost. ' +
      'doorplate_hostnames{phase="Live"} counts them too.',
    labelNames: ['reason'],
    values: (s) => counted('reason', s.degraded()),
  },
  {
    name: 'doorplate_edge_address_serving',
    help:
      '1 if an address of the edge serves a sample of three Live hostnames, otherwise 0. Doorplate probes them every minute. The ' +
      'value is 0 even before the fault is confirmed.',
    labelNames: ['edge'],
    values: (s) => [...s.edgeAddresses()].map(([edge, serves]) => [{edge}, Number(serves)]),
  },
  {
    name: 'doorplate_certificates',
    help:
      'Certificates of Doorplate, by state: Ready; Issuing (no certificate yet, cert-manager issues it); NotReady; Expiring (overdue ' +
      'for renewal, with less than a third of its life left, or expired); Resting (retained for a removed hostname).',
    labelNames: ['state'],
    values: (s) => counted('state', s.certificates()),
  },
  {
    name: 'doorplate_certificate_expiry_timestamp_seconds',
    help: 'End of the certificate in use that expires first, Unix time. Absent without certificates.',
    values: (s) => [[{}, s.firstEnd() / 1000]],
  },
  {
    name: 'doorplate_certificates_to_move',
    help:
      'Certificates in use from an issuer that is not in the settings: doorplate_certificates_in_use with the issuer Other. Each moves ' +
      'when the order queue has room, the first to expire first.',
    values: (s) => [[{}, s.certificatesToMove()]],
  },
  {
    name: 'doorplate_certificates_in_use',
    help:
      'Certificates in use, by the name of their issuer, or Other for issuers that are not in the settings. After an outage of a CA ' +
      'it shows how many hostnames have moved back to its issuer.',
    labelNames: ['issuer'],
    values: (s) => counted('issuer', s.certificatesInUse()),
  },
  {
    name: 'doorplate_issuer_available',
    help:
      '1 if Doorplate may order from the issuer, 0 if its CA does not answer, or has not yet answered for ' +
      'issuerRecoveryTime again. Only with several issuers: absent with a single issuer, whose CA Doorplate does not watch.',
    labelNames: ['issuer'],
    values: (s) => [...s.issuersAvailable()].map(([issuer, isAvailable]) => [{issuer}, Number(isAvailable)]),
  },
  {
    name: 'doorplate_certificates_requested_repeatedly',
    help: 'Certificates with three or more CertificateRequests within the last hour. The log names each at its third request.',
    values: (s) => [[{}, s.certificatesRepeated()]],
  },
  {
    name: 'doorplate_claims',
    help: 'Claims of hostnames, by state: Held (attached), or Quarantined (reserved for the tenant that removed the hostname).',
    labelNames: ['state'],
    values: (s) => counted('state', s.claims()),
  },
  {
    name: 'doorplate_orders_waiting',
    help: 'Hostnames in the order queue: their orders wait for budget of the ACME account, by issuer.',
    labelNames: ['issuer'],
    values: (s) => [...s.ordersWaiting()].map(({issuer, waiting: count}) => [{issuer}, count] as const),
  },
  {
    name: 'doorplate_order_budget_used',
    help: 'Tokens that orders have taken from the buckets of budgets.account, by issuer and the time in which a bucket refills.',
    labelNames: ['issuer', 'window_seconds'],
    values: (s) => budget(s, 'used'),
  },
  {
    name: 'doorplate_order_budget_limit',
    help: 'Size of that bucket: orders of the ACME account that are possible at once.',
    labelNames: ['issuer', 'window_seconds'],
    values: (s) => budget(s, 'limit'),
  },
  {
    name: 'doorplate_customdomains_without_plan',
    help: 'CustomDomains in a namespace with a missing Account or Plan. Doorplate accepts no new hostnames there.',
    values: (s) => [[{}, s.domainsWithoutPlan()]],
  },
  {
    name: 'doorplate_plain_http_rivals',
    help: "Ingresses of other writers without a host. They may answer plain HTTP of every hostname in place of Doorplate's Ingress.",
    values: (s) => [[{}, s.plainHttpRivals()]],
  },
  {
    name: 'doorplate_preflight_ok',
    help:
      'Checks of helm test: 1 if good, 0 if failed, by question. The leading operator runs them at its start, and again while any ' +
      'check fails. It repeats ari each hour. Absent if the result is unknown.',
    labelNames: ['question'],
    values: (s) => [...s.preflight()].map(([question, ok]) => [{question}, Number(ok)]),
  },
];

/** Registers them. `standing`: undefined of one that stands by, which tells nothing. A value of Infinity is left out. */
export function standingMetrics(registry: Registry, standing: () => LeaderFacts | undefined): void {
  for (const {name, help, labelNames = [], values} of definitions) {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        gauge.reset();
        if (labelNames.length === 0) gauge.remove();
        const now = standing();
        for (const [labels, value] of now ? values(now) : []) if (value !== Infinity) gauge.set(labels, value);
      },
    });
  }
}
