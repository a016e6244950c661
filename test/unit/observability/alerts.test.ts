/** What alerts and the dashboard name that can be wrong. Whether they fire, and answer: test/observability. */
import {describe, expect, test} from '@jest/globals';
import {dashboard} from '../../../operator/generate/dashboard.ts';
import {metricsPage} from '../../../operator/generate/metrics-page.ts';
import {makeRegistry} from '../../../operator/observability/metrics.ts';
import {alerts, queries} from '../../support/alerts.ts';
import {readPage} from '../../support/pages.ts';

/** What Prometheus gives each series, and what the ServiceMonitor does. */
const ofPrometheus = ['namespace', 'job', 'pod', 'role', 'le'];

/** Labels by metric: those of the page, and those of prom-client, which have none that matter here. */
const known = new Map<string, string[]>([
  ['up', []],
  ...makeRegistry()
    .getMetricsAsArray()
    .map(({name}): [string, string[]] => [name, []]),
  ...[...metricsPage().matchAll(/^\| `([a-z_]+)` \| \w+ \| (.*?) \|/gm)].map(([, name, labels]): [string, string[]] => [
    name!,
    [...labels!.matchAll(/`(\w+)`/g)].map(([, label]) => label!),
  ]),
]);
const labelsOf = (name: string): string[] | undefined =>
  known.get(name) ?? known.get(name.replace(/_(count|sum|bucket)$/, ''));

/** What a query names that is not there: metrics, labels of theirs, and a metric that is not of this release alone. */
function wrongIn(expr: string): string[] {
  const named = [...expr.matchAll(/\b([a-z]\w+)\{([^}]*)\}/g)].map(([, name, matchers]) => ({
    name: name!,
    matchers: matchers!.split(/,\s*(?=[A-Za-z])/),
  }));
  const labels = new Set([...ofPrometheus, ...named.flatMap(({name}) => labelsOf(name) ?? [])]);
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, all]) => all!.split(/,\s*/));
  return [
    ...(named.length === 0 ? ['names no metric'] : []),
    ...named.flatMap(({name, matchers: [selector, ...others]}) => [
      ...(labelsOf(name) ? [] : [name]),
      ...(selector === 'SELECTOR' ? [] : [`${name} of any release`]),
      ...others
        .map((matcher) => /^\w+/.exec(matcher)?.[0] ?? matcher)
        .filter((label) => ![...ofPrometheus, ...(labelsOf(name) ?? [])].includes(label)),
    ]),
    ...grouped.filter((label) => !labels.has(label)),
  ];
}

/** Metrics of each issuer that a query adds up, or compares, over all issuers. */
const mixedIn = (expr: string): string[] =>
  [...expr.matchAll(/\b(?:sum|min|max|count)(?: by \(([^)]*)\))? ?\((?:\w+\()?(\w+)\{/g)]
    .filter(([, by = '', name]) => labelsOf(name!)?.includes('issuer') && !by.split(/,\s*/).includes('issuer'))
    .map(([, , name]) => name!);

test('Alerts and the dashboard show each issuer on its own', () => {
  const all = [...alerts().map(({alert, expr}) => ({title: alert, expr})), ...queries()];
  expect(all.filter(({expr}) => /issuer\b/.test(expr)).length).toBeGreaterThan(5);
  expect(all.flatMap(({title, expr}) => mixedIn(expr).map((name) => `${title}: ${name}`))).toEqual([]);
  expect(mixedIn('max by (window_seconds) (doorplate_order_budget_used{SELECTOR})')).toHaveLength(1);
  expect(mixedIn('sum(doorplate_orders_waiting{SELECTOR})')).toHaveLength(1);
});

describe('An alert', () => {
  test('names metrics and labels that there are, of its own release', () => {
    expect(alerts().flatMap(({alert, expr}) => wrongIn(expr).map((wrong) => `${alert}: ${wrong}`))).toEqual([]);
    expect(alerts().length).toBeGreaterThan(10);
  });

  test('has a summary, a description, and how grave it is', () => {
    for (const {labels, annotations} of alerts()) {
      expect(labels.severity).toMatch(/^(critical|warning|info)$/);
      expect(annotations).toEqual({summary: expect.any(String), description: expect.any(String)});
    }
  });

  test('has a runbook, which says what it means, what customers see, where to look and what to do', () => {
    const page = readPage('docs/how-to/runbooks.md');
    const sections = page.text
      .split(/^## /m)
      .slice(1)
      .map((text) => ({
        name: text.split('\n')[0],
        says: [...text.matchAll(/^\*\*(.+?)\*\*/gm)].map(([, word]) => word),
      }));
    const says = ['Meaning.', 'Effect on customers.', 'Find the cause.', 'Fix.'];
    const byAlert = sections.filter(({name}) => name?.startsWith('Doorplate'));
    expect(byAlert).toEqual(alerts().map(({alert}) => ({name: alert, says})));
  });
});

test('docs/how-to/monitor.md lists every alert, how grave it is and where its runbook is', () => {
  const rows = [
    ...readPage('docs/how-to/monitor.md').text.matchAll(/^\| \[(\w+)\]\(runbooks\.md#(\w+)\) \| (\w+) \|/gm),
  ];
  const expected = alerts().map(({alert, labels}) => `${alert} ${alert.toLowerCase()} ${labels.severity}`);
  expect(rows.map(([, ...row]) => row.join(' ')).toSorted()).toEqual(expected.toSorted());
});

describe('The dashboard', () => {
  test('names metrics and labels that there are, of its own release', () => {
    expect(queries().flatMap(({title, expr}) => wrongIn(expr).map((wrong) => `${title}: ${wrong}`))).toEqual([]);
    expect(queries().length).toBeGreaterThan(20);
  });

  test('colors each stat with its own thresholds, since Grafana has the threshold 80 otherwise', () => {
    const {panels} = JSON.parse(dashboard()) as {panels: {type: string; fieldConfig: {defaults: object}}[]};
    const stats = panels.filter(({type}) => type === 'stat').map(({fieldConfig}) => fieldConfig.defaults);
    expect(stats.length).toBeGreaterThan(2);
    for (const defaults of stats) expect(defaults).toMatchObject({thresholds: {mode: 'absolute'}});
  });

  test('names each column of the table', () => {
    const {panels} = JSON.parse(dashboard()) as {panels: {type: string; transformations: object[]}[]};
    const names = {'Value #A': 'hostnames', 'Value #B': 'seconds'};
    expect(panels.find(({type}) => type === 'table')!.transformations).toContainEqual(
      expect.objectContaining({options: expect.objectContaining({renameByName: names})}),
    );
  });
});

test('What is not there is told', () => {
  expect(wrongIn('sum by (phase) (doorplate_hostnames{SELECTOR,phase="Live"})')).toEqual([]);
  expect(wrongIn('sum by (hostname) (doorplate_hostnames{SELECTOR,tenant="a"})')).toEqual(['tenant', 'hostname']);
  expect(wrongIn('doorplate_names{job="x"}')).toEqual(['doorplate_names', 'doorplate_names of any release']);
  expect(wrongIn('doorplate_hostnames')).toEqual(['names no metric']);
});

test('No metric has a label that could hold the name of a hostname, a tenant or an object', () => {
  const bounded =
    'phase waiting_for reason state window_seconds verdict result question namespaces why method route status code host name controller resource edge issuer version';
  expect([...known.values()].flat().filter((label) => !bounded.split(' ').includes(label))).toEqual([]);
});
