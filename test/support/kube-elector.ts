/**
 * A process that leads or would like to: `node kube-elector.ts INSTANCE LEASE`, with KIT_SERVER and KIT_PKI (the directory of
 * admin.crt). It writes into the ConfigMap `LEASE` as fast as it can, without any precondition, so that nothing but the election
 * keeps it from writing over another. It says `standing` before its first look at the lease, `leading` when it leads, and ends on SIGTERM as the operator does.
 */
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import pino from 'pino';
import {Registry} from 'prom-client';
import {Client} from '../../operator/kube/client/client.ts';
import {Controller} from '../../operator/kube/controller/controller.ts';
import {Elector} from '../../operator/kube/leader/leader.ts';
import {Manager} from '../../operator/kube/manager.ts';
import {kitMetrics} from '../../operator/kube/metrics.ts';
import {defineResource} from '../../operator/kube/objects.ts';

const [instance = '', lease = ''] = process.argv.slice(2);
const {KIT_SERVER: server = '', KIT_PKI: pki = ''} = process.env;
const configMaps = defineResource({
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
});

const read = async (): Promise<{tls: {ca: string; cert: string; key: string}; headers: Record<string, string>}> => {
  const [ca = '', cert = '', key = ''] = await Promise.all(
    ['ca.crt', 'admin.crt', 'admin.key'].map((name) => readFile(join(pki, name), 'utf8')),
  );
  return {tls: {ca, cert, key}, headers: {}};
};
const log = pino({level: 'warn'});
const metrics = kitMetrics(new Registry());
const client = new Client({server, read});
const elector = new Elector({
  client: client.apart({connections: 2}),
  namespace: 'default',
  name: lease,
  instance,
  metrics,
  log,
});
let n = 0;
const controller = new Controller({
  name: 'writer',
  waitFor: [],
  metrics,
  log,
  workers: 1,
  async reconcile() {
    await client.patch(configMaps, `default/${lease}`, {data: {writer: instance, n: String(n++)}}, {type: 'merge'});
    return {requeueAfterMs: 20};
  },
});
const manager = new Manager({client, log, elector}).addController(controller);

process.on('SIGTERM', () => void manager.stop().then(() => process.exit(0)));
controller.enqueue('the one');
console.log('standing');
await manager.start();
console.log('leading');
