/** When each alert fires: what Prometheus has seen of a release, in promtool's words (a value for each minute from 0 on). */
export interface Case {
  alert: string;
  /** Series in place of those of a release at which nothing is wrong; SELECTOR becomes the release's labels. */
  series: Record<string, string>;
  /** Nothing fires then, */
  quiet: string;
  /** and the alert does then, with these labels besides its own, and says this. */
  fires: string;
  labels: Record<string, string>;
  says: string;
}

const waitingSince = (waitingFor: string, reason: string): string =>
  `doorplate_hostnames_waiting_since_timestamp_seconds{SELECTOR,waiting_for="${waitingFor}",reason="${reason}"}`;
const checks = (verdict: string): string => `doorplate_dns_checks_total{SELECTOR,verdict="${verdict}"}`;
const leader = 'leader_election_master_status{SELECTOR,role="operator",pod="a"}';
const errors = 'controller_runtime_reconcile_errors_total{SELECTOR,role="operator",controller="customdomain"}';
const stalled = 'doorplate_hostnames_waiting{SELECTOR,waiting_for="Platform",reason="IssuanceStalled"}';
const budget = (of: 'used' | 'limit', issuer: string): string =>
  `doorplate_order_budget_${of}{SELECTOR,issuer="${issuer}",window_seconds="10800"}`;
const used = budget('used', 'letsencrypt');
const available = (issuer: string): string => `doorplate_issuer_available{SELECTOR,issuer="${issuer}"}`;
const expiring = 'doorplate_certificates{SELECTOR,state="Expiring"}';
const repeated = 'doorplate_certificates_requested_repeatedly{SELECTOR}';
const addressServes = (edge: string): string =>
  `doorplate_edge_address_serving{SELECTOR,role="operator",edge="${edge}"}`;
const lost = 'doorplate_hostnames_degraded{SELECTOR,reason="CertificateLost"}';
const unreadable = 'cache_unreadable_objects{SELECTOR,role="operator",resource="services"}';
const denies = 'doorplate_admission_policy_denies{SELECTOR,namespaces="account"}';
const rivals = 'doorplate_plain_http_rivals{SELECTOR}';
const preflight = (question: string): string =>
  `doorplate_preflight_ok{SELECTOR,role="operator",question="${question}"}`;
const up = (role: string): string => `up{SELECTOR,role="${role}"}`;
const store = 'doorplate_limits_store_up{SELECTOR,role="api"}';

/** A release at which nothing is wrong, for four hours: customers have to act, a few checks fail, half of the budget of one of two issuers is used. */
export const healthy: Record<string, string> = {
  [leader]: '1x240',
  'leader_election_master_status{SELECTOR,role="operator",pod="b"}': '0x240',
  [errors]: '7x240',
  [waitingSince('Customer', 'RecordMissing')]: '0x240',
  [stalled]: '0x240',
  [used]: '150x240',
  [budget('limit', 'letsencrypt')]: '300x240',
  [budget('used', 'google')]: '0x240',
  [budget('limit', 'google')]: '1000x240',
  [available('letsencrypt')]: '1x240',
  [available('google')]: '1x240',
  [expiring]: '0x240',
  [repeated]: '0x240',
  [addressServes('192.0.2.1:443')]: '1x240',
  [addressServes('192.0.2.2:443')]: '1x240',
  [lost]: '0x240',
  [checks('Proven')]: '0+10x240',
  [checks('ResolverFailure')]: '0+1x240',
  [unreadable]: '0x240',
  [denies]: '1x240',
  [preflight('issuer')]: '1x240',
  [preflight('wildcard')]: '1x240',
  [rivals]: '0x240',
  'doorplate_admission_policy_denies{SELECTOR,namespaces="other"}': '0x240',
  [up('operator')]: '1x240',
  [up('redirector')]: '1x240',
  [up('api')]: '1x240',
  [store]: '1x240',
};

export const cases: readonly Case[] = [
  {
    alert: 'DoorplateNotLeading',
    series: {[leader]: '1x10 0x230'},
    quiet: '12m',
    fires: '14m',
    labels: {},
    says: 'No operator of Doorplate leads',
  },
  {
    alert: 'DoorplateNotLeading',
    series: {[leader]: '1x10', 'leader_election_master_status{SELECTOR,role="operator",pod="b"}': '0x10'},
    quiet: '16m',
    fires: '19m',
    labels: {},
    says: 'No operator of Doorplate leads',
  },
  {
    alert: 'DoorplateReconcileErrors',
    series: {[errors]: '0+1x240'},
    quiet: '14m',
    fires: '20m',
    labels: {controller: 'customdomain'},
    says: 'Reconciles of customdomain have failed for 15 minutes',
  },
  {
    alert: 'DoorplateEdgeAddressFails',
    series: {[addressServes('192.0.2.2:443')]: '1x10 0x230'},
    quiet: '15m',
    fires: '17m',
    labels: {edge: '192.0.2.2:443'},
    says: 'The edge at 192.0.2.2:443 has not served a sample of Live hostnames for 5 minutes',
  },
  {
    alert: 'DoorplateCertificateLost',
    series: {[lost]: '0x10 2x230'},
    quiet: '25m',
    fires: '27m',
    labels: {},
    says: '2 Live hostnames have had no valid certificate for 15 minutes',
  },
  {
    alert: 'DoorplateEdgeNotServing',
    series: {[waitingSince('Platform', 'EdgeNotServing')]: '0x240'},
    quiet: '10m',
    fires: '13m',
    labels: {reason: 'EdgeNotServing'},
    says: 'The edge has not served a hostname for more than 10 minutes (EdgeNotServing)',
  },
  {
    alert: 'DoorplateIssuanceStalled',
    series: {[stalled]: '0x10 3x230'},
    quiet: '20m',
    fires: '22m',
    labels: {},
    says: '3 hostnames have waited too long for their certificate',
  },
  {
    alert: 'DoorplateOrderBudgetNearlyUsed',
    series: {[used]: '270x10 285x230'},
    quiet: '20m',
    fires: '22m',
    labels: {issuer: 'letsencrypt', window_seconds: '10800'},
    says: 'The ACME account of letsencrypt has used 95% of its orders in 10800 s',
  },
  {
    alert: 'DoorplateIssuerUnavailable',
    series: {[available('letsencrypt')]: '1x10 0x230'},
    quiet: '129m',
    fires: '132m',
    labels: {issuer: 'letsencrypt'},
    says: 'Doorplate has not used the issuer letsencrypt for 2 hours, because its CA does not answer',
  },
  {
    alert: 'DoorplateCertificateRequestedRepeatedly',
    series: {[repeated]: '0x10 2x60 0x170'},
    quiet: '11m',
    fires: '13m',
    labels: {},
    says: '2 certificates were requested three times or more within an hour',
  },
  {
    alert: 'DoorplateCertificatesExpiring',
    series: {[expiring]: '2x240'},
    quiet: '119m',
    fires: '121m',
    labels: {},
    says: '2 certificates were not renewed in time: less than a third of their life is left, or they have expired',
  },
  {
    alert: 'DoorplateDNSUnreachable',
    series: {[checks('ResolverFailure')]: '0+10x240', [checks('AuthoritativeUnreachable')]: '0+20x240'},
    quiet: '15m',
    fires: '20m',
    labels: {},
    says: '75% of DNS checks reached no server',
  },
  {
    alert: 'DoorplateWaitsForPlatform',
    series: {[waitingSince('Platform', 'PlanNotFound')]: '0x240'},
    quiet: '34m',
    fires: '37m',
    labels: {reason: 'PlanNotFound'},
    says: 'A hostname has waited for the platform for more than 30 minutes (PlanNotFound)',
  },
  {
    alert: 'DoorplateObjectsUnreadable',
    series: {[unreadable]: '0x10 4x230'},
    quiet: '20m',
    fires: '22m',
    labels: {resource: 'services'},
    says: 'Doorplate skips 4 objects of services',
  },
  {
    alert: 'DoorplatePreflightFailed',
    series: {[preflight('wildcard')]: '1x10 0x230'},
    quiet: '39m',
    fires: '42m',
    labels: {question: 'wildcard'},
    says: 'A requirement of Doorplate is missing (wildcard)',
  },
  {
    alert: 'DoorplateAdmissionPolicyOpen',
    series: {[denies]: '0x240'},
    quiet: '14m',
    fires: '16m',
    labels: {},
    says: 'The admission policy of Doorplate denies nothing',
  },
  {
    alert: 'DoorplatePlainHttpContested',
    series: {[rivals]: '0x10 1x230'},
    quiet: '24m',
    fires: '27m',
    labels: {},
    says: "1 other Ingresses without a host may answer plain HTTP in place of Doorplate's",
  },
  {
    alert: 'DoorplateRedirectorDown',
    series: {[up('redirector')]: '1x10 0x230'},
    quiet: '12m',
    fires: '14m',
    labels: {},
    says: 'No redirector of Doorplate answers',
  },
  {
    alert: 'DoorplateApiDown',
    series: {[up('api')]: '1x10 0x230'},
    quiet: '12m',
    fires: '14m',
    labels: {},
    says: 'No API of Doorplate answers',
  },
  {
    alert: 'DoorplateLimitsStoreDown',
    series: {[store]: '1x10 0x230'},
    quiet: '15m',
    fires: '17m',
    labels: {},
    says: 'The API counts requests in memory only',
  },
];
