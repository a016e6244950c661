/** The API's role on a port of its own, in a process that can be measured: `node --expose-gc api-child.ts PORT`. */
import {Registry} from 'prom-client';
import {loadConfig} from '../../operator/config.ts';
import {Client} from '../../operator/kube/client/client.ts';
import {kitMetrics} from '../../operator/kube/metrics.ts';
import {makeLog} from '../../operator/observability/log.ts';
import {api} from '../../operator/roles/api.ts';
import {tellFigures} from './figures.ts';

const [port = ''] = process.argv.slice(2);
const registry = new Registry();
const metrics = kitMetrics(registry);
const parts = {
  config: loadConfig(process.env),
  client: await Client.load({metrics}),
  log: makeLog('api', 'warn'),
  registry,
  metrics,
};
tellFigures();
const role = await api(parts, {port: Number(port)});
await role.start();
