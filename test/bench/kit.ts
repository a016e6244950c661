/** ROW=kit: the runtime kit beside @kubernetes/client-node, on an etcd and a kube-apiserver of its own. */
import {execFile} from 'node:child_process';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {defineResource} from '../../operator/kube/objects.ts';
import {type ConfigMap, configMaps} from '../support/kube-api.ts';
import {ApiServer} from '../support/kube-server.ts';
import {median, printTable, type Row} from './table.ts';

const subject = fileURLToPath(new URL('./kit-subject.ts', import.meta.url));
const subjects = ['ours', 'client-node', 'client-node-pooled'] as const;
const rounds = {requests: 3, sync: 5};
const requests = 1500;

type Figures = Record<string, number>;

/** A line of the table: the medians of one figure, and ours as a multiple of client-node's. */
function line(
  label: string,
  figures: Map<string, Figures[]>,
  name: string,
  digits = 0,
): {cells: string[]; ratio: number} {
  const medians = subjects.map((who) => median(figures.get(who)!.map((each) => each[name]!)));
  const ratio = medians[0]! / medians[1]!;
  return {cells: [label, ...medians.map((number) => number.toFixed(digits)), `${ratio.toFixed(2)} ×`], ratio};
}

export const run: Row = async ({say, long}) => {
  const api = await ApiServer.start();
  const client = api.client();
  const kubeconfig = join(api.dir, 'bench.kubeconfig');
  await writeFile(
    kubeconfig,
    api.kubeconfig({'client-certificate': join(api.dir, 'admin.crt'), 'client-key': join(api.dir, 'admin.key')}),
  );

  /** Each subject in turn, so that whatever else the machine does falls on all of them. */
  const measure = async (what: 'requests' | 'sync', objects: number): Promise<Map<string, Figures[]>> => {
    const figures = new Map<string, Figures[]>(subjects.map((who) => [who, []]));
    for (let round = 1; round <= rounds[what]; round++) {
      for (const who of subjects) {
        const env = {
          ...process.env,
          BENCH_KUBECONFIG: kubeconfig,
          BENCH_OBJECTS: String(objects),
          BENCH_REQUESTS: String(requests),
        };
        const {stdout} = await promisify(execFile)(
          process.execPath,
          ['--expose-gc', '--disable-warning=ExperimentalWarning', subject, who, what],
          {env, timeout: 300_000},
        );
        figures.get(who)!.push(JSON.parse(stdout) as Figures);
        say(`${what}, round ${round} of ${rounds[what]}, ${who}: ${stdout.trim()}`);
      }
    }
    return figures;
  };

  try {
    await client.create(
      defineResource({group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false}),
      {apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'many'}},
    );
    // As large as an object of ours: labels, a dozen fields, managedFields as server-side apply makes them.
    const data = Object.fromEntries(Array.from({length: 12}, (_, i) => [`field-${i}`, `value-${i}`.repeat(5)]));
    const labels = Object.fromEntries(Array.from({length: 4}, (_, i) => [`kit.test/label-${i}`, `value-${i}`]));
    const like = await client.applyPatch<ConfigMap>(
      configMaps,
      {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'o', namespace: 'many', labels}, data},
      {fieldManager: 'bench', force: true},
    );
    const lines = [['medians of 3 and 5, a process each', ...subjects, 'ours / client-node']];

    const rate = line('GETs one after the other, per second', await measure('requests', 0), 'perSecond');
    lines.push(rate.cells);
    const kept = [rate.ratio > 1];
    let made = 0;
    for (const size of long ? [20_000, 100_000] : [20_000]) {
      await api.multiply(like, size, {from: made});
      made = size;
      say(`${size} objects are there, ${JSON.stringify(like).length} bytes each`);
      const figures = await measure('sync', size + 1);
      const sync = line(`ms to sync ${size}`, figures, 'syncMs');
      const rss = line(`MB of RSS per 10,000 of ${size} held`, figures, 'mbPer10k', 1);
      lines.push(sync.cells, rss.cells, line(`MB of RSS at most, ${size}`, figures, 'peakMb').cells);
      // Pages cost round trips that one long answer does not; a promise is only that this stays small.
      kept.push(sync.ratio < 1.5, rss.ratio < 1);
    }
    printTable(lines);
    const well = kept.every(Boolean);
    say(`kit: ${well ? 'reached' : 'MISSED'}: more requests a second, less memory, at most 1.5 × the time to sync`);
    return well;
  } finally {
    await client.close();
    await api.stop();
  }
};
