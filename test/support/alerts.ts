/** The alerts and the dashboard that the chart brings. */
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {parse} from 'yaml';
import {dashboard} from '../../operator/observability/dashboard.ts';
import {root} from './pages.ts';

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

interface Panel {
  title: string;
  targets?: {expr: string}[];
}

/** Every query of the dashboard, with its panel. */
export const queries = (): {title: string; expr: string}[] =>
  (JSON.parse(dashboard()) as {panels: Panel[]}).panels.flatMap(({title, targets = []}) =>
    targets.map(({expr}) => ({title, expr})),
  );
