import type {Settings} from '../config.ts';
import {Client} from '../kube/client/client.ts';
import type {KitMetrics} from '../kube/metrics.ts';
import {connectionsFor} from '../kube/client/workers.ts';

/**
 * The client with which a role's process reaches the API server. The operator's has the connections that its workers need, and the
 * other roles have the kit's default. Throws like {@link Client.load}.
 */
export function clientOf(role: string, {operator}: Pick<Settings, 'operator'>, metrics: KitMetrics): Promise<Client> {
  const connections = role === 'operator' ? connectionsFor(operator.workers) : undefined;
  // The API server takes the part before the slash for the field manager of a write that names none.
  return Client.load({metrics, userAgent: `doorplate/${role}`, connections});
}
