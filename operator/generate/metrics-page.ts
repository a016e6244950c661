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
  return `| metric | type | labels | description |\n|---|---|---|---|\n${rows.join('')}`;
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

This page lists the metrics of Doorplate. [Monitor](../how-to/monitor.md) describes the alerts and the dashboard that read them. Every Pod
serves \`/metrics\` on port 8081 in the text format of Prometheus, with \`/healthz\` and \`/readyz\`. To read them, forward the port:

\`\`\`sh
kubectl -n doorplate-system port-forward deploy/doorplate-operator 8081
\`\`\`

\`\`\`text output
Forwarding from 127.0.0.1:8081 -> 8081
...
\`\`\`

No label contains a hostname, a tenant or a key. To find these, use \`kubectl get\`. The metrics \`process_*\` and \`nodejs_*\` are those of
prom-client.

## Metrics of the operator

${ofDomains}
## Metrics of the API

${ofApi}
## Metrics of each process

These metrics have the names of controller-runtime and client-go, so that existing dashboards show them. Each process
exposes all these metrics. Metrics of queues, reconciles and the Lease change only in processes with controllers.

${table((registry) => {
  buildInfo(registry);
  kitMetrics(registry);
})}`;
}
