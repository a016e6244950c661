/** The alerts as the chart renders them, by promtool's own judgement; and what they and the dashboard ask, by a real Prometheus. */
import {execFileSync, spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {type Alert, renderChart} from '../support/alerts.ts';
import {root} from '../support/pages.ts';
import {type Case, cases, healthy} from './cases.ts';

interface Rendered {
  kind: string;
  spec: {groups: {name: string; rules: (Alert & {annotations: {runbook_url: string}})[]}[]};
}

let folder: string;
let rules: Rendered['spec']['groups'][number]['rules'];

beforeAll(() => {
  execFileSync(join(root, 'test/observability/install.sh'), {stdio: 'inherit'});
  folder = mkdtempSync(join(tmpdir(), 'doorplate-alerts-'));
  const rendered = renderChart<Rendered>('metrics.prometheusRule.enabled=true', 'api.enabled=true');
  const {spec} = rendered.find(({kind}) => kind === 'PrometheusRule')!;
  rules = spec.groups.flatMap((group) => group.rules);
  writeFileSync(join(folder, 'rules.yaml'), JSON.stringify(spec));
});
afterAll(() => rmSync(folder, {recursive: true, force: true}));

const series = (change: Record<string, string> = {}) =>
  Object.entries({...healthy, ...change}).map(([name, values]) => ({
    series: name.replace('SELECTOR', 'namespace="doorplate-system",job="doorplate-metrics"'),
    values,
  }));

/** Which alerts fire at a time: none, or this one alone. */
const firing = (at: string, alert?: string) => ({
  expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
  eval_time: at,
  exp_samples: alert === undefined ? [] : [{labels: `{alertname="${alert}"}`, value: 1}],
});

function groupOf({alert, series: change, quiet, fires, labels, says}: Case) {
  const rule = rules.find((r) => r.alert === alert)!;
  const exp_alerts = [{exp_labels: {...rule.labels, ...labels}, exp_annotations: {...rule.annotations, summary: says}}];
  return {
    interval: '1m',
    input_series: series(change),
    alert_rule_test: [{eval_time: fires, alertname: alert, exp_alerts}],
    promql_expr_test: [firing(quiet), firing(fires, alert)],
  };
}

/** That all is as promtool expects it; otherwise it says what is not. */
function expectPasses(...tests: object[]): void {
  writeFileSync(
    join(folder, 'tests.yaml'),
    JSON.stringify({rule_files: ['rules.yaml'], evaluation_interval: '1m', tests}),
  );
  const {status, stdout, stderr} = spawnSync('promtool', ['test', 'rules', 'tests.yaml'], {cwd: folder});
  expect({status, says: `${stdout}${stderr}`}).toEqual({status: 0, says: expect.stringContaining('SUCCESS')});
}

describe('By promtool', () => {
  test('the rules are well-formed', () => {
    expect(execFileSync('promtool', ['check', 'rules', join(folder, 'rules.yaml')]).toString()).toContain(
      `${rules.length} rules found`,
    );
  });

  test('a release at which nothing is wrong fires no alert in four hours', () => {
    expectPasses({
      interval: '1m',
      input_series: series(),
      promql_expr_test: ['20m', '1h', '4h'].map((at) => firing(at)),
    });
  });

  test('every alert has its case', () => {
    expect(rules.map(({alert}) => alert).toSorted()).toEqual([...new Set(cases.map(({alert}) => alert))].toSorted());
  });

  test.each(cases)('$alert fires after its time, alone, and says what is wrong: $says', (one) => {
    expectPasses(groupOf(one));
  });
});
