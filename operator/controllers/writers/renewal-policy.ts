import type {Logger} from 'pino';
import type {CustomResourceDefinition} from '../../api/foreign.ts';
import type {Client} from '../../kube/client/client.ts';
import {certificates, customResourceDefinitions} from '../../resources/resources.ts';

/** An upgrade or a downgrade of cert-manager is noticed after this time, ms. */
const keptForMs = 60_000;

/**
 * cert-manager 1.21.0 has the field, and its controller panics at a Certificate that sets `Disabled` (its issue 9031). The kinds of 1.21.0
 * and 1.21.1 differ by the version in their labels only.
 */
const firstSound = [1, 21, 1] as const;

/** The version of cert-manager, in its label on each of its kinds. */
const versionLabel = 'app.kubernetes.io/version';

/** Whether cert-manager, with this definition of the kind Certificate, accepts `renewal.policy: Disabled` and heeds it. */
export function mayDisableRenewal({metadata: {labels}, spec}: CustomResourceDefinition): boolean {
  const schema = spec.versions.find(({name}) => name === certificates.version)?.schema?.openAPIV3Schema;
  const policy = schema?.properties?.spec?.properties?.renewal?.properties?.policy;
  return policy?.enum?.includes('Disabled') === true && isSound(labels?.[versionLabel]);
}

/** An unknown version is not sound. */
function isSound(version: string | undefined): boolean {
  const parts = /^v?(\d+)\.(\d+)\.(\d+)/
    .exec(version ?? '')
    ?.slice(1)
    .map(Number);
  if (!parts) return false;
  const differs = firstSound.findIndex((part, i) => parts[i] !== part);
  return differs === -1 || parts[differs]! > firstSound[differs]!;
}

interface RenewalPolicyOptions {
  client: Pick<Client, 'get'>;
  log: Logger;
  /** ms since the epoch. */
  now?: () => number;
}

/**
 * Knows whether the installed cert-manager can be asked not to renew a Certificate. The definition of the kind is read when a Certificate
 * is retained, at most once a minute. If it cannot be read, the answer is no.
 */
export class RenewalPolicy {
  readonly #options: RenewalPolicyOptions;
  #known: {at: number; answer: Promise<boolean>} | undefined;

  constructor(options: RenewalPolicyOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  mayDisable(): Promise<boolean> {
    const {now = Date.now} = this.#options;
    const at = now();
    if (this.#known === undefined || at - this.#known.at >= keptForMs) this.#known = {at, answer: this.#read()};
    return this.#known.answer;
  }

  async #read(): Promise<boolean> {
    const {client, log} = this.#options;
    try {
      const definition = await client.get(customResourceDefinitions, `${certificates.plural}.${certificates.group}`);
      return definition !== undefined && mayDisableRenewal(definition);
    } catch (error) {
      log.warn(
        {err: error},
        'the kind Certificate could not be read: the renewal of retained certificates is only delayed',
      );
      return false;
    }
  }
}
