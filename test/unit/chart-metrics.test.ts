/** What the chart brings for Prometheus and Grafana. */
import {describe, expect, test} from '@jest/globals';
import {renderChart} from '../support/alerts.ts';

interface Rendered {
  kind: string;
  metadata: {name: string; labels: Record<string, string>};
  data?: Record<string, string>;
  spec: {
    selector?: Record<string, unknown> & {matchLabels?: Record<string, string>};
    template?: {metadata: {labels: Record<string, string>}; spec: {containers: {ports: {name: string}[]}[]}};
    ports?: {name: string; targetPort: string}[];
    endpoints?: {port: string; interval: string}[];
    groups?: {name: string; rules: {alert: string; expr: string; annotations: {runbook_url: string}}[]}[];
  };
}

const all = ['serviceMonitor', 'prometheusRule', 'dashboard'].map((name) => `metrics.${name}.enabled=true`);
const render = (...values: string[]) => renderChart<Rendered>(...values);
const ofMetrics = (objects: readonly Rendered[]) =>
  objects.filter(({metadata: {name}}) => /-(metrics|dashboard)$/.test(name)).map(({kind}) => kind);
const named = (objects: readonly Rendered[], kind: string, name = 'doorplate-metrics') =>
  objects.find((o) => o.kind === kind && o.metadata.name === name)!;

/** The roles whose alerts are there. */
const groups = (...values: string[]) =>
  named(render(...all, ...values), 'PrometheusRule').spec.groups!.map(({name}) => name.split('-').at(-1));

describe('The chart', () => {
  test('brings nothing of it unless it is asked to', () => {
    expect(ofMetrics(render())).toEqual([]);
    expect(ofMetrics(render(all[0]!))).toEqual(['Service', 'ServiceMonitor']);
    expect(ofMetrics(render(all[1]!))).toEqual(['PrometheusRule']);
    expect(ofMetrics(render(all[2]!))).toEqual(['ConfigMap']);
  });

  test('has the Pods of every role scraped, through one Service', () => {
    const objects = render(...all, 'api.enabled=true', 'metrics.serviceMonitor.labels.release=prometheus');
    const service = named(objects, 'Service');
    const monitor = named(objects, 'ServiceMonitor');
    expect(monitor.metadata.labels).toMatchObject({release: 'prometheus'});
    expect(service.metadata.labels).toMatchObject(monitor.spec.selector!.matchLabels!);
    expect(monitor.spec.endpoints).toMatchObject([{port: service.spec.ports![0]!.name, interval: '30s'}]);
    const pods = objects.filter(({kind}) => kind === 'Deployment').flatMap(({spec}) => spec?.template ?? []);
    expect(pods).toHaveLength(3);
    for (const {metadata, spec} of pods) {
      expect(metadata.labels).toMatchObject(service.spec.selector!);
      expect(spec.containers[0]!.ports).toContainEqual(
        expect.objectContaining({name: service.spec.ports![0]!.targetPort}),
      );
    }
    // No other Service of the release is taken for it.
    const others = objects.filter(({kind, metadata}) => kind === 'Service' && metadata.name !== service.metadata.name);
    for (const {metadata} of others) expect(metadata.labels).not.toMatchObject(monitor.spec.selector!.matchLabels!);
  });

  test('gives each alert its runbook, and asks for this release alone', () => {
    const rules = named(
      render(...all, 'metrics.prometheusRule.runbooks=https://wiki.example/x'),
      'PrometheusRule',
    ).spec.groups!.flatMap((group) => group.rules);
    expect(rules.length).toBeGreaterThan(8);
    for (const {alert, expr, annotations} of rules) {
      expect(annotations.runbook_url).toBe(`https://wiki.example/x#${alert.toLowerCase()}`);
      expect(expr).toContain("{namespace='doorplate-system',job='doorplate-metrics'");
      expect(expr).not.toContain('SELECTOR');
    }
  });

  test('links to the pages of docsUrl, of the runbooks and of the reasons', () => {
    const {groups: linked} = named(render(...all, 'docsUrl=https://docs.example/'), 'PrometheusRule').spec;
    const {rules} = linked![0]!;
    expect(rules[0]!.annotations.runbook_url).toBe(
      `https://docs.example/how-to/runbooks#${rules[0]!.alert.toLowerCase()}`,
    );
    const text = JSON.stringify(rules);
    expect([text.includes('https://docs.example/reference/reasons explains'), /docs\/[\w/-]+\.md/.test(text)]).toEqual([
      true,
      false,
    ]);
  });

  test('has the alerts about the API where the API is on', () => {
    expect(groups('api.enabled=false')).toEqual(['operator', 'redirector']);
    expect(groups('api.enabled=true')).toEqual(['operator', 'redirector', 'api']);
  });

  test('has a dashboard that is JSON, with the label by which Grafana’s sidecar finds it', () => {
    const {metadata, data} = named(render(...all), 'ConfigMap', 'doorplate-dashboard');
    expect(metadata.labels.grafana_dashboard).toBe('1');
    const {title, panels} = JSON.parse(data!['doorplate.json']!) as {title: string; panels: unknown[]};
    expect([title, panels.length > 20, data!['doorplate.json']!.includes('SELECTOR')]).toEqual([
      'Doorplate',
      true,
      false,
    ]);
  });

  test('has a dashboard without that label, where it is told so', () => {
    const objects = render(...all, 'metrics.dashboard.labels.grafana_dashboard=null');
    const {labels} = named(objects, 'ConfigMap', 'doorplate-dashboard').metadata;
    expect(labels).toHaveProperty(['app.kubernetes.io/name'], 'doorplate');
    expect(labels).not.toHaveProperty('grafana_dashboard');
  });

  test.each([
    ['metrics.serviceMonitor.enable=true', '/metrics/serviceMonitor'],
    ['metrics.serviceMonitor.interval=often', '/metrics/serviceMonitor/interval'],
    ['docsUrl=docs', '/docsUrl'],
    ['metrics.dashboard.labels.a.b=c', '/metrics/dashboard/labels/a'],
  ])('%s stops helm, and the message names the value', (value, where) => {
    expect(() => render(value)).toThrow(where);
  });
});
