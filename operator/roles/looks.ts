/** How the operator looks at the outside: who is asked, how many at once, and what is counted. */
import type {Caches} from '../controllers/state/caches.ts';
import {CheckRates} from '../controllers/probes/check-rates.ts';
import {check, type CheckOptions} from '../controllers/probes/dns-check.ts';
import type {CheckTimes} from '../controllers/state/check-times.ts';
import {EdgeAddresses} from '../controllers/state/edge-addresses.ts';
import {IssuanceReader} from '../controllers/probes/issuance-reader.ts';
import type {Cas} from '../controllers/state/cas.ts';
import {EdgeHealth, type EdgeNews} from '../controllers/probes/edge-health.ts';
import type {DnsQuestion, EdgeQuestion, Observations} from '../controllers/probes/observations.ts';
import {Observer} from '../controllers/probes/observer.ts';
import {resolveAddresses} from '../dns/addresses.ts';
import {DnsClient} from '../dns/client.ts';
import {Inquiry} from '../dns/inquiry.ts';
import {systemResolvers} from '../dns/resolvers.ts';
import type {Verdict} from '../domain/verification/method.ts';
import {at as placeOf} from '../domain/routes/edge.ts';
import type {EdgeFinding} from '../domain/world.ts';
import {redirectorAnswers} from '../edge/plain-http.ts';
import {probeEdge} from '../edge/probe.ts';
import {type Settings, toRules} from '../config.ts';
import type {domainMetrics} from '../observability/metrics.ts';
import type {RoleParts} from './parts.ts';

const edgeTimeoutMs = 3000;

/** The queue for each kind of check. A single tenant may use every slot; while another tenant waits, at most a quarter of them. */
const queue = {seats: 64, share: 16, spare: 64};

type Counters = ReturnType<typeof domainMetrics>;

/** Dependencies and reports of checks. */
interface CheckDeps {
  cas: Pick<Cas, 'all'>;
  checks: CheckTimes;
  edgeAddresses: EdgeAddresses;
  /** Reports an address of the edge that has become faulty, or serves again. */
  report: (news: EdgeNews) => void;
}

/** All checks and probes of the operator, and the health of the edge that the edge probes establish. */
export function makeObservations(
  parts: Pick<RoleParts, 'config' | 'client' | 'log'>,
  counters: Counters,
  {cas, checks, edgeAddresses, report}: CheckDeps,
): {looks: Observations; edgeHealth: EdgeHealth} {
  const reader = new IssuanceReader(parts.client);
  const onError = (error: unknown) => {
    counters.lookErrors.inc();
    parts.log.error({err: error}, 'a DNS check or edge probe failed');
  };
  const rates = new CheckRates();
  const edgeHealth = new EdgeHealth({
    addresses: () => edgeAddresses.endpoints.map((edge) => placeOf({edge})),
    sample: (count) => looks.edge.sample(count, ({watches}) => watches !== undefined),
    confirmationsMs: parts.config.policy.edgeConfirmationsMs,
    report,
  });
  const looks: Observations = {
    dns: new Observer({
      look: lookAtDns(parts, counters, {cas, edgeAddresses}),
      onError,
      onBegin: (tenant, {hostname}, at, isFirst) => checks.note(tenant, hostname, at, isFirst),
      mayBegin: (tenant, {hostname}, now) => {
        // Not by the clock of the machine, which may be set back.
        const elapsed = performance.now();
        return now + rates.next(tenant, hostname, elapsed) - elapsed;
      },
      subject: ofHostname,
      remembers: ({rival}) => rival === true,
      queue,
    }),
    edge: new Observer({
      look: each(lookAtEdge(parts, counters, {edgeAddresses, edgeHealth})),
      onError,
      subject: ({hostname}: EdgeQuestion) => hostname,
      remembers: ({watches}) => watches?.confirms === true,
      queue,
    }),
    issuance: new Observer({
      look: each((question, signal) => reader.read(question, signal)),
      onError,
      subject: ({request}) => request,
      queue,
    }),
  };
  return {looks, edgeHealth};
}

const ofHostname = ({hostname}: {hostname: string}) => hostname;

type CheckFunction<Question, Result> = (questions: readonly Question[], signal: AbortSignal) => Promise<Result>[];

const each =
  <Q, R>(look: (question: Q, signal: AbortSignal) => Promise<R>): CheckFunction<Q, R> =>
  (questions, signal) =>
    questions.map((question) => look(question, signal));

function lookAtDns(
  {config, log}: Pick<RoleParts, 'config' | 'log'>,
  {dnsChecks, dnsDurations}: Counters,
  {cas, edgeAddresses}: Pick<CheckDeps, 'cas' | 'edgeAddresses'>,
): CheckFunction<DnsQuestion, Verdict> {
  const {
    settings: {dns},
    policy: {zone},
  } = config;
  const laidDown = toRules(config.settings);
  const recursive = resolversOf(config.settings);
  const options: Omit<CheckOptions, 'rules'> = {
    dns: new DnsClient({recursive, allowPrivateAddresses: dns.allowPrivateAddresses}),
    mode: dns.mode,
    // The CA may name itself otherwise one day: read with each check.
    cas: () => cas.all().map((ca) => ({...ca, zone})),
  };
  const one = async ({caa, ...question}: DnsQuestion, inquiry: Inquiry) => {
    const since = performance.now();
    const found = await check({...options, rules: {...laidDown, ...edgeAddresses.edge}}, question, caa, inquiry);
    dnsDurations.observe({result: found.kind}, (performance.now() - since) / 1000);
    const verdict = found.kind === 'Proven' ? 'Proven' : found.reason;
    dnsChecks.inc({verdict});
    log.debug({hostname: question.hostname, verdict}, 'DNS checked');
    return found;
  };
  return (questions, signal) => {
    const inquiry = new Inquiry({signal});
    const checks = questions.map((question) => one(question, inquiry));
    void Promise.allSettled(checks).then(() => inquiry.end());
    return checks;
  };
}

function lookAtEdge(
  {config}: Pick<RoleParts, 'config'>,
  {edgeProbes}: Counters,
  {edgeAddresses, edgeHealth}: Pick<CheckDeps, 'edgeAddresses'> & {edgeHealth: Pick<EdgeHealth, 'note'>},
): (question: EdgeQuestion, signal: AbortSignal) => Promise<EdgeFinding[]> {
  return async ({hostname, whoAnswers, watches}, signal) => {
    const at = Date.now();
    const findings = await probeEdge(hostname, [...edgeAddresses.endpoints], {
      timeoutMs: edgeTimeoutMs,
      signal,
      whoAnswers,
      proxyProtocol: config.settings.edge.proxyProtocol,
    });
    for (const f of findings) edgeProbes.inc({result: 'unreachable' in f ? 'unreachable' : 'presented'});
    if (watches && !signal.aborted) edgeHealth.note({hostname, ...watches}, findings, at);
    return findings;
  };
}

export const resolversOf = ({dns: {recursive}}: Pick<Settings, 'dns'>) =>
  recursive.length > 0 ? recursive : systemResolvers();

/** The edge's addresses: from the settings, from the watched Services, and from the resolvers. */
export function edgeAddressesOf(
  {config: {settings}, log}: Pick<RoleParts, 'config' | 'log'>,
  {services}: Pick<Caches, 'services'>,
  {edgeSearches}: Counters,
): EdgeAddresses {
  const resolvers = resolversOf(settings);
  return new EdgeAddresses({
    edge: settings.edge,
    services,
    resolve: (hostname, signal) => resolveAddresses(resolvers, hostname, {signal}),
    log,
    count: (result) => edgeSearches.inc({result}),
  });
}

/** Whether the redirector answers plain HTTP of a name that nobody has, at every address of the edge. */
export function plainHttpServes(
  {plainHttp: {probe}, edge: {proxyProtocol}}: Pick<Settings, 'plainHttp' | 'edge'>,
  edgeAddresses: EdgeAddresses,
): (signal: AbortSignal) => Promise<boolean> {
  const edges = () => (probe.length > 0 ? probe : edgeAddresses.endpoints.map(({address}) => ({address, port: 80})));
  return (signal) => redirectorAnswers(edges(), {timeoutMs: edgeTimeoutMs, signal, proxyProtocol});
}
