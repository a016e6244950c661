/** The redirector's role on a port of its own, in a process that can be measured: `node --expose-gc redirector-child.ts PORT`. */
import {Registry} from 'prom-client';
import {loadConfig} from '../../operator/config.ts';
import {Client} from '../../operator/kube/client/client.ts';
import {kitMetrics} from '../../operator/kube/metrics.ts';
import {makeLog} from '../../operator/observability/log.ts';
import {redirector} from '../../operator/roles/redirector.ts';
import {tellFigures} from './figures.ts';

const [port = ''] = process.argv.slice(2);
const config = loadConfig(process.env);
const registry = new Registry();
const metrics = kitMetrics(registry);
const log = makeLog('redirector', 'warn');
const parts = {config, client: await Client.load({metrics}), log, registry, metrics};
tellFigures();
await redirector(parts, {port: Number(port)}).start();
