/** The alerts and the dashboard that the chart brings. */
import {execFileSync} from 'node:child_process';
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {parse, parseAllDocuments} from 'yaml';
import {dashboard} from '../../operator/generate/dashboard.ts';
import {bin} from './kube-server.ts';
import {root} from './pages.ts';
import type {Prometheus} from './prometheus.ts';

export interface Alert {
  alert: string;
  expr: string;
  for: string;
  labels: {severity: string};
  annotations: {summary: string; description: string};
}

const folder = join(root, 'charts/doorplate/files/alerts');

/** As the files have them: with SELECTOR. */
export const alerts = (): Alert[] =>
  readdirSync(folder).flatMap((file) => (parse(readFileSync(join(folder, file), 'utf8')) as {rules: Alert[]}).rules);

/** Whether what an alert asks is so, or will be in so many minutes if nothing changes. */
export async function isDue(prometheus: Prometheus, name: string, inMinutes = 0): Promise<boolean> {
  const {expr} = alerts().find(({alert}) => alert === name)!;
  return (await prometheus.query(expr, inMinutes)).length > 0;
}

interface Panel {
  title: string;
  targets?: {expr: string}[];
}

/** Every query of the dashboard, with its panel. */
export const queries = (): {title: string; expr: string}[] =>
  (JSON.parse(dashboard()) as {panels: Panel[]}).panels.flatMap(({title, targets = []}) =>
    targets.map(({expr}) => ({title, expr})),
  );

/** All objects of the chart with the demo's values and these. Throws Helm's error, and the one of a YAML parser, such as for a duplicate key. */
export function renderChart<T>(...values: string[]): T[] {
  const chart = ['template', 'doorplate', join(root, 'charts/doorplate'), '-n', 'doorplate-system'];
  const demo = join(root, 'examples/demo/values.yaml');
  const args = [...chart, '-f', demo, ...values.flatMap((value) => ['--set', value])];
  const yaml = execFileSync(`${bin}/helm`, args, {maxBuffer: 16 << 20, stdio: ['ignore', 'pipe', 'pipe']});
  return parseAllDocuments(yaml.toString()).flatMap((document) => {
    const [error] = document.errors;
    if (error) throw error;
    return (document.toJS() as T | null) ?? [];
  });
}
