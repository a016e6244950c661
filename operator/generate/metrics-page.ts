/** `docs/reference/metrics.md` out of the metrics as they are registered. */
import {Registry} from 'prom-client';
import {kitMetrics} from '../kube/metrics.ts';
import {limitMetrics} from '../limits/metrics.ts';
import {apiMetrics, buildInfo, domainMetrics} from '../observability/metrics.ts';
import {standingMetrics} from '../observability/standing-metrics.ts';

/** Members of prom-client's metrics that its types do not declare. */
interface Described {
  name: string;
  help: string;
  labelNames: string[];
  constructor: {name: string};
}

/** A row for each metric that is registered. */
function table(register: (registry: Registry) => void): string {
  const registry = new Registry();
  register(registry);
  const rows = (registry.getMetricsAsArray() as unknown as Described[]).map(
    ({name, help, labelNames, constructor}) =>
      `| \`${name}\` | ${constructor.name.toLowerCase()} | ${labelNames.map((l) => `\`${l}\``).join(', ') || '-'} | ${help} |\n`,
  );
  return `| metric | type | labels | what it says |\n|---|---|---|---|\n${rows.join('')}`;
}

const none = (): number => 0;
/** Nobody looks at their values here. */
const figures = {
  decisions: () => ({admitted: 0, refused: 0}),
  storeIsDown: () => false,
  storeFailures: none,
  bansBegun: none,
  activeBans: none,
  clockOffsetMs: none,
  usageLost: none,
  journaled: () => ({written: 0, lost: 0}),
};

/** The page, whole. */
export function metricsPage(): string {
  const ofDomains = table((registry) => {
    standingMetrics(registry, () => undefined);
    domainMetrics(registry).admissionPolicy({account: true, other: true});
  });
  const ofApi = table((registry) => {
    apiMetrics(registry);
    limitMetrics(registry, figures);
  });
  return `<!-- Generated from operator/generate/metrics-page.ts by \`make crds\`. Do not edit. -->
# Metrics

Every Pod of Doorplate answers \`GET /metrics\` on port 8081, in the text format of Prometheus, beside \`/healthz\` and \`/readyz\`:

    kubectl -n doorplate-system port-forward deploy/doorplate-operator 8081

No label ever holds a hostname, a tenant or a key: where one of them stands is for \`kubectl get\` to say. The process's own metrics
(\`process_*\`, \`nodejs_*\`) are there as prom-client makes them. Alerts and a dashboard that read them:
[Monitor](../how-to/monitor.md).

## Of the operator

${ofDomains}
## Of the API

${ofApi}
## Of each process

Named as controller-runtime and client-go name theirs, so that dashboards for these show them. Each process has them all; those of
queues, reconciles and the lease move where there are controllers.

${table((registry) => {
  buildInfo(registry);
  kitMetrics(registry);
})}`;
}
