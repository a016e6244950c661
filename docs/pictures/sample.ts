/**
 * Sample metrics of a platform for the picture of the dashboard: twelve hours, in the OpenMetrics text format that promtool reads. The
 * operator's own code registers the metrics, so their names, labels and buckets are real. The values are invented, and equal in each run.
 * The platform has 900 domains. A tenant adds 400 more, and the budget for orders is used up.
 */
import {type MetricObjectWithValues, type MetricValue, Gauge, Registry} from 'prom-client';
import {kitMetrics} from '../../operator/kube/metrics.ts';
import {limitMetrics} from '../../operator/limits/metrics.ts';
import {apiMetrics, domainMetrics} from '../../operator/observability/metrics.ts';
import {type LeaderFacts, standingMetrics} from '../../operator/observability/standing-metrics.ts';

/** The last minute of the sample, in seconds since the epoch. */
export const end = Date.UTC(2026, 10, 26, 15) / 1000;
const minutes = 12 * 60;
const secondsAt = (minute: number): number => end + (minute - minutes) * 60;

type Minutes = readonly [from: number, to: number];
const during = ([from, to]: Minutes, minute: number): boolean => minute >= from && minute < to;
/** The tenant adds its domains. */
const bulk: Minutes = [530, 564];
const banned: Minutes = [560, 575];
const budget = {limit: 300, perMs: 10_800_000};
/** The second issuer of the platform, and its certificates: of hostnames with CAA records that forbid the first issuer. */
const second = {issuer: 'google', certificates: 38, limit: 50, perMs: 3_600_000};

let last = 7;
/** Numbers between 0 and 1, equal in each run (Park and Miller). */
function random(): number {
  last = (last * 16_807) % 2_147_483_647;
  return last / 2_147_483_647;
}
/** Whole numbers around a mean. */
const around = (mean: number): number => Math.floor(mean * (0.6 + 0.8 * random()) + random());
const times = (count: number, act: () => void): void => Array.from({length: count}).forEach(act);

/** A new hostname. All times are minutes. */
interface Added {
  at: number;
  reason: 'RecordMissing' | 'ConflictingRecord';
  verified: number;
  ordered: number;
  live: number;
}

/** The hostnames that wait for one reason, since a time of theirs. */
const group = (waitingFor: string, reason: string, hosts: Added[], since: 'at' | 'verified' | 'ordered') => ({
  waitingFor,
  reason,
  count: hosts.length,
  oldest: secondsAt(Math.min(...hosts.map((host) => host[since]))) * 1000,
});

/** The hostnames of the platform, from minute to minute. */
class Hostnames {
  minute = 0;
  readonly added: Added[] = [];
  readonly #before = 900;
  #toMove = 64;
  readonly #orders: number[] = [];

  pass(minute: number): void {
    this.minute = minute;
    const bulkNow = during(bulk, minute);
    times(bulkNow ? 12 : around(0.3), () => {
      const conflicts = random() < 0.05;
      const takes = bulkNow ? 15 + random() * 40 : 3 + 90 * random() ** 4;
      const never = conflicts || random() < 0.06 ? 5000 : 0;
      const reason = conflicts ? 'ConflictingRecord' : 'RecordMissing';
      this.added.push({at: minute, reason, verified: minute + takes + never, ordered: Infinity, live: Infinity});
    });
    for (const host of this.queue()) {
      if (this.used() >= budget.limit) break;
      [host.ordered, host.live] = [minute, minute + 1 + Math.floor(random() * 2)];
      this.#orders.push(minute);
    }
    if (minute % 12 === 0 && this.#toMove > 0 && this.used() < budget.limit) {
      this.#toMove--;
      this.#orders.push(minute);
    }
  }

  used = (): number => this.#orders.filter((at) => at > this.minute - budget.perMs / 60_000).length;
  queue = (): Added[] => this.added.filter((h) => h.verified <= this.minute && h.ordered > this.minute);
  issuing = (): Added[] => this.added.filter((h) => h.ordered <= this.minute && h.live > this.minute);
  live = (): number => this.#before + this.added.filter((h) => h.live <= this.minute).length;
  unverified = (reason?: Added['reason']): Added[] =>
    this.added.filter((h) => h.verified > this.minute && (reason === undefined || h.reason === reason));

  /** The facts that the leading operator exposes. */
  facts(): LeaderFacts {
    return {
      phases: () => [
        ['Live', this.live()],
        ['AwaitingVerification', this.unverified().length],
        ['Verified', this.queue().length + this.issuing().length],
      ],
      waiting: () => [
        group('Customer', 'RecordMissing', this.unverified('RecordMissing'), 'at'),
        group('Customer', 'ConflictingRecord', this.unverified('ConflictingRecord'), 'at'),
        group('Nobody', 'IssuanceQueued', this.queue(), 'verified'),
        group('CertificateAuthority', 'Issuing', this.issuing(), 'ordered'),
      ],
      degraded: () => [],
      edgeAddresses: () => [['192.0.2.1:443', true]],
      certificates: () => [
        ['Ready', this.live()],
        ['Issuing', this.issuing().length],
        ['Resting', 17],
        ['Expiring', 0],
      ],
      firstEnd: () => (end + 30 * 86_400) * 1000,
      certificatesToMove: () => this.#toMove,
      certificatesInUse: () => [
        ['letsencrypt', this.live() - this.#toMove - second.certificates],
        [second.issuer, second.certificates],
        ['Other', this.#toMove],
      ],
      issuersAvailable: () => ['letsencrypt', second.issuer].map((issuer) => [issuer, true] as const),
      certificatesRepeated: () => 0,
      claims: () => [
        ['Held', this.#before + this.added.length],
        ['Quarantined', 124 + Math.floor(this.minute / 20)],
      ],
      ordersWaiting: () => [
        {issuer: 'letsencrypt', waiting: this.queue().length},
        {issuer: second.issuer, waiting: 0},
      ],
      budget: () => [
        {...budget, issuer: 'letsencrypt', used: this.used()},
        {...second, used: 0},
      ],
      domainsWithoutPlan: () => 0,
      plainHttpRivals: () => 0,
      preflight: () => ['edge', 'issuer', 'dns', 'wildcard'].map((question) => [question, true] as const),
    };
  }
}

/** Registers metrics. Returns a function that counts the work of a minute. */
type Work = (registry: Registry) => () => void;

/** A Pod with the metrics of every process. `up` is the metric that Prometheus itself adds. */
function podOf(role: string, id: string, memoryMiB: number, workOf: Work) {
  const registry = new Registry();
  const gauge = (name: string) => new Gauge({name, help: name, registers: [registry]});
  const [up, memory, loop] = ['up', 'process_resident_memory_bytes', 'nodejs_eventloop_lag_p99_seconds'].map(gauge);
  const work = workOf(registry);
  return {
    role,
    name: `doorplate-${role}-${id}`,
    registry,
    pass() {
      up!.set(1);
      memory!.set((memoryMiB + 6 * random()) * 2 ** 20);
      loop!.set(0.0102 + memoryMiB * 1e-5 + 0.0003 * random());
      work();
    },
  };
}

const host = '10.96.0.1';

const leader =
  (hostnames: Hostnames): Work =>
  (registry) => {
    const kit = kitMetrics(registry);
    const own = domainMetrics(registry);
    standingMetrics(registry, () => hostnames.facts());
    const check = (verdict: string, result: string, seconds: number): void => {
      own.dnsChecks.inc({verdict});
      own.dnsDurations.observe({result}, seconds * (0.4 + random()));
    };
    return () => {
      const {minute} = hostnames;
      times(around(hostnames.live() / 60), () => check('Proven', 'Proven', 0.06));
      for (const {reason, at} of hostnames.unverified())
        if (random() < 20 / (20 + minute - at)) check(reason, 'Refuted', 0.12);
      times(around(during([600, 625], minute) ? 3 : 0.3), () => check('ResolverFailure', 'Unknown', 3));
      const changed = hostnames.added.filter((h) => Math.ceil(h.verified) === minute);
      for (const {at, verified} of changed) own.addedToVerified.observe((verified - at) * 60);
      const done = hostnames.added.filter((h) => h.live === minute);
      for (const {live, verified} of done) own.verifiedToLive.observe(Math.max(0.2, live - verified) * 60);
      own.edgeProbes.inc({result: 'presented'}, around(6 + 4 * done.length));
      own.edgeProbes.inc({result: 'unreachable'}, around(during([640, 655], minute) ? 4 : 0));
      const news = changed.length + done.length;
      kit.reconciles.inc({controller: 'customdomain', result: 'success'}, around(30 + 5 * news));
      kit.reconciles.inc({controller: 'customdomain', result: 'requeue'}, around(0.1 + 0.2 * news));
      kit.reconciles.inc({controller: 'project', result: 'success'}, around(12));
      kit.queueDepth.set({name: 'customdomain', controller: 'customdomain'}, around(0.3 + news));
      kit.queueDepth.set({name: 'project', controller: 'project'}, around(0.2));
      kit.restClientRequests.inc({code: '200', method: 'PATCH', host}, around(24 + 6 * news));
      kit.restClientRequests.inc({code: '201', method: 'POST', host}, around(3 + 3 * news));
      kit.restClientRequests.inc({code: '409', method: 'PATCH', host}, around(0.1 + 0.2 * news));
    };
  };

/** A Pod that reads objects and writes none. */
function reader(registry: Registry): () => void {
  const {restClientRequests} = kitMetrics(registry);
  return () => restClientRequests.inc({code: '200', method: 'GET', host}, around(4));
}

const api =
  (hostnames: Hostnames): Work =>
  (registry) => {
    const pass = reader(registry);
    const {answers, refusals, streams, streamEvents, streamEnds} = apiMetrics(registry);
    limitMetrics(registry, {
      decisions: () => ({admitted: 0, refused: 0}),
      storeIsDown: () => false,
      storeFailures: () => 0,
      bansBegun: () => 0,
      activeBans: () => Number(during(banned, hostnames.minute)),
      clockOffsetMs: () => 0,
      usageLost: () => 0,
      journaled: () => ({written: 0, lost: 0}),
    });
    const answer = (method: string, status: string, seconds: number): void =>
      answers.observe({method, route: '/v1/domains', status}, seconds * (0.3 + 2 * random() ** 3));
    const route = '/v1/events';
    return () => {
      pass();
      const {minute} = hostnames;
      const adding = during(bulk, minute) ? 5 : 0.1;
      times(around(70 + 20 * Math.sin(minute / 110)), () => answer('GET', '200', 0.012));
      times(around(adding), () => answer('POST', '201', 0.06));
      times(around(1.5), () => answer('GET', '404', 0.006));
      const limited = around(during([545, 560], minute) ? 20 : 0.2);
      times(limited, () => answer('GET', '429', 0.002));
      refusals.inc({why: 'rate-limited'}, limited);
      refusals.inc({why: 'key-banned'}, during(banned, minute) ? around(12) : 0);
      streams.set({route}, 14 + Math.round(4 * Math.sin(minute / 90)));
      streamEvents.inc({route}, around(90 + 30 * adding));
      streamEnds.inc({route, why: 'client-left'}, around(1.5));
    };
  };

/** A metric as a registry returns it. Each value of a histogram has its own name. */
type Values = MetricObjectWithValues<MetricValue<string> & {metricName?: string}>;

/** The text, with the metrics that `isWanted` selects. `labels`: those that Prometheus adds to each Pod. */
export async function sample(isWanted: (name: string) => boolean, labels: Record<string, string>): Promise<string> {
  const hostnames = new Hostnames();
  const pods = [
    podOf('operator', '6c9f7d8b5-k2xqv', 148, leader(hostnames)),
    podOf('operator', '6c9f7d8b5-zt4hn', 122, reader),
    podOf('redirector', '5d4b98c7f-7m2pl', 66, reader),
    podOf('redirector', '5d4b98c7f-rv8wd', 79, reader),
    podOf('api', '79c6b5f44-9hxtj', 101, api(hostnames)),
  ];
  const lines: string[] = [];
  for (let minute = 0; minute <= minutes; minute++) {
    hostnames.pass(minute);
    for (const {role, name: pod, registry, pass} of pods) {
      pass();
      for (const {name, values} of (await registry.getMetricsAsJSON()) as Values[])
        for (const {metricName = name, labels: own, value} of isWanted(name) ? values : []) {
          const all = Object.entries({...labels, role, pod, ...own}).map(([label, text]) => `${label}="${text}"`);
          lines.push(`${metricName}{${all.join(',')}} ${value} ${secondsAt(minute)}`);
        }
    }
  }
  return `${lines.join('\n')}\n# EOF\n`;
}
