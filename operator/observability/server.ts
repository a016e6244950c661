import type {AddressInfo} from 'node:net';
import {createServer} from 'node:http';
import type {Registry} from 'prom-client';
import {answerBrokenRequests} from '../kube/broken-requests.ts';
import type {ProcessHealth, ManagedServer} from '../kube/manager.ts';

/** /healthz (the event loop turns), /readyz (caches have synced) and /metrics, for the kubelet and Prometheus. */
export function healthServer(p: {
  port: number;
  health: () => ProcessHealth;
  registry: Pick<Registry, 'metrics' | 'contentType'>;
}): ManagedServer & {port: () => number} {
  const server = createServer((req, res) => {
    const reply = (status: number, body: string, type = 'text/plain') => {
      res.writeHead(status, {'content-type': type}).end(body);
    };
    const health = p.health();
    switch (req.url?.split('?')[0]) {
      case '/healthz':
        reply(health.live ? 200 : 500, health.live ? 'ok\n' : 'the event loop is blocked\n');
        break;
      case '/readyz':
        reply(
          health.ready ? 200 : 503,
          health.ready ? 'ok\n' : `waiting for ${health.waitingFor.join(', ') || 'the end'}\n`,
        );
        break;
      case '/metrics':
        p.registry.metrics().then(
          (text) => reply(200, text, p.registry.contentType),
          (error: unknown) => reply(500, String(error)),
        );
        break;
      default:
        reply(404, 'the paths are /healthz, /readyz and /metrics\n');
    }
  });
  answerBrokenRequests(server, ({status, detail}) => ({
    status,
    headers: {'content-type': 'text/plain'},
    body: `${detail}\n`,
  }));
  return {
    start: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject).listen(p.port, resolve);
      }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    port: () => (server.address() as AddressInfo).port,
  };
}
