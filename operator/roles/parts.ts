import type {Logger} from 'pino';
import type {Registry} from 'prom-client';
import type {Config} from '../config.ts';
import type {CustomDomainDeps} from '../controllers/custom-domain.ts';
import type {IssuerOptions} from '../controllers/state/issuer.ts';
import type {Client} from '../kube/client/client.ts';
import type {KitMetrics} from '../kube/metrics.ts';

/** What every role is given. */
export interface RoleParts {
  config: Config;
  client: Client;
  log: Logger;
  registry: Registry;
  metrics: KitMetrics;
  /** For tests, {@link CustomDomainDeps.pace}. */
  pace?: CustomDomainDeps['pace'];
  /** For tests, {@link IssuerOptions.ask}. */
  askCa?: IssuerOptions['ask'];
}
