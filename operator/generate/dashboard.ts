/** The dashboard for Grafana that the chart brings. SELECTOR becomes the labels of a release's Pods. */

interface Panel {
  title: string;
  description: string;
  /** Grafana's name of it: what a value is. */
  unit?: string;
  as?: 'stat' | 'table';
  /** The least value that a stat shows in green. Grafana shows smaller values in red. */
  good?: number;
  /** PromQL queries, each with the legend of its series; in a table, with the title of its column. */
  queries: readonly (readonly [expr: string, legend: string])[];
}

const rate = (metric: string, by: string, over = '5m', labels = ''): string =>
  `sum by (${by}) (rate(${metric}{SELECTOR${labels}}[${over}]))`;

const quantiles = (metric: string, over: string): Panel['queries'] =>
  [0.5, 0.95].map((q) => [`histogram_quantile(${q}, ${rate(`${metric}_bucket`, 'le', over)})`, `p${q * 100}`]);

const hostnames: readonly Panel[] = [
  {
    title: 'Hostnames',
    description: 'By phase.',
    queries: [['sum by (phase) (doorplate_hostnames{SELECTOR})', '{{phase}}']],
  },
  {
    title: 'Who must act',
    description: 'Hostnames with a next step, by the party that must act.',
    queries: [['sum by (waiting_for) (doorplate_hostnames_waiting{SELECTOR})', '{{waiting_for}}']],
  },
  {
    title: 'Reasons and waiting time',
    description: 'Number of hostnames for each reason, and seconds since the oldest one has it.',
    as: 'table',
    queries: [
      ['sum by (waiting_for, reason) (doorplate_hostnames_waiting{SELECTOR}) > 0', 'hostnames'],
      [
        'time() - min by (waiting_for, reason) (doorplate_hostnames_waiting_since_timestamp_seconds{SELECTOR})',
        'seconds',
      ],
    ],
  },
  {
    title: 'From added to verified',
    description: 'Duration for the hostnames of the last day.',
    unit: 's',
    queries: quantiles('doorplate_added_to_verified_seconds', '1d'),
  },
  {
    title: 'From verified to Live',
    description: 'Duration for the hostnames of the last day.',
    unit: 's',
    queries: quantiles('doorplate_verified_to_live_seconds', '1d'),
  },
  {
    title: 'Claims',
    description: 'Claims of hostnames: attached, or reserved for the tenant that removed them.',
    queries: [['sum by (state) (doorplate_claims{SELECTOR})', '{{state}}']],
  },
];

const certificates: readonly Panel[] = [
  {
    title: 'Certificates',
    description: 'By state.',
    queries: [['sum by (state) (doorplate_certificates{SELECTOR})', '{{state}}']],
  },
  {
    title: 'Next expiry',
    description: 'Time until the first certificate in use expires. Red: less than a day.',
    unit: 's',
    as: 'stat',
    good: 86_400,
    queries: [['min(doorplate_certificate_expiry_timestamp_seconds{SELECTOR}) - time()', 'left']],
  },
  {
    title: 'Order budget',
    description: 'Used share of the budget of each ACME account.',
    unit: 'percentunit',
    queries: [
      [
        'max by (issuer, window_seconds) (doorplate_order_budget_used{SELECTOR}) / ' +
          'max by (issuer, window_seconds) (doorplate_order_budget_limit{SELECTOR})',
        '{{issuer}} in {{window_seconds}} s',
      ],
    ],
  },
  {
    title: 'Order queue',
    description: 'Hostnames whose orders wait for that budget.',
    queries: [['sum by (issuer) (doorplate_orders_waiting{SELECTOR})', '{{issuer}}']],
  },
  {
    title: 'Certificates by issuer',
    description:
      'Certificates in use. Other: from issuers that are not in the settings. They move when the order queue has room.',
    queries: [['sum by (issuer) (doorplate_certificates_in_use{SELECTOR})', '{{issuer}}']],
  },
  {
    title: 'Available issuers',
    description: 'With several issuers: 1 if Doorplate may order from the issuer, 0 if its CA does not answer.',
    as: 'stat',
    good: 1,
    queries: [['min by (issuer) (doorplate_issuer_available{SELECTOR})', '{{issuer}}']],
  },
];

const outside: readonly Panel[] = [
  {
    title: 'DNS checks',
    description: 'Each second, by verdict.',
    unit: 'reqps',
    queries: [[rate('doorplate_dns_checks_total', 'verdict'), '{{verdict}}']],
  },
  {
    title: 'Duration of DNS checks',
    description: 'The 95th percentile, by result.',
    unit: 's',
    queries: [
      [
        `histogram_quantile(0.95, ${rate('doorplate_dns_check_duration_seconds_bucket', 'le, result', '15m')})`,
        '{{result}}',
      ],
    ],
  },
  {
    title: 'Edge probes',
    description: 'Each second: presented a certificate, or unreachable.',
    unit: 'reqps',
    queries: [[rate('doorplate_edge_probes_total', 'result'), '{{result}}']],
  },
  {
    title: 'Preflight',
    description: 'Preflight checks of the leading operator: 1 if the check is good, 0 if it failed.',
    as: 'stat',
    good: 1,
    queries: [['min by (question) (doorplate_preflight_ok{SELECTOR})', '{{question}}']],
  },
];

const processes: readonly Panel[] = [
  {
    title: 'Reachable Pods',
    description: 'By role.',
    as: 'stat',
    good: 1,
    queries: [['sum by (role) (up{SELECTOR})', '{{role}}']],
  },
  {
    title: 'Reconciles',
    description: 'Each second, by controller and result.',
    unit: 'reqps',
    queries: [[rate('controller_runtime_reconcile_total', 'controller, result'), '{{controller}} {{result}}']],
  },
  {
    title: 'Keys in the queue',
    description: 'By controller.',
    queries: [['sum by (controller) (workqueue_depth{SELECTOR})', '{{controller}}']],
  },
  {
    title: 'Requests to the API server',
    description: 'Each second, by status.',
    unit: 'reqps',
    queries: [[rate('rest_client_requests_total', 'code'), '{{code}}']],
  },
  {
    title: 'Memory',
    description: 'Memory of each Pod.',
    unit: 'bytes',
    queries: [['process_resident_memory_bytes{SELECTOR}', '{{pod}}']],
  },
  {
    title: 'Event loop',
    description: 'Delay of the event loop: the 99th percentile.',
    unit: 's',
    queries: [['nodejs_eventloop_lag_p99_seconds{SELECTOR}', '{{pod}}']],
  },
];

const api: readonly Panel[] = [
  {
    title: 'Answers of the API',
    description: 'Each second, by status.',
    unit: 'reqps',
    queries: [[rate('doorplate_api_request_duration_seconds_count', 'status'), '{{status}}']],
  },
  {
    title: 'Duration of answers',
    description: 'Answers of the last five minutes.',
    unit: 's',
    queries: quantiles('doorplate_api_request_duration_seconds', '5m'),
  },
  {
    title: 'Refused requests',
    description: 'Requests each second, and banned API keys.',
    queries: [
      [rate('doorplate_api_refusals_total', 'why'), '{{why}}'],
      ['sum(doorplate_bans_active{SELECTOR})', 'banned keys'],
    ],
  },
  {
    title: 'Event streams',
    description: 'Open streams, events each second, and ended streams each second by cause.',
    queries: [
      ['sum(doorplate_api_event_streams{SELECTOR})', 'open'],
      ['sum(rate(doorplate_api_events_sent_total{SELECTOR}[5m]))', 'events'],
      [rate('doorplate_api_event_streams_ended_total', 'why'), 'ended: {{why}}'],
    ],
  },
];

const rows = {
  Hostnames: hostnames,
  Certificates: certificates,
  'DNS and the edge': outside,
  'The API': api,
  Processes: processes,
};

const [columns, height] = [3, 8];
const width = 24 / columns;
/** Grafana's ID of a query within a panel: A, B, ... */
const refId = (i: number): string => String.fromCodePoint(65 + i);
const datasource = {type: 'prometheus', uid: '${datasource}'};

/** Rows are sets of labels, columns are the values of queries. Grafana names these columns by refId. */
const tableOf = (queries: Panel['queries']): object[] => [
  {id: 'merge', options: {}},
  {
    id: 'organize',
    options: {
      excludeByName: {Time: true},
      renameByName: Object.fromEntries(queries.map(([, legend], i) => [`Value #${refId(i)}`, legend])),
    },
  },
];

/** Without thresholds, Grafana shows every value from 80 on in red. */
const thresholdsOf = (good: number): object => ({
  mode: 'absolute',
  steps: [
    {color: 'red', value: null},
    {color: 'green', value: good},
  ],
});

const panelOf = ({title, description, unit = 'short', as, good, queries}: Panel, id: number, x: number, y: number) => ({
  id,
  type: as ?? 'timeseries',
  title,
  description,
  datasource,
  gridPos: {x, y, w: width, h: height},
  fieldConfig: {defaults: {unit, ...(good !== undefined && {thresholds: thresholdsOf(good)})}, overrides: []},
  ...(as === 'table' && {transformations: tableOf(queries)}),
  targets: queries.map(([expr, legendFormat], i) => ({
    refId: refId(i),
    datasource,
    expr,
    legendFormat,
    ...(as === 'table' && {format: 'table', instant: true}),
  })),
});

/** Panels below each other by row, three abreast. */
function panels(): object[] {
  const all: object[] = [];
  let y = 0;
  for (const [title, ofRow] of Object.entries(rows)) {
    all.push({
      id: all.length + 1,
      type: 'row',
      title,
      collapsed: false,
      gridPos: {x: 0, y: y++, w: 24, h: 1},
      panels: [],
    });
    for (const [i, panel] of ofRow.entries())
      all.push(panelOf(panel, all.length + 1, width * (i % columns), y + height * Math.floor(i / columns)));
    y += height * Math.ceil(ofRow.length / columns);
  }
  return all;
}

/** As JSON, for `charts/doorplate/files`. */
export const dashboard = (): string =>
  `${JSON.stringify(
    {
      title: 'Doorplate',
      tags: ['doorplate'],
      schemaVersion: 39,
      time: {from: 'now-6h', to: 'now'},
      refresh: '1m',
      templating: {list: [{name: 'datasource', type: 'datasource', query: 'prometheus'}]},
      panels: panels(),
    },
    undefined,
    1,
  )}\n`;
